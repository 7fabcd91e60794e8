"""The engine compares documents along a plan. It reads no files and has no settings of its own."""

from arbitre.engine.run import Outcome, calls, outcome, run

__all__ = ["Outcome", "calls", "outcome", "run"]
