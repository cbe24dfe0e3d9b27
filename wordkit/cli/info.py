"""``wordkit info``: what a file holds."""

from __future__ import annotations

import json

from wordkit.cli import options
from wordkit.cli.report import print_lines


@options.command("info", example="wordkit info data_samples/vectors.txt")
@options.input_argument("file")
def command(file: str) -> None:
    """Print what a model or vector file holds, as one JSON object.

    For a model: its header (format version, command, parameters, seed, inputs with sizes and digests, history). For word
    vectors: the format, the number of words and the dimension.
    """
    from wordkit.errors import DataError
    from wordkit.formats.model_file import read_header
    from wordkit.formats.vectors import describe_vectors

    try:
        header = read_header(file)
    except DataError:
        if file == "-":
            raise
        header = describe_vectors(file)
    print_lines([json.dumps(header, ensure_ascii=False, indent=1)])
