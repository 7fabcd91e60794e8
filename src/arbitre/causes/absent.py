"""Causes in values that stand for an absent value: placeholders, such as "", "n/a" and [], and constants, such as 0."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import OverlayChange, site_at, with_absent
from arbitre.causes.proposal import Proposal, enumerated
from arbitre.causes.sample import correction_of, excess_p, share_p, single_value, with_odds
from arbitre.errors import shown
from arbitre.paths import parse, value_at
from arbitre.paths import pointer as pointer_to
from arbitre.values import ABSENT, Json, canonical, is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.schema.plan import Plan

NOTHING_CHANCE: Final = 0.01
"""Least probability that a random value of a path means nothing."""

MAX_SEPARATE: Final = 2
"""Maximum number of paths that get settings of their own."""

MIN_DEFAULT: Final = 0.5
"""Minimum share of the spurious values of a path that must be the same value."""

DEFAULT_CHANCE: Final = 0.1
"""Minimum assumed probability that a spurious value of a path equals a given value by chance."""


def nothing_in(value: Json) -> tuple[Json, ...] | None:
    """Return the values that must count as absent so that a value is absent; None if it contains anything else.

    >>> nothing_in(" "), nothing_in(["null"]), nothing_in({"a": "n/a", "b": []}), nothing_in("Rome")
    ((' ',), ('null', []), ('n/a', [], {}), None)
    """
    if value is None:
        return (None,)
    if isinstance(value, str):
        return (value,) if is_placeholder(value) else None
    if not isinstance(value, (list, dict)):
        return None
    inner: list[Json] = []
    for part in value if isinstance(value, list) else value.values():
        found = nothing_in(part)
        if found is None:
            return None
        inner += [one for one in found if one not in inner and one is not None]
    own: Json = [] if isinstance(value, list) else {}
    return (*inner, *([] if own in inner else [own]))


class _Nothing(NamedTuple):
    """A fault where one side has a value that means nothing, and the other side has nothing.

    Attributes:
        fault: The fault.
        values: The values that must count as absent.
    """

    fault: SampleFault
    values: tuple[Json, ...]


def absent_values(sample: Sample) -> Iterator[Proposal]:
    """Yield values that mean nothing, such as "" or "n/a": those that are empty, and those in words."""
    for words in (False, True):
        found: list[_Nothing] = []
        chances: list[float] = []
        for path, faults in sample.faults_by_path.items():
            several = (_nothing_at(sample, fault) for fault in faults if path)
            here = [one for one in several if one is not None and words == any(map(_in_words, one.values))]
            share = _nothing_share(sample, path) if here else 0.0
            own = [share if ABSENT in (fault.gold, fault.predicted) else share**2 for fault in faults]
            if len(here) > sum(own):
                found += here
                chances += own
        if found:
            yield _absent_proposal(sample, found, excess_p(len(found), chances))


def _nothing_at(sample: Sample, fault: SampleFault) -> _Nothing | None:
    """Return the fault if neither side has a value that means anything; None otherwise."""
    pair = sample.pairs[fault.document]
    values: list[Json] = []
    for document, pointer, value in (
        (pair.gold, fault.gold_pointer, fault.gold),
        (pair.predicted, fault.predicted_pointer, fault.predicted),
    ):
        if value is ABSENT:
            continue
        found = nothing_in(value)
        if found is None:
            return None
        values += found
        tokens = parse(pointer or "")
        for size in range(1, len(tokens)):  # objects and lists around it that contain nothing else
            values += nothing_in(value_at(document, pointer_to(tokens[:size]))) or ()
    distinct = tuple(one for at, one in enumerate(values) if one not in values[:at])
    return _Nothing(fault, distinct) if distinct else None


def _in_words(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _nothing_share(sample: Sample, path: str) -> float:
    """Return how probable it is that a value means nothing, from the correct values, where it is one like others."""
    right = [leaf.gold for leaf in sample.leaves.get(path, ()) if leaf.quality >= 1.0]
    nothing = sum(nothing_in(value) is not None for value in right)
    return max(NOTHING_CHANCE, with_odds(nothing / len(right)) if right else 0.0)


def _absent_proposal(sample: Sample, found: Sequence[_Nothing], p: float) -> Proposal:
    counts = Counter(canonical(value) for one in found for value in one.values)
    distinct = {canonical(value): value for one in found for value in one.values}
    values = sorted(distinct.values(), key=lambda value: -counts[canonical(value)])
    in_gold = sum(one.fault.gold is not ABSENT for one in found)
    holder, other = "Predictions have", "gold has"
    if 2 * in_gold > len(found):
        holder, other = "Gold has", "predictions have"
    pronoun = "it" if len(values) == 1 else "them"
    return Proposal(
        "absent-value",
        "gold" if 0 < in_gold < len(found) else "schema",
        tuple(dict.fromkeys(one.fault.path for one in found)),
        tuple(one.fault.number for one in found),
        OverlayChange(_absent_overlay(sample, found, values)),
        p,
        advice=f"Declare {enumerated(map(shown, values))} as absent, or ask to omit fields without a value: {holder} "
        f"{pronoun} where {other} nothing.".replace(": P", ": p").replace(": G", ": g"),
    )


def _absent_overlay(sample: Sample, found: Sequence[_Nothing], values: Sequence[Json]) -> Mapping[str, Json]:
    """Return the settings: of the paths themselves, or of what contains many of them."""
    plan = sample.plan
    own: defaultdict[str, list[Json]] = defaultdict(list)
    for one in found:
        mine = own[_declared(plan, one.fault.path.removesuffix("/*"))]
        mine += [value for value in one.values if value not in mine]
    common = _declared(plan, _common(list(own)))
    in_use = (
        path for path, leaves in sample.leaves.items() if any(nothing_in(leaf.gold) and leaf.quality for leaf in leaves)
    )
    if len(own) <= MAX_SEPARATE or any(f"{path}/".startswith(f"{common}/") for path in in_use):
        return {path: with_absent(plan, path, mine) for path, mine in own.items()}
    inherited = with_absent(plan, common, ())
    overridden = [path for path in own if with_absent(plan, path, ()) != inherited]
    return {path: with_absent(plan, path, values) for path in dict.fromkeys((common, *overridden))}


def _declared(plan: Plan, path: str) -> str:
    """Return a path, or that of the nearest object or list around it that the schema declares."""
    while path and site_at(plan, path) is None:
        path = path.rpartition("/")[0]
    return path


def _common(paths: Sequence[str]) -> str:
    """Return the path of what contains several paths.

    >>> _common(["/a/*/b", "/a/*/c/d"]), _common(["/a", "/b"])
    ('/a/*', '')
    """
    parts = [path.split("/") for path in paths]
    same = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, zip(*parts, strict=False)))
    return "/".join(parts[0][:same])


# Constants that stand for an absent value.


def default_values(sample: Sample) -> Iterator[Proposal]:
    """Propose to remove the value, such as 0, that most spurious values of a path equal.

    No overlay repairs such faults, because only texts, null, and empty lists and objects can be declared as absent. The
    test counts a value once per document, even if several runs have it.
    """
    for path, faults in sample.faults_by_path.items():
        spurious = [fault for fault in faults if _is_spurious(fault)] if not path.endswith("/*") else []
        places = {
            (sample.pairs[one.document].id, one.predicted_pointer, canonical(one.predicted)): one for one in spurious
        }
        counts = Counter(value for *_, value in places)
        value, number = counts.most_common(1)[0] if counts else (None, 0)
        if number < max(1.0, MIN_DEFAULT * len(places)):
            continue
        leaves = [
            leaf
            for leaf in sample.leaves.get(path, ())
            if single_value(leaf.gold) is not ABSENT is not single_value(leaf.predicted)
        ]
        gold = Counter(canonical(leaf.gold) for leaf in leaves)
        wrong = Counter(canonical(leaf.predicted) for leaf in leaves if leaf.quality < 1.0)
        share = max(count[value] / max(1, count.total()) for count in (gold, wrong))
        found = [fault for fault in spurious if canonical(fault.predicted) == value]
        name = shown(found[0].predicted)
        yield Proposal(
            "default-value",
            "prediction",
            (path,),
            tuple(fault.number for fault in found),
            correction_of((fault, fault.gold) for fault in found),
            min(1.0, len(counts) * share_p(number, [max(DEFAULT_CHANCE, with_odds(share))] * len(places))),
            advice=f"Ask to omit {path} if it has no value: predictions have {name} where gold has nothing.",
            detail={"value": found[0].predicted},
        )


def _is_spurious(fault: SampleFault) -> bool:
    """Return whether gold has no value, and the prediction has a single value that is not a placeholder."""
    has_value = single_value(fault.predicted) is not ABSENT and nothing_in(fault.predicted) is None
    return has_value and (fault.gold is ABSENT or fault.gold is None)


DETECTORS: Final[tuple[Detector, ...]] = (absent_values, default_values)
"""The detectors of this module."""
