"""The faults of one answer in plain words: for people, and for optimisers that rewrite prompts."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, get_args

from arbitre.comparison.cause import KINDS
from arbitre.errors import OptionError, clipped, did_you_mean, shown
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from arbitre.comparison import Comparison, Fault
    from arbitre.values import Json

FeedbackStyle = Literal["compact", "full"]

WORST: Final = 3
"""Number of faults in a reason and in compact feedback; further ones are counted."""
ROOM: Final = 60
"""Maximum length of a value, in characters."""
BEFORE: Final = 20
"""Number of equal characters before the first difference of two long values that is shown."""

WRONG: Final = "{place} should be {gold}, not {predicted}"
PHRASES: Final = {
    "close": WRONG,
    "wrong": WRONG,
    "wrong type": WRONG + ", which has another type",
    "missing": "{place} is missing: {gold}",
    "spurious": "{found} is spurious: {predicted}",
    "moved": "{gold} belongs at {place}, not at {found}",
    "renamed": "{found} should be named {place}",
    "split": "{place} is split, and {found} is a part of it",
    "merged": "{place} is merged into {found}",
}
"""Descriptions of faults by class."""

HIDDEN: Final = {
    "close": "{found} is close, but not correct: {predicted}",
    "wrong": "{found} is wrong: {predicted}",
    "wrong type": "{found} is wrong and has another type: {predicted}",
    "missing": "a value of {path} is missing",
    "spurious": "{found} is spurious: {predicted}",
    "moved": "{found} is in the wrong place: {predicted}",
    "renamed": "{found} has the wrong name",
    "split": "{found} is only a part of an item",
    "merged": "{found} contains several items",
}
"""The same without values, keys and positions of gold."""

SENTENCES: Final = {
    "score": "Score: {score:.2f}.",
    "failure": "The answer counts as missing: {failure}.",
    "correct": "{correct}",
    "more": "Further faults: {n}.",
    "cause": "{advice}",
}
"""Further sentences of feedback by name."""

HEADINGS: Final = frozenset(("score", "failure", "correct"))
"""Sentences that are not items of a list."""

FIELDS: Final = frozenset(("place", "found", "path", "gold", "predicted", "score", "failure", "correct", "n", "advice"))
"""Names that templates may contain, in braces."""


class Graded(Protocol):
    """An answer with its score, see `arbitre.Grade`."""

    @property
    def score(self) -> float: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def faults(self) -> tuple[Fault, ...]: ...
    @property
    def comparison(self) -> Comparison: ...


def described(fault: Fault, room: int = ROOM) -> str:
    """Return a fault in plain words, with values of at most `room` characters."""
    return PHRASES[fault.fault].format(**_facts(fault, room))


def feedback(
    grade: Graded, style: FeedbackStyle, templates: Mapping[str, str], paths: Collection[str], *, reveal: bool
) -> str:
    """Return feedback on an answer; see `Grade.feedback`.

    Args:
        grade: The grade of the answer.
        style: "compact" or "full".
        templates: Templates by name.
        paths: The wildcard paths that the schema declares.
        reveal: Whether values of gold may be shown.

    Raises:
        OptionError: The style, a template or a name in a template is unknown.
    """
    if style not in get_args(FeedbackStyle):
        raise OptionError.of(f"Expected `style` to be one of {', '.join(get_args(FeedbackStyle))}, got {style!r}")
    texts = {**(PHRASES if reveal else HIDDEN), **SENTENCES, **_checked(templates)}
    named = _sentences(grade, style, paths, reveal=reveal)
    filled = ((name, texts[name].format_map(_Facts(facts))) for name, facts in named)
    lines = ((name, f"{text}." if name in PHRASES else text) for name, text in filled if text)
    return "\n".join(text if name in HEADINGS else f"- {text}" for name, text in lines)


def _sentences(
    grade: Graded, style: FeedbackStyle, paths: Collection[str], *, reveal: bool
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names of the sentences of the feedback, each with the facts that it may name."""
    yield "score", {"score": grade.score}
    if grade.failure is not None:
        yield "failure", {"failure": grade.failure}
        return
    if not grade.faults:
        yield "correct", {"correct": grade.reason}
        return
    faults = grade.faults if style == "full" else grade.faults[:WORST]
    for fault in faults:
        yield fault.fault, _facts(fault) if reveal else _hidden(fault, paths)
    if len(faults) < len(grade.faults):
        yield "more", {"n": len(grade.faults) - len(faults)}
    if style == "full":
        advice = (one.advice if reveal else KINDS[one.kind].advice for one in grade.comparison.causes if one.systematic)
        yield from (("cause", {"advice": text}) for text in dict.fromkeys(advice))


class _Facts(dict[str, Any]):
    """What a template may name; what a sentence does not have is empty."""

    def __missing__(self, key: str) -> str:
        return ""


def _facts(fault: Fault, room: int = ROOM) -> dict[str, str]:
    gold, predicted = shown_pair(fault.gold, fault.predicted, room)
    place, found = fault.gold_pointer or "the document", fault.predicted_pointer or "the document"
    return {"place": place, "found": found, "path": fault.path, "gold": gold, "predicted": predicted}


def _hidden(fault: Fault, paths: Collection[str]) -> dict[str, str]:
    """Return what may be said about a fault without values, keys or positions of gold."""
    _, predicted = shown_pair(ABSENT, fault.predicted, ROOM)
    path = fault.path
    while path and path not in paths:  # an undeclared key may only occur in gold
        path = path.rpartition("/")[0]
    where = path or "the document"
    found = fault.predicted_pointer or where
    return {"place": where, "found": found, "path": where, "gold": "(hidden)", "predicted": predicted}


def _checked(templates: Mapping[str, str]) -> Mapping[str, str]:
    """Return templates. Raises OptionError if a name is unknown."""
    known = [*PHRASES, *SENTENCES]
    for name, text in templates.items():
        if name not in known:
            raise OptionError.of(f"Unknown template {name!r}", hint=did_you_mean(name, known))
        try:
            named = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
        except ValueError as error:
            raise OptionError.of(f"Expected a template with names in braces for {name!r}, got {text!r}") from error
        for field in named - FIELDS:
            raise OptionError.of(f"Unknown name {{{field}}} in the template {name!r}", hint=did_you_mean(field, FIELDS))
    return templates


def shown_pair(gold: Json, predicted: Json, room: int = ROOM) -> tuple[str, str]:
    """Return the JSON texts of two values, clipped so that their first difference is visible; "" for ABSENT.

    >>> shown_pair("a" * 90 + "b", "a" * 90 + "c", 30)
    ('…aaaaaaaaaaaaaaaaaaaab"', '…aaaaaaaaaaaaaaaaaaaac"')
    """
    texts = ["" if value is ABSENT else shown(value, 1 << 20) for value in (gold, predicted)]
    equal = next((at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other), 0)
    start = equal - BEFORE if equal >= room - 1 else 0
    cut = [f"…{text[start:]}" if start > 0 else text for text in texts]
    return clipped(cut[0], room), clipped(cut[1], room)
