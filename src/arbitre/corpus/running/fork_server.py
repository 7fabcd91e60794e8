"""The fork server, which loads the library once for all worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from multiprocessing import forkserver, resource_tracker
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

_METHOD: Final = "forkserver"
_INTERRUPTED: Final = 130
_LIBRARY: Final = ("arbitre.corpus", "arbitre.engine", "arbitre.report.", "arbitre.schema")
_LATE: Final = ("arbitre.report.evaluation_job", "scipy.optimize")
"""Modules that worker processes need, even if this process has not imported them yet."""


def worker_context() -> BaseContext:
    """Return the multiprocessing context of worker processes: a fork server if the platform supports it, else spawn.

    The server imports the library once, which saves each worker process 0.7 s.
    """
    if _METHOD not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context(_METHOD)
    imported = [name for name in tuple(sys.modules) if name.startswith(_LIBRARY)]
    context.set_forkserver_preload([*imported, *_LATE])
    return context


def start_server() -> None:
    """Start the fork server, if the platform supports it, without waiting until it has imported its modules.

    If this is called before the evaluation code is imported, both processes import it in parallel, and the call costs
    only the import of `multiprocessing`.
    """
    if worker_context().get_start_method() == _METHOD:
        resource_tracker.ensure_running()  # otherwise forkserver.ensure_running starts it, which unblocks SIGINT
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # else it would print a traceback on Ctrl-C
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def exit_on_interrupt() -> None:
    """Make Ctrl-C end a worker process at once, without a traceback. The fork server may have blocked SIGINT."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
