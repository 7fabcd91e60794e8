"""Who compares the parts of a corpus: this process, or several of this machine."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, Protocol

from arbitre.errors import ArbitreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.context import BaseContext

    from arbitre.corpus.joining.work_units import WorkUnit
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.corpus.running.worker import Worker

PARTS_PER_PROCESS: Final = 2
"""So many parts are given out for every process: what waits stays small."""


MIN_PARTS: Final = 2
"""So few parts are compared in this process: others would take longer to start."""


class Executor(Protocol):
    """Compares parts, wherever that is done."""

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        """The outcomes of the parts, in their order."""
        ...


def run_in_process(worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
    """In this process."""
    return map(worker, parts)


_worker: Worker | None = None


def _begin(worker: Worker) -> None:
    global _worker  # noqa: PLW0603  (one for each process, made once)
    _worker = worker
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """End this process when the one that started it has ended, even where that was killed and could not say so."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(part: WorkUnit) -> DocumentResults:
    if _worker is None:
        raise ArbitreError.of("A process was asked to compare before it knew how")
    return _worker(part)


class ProcessPool:
    """Several processes of this machine. Raises ArbitreError where one of them is killed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, worker: Worker, parts: Iterable[WorkUnit]) -> Iterator[DocumentResults]:
        first = list(islice(parts := iter(parts), MIN_PARTS + 1))
        if len(first) <= MIN_PARTS:
            yield from run_in_process(worker, first)
            return
        context = _context()
        waiting: deque[Future[DocumentResults]] = deque()
        with ProcessPoolExecutor(self.workers, context, _begin, (worker,)) as pool:
            try:
                for part in chain(first, parts):
                    waiting.append(pool.submit(_work, part))
                    if len(waiting) >= PARTS_PER_PROCESS * self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BrokenProcessPool as error:
                raise ArbitreError.of(
                    "A process that compared documents was killed",
                    hint="Memory may have run out: take fewer --workers, and --resume what was begun.",
                ) from error
            finally:
                for one in waiting:
                    one.cancel()


def _context() -> BaseContext:
    """How processes are started: from one that has all in memory, where there is such a thing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "arbitre.engine", "arbitre.schema"])
    return context
