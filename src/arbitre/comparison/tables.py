"""Tables of a comparison, or of the sums of many: scores, paths, survival curve, faults, joins and moved values."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from arbitre.comparison.node_tree import Verdict
from arbitre.errors import shown
from arbitre.language import Translator
from arbitre.parsing.fast_json import compact
from arbitre.tables.table import NONE, SCORE, SHARE, WHOLE, Table, TableColumn, columns, count
from arbitre.tally import PathScores
from arbitre.values import ABSENT, equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.comparison import Comparison
    from arbitre.comparison.diagnosis import Diagnosis, DoubtfulAlignment, Moved
    from arbitre.comparison.flat import FlatComparison
    from arbitre.comparison.references import Id, ScopeReferences
    from arbitre.curve import Curve
    from arbitre.tally import MacroScores, Scores

    ScoreColumn = Scores | MacroScores | Mapping[str, int]

    FaultRow = tuple[str, str, int, float, float | None]
    """Path, class, number, cost and share of the faults of one class at one path."""

MEANINGS: Final = {
    "f1q": "headline: harmonic mean of imq and irq",
    "imq": "graded precision (spurious counts as 0)",
    "irq": "graded recall (missing counts as 0)",
    "amq": "mean quality of the matched pairs",
    "omq": "harmonic mean of precision, recall, amq",
    "omq_imq": "harmonic mean of imq, recall, amq",
    "quality": "mean quality; unmatched items count as 0",
    "variance": "variance of the pair qualities",
    "precision": "matched / predicted",
    "recall": "matched / gold",
    "f1": "harmonic mean of precision and recall",
}
BIASED: Final = frozenset({"precision", "recall", "f1"})
"""Scores that are biased if the matching pairs every entry of the shorter list."""
SECONDARY: Final = BIASED | {"omq", "omq_imq", "variance"}

MAX_TEXT: Final = 40
"""Maximum length of a value, in characters."""

MAX_POSITIONS: Final = 10
"""Maximum number of positions of a join."""

MAX_GAINS: Final = 10
"""Maximum number of gains to name, by class and by path."""

MEANING: Final = TableColumn("meaning", emphasis="weak", drop=1, least=34, said=Translator.text)
"""Column of the meanings of scores; narrow terminals leave it out."""


def references(found: Mapping[str, ScopeReferences]) -> Table:
    """Return a table of the ids of each scope: how many have partners, and which have none."""
    heads = (
        TableColumn("scope"),
        TableColumn("pairs", count),
        TableColumn("best", said=Translator.text),
        TableColumn("without a partner"),
        TableColumn("dangling"),
        TableColumn("coreference F1", SCORE, drop=1),
    )
    rows = []
    for scope, one in found.items():
        sides = zip(("gold", "the prediction"), one.unpaired, strict=True)
        alone = [f"{_named(ids)} in {side}" for side, ids in sides if ids]
        best = "yes" if one.proven else f"quality {one.objective:.4f}, at most {one.bound:.4f}"
        rows.append((scope, len(one.pairs), best, "; ".join(alone), _named(one.dangling), one.coreference.conll))
    note = (
        "Best: whether no other pairs of ids are better. Dangling: ids in references that no item of the prediction "
        "has. Coreference F1: mean F1 of MUC, B-cubed and CEAF-e."
    )
    return Table.of("References by scope", heads, rows, notes=(note,))


def _named(ids: Sequence[Id | None]) -> str:
    """Return some ids as text; those of items without an id are counted."""
    known = [str(one) for one in ids if one is not None]
    shown_ids = known[:MAX_POSITIONS] + ["…"] * (len(known) > MAX_POSITIONS)
    nameless = len(ids) - len(known)
    return ", ".join([*shown_ids, *[f"{nameless} without an id"] * (nameless > 0)])


def scores(found: Mapping[str, ScoreColumn], *, forced: bool) -> Table:
    """Return a table of all scores, with one column per tally or per document count of the means.

    `forced` is whether every entry of the shorter list gets a partner (see `arbitre.schema.describe.forces_pairs`).
    """
    heads = (
        TableColumn(name, count, emphasis="weak") if isinstance(column, Mapping) else TableColumn(name, SCORE)
        for name, column in found.items()
    )
    rows = []
    for name, text in MEANINGS.items():
        biased = forced and name in BIASED
        cells = (column[name] if isinstance(column, Mapping) else getattr(column, name) for column in found.values())
        row_name, text_shown = (f"{name} (biased)", "biased: every pair counts as correct") if biased else (name, text)
        rows.append((row_name, *cells, text_shown))
    emphasis = {
        at: "strong" if name == "f1q" else "weak" if name in SECONDARY else "" for at, name in enumerate(MEANINGS)
    }
    label = TableColumn("score", said=Translator.score)
    return Table.of("", (label, *heads, MEANING), rows, emphasis=emphasis)


def paths(by_path: Mapping[str, Scores], average: str = "") -> Table:
    """Return the scores of every path; terminals indent it under its parent."""
    heads = (
        TableColumn("path", kind="tree"),
        TableColumn("gold", count, emphasis="weak"),
        TableColumn("predicted", count, emphasis="weak", drop=1),
        TableColumn("matched", count, emphasis="weak", drop=2),
        *columns("imq", "irq", written=SCORE),
        TableColumn("f1q", SCORE, emphasis="strong"),
        TableColumn("amq", SCORE, drop=2),
    )
    return Table.of(f"By path{average}", heads, _path_rows(by_path, heads))


def outcomes(by_path: Mapping[str, PathScores], average: str = "") -> Table:
    """Return the number of values by outcome of every path; terminals indent it under its parent."""
    heads = (
        TableColumn("path", kind="tree"),
        TableColumn("exact\nrate", SCORE, "exact_match_rate"),
        *columns("exact", "close", "wrong", written=count, emphasis="weak", drop=1),
        TableColumn("wrong\ntype", count, "wrong_type", emphasis="weak"),
        *columns("missing", "spurious", written=count, emphasis="weak"),
    )
    return Table.of(f"Outcomes by path, number of values{average}", heads, _path_rows(by_path, heads))


def absent_fields(by_path: Mapping[str, PathScores]) -> Table:
    """Return how often a field that gold lacks is also absent in the prediction, for fields that gold lacks."""
    heads = (
        TableColumn("path", kind="path"),
        TableColumn("absent", count),
        TableColumn("true negatives", count, drop=1),
        TableColumn("spurious", count),
        TableColumn("specificity", SCORE, emphasis="strong"),
    )
    rows = [
        (path, row.absent, row.true_negatives, row.absent - row.true_negatives, row.specificity)
        for path, row in by_path.items()
        if row.absent
    ]
    note = (
        "Absent: matched objects in which gold lacks the field. True negatives: those in which the prediction lacks it "
        "too. Specificity: their share."
    )
    return Table.of("Fields that gold lacks", heads, rows, notes=(note,))


def flat(comparison: FlatComparison) -> Table:
    """Return the flat scores and the solidarity of each path."""
    heads = (
        TableColumn("path", kind="tree"),
        TableColumn("gold", count, emphasis="weak"),
        *columns("predicted", "matched", written=count, emphasis="weak", drop=1),
        *columns("imq", "irq", written=SCORE, drop=1),
        TableColumn("f1q", SCORE, emphasis="strong"),
        *columns("solidarity", "by chance", written=SCORE),
    )
    rows = [
        (*row, comparison.solidarity_by_path[path], comparison.solidarity_chance_by_path.get(path))
        for path, row in zip(comparison.flat_by_path, _path_rows(comparison.flat_by_path, heads[:-2]), strict=True)
    ]
    notes = [
        "Each gold value may be matched with any predicted value of the same path; entries are ignored.",
        "Solidarity: share of this quality that is reached by values in their own entries.",
        "By chance: the same if the predicted values of each path are shuffled.",
    ]
    if not comparison.flat_exact:
        notes.append("Some matchings were too large for an optimal solution: their quality is a lower bound.")
    return Table.of("Flat comparison by path", heads, rows, notes=tuple(notes))


def _path_rows(by_path: Mapping[str, Scores], heads: Sequence[TableColumn]) -> list[tuple[str | float | None, ...]]:
    names = [column.key or column.name for column in heads[1:]]
    return [(path, *(_path_cell(row, name) for name in names)) for path, row in by_path.items()]


def _path_cell(row: Scores, name: str) -> str | float | None:
    """Return a score or count; the predicted values of a wrong type are added if their number is another."""
    value: float | None = getattr(row, name)
    if name == "wrong_type" and isinstance(row, PathScores) and row.wrong_type != row.wrong_type_predicted:
        texts = dict.fromkeys(map(count, (row.wrong_type, row.wrong_type_predicted)))
        return "/".join(texts)
    return value


def survival(curve: Curve, thresholds: Sequence[float]) -> Table:
    """Return precision, recall, f1 and pq when only pairs of a minimum quality count."""
    points = map(curve.at, thresholds)
    heads = (
        TableColumn("quality >=", "{:.1f}".format, right=False),
        *columns("precision", "recall", "f1", "pq", written=SCORE),
    )
    rows = [(point.threshold, point.precision, point.recall, point.f1, point.pq) for point in points]
    note = "Only pairs of at least this quality count as found. pq: f1q of these pairs."
    return Table.of("Survival curve: scores at a minimum pair quality", heads, rows, notes=(note,))


def published(figures: Mapping[str, float]) -> Table:
    """Return the published scores, which use different formulas."""
    whole = {"gold", "predicted", "matched"}
    rows = [(name, int(value) if name in whole and value.is_integer() else value) for name, value in figures.items()]
    title = "Scores with the formulas of the published script (imq over gold)"
    return Table.of(title, (TableColumn("published name"), TableColumn("value", _number_or_score)), rows)


def _number_or_score(value: float) -> str:
    """Format an integer as a number of entries, and any other number as a score."""
    return count(value) if isinstance(value, int) else SCORE(value)


def faults_of(diagnosis: Diagnosis, *, rematch: bool = False) -> Table:
    """Return the faults of a comparison by path and class; `rematch` is the option of the comparison."""
    costs: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for fault in diagnosis.faults:
        costs[fault.path, fault.fault].append(fault.cost)
    lost = math.fsum(fault.cost for fault in diagnosis.faults)
    sums = {key: math.fsum(values) for key, values in costs.items()}
    rows = [(*key, len(costs[key]), cost, cost / lost if lost else None) for key, cost in sums.items()]
    rows.sort(key=lambda row: -row[3])
    note = "Cost: decrease in f1q; all costs add up to 1 - f1q."
    note += " The gains are those of repaired documents, compared again." * rematch
    return faults(rows, (note, *gains(diagnosis.repair_gain, diagnosis.repair_gain_by_path)))


def faults(rows: Sequence[FaultRow], notes: tuple[str, ...] = (), signature: str = "") -> Table:
    """Return the faults by path and class, the most costly first."""
    heads = (
        *(
            TableColumn("path", kind="path"),
            TableColumn("fault", said=Translator.verdict),
            TableColumn("number", count),
        ),
        *(TableColumn("cost", SCORE), TableColumn("share", SHARE)),
    )
    return Table.of(
        "Faults by path and class", heads, [(row[0] or WHOLE, *row[1:]) for row in rows], signature, notes=notes
    )


def gains(by_class: Mapping[str, float], by_path: Mapping[str, float]) -> tuple[str, ...]:
    """Return sentences with the greatest gains of a repair, by class and by path; none if nothing would be gained."""
    found = []
    for which, gained in (("of one class", by_class), ("at one path", by_path)):
        ranked = sorted(((gain, key) for key, gain in gained.items() if gain > 0.0), key=lambda one: (-one[0], one[1]))
        if ranked:
            texts = ", ".join(f"{key or WHOLE} {SCORE(gain)}" for gain, key in ranked[:MAX_GAINS])
            found.append(f"Gain in f1q if all faults {which} were repaired: {texts}.")
    return tuple(found)


def verdicts(comparison: Comparison) -> Table:
    """Return the values that are not correct, with their verdicts; the values are written as JSON."""
    heads = (
        *(TableColumn(name, kind="path") for name in ("in gold", "in the prediction")),
        *columns("gold", "predicted"),
        TableColumn("verdict", said=Translator.verdict),
        TableColumn("quality", SCORE),
        TableColumn("accepted form"),
        TableColumn("reference", said=Translator.text),
    )
    rows = [
        (
            leaf.pointer,
            leaf.predicted_pointer,
            *(None if value is ABSENT else compact(value) for value in (leaf.gold, leaf.predicted)),
            leaf.verdict,
            leaf.quality,
            None if leaf.reading is ABSENT or equal(leaf.reading, leaf.gold) else compact(leaf.reading),
            None if leaf.reference is None else leaf.reference.text,
        )
        for leaf in comparison.explain()
        if leaf.verdict != Verdict.CORRECT.text
    ]
    made = Table.of("Verdicts (values that are not correct)", heads, rows)
    return made.without(*(name for name in ("accepted form", "reference") if not any(made[name])))


def joins(comparison: Comparison) -> Table:
    """Return the splits and merges, with f1q before and after joining them."""
    diagnosis = comparison.diagnosis
    every = [("merge", join) for join in diagnosis.merges] + [("split", join) for join in diagnosis.splits]
    heads = (
        TableColumn("list", kind="path"),
        TableColumn("kind", said=Translator.text),
        *columns("gold", "predicted", right=True),
        TableColumn("gain", SCORE),
    )
    rows = [(join.list, kind, _positions(join.gold), _positions(join.predicted), join.gain) for kind, join in every]
    before, after = (NONE if f1q is None else SCORE(f1q) for f1q in (comparison.scores.f1q, diagnosis.f1q_after_joins))
    note = f"f1q of the entries: {before}; {after} if these items are joined."
    return Table.of("Splits and merges", heads, rows, notes=(note,))


def _positions(positions: Sequence[int]) -> str:
    """Return positions as text; more than two consecutive ones as a range."""
    first, last = positions[0], positions[-1]
    if last - first > 1 and len(positions) == last - first + 1:
        return f"{first}-{last}"
    return ", ".join(map(str, positions[:MAX_POSITIONS])) + ", ..." * (len(positions) > MAX_POSITIONS)


def order(comparison: Comparison) -> Table:
    """Return Kendall's tau of the lists whose items are not in the order of gold."""
    rows = [(path, tau) for path, tau in comparison.diagnosis.order.items() if tau is not None and tau < 1.0]
    heads = (TableColumn("list", kind="path"), TableColumn("Kendall's tau", SCORE))
    return Table.of("Items in another order than in gold", heads, rows)


