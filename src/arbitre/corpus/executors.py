"""Executors: compare work units in this process or in a pool of processes."""

from __future__ import annotations

import concurrent.futures.process
import gc
import io
import math
import multiprocessing
import os
import pickle
import threading
import warnings
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, islice
from multiprocessing import spawn
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from arbitre.corpus.checkpoints import write_checkpoint
from arbitre.corpus.fork_server import MAIN, exit_on_interrupt, start_server, starting, worker_context
from arbitre.errors import ArbitreError, OptionError
from arbitre.inputs.open_files import Workers
from arbitre.inputs.work_units import WorkUnit
from arbitre.interpreter import RARELY
from arbitre.storage.temporary import TemporaryFolder, remove_stale_folders, temporary_space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.context import BaseContext

    from arbitre.corpus.worker import DocumentResults, Worker
    from arbitre.options import Engine


if TYPE_CHECKING:
    Executor = Callable[[Worker, Iterable[WorkUnit]], Iterator[DocumentResults]]
    """Distributes work units and yields their results, in order."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


PARTS_PER_PROCESS: Final = 2
"""Maximum number of submitted work units per process, which bounds memory."""


MIN_PARTS: Final = 2
"""Maximum number of work units compared in this process, because starting others would take longer."""


def run_in_process(worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
    """Compare work units in this process."""
    return (write_checkpoint(part, worker(part)) for part in parts)


def choose_executor(engine: Engine, scheduler: str | None, workers: int | None, wait_workers: int = 1) -> Executor:
    """Return the executor for these options; see `EvaluationOptions`. Raises OptionError if they contradict."""
    if (engine == "dask") != (scheduler is not None):
        raise OptionError.of("Expected `engine` dask and `scheduler` together.")
    if scheduler is not None:
        from arbitre.corpus.cluster import DaskCluster  # noqa: PLC0415  (few evaluations need it)

        return DaskCluster(scheduler, wait_workers)
    count = workers or os.cpu_count() or 1
    return ProcessPool(count) if count > 1 else run_in_process


def _initialize_worker(script: dict[str, str]) -> None:
    """Prepare a worker process."""
    exit_on_interrupt()
    _SCRIPT.location = script
    gc.set_threshold(*RARELY)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    """Exit when the parent process ends, even if it was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(worker: Worker, part: WorkUnit) -> DocumentResults:
    return write_checkpoint(part, worker(part))


class ProcessPool(Workers):
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
        if self._pool is None and not _is_nested():
            if _SCRIPT.running:
                raise ArbitreError.of("it starts worker processes itself")
            self._pool = Future()
            arguments = self._pool, self.workers, worker_context(), (script_location(),)
            threading.Thread(target=_start, args=arguments, daemon=True).start()

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], *, wait: bool = True
    ) -> Iterator[_Result]:
        """Yield the results of a function for items, in order.

        Args:
            function: Function to apply. It must be picklable; it is pickled once. If it contains a function of the
                user's script, the processes import the script first. If they cannot, or if this process is a worker
                process itself, it handles all items, with a warning.
            items: Its arguments. Only a few are submitted at a time, which bounds memory.
            wait: Whether to wait for the processes. If false, this process handles items until they are ready.

        Raises:
            ArbitreError: The function cannot be pickled, the processes cannot be started, or one was killed.
        """
        try:
            _check_nested()
            data = pickled(function)
        except NotParallelError as error:
            _warn(error)
            yield from map(function, items)
            return
        waiting: deque[tuple[_Item, Future[_Result]]] = deque()
        alone = False  # whether this process handles all further items

        def result() -> _Result:
            nonlocal alone
            item, future = waiting.popleft()
            try:
                return future.result()
            except NotParallelError as error:
                alone = alone or _warn(error)
                return function(item)

        with _stored(data) as file, self._cancelled(waiting):
            for item in items:
                if alone or not (wait or waiting or self.is_ready):
                    while waiting:
                        yield result()
                    yield function(item)
                    continue
                waiting.append((item, self._submit(file, item)))
                if len(waiting) >= PARTS_PER_PROCESS * self.workers:
                    yield result()
            while waiting:
                yield result()

    @contextmanager
    def _cancelled(self, waiting: Iterable[tuple[object, Future[Any]]]) -> Iterator[None]:
        """Cancel waiting items when the block ends. Raises ArbitreError if a process was killed."""
        try:
            yield
        except BrokenProcessPool as error:
            self._pool = None
            raise ArbitreError.of(
                "A worker process was killed",
                hint="It may have run out of memory: use fewer --workers and continue with --resume.",
            ) from error
        finally:
            for _, future in waiting:
                future.cancel()

    def close(self) -> None:
        """Stop the processes without waiting for them to exit. The next use starts new ones."""
        if self._pool is not None:
            self._pool.add_done_callback(_end)
            self._pool = None

    @property
    def is_ready(self) -> bool:
        return self._pool is not None and self._pool.done() and self._pool.exception() is None

    def _submit(self, file: str, item: _Item) -> Future[Any]:
        self.prepare()
        try:
            pool = cast("Future[ProcessPoolExecutor]", self._pool).result()
        except Exception as error:
            self._pool = None
            raise ArbitreError.of(
                f"The worker processes could not be started: {error}",
                hint="Use --workers 1.",
            ) from error
        refused: Future[Any] = Future()
        try:
            return pool.submit(_apply, file, pickled(item))
        except NotParallelError as error:
            refused.set_exception(error)
        except RuntimeError as error:
            if isinstance(error, BrokenProcessPool) or threading.main_thread().is_alive():
                raise
            refused.set_exception(
                NotParallelError.of(
                    "The main thread has ended, and Python gives worker processes no more work",
                    hint="This process compares the other documents. To use all, join the thread that evaluates.",
                )
            )
        return refused


