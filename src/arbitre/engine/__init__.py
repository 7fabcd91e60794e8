"""The engine: a plan and documents in, the levels of the result out. Pure: no files, no settings of its own."""

from arbitre.engine.run import Outcome, calls, outcome, run

__all__ = ["Outcome", "calls", "outcome", "run"]
