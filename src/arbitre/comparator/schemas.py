"""Infers and checks schemas, and advises on them, as `arbitre schema infer` and `arbitre schema check` do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arbitre.comparator.comparator import Comparator, ComparatorKeywords, take_comparator
from arbitre.errors import DataError, OptionError, Problem, SchemaError
from arbitre.gold.checks import check_gold_records
from arbitre.inputs.document_sources import column_types, gold_items, gold_records, source_records
from arbitre.inputs.open_files import SIDECAR, expand_globs, split_name
from arbitre.inputs.reader import DOCUMENT
from arbitre.inputs.records import Record, readable
from arbitre.options import COMPARATOR, spelled_out
from arbitre.schema import compile_plan, load
from arbitre.schema.loading.annotations import merged_overlay
from arbitre.schema.loading.infer import NO_DOCUMENTS, annotate, infer
from arbitre.schema.loading.load_schema import MAX_SHOWN, is_schema_like
from arbitre.schema.validate import find_violations
from arbitre.storage.output_folder import destination, paths_among, write_json
from arbitre.suggestions.census import Census
from arbitre.suggestions.schema_advice import find_schema_advice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.gold.checks import GoldCheck
    from arbitre.inputs.document_sources import Gold
    from arbitre.schema import SchemaSource
    from arbitre.schema.validate import Violation
    from arbitre.suggestions.schema_advice import SchemaAdvice
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class InferredSchema:
    """A schema inferred from gold documents.

    Attributes:
        schema: The schema.
        documents: Number of documents.
        skipped: Files of a folder that are not documents, each with the reason.
        notes: Columns of CSV files that were read as integers or dates, because all their cells are. If the schema is
            too large for advice, a note says so.
        advice: What the schema lacks, with the evidence in gold.
        overlay: The suggested settings, by path. With `apply`, the schema contains them.
    """

    schema: dict[str, Any]
    documents: int
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    advice: tuple[SchemaAdvice, ...] = ()
    overlay: Mapping[str, Json] = field(default_factory=dict)


def infer_schema(
    gold: Gold, *, out: str | Path | None = None, id_key: str = "id", apply: bool = False, force: bool = False
) -> InferredSchema:
    """Infer a schema that all given documents satisfy, as `arbitre schema infer` does.

    Args:
        gold: Gold documents: a path, or an iterable of paths, of documents, or of (id, document) pairs, as for
            `Comparator.check_gold`. Files of a folder that are not documents are skipped.
        out: File for the schema; None writes none.
        id_key: Key of the id of a record in a file.
        apply: Write the suggested settings into the schema.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.

    Returns:
        The schema, the advice on it, the number of documents and the skipped files.

    Raises:
        DataError: There are no documents (the error lists the skipped files), a document cannot be read, or the file
            cannot be written or is not one that arbitre wrote.

    >>> infer_schema([{"name": "Ada"}]).schema["properties"]
    {'name': {'type': 'string'}}
    """
    items, skipped = gold_items(gold), list[str]()
    target = destination(out, inputs=expand_globs(paths_among(items)), force=force)
    typed = list(column_types(items, id_key))
    documents = [record.value for item in items for record in _inferable(item, id_key, skipped)]
    if skipped and not documents:
        left = len(skipped) - MAX_SHOWN
        more = [f"... and {left} more"] if left > 0 else []
        raise DataError(Problem(NO_DOCUMENTS), *map(Problem, [*skipped[:MAX_SHOWN], *more]))
    schema = infer(documents, [name for _, types in typed for name in types.dates])
    advice, unadvised = _advice_on(schema, documents)
    overlay = _settings_of(advice)
    notes = unadvised + tuple(
        f"{file}: read as {kind}: {', '.join(names)}"
        for file, types in typed
        for kind, names in (("integers", types.integers), ("dates", types.dates))
        if names
    )
    schema = annotate(schema, overlay) if apply else schema
    inferred = InferredSchema(schema, len(documents), tuple(skipped), notes, advice, overlay)
    write_json(inferred.schema, target)
    return inferred


def _advice_on(schema: dict[str, Any], documents: Sequence[Json]) -> tuple[tuple[SchemaAdvice, ...], tuple[str, ...]]:
    """Return the advice on an inferred schema, and why there is none if it is too large to be compiled."""
    try:
        census = Census(compile_plan(load(schema)))
    except SchemaError as error:  # documents with very many different keys
        return (), (f"No advice on the schema: {error.message}",)
    for document in documents:
        census.add(document)
    return find_schema_advice(census, Census(census.plan, predicted=True)), ()


def _settings_of(advice: Sequence[SchemaAdvice]) -> dict[str, Json]:
    """Return the settings of all advice as one overlay."""
    return merged_overlay(*(one.change for one in advice if one.change is not None))


@dataclass(frozen=True, slots=True)
class DocumentViolation:
    """A violation of the schema in a document.

    Attributes:
        id: Id of the document.
        file: File of the document; empty for documents that are not in a file.
        line: Line in the file, if known.
        violation: The violation: `pointer`, `keyword`, `message`.
    """

    id: str | None
    file: str
    line: int | None
    violation: Violation

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {"id": self.id, "file": self.file, "line": self.line, **asdict(self.violation)}

    def __str__(self) -> str:
        violation = self.violation
        message = f"{violation.message} ({violation.keyword})"
        return str(Problem(message, self.file or None, self.line, violation.pointer))


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """The result of checking a valid schema, and documents against it.

    Attributes:
        comparator: The comparator of the schema, with its `certificate`, `authorities` and `explain()`. With `apply`,
            it has the suggested settings.
        documents: Number of documents.
        violations: Violations of the schema in the documents.
        gold: Result of checking gold documents; None if there are none.
        advice: What the schema lacks, with the evidence in gold and predictions.
        overlay: The suggested settings, added to those of the overlay that was given.
        unreadable: Predictions that cannot be read, each with the reason. They are left out.
        schema: The path of the schema or MODULE:NAME, as given; None if the schema was given in another form.
    """

    comparator: Comparator
    documents: int
    violations: tuple[DocumentViolation, ...]
    gold: GoldCheck | None
    advice: tuple[SchemaAdvice, ...] = ()
    overlay: Mapping[str, Json] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    schema: str | None = None

    @property
    def ok(self) -> bool:
        """Whether no document violates the schema and no check of gold fails. Advice does not matter."""
        return not self.violations and (self.gold is None or self.gold.ok)

    def to_dict(self, *, certificate: bool = False) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary, with the certificate if requested."""
        comparator = self.comparator
        plain: dict[str, Any] = {
            "schema": self.schema,
            "paths": len(comparator.explain()),
            "entries": comparator.entries,
        }
        if comparator.authorities:
            plain["authorities"] = [used.to_dict() for used in comparator.authorities]
        if certificate:
            plain["certificate"] = comparator.certificate.to_dict()
        plain |= {"documents": self.documents, "violations": [violation.to_dict() for violation in self.violations]}
        if self.gold is None:
            return plain
        advice = {"advice": [one.to_dict() for one in self.advice], "overlay": dict(self.overlay)}
        return plain | {"gold": self.gold.to_dict()} | advice | {"unreadable": list(self.unreadable)}


