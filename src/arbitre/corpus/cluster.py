"""Executor that compares work units on a Dask cluster, with the same results as on one machine.

Workers must run the same code as the client. Each result states the code of its worker, and the first document that a
worker compares is compared again by the client.
"""

from __future__ import annotations

import hashlib
from collections import deque
from concurrent.futures import CancelledError
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.corpus.checkpoints import write_checkpoint
from arbitre.errors import ArbitreError
from arbitre.interpreter import collecting_rarely

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.worker import DocumentResults, Worker
    from arbitre.inputs.work_units import WorkUnit

PARTS_PER_THREAD: Final = 4
"""Maximum number of submitted work units per thread of the cluster."""

RETRIES: Final = 3
"""Maximum number of retries of a work unit whose worker died."""

RESUME: Final = "Results so far are kept: continue with --resume in the same --out folder."


class WorkerResults(NamedTuple):
    """Results of a work unit, with the address and the code of the worker."""

    outcomes: DocumentResults
    address: str
    code: str


class DaskCluster:
    """Executor on the workers of a Dask scheduler.

    Workers read the documents themselves, so the files must have the same names on all machines (a shared file
    system). Documents that are not in a plain file (decompressed, projected, from standard input) are sent to them.

    Calling it raises ArbitreError if Dask is not installed, the scheduler cannot be reached or is lost, a worker runs
    other code or returns other results than this process, or workers are killed repeatedly.
    """

    def __init__(self, scheduler: str, wait_workers: int = 1) -> None:
        """Set the address of the scheduler, such as `tcp://10.0.0.1:8786`, and the number of workers to wait for."""
        self.scheduler = scheduler
        self.wait_workers = wait_workers
        self.checked: set[str] = set()
        """Addresses of the workers whose first document has been compared again."""

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        self.checked.clear()
        with self._client() as client:
            client.wait_for_workers(self.wait_workers)
            shared_worker = self._shared(client, worker)
            limit = _limit(client)
            waiting: deque[tuple[WorkUnit, Any]] = deque()
            for part in parts:
                part_with_documents = part.with_temporary_documents()
                future = client.submit(
                    _work_on_cluster, shared_worker, part_with_documents, pure=False, retries=RETRIES
                )
                waiting.append((part, future))
                if len(waiting) >= limit:
                    yield self._result(worker, *waiting.popleft())
                    limit = _limit(client, limit)  # workers may have joined
            while waiting:
                yield self._result(worker, *waiting.popleft())

    def _client(self) -> Any:  # noqa: ANN401  (Dask is optional)
        try:
            from distributed import Client  # noqa: PLC0415  (an extra)
        except ImportError:
            raise ArbitreError.of(
                "Dask is not installed; comparing on a cluster requires it", hint="pip install 'arbitre[dask]'"
            ) from None
        try:
            return Client(self.scheduler, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError, ValueError) as error:
            raise ArbitreError.of(
                f"Cannot connect to the Dask scheduler at {self.scheduler!r}: {error}",
                hint="Start one with `dask scheduler` and pass the address that it prints.",
            ) from error

    def _shared(self, client: Any, worker: Worker) -> Any:  # noqa: ANN401  (Dask is optional)
        """Send the worker to all workers of the cluster. Raises ArbitreError if one of them cannot read it."""
        try:
            return client.scatter(worker, broadcast=True)
        except Exception as error:  # Dask raises errors of workers as plain exceptions
            raise self._unable(error) from error

    def _unable(self, error: Exception) -> ArbitreError:
        """Return the error for a worker that cannot run this code."""
        return ArbitreError.of(
            f"A worker of {self.scheduler} cannot run arbitre {code()}: {error}",
            hint="Install the same version of arbitre, with the same extras, on all workers.",
        )

    def _result(self, worker: Worker, part: WorkUnit, future: Any) -> DocumentResults:  # noqa: ANN401
        from distributed import KilledWorker  # noqa: PLC0415
        from distributed.comm.core import CommClosedError  # noqa: PLC0415

        try:
            found = future.result()
        except KilledWorker as error:
            raise ArbitreError.of(
                f"Workers of {self.scheduler} were repeatedly killed on the same documents",
                hint=f"They may have run out of memory: give the workers more memory. {RESUME}",
            ) from error
        except (CancelledError, CommClosedError) as error:
            raise ArbitreError.of(
                f"The connection to the Dask scheduler at {self.scheduler} was lost: {error}", hint=RESUME
            ) from error
        except (ImportError, AttributeError, TypeError) as error:
            raise self._unable(error) from error
        outcomes = self._checked(worker, part, found)
        future.release()
        return write_checkpoint(part, outcomes)

    def _checked(self, worker: Worker, part: WorkUnit, found: Any) -> DocumentResults:  # noqa: ANN401
        """Return the results of a worker. Raises ArbitreError if its code or its first document differs from here."""
        if not isinstance(found, WorkerResults) or found.code != code():
            where, theirs = ("", "an older version") if not isinstance(found, WorkerResults) else found[1:]
            raise ArbitreError.of(
                f"The worker {where or 'of ' + self.scheduler} runs arbitre {theirs}, but this process runs {code()}",
                hint=f"Install the same version everywhere; scores could differ. {RESUME}",
            )
        if found.address not in self.checked and len(part):
            alone = worker(islice(iter(part), 1))
            lines = [next(iter(results.lines())) for results in (alone, found.outcomes) if len(results)]
            if len(lines) == 2 and lines[0] != lines[1]:  # noqa: PLR2004
                raise ArbitreError.of(
                    f"The worker {found.address} gives another result than this process for the document "
                    f"{found.outcomes.ids[0]!r}",
                    hint=f"Install the same versions of Python and of all libraries everywhere. {RESUME}",
                )
            self.checked.add(found.address)
        return found.outcomes


def _limit(client: Any, before: int = PARTS_PER_THREAD) -> int:  # noqa: ANN401  (Dask is optional)
    """Return the maximum number of submitted work units; `before` if the scheduler is lost, which its results show."""
    try:
        threads: int = sum(client.nthreads().values())
    except OSError:  # CommClosedError
        return before
    return PARTS_PER_THREAD * max(1, threads)


def _work_on_cluster(worker: Worker, part: WorkUnit) -> WorkerResults:
    from distributed import get_worker  # noqa: PLC0415  (only workers need it)

    with collecting_rarely():
        return WorkerResults(worker(part), get_worker().address, code())


@cache
def code() -> str:
    """Return the version of arbitre, with a digest of its source code."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{version('arbitre')} ({digest.hexdigest()[:8]})"
