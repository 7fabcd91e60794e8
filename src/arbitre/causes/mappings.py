"""Causes in values that stand for others: other labels, codes, abbreviations, and plurals."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.causes.absent import nothing_in
from arbitre.causes.changes import Correction, OverlayChange, with_normalizers
from arbitre.causes.proposal import Proposal, enumerated
from arbitre.causes.sample import excess_p
from arbitre.distances import catalogue as distances
from arbitre.errors import ArbitreError, shown
from arbitre.gold.entry_faults import put
from arbitre.normalizers import catalogue as normalizers
from arbitre.paths import parse
from arbitre.values import ABSENT, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from arbitre.causes.changes import Change
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.cause import Side
    from arbitre.values import Json

MAX_PAIRS: Final = 20
"""Maximum number of pairs of values in the details of a cause."""

RECURS: Final = 2
"""Minimum number of times that one value stands for another."""

PURITY: Final = 0.75
"""Minimum share of the occurrences of a value that stand for the same gold value."""

SHARE: Final = 1 / 3
"""Minimum share of the faults of a gold value where it is one and the same other value."""

ALWAYS: Final = 0.8
"""Minimum share of the occurrences of a gold value where it always becomes one and the same other value."""

RELATED: Final = 0.5
"""Similarity of two texts above which a misspelling explains the difference: 1 - edits / length of the longer text."""

SIGNIFICANT: Final = 0.01
"""Maximum p-value of the values that are proposed together."""

MIN_PART: Final = 3
"""Minimum number of characters of a text that is part of another."""

ODDS: Final = 2.5
"""How many times more often one value may be confused with another than with a third one without a systematic cause."""

NOISE: Final = 0.6
"""Maximum share of wrong values without a systematic cause."""

SAME_MISTAKE: Final = 0.35
"""Maximum probability that a misspelling or a wrong number occurs again without a systematic cause."""

CLOSED: Final = 20
"""Maximum number of labels that can be exchanged with each other."""

_LEVENSHTEIN: Final = distances.build("levenshtein")
_TEXT: Final = normalizers.build("text")


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


def with_odds(share: float) -> float:
    """Return the probability of a value that is preferred with odds of `ODDS` to its share."""
    return ODDS * share / (1.0 + (ODDS - 1.0) * share)


class _Wrong(NamedTuple):
    """A fault with two single values that are not two notations of one text.

    Attributes:
        fault: The fault.
        gold: Canonical value in gold.
        predicted: Canonical predicted value.
    """

    fault: SampleFault
    gold: Hashable
    predicted: Hashable


@dataclass(slots=True)
class _Labels:
    """The single values of some paths that gold and predictions both have.

    Attributes:
        gold: Number of times that gold has each value, by path.
        right: Number of times that each predicted value is correct.
        wrong: The wrong ones.
    """

    gold: dict[str, Counter[Hashable]] = field(default_factory=dict)
    right: Counter[Hashable] = field(default_factory=Counter)
    wrong: list[_Wrong] = field(default_factory=list)

    @classmethod
    def at(cls, sample: Sample, path: str) -> _Labels | None:
        """Return the values of a path; None if nothing is wrong."""
        faults = {
            (fault.document, fault.gold_pointer, fault.predicted_pointer): fault
            for fault in sample.faults_by_path[path]
            if _is_label(fault.gold) and _is_label(fault.predicted)
        }
        labels = cls({path: Counter()})
        for leaf in sample.leaves.get(path, ()) if faults else ():
            if not _is_single(leaf.gold) or not _is_single(leaf.predicted):
                continue
            gold, predicted = canonical(leaf.gold), canonical(leaf.predicted)
            labels.gold[path][gold] += 1
            fault = faults.get((leaf.document, leaf.pointer, leaf.predicted_pointer))
            if fault is None:
                labels.right[predicted] += leaf.quality >= 1.0
            elif folded(leaf.gold) != folded(leaf.predicted):
                labels.wrong.append(_Wrong(fault, gold, predicted))
        return labels if labels.wrong else None

    def add(self, other: _Labels) -> None:
        """Add the values of other paths."""
        self.gold |= other.gold
        self.right += other.right
        self.wrong += other.wrong

    @property
    def total(self) -> Counter[Hashable]:
        """Number of times that gold has each value."""
        return sum(self.gold.values(), start=Counter())

    def chance(self, path: str, value: Hashable) -> float:
        """Return the probability that an unrelated wrong value of a path has this gold value."""
        return with_odds(self.gold[path][value] / max(1, self.gold[path].total()))


def _is_single(value: Json) -> bool:
    return value is not ABSENT and kind_of(value).scalar


def _is_label(value: Json) -> bool:
    """Return whether a value is single and means something."""
    return _is_single(value) and nothing_in(value) is None


def folded(value: Json) -> str:
    """Return the letters and digits of a value, without case and accents.

    >>> folded("Œuvres (1.)") == folded("œuvres 1"), folded(3) == folded("3")
    (True, True)
    """
    text = unicodedata.normalize("NFKD", str(_TEXT(value))).casefold()
    return "".join(sign for sign in text if sign.isalnum())


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
    for path in sample.faults_by_path:
        labels = _Labels.at(sample, path)
        if labels is None:
            continue
        pairs = {(one.predicted, one.gold) for one in labels.wrong}
        for other in [other for other in groups if not pairs.isdisjoint((w.predicted, w.gold) for w in other.wrong)]:
            labels.add(other)
            groups.remove(other)
        groups.append(labels)
    return groups


if TYPE_CHECKING:
    Pairs = dict[Hashable, Hashable]
    """The gold value that each predicted value stands for."""


def _recurring(labels: _Labels) -> tuple[Pairs, Counter[Hashable], Counter[Hashable]]:
    """Return the pairs of which one value recurs, and the number of wrong values: of each pair, and of each value."""
    by_value: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    wrong: Counter[Hashable] = Counter()
    for one in labels.wrong:
        by_value[one.predicted][one.gold] += 1
        wrong[one.gold] += 1
    pairs: Pairs = {}
    hits: Counter[Hashable] = Counter()
    for value, golds in by_value.items():
        gold, number = golds.most_common(1)[0]
        pure = number >= PURITY * (golds.total() + labels.right[value])
        if pure and number >= RECURS and number >= SHARE * wrong[gold]:
            pairs[value] = gold
            hits[value] = number
    return pairs, hits, wrong


def _new_values(labels: _Labels) -> tuple[Pairs, float]:
    """Return the predicted values that gold never has, and that stand for one gold value, with their p-value.

    A value that resembles gold may be a misspelling, which depends on gold also without a systematic cause. It counts
    only if gold nearly always becomes the same value. Other values count if they are predicted for one gold value more
    often than this value is frequent.
    """
    pairs, hits, _ = _recurring(labels)
    total = labels.total
    raw = {one.predicted: one.fault.predicted for one in labels.wrong}
    raw |= {one.gold: one.fault.gold for one in labels.wrong}
    chosen: Pairs = {}
    p = 1.0
    near = {value: gold for value, gold in pairs.items() if value not in total and related(raw[gold], raw[value])}
    for value, gold in near.items():
        same = at_least(hits[value] - 1, [SAME_MISTAKE] * (total[gold] - 1)) * len(near)
        if hits[value] >= ALWAYS * total[gold] and same <= SIGNIFICANT:
            chosen[value] = gold
            p = min(p, same)
    new = {value: gold for value, gold in pairs.items() if value not in total and value not in near}
    if new:
        agreements, chances = _agreements(labels, total)
        together = at_least(agreements, chances)
        always = {value: gold for value, gold in new.items() if hits[value] >= ALWAYS * total[gold]}
        golds = set(always.values())
        number = sum(total[gold] for gold in golds)
        alone = at_least(sum(hits[value] for value in always), [NOISE] * number) * len(total) ** len(golds)
        if min(together, alone) <= SIGNIFICANT:
            chosen |= new if together <= alone else always
            p = min(p, 2.0 * min(together, alone))
            chosen |= {value: gold for value, gold in near.items() if hits[value] >= ALWAYS * total[gold]}
    return chosen, p


def _agreements(labels: _Labels, total: Counter[Hashable]) -> tuple[int, list[float]]:
    """Return how often a new value stands for the same gold value again, and the probability of each by chance."""
    places: defaultdict[Hashable, list[_Wrong]] = defaultdict(list)
    for one in labels.wrong:
        if one.predicted not in total:
            places[one.predicted].append(one)
    agreements, chances = 0, []
    for several in places.values():
        if len(several) > 1 and not any(related(one.fault.gold, one.fault.predicted) for one in several):
            gold, number = Counter(one.gold for one in several).most_common(1)[0]
            agreements += number - 1
            chances += [labels.chance(one.fault.path, gold) for one in several[1:]]
    return agreements, chances


def _exchanged(labels: _Labels) -> tuple[Pairs, float]:
    """Return the labels that are nearly always replaced with another label of gold, with their p-value."""
    total = labels.total
    if not 1 < len(total) <= CLOSED:
        return {}, 1.0
    pairs, hits, _ = _recurring(labels)
    chosen = {
        value: gold
        for value, gold in pairs.items()
        if value in total
        and hits[value] >= ALWAYS * total[gold]
        and labels.right[value] <= (1.0 - ALWAYS) * total[value]
    }
    golds = set(chosen.values())
    number, right = sum(total[gold] for gold in golds), sum(hits[value] for value in chosen)
    return chosen, at_least(right, [NOISE] * number) * len(total) ** len(chosen) if chosen else 1.0


def related(gold: Json, predicted: Json) -> bool:
    """Return whether a misspelling, an omission, or a wrong digit may explain the difference between two values.

    >>> related("article", "articel"), related("Louis Barthou", "Barthou"), related(1918, "1919"), related("m", "homme")
    (True, True, True, False)
    """
    left, right = folded(gold), folded(predicted)
    if not any(map(str.isalpha, left + right)):
        return True
    if min(len(left), len(right)) >= MIN_PART and (right in left or (left in right and 2 * len(left) >= len(right))):
        return True
    return 1.0 - _LEVENSHTEIN(left, right) >= RELATED


def _mapping_proposal(sample: Sample, labels: _Labels, pairs: Pairs, p: float, *, exchanged: bool) -> Proposal:
    covered = [one for one in labels.wrong if pairs.get(one.predicted) == one.gold]
    number = Counter(one.predicted for one in covered)
    covered.sort(key=lambda one: -number[one.predicted])
    faults = [one.fault for one in covered]
    kinds = Counter(_kind_of_pair(fault.gold, fault.predicted) for fault in faults)
    if exchanged or not all(isinstance(fault.gold, str) for fault in faults):
        change: Change = _correction(faults)
    else:
        change = _mapping(sample, [_Form(fault, str(fault.gold), str(_TEXT(fault.predicted))) for fault in faults])
    return _proposal(kinds.most_common(1)[0][0], faults, change, p)


def _proposal(
    kind: str, faults: Sequence[SampleFault], change: Change, p: float, side: Side = "prediction"
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
        advice=_ADVICE[kind].format(named),
        detail={"pairs": pairs},
    )


_ADVICE: Final = {
    "value-mapping": "List the allowed values in the prompt; predictions have {}.",
    "abbreviation": "Ask for full texts without initials and abbreviations; predictions have {}.",
    "singular-plural": "List the terms in the prompt, or state whether they are singular; predictions have {}.",
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
    places: defaultdict[int, list[SampleFault]] = defaultdict(list)
    for fault in faults:
        places[fault.document].append(fault)

    def correct(at: int, predicted: Json) -> Json:
        for fault in places[at]:
            predicted = put(predicted, _tokens(predicted, fault.predicted_pointer or ""), fault.gold)
        return predicted

    return Correction(correct, frozenset(places))


def _tokens(value: Any, pointer: str) -> tuple[str | int, ...]:  # noqa: ANN401  (JSON)
    """Return the keys and positions of a pointer into a value."""
    tokens: list[str | int] = []
    for part in map(str, parse(pointer)):
        tokens.append(int(part) if isinstance(value, list) else part)
        value = value[tokens[-1]]
    return tuple(tokens)


# Abbreviations and plurals: rules that relate two texts.


SMALL: Final = re.compile(
    "an?|and|by|d[aeiu]?|das|del(la)?|der|des|die|el?|en|et|for|fur|in|l[ae]?|les|of|the|und|v|von|y"
)
"""Words that an acronym can leave out."""

TAIL: Final = 3
"""Maximum number of characters by which the forms of a word differ at its end."""

TAIL_CHANCE: Final = 0.25
"""Probability that a word that lost or gained its last characters is the plural or the singular."""

MISSPELT_CHANCE: Final = 0.03
"""Probability that a misspelt word is the plural or the singular."""

RULE_CHANCE: Final = 1e-3
"""Least probability that an unrelated text is an abbreviation."""

ENDINGS: Final = (
    ("", "s"),
    ("", "es"),
    ("", "x"),
    ("", "n"),
    ("", "en"),
    ("", "e"),
    ("", "er"),
    ("y", "ies"),
    ("al", "aux"),
    ("ail", "aux"),
    ("f", "ves"),
    ("fe", "ves"),
    ("o", "i"),
    ("a", "e"),
    ("e", "i"),
    ("um", "a"),
    ("us", "i"),
    ("is", "es"),
    ("on", "a"),
    ("man", "men"),
    ("ão", "ões"),
    ("m", "ns"),
    ("z", "ces"),
)
"""Endings of the singular and the plural in English, French, German, Italian, Spanish, Portuguese and Latin."""


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case and without accents, with the point that ends them.

    >>> plain_words("J.-P. Élie, prof. ém.")
    ['j.', 'p.', 'elie', 'prof.', 'em.']
    """
    letters = unicodedata.normalize("NFKD", text)
    return re.findall(r"\w+\.?", "".join(sign for sign in letters if not unicodedata.combining(sign)).casefold())


