"""Executors: compare work units in this process or in a pool of processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from arbitre.corpus.running.checkpoints import write_checkpoint
from arbitre.corpus.running.dask_cluster import DaskCluster
from arbitre.corpus.running.fork_server import start_server, worker_context
from arbitre.corpus.storage.database import temporary_space
from arbitre.errors import ArbitreError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.corpus.joining.work_units import WorkUnit
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.corpus.running.worker import Worker

    Executor = Callable[[Worker, Iterable[WorkUnit]], Iterator[DocumentResults]]
    """Distributes work units and yields their results, in order."""

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


def _begin(collection: tuple[int, int, int]) -> None:
    """Prepare a worker process. With the garbage collection of the command it takes 8 % less time."""
    gc.set_threshold(*collection)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """Exit when the parent process ends, even if it was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(worker: Worker, part: WorkUnit) -> DocumentResults:
    return write_checkpoint(part, worker(part))


class ProcessPool:
    """Executor on several processes of this machine, which start on first use and stay until `close`."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        """Compare work units, as `Executor`. Raises ArbitreError like `map`."""
        first = list(islice(parts := iter(parts), MIN_PARTS + 1))
        if len(first) <= MIN_PARTS:
            yield from run_in_process(worker, first)
        else:
            yield from self.map(partial(_work, worker), chain(first, parts))

    def prepare(self) -> None:
        """Start loading the code that worker processes need, without waiting for it."""
        start_server()

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield the results of a function for items, in order.

        Args:
            function: The function. It is pickled once.
            items: Its arguments. Only a few are submitted at a time, which bounds memory.

        Raises:
            ArbitreError: The function cannot be pickled, or a process was killed.
        """
        waiting: deque[Future[_Result]] = deque()
        with _pickled(function) as file:
            try:
                for item in items:
                    waiting.append(self._submit(file, item))
                    if len(waiting) >= PARTS_PER_PROCESS * self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BrokenProcessPool as error:
                self._pool = None
                raise ArbitreError.of(
                    "A worker process was killed",
                    hint="It may have run out of memory: use fewer --workers and continue with --resume.",
                ) from error
            finally:
                for future in waiting:
                    future.cancel()

    def run(self, function: Callable[[], _Result]) -> _Result:
        """Return the result of a function, from a process if they have started. Raises ArbitreError like `map`."""
        return function() if self._pool is None else next(self.map(_call, [function]))

    def close(self) -> None:
        """End the processes, without waiting for it. The next use starts others."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _submit(self, file: str, item: _Item) -> Future[Any]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, worker_context(), _begin, (gc.get_threshold(),))
        return self._pool.submit(_apply, file, item)


def processes_of(executor: Executor) -> ProcessPool | None:
    """Return the worker processes of an executor; None if it has none on this machine."""
    return executor if isinstance(executor, ProcessPool) else None


@contextmanager
def running(executor: Executor) -> Iterator[Executor]:
    """Yield an executor. After the block, its worker processes end."""
    try:
        yield executor
    finally:
        if (processes := processes_of(executor)) is not None:
            processes.close()


@contextmanager
def _pickled(function: object) -> Iterator[str]:
    """Write a function to a temporary file, from which each process reads it once. Raises ArbitreError."""
    try:
        data = pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ArbitreError.of(
            f"A custom function cannot be sent to worker processes: {error}",
            hint="Define it with `def` at the top level of a module, or use --workers 1.",
        ) from error
    with TemporaryDirectory(prefix="arbitre-") as folder:
        file = Path(folder, "function.pickle")
        with temporary_space():
            file.write_bytes(data)
        yield str(file)


def _call(function: Callable[[], _Result]) -> _Result:
    return function()


def _apply(file: str, item: Any) -> Any:  # noqa: ANN401  (argument and result of any function)
    return _unpickled(file)(item)


@lru_cache(maxsize=1)
def _unpickled(file: str) -> Any:  # noqa: ANN401
    return pickle.loads(Path(file).read_bytes())  # noqa: S301  (written by `_pickled`)
