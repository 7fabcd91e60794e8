"""Measures the metricity of the distances between entries, as the command `arbitre metricity` does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparator.comparator import Comparator, as_document, functions_in
from arbitre.comparator.configurations import NamedChoice, configurations
from arbitre.errors import OptionError, shown
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.open_files import STDIN
from arbitre.inputs.options import ReadOptions
from arbitre.language import ENGLISH, Translator
from arbitre.metricity.entry_pool import build_entry_pool
from arbitre.metricity.metricity import metricity
from arbitre.options import COMPARATOR, spelled_out
from arbitre.parsing.fast_json import json_text
from arbitre.parsing.strict_json import MAX_DEPTH
from arbitre.storage.files import atomic_text_file
from arbitre.storage.output_folder import check_output_folder, output_folder, paths_among
from arbitre.tables.csv_text import CsvDialect, cell, csv_writer
from arbitre.tables.table import NONE, SCORE, Table, TableColumn, count
from arbitre.values import ABSENT, as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.comparator.configurations import Configuration
    from arbitre.inputs.corpus_sources import Paths
    from arbitre.metricity.claims import ClaimCheck
    from arbitre.metricity.entry_pool import EntryPool
    from arbitre.metricity.metricity import Metricity
    from arbitre.options import CsvDialectName
    from arbitre.schema import SchemaSource
    from arbitre.tally import Scores
    from arbitre.values import Json

REPORT: Final = "metricity.json"

DISPLAY_TOLERANCE: Final = 1e-12
"""Values up to this are shown as 0."""

EXAMPLE: Final = 20
"""Maximum length of a value in the table of claims."""


@dataclass(frozen=True, slots=True)
class MetricityRow:
    """The results for one combination of matching and distance.

    Attributes:
        choice: The matching and the distance, with their comparator.
        pool: The entries, gold entries first, and their pairwise distances.
        metricity: Metricity of these distances.
        scores: Pooled scores of the predictions.
        claims: Checks of the claims about custom distances.
    """

    choice: Configuration
    pool: EntryPool
    metricity: Metricity
    scores: Scores
    claims: tuple[ClaimCheck, ...] = ()

    @property
    def asymmetry(self) -> float:
        """The mean of |D - Dᵀ|, where D is the distance matrix."""
        return float(np.abs(self.pool.distances - self.pool.distances.T).mean())

    def to_dict(self) -> dict[str, Any]:
        """Return the choice, metricity, scores, certificate and signature as JSON."""
        comparator = self.choice.comparator
        return self.choice.to_dict() | {
            "metricity": self.metricity.to_dict(),
            "asymmetry": self.asymmetry,
            "mean_quality": self.scores.amq,
            "f1q": self.scores.f1q,
            "certificate": comparator.certificate.to_dict(),
            "signature": comparator.signature.short,
        }


@dataclass(frozen=True, slots=True)
class EntryMetricity:
    """How close the distances between the gold and predicted entries are to a metric.

    Attributes:
        rows: Results of each combination of matching and distance.
        files: Names of the files written.
    """

    rows: tuple[MetricityRow, ...]
    files: tuple[str, ...] = ()

    @property
    def claims(self) -> list[ClaimCheck]:
        """The checks of claims; a distance that several combinations use is listed once."""
        checks = [check for row in self.rows for check in row.claims]
        return list({(check.path, check.distance, check.claim): check for check in checks}.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of `metricity.json`."""
        first = self.rows[0].pool
        return {
            "entries": self.rows[0].choice.comparator.entries,
            "gold": first.gold,
            "predicted": len(first) - first.gold,
            "drawn_from": first.whole,
            "choices": [row.to_dict() for row in self.rows],
            "claims": [check.to_dict() for check in self.claims],
        }


def table(found: EntryMetricity) -> Table:
    """Return the metricity of each combination of matching and distance, side by side."""
    named = [_cells(row) for row in found.rows]
    labels = [row.choice.label.replace("(", "\n(").replace(", ", "\n") for row in found.rows]
    heads = (
        TableColumn("", said=Translator.text),
        *(TableColumn(label, right=True, said=_translate_cell) for label in labels),
    )
    rows = [(name, *(cells[name] for cells in named)) for name in named[0]]
    return Table.of("", heads, rows, emphasis={0: "strong"})


