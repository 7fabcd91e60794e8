"""Matching two lists: who is paired with whom, and who is left over."""

from arbitre.matching.builtin import Candidates, Matcher, catalogue
from arbitre.matching.coupling import Coupling

__all__ = ["Candidates", "Coupling", "Matcher", "catalogue"]
