"""The faults of a document or a corpus as tables for terminals."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from arbitre.cli.output.console import counted, titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.output.result_tables import MAX_SHOWN, number, table
from arbitre.report.tables.table import NONE, probability

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.comparison.diagnosis import Diagnosis
    from arbitre.corpus.results.diagnosis import CorpusDiagnosis
    from arbitre.corpus.results.fault_evidence import SourceEvidence
    from arbitre.diagnosis.evidence.gathering import Gathering

    _Row = tuple[str, str, int, float, float | None]
    """Path, class, number, cost and share of some faults."""


def faults(found: CorpusDiagnosis) -> Iterator[RenderableType]:
    """Yield a table of the most costly faults of a corpus by path and class, and what their repair would gain."""
    rows = [(one.path, one.fault, one.count, one.cost, one.share) for one in found.faults]
    gains = (found.repair_gain, found.repair_gain_by_path)
    yield _table(rows, gains, "Cost: decrease in pooled f1q; all costs add up to 1 - f1q.")
    if found.source is not None:
        yield _in_source(found.source)
    tested = sorted((row for row in found.gathering if row.p is not None), key=lambda row: row.p or 0.0)
    if tested:
        yield _gathering(tested)
    lines = [
        f"{escape_hidden(row.path)}: {row.in_neighbours} of {counted(row.spurious, 'spurious value')}"
        for row in found.neighbours
        if row.in_neighbours
    ]
    if lines:
        yield titled("In the gold of the document before or after", Text("\n".join(lines)))


def faults_of_document(found: Diagnosis, *, rematch: bool) -> Iterator[RenderableType]:
    """Yield the same table for one document; nothing without faults. `rematch` is the option of the comparison."""
    if not found.faults:
        return
    costs: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for fault in found.faults:
        costs[fault.path, fault.fault].append(fault.cost)
    lost = math.fsum(fault.cost for fault in found.faults)
    sums = {key: math.fsum(values) for key, values in costs.items()}
    rows = [(*key, len(costs[key]), cost, cost / lost if lost else None) for key, cost in sums.items()]
    rows.sort(key=lambda row: -row[3])
    legend = "Cost: decrease in f1q; all costs add up to 1 - f1q."
    legend += " The gains are those of repaired documents, compared again." * rematch
    yield _table(rows, (found.repair_gain, found.repair_gain_by_path), legend)


def _in_source(found: SourceEvidence) -> RenderableType:
    """Return a table of the values that stand in the source texts."""
    grid = table("path", "fault", "number", "in source", "not in source", left=2)
    for row in found.counts[:MAX_SHOWN]:
        numbers = map(str, (row.in_source + row.not_in_source, row.in_source, row.not_in_source))
        grid.add_row(escape_hidden(row.path or "(the whole)"), row.fault, *numbers)
    more = len(found.counts) - MAX_SHOWN
    lines = [f"... and {more} more with --format json"] * (more > 0)
    lines.append("Missing: the model left out what is in the source; the rest was not in its text.")
    lines.append("Spurious: what is in the source was misplaced; the rest was invented.")
    if found.without_text:
        lines.append(f"{counted(found.without_text, 'document')} without a source text, not counted.")
    return titled("Missing and spurious values in the source texts", Group(grid, Text("\n".join(lines), style="dim")))


def _gathering(rows: Sequence[Gathering]) -> RenderableType:
    """Return a table of the groups of values that differ most from the others in their share of missing values."""
    grid = table("path", "values", "gold", "missing", "of gold", "of missing", "p (adjusted)", left=2)
    for row in rows[:MAX_SHOWN]:
        shares = f"{row.gold_share:.1%}", NONE if row.missing_share is None else f"{row.missing_share:.1%}"
        grid.add_row(
            escape_hidden(row.path or "(the whole)"),
            f"{row.property} {row.group}",
            *(str(row.gold), str(row.missing), *shares),
            NONE
            if row.p is None or row.p_adjusted is None
            else f"{probability(row.p)} ({probability(row.p_adjusted)})",
        )
    more = len(rows) - MAX_SHOWN
    lines = [f"... and {more} more with --format json"] * (more > 0)
    lines.append(
        "p: Fisher's exact test against the other values of the path; in brackets, adjusted for the number of tests."
    )
    return titled("Where values are missing", Group(grid, Text("\n".join(lines), style="dim")))


def _table(rows: Sequence[_Row], gains: Sequence[Mapping[str, float]], legend: str) -> RenderableType:
    """Return a table with a legend, and the greatest gains by class and by path."""
    if not rows:
        return Text("No faults")
    grid = table("path", "fault", "number", "cost", "share", left=2)
    for path, fault, count, cost, share in rows[:MAX_SHOWN]:
        shown = NONE if share is None else f"{share:.1%}"
        grid.add_row(escape_hidden(path or "(the whole)"), fault, str(count), number(cost), shown)
    more = len(rows) - MAX_SHOWN
    lines = [f"... and {more} more with --format json"] * (more > 0)
    lines += [legend, *map(_gains, ("of one class", "at one path"), gains)]
    return titled("Faults by path and class", Group(grid, Text("\n".join(filter(None, lines)), style="dim")))


def _gains(which: str, gains: Mapping[str, float]) -> str:
    """Return a line with the greatest gains; empty if nothing would be gained."""
    ranked = sorted(((gain, key) for key, gain in gains.items() if gain > 0.0), key=lambda one: (-one[0], one[1]))
    shown = [f"{escape_hidden(key or '(the whole)')} {number(gain)}" for gain, key in ranked[:MAX_SHOWN]]
    return f"Gain in f1q if all faults {which} were repaired: {', '.join(shown)}." if shown else ""
