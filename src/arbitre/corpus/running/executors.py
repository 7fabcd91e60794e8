"""Executors: compare work units in this process or in a pool of processes."""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import pickle
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

from arbitre.corpus.running.checkpoints import write_checkpoint
from arbitre.corpus.running.dask_cluster import DaskCluster
from arbitre.corpus.running.fork_server import exit_on_interrupt, worker_context
from arbitre.corpus.storage.database import temporary_space
from arbitre.errors import ArbitreError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.context import BaseContext

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


def _initialize_worker(collection: tuple[int, int, int]) -> None:
    """Prepare a worker process. With the garbage collection of the command it takes 8 % less time."""
    exit_on_interrupt()
    gc.set_threshold(*collection)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    """Exit when the parent process ends, even if it was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(worker: Worker, part: WorkUnit) -> DocumentResults:
    return write_checkpoint(part, worker(part))


class ProcessPool:
    """Executor that uses several processes on this machine. They start on first use and run until `close` is called."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: Future[ProcessPoolExecutor] | None = None

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        """Yield the results of work units, in order. Raises ArbitreError in the same cases as `map`."""
        first = list(islice(parts := iter(parts), MIN_PARTS + 1))
        if len(first) <= MIN_PARTS:
            yield from run_in_process(worker, first)
        else:
            yield from self.map(partial(_work, worker), chain(first, parts))

    def prepare(self) -> None:
        """Start the processes in the background. Does nothing if they are already starting or running."""
        if self._pool is None:
            self._pool = Future()
            settings = self.workers, worker_context(), gc.get_threshold()
            threading.Thread(target=_start, args=(self._pool, *settings), daemon=True).start()

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], *, wait: bool = True
    ) -> Iterator[_Result]:
        """Yield the results of a function for items, in order.

        Args:
            function: Function to apply. It must be picklable; it is pickled once.
            items: Its arguments. Only a few are submitted at a time, which bounds memory.
            wait: Whether to wait for the processes. If false, this process handles items until they are ready.

        Raises:
            ArbitreError: The function cannot be pickled, the processes cannot be started, or one was killed.
        """
        waiting: deque[Future[_Result]] = deque()
        with _pickled(function) as file:
            try:
                for item in items:
                    if not (wait or waiting or self._has_started):
                        yield function(item)
                        continue
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
        """Call a function in a worker process, or in this process if none is running. Raises the errors of `map`."""
        return next(self.map(_call, [function])) if self._has_started else function()

    def close(self) -> None:
        """Stop the processes without waiting for them to exit. The next use starts new ones."""
        if self._pool is not None:
            self._pool.add_done_callback(_end)
            self._pool = None

    @property
    def _has_started(self) -> bool:
        return self._pool is not None and self._pool.done() and self._pool.exception() is None

    def _submit(self, file: str, item: _Item) -> Future[Any]:
        self.prepare()
        try:
            pool = cast("Future[ProcessPoolExecutor]", self._pool).result()
        except Exception as error:
            self._pool = None
            raise ArbitreError.of(
                f"The worker processes could not be started: {error}",
                hint="Use --workers 1 or, in a script, call arbitre inside an `if __name__ == '__main__':` block.",
            ) from error
        return pool.submit(_apply, file, item)


def _start(
    started: Future[ProcessPoolExecutor], workers: int, context: BaseContext, collection: tuple[int, int, int]
) -> None:
    """Start worker processes and store the pool, or the error, in `started`."""
    try:
        with ExitStack() as stack:
            pool = ProcessPoolExecutor(workers, context, _initialize_worker, (collection,))
            stack.callback(pool.shutdown, wait=False)
            for process in [pool.submit(os.getpid) for _ in range(workers)]:
                process.result()
            stack.pop_all()
    except Exception as error:  # noqa: BLE001  (raised where the processes are used)
        started.set_exception(error)
    else:
        started.set_result(pool)


def _end(started: Future[ProcessPoolExecutor]) -> None:
    """Stop worker processes without waiting for them to exit."""
    if started.exception() is None:
        started.result().shutdown(wait=False, cancel_futures=True)


def processes_of(executor: Executor, parts: float = math.inf) -> ProcessPool | None:
    """Return the worker processes of an executor that compare this number of work units.

    None if it has none on this machine, or if this process compares so few work units.
    """
    return executor if isinstance(executor, ProcessPool) and parts > MIN_PARTS else None


@contextmanager
def running(executor: Executor) -> Iterator[Executor]:
    """Yield the executor, and stop its worker processes when the block ends."""
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
    with temporary_space():
        folder = TemporaryDirectory(prefix="arbitre-")
        file = Path(folder.name, "function.pickle")
        file.write_bytes(data)
    with folder:
        yield str(file)


def _call(function: Callable[[], _Result]) -> _Result:
    return function()


def _apply(file: str, item: Any) -> Any:  # noqa: ANN401  (argument and result of any function)
    return _unpickled(file)(item)


@lru_cache(maxsize=2)
def _unpickled(file: str) -> Any:  # noqa: ANN401
    return pickle.loads(Path(file).read_bytes())  # noqa: S301  (written by `_pickled`)
