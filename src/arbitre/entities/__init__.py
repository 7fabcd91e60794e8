"""Entity recognition: tags and spans, compared as records by the ordinary comparator."""

from arbitre.entities.evaluation import EntityEvaluation, evaluate
from arbitre.entities.reading import read
from arbitre.entities.tags import from_tags, to_tags
from arbitre.entities.training import trainer_metrics

__all__ = ["EntityEvaluation", "evaluate", "from_tags", "read", "to_tags", "trainer_metrics"]
