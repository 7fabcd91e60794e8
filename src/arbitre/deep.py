"""A deep stack for library code that recurses, so that a deep document is no RecursionError."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_LOCK: Final = threading.Lock()
_FRAMES: Final = 200_000
_STACK: Final = 256 * 1024 * 1024


def call(function: Callable[[], T]) -> T:
    """`function()`, run in a thread with a stack of its own; its result, or what it raised.

    The recursion limit of the interpreter is raised while it runs, and put back; one call at a time.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  (handed over to the caller, whatever it is)
            future.set_exception(error)

    with _LOCK:
        limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(limit, _FRAMES))
        try:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(stack)
    return future.result()