def _start(
    started: Future[ProcessPoolExecutor],
    workers: int,
    context: BaseContext,
    settings: tuple[dict[str, str]],
) -> None:
    """Start worker processes and store the pool, or the error, in `started`."""
    try:
        start_server()
        with ExitStack() as stack:
            with starting():
                pool = ProcessPoolExecutor(workers, context, _initialize_worker, settings)
            stack.callback(pool.shutdown, wait=False)
            first = pool.submit(os.getpid)
            _detach(pool)
            for process in [first, *(pool.submit(os.getpid) for _ in range(1, workers))]:
                process.result()
            stack.pop_all()
    except Exception as error:  # noqa: BLE001  (raised where the processes are used)
        started.set_exception(error)
    else:
        started.set_result(pool)


def _detach(pool: ProcessPoolExecutor) -> None:
    """Let this process exit without waiting for the threads of a pool, because `end_processes` kills its processes.

    Otherwise, Python would wake the thread that manages the pool, through a pipe that this thread may be closing ("Bad
    file descriptor"), and wait until all messages to the processes are sent. There are no public names.
    """
    manager = getattr(pool, "_executor_manager_thread", None)
    getattr(concurrent.futures.process, "_threads_wakeups", {}).pop(manager, None)
    if (messages := getattr(pool, "_call_queue", None)) is not None:
        messages.cancel_join_thread()


def _end(started: Future[ProcessPoolExecutor]) -> None:
    """Stop worker processes without waiting for them to exit."""
    if started.exception() is None:
        started.result().shutdown(wait=False, cancel_futures=True)


def processes_of(executor: Executor, parts: float = math.inf) -> ProcessPool | None:
    """Return the workers as `workers_of` does, but None if they are on a cluster."""
    workers = workers_of(executor, parts)
    return workers if isinstance(workers, ProcessPool) else None


def workers_of(executor: Executor, parts: float = math.inf) -> Workers | None:
    """Return the workers that an executor uses for this number of work units, on this machine or on a cluster.

    None if it has no workers, or if this process compares so few units itself.
    """
    workers: object = executor  # mypy would treat this check of an Executor as unreachable
    return workers if isinstance(workers, Workers) and parts > MIN_PARTS else None


@contextmanager
def running(executor: Executor) -> Iterator[Executor]:
    """Yield the executor, connected to its cluster if it has one, and stop its workers when the block ends."""
    remove_stale_folders()
    workers = workers_of(executor)
    if workers is not None and not isinstance(workers, ProcessPool):  # processes start when they are first used
        workers.prepare()
    try:
        yield executor
    finally:
        if workers is not None:
            workers.close()


