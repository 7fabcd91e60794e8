"""arbitre judges nested structured outputs: how good, what is wrong and where, how far the number can be trusted."""

from arbitre.comparator import Comparator
from arbitre.comparison import Alignment, Comparison, LeafVerdict, Match, Node
from arbitre.corpus.evaluation import Evaluation
from arbitre.corpus.gates import Gate, Missed, gate
from arbitre.corpus.quality import DocumentQuality
from arbitre.corpus.ranking import rank
from arbitre.curve import Curve
from arbitre.diagnosis import Distortion, Metricity, distortion, metricity
from arbitre.distances import Facts
from arbitre.errors import ArbitreError, DataError, Problem, SchemaError, SolverError
from arbitre.matching import transport
from arbitre.published import published
from arbitre.signature import Signature
from arbitre.tally import MacroScores, Scores, Tally
from arbitre.values import ABSENT

__all__ = [
    "ABSENT",
    "Alignment",
    "ArbitreError",
    "Comparator",
    "Comparison",
    "Curve",
    "DataError",
    "Distortion",
    "DocumentQuality",
    "Evaluation",
    "Facts",
    "Gate",
    "LeafVerdict",
    "MacroScores",
    "Match",
    "Metricity",
    "Missed",
    "Node",
    "Problem",
    "SchemaError",
    "Scores",
    "Signature",
    "SolverError",
    "Tally",
    "distortion",
    "gate",
    "metricity",
    "published",
    "rank",
    "transport",
]
