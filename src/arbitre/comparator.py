"""The front door: a schema compiled once, then as many comparisons as there are documents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from arbitre.comparison import Comparison
from arbitre.corpus.running.check_gold import check_gold
from arbitre.corpus.running.evaluate import evaluate
from arbitre.diagnosis import witnesses
from arbitre.distances import catalogue
from arbitre.engine import compare_batch, count_calls
from arbitre.paths import wildcard
from arbitre.schema import CLOSE, SchemaSource, compile_plan, load
from arbitre.schema.loading.infer import infer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.check_gold import Gold, GoldCheck
    from arbitre.distances import DistanceCatalogue
    from arbitre.schema import Plan
    from arbitre.schema.certificate import Certificate
    from arbitre.schema.describe import ResolvedPath
    from arbitre.signature import Signature
    from arbitre.values import Json


MAX_CALLS: Final = 100_000
"""A user's function is not called more often than this for a document, unless that is asked for."""


class Comparator:
    """Compares documents as a schema and its `x-arbitre` annotations say.

    `schema` is a dictionary, the path of a JSON file, or a Pydantic model class; `overlay` gives further annotations
    by wildcard path (a dictionary or a file); from the quality `close` on, a value that is not equal is called close.
    `distances` are those that the schema may name: `arbitre.distances.catalogue.with_distance` adds your own. To see
    what a choice costs, `match` is a matching for every array, and `distance` a distance for every leaf of its kinds
    that is graded, in place of what the schema says. A function of yours is called at most `max_calls` times for a
    document (None: as often as it takes); what may need more is refused before it is called, see `most_calls`.

    Raises SchemaError, listing every problem of the schema.

    >>> comparator = Comparator({"type": "array", "items": {"type": "string"}})
    >>> comparator.compare(gold=["Ada", "Bob"], predicted=["Bob"]).scores.irq
    0.5
    """

    def __init__(
        self,
        schema: SchemaSource,
        *,
        overlay: Mapping[str, Json] | str | Path | None = None,
        close: float = CLOSE,
        distances: DistanceCatalogue = catalogue,
        match: Json = None,
        distance: Json = None,
        max_calls: int | None = MAX_CALLS,
    ) -> None:
        self.plan: Plan = compile_plan(
            load(schema),
            overlay=overlay,
            close=close,
            distances=distances,
            match=match,
            distance=distance,
            max_calls=max_calls,
        )

    @classmethod
    def infer(
        cls,
        documents: Iterable[Json],
        *,
        overlay: Mapping[str, Json] | str | Path | None = None,
        close: float = CLOSE,
    ) -> Comparator:
        """The comparator of a schema inferred from gold documents. Raises DataError where there are none."""
        return cls(infer(documents), overlay=overlay, close=close)

    @property
    def schema(self) -> Json:
        """The schema as it was given, or inferred."""
        return self.plan.root.schema

    @property
    def signature(self) -> Signature:
        """The identity of the measurement: two scores are comparable where their signatures are equal."""
        return self.plan.signature

    @property
    def certificate(self) -> Certificate:
        """Whether 1 - quality is a metric between documents, and where it is not, why."""
        return self.plan.certificate.seeking(partial(witnesses.find, self.plan))

    @property
    def entries(self) -> str:
        """The wildcard path of the list of entries; "" is the root."""
        return wildcard(self.plan.entries)

    def explain(self) -> tuple[ResolvedPath, ...]:
        """The resolved distance, weight, matching and normalisation of every path of the schema."""
        return self.plan.rows

    def compare(self, *, gold: Json, predicted: Json, exhaustive: bool = False) -> Comparison:
        """Compare one prediction with its gold; either may be `arbitre.ABSENT`.

        Neither is changed, and neither has to be valid. They must not be changed as long as the comparison is asked
        for details, which are worked out from them. `exhaustive` computes every pair that a matching could make: the
        same scores, for diagnosis. Raises DataError for values that are not JSON, or have more than 512
        nested lists and objects.
        """
        traced = compare_batch(self.plan, [gold], [predicted], exhaustive=exhaustive)
        return Comparison(
            level_source=traced,
            entry_levels=traced.levels(self.plan.entries),
            gold=gold,
            predicted=predicted,
            entries=self.entries,
            signature=self.signature,
            close=self.plan.close,
            schema=self.plan.root,
        )

    def most_calls(self, *, gold: Json, predicted: Json) -> dict[str, int]:
        """How often the functions of user distances may be called to compare these, by path; nothing is called.

        With a bound, or beside a field that tells the items of a list apart, about as often as there are items.
        """
        return count_calls(self.plan, gold, predicted)

    def evaluate(self, pairs: Iterable[tuple[Any, Json, Json]]) -> Evaluation:
        """Compare a corpus of (id, gold, predicted) triples; see `arbitre.corpus.running.evaluate`."""
        return evaluate(self.plan, pairs)

    def check_gold(self, gold: Gold, *, id_key: str = "id") -> GoldCheck:
        """Check gold documents before predictions are compared with them.

        Two checks run on every document: "schema" reports what violates the schema, "alias" reports values that stand
        under an alias. Aliases are read in predictions only, so such a document is not equal to itself, and the
        certificate does not hold for it. A document that cannot be read is reported as "unreadable".

        Args:
            gold: A path (a folder, a `.json`, `.jsonl` or `.parquet` file, or a glob), or an iterable of paths, of
                documents, or of (id, document) pairs. A text is always a path; pass a document that is a text as a
                pair. The id of a document without one is its position in the iterable.
            id_key: The key that holds the id of a record in a file.

        Returns:
            The number of documents, and the findings: check, id, JSON Pointer, message, hint, file and line.

        Raises:
            DataError: A source as a whole cannot be read.

        >>> sent = {"type": "string", "x-arbitre": {"aliases": ["date"]}}
        >>> found = Comparator({"type": "object", "properties": {"sent": sent}}).check_gold([{"date": "1918-11-03"}])
        >>> [(one.check, one.pointer) for one in found.findings]
        [('alias', '/date')]
        """
        return check_gold(self.plan, gold, id_key=id_key)