@spelled_out(*COMPARATOR)
def check_schema(
    schema: SchemaSource | Comparator,
    documents: Gold = (),
    *,
    gold: Gold | None = None,
    predicted: Gold | None = None,
    apply: bool = False,
    out: str | Path | None = None,
    id_key: str = "id",
    force: bool = False,
    **options: Unpack[ComparatorKeywords],
) -> SchemaCheck:
    """Check a schema and, optionally, validate documents against it, as `arbitre schema check` does.

    Args:
        schema: The schema, or a comparator.
        documents: Documents that may violate the schema: a path, or an iterable of paths, of documents, or of
            (id, document) pairs.
        gold: Gold documents to check (see `Comparator.check_gold`) and to derive advice from, in the same forms.
        predicted: Predictions, in the same forms, for advice on keys and placeholders that occur only in predictions.
        apply: Apply the suggested settings. Requires `gold` and a schema that is not a comparator.
        out: File for the overlay of `apply`, with the settings of `overlay` and of the advice; None writes none.
        id_key: Key of the id of a record in a file.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        **options: The options of `Comparator`, such as `overlay` and `format_assertion`.

    Returns:
        The violations of the schema, the problems in gold, and the advice.

    Raises:
        SchemaError: The schema is invalid. The error lists every problem.
        DataError: A document cannot be read, or the file cannot be written or is not one that arbitre wrote.
        OptionError: An option requires another one, or a comparator is passed together with one of its options.

    >>> check = check_schema({"type": "array", "items": {"type": "string"}}, [("a", ["Ada"]), ("b", ["Bo", 1])])
    >>> [(one.id, one.violation.pointer) for one in check.violations], check.documents
    ([('b', '/1')], 2)
    >>> dates = [[f"{day}/11/1918" for day in range(1, 20)]]
    >>> check_schema({"type": "array", "items": {"type": "string"}}, gold=dates).overlay
    {'/*': {'normalize': [{'date': {'formats': ['%d/%m/%Y']}}], 'distance': 'date'}}
    """
    for name, value, needed, present in (
        ("predicted", predicted is not None, "gold", gold is not None),
        ("apply", apply, "gold", gold is not None),
        ("out", out is not None, "apply", apply),
    ):
        if value and not present:
            raise OptionError.of(f"`{name}` requires `{needed}`")
    if apply and isinstance(schema, Comparator):
        raise OptionError.of("`apply` requires a schema. Pass it instead of a Comparator.")
    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, dict(given))
    plan = comparator.plan
    sources = [path for side in (documents, gold, predicted) for path in expand_globs(paths_among(side))]
    target = destination(out, inputs=[*plan.inputs, *sources], force=force)
    records = [readable(item) for item in gold_records(documents, id_key, plan)]
    violations = tuple(
        DocumentViolation(record.id, record.file, record.line, violation)
        for record in records
        for violation in find_violations(plan.root, record.value, format_assertion=plan.format_assertion)
    )
    source = str(schema) if isinstance(schema, str | Path) else None
    if gold is None:
        return SchemaCheck(comparator, len(records), violations, None, schema=source)
    in_gold, in_predictions = Census(plan), Census(plan, predicted=True)
    checked = check_gold_records(plan, gold_records(gold, id_key, plan), in_gold.add)
    unreadable = tuple(_count(() if predicted is None else predicted, id_key, in_predictions))
    advice = find_schema_advice(in_gold, in_predictions, overlay=plan.overlay)
    overlay = plan.overlay_with(_settings_of(advice))
    if apply and not isinstance(schema, Comparator):
        comparator = Comparator(schema, **given | {"overlay": overlay})
    write_json(overlay, target)
    return SchemaCheck(comparator, len(records), violations, checked, advice, overlay, unreadable, source)