def is_abbreviation(short: str, full: str) -> bool:
    """Return whether a text abbreviates words of another text, or consists of their initials.

    >>> is_abbreviation("L. Barthou", "Louis Barthou"), is_abbreviation("Barthou L", "Barthou Louis")
    (True, True)
    >>> is_abbreviation("prof.", "professeur"), is_abbreviation("Mme Curie", "Madame Curie")
    (True, True)
    >>> is_abbreviation("ONU", "Organisation des Nations unies"), is_abbreviation("prof", "professeur")
    (True, False)
    """
    words = plain_words(short), plain_words(full)
    if len(short) >= len(full) or not all(words):
        return False
    return _is_acronym(short, words[1]) or _shortens(*words)


def _is_acronym(short: str, words: Sequence[str]) -> bool:
    letters = short.replace(".", "").replace(" ", "")
    if not (letters.isupper() and letters.isalpha() and len(letters) > 1):
        return False
    letters = unicodedata.normalize("NFKD", letters).casefold()
    large = [word for word in words if not SMALL.fullmatch(word.rstrip("."))]
    return any(len(several) > 1 and letters == "".join(word[0] for word in several) for several in (words, large))


def _shortens(short: Sequence[str], full: Sequence[str]) -> bool:
    """Return whether each word is the same or abbreviated, and at least one is abbreviated."""
    if len(short) != len(full):
        return False
    different = [(a, b) for a, b in zip(short, full, strict=True) if a.rstrip(".") != b.rstrip(".")]
    same = sum(len(word.rstrip(".")) > 1 for word, other in zip(short, full, strict=True) if word == other)
    return bool(different) and all(_shortened(a, b, alone=not same) for a, b in different)


