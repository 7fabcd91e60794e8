"""Tables of agreement, of a consensus, of annotators against the others, and of gamma on spans."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from arbitre.errors import shown
from arbitre.language import ENGLISH, Translator, counted, percentage
from arbitre.tables.table import EARLY, NONE, SCORE, SHARE, WHOLE, Table, TableColumn, columns, count
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.agreement.agree import StructuralAgreement
    from arbitre.agreement.agree_spans import SpanAgreement
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.agreement.consensus.disagreement import Consensus, Disagreement, Standing
    from arbitre.agreement.consensus.leave_one_out import LeaveOneOut
    from arbitre.agreement.leaf_ratings import CategoricalCoefficients

MAX_EXCHANGED: Final = 5
"""Maximum number of pairs of exchanged labels."""

MAX_READING: Final = 40
"""Maximum number of characters of a reading."""

_ALIGNED: Final = {
    None: NONE,
    "key": "key",
    "position": "position",
    "other fields": "other fields",
    "all fields": "all fields",
    "these values": "values",
}
"""What items are aligned by, in a few letters."""

_ALPHAS: Final = {
    "alpha_d": "alpha_d: with the distances of the schema.",
    "alpha_d2": "alpha_d2: with the squared distances of the schema.",
    "alpha_nominal": "alpha_nominal: values are equal or different.",
    "alpha_ordinal": "alpha_ordinal: for ordered categories.",
    "alpha_interval": "alpha_interval: for numbers.",
}
"""Explanations of the kinds of Krippendorff's alpha."""

_ABSENT: Final = "absent"
_NO_VOTE: Final = "no vote"
"""Readings without a value."""

_MEAN: Final = "mean"
"""Label of the row of means."""

_PATH: Final = TableColumn("path", kind="path")


def by_path(found: Mapping[str, Coefficient]) -> Table:
    """Return the coefficient of each path, with its interval."""
    aligned = any(each.aligned_by is not None for each in found.values())
    heads = (
        *(_PATH, TableColumn("coefficient"), TableColumn("value", SCORE)),
        *(_interval_column(found, drop=EARLY + 1), TableColumn("items", count, drop=EARLY + 2)),
        *[TableColumn("aligned by", right=True, drop=EARLY + 3, said=Translator.word)] * aligned,
    )
    rows = [
        (path, each.name, each.value, _interval(each), each.items, *[_ALIGNED[each.aligned_by]] * aligned)
        for path, each in found.items()
    ]
    kinds = [text for name, text in _ALPHAS.items() if any(each.name == name for each in found.values())]
    note = " ".join(["Krippendorff's alpha: 1 is full agreement, 0 the agreement expected by chance.", *kinds])
    return Table.of("Agreement by path", heads, rows, notes=(note,) * bool(kinds))


def chance(found: Mapping[str, Coefficient]) -> Table:
    """Return the observed and the expected agreement of each path, over all documents and within them."""
    heads = (
        *(_PATH, TableColumn("observed", SCORE), TableColumn("expected\n(global)", SCORE, drop=EARLY + 1)),
        *(
            TableColumn("expected\n(local)", SCORE, drop=EARLY + 2),
            TableColumn("value\n(local)", SCORE, drop=EARLY + 3),
        ),
        TableColumn("documents\n(local)", count, drop=EARLY + 4),
    )
    rows = []
    for path, each in found.items():
        local = (None,) * 3 if each.local is None else (each.local.expected, each.local.value, each.local.documents)
        rows.append((path, each.observed, each.expected, *local))
    return Table.of("Observed and expected agreement", heads, rows)


def coefficients(found: Mapping[str, CategoricalCoefficients]) -> Table:
    """Return all coefficients of each path whose values are categories."""
    names = ("alpha", "pi", "kappa", "kappa - pi", "S", "AC1")
    heads = (_PATH, *(TableColumn(name, SCORE, drop=EARLY + at) for at, name in enumerate(names, 1)))
    rows = [
        (path, each.alpha.value, each.pi.value, each.kappa.value, each.kappa_minus_pi, each.s.value, each.ac1.value)
        for path, each in found.items()
    ]
    return Table.of("Coefficients for categories", heads, rows)


