"""Compares one pair of documents, as the command `arbitre compare` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arbitre.comparator.keywords import ComparatorKeywords, take_comparator
from arbitre.corpus.reading.single_document import read_document
from arbitre.corpus.reading.strict_json import MAX_DEPTH
from arbitre.corpus.results.gates import gate, parse_gates, require
from arbitre.schema.loading.infer import infer

if TYPE_CHECKING:
    from arbitre.comparator.comparator import Comparator
    from arbitre.comparison import Comparison
    from arbitre.corpus.results.gates import Bounds
    from arbitre.schema import SchemaSource
    from arbitre.values import Json


def compare(
    schema: SchemaSource | Comparator | None = None,
    *,
    gold: Json | Path,
    predicted: Json | Path,
    max_depth: int = MAX_DEPTH,
    fail_under: Bounds = (),
    fail_over: Bounds = (),
    rematch: bool = False,
    **options: Unpack[ComparatorKeywords],
) -> Comparison:
    """Compare one predicted document with its gold document.

    A string is always the path of a JSON file, or "-" for standard input. To compare documents that are strings, use
    `Comparator.compare`.

    Args:
        schema: Schema of the documents, or a comparator; inferred from gold by default.
        gold: The gold document, or its path.
        predicted: The predicted document, or its path.
        max_depth: Maximum number of nested containers in a file.
        fail_under: Minimum scores, as for `arbitre.gate`.
        fail_over: Maximum scores.
        rematch: Compute the repair gains of the diagnosis by comparing repaired documents again.
        **options: The options of `Comparator`, such as `overlay`.

    Returns:
        The comparison.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read or compared.
        OptionError: A bound is invalid, or a comparator is given together with one of its options.
        QualityGateError: A score misses a bound of `fail_under` or `fail_over`.

    >>> compare(gold=["Ada", "Bo"], predicted=["Bo"]).scores.irq
    0.5
    """
    gates = parse_gates(fail_under, fail_over)
    documents = [as_document(side, max_depth) for side in (gold, predicted)]
    given: dict[str, Any] = {**options}
    comparator = take_comparator(infer(documents[:1]) if schema is None else schema, given)
    comparison = comparator.compare(gold=documents[0], predicted=documents[1], rematch=rematch)
    require(gate(comparison, fail_under=gates, declared={row.path for row in comparator.explain()}))
    return comparison


def as_document(document: Json | Path, max_depth: int = MAX_DEPTH) -> Json:
    """Return the document in a file if a path is given, otherwise the document itself. Raises DataError."""
    return read_document(document, max_depth) if isinstance(document, (str, Path)) else document