def _shortened(short: str, full: str, *, alone: bool) -> bool:
    """Return whether a word is an abbreviation of another; `alone` if no word beside it is the same."""
    letters, rest = short.rstrip("."), full.rstrip(".")
    if len(letters) >= len(rest) or letters[0] != rest[0]:
        return False
    if len(letters) == 1:
        return not alone
    if short.endswith("."):
        return rest.startswith(letters) or _is_contraction(letters, rest)
    return not alone and len(letters) <= TAIL and _is_contraction(letters, rest)


def _is_contraction(short: str, full: str) -> bool:
    """Return whether a word has the first and the last letter of another, and between them letters in their order."""
    signs = iter(full)
    return short[-1] == full[-1] and all(sign in signs for sign in short)


def is_plural(singular: str, plural: str) -> bool:
    """Return whether a text is another in the plural: words differ in the endings of singular and plural only.

    >>> is_plural("ligne aérienne", "lignes aériennes"), is_plural("city", "cities"), is_plural("cat", "cart")
    (True, True, False)
    """
    words = plain_words(singular), plain_words(plural)
    if len(words[0]) != len(words[1]):
        return False
    different = [(a, b) for a, b in zip(*words, strict=True) if a != b]
    return bool(different) and all(any(_ends(a, b, *pair) for pair in ENDINGS) for a, b in different)


