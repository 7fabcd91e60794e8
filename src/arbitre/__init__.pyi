from . import agreement, bundled, classification, confidence, distances, entities, statistics, text
from .comparator import Comparator
from .comparator.api import evaluate, fix, perturb_gold, rank, suggest_aliases, suggest_gate
from .comparator.comparator import compare
from .comparator.configurations import SideBySideRow, side_by_side
from .comparator.entry_metricity import entry_metricity
from .comparator.grader import Grade, Grader
from .comparator.new_config import NewConfig, init_config
from .comparator.schemas import check_schema, infer_schema
from .comparison import (
    Alignment,
    Comparison,
    Diagnosis,
    Fault,
    FlatComparison,
    Join,
    LeafVerdict,
    Match,
    Moved,
    Node,
    Patch,
    PatchOperation,
)
from .comparison.published_scores import published
from .config import Config
from .corpus.documents import DocumentQuality
from .corpus.evaluation import Evaluation
from .corpus.quality_bounds import Gate, Missed, MissedBound, QualityBound, check_bounds, gate
from .curve import Curve
from .dialects.translation import import_schema
from .distances import Facts
from .errors import (
    ArbitreError,
    DataError,
    FunctionError,
    OptionError,
    Problem,
    QualityBoundError,
    QualityGateError,
    SchemaError,
    SolverError,
)
from .gold.corrections import apply_decisions
from .gold.entry_faults import PlantedFault
from .gold.perturb import Perturbed, perturb
from .inputs.provenance import Provenance
from .jobs.saved_results import load, write_figures, write_report
from .matching import Coupling, transport
from .matching.builtin_matchers import match
from .metricity.metricity import Distortion, Metricity, distortion, metricity
from .parsing.repaired_json import Answer, Repair, read_answer
from .schema.loading.load_schema import Field
from .signature import Signature
from .suggestions.label_advice import Advice, AdviceFinding, Thresholds, advise
from .systems.diff import diff
from .tally import MacroScores, PathScores, Scores, Tally
from .values import ABSENT
from .version import __version__

__all__ = [
    "ABSENT",
    "Advice",
    "AdviceFinding",
    "Alignment",
    "Answer",
    "ArbitreError",
    "Comparator",
    "Comparison",
    "Config",
    "Coupling",
    "Curve",
    "DataError",
    "Diagnosis",
    "Distortion",
    "DocumentQuality",
    "Evaluation",
    "Facts",
    "Fault",
    "Field",
    "FlatComparison",
    "FunctionError",
    "Gate",
    "Grade",
    "Grader",
    "Join",
    "LeafVerdict",
    "MacroScores",
    "Match",
    "Metricity",
    "Missed",
    "MissedBound",
    "Moved",
    "NewConfig",
    "Node",
    "OptionError",
    "Patch",
    "PatchOperation",
    "PathScores",
    "Perturbed",
    "PlantedFault",
    "Problem",
    "Provenance",
    "QualityBound",
    "QualityBoundError",
    "QualityGateError",
    "Repair",
    "SchemaError",
    "Scores",
    "SideBySideRow",
    "Signature",
    "SolverError",
    "Tally",
    "Thresholds",
    "__version__",
    "advise",
    "agreement",
    "apply_decisions",
    "bundled",
    "check_bounds",
    "check_schema",
    "classification",
    "compare",
    "confidence",
    "diff",
    "distances",
    "distortion",
    "entities",
    "entry_metricity",
    "evaluate",
    "fix",
    "gate",
    "import_schema",
    "infer_schema",
    "init_config",
    "load",
    "match",
    "metricity",
    "perturb",
    "perturb_gold",
    "published",
    "rank",
    "read_answer",
    "side_by_side",
    "statistics",
    "suggest_aliases",
    "suggest_gate",
    "text",
    "transport",
    "write_figures",
    "write_report",
]
