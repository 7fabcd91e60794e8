"""The interpreter: a large stack for recursive code, Ctrl-C during native code, and rare garbage collection."""

from __future__ import annotations

import gc
import sys
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_CHECK_SECONDS: Final = 0.1
"""Interval at which Ctrl-C is checked, on systems where it does not end waiting."""

_LOCK: Final = threading.Lock()
_FRAMES: Final = 200_000
"""Recursion limit during the second call, in frames."""
_STACK: Final = 256 * 1024 * 1024
"""Size of the stack, in bytes."""


RARELY: Final = 50_000, 20, 50
"""Thresholds of the garbage collector while documents are compared. Documents have no reference cycles: collecting less
often saves 6 to 8% of the time of an evaluation."""
_OUTER_THRESHOLDS: Final[list[tuple[int, int, int]]] = []
"""Thresholds before each context of `collecting_rarely` that is still open."""
_THRESHOLDS_LOCK: Final = threading.Lock()


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Run the garbage collector less often in this context.

    If several threads use it, the thresholds are restored when the last thread leaves it.
    """
    with _THRESHOLDS_LOCK:
        _OUTER_THRESHOLDS.append(gc.get_threshold())
        gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        with _THRESHOLDS_LOCK:
            gc.set_threshold(*_OUTER_THRESHOLDS.pop())


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


def call_interruptibly(function: Callable[[], T]) -> T:
    """Call a function that spends a long time in native code; Ctrl-C ends the call at once.

    Python handles signals between bytecodes of the main thread, so native code delays them. The function runs in a
    thread that is abandoned on Ctrl-C; it must release the interpreter lock and have no side effects. The thread costs
    about 0.1 ms. Outside the main thread, where no signal is handled, the function is called directly.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    future: Future[T] = Future()
    threading.Thread(target=_call_and_store, args=(function, future), daemon=True).start()
    while True:
        with suppress(TimeoutError):
            return future.result(_CHECK_SECONDS)


def _call_and_store(function: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(function())
    except BaseException as error:  # noqa: BLE001  (re-raised in the caller)
        future.set_exception(error)


def _with_deep_stack(function: Callable[[], T]) -> T:
    """Return the result of a function that is called in a new thread with a large stack."""
    future: Future[T] = Future()
    with _LOCK:
        limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(limit, _FRAMES))
        try:
            thread = threading.Thread(target=_call_and_store, args=(function, future))
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(stack)
    return future.result()