@contextmanager
def _stored(data: bytes) -> Iterator[str]:
    """Write a pickled function to a temporary file, from which each process reads it once."""
    with TemporaryFolder() as folder:
        file = folder.path / "function.pickle"
        with temporary_space():
            file.write_bytes(data)
        yield str(file)


def pickled(value: object) -> bytes:
    """Return the pickle of a value for worker processes.

    Documents whose class the user's script defines, such as a Pydantic model, are converted to JSON.

    Raises:
        NotParallelError: It contains a function or class that is defined on standard input, in a notebook or at a
            prompt, where worker processes cannot import it.
        ArbitreError: It cannot be pickled.
    """
    data, scripted = _dumped(value)
    if scripted is not None and isinstance(value, WorkUnit):
        data, scripted = _dumped(value.as_json())
    if scripted is not None and not script_location():
        raise NotParallelError.of(
            f"`{scripted}` cannot be sent to worker processes, because it is not defined in a file",
            hint="One process compares all documents. To use several, define it in a module and import it.",
        )
    return data


def _dumped(value: object) -> tuple[bytes, str | None]:
    """Return the pickle of a value, and the name of a function or class of the user's script that it contains."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    try:
        pickler.dump(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ArbitreError.of(
            f"A custom function cannot be sent to worker processes: {error}",
            hint="Define it with `def` at the top level of a module, or use --workers 1.",
        ) from error
    return buffer.getvalue(), pickler.scripted


class _Pickler(pickle.Pickler):
    """Pickler that notes in `scripted` the name of a function or class of the user's script."""

    scripted: str | None = None

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401
        if getattr(value, "__module__", None) == MAIN and isinstance(value, (type, FunctionType)):
            self.scripted = value.__qualname__
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    """Unpickler that imports the user's script when a function or class of it occurs."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:  # noqa: ANN401
        if module_name == MAIN:
            _SCRIPT.load()
        return super().find_class(module_name, global_name)


def script_location() -> dict[str, str]:
    """Return how `multiprocessing.spawn.prepare` finds the user's script; empty if it is not in a file."""
    names = {name: value for name, value in spawn.get_preparation_data("").items() if name.startswith("init_main")}
    return names if Path(names.get("init_main_from_path", __file__)).is_file() else {}


class NotParallelError(ArbitreError):
    """Worker processes cannot do some work, so this process does it."""


def _is_nested() -> bool:
    """Return whether this is a worker process, such as one of joblib, that cannot start processes."""
    method = multiprocessing.get_start_method(allow_none=True)
    known = method is None or method in multiprocessing.get_all_start_methods()
    return multiprocessing.current_process().daemon or not known


def _check_nested() -> None:
    if _is_nested():
        raise NotParallelError.of(
            "A worker process of another program cannot start further worker processes",
            hint="This process compares all documents: use --workers 1 (`workers=1` in Python).",
        )


def _warn(error: NotParallelError) -> bool:
    warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return True


@dataclass(slots=True)
class _Script:
    """The user's script as a worker process sees it.

    Attributes:
        location: Its location, as for `multiprocessing.spawn.prepare`; empty if it is imported or not in a file.
        running: Whether it is being imported.
        error: Why it cannot be imported.
    """

    location: dict[str, str] = field(default_factory=dict)
    running: bool = False
    error: NotParallelError | None = None

    def load(self) -> None:
        """Import the script once. Raises NotParallelError."""
        if self.error is not None:
            raise self.error
        location, self.location, self.running = self.location, {}, True
        try:
            spawn.prepare(location)
        except BaseException as error:
            self.error = NotParallelError.of(
                f"Worker processes cannot import this script, which defines a custom function: {error}",
                file=next(iter(location.values())),
                hint="One process compares all documents. To use several, call arbitre inside an "
                "`if __name__ == '__main__':` block.",
            )
            raise self.error from error
        finally:
            self.running = False


_SCRIPT: Final = _Script()


def _apply(file: str, item: bytes) -> Any:  # noqa: ANN401  (argument and result of any function)
    function = _unpickled(file)
    return function(_Unpickler(io.BytesIO(item)).load())


@lru_cache(maxsize=2)
def _unpickled(file: str) -> Any:  # noqa: ANN401
    return _Unpickler(io.BytesIO(Path(file).read_bytes())).load()
