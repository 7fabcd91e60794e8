"""Causes in values that stand for others: other labels, codes, abbreviations, and plurals."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.causes.absent import nothing_in
from arbitre.causes.changes import OverlayChange, with_normalizers
from arbitre.causes.forms import MIN_PART, TEXT, differs_in_tails, folded, is_abbreviation, is_plural, related
from arbitre.causes.proposal import Proposal, enumerated
from arbitre.causes.sample import MIN_DOCUMENTS, MIN_FAULTS, correction_of, excess_p, with_odds
from arbitre.errors import ArbitreError, shown
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from arbitre.causes.changes import Change, Correction
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.cause import Side
    from arbitre.values import Json

MAX_PAIRS: Final = 20
"""Maximum number of pairs of values in the details of a cause."""

RECURS: Final = 2
"""Minimum number of documents in which one value stands for another."""

MAX_LENGTH: Final = 100
"""Maximum number of characters of a text that can be a label or have an abbreviation."""

MAX_DISTINCT: Final = 1000
"""Maximum number of different pairs of texts of a path that are examined."""

PURITY: Final = 0.75
"""Minimum share of the occurrences of a value that stand for the same gold value."""

SHARE: Final = 1 / 3
"""Minimum share of the faults of a gold value where it is one and the same other value."""

ALWAYS: Final = 0.8
"""Minimum share of the occurrences of a gold value where it always becomes one and the same other value."""

SIGNIFICANT: Final = 0.01
"""Maximum p-value of the values that are proposed together."""

NOISE: Final = 0.6
"""Maximum share of wrong values without a systematic cause."""

SAME_MISTAKE: Final = 0.35
"""Maximum probability that a misspelling or a wrong number occurs again without a systematic cause."""

CLOSED: Final = 20
"""Maximum number of labels that can be exchanged with each other."""


def at_least(observed: int, chances: Sequence[float]) -> float:
    """Return the probability of at least so many successes of independent trials.

    Args:
        observed: Number of successes.
        chances: Probability of success of each trial. Above 500 trials, the Poisson approximation is used, which is
            larger.
    """
    if observed <= 0:
        return 1.0
    if len(chances) > 500:  # noqa: PLR2004  (stated in the docstring)
        return excess_p(observed, chances)
    exactly = np.ones(1)
    for chance in chances:
        exactly = np.convolve(exactly, (1.0 - chance, chance))
    return float(min(1.0, exactly[observed:].sum()))


def chosen_from(values: int, chosen: int, p: float) -> float:
    """Return a p-value corrected for the number of ways to choose one of some values several times, at most 1."""
    return math.exp(min(0.0, math.log(p) + chosen * math.log(values))) if p > 0.0 else 0.0


class _Wrong(NamedTuple):
    """A fault with two single values.

    Attributes:
        fault: The fault.
        gold: Canonical value in gold.
        predicted: Canonical predicted value.
        unit: Id of the document and JSON Pointer of the gold value; see `_Labels`.
    """

    fault: SampleFault
    gold: Hashable
    predicted: Hashable
    unit: tuple[str, str | None]


@dataclass(slots=True)
class _Labels:
    """The single values of some paths that gold and predictions both have.

    The predictions of one gold value in several runs are not independent: in tests against chance, they count once.

    Attributes:
        gold: Number of times that gold has each value, by path.
        right: Number of times that each predicted value is correct.
        wrong: The wrong ones.
        units: The places in gold that have each value.
        documents: Number of gold documents of the sample.
    """

    gold: dict[str, Counter[Hashable]] = field(default_factory=dict)
    right: Counter[Hashable] = field(default_factory=Counter)
    wrong: list[_Wrong] = field(default_factory=list)
    units: defaultdict[Hashable, set[Hashable]] = field(default_factory=lambda: defaultdict(set))
    documents: int = 0

    @classmethod
    def at(cls, sample: Sample, path: str) -> _Labels:
        """Return the values of a path."""
        faults = {
            (fault.document, fault.gold_pointer, fault.predicted_pointer): fault
            for fault in sample.faults_by_path[path]
        }
        labels = cls({path: Counter()}, documents=sample.size)
        for leaf in sample.leaves.get(path, ()):
            gold, predicted = _key(leaf.gold), _key(leaf.predicted)
            if gold is None or predicted is None:
                continue
            unit = _unit(sample, leaf.document, leaf.pointer)
            labels.gold[path][gold] += 1
            labels.units[gold].add(unit)
            wrong = faults.get((leaf.document, leaf.pointer, leaf.predicted_pointer))
            if wrong is None:
                labels.right[predicted] += leaf.quality >= 1.0
            else:
                labels.wrong.append(_Wrong(wrong, gold, predicted, unit))
        return labels

    def add(self, other: _Labels) -> None:
        """Add the values of other paths."""
        self.gold |= other.gold
        self.right += other.right
        self.wrong += other.wrong
        for value, units in other.units.items():
            self.units[value] |= units

    @property
    def total(self) -> Counter[Hashable]:
        """Number of times that gold has each value."""
        return sum(self.gold.values(), start=Counter())

    def chance(self, path: str, value: Hashable) -> float:
        """Return the probability that an unrelated wrong value of a path has this gold value."""
        return with_odds(self.gold[path][value] / max(1, self.gold[path].total()))

    def in_units(self, gold: Hashable, hits: int) -> tuple[int, int]:
        """Return so many of all occurrences of a gold value as a number of its places, and all its places."""
        size = len(self.units[gold])
        return hits * size // max(1, self.total[gold]), size


def _unit(sample: Sample, document: int, pointer: str | None) -> tuple[str, str | None]:
    return sample.pairs[document].id, pointer


def _recurs(sample_units: Collection[tuple[str, str | None]], documents: int) -> bool:
    """Return whether values occur in several documents, or several times if there are few."""
    units = {identity for identity, _ in sample_units} if documents >= MIN_DOCUMENTS else sample_units
    return len(units) >= RECURS


def _key(value: Json) -> Hashable:
    """Return a key for a short single value; None for others, and for null."""
    if isinstance(value, str):
        return value if len(value) <= MAX_LENGTH else None
    if isinstance(value, bool):
        return "bool", value
    return value if isinstance(value, (int, float)) else None


def value_mappings(sample: Sample) -> Iterator[Proposal]:
    """Yield values that always stand for another value, for all paths that share a pair."""
    for labels in _groups(sample):
        new, old = _new_values(labels), _exchanged(labels)
        for pairs, p in (new, old):
            if pairs:
                yield _mapping_proposal(sample, labels, pairs, p, exchanged=pairs is old[0])


def _groups(sample: Sample) -> list[_Labels]:
    """Return the values of paths; paths with the same pair of different values are taken together."""
    groups: list[_Labels] = []
    for path in _promising(sample):
        labels = _Labels.at(sample, path)
        pairs = {(one.predicted, one.gold) for one in labels.wrong}
        for other in [other for other in groups if not pairs.isdisjoint((w.predicted, w.gold) for w in other.wrong)]:
            labels.add(other)
            groups.remove(other)
        groups.append(labels)
    return groups


def _promising(sample: Sample) -> list[str]:
    """Return the paths with enough faults where a recurring value stands for one gold value only."""
    faults: defaultdict[tuple[str, Hashable], list[SampleFault]] = defaultdict(list)
    for fault in sample.faults:
        gold, predicted = _key(fault.gold), _key(fault.predicted)
        if gold is not None and predicted is not None:
            faults[fault.path, predicted].append(fault)
    pairs: Counter[tuple[Hashable, Hashable]] = Counter()
    places: defaultdict[str, list[tuple[Hashable, Hashable]]] = defaultdict(list)
    for (path, predicted), several in faults.items():
        if len(several) < RECURS:
            continue
        gold, number = Counter(_key(fault.gold) for fault in several).most_common(1)[0]
        if number >= PURITY * len(several):
            pairs[predicted, gold] += number
            places[path].append((predicted, gold))
    least = MIN_FAULTS if sample.size >= MIN_DOCUMENTS else RECURS
    return [path for path, here in places.items() if sum(pairs[pair] for pair in here) >= least]


if TYPE_CHECKING:
    Pairs = dict[Hashable, Hashable]
    """The gold value that each predicted value stands for."""


@dataclass(slots=True)
class _Recurring:
    """The pairs of a gold value and a predicted one that (nearly) always stands for it.

    Attributes:
        pairs: Gold value by predicted value.
        hits: Number of times that each predicted value stands for it.
        wrong: Number of times that each gold value is wrong.
        units: The places in gold where it is wrong.
    """

    pairs: Pairs = field(default_factory=dict)
    hits: Counter[Hashable] = field(default_factory=Counter)
    wrong: Counter[Hashable] = field(default_factory=Counter)
    units: defaultdict[Hashable, set[Hashable]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, labels: _Labels) -> _Recurring:
        """Return the pairs that recur in several documents."""
        found = cls()
        by_value: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        units: defaultdict[tuple[Hashable, Hashable], set[tuple[str, str | None]]] = defaultdict(set)
        for one in labels.wrong:
            by_value[one.predicted][one.gold] += 1
            found.wrong[one.gold] += 1
            found.units[one.gold].add(one.unit)
            units[one.predicted, one.gold].add(one.unit)
        raw = {(one.predicted, one.gold): one.fault for one in labels.wrong}
        for value, golds in by_value.items():
            gold, number = golds.most_common(1)[0]
            pure = number >= PURITY * (golds.total() + labels.right[value])
            recurs = _recurs(units[value, gold], labels.documents) and number >= SHARE * found.wrong[gold]
            if pure and recurs and _is_mapping(raw[value, gold]):
                found.pairs[value] = gold
                found.hits[value] = number
        return found

    def always(self, labels: _Labels, pairs: Pairs) -> Pairs:
        """Return the pairs whose gold value becomes the predicted one nearly always."""
        return {value: gold for value, gold in pairs.items() if self.hits[value] >= ALWAYS * labels.total[gold]}

    def same_mistake(self, labels: _Labels, value: Hashable) -> float:
        """Return the probability that a gold value becomes the same similar value so often by chance; 1 if not often.

        A long text can be misspelled in many ways, and a misspelling rarely consists of its first letters. Numbers and
        short texts have few similar wrong values, so all their occurrences must become the same value, not only the
        wrong ones.
        """
        gold = self.pairs[value]
        texts = isinstance(gold, str) and isinstance(value, str) and len(gold) >= MIN_PART
        many = texts and any(map(str.isalpha, f"{gold}")) and (len(f"{value}") >= MIN_PART or is_code(gold, value))
        total = self.wrong[gold] if many else labels.total[gold]
        size = len(self.units[gold] if many else labels.units[gold])
        if self.hits[value] < ALWAYS * total:
            return 1.0
        return at_least(self.hits[value] * size // total - 1, [SAME_MISTAKE] * (size - 1))

    def chance(self, labels: _Labels, pairs: Pairs) -> float:
        """Return the probability of so many values without a systematic cause, for any choice of as many pairs."""
        several = [labels.in_units(gold, self.hits[value]) for value, gold in pairs.items()]
        p = at_least(sum(hits for hits, _ in several), [NOISE] * sum(size for _, size in several))
        return chosen_from(len(labels.total), len(pairs), p)


def is_code(gold: Hashable, value: Hashable) -> bool:
    """Return whether a value consists of the first one or two letters of a longer text, as "f" of "female" does."""
    if not (isinstance(gold, str) and isinstance(value, str)):
        return False
    code, label = folded(value), folded(gold)
    return 0 < len(code) < min(MIN_PART, len(label)) and label.startswith(code)


def _is_mapping(fault: SampleFault) -> bool:
    """Return whether both values mean something and are not two notations of one text."""
    means = nothing_in(fault.gold) is None and nothing_in(fault.predicted) is None
    return means and folded(fault.gold) != folded(fault.predicted)


def _new_values(labels: _Labels) -> tuple[Pairs, float]:
    """Return the predicted values that gold never has, and that stand for one gold value, with their p-value.

    A value that resembles gold may be a misspelling, which depends on gold also without a systematic cause. It counts
    only if gold nearly always becomes the same value (see `_Recurring.same_mistake`). If one value that counts is a
    code, that is, the first letters of its label, the codes of other labels count as well. Other values count if they
    are predicted for one gold value more often than this value is frequent.
    """
    found = _Recurring.of(labels)
    raw = {one.predicted: one.fault.predicted for one in labels.wrong}
    raw |= {one.gold: one.fault.gold for one in labels.wrong}
    pairs = {value: gold for value, gold in found.pairs.items() if value not in labels.units}
    near = {value: gold for value, gold in pairs.items() if related(raw[gold], raw[value])}
    alike = found.always(labels, near)
    chosen: Pairs = {}
    p = 1.0
    for value, gold in near.items():
        same = found.same_mistake(labels, value) * len(near)
        if same <= SIGNIFICANT:
            chosen[value] = gold
            p = min(p, same)
    if any(is_code(gold, value) for value, gold in chosen.items()):
        chosen |= {value: gold for value, gold in near.items() if is_code(gold, value)}
    new = {value: gold for value, gold in pairs.items() if value not in near}
    if new:
        always = found.always(labels, new)
        together, alone = at_least(*_agreements(labels)), found.chance(labels, always) if always else 1.0
        if min(together, alone) <= SIGNIFICANT:
            chosen |= alike | (new if together <= alone else always)
            p = min(p, 2.0 * min(together, alone))
    return chosen, p


def _agreements(labels: _Labels) -> tuple[int, list[float]]:
    """Return how often a new value stands for the same gold value again, and the probability of each by chance."""
    places: defaultdict[Hashable, dict[tuple[Hashable, Hashable], _Wrong]] = defaultdict(dict)
    for one in labels.wrong:
        if one.predicted not in labels.units:
            places[one.predicted].setdefault((one.unit, one.gold), one)
    agreements, chances = 0, []
    for several in map(list, map(dict.values, places.values())):
        unlike = len(several) > 1 and not any(related(one.fault.gold, one.fault.predicted) for one in several)
        if unlike and _is_mapping(several[0].fault):
            gold, number = Counter(one.gold for one in several).most_common(1)[0]
            agreements += number - 1
            chances += [labels.chance(one.fault.path, gold) for one in several[1:]]
    return agreements, chances


def _exchanged(labels: _Labels) -> tuple[Pairs, float]:
    """Return the labels that are nearly always replaced with another label of gold, with their p-value."""
    total = labels.total
    if not 1 < len(total) <= CLOSED:
        return {}, 1.0
    found = _Recurring.of(labels)
    never = {
        value: gold
        for value, gold in found.pairs.items()
        if value in total and labels.right[value] <= (1.0 - ALWAYS) * total[value]
    }
    chosen = found.always(labels, never)
    return chosen, found.chance(labels, chosen) if chosen else 1.0


def _mapping_proposal(sample: Sample, labels: _Labels, pairs: Pairs, p: float, *, exchanged: bool) -> Proposal:
    covered = [one for one in labels.wrong if pairs.get(one.predicted) == one.gold]
    number = Counter(one.predicted for one in covered)
    covered.sort(key=lambda one: -number[one.predicted])
    faults = [one.fault for one in covered]
    kinds = Counter(_kind_of_pair(fault.gold, fault.predicted) for fault in faults)
    if exchanged or not all(isinstance(fault.gold, str) for fault in faults):
        change: Change = _correction(faults)
    else:
        change = _mapping(sample, [_Form(fault, str(fault.gold), str(TEXT(fault.predicted))) for fault in faults])
    return _proposal(kinds.most_common(1)[0][0], faults, change, p)


def _proposal(
    kind: str,
    faults: Sequence[SampleFault],
    change: Change,
    p: float,
    *,
    side: Side = "prediction",
    todo: str | None = None,
) -> Proposal:
    counts = Counter((canonical(fault.gold), canonical(fault.predicted)) for fault in faults)
    values = {(canonical(fault.gold), canonical(fault.predicted)): (fault.gold, fault.predicted) for fault in faults}
    pairs: list[Json] = [[*values[key], number] for key, number in counts.most_common(MAX_PAIRS)]
    named = enumerated(f"{shown(values[key][1])} for {shown(values[key][0])}" for key, _ in counts.most_common())
    return Proposal(
        kind,
        side,
        tuple(dict.fromkeys(fault.path for fault in faults)),
        tuple(fault.number for fault in faults),
        change,
        p,
        advice=f"{_ADVICE[kind] if todo is None else todo}; predictions have {named}.",
        detail={"pairs": pairs},
    )


_ADVICE: Final = {
    "value-mapping": "List the allowed values in the prompt",
    "abbreviation": "Ask for full texts without initials and abbreviations",
    "singular-plural": "List the terms in the prompt, or state whether they are singular",
}


def _mapping(sample: Sample, forms: Sequence[_Form]) -> Change:
    """Return the overlay that maps variants to their names, or a correction where the schema does not allow one."""
    overlay = {}
    for path in dict.fromkeys(form.fault.path for form in forms):
        names: defaultdict[str, list[Json]] = defaultdict(list)
        here = [form for form in forms if form.fault.path == path]
        for form in here:
            if form.variant not in names[form.name]:
                names[form.name].append(form.variant)
        text: list[Json] = [] if all(isinstance(form.fault.predicted, str) for form in here) else ["text"]
        overlay[path] = with_normalizers(sample.plan, path, [*text, {"authority": {"names": dict(names)}}])
    try:
        sample.plan.with_overlay(overlay)
    except ArbitreError:
        return _correction([form.fault for form in forms])
    return OverlayChange(overlay)


def _correction(faults: Sequence[SampleFault]) -> Correction:
    """Return the correction of the predicted values of some faults."""
    return correction_of((fault, fault.gold) for fault in faults)


# Abbreviations and plurals.


TAIL_CHANCE: Final = 0.25
"""Probability that a word that lost or gained its last characters is the plural or the singular."""

MISSPELT_CHANCE: Final = 0.03
"""Probability that another wrong text is the plural or the singular."""

RULE_CHANCE: Final = 1e-3
"""Least probability that an unrelated text is an abbreviation."""


def _kind_of_pair(gold: Json, predicted: Json) -> str:
    """Return the kind of a mapping."""
    if isinstance(gold, str) and isinstance(predicted, str):
        if is_abbreviation(predicted, gold) or is_abbreviation(gold, predicted):
            return "abbreviation"
        if is_plural(predicted, gold) or is_plural(gold, predicted):
            return "singular-plural"
    return "value-mapping"


class _Form(NamedTuple):
    """A fault between two forms of a text: `variant` is abbreviated or in the plural."""

    fault: SampleFault
    name: str
    variant: str


def related_forms(sample: Sample) -> Iterator[Proposal]:
    """Yield abbreviations, and terms in the plural instead of the singular, or the reverse."""
    texts = {path: _different_texts(faults) for path, faults in sample.faults_by_path.items()}
    for kind, form_of, chance_of, least in (
        ("abbreviation", _abbreviation, _abbreviation_chance, RULE_CHANCE),
        ("singular-plural", _plural, _plural_chance, MISSPELT_CHANCE),
    ):
        forms = {path: {pair: form for pair in pairs if (form := form_of(*pair))} for path, pairs in texts.items()}
        found = [
            _Form(fault, *form)
            for path, here in forms.items()
            for pair, form in here.items()
            for fault in texts[path][pair]
        ]
        tested = sum(len(pairs) for path, pairs in texts.items() if forms[path])
        if len(found) <= least * tested or not sample.suffices([form.fault for form in found]):
            continue
        observed = 0
        chances: list[float] = []
        for path in filter(forms.get, forms):
            gold = Counter(leaf.gold for leaf in sample.leaves.get(path, ()) if isinstance(leaf.gold, str))
            for pair, chance in chance_of(gold, list(texts[path])).items():
                units = {_unit(sample, one.document, one.gold_pointer) for one in texts[path][pair]}
                observed += len(units) * (pair in forms[path])
                chances += [chance] * len(units)
        yield from _form_proposal(sample, kind, found, at_least(observed, chances))


if TYPE_CHECKING:
    _Pair = tuple[str, str]
    """Two different texts: that of gold and the predicted one, or a name and its variant."""


def _different_texts(faults: Sequence[SampleFault]) -> dict[_Pair, list[SampleFault]]:
    """Return the faults by gold text and predicted text."""
    pairs: defaultdict[_Pair, list[SampleFault]] = defaultdict(list)
    for fault in faults:
        gold, predicted = fault.gold, fault.predicted
        if isinstance(gold, str) and isinstance(predicted, str) and 0 < len(gold) <= MAX_LENGTH >= len(predicted) > 0:
            pairs[gold, predicted].append(fault)
    return dict(islice(pairs.items(), MAX_DISTINCT))


def _abbreviation(gold: str, predicted: str) -> _Pair | None:
    """Return the full text and its abbreviation, or None."""
    short, full = sorted((gold, predicted), key=len)
    return (full, short) if is_abbreviation(short, full) else None


def _plural(gold: str, predicted: str) -> _Pair | None:
    """Return the singular and the plural, or None."""
    if not differs_in_tails(gold, predicted):
        return None
    short, long = sorted((gold, predicted), key=len)
    return (short, long) if is_plural(short, long) else (long, short) if is_plural(long, short) else None


def _abbreviation_chance(gold: Counter[str], pairs: Sequence[_Pair]) -> dict[_Pair, float]:
    """Return the probability that each prediction is an abbreviation of a random gold value, or the reverse."""
    by_letter: defaultdict[str, list[str]] = defaultdict(list)
    for text in gold:
        by_letter[folded(text[0])].append(text)
    known: dict[str, float] = {}
    for text in {predicted for _, predicted in pairs}:
        number = sum(gold[other] for other in by_letter[folded(text[0])] if _abbreviation(other, text))
        share = number / max(1, gold.total() - gold[text])
        known[text] = max(RULE_CHANCE, with_odds(share) if text in gold else share)
    return {pair: known[pair[1]] for pair in pairs}


def _plural_chance(gold: Counter[str], pairs: Sequence[_Pair]) -> dict[_Pair, float]:
    """Return the probability that each prediction is the plural or the singular of gold by chance."""
    by_start: defaultdict[str, list[str]] = defaultdict(list)
    for text in gold:
        by_start[text[:2]].append(text)
    chances = {}
    for left, right in pairs:
        if others := gold.total() - gold[right] if right in gold else 0:
            forms = sum(gold[text] for text in by_start[right[:2]] if _plural(text, right))
            chance = max(RULE_CHANCE, with_odds(forms / others))
        elif differs_in_tails(left, right):
            chance = TAIL_CHANCE
        else:
            chance = MISSPELT_CHANCE
        chances[left, right] = chance
    return chances


def _form_proposal(sample: Sample, kind: str, found: Sequence[_Form], p: float) -> Iterator[Proposal]:
    """Yield the proposal to map the forms. A variant of several names is not mapped.

    Nothing is systematic if predictions have the variant as often as the name.
    """
    names: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for form in found:
        names[form.fault.path, form.variant].add(form.name)
    clear = [form for form in found if len(names[form.fault.path, form.variant]) == 1]
    predicted = sum(form.variant == form.fault.predicted for form in clear)
    if max(predicted, len(clear) - predicted) < max(1.0, ALWAYS * len(clear)):
        return
    gold = {
        path: {leaf.gold for leaf in sample.leaves.get(path, ()) if isinstance(leaf.gold, str)} for path, _ in names
    }
    both = sum(form.fault.predicted in gold[form.fault.path] for form in clear)
    side: Side = "gold" if 2 * both > len(clear) else "prediction"
    todo = "Ask for the short forms of gold" if kind == "abbreviation" and 2 * predicted < len(clear) else None
    yield _proposal(kind, [form.fault for form in clear], _mapping(sample, clear), p, side=side, todo=todo)


DETECTORS: Final[tuple[Detector, ...]] = (related_forms, value_mappings)
"""The detectors of this module."""
