"""Starts the fork server before the command is imported, so that both import the library at the same time."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from arbitre.inputs.open_files import LARGE_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_FILES: Final = 1000
"""Minimum number of files in a large folder."""

_WORKERS: Final = "--workers"
_ELSEWHERE: Final = {"--help", "dask", "--engine=dask"}
"""Arguments of commands that use no processes of this machine."""


def prepare_processes(arguments: Sequence[str]) -> None:
    """Start the fork server if an argument names a large file or folder, because workers will probably be needed.

    The options are not parsed yet; a wrong guess costs time but does not change results. With two processes, this saves
    0.6 s of 7.5 s for 10,000 flat documents.
    """
    single = (_WORKERS, "1") in pairwise(arguments) or f"{_WORKERS}=1" in arguments or (os.cpu_count() or 1) == 1
    if not single and _ELSEWHERE.isdisjoint(arguments) and any(map(_is_large, arguments)):
        from arbitre.corpus.fork_server import start_server  # noqa: PLC0415  (small corpora do not need it)

        start_server()


def _is_large(argument: str) -> bool:
    """Return whether an argument, or the value in `--option=value`, names a large file or folder."""
    name = argument.partition("=")[2] if argument.startswith("--") else argument
    with suppress(OSError, ValueError):
        if os.path.isdir(name):  # noqa: PTH112  (pathlib is not imported yet)
            with os.scandir(name) as entries:
                return len(list(islice(entries, MIN_FILES))) == MIN_FILES
        return os.path.getsize(name) > LARGE_FILE  # noqa: PTH202
    return False
