"""Causes in the types of values: lists for single values, values for lists, and lists that are written as one text."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import project_advice, with_projected
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import correction_of, nearly_equal, repeat_chance, share_p
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.paths import STAR, parse, value_at
from arbitre.values import ABSENT, Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.values import Json


# Values of another type: lists for values, values for lists, and lists that are written as one text.


class TypeChange(NamedTuple):
    """A value of a wrong type, and how it is corrected.

    Attributes:
        fault: The fault.
        value: The corrected value.
        agrees: Whether the corrected value agrees with gold.
        chance: Probability that it agrees by chance.
    """

    fault: SampleFault
    value: Json
    agrees: bool
    chance: float


def wrong_types(sample: Sample) -> Iterator[Proposal]:
    """Propose to correct lists that should be values, values that should be lists, and lists written as one text."""
    for path, faults in sample.faults_by_path.items():
        wrong = [fault for fault in faults if fault.fault == "wrong type" and path]
        listed = [fault for fault in wrong if _is_list(fault.predicted) and _is_value(fault.gold)]
        single = [fault for fault in wrong if _is_list(fault.gold) and _is_value(fault.predicted)]
        for several in (
            (_joined(sample, listed), _lists_for_values(sample, listed)),
            (_split(single), _values_for_lists(sample, single)),
        ):
            likely = [found for found in several if found is not None and found[1].p <= MAX_P]
            if likely:
                yield max(likely, key=lambda found: found[0])[1]


MAX_P: Final = 0.01
"""Maximum p-value of a change of type, if there are several for the same values."""


def _is_list(value: Json) -> bool:
    return isinstance(value, list) and len(value) > 0


def _is_value(value: Json) -> bool:
    return value is not ABSENT and value is not None and not isinstance(value, list)


def _type_proposal(kind: str, changes: Sequence[TypeChange], tried: int, advice: str) -> tuple[int, Proposal] | None:
    """Return the number of values that agree after changes of type at one path, and the proposal; None without any."""
    explained = [change for change in changes if change.value is not ABSENT]
    agreeing = sum(change.agrees for change in explained)
    if not agreeing:
        return None
    p = min(1.0, tried * share_p(agreeing, [change.chance for change in changes]))
    explained.sort(key=lambda change: (not change.agrees, change.fault.number))
    numbers = tuple(change.fault.number for change in explained)
    path, change = explained[0].fault.path, correction_of((one.fault, one.value) for one in explained)
    return agreeing, Proposal(kind, "prediction", (path,), numbers, change, p, advice=advice)


def _or_project(sample: Sample, fault: SampleFault, corrected: Callable[[str], str]) -> str:
    """Return the end of an advice: how to correct predictions with a JMESPath expression, if one can do it."""
    pair, tokens = sample.pairs[fault.document], parse(fault.path)
    steps = (fault.predicted_pointer or "").split("/")
    stars = [at for at, token in enumerate(tokens, 1) if token is STAR]
    if len(steps) - 1 != len(tokens) or any(
        not isinstance(value_at(pair.predicted, "/".join(steps[:at])), list) for at in stars
    ):
        return "."
    return f"; or {project_advice(with_projected(tokens, corrected))}"


def _lists_for_values(sample: Sample, faults: Sequence[SampleFault]) -> tuple[int, Proposal] | None:
    """Propose to replace lists with their first item."""
    firsts = Counter(canonical(fault.predicted[0]) for fault in faults)
    changes = []
    for fault in faults:
        first = fault.predicted[0]
        agrees = _alike(first, fault.gold)
        fits = agrees or (len(fault.predicted) == 1 and kind_of(first) == kind_of(fault.gold))
        changes.append(TypeChange(fault, first if fits else ABSENT, agrees, _content_chance(firsts, first)))
    if not faults:
        return None
    several = any(len(change.fault.predicted) > 1 for change in changes if change.value is not ABSENT)
    wanted = "only the first value" if several else "one value"
    project = _or_project(sample, faults[0], lambda old: f"to_array({old})[0]")
    return _type_proposal("list-or-value", changes, 2, f"Ask for {wanted} at {faults[0].path}, not a list{project}")


def _values_for_lists(sample: Sample, faults: Sequence[SampleFault]) -> tuple[int, Proposal] | None:
    """Propose to replace values with lists.

    If the value is the first item in gold, the other items are missing only because a single value has no place for
    them, and the correction adds them.
    """
    values = Counter(canonical(fault.predicted) for fault in faults)
    changes = []
    for fault in faults:
        agrees = _alike(fault.predicted, fault.gold[0])
        fits = agrees or kind_of(fault.predicted) == kind_of(fault.gold[0])
        value = [fault.predicted, *(fault.gold[1:] if agrees else ())] if fits else ABSENT
        changes.append(TypeChange(fault, value, agrees, _content_chance(values, fault.predicted)))
    if not faults:
        return None
    project = _or_project(sample, faults[0], lambda old: f"{old} && to_array({old})")
    advice = f"Ask for a list at {faults[0].path}, even if there is only one value{project}"
    return _type_proposal("list-or-value", changes, 2, advice)


def _alike(first: Json, second: Json) -> bool:
    """Return whether two values are the same, or two objects have at least as many equal fields as other ones."""
    if isinstance(first, dict) and isinstance(second, dict):
        equal = sum(key in second and canonical(value) == canonical(second[key]) for key, value in first.items())
        return equal > 0 and 2 * equal >= len(first.keys() | second.keys())
    return kind_of(first) == kind_of(second) and nearly_equal(first, second)


def _content_chance(values: Counter[Hashable], value: Json) -> float:
    if not isinstance(value, dict):
        return repeat_chance(values, value)
    return min((base_chance(part) for part in value.values() if not isinstance(part, (dict, list))), default=1.0)


JSON_TEXT: Final = "JSON"
"""Name of the separator of a list that is written as JSON."""

RANGES: Final = "ranges"
"""Pseudo-separator for lists of integers that are written with ranges, such as "12-15, 18"."""

SEPARATORS: Final = (
    *(JSON_TEXT, "; ", ", ", " and ", " et ", " und ", " & ", " / ", "/", " | ", "|", "\n", ";", ",", RANGES),
    *(" - ", "-", "–", " "),
)
"""Separators of the items of a list that is written as one text, in order of preference."""

MAX_RANGE: Final = 1000
"""Maximum difference between the last and the first integer of a range."""

_RANGE: Final = re.compile(r"(\d{1,9})\s*[-–]\s*(\d{1,9})")


def _parts(text: str, separator: str) -> list[str]:
    """Return the items of a list that is written as one text."""
    if separator == JSON_TEXT:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return [text]
        return [_text(part) for part in found] if isinstance(found, list) and found else [text]
    if separator == RANGES:
        return [number for part in re.split("[,;]", text) for number in _in_range(part.strip())]
    return [part.strip() for part in text.split(separator) if part.strip()] or [text]


def _in_range(text: str) -> list[str]:
    """Return the integers of a range as texts; a text that is not a range is the only item.

    >>> _in_range("394-397"), _in_range("12-5")
    (['394', '395', '396', '397'], ['12-5'])
    """
    if found := _RANGE.fullmatch(text):
        first, last = map(int, found.groups())
        if first < last <= first + MAX_RANGE:
            return list(map(str, range(first, last + 1)))
    return [text]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shared(first: Iterable[str], second: Iterable[str]) -> tuple[int, int]:
    """Return the number of common items of two lists of texts, and the number of items of the longer one."""
    one, other = Counter(first), Counter(second)
    return (one & other).total(), max(one.total(), other.total())


def _best_separator(
    pairs: Sequence[tuple[Sequence[str], str]], separators: Sequence[str] = SEPARATORS
) -> tuple[str, int]:
    """Return the separator with which most texts are the lists beside them, and the number of these texts."""
    hits = {
        separator: sum(_is_split(items, _parts(text, separator), separator) for items, text in pairs)
        for separator in separators
    }
    best = max(separators, key=hits.__getitem__)
    return best, hits[best]


def _is_split(items: Sequence[str], parts: Sequence[str], separator: str) -> bool:
    """Return whether a text has several parts, and at least half of them (for ranges, all) are items of the list."""
    common, size = _shared(items, parts)
    return len(parts) > 1 and (common == len(parts) if separator == RANGES else 2 * common >= size)


def _item_chance(counts: Counter[Hashable], items: Sequence[str], parts: int) -> float:
    """Return the probability that a part of a text is one of the items by chance."""
    return min(1.0, parts * max(repeat_chance(counts, item) for item in items))


def _split(faults: Sequence[SampleFault]) -> tuple[int, Proposal] | None:
    """Propose to split texts that should be lists."""
    texts = [(list(map(_text, fault.gold)), fault) for fault in faults if isinstance(fault.predicted, str)]
    separator, hits = _best_separator([(items, fault.predicted) for items, fault in texts])
    if not hits:
        return None
    counts: Counter[Hashable] = Counter(item for items, _ in texts for item in items)
    changes = []
    for items, fault in texts:
        parts = _parts(fault.predicted, separator)
        value = json.loads(fault.predicted) if separator == JSON_TEXT and parts != [fault.predicted] else parts
        agrees = _is_split(items, parts, separator) or items == parts
        chance = _item_chance(counts, items, len(parts))
        changes.append(TypeChange(fault, _converted(value, fault.gold), agrees, chance))
    how = f"as one text, separated by {json.dumps(separator)}"
    if separator in {JSON_TEXT, RANGES}:
        how = "as JSON in a text" if separator == JSON_TEXT else "as one text with ranges, such as 12-15"
    advice = f"Ask for a list at {faults[0].path}: predictions write it {how}."
    return _type_proposal("serialised-list", changes, len(SEPARATORS), advice)


def _converted(parts: Sequence[Json], gold: Sequence[Json]) -> list[Json]:
    """Return the parts of a text, as numbers if all items of gold are numbers."""
    if not all(kind_of(item) is Kind.NUMBER for item in gold):
        return list(parts)
    return [json.loads(part) if isinstance(part, str) and _NUMBER.fullmatch(part) else part for part in parts]


_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})([.][0-9]{1,17})?")


def _joined(sample: Sample, faults: Sequence[SampleFault]) -> tuple[int, Proposal] | None:
    """Propose to join lists that should be one text."""
    lists = [
        (list(map(_text, fault.predicted)), fault)
        for fault in faults
        if isinstance(fault.gold, str) and not any(isinstance(part, (list, dict)) for part in fault.predicted)
    ]
    separators = [separator for separator in SEPARATORS if separator != RANGES]
    separator, hits = _best_separator([(items, fault.gold) for items, fault in lists], separators)
    if not hits:
        return None
    counts: Counter[Hashable] = Counter(item for items, _ in lists for item in items)
    changes = []
    for items, fault in lists:
        text = json.dumps(fault.predicted, ensure_ascii=False) if separator == JSON_TEXT else separator.join(items)
        parts = _parts(fault.gold, separator)
        agrees = _is_split(items, parts, separator) or items == parts
        changes.append(TypeChange(fault, text, agrees, _item_chance(counts, items, len(parts))))
    project = "."
    if separator not in {JSON_TEXT, "\n"}:
        joined = f"join('{separator}', {{0}}[*].to_string(@))"
        project = _or_project(sample, faults[0], lambda old: f"type({old}) == 'array' && {joined.format(old)} || {old}")
    advice = f"Ask for one text at {faults[0].path}, with items separated by {json.dumps(separator)}{project}"
    return _type_proposal("serialised-list", changes, len(SEPARATORS), advice)


DETECTORS: Final[tuple[Detector, ...]] = (wrong_types,)
"""The detectors of this module."""
