"""Executor that compares work units on a Dask cluster, with the same results as on one machine."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.running.checkpoints import write_checkpoint
from arbitre.errors import ArbitreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.joining.work_units import WorkUnit
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.corpus.running.worker import Worker

PARTS_PER_THREAD: Final = 4
"""Maximum number of submitted work units per thread of the cluster."""

RETRIES: Final = 3
"""Maximum number of retries of a work unit whose worker died."""


class DaskCluster:
    """Executor on the workers of a Dask scheduler.

    Workers read the documents themselves, so the files must have the same names on all machines (a shared file
    system). Documents that are not in a plain file (decompressed, projected, from standard input) are sent to them.

    Calling it raises ArbitreError if Dask is not installed or the scheduler cannot be reached.
    """

    def __init__(self, scheduler: str) -> None:
        """Set the address of the scheduler, such as `tcp://10.0.0.1:8786`."""
        self.scheduler = scheduler

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        with self._client() as client:
            shared_worker = client.scatter(worker, broadcast=True)
            limit = PARTS_PER_THREAD * max(1, sum(client.nthreads().values()))
            waiting: deque[tuple[WorkUnit, Any]] = deque()
            for part in parts:
                part_with_documents = part.with_temporary_documents()
                future = client.submit(_work, shared_worker, part_with_documents, pure=False, retries=RETRIES)
                waiting.append((part, future))
                if len(waiting) >= limit:
                    yield self._result(*waiting.popleft())
            while waiting:
                yield self._result(*waiting.popleft())

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

    def _result(self, part: WorkUnit, future: Any) -> DocumentResults:  # noqa: ANN401
        from distributed import KilledWorker  # noqa: PLC0415

        try:
            outcomes: DocumentResults = future.result()
        except KilledWorker as error:
            raise ArbitreError.of(
                f"Workers of {self.scheduler} were repeatedly killed on the same documents",
                hint="They may have run out of memory: give the workers more memory and continue with --resume.",
            ) from error
        future.release()
        return write_checkpoint(part, outcomes)


def _work(worker: Worker, part: WorkUnit) -> DocumentResults:
    return worker(part)
