"""Infers and checks schemas, as the commands `arbitre schema infer` and `arbitre schema check` do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arbitre.comparator.comparator import ComparatorKeywords, take_comparator
from arbitre.errors import Problem
from arbitre.inputs.open_files import SIDECAR, expand_globs, split_name
from arbitre.inputs.options import column_types, gold_records, source_records
from arbitre.inputs.reader import DOCUMENT
from arbitre.inputs.records import Record, readable
from arbitre.options import COMPARATOR, spelled_out
from arbitre.parsing.fast_json import json_text
from arbitre.schema.loading.infer import infer
from arbitre.schema.loading.load_schema import is_schema_like
from arbitre.schema.validate import find_violations
from arbitre.storage.output_folder import destination, output_text_file, paths_among

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.comparator.comparator import Comparator
    from arbitre.gold.checks import GoldCheck
    from arbitre.inputs.options import Gold
    from arbitre.schema import SchemaSource
    from arbitre.schema.validate import Violation
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class InferredSchema:
    """A schema inferred from gold documents.

    Attributes:
        schema: The schema.
        documents: Number of documents.
        skipped: Files of a folder that are not documents, each with the reason.
        notes: Columns of CSV files that were read as integers or dates, because all their cells are.
    """

    schema: dict[str, Any]
    documents: int
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def infer_schema(
    gold: Gold, *, out: str | Path | None = None, id_key: str = "id", force: bool = False
) -> InferredSchema:
    """Infer a schema that all given documents satisfy, as `arbitre schema infer` does.

    Args:
        gold: Gold documents: a path, or an iterable of paths, of documents, or of (id, document) pairs, as for
            `Comparator.check_gold`. Files of a folder that are not documents are skipped.
        out: File for the schema; None writes none.
        id_key: Key of the id of a record in a file.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.

    Returns:
        The schema, the number of documents and the skipped files.

    Raises:
        DataError: There are no documents, a document cannot be read, or the file cannot be written or is not one that
            arbitre wrote.

    >>> infer_schema([{"name": "Ada"}]).schema["properties"]
    {'name': {'type': 'string'}}
    """
    target = destination(out, inputs=expand_globs(paths_among(gold)), force=force)
    skipped: list[str] = []
    items = [gold] if isinstance(gold, (str, Path)) else list(gold)
    typed = list(column_types(items, id_key))
    documents = [record.value for item in items for record in _inferable(item, id_key, skipped)]
    schema = infer(documents, [name for _, types in typed for name in types.dates])
    notes = tuple(
        f"{file}: read as {kind}: {', '.join(names)}"
        for file, types in typed
        for kind, names in (("integers", types.integers), ("dates", types.dates))
        if names
    )
    inferred = InferredSchema(schema, len(documents), tuple(skipped), notes)
    if target is not None:
        with output_text_file(target) as file:
            file.write(json_text(inferred.schema))
    return inferred


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
    """Result of checking a schema without problems, and documents against it.

    Attributes:
        comparator: The comparator of the schema, with its `certificate`, `authorities` and `explain()`.
        documents: Number of documents.
        violations: Violations of the schema in the documents.
        gold: Result of checking gold documents; None if there are none.
    """

    comparator: Comparator
    documents: int
    violations: tuple[DocumentViolation, ...]
    gold: GoldCheck | None

    @property
    def ok(self) -> bool:
        """Whether no document violates the schema and no check of gold fails."""
        return not self.violations and (self.gold is None or self.gold.ok)

    def to_dict(self, *, certificate: bool = False) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary, with the certificate if requested."""
        comparator = self.comparator
        plain: dict[str, Any] = {"paths": len(comparator.explain()), "entries": comparator.entries}
        if comparator.authorities:
            plain["authorities"] = [used.to_dict() for used in comparator.authorities]
        if certificate:
            plain["certificate"] = comparator.certificate.to_dict()
        plain |= {"documents": self.documents, "violations": [violation.to_dict() for violation in self.violations]}
        return plain if self.gold is None else plain | {"gold": self.gold.to_dict()}


@spelled_out(*COMPARATOR)
def check_schema(
    schema: SchemaSource | Comparator,
    documents: Gold = (),
    *,
    gold: Gold | None = None,
    id_key: str = "id",
    **options: Unpack[ComparatorKeywords],
) -> SchemaCheck:
    """Check a schema, and optionally documents against it, as `arbitre schema check` does.

    Args:
        schema: The schema, or a comparator.
        documents: Documents that may violate the schema: a path, or an iterable of paths, of documents, or of
            (id, document) pairs.
        gold: Gold documents to check (see `Comparator.check_gold`), in the same forms.
        id_key: Key of the id of a record in a file.
        **options: The options of `Comparator`, such as `overlay` and `format_assertion`.

    Returns:
        The violations of the schema, and the problems in gold.

    Raises:
        SchemaError: The schema is invalid. The error lists every problem.
        DataError: A document cannot be read.
        OptionError: A comparator is given together with one of its options.

    >>> check = check_schema({"type": "array", "items": {"type": "string"}}, [("a", ["Ada"]), ("b", ["Bo", 1])])
    >>> [(one.id, one.violation.pointer) for one in check.violations], check.documents
    ([('b', '/1')], 2)
    """
    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, given)
    plan = comparator.plan
    records = [readable(item) for item in gold_records(documents, id_key, plan)]
    violations = tuple(
        DocumentViolation(record.id, record.file, record.line, violation)
        for record in records
        for violation in find_violations(plan.root, record.value, format_assertion=plan.format_assertion)
    )
    checked = None if gold is None else comparator.check_gold(gold, id_key=id_key)
    return SchemaCheck(comparator, len(records), violations, checked)


def _inferable(item: Any, id_key: str, skipped: list[str]) -> Iterator[Record]:  # noqa: ANN401  (a path or a document)
    """Yield the documents of an item. Files of a folder that are not documents are added to `skipped`."""
    if not isinstance(item, (str, Path)) or not Path(item).is_dir():
        yield from map(readable, gold_records([item], id_key))
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
