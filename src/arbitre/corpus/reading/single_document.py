"""Reads a file that contains one document."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from arbitre.corpus.reading import strict_json
from arbitre.corpus.reading.reader import CELLS, LINES, TABLE
from arbitre.corpus.reading.sources import STDIN, split_name
from arbitre.values import MAX_BYTES

if TYPE_CHECKING:
    from arbitre.values import Json


def is_corpus(source: str | Path) -> bool:
    """Return whether a source is a folder, or a file that contains one record per line or row."""
    path = Path(source)
    return str(source) != STDIN and (path.is_dir() or split_name(path)[1] in {*LINES, *CELLS, TABLE})


def read_document(source: str | Path, max_depth: int = strict_json.MAX_DEPTH) -> Json:
    """Read a document from a file or from standard input (`-`). Raises DataError if it cannot be read."""
    if str(source) != STDIN:
        return strict_json.load(Path(source), max_depth=max_depth, max_bytes=MAX_BYTES)
    text = sys.stdin.buffer.read(MAX_BYTES + 1)
    strict_json.check_size(text, file="<stdin>")
    return strict_json.parse(text, file="<stdin>", max_depth=max_depth)
