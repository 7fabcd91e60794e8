"""Entry point of `arbitre` and `python -m arbitre`. Ctrl-C at any moment prints one line and exits with code 130."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as in a shell: 128 plus the number of SIGINT."""

DELAY: Final = 0.05
"""Seconds after which an interruption that could not be raised is repeated."""

UNUSED_BACKENDS: Final = ("CUPY", "JAX", "PYTORCH", "TENSORFLOW")
"""Libraries that POT would otherwise import if they are installed. PyTorch alone takes three seconds."""


def main() -> None:
    """Run the command-line interface with the arguments of the process, then exit."""
    sys.unraisablehook = _raise_interrupt
    for name in UNUSED_BACKENDS:
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{name}", "1")
    try:
        from arbitre.cli import main as run  # noqa: PLC0415  (Ctrl-C may arrive during the import)

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit is not interrupted: it deletes temporary folders
    if code == INTERRUPTED:
        _stop()
    sys.exit(code)


def _stop() -> None:
    """Print one line and end the worker processes."""
    sys.stderr.write("Interrupted\n")
    if (processes := sys.modules.get("arbitre.corpus.fork_server")) is not None:
        processes.end_processes()


def _raise_interrupt(raised: UnraisableHookArgs) -> None:
    """Repeat a Ctrl-C that arrived in a destructor or a callback, where Python cannot raise it."""
    if issubclass(raised.exc_type, KeyboardInterrupt):
        threading.Timer(DELAY, signal.raise_signal, [signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(raised)


if __name__ == "__main__":
    main()
