"""A dependency parser with its vocabularies and the reranking features of its lists: what ``nbest --model-out`` writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from wordkit.checks import array_of, require, value_of
from wordkit.errors import DataError
from wordkit.formats.conll import ConllBlock
from wordkit.formats.model_file import pack_words, read_model, write_model
from wordkit.formats.opening import Input
from wordkit.models.dependency_features import are_keys, name_of
from wordkit.models.dependency_parser import DependencyParser
from wordkit.models.feature_index import FeatureIndex
from wordkit.models.tagged_sentences import TaggedSentences, of_block
from wordkit.models.vocabulary import Vocabulary

KIND = "parser"
KINDS = {KIND: "a parser of nbest --model-out"}
TAG_COLUMNS = ("upos", "xpos")


class ParserModel:
    """All that is needed to make lists of new sentences.

    Args:
        parser: fitted.
        words, tags: vocabularies of its numbers.
        index: of the reranking features.
        reading: ``tag_column``, ``n`` (candidates a sentence) and ``max_length`` of the training.
        header: JSON values kept in the file beside the model's own.
    """

    def __init__(
        self,
        parser: DependencyParser,
        words: Vocabulary,
        tags: Vocabulary,
        index: FeatureIndex,
        reading: Mapping[str, Any],
        header: Mapping[str, Any] | None = None,
    ) -> None:
        self.parser, self.words, self.tags, self.index = parser, words, tags, index
        self.reading, self.header = dict(reading), dict(header or {})

    def sentences(self, block: ConllBlock) -> TaggedSentences:
        """The sentences of a block in the model's numbers."""
        return of_block(block, self.reading["tag_column"], self.words, self.tags)

    def feature_names(self) -> list[str]:
        """What each feature says, in the order of the columns."""
        return [name_of(key, self.words.words, self.tags.words) for key in self.index.keys.tolist()]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        arrays, values = self.parser.state()
        arrays |= self.words.state()
        arrays |= {
            "tags": pack_words(self.tags.words),
            "tag_counts": self.tags.counts,
            "features": self.index.keys,
        }
        write_model(path, KIND, arrays, {**self.header, **values, "reading": self.reading})

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Input) -> ParserModel:
        """Read a model file.

        Raises:
            DataError: not a model file, a damaged one, or a model of another kind.
        """
        header, arrays = read_model(path, KINDS)
        try:
            reading = value_of(header, "reading", dict)
            require(reading.get("tag_column") in TAG_COLUMNS, "tag_column is none")
            value_of(reading, "n", int, 1, 2**31 - 1)
            value_of(reading, "max_length", int, 1, 2**31 - 1)
            words = Vocabulary.from_state(arrays)
            tag_arrays = {"words": arrays.get("tags"), "word_counts": arrays.get("tag_counts")}
            require(all(array is not None for array in tag_arrays.values()), "tags are missing")
            tags = Vocabulary.from_state(tag_arrays)
            parser = DependencyParser.from_state(arrays, header, len(words), len(tags))
            keys = array_of(arrays, "features", np.uint64, (None,))
            require(len(np.unique(keys)) == len(keys), "features are doubled")
            require(are_keys(keys, len(words), len(tags)), "features are out of range")
            value_of({"signature": "", **header}, "signature", str)
        except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
            name = path.name if isinstance(path, Input) else os.fspath(path)
            raise DataError(name, None, f"the model is damaged: {error}") from None
        return cls(parser, words, tags, FeatureIndex(keys), reading, header)
