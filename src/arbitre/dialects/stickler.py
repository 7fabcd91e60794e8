"""Keywords of Stickler (`x-aws-stickler-*`), as its version 1.0.0 reads them.

A keyword of a field is read next to a property, not in the target of its `$ref`. A list of scalars is compared item by
item with the comparator of its field. Fields without keywords have the comparator and the threshold of their type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre.dialects.draft import AMOUNT, OPTIONAL_AMOUNT, TEXT, is_number
from arbitre.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.dialects.draft import Draft, ParameterType
    from arbitre.dialects.position import Position
    from arbitre.values import Json

PREFIX: Final = "x-aws-stickler-"
PREFIXES: Final = (PREFIX, "x-stickler-")
"""Starts of the keywords; the second is a mistake that Stickler rejects."""
_COMPARATOR, _CONFIG, _THRESHOLD, _WEIGHT, _CLIP = (
    PREFIX + name for name in ("comparator", "comparator-config", "threshold", "weight", "clip-under-threshold")
)
_NAME, _MATCH_THRESHOLD, _INFER, _AGGREGATE = (
    PREFIX + name for name in ("model-name", "match-threshold", "infer-unspecified", "aggregate")
)
_FIELD: Final = (_COMPARATOR, _CONFIG, _THRESHOLD, _WEIGHT, _CLIP)
_WITHOUT_EFFECT: Final = (_NAME, _AGGREGATE, f"{PREFIX}internal-examples")
"""Keywords that do not change a score in Stickler."""

_DEFAULTS: Final = {"string": "LevenshteinComparator", "number": "NumericComparator", "integer": "NumericComparator"}
"""Comparators by type; those of all other types and of unions are `ExactComparator`."""
_FORMATS: Final = {"date": "DateComparator", "date-time": "DateComparator"} | dict.fromkeys(
    ("time", "uuid", "uri"), "ExactComparator"
)
"""Comparators of texts by `format`."""
_GRADED: Final = 0.5
"""Threshold of texts and numbers without one."""

_LENIENT: Final[list[Json]] = ["lower", "squash-space"]
_WORDS: Final = {"distance": "token-set", "normalize": _LENIENT}
_AMOUNT: Final[Json] = {"number": {"decimal": ".", "group": ",", "currency": True, "accounting": True}}
_DATE: Final[Mapping[str, Json]] = {"distance": "date", "floor": 1}
_NEAREST: Final[Mapping[str, tuple[str, Mapping[str, Json] | None]]] = {
    "PhoneComparator": (
        "it reads telephone numbers by country",
        {"distance": "exact", "normalize": ["digits"]},
    ),
    "BBoxIoUComparator": ("no distance compares rectangles", None),
    "ANLSStarComparator": (
        "it compares nested values as one tree",
        {"distance": "levenshtein", "normalize": _LENIENT, "floor": _GRADED},
    ),
    "SemanticComparator": ("it compares embeddings of a model", _WORDS),
    "BERTComparator": ("it compares embeddings of a model", _WORDS),
    "LLMComparator": ("it asks a language model", _WORDS),
    "auto": ("Stickler chooses the comparator by the name of the field", None),
}
"""Comparators without an equivalent: the reason, and the nearest settings for texts."""


def translate(position: Position, draft: Draft) -> bool:
    """Add the settings of a position to a draft; return whether those of the nested positions follow."""
    _check_keywords(position, draft)
    if position.role == "root":
        draft.set(position, {"absent": [None, "", [], {}]})
    keywords = position.node.schema
    if position.role == "field" and _WEIGHT in keywords:
        weight = keywords[_WEIGHT]
        if draft.expect(is_number(weight) and weight > 0, position, _WEIGHT, "a positive number"):
            draft.set(position, {"weight": weight})
    if "object" in position.types and position.structured:
        _object(position, draft)
        return True
    if position.types == {"array"} and position.structured:
        return True
    field = position.parent if position.role == "item" and position.parent else position
    if position.role != "root":
        _leaf(position, field, draft)
    return False


def _check_keywords(position: Position, draft: Draft) -> None:
    """List the keywords that Stickler does not read here, and those that change no score."""
    fields = position.role == "field"
    objects = "object" in position.types
    for part in position.common:
        for key in part.schema:
            if not key.startswith(PREFIXES) or key in _WITHOUT_EFFECT:
                continue
            name = key.removeprefix(PREFIX).removeprefix("x-stickler-")
            if key not in (*_FIELD, _MATCH_THRESHOLD, _INFER):
                hint = nearest(name, [known.removeprefix(PREFIX) for known in _FIELD])
                draft.miss(position, key, f"Stickler does not know it. {hint or ''}".rstrip(), part=part)
            elif key in _FIELD and not (fields and part == position.node):
                draft.miss(position, key, "Stickler reads it only next to a property", part=part)
            elif key == _MATCH_THRESHOLD:
                value = part.schema[key]
                if not draft.expect(_is_share(value), position, key, _SHARE, part=part):
                    continue
                reason = "it decides which objects count as found, and does not change the score"
                gate = {"match": {"hungarian": {"gate": value}}} if position.role == "item" and value else None
                listed = position.parent if gate and position.parent else position
                draft.miss(listed, key, reason if objects else "Stickler reads it on objects only", gate, part=part)
            elif key == _INFER and part.schema[key]:
                draft.miss(position, key, "Stickler chooses the comparators by the names of the fields", part=part)


def _object(position: Position, draft: Draft) -> None:
    if position.open and position.role != "value":
        draft.set(position, {"undeclared": "ignore"})
    keywords = position.node.schema
    clipped = keywords.get(_CLIP, True) is not False and keywords.get(_THRESHOLD) != 0
    for key in (_THRESHOLD, _CLIP) if position.role == "field" and clipped else ():
        if key in keywords:
            draft.miss(position, key, "an object has no floor: arbitre keeps the quality of its fields")
    comparator = keywords.get(_COMPARATOR, "StructuredModelComparator")
    if position.role == "field" and comparator != "StructuredModelComparator":
        draft.miss(position, _COMPARATOR, "Stickler compares an object field by field, whatever the comparator")


def _leaf(position: Position, field: Position, draft: Draft) -> None:
    """Add the settings of a scalar, of an item of a list of scalars, or of an object without fields."""
    keywords = field.node.schema if field.role == "field" else {}
    name, threshold = _default(position)
    default = _COMPARATOR not in keywords
    name = keywords.get(_COMPARATOR, name)
    config, threshold = keywords.get(_CONFIG) or {}, keywords.get(_THRESHOLD, threshold)
    clip = keywords.get(_CLIP, True)
    valid = [
        draft.expect(isinstance(name, str), field, _COMPARATOR, "the name of a comparator"),
        draft.expect(isinstance(config, dict), field, _CONFIG, "an object"),
        draft.expect(_is_share(threshold), field, _THRESHOLD, _SHARE),
        draft.expect(isinstance(clip, bool), field, _CLIP, "true or false"),
    ]
    if not all(valid) or not draft.expect_parameters(config, _PARAMETERS.get(name, {}), field, _CONFIG):
        return
    settings, reason = _comparison(name, config, position)
    if name in _EDITS and clip and threshold:
        settings = {**settings, "floor": threshold}
    if not reason:
        draft.set(position, settings)
        return
    key, text = (None, name) if default else (_COMPARATOR, f"{name} {config}" if config else name)
    draft.miss(position, key, reason, settings, part=field.node, value=text)


def _default(position: Position) -> tuple[str, float]:
    """Return the comparator and the threshold of values without keywords."""
    if len(position.types) != 1 or position.constant:
        return "ExactComparator", 1.0
    (kind,) = position.types
    if kind == "string" and (formats := position.formats & {*_FORMATS}):
        return _FORMATS[min(formats)] if len(position.formats) == 1 else "ExactComparator", 1.0
    return _DEFAULTS.get(kind, "ExactComparator"), _GRADED if kind not in {"array", "object"} else 1.0


def _comparison(name: str, config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    """Return the settings of a comparator, and why they are not exact; empty if they are."""
    if name in _COMPARATORS:
        return _COMPARATORS[name](config, position)
    reason, settings = _NEAREST.get(name, (_OWN, None))
    return (settings or {}) if position.types == {"string"} else {}, reason


def _exact(config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    return _as_python_text([] if config.get("case_sensitive", True) else ["casefold"], position)


def _as_python_text(steps: list[Json], position: Position) -> tuple[Mapping[str, Json], str]:
    """Return the settings for values that are equal if Python writes them in the same way."""
    types = position.written_types
    if len(types) > 1 and "string" in types:
        steps = ["text", *steps]
    settings: dict[str, Json] = {"distance": "exact"}
    if steps or position.decimal:
        settings["normalize"] = steps
    alike = len(types) < 2 or types in _ALIKE  # noqa: PLR2004  (a single type)
    return settings, "" if alike else "it compares values of different types as Python writes them"


def _numeric(config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    relative = config.get("relative_tolerance") or 0
    absolute = config.get("absolute_tolerance") or config.get("tolerance") or 0
    within = {name: value for name, value in (("within", absolute), ("relative", relative)) if value}
    settings: dict[str, Json] = {"distance": {"tolerance": within} if within else "exact"}
    if "string" in position.types:
        return settings | {"normalize": [_AMOUNT]}, "it drops all characters except digits, points and hyphens"
    if not position.types <= {"integer", "number"}:
        return {}, "it compares only numbers and texts"
    return settings, "the share refers to gold, not to the larger magnitude" if relative else ""


def _levenshtein(config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    return _edits("levenshtein", _LENIENT if config.get("normalize", True) else [], position)


def _fuzzy(config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    method = config.get("method", "ratio")
    distance = {"token_set_ratio": "token-set", **_INEXACT}.get(method, "indel")
    settings, reason = _edits(distance, ["lower", "strip"] if config.get("normalize", True) else [], position)
    return settings, f"no distance is {method} of RapidFuzz" if method in _INEXACT else reason


def _edits(distance: str, steps: list[Json], position: Position) -> tuple[Mapping[str, Json], str]:
    text = position.types == {"string"}
    steps = steps if text else ["text", *steps]
    settings: dict[str, Json] = {"distance": distance} | ({"normalize": steps} if steps else {})
    return settings, "" if text else "it compares numbers as Python writes them"


def _date(config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    if position.types != {"string"}:
        return _DATE if "string" in position.types else {}, "arbitre reads only texts as dates"
    if position.format == "date-time":
        return _DATE, "it compares the days and ignores the time of day"
    changed = {key: value for key, value in config.items() if value and _DATE_DEFAULTS.get(key) != value}
    if changed.get("dayfirst"):
        formats: Json = {"date": {"formats": ["%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y"]}}
        return {**_DATE, "normalize": [formats]}, "it reads dates in any notation"
    if "tolerance" in changed:
        nearest = {"distance": {"date": {"scale": 2 * changed["tolerance"]}}, "floor": 0.5}
        return nearest, "the distance of dates is graded"
    return _DATE, "it reads incomplete dates and ranges differently" if changed else ""


def _normalized(config: Mapping[str, Any], position: Position) -> tuple[Mapping[str, Json], str]:
    punctuation, space = config.get("ignore_punctuation", True), config.get("ignore_whitespace", True)
    steps: list[Json] = ["casefold"] * (not config.get("case_sensitive"))
    steps += ["strip-punctuation"] * punctuation + ["squash-space"] * space
    settings, reason = _as_python_text(steps, position)
    if punctuation or space:
        reason = "it removes all white space; `strip-punctuation` also removes symbols such as €"
    return settings, reason


_COMPARATORS: Final = {
    "ExactComparator": _exact,
    "NumericComparator": _numeric,
    "LevenshteinComparator": _levenshtein,
    "FuzzyComparator": _fuzzy,
    "DateComparator": _date,
    "NormalizedComparator": _normalized,
}
_PARAMETERS: Final[Mapping[str, Mapping[str, ParameterType]]] = {
    "NumericComparator": {
        "relative_tolerance": AMOUNT,
        "absolute_tolerance": AMOUNT,
        "tolerance": OPTIONAL_AMOUNT,
    },
    "FuzzyComparator": {"method": TEXT},
    "DateComparator": {"tolerance": AMOUNT},
}
"""Accepted parameters by comparator."""
_EDITS: Final = frozenset({"LevenshteinComparator", "FuzzyComparator"})
"""Comparators with qualities between 0 and 1, to which a threshold applies."""
_INEXACT: Final = {"token_sort_ratio": "token-sort", "partial_ratio": "token-set"}
"""Nearest distances to methods of `FuzzyComparator`."""
_ALIKE: Final = ({"boolean", "integer"}, {"boolean", "number"}, {"integer", "string"})
"""Sets of types for which `text` writes values like Python, as far as the exact comparison can tell."""
_DATE_DEFAULTS: Final = {"range_mode": "graded", "precision_mode": "exact"}
_OWN: Final = "it is a comparator of your own: load it as a custom distance"
_SHARE: Final = "a number from 0 to 1"


def _is_share(value: Json) -> bool:
    return is_number(value) and 0 <= value <= 1