def _count(predicted: Gold, id_key: str, census: Census) -> Iterator[str]:
    """Count the values of predictions, and yield the reason for each one that cannot be read."""
    for record in gold_records(predicted, id_key, census.plan, "predicted"):
        if isinstance(record, Record):
            try:
                census.plan.check_predicted(record.value)
            except DataError as error:
                yield str(error.located(file=record.file or record.id, line=record.line))
            else:
                census.add(record.value)
        else:
            yield str(Problem(record.reason, record.file, record.line, record.pointer))


def _inferable(item: Any, id_key: str, skipped: list[str]) -> Iterator[Record]:  # noqa: ANN401  (a path or a document)
    """Yield the documents of an item. Files of a folder that are not documents are added to `skipped`."""
    if not isinstance(item, (str, Path)) or not Path(item).is_dir():
        yield from map(readable, gold_records([item], id_key, drop_nulls=True))
        return
    files = (path for path in sorted(Path(item).iterdir()) if path.is_file() and not path.name.startswith("."))
    skipped += [
        f"{path}: {'a sidecar' if path.name.endswith(SIDECAR) else 'not a .json file'}"
        for path in files
        if split_name(path)[1] != DOCUMENT or path.name.endswith(SIDECAR)
    ]
    for record in source_records(item, id_key):
        if not isinstance(record, Record):
            skipped.append(str(Problem(record.reason, record.file, record.line, record.pointer)))
        elif isinstance(record.value, dict) and "$schema" in record.value and is_schema_like(record.value):
            skipped.append(f"{record.file}: a JSON Schema")
        else:
            yield record
