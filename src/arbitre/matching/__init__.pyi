from . import transport
from .builtin_matchers import Candidates, Matcher, catalogue
from .coupling import Coupling

__all__ = ["Candidates", "Coupling", "Matcher", "catalogue", "transport"]