def claims_table(found: EntryMetricity) -> Table:
    """Return the checks of claims about custom distances, with an example for each claim that is violated."""
    heads = (
        *(TableColumn("path", kind="path"), TableColumn("distance"), TableColumn("claim", said=Translator.word)),
        *(TableColumn("checked", count, drop=1), TableColumn("violated", count)),
        *(TableColumn("largest", written, drop=2), TableColumn("example")),
    )
    rows = [
        (
            *(check.path, check.distance, check.claim, check.checked, check.violations, check.largest),
            "" if check.witness is None else ", ".join(shown(value, EXAMPLE) for value in check.witness),
        )
        for check in found.claims
    ]
    return Table.of("Claims about custom distances", heads, rows)


def _translate_cell(say: Translator, cell: str) -> str:
    """Translate a number, a range or a verdict of the certificate."""
    return say.text(say.verdict(cell))


def _cells(row: MetricityRow) -> dict[str, str]:
    """Return the cells of the table column by row label."""
    measured = row.metricity
    cells = {
        "metricity": NONE if measured.metricity is None else f"{measured.metricity:.6f}",
        "symmetry defect": written(measured.symmetry_defect),
        "asymmetry, mean": written(row.asymmetry),
        "asymmetry, max": written(measured.symmetry_max),
        "identity defect": written(measured.identity_defect),
        "triangle rate": written(measured.triangle_rate),
    }
    if measured.triangle_interval is not None:
        cells |= {f"  {ENGLISH.level(measured.level)} interval": " to ".join(map(written, measured.triangle_interval))}
    return cells | {
        "relaxed triangle": written(measured.relaxed_triangle),
        "repair mass": written(measured.repair_mass),
        "mean quality": NONE if row.scores.amq is None else SCORE(row.scores.amq),
        "f1q": NONE if row.scores.f1q is None else SCORE(row.scores.f1q),
        "certificate": row.choice.comparator.certificate.verdict,
    }


def written(value: float | None) -> str:
    """Format a number with four significant digits; tiny ones are 0."""
    return NONE if value is None else f"{value:.4g}" if value > DISPLAY_TOLERANCE else "0"


@spelled_out(*COMPARATOR)
def entry_metricity(
    schema: SchemaSource,
    *,
    gold: Json | Paths,
    predicted: Json | Paths,
    match: Json | Sequence[Json] = (),
    distance: Json | Sequence[Json] = (),
    out: str | Path | None = None,
    force: bool = False,
    sample: int | None = None,
    seed: int = 0,
    id_key: str = "id",
    max_depth: int = MAX_DEPTH,
    csv_dialect: CsvDialectName = "standard",
    **options: Any,  # noqa: ANN401  (arguments of different types)
) -> EntryMetricity:
    """Measure how close the distances between entries are to a metric, as `arbitre metricity` does.

    Every gold and predicted entry is compared with every other. For a matrix of distances, use `arbitre.metricity`.

    Args:
        schema: Schema of the documents.
        gold: A path: a `.json` file with one document, "-" for standard input, or a folder or file of documents, which
            are joined by id. Or one gold document that is not a string.
        predicted: The predictions, in the same forms.
        match: Matchings for every array, each a name or an object as in a schema. If empty, those of the schema.
        distance: Distances for all non-exact leaves of their kinds, in the same form. If empty, those of the schema.
        out: Folder for the distance matrices (.npy, .csv) and `metricity.json`; None writes no files.
        force: Whether to write to a folder that already contains other files, which are kept.
        sample: Maximum number of entries; more are sampled at random. None for all, at most 4000.
        seed: Random seed.
        id_key: Key of the id of a record.
        max_depth: Maximum number of nested containers in a document.
        csv_dialect: Notation of the CSV files: "standard" or "excel-fr".
        **options: Further arguments of `Comparator`.

    Returns:
        One row per combination of matching and distance.

    Raises:
        SchemaError: The schema is invalid, or a choice is unknown or applies to no part of the schema.
        DataError: The documents cannot be read or compared, or a file cannot be written.
        OptionError: Both sources are standard input, or the CSV dialect is unknown.

    >>> words = {"type": "array", "items": {"type": "string"}}
    >>> row = entry_metricity(words, gold=["a", "ab"], predicted=["b"], distance=["levenshtein"]).rows[0]
    >>> row.metricity.metricity, row.scores.f1q
    (1.0, 0.3333333333333333)
    """
    dialect, inputs = CsvDialect.named(csv_dialect), paths_among([gold, predicted])
    known = functions_in(options)
    choices = configurations(
        schema,
        match=[NamedChoice.of(choice, known.matchings) for choice in as_tuple(match)],
        distance=[NamedChoice.of(choice, known.distances) for choice in as_tuple(distance)],
        build=partial(Comparator, **options),
    )
    inputs += choices[0].comparator.plan.inputs
    if out is not None:
        check_output_folder(Path(out), "metricity", inputs=inputs, force=force)
    documents = _Documents.of(
        gold, predicted, ReadOptions(id_key=id_key, max_depth=max_depth).for_plan(choices[0].comparator.plan)
    )
    rows = tuple(_measured(choice, documents, sample=sample, seed=seed) for choice in choices)
    result = EntryMetricity(rows)
    if out is None:
        return result
    stems = _stems(result)
    names = *(f"{stem}.{form}" for stem in stems for form in ("npy", "csv")), REPORT
    with output_folder(Path(out), names, "metricity", inputs=inputs, force=force) as staging:
        _write(staging, result, stems, documents, dialect)
    return EntryMetricity(rows, names)


