"""Run recursive library code on deeply nested values."""

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
"""Recursion limit during the second call, in frames."""
_STACK: Final = 256 * 1024 * 1024
"""Size of the stack, in bytes."""


def call_with_deep_stack(function: Callable[[], T]) -> T:
    """Call a function, and call it again with a large stack if it raises RecursionError.

    `jsonschema` and `genson` recurse over schemas and documents with several frames per level. The second call runs
    in a thread with its own large stack, one at a time, and raises the interpreter's recursion limit while it runs.

    Args:
        function: The function; it must not keep state from the first call.

    Returns:
        The result of the function; its exceptions propagate.
    """
    try:
        return function()
    except RecursionError:
        return _with_deep_stack(function)


def _with_deep_stack(function: Callable[[], T]) -> T:
    future: Future[T] = Future()

    def call_and_store() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  (re-raised in the caller)
            future.set_exception(error)

    with _LOCK:
        limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(limit, _FRAMES))
        try:
            thread = threading.Thread(target=call_and_store)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(stack)
    return future.result()
