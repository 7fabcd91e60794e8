"""The keywords `x-eval-*` of extract-eval (struct-extract-eval by FAIRmat), as its main branch of 2026 reads them.

Values are compared by `x-eval-compare`, or by the comparator of their type, and score 0 or 1. Lists are compared by
position unless `x-eval-align` says otherwise. Null is a value; only a missing key is absent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from arbitre.dialects.draft import INTEGER, LIST, OPTIONAL_AMOUNT, ParameterType
from arbitre.errors import nearest as similar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.dialects.draft import Draft
    from arbitre.dialects.position import Position
    from arbitre.schema import Subschema
    from arbitre.values import Json

PREFIX: Final = "x-eval-"
_COMPARE, _TRANSFORM, _ALIGN, _SKIP = (PREFIX + name for name in ("compare", "transform", "align", "skip"))
_KNOWN: Final = (_COMPARE, _TRANSFORM, _ALIGN, _SKIP)
_STEPS: Final = {"lowercase": "lower", "strip": "strip", "normalize_whitespace": "squash-space"}
"""Normalisers by transform."""
_TYPES: Final = ("float", "int", "str", "bool")
_PARAMETERS: Final[Mapping[tuple[str, str], Mapping[str, ParameterType]]] = {
    (_COMPARE, "numeric"): {
        "tolerance": ParameterType(lambda value: not value or isinstance(value, dict), "an object")
    },
    (_COMPARE, "oneof"): {"values": LIST},
    (_TRANSFORM, "round_digits"): {"digits": INTEGER},
    (_TRANSFORM, "type_convert"): {"to": ParameterType(lambda value: value in _TYPES, " or ".join(_TYPES))},
}
"""Accepted parameters by keyword and name."""
_TOLERANCE: Final = {"abs": OPTIONAL_AMOUNT, "rel": OPTIONAL_AMOUNT}


def translate(position: Position, draft: Draft) -> bool:
    """Add the settings of a position to a draft; return whether those of the nested positions follow."""
    for part in position.common:
        for key in part.schema:
            if key.startswith(PREFIX) and key not in _KNOWN:
                hint = similar(key.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in _KNOWN])
                draft.miss(position, key, f"extract-eval does not know it. {hint or ''}".rstrip(), part=part)
    if position.role == "root":
        draft.set(position, {"absent": []})
    if _skip(position, draft):
        return False
    structured = position.structured and len(position.types) == 1
    if structured and position.keyword(_COMPARE) is None:
        if position.types == {"array"}:
            _align(position, draft)
        return True
    if position.role == "root":
        return False
    _leaf(position, draft)
    return False


def _skip(position: Position, draft: Draft) -> bool:
    """Return whether extract-eval leaves out a position. If so, add the setting, or that there is none."""
    skip, part = position.keyword(_SKIP) or (False, position.node)
    if not draft.expect(isinstance(skip, bool), position, _SKIP, "true or false", part=part) or not skip:
        return False
    if position.role == "field":
        draft.set(position, {"ignore": True})
    else:
        draft.miss(position, _SKIP, "only a field can be left out", part=part)
    return True


def _align(position: Position, draft: Draft) -> None:
    """Add the matching of a list."""
    found = position.keyword(_ALIGN)
    align = found[0] if found else {"ordered": True}
    valid = isinstance(align, dict) and (
        align.get("ordered") is True or align.get("match_by") in ("hungarian", "key_field")
    )
    part = found and found[1]
    expected = 'an object with "match_by": "hungarian" or "key_field"'
    if not draft.expect(valid, position, _ALIGN, expected, part=part):
        return
    if align.get("ordered") is True:
        draft.set(position, {"match": "ordered"})
    elif align["match_by"] == "hungarian":
        draft.set(position, {"match": "hungarian"})
    else:
        expected = 'an object with the "key" of the items'
        if draft.expect(isinstance(align.get("key"), str), position, _ALIGN, expected, part=part):
            draft.set(position, {"match": {"keyed": {"key": align["key"]}}})


def _leaf(position: Position, draft: Draft) -> None:
    """Add the comparator and the transforms of a value that is compared as a whole."""
    default = "numeric" if position.types in ({"number"}, {"integer"}) else "exact"
    compare, part = position.keyword(_COMPARE) or (default, None)
    transforms, transformed = position.keyword(_TRANSFORM) or ([], None)
    comparator = _entry(compare, position, draft, _COMPARE, part=part)
    listed = draft.expect(isinstance(transforms, list), position, _TRANSFORM, "a list of transforms", part=transformed)
    entries = [
        _entry(entry, position, draft, _TRANSFORM, part=transformed, inside=(index,))
        for index, entry in enumerate(transforms if listed else ())
    ]
    steps = [entry for entry in entries if entry is not None]
    if comparator is None or not listed or len(steps) < len(entries):
        return
    name, params = comparator
    known: list[Json] = [_STEPS[step] for step, _ in steps if step in _STEPS]
    normalize: dict[str, Json] = {"normalize": known} if known else {}
    settings, reason = _comparison(name, params, position)
    if reason:
        key, value = (_COMPARE, None) if part else (None, name)
        draft.miss(position, key, reason, settings | normalize if settings else None, part=part, value=value)
    elif _sorts_last(steps) and name == "exact" and position.types == {"string"}:
        draft.set(position, {"distance": "token-sort", "floor": 1} | normalize)
    else:
        draft.set(position, settings | normalize)
        for step, parameters in steps:
            if step not in _STEPS:
                nearest, why = _transform(step, parameters, known)
                draft.miss(position, _TRANSFORM, why, nearest, part=transformed, value=step)


def _sorts_last(steps: list[tuple[str, Mapping[str, Any]]]) -> bool:
    """Return whether the last transform sorts the words and the others are normalisers."""
    return [step for step, _ in steps if step not in _STEPS] == ["sort_tokens"] == [steps[-1][0]]


def _entry(
    entry: Json,
    position: Position,
    draft: Draft,
    key: str,
    *,
    part: Subschema | None,
    inside: tuple[int, ...] = (),
) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the parameters of an entry; add problems and return None if it is not valid."""
    parsed = entry if isinstance(entry, dict) else {entry: {}} if isinstance(entry, str) and entry else {}
    valid = len(parsed) == 1 and all(isinstance(params, dict) for params in parsed.values())
    if not draft.expect(valid, position, key, "a name or {name: {parameter: value}}", part=part, inside=inside):
        return None
    ((name, params),) = parsed.items()
    place: tuple[str | int, ...] = (*inside, name)
    if not draft.expect_parameters(params, _PARAMETERS.get((key, name), {}), position, key, part=part, inside=place):
        return None
    tolerance = params.get("tolerance") if (key, name) == (_COMPARE, "numeric") else None
    place = (*place, "tolerance")
    if not draft.expect_parameters(tolerance or {}, _TOLERANCE, position, key, part=part, inside=place):
        return None
    return name, params


