"""Causes in wrong values that a fixed rule turns into gold: another unit, swapped day and month, affixes, encoding.

No overlay repairs such values: their notation is correct, or their text is damaged. The correction applies the rule.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.causes.forms import decoded_again, lost_characters
from arbitre.causes.notations import COMPARED, TYPO, declared_sites, normalizers_at
from arbitre.causes.proposal import Proposal, enumerated
from arbitre.causes.same_value import NUMERAL, Reader, unit_of
from arbitre.causes.sample import correction_of, excess_p, nearly_equal, share_p
from arbitre.errors import shown
from arbitre.parsing.markup import without_markup
from arbitre.parsing.numerals import read_amount
from arbitre.paths import value_at
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.cause import Side
    from arbitre.values import Json

SAME_FACTOR: Final = 1e-3
"""Maximum relative difference of two factors that are the same."""

NO_FACTOR: Final = 0.05
"""Maximum relative difference from 1 of a factor that no unit explains."""

HUGE: Final = 1e100
"""Numbers of this size, and the reciprocals of such numbers, have no factor."""

MAX_COMPARED: Final = 300
"""Maximum number of values on each side for the chance of a factor."""

DIGITS: Final = 14
"""Number of significant digits that are kept when a number is divided by a factor; the others are rounding errors."""

DATE: Final = re.compile(r"(?P<first>\d{1,4})(?P<mark>[-/. ])(?P<second>\d{1,2})(?P=mark)(?P<last>\d{1,4})")
"""A date in numbers; the year is first or last."""

MONTHS: Final = 12
"""Number of months in a year."""

MAX_AFFIX: Final = 40
"""Maximum number of characters of a prefix and a suffix together."""

MAX_P: Final = 0.01
"""Maximum p-value of an affix."""

MIN_DAMAGED: Final = 0.5
"""Of the texts with signs of a wrong encoding, the minimum share that a wrong encoding must explain."""

DAMAGE_CHANCE: Final = 0.1
"""Assumed probability that such a text equals the other text by chance after it is restored."""


class WrongValue(NamedTuple):
    """A wrong value, with its fault; both values are as they are after the normalisers of the path."""

    fault: SampleFault
    gold: Json
    predicted: Json


class WrongNumber(NamedTuple):
    """A wrong number, with its fault."""

    fault: SampleFault
    gold: float
    predicted: float


def transformed_values(sample: Sample) -> Iterator[Proposal]:
    """Yield a proposal for each rule that turns many wrong values of a path into gold."""
    for path, values in _wrong_values(sample):
        yield from _factor(path, values)
        yield from _swapped_days(path, values)
        yield from _with_affixes(path, [one for one in values if not _with_other_field(sample, one)], added=True)
        yield from _with_affixes(path, values, added=False)


def _factor(path: str, values: Sequence[WrongValue]) -> Iterator[Proposal]:
    """Yield a proposal if many predicted numbers are gold times the same factor."""
    pairs = [WrongNumber(one.fault, *sides) for one in values if (sides := _numbers(one)) is not None]
    if not pairs or (found := _common_factor(pairs)) is None:
        return
    factor, same, p = found
    corrected: list[tuple[SampleFault, Json]] = []
    for pair in same:
        number = float(f"{pair.predicted / factor:.{DIGITS}g}")
        exact = isinstance(pair.gold, int) and number == round(number)
        corrected.append((pair.fault, round(number) if exact else number))
    kind = "number-format" if factor == -1 else "units"
    yield _proposal(kind, path, corrected, p, advice=_factor_advice(factor), detail={"factor": factor})


def _swapped_days(path: str, values: Sequence[WrongValue]) -> Iterator[Proposal]:
    """Yield a proposal if many predicted dates have the day and the month of gold swapped."""
    dates = [one for one in values if isinstance(one.gold, str) and DATE.fullmatch(one.gold)]
    same = [one for one in dates if one.gold == _swapped(one.predicted)]
    if not same:
        return
    distinct, compared = (len({(one.gold, one.predicted) for one in several}) for several in (same, dates))
    asked, written = same[0].gold, same[0].predicted
    advice = f'State the order of day and month in the prompt: predictions have "{written}" for "{asked}".'
    corrected = [(one.fault, one.gold) for one in same]
    yield _proposal("day-month-swapped", path, corrected, excess_p(distinct, [compared * TYPO]), advice=advice)


class Affix(NamedTuple):
    """Prefix and suffix that surround a value."""

    prefix: str
    suffix: str

    def add_to(self, value: str) -> str:
        """Return a value with this prefix and suffix.

        >>> Affix("the ", " (1)").add_to("Nana")
        'the Nana (1)'
        """
        return f"{self.prefix}{value}{self.suffix}"

    def remove_from(self, text: str) -> str | None:
        """Return a text without this prefix and suffix; None if it does not have them.

        >>> Affix("M. ", "").remove_from("M. Briand"), Affix("M. ", "").remove_from("Briand")
        ('Briand', None)
        """
        if len(text) <= len(self.add_to("")) or not (text.startswith(self.prefix) and text.endswith(self.suffix)):
            return None
        return text[len(self.prefix) : len(text) - len(self.suffix)]


def affix_of(value: str, text: str) -> Affix | None:
    """Return the prefix and suffix that a text adds to a value; None if it does not contain the value as whole words.

    Also None if the text adds only punctuation or markup, which makes it another notation of the value, or if the value
    has no letters, in which case added words may be a unit.

    >>> affix_of("Briand", "M. Briand"), affix_of("Briand", "Briand¹")
    (Affix(prefix='M. ', suffix=''), Affix(prefix='', suffix='¹'))
    >>> affix_of("acte", "actes"), affix_of("Briand", "Briand."), affix_of("12", "12 fr.")
    (None, None, None)
    >>> affix_of("Nana", "<i>Nana</i>")
    """
    if not any(map(str.isalpha, value)) or not 0 < len(text) - len(value) <= MAX_AFFIX:
        return None
    at = len(text) - len(value) if text.endswith(value) else text.find(value)
    found = Affix(text[: max(0, at)], text[at + len(value) :])
    pairs = (found.prefix[-1:], value[0]), (value[-1], found.suffix[:1])
    splits_a_word = any(all(sign.isalpha() or sign.isdecimal() for sign in pair) for pair in pairs)
    added = without_markup(found.add_to("…"))
    return None if at < 0 or splits_a_word or not any(map(str.isalnum, added)) else found


def _with_other_field(sample: Sample, value: WrongValue) -> bool:
    """Return whether a predicted text is gold preceded or followed by the value of another field of the gold object."""
    if not isinstance(value.gold, str) or not isinstance(value.predicted, str):
        return False
    affix = affix_of(value.gold, value.predicted)
    pointer = value.fault.gold_pointer
    if affix is None or not pointer:
        return False
    item = value_at(sample.pairs[value.fault.document].gold, pointer.rpartition("/")[0])
    return isinstance(item, dict) and affix.add_to("").strip() in item.values()


def _with_affixes(path: str, values: Sequence[WrongValue], *, added: bool) -> Iterator[Proposal]:
    """Yield a proposal if many texts equal the other text plus the same prefix or suffix.

    The predicted texts have the addition if `added` is true, else the gold texts.
    """
    sides = [
        (one.fault, *((one.gold, one.predicted) if added else (one.predicted, one.gold)))
        for one in values
        if isinstance(one.gold, str) and isinstance(one.predicted, str)
    ]
    texts = {(short, long) for _, short, long in sides}
    counts = Counter(affix for pair in texts if (affix := affix_of(*pair)) is not None)
    chances = {affix: len(counts) * excess_p(number, [len(texts) * TYPO]) for affix, number in counts.items()}
    common = [affix for affix, _ in counts.most_common() if chances[affix] <= MAX_P]
    corrected: dict[SampleFault, str] = {}
    for fault, short, long in sides:
        for affix in common:
            value = affix.remove_from(long)
            if value is not None and affix.remove_from(short) is None and nearly_equal(value, short):
                corrected.setdefault(fault, value if added else affix.add_to(short))
    if corrected:
        named = enumerated(shown(affix.add_to("…")) for affix in common)
        advice = f"Ask for the full value of {path}: gold has additional text, as in {named}."
        if added:
            advice = f"Ask for the value of {path} alone: predictions add text to it, as in {named}."
        p, detail = min(1.0, max(chances[affix] for affix in common)), {"affixes": [list(affix) for affix in common]}
        yield _proposal("affix", path, list(corrected.items()), p, advice=advice, detail=detail)


def encodings(sample: Sample) -> Iterator[Proposal]:
    """Propose, for each side, to restore the texts at all paths that were damaged by a wrong encoding."""
    side: Side
    for side in ("prediction", "gold"):
        restored: list[tuple[SampleFault, str]] = []
        suspect = 0
        for fault in sample.faults:
            gold, predicted = fault.gold, fault.predicted
            if isinstance(gold, str) and isinstance(predicted, str) and fault.fault in COMPARED:
                damaged, text = (predicted, gold) if side == "prediction" else (gold, predicted)
                again, lost = decoded_again(damaged), lost_characters(damaged, text)
                if again != damaged and nearly_equal(again, text):
                    restored.append((fault, again if side == "prediction" else gold))
                elif lost:
                    restored.append((fault, gold))
                suspect += again != damaged or lost is not None
        if restored and len(restored) >= MIN_DAMAGED * suspect:
            faults = [fault for fault, _ in restored]
            example = min(faults, key=lambda fault: len(str(fault.gold)))
            gold, predicted = shown(example.gold), shown(example.predicted)
            have = (
                f"predictions have {predicted} for {gold}"
                if side == "prediction"
                else f"gold has {gold} for {predicted}"
            )
            yield Proposal(
                "encoding",
                side,
                tuple(dict.fromkeys(fault.path for fault in faults)),
                tuple(fault.number for fault in faults),
                correction_of(restored),
                share_p(len(restored), [DAMAGE_CHANCE] * suspect),
                advice=f"Read and write all texts as UTF-8; {have}.",
            )


def _proposal(
    kind: str,
    path: str,
    corrected: Sequence[tuple[SampleFault, Json]],
    p: float,
    *,
    advice: str,
    detail: Mapping[str, Json] | None = None,
) -> Proposal:
    """Return the proposal to replace the predicted values of faults with corrected ones."""
    numbers, change = tuple(fault.number for fault, _ in corrected), correction_of(corrected)
    return Proposal(kind, "prediction", (path,), numbers, change, p, advice=advice, detail=detail or {})


def _wrong_values(sample: Sample) -> Iterator[tuple[str, Sequence[WrongValue]]]:
    """Yield the wrong values of each path."""
    reader, sites = Reader(), declared_sites(sample)
    for path, faults in sample.faults_by_path.items():
        if path not in sites:
            continue
        declared = normalizers_at(sites[path])
        pairs = [one for one in faults if one.fault in COMPARED and one.gold is not ABSENT is not one.predicted]
        sides = [[reader.values[reader.key(declared, side)] for side in (one.gold, one.predicted)] for one in pairs]
        yield path, [WrongValue(one, *both) for one, both in zip(pairs, sides, strict=True)]


def _numbers(value: WrongValue) -> tuple[float, float] | None:
    """Return a wrong number with its gold value; the prediction may be a text with a unit."""
    gold, predicted = value.gold, value.predicted
    if isinstance(predicted, str) and unit_of(predicted) is not None:
        predicted = read_amount(NUMERAL.findall(predicted)[0])
    return (gold, predicted) if _has_factor(gold) and _has_factor(predicted) else None


def _has_factor(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 1 / HUGE < abs(value) < HUGE


def _common_factor(pairs: Sequence[WrongNumber]) -> tuple[float, Sequence[WrongNumber], float] | None:
    """Return the most frequent factor of some numbers, the numbers with this factor, and its p-value."""
    gold, predicted = (np.array([pair[side] for pair in pairs], dtype=np.float64) for side in (1, 2))
    ratios = predicted / gold
    ranked = np.sort(ratios[np.abs(ratios - 1.0) > NO_FACTOR])
    if not ranked.size:
        return None
    width = np.searchsorted(ranked, ranked + SAME_FACTOR * np.abs(ranked), side="right") - np.arange(ranked.size)
    first = int(width.argmax())
    factor = _rounded_factor(float(np.median(ranked[first : first + int(width[first])])))
    same = [pair for pair, ratio in zip(pairs, ratios.tolist(), strict=True) if _is_factor(ratio, factor)]
    distinct = len({pair[1:] for pair in same}), len({pair[1:] for pair in pairs})
    step = -(-len(pairs) // MAX_COMPARED)
    table = predicted[::step, None] / gold[None, ::step]
    agree = np.abs(table / factor - 1.0) <= SAME_FACTOR
    others = max(1, agree.size - len(agree))
    chance = max(TYPO, float(agree.sum() - np.diagonal(agree).sum()) / others)
    return factor, same, min(1.0, excess_p(distinct[0], [distinct[1] * chance]) * ranked.size)


def _is_factor(ratio: float, factor: float) -> bool:
    return abs(ratio / factor - 1.0) <= SAME_FACTOR


def _rounded_factor(factor: float) -> float:
    """Return a factor, or its reciprocal if it is below 1, with four digits."""
    return float(f"{factor:.4g}") if abs(factor) >= 1.0 else 1.0 / float(f"{1.0 / factor:.4g}")


def _factor_advice(factor: float) -> str:
    if factor == -1.0:
        return "Ask for the sign used in gold; wrong predictions often have the opposite sign."
    if abs(factor) > 1.0:
        return f"Ask for the unit used in gold; wrong predictions are often {factor:g} times the gold value."
    return (
        "Ask for the unit used in gold; if a prediction is wrong, "
        f"the gold value is often {1.0 / factor:g} times as large."
    )


def _swapped(value: Json) -> str | None:
    """Return a numeric date with the day and the month swapped; None if this yields no other valid date.

    >>> _swapped("1918-03-11"), _swapped("3/11/1918"), _swapped("1918-03-03"), _swapped("1918-13-14")
    ('1918-11-03', '11/3/1918', None, None)
    """
    if not isinstance(value, str) or (found := DATE.fullmatch(value)) is None:
        return None
    first, mark, second, last = found.group("first", "mark", "second", "last")
    year_first = len(first) > len("31")
    pair = (second, last) if year_first else (first, second)
    if int(pair[0]) == int(pair[1]) or min(map(int, pair)) > MONTHS:
        return None
    return mark.join((first, last, second) if year_first else (second, first, last))


DETECTORS: Final[tuple[Detector, ...]] = (encodings, transformed_values)
"""The detectors of this module."""
