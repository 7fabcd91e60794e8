"""Entity recognition: evaluates tags and spans with a comparator, treating each entity as a record."""

from arbitre.entities.entity_evaluation import EntityEvaluation, evaluate, trainer_metrics
from arbitre.entities.sentences import read
from arbitre.entities.spans import from_tags, to_tags

__all__ = ["EntityEvaluation", "evaluate", "from_tags", "read", "to_tags", "trainer_metrics"]
