"""The fork server, which loads the library once for all worker processes."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

_METHOD: Final = "forkserver"
_LIBRARY: Final = ("arbitre.corpus", "arbitre.engine", "arbitre.report.", "arbitre.schema")
_LATE: Final = ("arbitre.report.evaluation_job", "scipy.optimize")
"""Modules that worker processes need, even if this process has not imported them yet."""


def worker_context() -> BaseContext:
    """Return how worker processes start: from a fork server, if the platform supports it.

    The server imports what worker processes need, so that they do not have to: 0.7 s each.
    """
    if _METHOD not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context(_METHOD)
    imported = [name for name in sys.modules if name.startswith(_LIBRARY)]
    context.set_forkserver_preload([*imported, *_LATE])
    return context


def start_server() -> None:
    """Start the fork server, if the platform supports it, without waiting until it has imported its modules.

    Before an evaluation is imported, this costs nothing but importing `multiprocessing`: both processes then import at
    the same time.
    """
    if worker_context().get_start_method() == _METHOD:
        forkserver.ensure_running()
