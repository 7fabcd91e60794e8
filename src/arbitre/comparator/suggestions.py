"""Suggests overlays and plants faults, as `arbitre schema suggest-aliases`, `suggest-gate` and `arbitre perturb` do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from arbitre.comparator.keywords import ComparatorKeywords, take_comparator
from arbitre.corpus.reading.records import readable
from arbitre.corpus.reading.sources import expand_globs
from arbitre.corpus.running.check_gold import records_of
from arbitre.corpus.storage.output_folder import destination, paths_among
from arbitre.diagnosis.perturbation import RATES, Perturbed, perturb
from arbitre.report.keywords import SourceKeywords
from arbitre.report.text_files import json_text, output_text_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from arbitre.comparator.comparator import Comparator
    from arbitre.corpus.results.suggested_gate import SuggestedGate
    from arbitre.corpus.running.check_gold import Gold
    from arbitre.diagnosis.renamed_fields import AliasSuggestions
    from arbitre.report.keywords import Pairs
    from arbitre.schema import SchemaSource
    from arbitre.values import Json


class SuggestionKeywords(ComparatorKeywords, SourceKeywords, total=False):
    """Options of `arbitre.suggest_aliases` and `arbitre.suggest_gate`."""


def suggest_aliases(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    out: str | Path | None = None,
    force: bool = False,
    **options: Unpack[SuggestionKeywords],
) -> AliasSuggestions:
    """Suggest aliases for fields under undeclared keys: `Comparator(schema).suggest_aliases(...)`.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        out: File for the overlay; None writes none.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        **options: The options of `arbitre schema suggest-aliases`, such as `gold` and `predicted`, and those of
            `Comparator`.

    Returns:
        The suggested aliases with their evidence.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, or the file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
    """
    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, given)
    target = destination(out, inputs=_inputs(comparator, pairs, given), force=force)
    suggested = comparator.suggest_aliases(pairs, **given)
    write_overlay(suggested.overlay, target)
    return suggested


def suggest_gate(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    **options: Unpack[SuggestionKeywords],
) -> SuggestedGate:
    """Suggest a gate for the matching of the entries: `Comparator(schema).suggest_gate(...)`.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        seed: Random seed of the sample of chance pairs.
        out: File for the overlay; None writes none.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        **options: The options of `arbitre schema suggest-gate`, such as `gold` and `predicted`, and those of
            `Comparator`.

    Returns:
        The suggested gate, and the number of matched pairs below it.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, there is only one document, the entries are not matched by `hungarian`
            without a gate, or the file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
    """
    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, given)
    target = destination(out, inputs=_inputs(comparator, pairs, given), force=force)
    suggested = comparator.suggest_gate(pairs, seed=seed, **given)
    write_overlay(suggested.overlay, target)
    return suggested


def _inputs(comparator: Comparator, pairs: Pairs | None, given: dict[str, Any]) -> list[str]:
    """Return the files and folders that a suggestion is derived from."""
    names = ("gold", "predicted", "manifest", "project")
    paths = [path for source in (pairs, *map(given.get, names)) for path in paths_among(source)]
    return [*comparator.plan.inputs, *expand_globs(paths)]


@dataclass(frozen=True, slots=True)
class PerturbedGold:
    """A gold document and its copy with planted faults.

    Attributes:
        id: Id of the document.
        gold: The gold document.
        perturbed: The copy and its planted faults.
    """

    id: str
    gold: Json
    perturbed: Perturbed

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary: a record with `id`, `gold`, `predicted` and `planted`."""
        planted = [fault.to_dict() for fault in self.perturbed.faults]
        return {"id": self.id, "gold": self.gold, "predicted": self.perturbed.document, "planted": planted}


def perturb_gold(
    gold: Gold,
    rates: Mapping[str, float] = RATES,
    *,
    at: str | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    id_key: str = "id",
    force: bool = False,
) -> tuple[PerturbedGold, ...]:
    """Plant faults in copies of gold documents, as `arbitre perturb` does.

    Args:
        gold: A path, or an iterable of paths, of documents, or of (id, document) pairs, as for `Comparator.check_gold`.
        rates: For each kind of fault, the expected share of entries that receive it; see `arbitre.perturb`.
        at: Wildcard path of the only list to plant faults in.
        seed: Random seed.
        out: File for the records, one JSON object per line; None writes none.
        id_key: Key of the id of a record in a file.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.

    Returns:
        Each gold document with its copy and the planted faults.

    Raises:
        ArbitreError: A kind is unknown, or a rate is out of range.
        DataError: A document cannot be read, or the file cannot be written or is not one that arbitre wrote.

    >>> (page,) = perturb_gold([("page_1", ["Ada", "Bo"])], {"drop": 0.5})
    >>> page.perturbed.document, page.perturbed.counts
    (['Bo'], {'drop': 1})
    """
    target = destination(out, inputs=expand_globs(paths_among(gold)), force=force)
    copies = tuple(
        PerturbedGold(str(record.id), record.value, perturb(record.value, rates, at=at, seed=seed, key=str(record.id)))
        for record in map(readable, records_of(gold, id_key))
    )
    if target is not None:
        with output_text_file(target) as file:
            file.writelines(json.dumps(copy.to_dict(), ensure_ascii=False) + "\n" for copy in copies)
    return copies


def write_overlay(overlay: Mapping[str, Json], out: Path | None) -> None:
    """Write an overlay to a file; None writes none."""
    if out is not None:
        with output_text_file(out) as file:
            file.write(json_text(overlay))
