"""``wordkit info``: what a file holds."""

from __future__ import annotations

import json

from wordkit.cli import options
from wordkit.cli.report import print_lines, report_tally


@options.command("info", example="wordkit info data_samples/vectors.txt")
@options.input_argument("file")
@options.json_option
def command(file: str, as_json: bool) -> None:
    """Print what a model, vector or counts file holds, as JSON (with --json on one line).

    For a model: its header (format version, command, parameters, seed, labels, inputs with sizes and digests, history). For
    word vectors: the format, the number of words and the dimension. For counts: parameters, inputs, number of words and cells.
    """
    from wordkit.formats.clusters import is_clusters, read_clusters
    from wordkit.formats.counts import describe_counts, is_counts
    from wordkit.formats.model_file import read_header
    from wordkit.formats.opening import Input
    from wordkit.formats.vectors import describe_vectors
    from wordkit.formats.vectors_sniff import sniff
    from wordkit.tally import Tally

    tally = Tally()
    with Input(file) as source:
        if is_counts(source):
            header = describe_counts(source)
        elif is_clusters(source):
            clusters = read_clusters(source, tally=tally)
            header = {
                "kind": "clusters",
                "clusters": len(clusters.paths),
                "words": len(clusters.words),
                "tokens": int(clusters.counts.sum()),
            }
        else:
            header = read_header(source) if sniff(source).format == "npz" else {"kind": "vectors"}
        if header["kind"] == "vectors":
            header = describe_vectors(source, tally)
    report_tally(tally)
    print_lines([json.dumps(header, ensure_ascii=False, indent=None if as_json else 1)])
