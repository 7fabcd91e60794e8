"""How worker processes start: from a fork server that loads the library once, and without running the user's script."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import context as contexts
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import BaseContext
    from multiprocessing.synchronize import BoundedSemaphore, Lock

MAIN: Final = "__main__"
"""Name of the module of the user's script, notebook or prompt."""

_METHOD: Final = "forkserver"
_INTERRUPTED: Final = 130
_LIBRARY: Final = ("arbitre.corpus", "arbitre.engine", "arbitre.report.", "arbitre.schema")
_LATE: Final = ("arbitre.jobs.evaluation_job", "scipy.optimize")
"""Modules that worker processes need, even if this process has not imported them yet."""
_SERVER: Final = forkserver.ForkServer()
"""The fork server of arbitre's worker processes.

It is separate from that of the user's processes, whose preloaded modules and signal handling do not change.
"""
_STARTING: Final = threading.Lock()
"""Held while the fork server, a process or the semaphores of a pool are created."""
_ENDED: Final = threading.Event()
"""Set when `end_processes` has been called: no more processes may start."""
_LAST_SEMAPHORES: Final[deque[Any]] = deque(maxlen=64)
"""Semaphores of the last pools, kept so that no thread of a closed pool deletes them.

Otherwise, this process could exit after a thread deletes a semaphore but before it notifies the resource tracker of
`multiprocessing`, which would then warn of a leak.
"""


@contextmanager
def starting() -> Iterator[None]:
    """Create what `end_processes` ends: it waits for this block. Raises RuntimeError if it has been called."""
    with _STARTING:
        if _ENDED.is_set():
            raise RuntimeError("this process is about to exit")
        yield


class _WorkerProcess(BaseProcess):
    """A process that does not run the user's script, and that is killed when this process exits.

    `multiprocessing` tells each new process to run the file of the module `__main__` first. A script that has no
    `if __name__ == "__main__"` would then start worker processes in the worker process, and standard input has no file.
    Therefore, the module is replaced by an empty one while a process starts. Meanwhile, `_SERVER` replaces the default
    fork server.
    """

    def start(self) -> None:
        with starting():
            script, sys.modules[MAIN] = sys.modules[MAIN], ModuleType(MAIN)
            connect, forkserver.connect_to_new_process = (
                forkserver.connect_to_new_process,
                _SERVER.connect_to_new_process,
            )
            try:
                super().start()
            finally:
                sys.modules[MAIN], forkserver.connect_to_new_process = script, connect
            if _ENDED.is_set():
                self.kill()


class _KeepsSemaphores(contexts.BaseContext):
    """A context that keeps the semaphores of its pools; see `_LAST_SEMAPHORES`."""

    def Lock(self) -> Lock:  # noqa: N802  (name in `multiprocessing`)
        _LAST_SEMAPHORES.append(lock := super().Lock())
        return lock

    def BoundedSemaphore(self, value: int = 1) -> BoundedSemaphore:  # noqa: N802
        _LAST_SEMAPHORES.append(semaphore := super().BoundedSemaphore(value))
        return semaphore


class _SpawnedProcess(_WorkerProcess, contexts.SpawnProcess):
    pass


class _SpawnContext(_KeepsSemaphores, contexts.SpawnContext):
    Process = _SpawnedProcess


if sys.platform != "win32":

    class _ForkedProcess(_WorkerProcess, contexts.ForkServerProcess):
        pass

    class _ForkServerContext(_KeepsSemaphores, contexts.ForkServerContext):
        Process = _ForkedProcess


def worker_context() -> BaseContext:
    """Return the multiprocessing context of worker processes: a fork server if the platform supports it, else spawn.

    The server imports the library once, which saves each worker process 0.7 s. The processes do not run the user's
    script.
    """
    if sys.platform == "win32" or _METHOD not in multiprocessing.get_all_start_methods():
        return _SpawnContext()
    imported = [name for name in tuple(sys.modules) if name.startswith(_LIBRARY)]
    _SERVER.set_forkserver_preload([*imported, *_LATE])
    return _ForkServerContext()


def start_server() -> None:
    """Start the fork server, if the platform supports it, without waiting until it has imported its modules.

    If this is called before the evaluation code is imported, both processes import it in parallel, and the call costs
    only the import of `multiprocessing`. Raises RuntimeError if `end_processes` has been called.
    """
    _end_processes_at_exit(os.getpid())
    if worker_context().get_start_method() == _METHOD:
        resource_tracker.ensure_running()  # otherwise forkserver.ensure_running starts it, which unblocks SIGINT
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # else it would print a traceback on Ctrl-C
        try:
            with starting():  # it creates a temporary folder, which this process deletes when it exits
                _SERVER.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@cache
def _end_processes_at_exit(_pid: int) -> None:
    """Call `end_processes` when this process, with this id, exits, before `multiprocessing` closes queues."""
    util.Finalize(None, end_processes, exitpriority=100)


def end_processes() -> None:
    """End all worker processes and the fork server at once, because this process is about to exit.

    Otherwise, Python could wait forever: it closes the queue of a pool, then waits for the pool's processes, which may
    not have been told to stop yet. A process that is just starting would print that its semaphores no longer exist.
    """
    _ENDED.set()
    for process in multiprocessing.active_children():
        if isinstance(process, _WorkerProcess):
            process.kill()
    server = getattr(_SERVER, "_forkserver_pid", None)  # there is no public name
    if server is not None:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGTERM)
    with _STARTING:
        pass  # the start of a process has failed, because the server has ended, or has killed the process


def exit_on_interrupt() -> None:
    """Make Ctrl-C end a worker process at once, without a traceback. The fork server may have blocked SIGINT."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
