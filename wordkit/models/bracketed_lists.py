"""The job of ``nbest --trees``: lists from another parser's bracketed trees, with bracket counts and features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wordkit.checks import array_of, require, value_of
from wordkit.errors import DataError
from wordkit.evaluation.result import Result
from wordkit.formats.brackets import Candidates, Tree, iter_candidates, read_gold
from wordkit.formats.model_file import pack_words, read_model, unpack_words, write_model
from wordkit.formats.opening import Input
from wordkit.models.bracket_counts import GoldBrackets
from wordkit.models.feature_index import FeatureIndex, chosen, relative
from wordkit.models.list_output import ListOutput
from wordkit.models.list_spool import CandidateList, ListSpool
from wordkit.models.tree_features import TreeFeatures
from wordkit.signature import signature
from wordkit.tally import Tally

KIND = "tree-features"
KINDS = {KIND: "features of nbest --trees --model-out"}
_UNKNOWN = np.iinfo(np.uint64).max  # key of a feature that a model does not know


class BracketedRun:
    """Lists of one file of candidate trees. Call :meth:`run`.

    Args:
        options: the command's options by their Python names.
        tally: counts odd records of the data.
    """

    def __init__(self, options: Mapping[str, Any], tally: Tally) -> None:
        self.options, self.tally = dict(options), tally
        self.inputs: list[dict[str, Any]] = []
        self.names: list[str] = []
        if options["model"]:
            with Input(options["model"], digest=True) as source:
                self.names = _read_names(source)
                self.inputs.append(source.record())
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self.gold: dict[int, Tree] = {}
        if options["gold"]:
            with Input(options["gold"], digest=True) as source:
                self.gold = read_gold(source, tally)
                self.inputs.append(source.record())

    def run(self) -> Result:
        """Read the candidates and write what was asked for."""
        options = self.options
        output, spool = ListOutput(options), ListSpool()
        fixed = FeatureIndex(np.arange(len(self.names), dtype=np.uint64)) if options["model"] else None
        # Features that are chosen here are known only at the end: until then lists wait on the disk.
        known = None if fixed is None else len(fixed)
        with Input(options["trees"], digest=True) as source, output.opened(known):
            for trees in iter_candidates(source, self.tally):
                one = self._list(trees, source.name)
                if fixed is not None:
                    output.add(one, fixed)
                else:
                    spool.append(one)
                if options["trees_out"] is not None:
                    output.add_text(trees.texts[output.pick(trees.qid, len(trees.texts))])
            self.inputs.insert(0, source.record())
            parameters = {"min_feature_count": None if fixed is not None else options["min_feature_count"]}
            self.signature = signature("nbest", parameters, self.inputs)
            index, distinct = (fixed, len(self._numbers)) if fixed is not None else self._choose(spool)
            for one in spool:
                output.add(one, index)
            if options["model_out"] is not None:
                self._save(index)
                if options["features_out"] is not None:
                    output.write_names(self._chosen_names(index))
        metrics = {**output.metrics(), "features": len(index), "distinct_features": distinct}
        return Result("nbest", self.inputs[0]["name"], metrics, output.n_scored, output.n_lists)

    def _list(self, trees: Candidates, name: str) -> CandidateList:
        counts = np.zeros((len(trees.trees), 3), np.int64)
        if self.options["gold"]:
            if trees.qid not in self.gold:
                raise DataError(name, trees.lines[0], f"qid {trees.qid} has no gold tree", "one in --gold")
            gold = GoldBrackets(self.gold[trees.qid])
            self._compare_words(gold.words, trees, name)
            for c, (tree, line) in enumerate(zip(trees.trees, trees.lines, strict=True)):
                try:
                    counts[c] = gold.counts(tree)
                except ValueError as error:
                    raise DataError(name, line, str(error)) from None
        scores = np.array(trees.scores)
        if self.options["output"] is None and self.options["model_out"] is None:
            empty = np.empty(0, np.uint64), np.empty((len(scores), 0), np.int32)
            return CandidateList(trees.qid, scores, counts, *empty)
        words = [str(leaf.word) for leaf in trees.trees[0].leaves()]
        names, found = TreeFeatures(words).counts(trees.trees)
        places, values = relative(found)
        keys = [self._key(names[place]) for place in places.tolist()]
        return CandidateList(trees.qid, scores, counts, np.array(keys, dtype=np.uint64), values)

    def _compare_words(self, words: list[str], trees: Candidates, name: str) -> None:
        """Warn of trees with other words than the gold tree: of another sentence, or of a parser that changes words."""
        for tree, line in zip(trees.trees, trees.lines, strict=True):
            own = [str(leaf.word) for leaf in tree.leaves()]
            other = next(
                (place for place, pair in enumerate(zip(own, words, strict=False)) if len(set(pair)) > 1),
                None,
            )
            if other is not None:
                found = f"word {other + 1} is `{own[other][:40]}`, `{words[other][:40]}` in the gold tree"
                self.tally.warn("tree with other words than its gold tree", DataError(name, line, found))

    def _key(self, name: str) -> int:
        if self.options["model"]:
            return self._numbers.get(name, _UNKNOWN)
        return self._numbers.setdefault(name, len(self._numbers))

    def _choose(self, spool: ListSpool) -> tuple[FeatureIndex, int]:
        classes: dict[str, int] = {}
        of_number = np.array(
            [classes.setdefault(name.split(" ", 1)[0], len(classes)) for name in self._numbers],
            dtype=np.int64,
        )
        keys = spool.keys()
        chosen_keys, distinct = chosen(
            keys, of_number[keys.astype(np.int64)], self.options["min_feature_count"]
        )
        return FeatureIndex(chosen_keys), distinct

    def _chosen_names(self, index: FeatureIndex) -> list[str]:
        names = list(self._numbers)
        return [names[key] for key in index.keys.tolist()]

    def _save(self, index: FeatureIndex) -> None:
        header = {"signature": self.signature, "inputs": self.inputs}
        write_model(
            self.options["model_out"], KIND, {"features": pack_words(self._chosen_names(index))}, header
        )


def _read_names(source: Input) -> list[str]:
    header, arrays = read_model(source, KINDS)
    try:
        names = unpack_words(array_of(arrays, "features", np.uint8, (None,)))
        require(len(set(names)) == len(names), "features are doubled")
        value_of(header, "signature", str)
    except (ValueError, TypeError, KeyError, UnicodeError) as error:
        raise DataError(source.name, None, f"the model is damaged: {error}") from None
    return names
