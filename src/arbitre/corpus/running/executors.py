"""Executors: compare work units in this process or in a pool of processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import sys
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from arbitre.corpus.running.checkpoints import write_checkpoint
from arbitre.corpus.running.dask_cluster import DaskCluster
from arbitre.errors import ArbitreError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.context import BaseContext

    from arbitre.corpus.joining.work_units import WorkUnit
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.corpus.running.worker import Worker

    Executor = Callable[[Worker, Iterable[WorkUnit]], Iterator[DocumentResults]]
    """Distributes work units and yields their results, in order."""

_LIBRARY: Final = ("arbitre.corpus", "arbitre.engine", "arbitre.report.", "arbitre.schema")

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Engine: TypeAlias = Literal["local", "dask"]
"""Where documents are compared: on this machine or on a Dask cluster."""

PARTS_PER_PROCESS: Final = 2
"""Maximum number of submitted work units per process, which bounds memory."""


MIN_PARTS: Final = 2
"""Maximum number of work units compared in this process, because starting others would take longer."""


def run_in_process(worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
    """Compare work units in this process."""
    return (write_checkpoint(part, worker(part)) for part in parts)


def choose_executor(engine: Engine, scheduler: str | None, workers: int | None) -> Executor:
    """Return the executor for these options; see `EvaluationOptions`. Raises OptionError if they contradict."""
    if (engine == "dask") != (scheduler is not None):
        raise OptionError.of("Expected `engine` dask and `scheduler` together.")
    if scheduler is not None:
        return DaskCluster(scheduler)
    count = workers or os.cpu_count() or 1
    return ProcessPool(count) if count > 1 else run_in_process


_worker: Worker | None = None


def _begin(worker: Worker | None, collection: tuple[int, int, int]) -> None:
    """Prepare a worker process. With the garbage collection of the command it takes 8 % less time."""
    global _worker  # noqa: PLW0603  (set once per process)
    _worker = worker
    gc.set_threshold(*collection)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """Exit when the parent process ends, even if it was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(part: WorkUnit) -> DocumentResults:
    if _worker is None:
        raise ArbitreError.of("The worker process was not initialised")
    return write_checkpoint(part, _worker(part))


class ProcessPool:
    """Executor on several processes of this machine. Raises ArbitreError if a process is killed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        first = list(islice(parts := iter(parts), MIN_PARTS + 1))
        if len(first) <= MIN_PARTS:
            yield from run_in_process(worker, first)
            return
        _check_picklable(worker)
        yield from self.map(_work, chain(first, parts), worker)

    def prepare(self) -> None:
        """Start loading the code that worker processes need, without waiting for it."""
        if _context().get_start_method() == "forkserver":
            forkserver.ensure_running()

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], worker: Worker | None = None
    ) -> Iterator[_Result]:
        """Yield the results of a function for items, in order.

        Args:
            function: The function, defined at the top level of a module.
            items: Its arguments. Only a few are submitted at a time, which bounds memory.
            worker: The worker that each process keeps for `function`.

        Raises:
            ArbitreError: A process was killed.
        """
        waiting: deque[Future[_Result]] = deque()
        with ProcessPoolExecutor(self.workers, _context(), _begin, (worker, gc.get_threshold())) as pool:
            try:
                for item in items:
                    waiting.append(pool.submit(function, item))
                    if len(waiting) >= PARTS_PER_PROCESS * self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BrokenProcessPool as error:
                raise ArbitreError.of(
                    "A worker process was killed",
                    hint="It may have run out of memory: use fewer --workers and continue with --resume.",
                ) from error
            finally:
                for future in waiting:
                    future.cancel()


def _check_picklable(worker: Worker) -> None:
    """Raise ArbitreError if a custom function cannot be sent to other processes."""
    try:
        pickle.dumps(worker)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ArbitreError.of(
            f"A custom function cannot be sent to worker processes: {error}",
            hint="Define it with `def` at the top level of a module, or use --workers 1.",
        ) from error


def _context() -> BaseContext:
    """Return the start method: a fork server, if the platform supports it.

    The server loads the modules that this process has loaded, so that worker processes do not have to load them.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([name for name in sys.modules if name.startswith(_LIBRARY)])
    return context
