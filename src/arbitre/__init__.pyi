from .comparator import Comparator
from .comparison import Alignment, Comparison, LeafVerdict, Match, Node
from .corpus.evaluation import Evaluation
from .corpus.ranking import rank
from .curve import Curve
from .diagnosis import Distortion, Metricity, distortion, metricity
from .distances import Facts
from .errors import ArbitreError, DataError, Problem, SchemaError, SolverError
from .matching import transport
from .published_scores import published
from .signature import Signature
from .tally import MacroScores, Scores, Tally
from .values import ABSENT

__all__ = [
    "ABSENT",
    "Alignment",
    "ArbitreError",
    "Comparator",
    "Comparison",
    "Curve",
    "DataError",
    "Distortion",
    "Evaluation",
    "Facts",
    "LeafVerdict",
    "MacroScores",
    "Match",
    "Metricity",
    "Node",
    "Problem",
    "SchemaError",
    "Scores",
    "Signature",
    "SolverError",
    "Tally",
    "distortion",
    "metricity",
    "published",
    "rank",
    "transport",
]
