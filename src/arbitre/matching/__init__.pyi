from . import transport
from .builtin_matchers import Candidates, Matcher, catalogue
from .coupling import Coupling
from .custom import CustomMatching, with_matching

__all__ = ["Candidates", "Coupling", "CustomMatching", "Matcher", "catalogue", "transport", "with_matching"]
