"""What ``evaluate ner`` and ``evaluate supersense`` share: options for the representation of tokens, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import lookup_of, read_vectors_of
from wordkit.cli.report import message

if TYPE_CHECKING:
    from wordkit.evaluation.token_features import TokenFeatures
    from wordkit.tally import Tally


class _Lengths(click.ParamType):
    """Numbers from 1 on between commas."""

    name = "lengths"

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if not all(part.isascii() and part.isdecimal() and 0 < int(part) < 10**6 for part in parts):
            self.fail(
                f"{value!r}: expected numbers of bits between commas, such as 4,6,10,20", param, context
            )
        return tuple(sorted({int(part) for part in parts}))


def representation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where features of tokens come from, and what becomes of words that are not there."""
    function = options.lookup_options(
        "Words that VEC or PATHS lack: no features, or those of the word in lower case; zero vectors or the mean of VEC."
    )(function)
    for option in (
        click.option("--unlexicalized", is_flag=True, help="Words themselves are no features."),
        click.option("--decoded", multiple=True, type=click.Path(allow_dash=True), metavar="FILE",
                     help="Output of wordkit decode, once for each data file, in their order."),
        click.option("--prefixes", type=_Lengths(), default="4,6,10,20", metavar="N,...",
                     help="Bits of a cluster's path that are features, with --clusters."),
        options.path_option("--clusters", metavar="PATHS", help="Clusters of words as wordkit brown writes them."),
        options.path_option("--vectors", metavar="VEC", help="Word vectors."),
    ):  # fmt: skip
        function = option(function)
    return function


token_comparison_options = options.against_options(
    "VEC2",
    "Train and score with these vectors too, in place of all of the representation, and test whether it differs: permutation "
    "test, sentence by sentence.",
)


@dataclass(frozen=True)
class Representation:
    """What represents tokens, by the options of the same names."""

    clusters: str | None
    vectors: str | None
    decoded: tuple[str, ...]
    prefixes: tuple[int, ...]
    unknown: str
    ignore_case: bool
    restrict_vocab: int | None
    mmap: bool

    def __str__(self) -> str:
        return self.vectors or self.clusters or ", ".join(self.decoded)

    def instead(self, vectors: str | None) -> Representation | None:
        """These vectors in place of all of it, looked up in the same way; None of none."""
        if vectors is None:
            return None
        return replace(self, vectors=vectors, clusters=None, decoded=())

    def check(self, data: Sequence[str], against: str | None) -> None:
        """Raise a usage error where the options do not go together."""
        options.one_standard_input(self.clusters, self.vectors, against, *self.decoded, *data)
        if self.decoded and len(self.decoded) != len(data):
            raise click.UsageError(
                f"--decoded is needed for each data file: {len(data)} times, not {len(self.decoded)}"
            )
        if self.clusters and self.unknown == "mean":
            message("warning: --unknown mean means nothing to --clusters: clusters have no mean")

    def read(
        self, data: Sequence[tuple[str, list[list[str]]]], tally: Tally
    ) -> tuple[list[list[TokenFeatures]], list[dict[str, Any]]]:
        """The representations of each data set, and records of the files that they come from.

        Args:
            data: name and sentences of each data set.
        """
        from wordkit.evaluation.token_features import cluster_features, decoded_features, vector_features
        from wordkit.formats.clusters import read_clusters
        from wordkit.formats.decoded import read_decoded
        from wordkit.formats.opening import Input

        parts = [[word for words in sentences for word in words] for _, sentences in data]
        found: list[list[TokenFeatures]] = []
        inputs: list[dict[str, Any]] = []
        if self.vectors:
            words = dict.fromkeys(word for part in parts for word in part)
            lookup = lookup_of(self.unknown, self.ignore_case, self.restrict_vocab, self.mmap)
            known = read_vectors_of(self.vectors, words, lookup, tally, inputs)
            found.append(vector_features(known, parts, unknown=self.unknown))
        if self.clusters:
            with Input(self.clusters, digest=True) as source:
                table = read_clusters(source, tally=tally)
                inputs.append(source.record())
            found.append(
                cluster_features(
                    table,
                    parts,
                    prefixes=self.prefixes,
                    unknown="skip" if self.unknown == "mean" else self.unknown,
                    ignore_case=self.ignore_case,
                )
            )
        if self.decoded:
            read = []
            for path, (name, sentences) in zip(self.decoded, data, strict=True):
                with Input(path, digest=True) as source:
                    read.append(read_decoded(source, tally=tally))
                    inputs.append(source.record())
                read[-1].check_words(sentences, name)
            found.append(decoded_features(read))
        return [list(own) for own in zip(*found, strict=True)] if found else [[] for _ in data], inputs

    def parameters(self, unlexicalized: bool) -> dict[str, Any]:
        """What of it belongs into a signature and a result; None where it has no effect."""
        looked_up = bool(self.clusters or self.vectors)
        kinds = [name for name in ("vectors", "clusters", "decoded") if getattr(self, name)]
        return {
            "representation": "+".join(kinds) or "none",
            "prefixes": ",".join(map(str, self.prefixes)) if self.clusters else None,
            "lexicalized": not unlexicalized,
            "unknown": self.unknown if looked_up else None,
            "ignore-case": self.ignore_case if looked_up else None,
            "restrict-vocab": self.restrict_vocab if self.vectors else None,
        }
