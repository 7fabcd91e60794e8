from . import confidence, text
from .comparator import Comparator
from .comparator.configurations import SideBySideRow, side_by_side
from .comparator.corpora import evaluate, rank
from .comparator.documents import compare
from .comparator.entry_metricity import entry_metricity
from .comparator.fault_scores import faults
from .comparator.schemas import check_schema, infer_schema
from .comparison import Alignment, Comparison, LeafVerdict, Match, Node
from .corpus.reading.repaired_json import Answer, Repair, read_answer
from .corpus.results.document_quality import DocumentQuality
from .corpus.results.gates import Gate, Missed, gate
from .corpus.systems.evaluation_diff import diff
from .curve import Curve
from .diagnosis import Distortion, Metricity, distortion, metricity
from .diagnosis.data_advice import Advice, AdviceFinding, Thresholds, advise
from .distances import Facts
from .errors import (
    ArbitreError,
    DataError,
    FunctionError,
    OptionError,
    Problem,
    QualityGateError,
    SchemaError,
    SolverError,
)
from .matching import transport
from .published_scores import published
from .report.evaluation import Evaluation
from .report.saved_results import load, write_figures, write_report
from .schema.loading.field import Field
from .signature import Signature
from .tally import MacroScores, PathScores, Scores, Tally
from .values import ABSENT

__all__ = [
    "ABSENT",
    "Advice",
    "AdviceFinding",
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
    "QualityGateError",
    "Repair",
    "SchemaError",
    "Scores",
    "SideBySideRow",
    "Signature",
    "SolverError",
    "Tally",
    "Thresholds",
    "advise",
    "check_schema",
    "compare",
    "confidence",
    "diff",
    "distortion",
    "entry_metricity",
    "evaluate",
    "faults",
    "gate",
    "infer_schema",
    "load",
    "metricity",
    "published",
    "rank",
    "read_answer",
    "side_by_side",
    "text",
    "transport",
    "write_figures",
    "write_report",
]