def categories(found: StructuralAgreement) -> Table:
    """Return the share of each category in the annotations of each annotator, and the agreement on it, by path."""
    heads = (
        TableColumn("category", said=_translate_root),
        *columns(*found.annotators, written=percentage, named=True),
        TableColumn("agreement", SCORE),
    )
    rows: list[tuple[str | float | None, ...]] = []
    paths = []
    for path, each in found.coefficients.items():
        paths.append(len(rows))
        rows.append((path or WHOLE, *[""] * (len(heads) - 1)))
        agreed = each.alpha.by_category or {}
        margins = sorted((each.kappa.margins or {}).items(), key=lambda item: -math.fsum(filter(None, item[1])))
        rows += [(f"  {name}", *shares, agreed.get(name)) for name, shares in margins if any(shares)]
    return Table.of("Share and agreement by category", heads, rows, emphasis=dict.fromkeys(paths, "strong"))


def list_gamma(found: Mapping[str, Coefficient]) -> Table:
    """Return gamma of the items of each list."""
    heads = (
        *(_PATH, TableColumn("value", SCORE), _interval_column(found, drop=EARLY + 1)),
        *(TableColumn("observed", SCORE, drop=EARLY + 2), TableColumn("expected", SCORE, drop=EARLY + 3)),
        TableColumn("items", count, drop=EARLY + 4),
    )
    rows = [
        (path, each.value, _interval(each), each.observed, each.expected, each.items) for path, each in found.items()
    ]
    return Table.of("Alignment of lists (gamma)", heads, rows)


def _translate_root(say: Translator, cell: str) -> str:
    """Translate the label of the root; keep paths and categories."""
    return say.word(cell) if cell == WHOLE else cell


def _interval_column(found: Mapping[str, Coefficient], drop: int) -> TableColumn:
    """Return the column of the intervals, with their level in its heading if there are any."""
    levels = [f"{ENGLISH.level(each.interval.level)} " for each in found.values() if each.interval is not None]
    return TableColumn(f"{''.join(levels[:1])}interval", right=True, drop=drop, said=Translator.text)


def _interval(coefficient: Coefficient) -> str | None:
    """Return the ends of the interval of a coefficient; None if there is no interval."""
    interval = coefficient.interval
    return None if interval is None or interval.low is None else f"{interval.low:z.2f} to {interval.high:z.2f}"


def values(built: Consensus, *, proposed: bool = False) -> Table:
    """Return the number of values of a consensus by path and support; `proposed` if they are only a proposal."""
    heads = (
        *(TableColumn("path", kind="tree"), TableColumn("total", count, drop=2), TableColumn("unanimous", count)),
        *(TableColumn("majority", count, drop=1), *columns("uncertain", "left out", written=count)),
    )
    rows = [
        (path, own.total, own.unanimous, own.majority, own.flagged, own.left_out) for path, own in built.by_path.items()
    ]
    return Table.of("Values and list items by path" + " in the proposal" * proposed, heads, rows)


def disagreements(found: Iterable[Disagreement], title: str) -> Table:
    """Return the disagreements with what each annotator has."""
    heads = (
        *(TableColumn("place", kind="path"), TableColumn("flag", said=Translator.word)),
        *(TableColumn("readings", said=_translate_readings), TableColumn("weight", SCORE)),
    )
    rows = [(own.id, own.flag, _readings(own), own.weight) for own in found]
    return Table.of(title, heads, rows, notes=("Flagged: ties and weak majorities, on which a person should decide.",))


def _readings(disagreement: Disagreement) -> str:
    """Return the readings with their annotators."""
    names = defaultdict(list)
    for reading in disagreement.readings:
        value = _ABSENT if reading.value is ABSENT else shown(reading.value, MAX_READING)
        names[value if reading.votes else _NO_VOTE].append(reading.annotator)
    return "; ".join(f"{value} ({', '.join(annotators)})" for value, annotators in names.items())


def _translate_readings(say: Translator, cell: str) -> str:
    """Translate "absent" and "no vote" in a cell of readings; keep values and the names of annotators."""
    return re.sub(rf"(?:(?<=; )|^)(?:{_ABSENT}|{_NO_VOTE}) \([^)]*\)", lambda one: say.text(one[0]), cell)


def standing(found: Standing) -> Table:
    """Return how well a consensus predicts an annotator who took no part in it, compared with single annotators."""
    rows = [
        ("consensus of the others", found.consensus),
        ("medoid of the others", found.medoid),
        (f"best single annotator ({found.best})", found.annotators[found.best]),
    ]
    heads = (TableColumn("compared with that annotator", said=Translator.text), TableColumn("mean f1q", SCORE))
    return Table.of("Agreement with an annotator who is left out", heads, rows, emphasis={(0, 1): "strong"})