def _ends(singular: str, plural: str, one: str, many: str) -> bool:
    stem = singular.removesuffix(one)
    return singular.endswith(one) and plural == stem + many and len(stem) >= MIN_PART - 1


def _differs_in_tails(left: str, right: str) -> bool:
    """Return whether words of two texts differ in their last characters only."""
    words = plain_words(left), plain_words(right)
    if len(words[0]) != len(words[1]):
        return False
    for a, b in zip(*words, strict=True):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
        if a != b and (same < MIN_PART - 1 or max(len(a), len(b)) - same > TAIL):
            return False
    return words[0] != words[1]


def _kind_of_pair(gold: Json, predicted: Json) -> str:
    """Return the kind of a mapping."""
    if isinstance(gold, str) and isinstance(predicted, str):
        if is_abbreviation(predicted, gold) or is_abbreviation(gold, predicted):
            return "abbreviation"
        if is_plural(predicted, gold) or is_plural(gold, predicted):
            return "singular-plural"
    return "value-mapping"


def related_forms(sample: Sample) -> Iterator[Proposal]:
    """Yield abbreviations, and terms in the plural instead of the singular, or the reverse."""
    texts = {
        path: both
        for path, faults in sample.faults_by_path.items()
        if (both := [fault for fault in faults if isinstance(fault.gold, str) and isinstance(fault.predicted, str)])
    }
    for kind, is_form, chance_of in (
        ("abbreviation", is_abbreviation, _abbreviation_chance),
        ("singular-plural", is_plural, _plural_chance),
    ):
        found: list[_Form] = []
        chances: list[float] = []
        for path, faults in texts.items():
            here = [form for fault in faults for form in _forms(fault, is_form)]
            gold = Counter(str(leaf.gold) for leaf in sample.leaves.get(path, ()) if isinstance(leaf.gold, str))
            own = chance_of(gold, faults) if here else []
            if len(here) > sum(own):
                found += here
                chances += own
        if found:
            p = at_least(len(found), chances)
            yield from _form_proposal(sample, kind, found, p)


