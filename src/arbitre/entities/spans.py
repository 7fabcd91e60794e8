"""Spans (objects with `start`, `end` and `label`) and tags of tokens: checks, and conversion between both.

The notations of tags are BIO, IOB1 and BIOES; see `Notation`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.normalizers import nfc
from arbitre.parsing.json_form import json_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arbitre.arrays import Indices, Mask


Span = Mapping[str, Any]
"""An entity: the position of its first token or character (`start`), the position after the last one (`end`), and its
`label`. Other keys are ignored."""

Unit = Literal["token", "character"]
"""What the positions of spans count."""

Notation = Literal["bio", "iob1", "bioes"]
"""How tags mark entities.

* bio (IOB2): `B-` starts every entity, `I-` continues it.
* iob1: `I-` marks every token of an entity; `B-` starts an entity that follows another one of the same label.
* bioes (BILOU): `B-` starts and `E-` (`L-`) ends an entity, `S-` (`U-`) is an entity of one token.
"""

AUTO: Final = "auto"
"""Name for the notation that is inferred from the tags."""

OUTSIDE: Final = "O"
"""Tag of a token outside entities."""

NOTATIONS: Final = (*get_args(Notation), AUTO)
"""Names of notations."""

_TAG: Final = re.compile(r"O|([BIESLU])-(\S.*)")
_O, _B, _I, _E, _S = range(5)
_PREFIXES: Final = {"B": _B, "I": _I, "E": _E, "L": _E, "S": _S, "U": _S}
_ALLOWED: Final = {"bio": "B-LABEL or I-LABEL", "iob1": "B-LABEL or I-LABEL"}
_EVERY: Final = "B-LABEL, I-LABEL, E-LABEL or S-LABEL"
HINT: Final = "A tag looks like B-person; a token outside of entities has the tag O."
OTHER_NOTATION_HINT: Final = (
    "To compare BIO or IOB1 tags with BIOES tags, choose the notation `bioes` with `lenient_tags`: it reads all three."
)
IRREGULAR_HINT: Final = "Correct the tags, or use `lenient_tags` to read them as conlleval does."
_SPAN_HINT: Final = (
    'A span looks like {"start": 0, "end": 2, "label": "person"}; `end` is the position after the last one.'
)


def check_spans(spans: object, length: int | None = None, unit: Unit = "token") -> None:
    """Check the spans of one sentence.

    Args:
        spans: The spans.
        length: Number of tokens or characters of the sentence; None if unknown.
        unit: What the positions count.

    Raises:
        DataError: A span is invalid; with its pointer.
    """
    if not isinstance(spans, (list, tuple)):
        raise DataError.of(f"Expected a list of spans, got {type(spans).__name__}", hint=_SPAN_HINT)
    for number, span in enumerate(spans):
        problem = _problem(span, length, unit)
        if problem:
            raise DataError.of(problem, pointer=f"/{number}", hint=_SPAN_HINT)


def _problem(span: object, length: int | None, unit: Unit) -> str | None:
    """Return why a span is invalid; None if it is valid. For the arguments, see `check_spans`."""
    if not isinstance(span, Mapping):
        return f"Expected a span, got {type(span).__name__}"
    start, end, label = span.get("start"), span.get("end"), span.get("label")
    if type(start) is not int or type(end) is not int:
        return f"Expected `start` and `end` to be integers, got {start!r} and {end!r}"
    if not 0 <= start < end:
        return f"Expected `start` to be at least 0 and below `end`, got {start} and {end}"
    if length is not None and end > length:
        return f"Expected a span within {length} {unit}s, got one that ends at {end}"
    if not isinstance(label, str) or not label:
        return f"Expected `label` to be a text, got {label!r}"
    return None


def first_overlap(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """Return the first two spans that overlap, by position; None if there are none."""
    ordered = sorted(spans, key=lambda span: (span["start"], span["end"]))
    for before, after in pairwise(ordered):
        if after["start"] < before["end"]:
            return before, after
    return None


@dataclass(frozen=True, eq=False, slots=True)
class TaggedSpans:
    """The entities of a sequence of tags.

    Attributes:
        starts: First token of each entity, increasing; shape (entities,).
        ends: Token after the last one of each entity.
        labels: Position in `names` of the label of each entity.
        names: The labels.
        irregular: Tokens whose tag does not follow the notation; shape (irregular tokens,).
        notation: The notation.
    """

    starts: Indices
    ends: Indices
    labels: Indices
    names: tuple[str, ...]
    irregular: Indices
    notation: str


def tagged_spans(
    tags: Iterable[str], first: Mask, notation: str, refuse: Callable[[int, str, str], DataError]
) -> TaggedSpans:
    """Return the entities of the tags of consecutive sentences.

    A tag that does not follow the notation is read as conlleval and seqeval read it: `I-` or `E-` starts an entity if
    it does not continue one with the same label, and an entity that is not closed ends before the next one.

    Args:
        tags: The tags of all tokens, in NFC.
        first: Which tokens begin a sentence; shape (tokens,).
        notation: The notation, or "auto" to infer it from the tags.
        refuse: Returns the error for a token, from its position, the message and the hint.

    Raises:
        DataError: A tag is invalid.
    """
    code: defaultdict[str, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, tags), dtype=np.intp, count=len(first))
    labels: dict[str, int] = {}
    parsed = []
    for tag, number in code.items():
        parts = _TAG.fullmatch(tag)
        letter, label = (None, None) if parts is None else parts.groups()
        if parts is None or (notation not in {"bioes", AUTO} and letter and letter not in "BI"):
            expected = _ALLOWED.get(notation, _EVERY)
            hint = HINT if parts is None else OTHER_NOTATION_HINT
            raise refuse(int((codes == number).argmax()), f"Expected O, {expected}, got {tag!r}", hint)
        parsed.append(
            (
                _O if letter is None else _PREFIXES[letter],
                -1 if label is None else labels.setdefault(label, len(labels)),
            )
        )
    # Of each token: the code of its prefix, and the position of its label; the same of the token before it.
    prefix, label_at = np.array(parsed, dtype=np.intp).reshape(-1, 2)[codes].T
    before, label_before = np.roll(prefix, 1), np.roll(label_at, 1)
    inside = prefix != _O
    apart = first | (before == _O) | (label_before != label_at)
    begins = inside & (apart | (prefix == _B) | (prefix == _S) | (before == _E) | (before == _S))
    ends = inside & np.append((begins | first | ~inside)[1:], True)
    chosen: str = _inferred(prefix, apart, begins) if notation == AUTO else notation
    irregular = (prefix == _I) & begins if chosen == "bio" else np.zeros(len(first), dtype=np.bool_)
    if chosen == "bioes":
        irregular = (begins & ((prefix == _I) | (prefix == _E))) | (ends & ((prefix == _B) | (prefix == _I)))
    starts = begins.nonzero()[0]
    return TaggedSpans(starts, ends.nonzero()[0] + 1, label_at[starts], tuple(labels), irregular.nonzero()[0], chosen)


def _inferred(prefix: Indices, apart: Mask, begins: Mask) -> Notation:
    """Return the notation of tags: IOB1 if an entity starts with `I-` and none needlessly with `B-`.

    Args:
        prefix: Code of the prefix of each token; shape (tokens,).
        apart: Which tokens cannot continue an entity of the token before them.
        begins: Which tokens begin an entity.
    """
    if (prefix >= _E).any():
        return "bioes"
    return "iob1" if (begins & (prefix == _I)).any() and not (apart & (prefix == _B)).any() else "bio"


def irregular_message(tag: str, notation: str) -> str:
    """Return the message for a tag that does not follow the notation."""
    return f"Expected {notation.upper()} tags, got {tag!r}, which does not belong to a complete entity"


def check_texts(tags: Sequence[object]) -> None:
    """Raise DataError, with a pointer, if a tag is not a text."""
    for position, tag in enumerate(tags):
        if not isinstance(tag, str):
            raise DataError.of(f"Expected a tag, got {type(tag).__name__}", pointer=f"/{position}", hint=HINT)


def check_notation(notation: str) -> None:
    """Raise OptionError if there is no such notation."""
    if notation not in NOTATIONS:
        raise OptionError.of(
            f"Expected a notation of tags, got {notation!r}",
            hint=did_you_mean(notation, NOTATIONS),
        )


def from_tags(tokens: Sequence[str], tags: Sequence[str], *, notation: str = AUTO, lenient: bool = False) -> list[Span]:
    """Convert the tags of one sentence to spans of tokens.

    Args:
        tokens: The tokens.
        tags: A tag for each token.
        notation: "bio", "iob1", "bioes", or "auto" to infer it from the tags.
        lenient: Accept tags that do not follow the notation, and read them as conlleval does.

    Returns:
        A dictionary for each entity, with its first token (`start`, from 0), the token after its last one (`end`), and
        its `label` in Unicode normal form NFC.

    Raises:
        DataError: There are more or fewer tags than tokens, or a tag is invalid. The pointer leads to the tag.
        OptionError: The notation is unknown.

    >>> from_tags(["Ada", "Lovelace", "in", "London"], ["B-person", "I-person", "O", "B-city"])
    [{'start': 0, 'end': 2, 'label': 'person'}, {'start': 3, 'end': 4, 'label': 'city'}]
    """
    check_notation(notation)
    tags = json_form(tags)
    if len(tokens) != len(tags):
        raise DataError.of(f"Expected a tag for each of {len(tokens)} tokens, got {len(tags)} tags")

    def refuse(position: int, message: str, hint: str) -> DataError:
        return DataError.of(message, pointer=f"/{position}", hint=hint)

    check_texts(tags)
    tagged = tagged_spans(map(nfc, tags), np.arange(len(tags)) == 0, notation, refuse)
    if len(tagged.irregular) and not lenient:
        position = int(tagged.irregular[0])
        raise refuse(position, irregular_message(tags[position], tagged.notation), IRREGULAR_HINT)
    columns = zip(tagged.starts.tolist(), tagged.ends.tolist(), tagged.labels.tolist(), strict=True)
    return [{"start": start, "end": end, "label": tagged.names[label]} for start, end, label in columns]


def to_tags(tokens: Sequence[str], spans: Sequence[Span], *, notation: Notation = "bio") -> list[str]:
    """Convert spans of the tokens of one sentence to tags; the inverse of `from_tags`.

    Args:
        tokens: The tokens.
        spans: The entities, in any order.
        notation: "bio", "iob1" or "bioes".

    Returns:
        A tag for each token, in Unicode normal form NFC.

    Raises:
        DataError: A span is invalid or ends after the last token, or two spans overlap: tags cannot express this.
        OptionError: The notation is unknown.

    >>> to_tags(["Ada", "Lovelace", "in", "London"], [{"start": 0, "end": 2, "label": "person"}], notation="bioes")
    ['B-person', 'E-person', 'O', 'O']
    """
    if notation not in get_args(Notation):
        raise OptionError.of(f"Expected a notation of tags, got {notation!r}", hint="Choose bio, iob1 or bioes.")
    spans = json_form(spans)
    check_spans(spans, len(tokens), unit="token")
    if overlap := first_overlap(spans):
        raise DataError.of(
            f"Expected spans that do not overlap, got {overlap[0]} and {overlap[1]}",
            hint="Tags cannot express nested or overlapping entities; compare the spans instead.",
        )
    tags = [OUTSIDE] * len(tokens)
    for span in sorted(spans, key=lambda span: span["start"]):
        start, end, label = span["start"], span["end"], nfc(span["label"])
        inner, opening, closing = f"I-{label}", f"B-{label}", f"I-{label}"
        if notation == "iob1":
            opening = opening if start and tags[start - 1] in {inner, opening} else inner
        elif notation == "bioes":
            opening, closing = (f"S-{label}",) * 2 if end - start == 1 else (opening, f"E-{label}")
        tags[start:end] = [inner] * (end - start)
        tags[end - 1] = closing
        tags[start] = opening
    return tags
