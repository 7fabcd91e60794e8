"""The engine: a plan and documents in, the levels of the result out. Pure: no files, no settings of its own."""

from arbitre.engine.run import run

__all__ = ["run"]