class _Form(NamedTuple):
    """A fault between two forms of a text: `variant` is abbreviated or in the plural."""

    fault: SampleFault
    name: str
    variant: str


def _forms(fault: SampleFault, is_form: Callable[[str, str], bool]) -> Iterator[_Form]:
    gold, predicted = str(fault.gold), str(fault.predicted)
    if folded(gold) == folded(predicted):
        return
    for name, variant in ((gold, predicted), (predicted, gold)):
        pair = (variant, name) if is_form is is_abbreviation else (name, variant)
        if is_form(*pair):
            yield _Form(fault, name, variant)
            return


def _abbreviation_chance(gold: Counter[str], faults: Sequence[SampleFault]) -> list[float]:
    """Return the probability that each prediction is an abbreviation of a random gold value, or the reverse."""
    by_initials: defaultdict[str, list[str]] = defaultdict(list)
    for text in gold:
        for initials in _initials(text):
            by_initials[initials].append(text)
    known: dict[str, float] = {}
    for text in {str(fault.predicted) for fault in faults}:
        similar = {other for initials in _initials(text) for other in by_initials[initials]}
        number = sum(gold[other] for other in similar if is_abbreviation(text, other) or is_abbreviation(other, text))
        share = number / max(1, gold.total() - gold[text])
        known[text] = max(RULE_CHANCE, with_odds(share) if text in gold else share)
    return [known[str(fault.predicted)] for fault in faults]


def _initials(text: str) -> set[str]:
    """Return the initials of a text, without small words as well, and an acronym itself."""
    words = plain_words(text)
    large = [word for word in words if not SMALL.fullmatch(word.rstrip("."))]
    return {"".join(word[0] for word in several) for several in (words, large)} | {folded(text)[: len(text)]}


def _plural_chance(gold: Counter[str], faults: Sequence[SampleFault]) -> list[float]:
    """Return the probability that the prediction of each fault is the plural or the singular of gold by chance."""
    chances = []
    for fault in faults:
        left, right = str(fault.gold), str(fault.predicted)
        if others := gold.total() - gold[right] if right in gold else 0:
            forms = (text for text in gold if is_plural(text, right) or is_plural(right, text))
            chances.append(max(RULE_CHANCE, with_odds(sum(gold[text] for text in forms) / others)))
        elif _differs_in_tails(left, right):
            chances.append(TAIL_CHANCE)
        else:
            chances.append(MISSPELT_CHANCE if related(left, right) else RULE_CHANCE)
    return chances


def _form_proposal(sample: Sample, kind: str, found: Sequence[_Form], p: float) -> Iterator[Proposal]:
    """Yield the proposal to map the forms. A variant of several names is not mapped."""
    names: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for form in found:
        names[form.fault.path, form.variant].add(form.name)
    clear = [form for form in found if len(names[form.fault.path, form.variant]) == 1]
    if clear:
        in_gold = sum(form.variant == form.fault.gold for form in clear)
        side: Side = "gold" if 0 < in_gold < len(clear) else "prediction"
        yield _proposal(kind, [form.fault for form in clear], _mapping(sample, clear), p, side)


DETECTORS: Final[tuple[Detector, ...]] = (related_forms, value_mappings)
"""The detectors of this module."""
