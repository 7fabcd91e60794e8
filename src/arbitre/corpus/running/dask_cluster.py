"""Parts of a corpus compared on a Dask cluster: the same outcomes as on one machine, in the same order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import ArbitreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.joining.work_units import WorkUnit
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.corpus.running.worker import Worker

PARTS_PER_THREAD: Final = 4
"""So many parts are given out for every thread of the cluster."""

RETRIES: Final = 3
"""A part whose worker dies is given to another, so many times."""


class DaskCluster:
    """The workers of a Dask scheduler at an address, such as `tcp://10.0.0.1:8786`.

    Workers read the documents themselves, so they see the files under the same names (a shared file system); documents
    that stand in no plain file (unpacked, projected, from standard input) are sent. Raises ArbitreError where Dask is
    not installed, or the scheduler cannot be reached.
    """

    def __init__(self, scheduler: str) -> None:
        self.scheduler = scheduler

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        with self._client() as client:
            told = client.scatter(worker, broadcast=True)
            most = PARTS_PER_THREAD * max(1, sum(client.nthreads().values()))
            waiting: deque[Any] = deque()
            for part in parts:
                waiting.append(client.submit(_work, told, part.with_temporary_documents(), pure=False, retries=RETRIES))
                if len(waiting) >= most:
                    yield self._result(waiting.popleft())
            while waiting:
                yield self._result(waiting.popleft())

    def _client(self) -> Any:  # noqa: ANN401  (dask is not always there)
        try:
            from distributed import Client  # noqa: PLC0415  (an extra)
        except ImportError:
            raise ArbitreError.of(
                "Expected Dask to be installed, to compare on a cluster, got none", hint="pip install 'arbitre[dask]'"
            ) from None
        try:
            return Client(self.scheduler, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError, ValueError) as error:
            raise ArbitreError.of(
                f"Expected a Dask scheduler at {self.scheduler!r}, got: {error}",
                hint="Start one with `dask scheduler`, and give its address as it prints it.",
            ) from error

    def _result(self, future: Any) -> DocumentResults:  # noqa: ANN401
        from distributed import KilledWorker  # noqa: PLC0415

        try:
            outcomes: DocumentResults = future.result()
        except KilledWorker as error:
            raise ArbitreError.of(
                f"Workers of {self.scheduler} were killed on the same documents again and again",
                hint="Memory may have run out: give the workers more, and --resume what was begun.",
            ) from error
        future.release()
        return outcomes


def _work(worker: Worker, part: WorkUnit) -> DocumentResults:
    return worker(part)
