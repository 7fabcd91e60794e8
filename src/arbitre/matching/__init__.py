"""Matching of two lists: which items are paired, and which are missing or spurious."""

from arbitre.matching.builtin_matchers import Candidates, Matcher, catalogue
from arbitre.matching.coupling import Coupling

__all__ = ["Candidates", "Coupling", "Matcher", "catalogue"]
