"""A deep stack for libraries that recurse over deep values."""

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


def call_with_deep_stack(function: Callable[[], T]) -> T:
    """Call a function, and call it again with a deep stack if it raises RecursionError.

    The second call runs in a thread with a large stack of its own, one at a time; the recursion limit of the
    interpreter is raised while it runs. The function must not keep state of its first call.

    Args:
        function: What to call. `jsonschema` and `genson` recurse over schemas and documents, several frames a level.

    Returns:
        What the function returns; what it raises is raised here.
    """
    try:
        return function()
    except RecursionError:
        return _with_deep_stack(function)


def _with_deep_stack(function: Callable[[], T]) -> T:
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
