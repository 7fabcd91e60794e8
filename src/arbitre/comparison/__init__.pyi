from .comparison import Comparison
from .diagnosis import Diagnosis, Fault, Join, Moved
from .flat import FlatComparison
from .node_tree import Alignment, LeafVerdict, Match, Node
from .patch import Patch, PatchOperation

__all__ = [
    "Alignment",
    "Comparison",
    "Diagnosis",
    "Fault",
    "FlatComparison",
    "Join",
    "LeafVerdict",
    "Match",
    "Moved",
    "Node",
    "Patch",
    "PatchOperation",
]