def doubtful(alignments: Sequence[DoubtfulAlignment], ids: Sequence[str] = (), number: int | None = None) -> Table:
    """Return the doubtful alignments.

    Args:
        alignments: The alignments.
        ids: Key of the document of each alignment, in a corpus.
        number: Number of all doubtful alignments, if these are only the first.
    """
    heads = [TableColumn("document")] if ids else []
    heads += [TableColumn(name, kind="path") for name in ("gold item", "matched with")]
    heads += [TableColumn("because of"), TableColumn("same text", kind="path"), TableColumn("text at")]
    rows = []
    for at, one in enumerate(alignments):
        pair = (*ids[at : at + 1], one.gold, NONE if one.predicted is None else one.predicted)
        rows.append((*pair, ", ".join(one.decided_by) or NONE, one.alternative, ", ".join(one.texts)))
    note = "A key or a count decided the matching, although another predicted item has the text of the gold item."
    return Table.of(f"Doubtful alignments ({number or len(alignments)})", heads, rows, notes=(note,))


def moved(values: Sequence[Moved]) -> Table:
    """Return the moved values, with their places."""
    rows = [(shown(value.value, MAX_TEXT), value.source, value.target) for value in values]
    heads = (TableColumn("value"), TableColumn("in gold", kind="path"), TableColumn("in the prediction", kind="path"))
    return Table.of(f"Moved values ({len(values)})", heads, rows)