def _comparison(name: str, params: Mapping[str, Any], position: Position) -> tuple[dict[str, Json], str]:
    """Return the settings of a comparator, and why they are not exact; empty if they are."""
    match name:
        case "exact":
            settings: dict[str, Json] = {"distance": "exact"} | ({"normalize": []} if position.decimal else {})
            numbers = "boolean" in position.types and position.types & {"integer", "number"}
            return settings, "true equals 1 and false equals 0" if numbers else ""
        case "numeric":
            return _numeric(params.get("tolerance") or {}, position)
        case "oneof":
            values = params.get("values", [])
            nearest: dict[str, Json] = {}
            if values and all(isinstance(value, str) for value in values):
                names: Json = {values[0]: values[1:]}
                nearest = {"distance": "exact", "normalize": [{"authority": {"names": names}}]}
            return nearest, "it accepts any of the values, whatever gold is"
        case "semantic":
            return {"distance": "token-set", "normalize": ["lower"]}, "it asks a language model"
    return {}, "it is a comparator of your own: load it as a custom distance"


def _numeric(tolerance: Mapping[str, Any], position: Position) -> tuple[dict[str, Json], str]:
    absolute, relative = tolerance.get("abs"), tolerance.get("rel")
    numbers = position.types <= {"number", "integer"}
    if absolute and relative:
        within, reason = {"within": absolute}, "both tolerances must be met; in arbitre, one of them"
    elif relative and absolute is None:
        within, reason = {"relative": relative}, "the share refers to gold, not to the larger magnitude"
    else:
        within, reason = {"within": absolute} if absolute and relative is None else {}, ""
    settings: dict[str, Json] = {"distance": {"tolerance": within} if within else "exact"}
    if not numbers:
        return settings | {"normalize": ["decimal"]}, reason or "it reads texts as Python's float does"
    return settings, reason


def _transform(name: str, params: Mapping[str, Any], known: list[Json]) -> tuple[dict[str, Json], str]:
    """Return the settings nearest to a transform, and why they are not exact."""
    if name == "sort_tokens":
        return {"distance": "token-sort"}, "no normaliser sorts the words; this distance does"
    if name == "round_digits":
        grid = float(f"1e{-params.get('digits', 0)}")
        nearest: dict[str, Json] = {"distance": {"rounded": {"grid": grid}}} if 0 < grid < math.inf else {}
        return nearest, "Python rounds halves to even digits of the binary number"
    if name == "type_convert":
        step = "text" if params.get("to") == "str" else "decimal"
        return {"normalize": [step, *known]}, "it writes and reads values as Python does"
    return {}, "it is a transform of your own: load it as a custom normaliser"