@dataclass(frozen=True, slots=True)
class _Documents:
    """Gold documents by name, and (name, gold, predicted) pairs; a failed prediction is ABSENT."""

    gold: dict[str, Json]
    pairs: Sequence[tuple[str, Json, Json]]

    @property
    def predicted(self) -> dict[str, Json]:
        return {name: document for name, _, document in self.pairs if document is not ABSENT}

    @classmethod
    def of(cls, gold: Json | Paths, predicted: Json | Paths, reading: ReadOptions) -> _Documents:
        """Read one document per side, or the documents of two folders or files.

        Raises:
            DataError: A source cannot be read.
            OptionError: Both sources are standard input.
        """
        if gold == predicted == STDIN:
            raise OptionError.of("Expected one of `gold` and `predicted` to be a file, got - for both.")
        if all(map(_is_document, (gold, predicted))):
            sides = [as_document(side, reading.max_depth) for side in (gold, predicted)]
            return cls({"": sides[0]}, [("", *sides)])
        joined = Sources(gold=gold, predicted=predicted).joined(reading)
        pairs = [(pair.id, (pair.key, pair.gold, pair.predicted)) for pair in joined]
        return cls({name: document for name, (_, document, _) in pairs}, [pair for _, pair in pairs])


def _is_document(side: Json | Paths) -> bool:
    """Return whether one side is a single document, or the path of one."""
    return not isinstance(side, (str, Path)) or str(side) == STDIN or Path(side).suffix.lower() == ".json"


def _measured(choice: Configuration, documents: _Documents, *, sample: int | None, seed: int) -> MetricityRow:
    """Measure one combination. Raises DataError if a document cannot be compared."""
    sides = [list(side.values()) for side in (documents.gold, documents.predicted)]
    pool = build_entry_pool(choice.comparator.plan, *sides, sample=sample, seed=seed)
    claims = choice.comparator.check_claims(gold=sides[0], predicted=sides[1], seed=seed)
    scores = choice.comparator.evaluate(documents.pairs).micro
    return MetricityRow(choice, pool, metricity(pool.distances, seed=seed), scores, claims)


def _stems(result: EntryMetricity) -> list[str]:
    """Return the name of each matrix, without suffix."""
    stems: list[str] = []
    for row in result.rows:
        slug = re.sub(r"[^\w.=-]+", "_", row.choice.label).strip("_")
        stems.append(slug if slug not in stems else f"{slug}-{2 * len(stems)}")
    return stems


def _write(
    folder: Path, result: EntryMetricity, stems: Sequence[str], documents: _Documents, dialect: CsvDialect
) -> None:
    """Write each matrix as .npy and CSV, and metricity.json."""
    plain = result.to_dict()
    for row, stem, described in zip(result.rows, stems, plain["choices"], strict=True):
        with atomic_text_file(folder / f"{stem}.csv") as file:
            rows = csv_writer(file, dialect)
            labels = list(_labels(row.pool, documents))
            rows.writerow(["", *labels])
            matrix = zip(labels, row.pool.distances.tolist(), strict=True)
            rows.writerows([label, *(cell(value, dialect) for value in values)] for label, values in matrix)
        np.save(folder / f"{stem}.npy", row.pool.distances)
        described["matrix"] = f"{stem}.npy"
    with atomic_text_file(folder / REPORT) as file:
        file.write(json_text(plain))


def _labels(entries: EntryPool, documents: _Documents) -> Iterator[str]:
    """Yield the label of each entry: side, document and pointer."""
    gold, predicted = list(documents.gold), list(documents.predicted)
    for number, (document, pointer) in enumerate(zip(entries.documents.tolist(), entries.pointers, strict=True)):
        side, names = ("gold", gold) if number < entries.gold else ("predicted", predicted)
        yield " ".join(filter(None, (side, names[document], pointer)))
