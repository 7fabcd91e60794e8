from .comparator import Comparator
from .comparison import Alignment, Comparison, LeafVerdict, Match, Node
from .corpus.reading.repaired_json import Answer, Repair, read_answer
from .corpus.results.document_quality import DocumentQuality
from .corpus.results.evaluation import Evaluation
from .corpus.results.gates import Gate, Missed, gate
from .corpus.systems.ranking import rank
from .curve import Curve
from .diagnosis import Distortion, Metricity, distortion, metricity
from .distances import Facts
from .errors import ArbitreError, DataError, FunctionError, OptionError, Problem, SchemaError, SolverError
from .matching import transport
from .published_scores import published
from .report.configurations import SideBySideRow, side_by_side
from .schema.loading.field import Field
from .signature import Signature
from .tally import MacroScores, PathScores, Scores, Tally
from .values import ABSENT

__all__ = [
    "ABSENT",
    "Alignment",
    "Answer",
    "ArbitreError",
    "Comparator",
    "Comparison",
    "Curve",
    "DataError",
    "Distortion",
    "DocumentQuality",
    "Evaluation",
    "Facts",
    "Field",
    "FunctionError",
    "Gate",
    "LeafVerdict",
    "MacroScores",
    "Match",
    "Metricity",
    "Missed",
    "Node",
    "OptionError",
    "PathScores",
    "Problem",
    "Repair",
    "SchemaError",
    "Scores",
    "SideBySideRow",
    "Signature",
    "SolverError",
    "Tally",
    "distortion",
    "gate",
    "metricity",
    "published",
    "rank",
    "read_answer",
    "side_by_side",
    "transport",
]
