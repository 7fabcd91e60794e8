"""How worker processes start: from a fork server that loads the library once, and without running the user's script."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from contextlib import contextmanager
from multiprocessing import context as contexts
from multiprocessing import forkserver, resource_tracker
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import BaseContext

MAIN: Final = "__main__"
"""Name of the module of the user's script, notebook or prompt."""

_METHOD: Final = "forkserver"
_INTERRUPTED: Final = 130
_LIBRARY: Final = ("arbitre.corpus", "arbitre.engine", "arbitre.report.", "arbitre.schema")
_LATE: Final = ("arbitre.report.evaluation_job", "scipy.optimize")
"""Modules that worker processes need, even if this process has not imported them yet."""
_HIDING: Final = threading.Lock()


@contextmanager
def _hidden_script() -> Iterator[None]:
    """Replace the module `__main__` by an empty one while a process starts.

    `multiprocessing` tells each new process to run the file of this module first. A script that has no
    `if __name__ == "__main__"` would then start worker processes in the worker process, and standard input has no file.
    """
    with _HIDING:
        script, sys.modules[MAIN] = sys.modules[MAIN], ModuleType(MAIN)
        try:
            yield
        finally:
            sys.modules[MAIN] = script


class _SpawnedProcess(contexts.SpawnProcess):
    def start(self) -> None:
        with _hidden_script():
            super().start()


class _SpawnContext(contexts.SpawnContext):
    Process = _SpawnedProcess


if sys.platform != "win32":

    class _ForkedProcess(contexts.ForkServerProcess):
        def start(self) -> None:
            with _hidden_script():
                super().start()

    class _ForkServerContext(contexts.ForkServerContext):
        Process = _ForkedProcess


def worker_context() -> BaseContext:
    """Return the multiprocessing context of worker processes: a fork server if the platform supports it, else spawn.

    The server imports the library once, which saves each worker process 0.7 s. The processes do not run the user's
    script.
    """
    if sys.platform == "win32" or _METHOD not in multiprocessing.get_all_start_methods():
        return _SpawnContext()
    context = _ForkServerContext()
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


def end_processes() -> None:
    """End all worker processes and the fork server at once, because this process is about to exit.

    Otherwise, a worker process that is just starting would print that its semaphores no longer exist.
    """
    server = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)  # there is no public name
    if server is not None:
        os.kill(server, signal.SIGTERM)
    for process in multiprocessing.active_children():
        process.terminate()


def exit_on_interrupt() -> None:
    """Make Ctrl-C end a worker process at once, without a traceback. The fork server may have blocked SIGINT."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
