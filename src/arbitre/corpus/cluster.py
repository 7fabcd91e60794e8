"""Executor that compares work units on a Dask cluster, with the same results as on one machine.

Workers must run the same code as the client. Before the run starts, the code of all workers is checked; workers that
join later are checked within a second, and each result carries the version of its code. The first document that a
worker compares is recomputed on the client. If a worker cannot process an item, because it lacks a file or a module,
the item is sent to another worker.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import warnings
import weakref
from collections import deque
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from arbitre.corpus.checkpoints import write_checkpoint
from arbitre.errors import ArbitreError, DataError, optional_library
from arbitre.inputs.open_files import Workers
from arbitre.interpreter import collecting_rarely
from arbitre.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.corpus.worker import DocumentResults, Worker
    from arbitre.inputs.work_units import WorkUnit

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

ITEMS_PER_THREAD: Final = 4
"""Maximum number of submitted items per thread of the cluster."""

INTERVAL: Final = 1.0
"""Seconds between two checks for new workers."""

CONNECTION_TIMEOUT: Final = 10.0
"""Timeout for connecting to the scheduler, in seconds."""

TRIES: Final = 3
"""Maximum number of workers that try to process an item."""

RESUME: Final = "Results so far are kept: continue with --resume in the same --out folder."

SAME_FILES: Final = (
    "Workers must be able to read the input files under the same paths, for example on a shared file system, "
    "and to import the modules of custom functions."
)


class Task(NamedTuple):
    """The pickled function that workers apply to each item, and the current folder of the client."""

    function: bytes
    folder: str


class WorkerResult(NamedTuple):
    """Result of one item, with the address and the code of the worker; `failure` says why if there is no result."""

    result: Any
    address: str
    code: str = "an older version"
    failure: str | None = None


class Submission(NamedTuple):
    """The future of an item, and the only workers that may apply the function to it; empty for all."""

    future: Any
    workers: set[str]


class DaskCluster(Workers):
    """Executor on the workers of a Dask scheduler.

    Workers read the documents themselves, so the files must have the same names on all machines (a shared file
    system). Documents that are not in a plain file (decompressed, projected, from standard input) are in temporary
    files. They are sent to the workers, unless all workers can read these files.

    Methods raise ArbitreError if Dask is not installed, the scheduler cannot be reached or is lost, a worker runs other
    code or returns other results than this process, workers lack a file, or workers are killed repeatedly.
    """

    def __init__(self, scheduler: str, wait_workers: int = 1) -> None:
        """Set the address of the scheduler, such as `tcp://10.0.0.1:8786`, and the number of workers to wait for."""
        self.scheduler = scheduler
        self.wait_workers = wait_workers
        self._connected: Any = None
        self._close: Callable[[], object] = lambda: None

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        """Yield the results of work units, in order."""
        checked: set[str] = set()
        with self._connection() as client:
            readable = cache(partial(_is_readable, client))
            sent = (part.for_other_machines(readable) for part in parts)
            for part, found in ClusterRun(client, self.scheduler, partial(_compare, worker)).results(sent):
                results, is_written = found.result
                if found.address not in checked and len(part):
                    _check_first_document(worker, part, results, found.address)
                    checked.add(found.address)
                yield results if is_written else write_checkpoint(part, results)

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], *, wait: bool = True
    ) -> Iterator[_Result]:
        """Yield the results of a function for items, in order. It always waits for the workers."""
        del wait
        with self._connection() as client:
            for _, found in ClusterRun(client, self.scheduler, function).results(items):
                yield found.result

    @property
    def is_ready(self) -> bool:
        """Whether the executor is connected to the scheduler."""
        return self._connected is not None

    def prepare(self) -> None:
        """Connect to the scheduler. Does nothing if there is a connection."""
        if not self.is_ready:
            self._connected = client = _client(self.scheduler)
            self._close = weakref.finalize(self, client.close)

    def close(self) -> None:
        """Close the connection. The next use opens another."""
        self._close()
        self._connected, self._close = None, lambda: None

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """Yield the client of the scheduler, which is closed at the end if it was not connected before."""
        connected = self.is_ready
        self.prepare()
        try:
            with _errors(self.scheduler):
                self._connected.wait_for_workers(self.wait_workers)
            yield self._connected
        finally:
            if not connected:
                self.close()


@dataclass(slots=True)
class ClusterRun:
    """Applies a function to items on the workers of a cluster.

    Attributes:
        client: The client of the scheduler.
        scheduler: Address of the scheduler, for messages.
        function: The function, which workers unpickle once.
        excluded: Addresses of workers that receive no further items because a file or module is missing.
    """

    client: Any
    scheduler: str
    function: Callable[[Any], Any]
    excluded: set[str] = field(default_factory=set)
    _task: Any = None
    _threads: dict[str, int] = field(default_factory=dict)
    """Numbers of threads of the workers whose code has been checked, by address."""
    _asked: float = -math.inf

    def results(self, items: Iterable[_Item]) -> Iterator[tuple[_Item, WorkerResult]]:
        """Yield the items with their results, in order. Only a few are submitted at a time, which bounds memory."""
        import cloudpickle  # type: ignore[import-untyped]  # noqa: PLC0415  (comes with Dask)

        self._workers()  # checked first: a worker that cannot read a task may close without a message
        # A task rather than scattered data: if the only worker that has it is killed, the scheduler repeats it.
        self._task = self.client.submit(Task, cloudpickle.dumps(self.function), str(Path.cwd()), pure=False)
        waiting: deque[tuple[_Item, Submission]] = deque()
        for item in items:
            waiting.append((item, self._submit(item)))
            if len(waiting) >= ITEMS_PER_THREAD * max(1, sum(self._workers().values())):
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())

    def _workers(self) -> dict[str, int]:
        """Return the number of threads of each worker, by address. Checks for new workers once per second.

        Raises:
            ArbitreError: A new worker runs other code than this process, or none.
        """
        if monotonic() > self._asked + INTERVAL:
            with suppress(OSError):  # the scheduler is lost, which the results show
                threads: dict[str, int] = self.client.nthreads()
                if new := [one for one in threads if one not in self._threads]:
                    for address, found in self.client.run(code, workers=new, on_error="return").items():
                        _check_code(address, found)
                self._threads = threads
            self._asked = monotonic()
        return self._threads

    def _submit(self, item: object) -> Submission:
        """Send an item to the cluster, but not to excluded workers."""
        allowed = self._workers().keys() - self.excluded if self.excluded else set()
        future = self.client.submit(_apply, self._task, item, pure=False, workers=sorted(allowed) or None)
        return Submission(future, allowed)

    def _result(self, item: _Item, sent: Submission) -> tuple[_Item, WorkerResult]:
        """Return an item with its result. If a worker cannot process it, the item is sent to another worker.

        Raises:
            DataError: This process cannot process the item either, for example because a document changed on disk.
            ArbitreError: A worker runs other code, or no worker can process the item.
        """
        for tries in range(1, TRIES + 1):
            with _errors(self.scheduler):
                found = self._received(item, sent)
            _check_code(found.address, found.code)
            if found.failure is None:
                return item, found
            self._exclude(found)
            self._asked = -math.inf
            if tries == TRIES or not self._workers().keys() - self.excluded:
                break
            sent = self._submit(item)
        self.function(item)
        raise ArbitreError.of(
            f"Workers of {self.scheduler} failed on a part that the command itself could compare: {found.failure}",
            hint=f"{SAME_FILES} {RESUME}",
        )

    def _received(self, item: object, sent: Submission) -> WorkerResult:
        """Wait for a result. New workers are checked meanwhile: one that cannot run this code may send no result."""
        timeout = INTERVAL
        while True:
            try:
                found: WorkerResult = sent.future.result(timeout=timeout)
            except TimeoutError:  # raised in this process; workers return theirs as failures
                if sent.future.done():  # the result is still on its way, or its worker was lost
                    timeout *= 2
                known = self._workers()
                if sent.workers and sent.workers.isdisjoint(known):  # they have left
                    sent = self._submit(item)
            else:
                sent.future.release()
                return found

    def _exclude(self, found: WorkerResult) -> None:
        if found.address not in self.excluded:
            self.excluded.add(found.address)
            warnings.warn(
                f"Stopped using the worker {found.address}: {found.failure}. {SAME_FILES}",
                RuntimeWarning,
                stacklevel=2,
            )


def _client(scheduler: str) -> Any:  # noqa: ANN401  (Dask is optional)
    with optional_library("Dask", "dask", "Comparing documents on a cluster", ArbitreError):
        from distributed import Client  # noqa: PLC0415  (an extra)
    try:
        return Client(scheduler, timeout=CONNECTION_TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise ArbitreError.of(
            f"Cannot connect to the Dask scheduler at {scheduler!r}: {error}",
            hint="Start one with `dask scheduler` and pass the address that it prints.",
        ) from error


@contextmanager
def _errors(scheduler: str) -> Iterator[None]:
    """Convert the errors of a cluster to ArbitreError."""
    from distributed import KilledWorker  # noqa: PLC0415
    from distributed.comm.core import CommClosedError  # noqa: PLC0415

    try:
        yield
    except KilledWorker as error:
        raise ArbitreError.of(
            f"Workers of {scheduler} were repeatedly killed on the same documents",
            hint=f"They may have run out of memory: give the workers more memory. {RESUME}",
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise ArbitreError.of(
            f"The connection to the Dask scheduler at {scheduler} was lost: {error}", hint=RESUME
        ) from error


def _check_code(address: str, found: str | Exception) -> None:
    """Raise ArbitreError if a worker runs other code than this process, or cannot say which."""
    if isinstance(found, OSError):  # the worker has left
        return
    if isinstance(found, Exception):
        raise ArbitreError.of(
            f"The worker {address} cannot run arbitre {code()}: {found}",
            hint="Install the same version of arbitre, with the same extras, on all workers.",
        ) from found
    if found != code():
        raise ArbitreError.of(
            f"The worker {address} runs arbitre {found}, but this process runs {code()}",
            hint=f"Install the same version everywhere; scores could differ. {RESUME}",
        )


def _check_first_document(worker: Worker, part: WorkUnit, results: DocumentResults, address: str) -> None:
    """Compare the first document of a work unit again on the client. Raises ArbitreError if the results differ."""
    lines = [next(iter(one.lines())) for one in (worker(islice(iter(part), 1)), results) if len(one)]
    if len(lines) == 2 and lines[0] != lines[1]:  # noqa: PLR2004
        raise ArbitreError.of(
            f"The worker {address} and this process return different results for the document {results.ids[0]!r}",
            hint=f"Install the same versions of Python and of all libraries everywhere. {RESUME}",
        )


def _is_readable(client: Any, file: str) -> bool:  # noqa: ANN401  (Dask is optional)
    """Return whether all workers of the client see a file."""
    return all(client.run(os.path.exists, file).values())


# Functions that run on workers.


def _apply(task: Task, item: object) -> WorkerResult:
    """Apply the function of a task to an item."""
    from distributed import get_worker  # noqa: PLC0415  (only workers need it)

    result, failure = None, None
    try:
        with collecting_rarely():
            result = _function(task)(item)
    except DataError as error:
        failure = f"{error.file}: {error.message}"
    except (OSError, MissingModuleError) as error:
        failure = str(error)
    return WorkerResult(result, get_worker().address, code(), failure)


@lru_cache(maxsize=2)
def _function(task: Task) -> Callable[[Any], Any]:
    """Unpickle the function of a task. Modules in the current folder of the client can be imported."""
    import cloudpickle  # noqa: PLC0415  (comes with Dask)

    if task.folder not in sys.path:
        sys.path.append(task.folder)
    try:
        function: Callable[[Any], Any] = cloudpickle.loads(task.function)
    except (ImportError, AttributeError) as error:
        raise MissingModuleError(str(error)) from error
    return function


class MissingModuleError(Exception):
    """A worker cannot import a module of the function."""


def _compare(worker: Worker, part: WorkUnit) -> tuple[DocumentResults, bool]:
    """Return the results of a work unit, and whether its checkpoint was written (True if it has none)."""
    results = worker(part)
    if part.checkpoint is None:
        return results, True
    if part.checkpoint.file.parent.is_dir():
        with suppress(DataError):  # the client writes it
            write_checkpoint(part, results)
            return results, True
    return results, False


@cache
def code() -> str:
    """Return the version of arbitre, with a digest of its source code."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__} ({digest.hexdigest()[:8]})"