def errors(built: Consensus) -> Table:
    """Return the estimated errors of each annotator in list items."""
    heads = (TableColumn("annotator"), *columns("omitted", "spurious", written=SHARE))
    rows = [(name, rates.omitted, rates.spurious) for name, rates in built.provenance.errors.items()]
    return Table.of("Estimated errors in list items", heads, rows)


def systems(built: Consensus) -> Table:
    """Return the scores of systems on unanimous and on contested values."""
    heads = (
        *(TableColumn("system"), TableColumn("values", said=_translate_support), TableColumn("number", count)),
        *columns("exact", "quality", written=SCORE),
    )
    rows = [
        (name, label, part.values, part.exact, part.quality)
        for name, scores in built.systems.items()
        for label, part in (("unanimous", scores.unanimous), ("contested", scores.contested))
    ]
    return Table.of("Systems on unanimous and on contested values", heads, rows)


def _translate_support(say: Translator, cell: str) -> str:
    """Translate "unanimous" or "contested", as said of values."""
    return say.text(f"{cell} values")


def against_others(result: LeaveOneOut, system: str | None = None) -> Table:
    """Return the scores of each annotator, or of a system, against the consensus of the other annotators."""
    title = "Each annotator against the consensus of the others"
    title = title if system is None else f"{system} against the same consensuses"
    annotator = TableColumn("annotator" if system is None else "left out", said=_translate_mean)
    heads = (
        *(annotator, TableColumn("f1q", SCORE, emphasis="strong")),
        TableColumn("95% interval", right=True, drop=1, said=Translator.text),
        *columns("imq", "irq", written=SCORE, drop=1),
        *columns("documents", "flagged", written=count),
    )
    rows: list[tuple[str | float | None, ...]] = []
    for name, evaluation in (result.annotators if system is None else result.systems[system]).items():
        interval, micro = evaluation.interval("f1q", aggregate="micro"), evaluation.micro
        low, high = (NONE if end is None else SCORE(end) for end in (interval.low, interval.high))
        counts = len(evaluation.documents), result.flagged[name]
        rows.append((name, micro.f1q, f"{low} to {high}", micro.imq, micro.irq, *counts))
    rows.append((_MEAN, result.mean(system=system), *[""] * 5))
    return Table.of(title, heads, rows)


def _translate_mean(say: Translator, cell: str) -> str:
    """Translate the label of the row of means; keep the names of annotators."""
    return say.word(cell) if cell == _MEAN else cell


def gamma(agreement: SpanAgreement) -> Table:
    """Return gamma on spans with both kinds of random annotations."""
    heads = (
        *(TableColumn("chance"), TableColumn("gamma", SCORE, emphasis="strong"), TableColumn("±", SCORE)),
        *columns("observed", "expected", written=SCORE),
        *columns("disorder", "by chance", written=SCORE, drop=1),
    )
    disorder = agreement.disorder()
    rows = [
        (
            *(name, found.value, agreement.error(name), found.observed, found.expected),
            *(disorder["observed"], disorder[name]),
        )
        for name, found in agreement.gamma.items()
    ]
    notes = (
        "local: random annotations drawn from the same document. global: from all documents.",
        "±: 95% sampling error of the random annotations only, not of the documents.",
    )
    return Table.of("Agreement (gamma)", heads, rows, notes=notes)


def spans(agreement: SpanAgreement) -> Table:
    """Return the number of spans of each label by each annotator."""
    labels = sorted({label for counts in agreement.spans.values() for label in counts})
    heads = (TableColumn("label"), *columns(*agreement.annotators, written=count, named=True))
    return Table.of("Spans", heads, [(label, *(own[label] for own in agreement.spans.values())) for label in labels])


def exchanged_labels(agreement: SpanAgreement) -> Table:
    """Return the most frequent pairs of different labels of aligned spans."""
    most = list(agreement.exchanged.items())[:MAX_EXCHANGED]
    rows = [(f"{first} / {second}", pairs, pairs / agreement.pairs) for (first, second), pairs in most]
    pairs = counted(agreement.pairs, "aligned pair")
    heads = (TableColumn("labels"), TableColumn("pairs", count), TableColumn("share", SHARE))
    return Table.of(f"Exchanged labels among {pairs} of spans", heads, rows)
