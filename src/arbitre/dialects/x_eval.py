"""The keywords `x-eval-*` of extract-eval (struct-extract-eval by FAIRmat), as its main branch of 2026 reads them.

Values are compared by `x-eval-compare`, or by the comparator of their type, and score 0 or 1. Lists are compared by
position unless `x-eval-align` says otherwise. Null is a value; only a missing key is absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import nearest as similar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.dialects.draft import Draft
    from arbitre.dialects.position import Position
    from arbitre.values import Json

PREFIX: Final = "x-eval-"
_COMPARE, _TRANSFORM, _ALIGN, _SKIP = (PREFIX + name for name in ("compare", "transform", "align", "skip"))
_KNOWN: Final = (_COMPARE, _TRANSFORM, _ALIGN, _SKIP)
_STEPS: Final = {"lowercase": "lower", "strip": "strip", "normalize_whitespace": "squash-space"}
"""Normalisers by transform."""


def translate(position: Position, draft: Draft) -> bool:
    """Add the settings of a position to a draft; return whether those of the nested positions follow."""
    keywords = {key: found for key in _KNOWN if (found := position.keyword(key))}
    for part in position.common:
        for key in part.schema:
            if key.startswith(PREFIX) and key not in _KNOWN:
                hint = similar(key.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in _KNOWN])
                draft.miss(position, key, f"extract-eval does not know it. {hint or ''}".rstrip(), part=part)
    if position.role == "root":
        draft.set(position, {"absent": []})
    if _SKIP in keywords and keywords[_SKIP][0] is True:
        if position.role == "field":
            draft.set(position, {"ignore": True})
        else:
            draft.miss(position, _SKIP, "only a field can be left out", part=keywords[_SKIP][1])
        return False
    structured = position.structured and len(position.types) == 1
    if structured and _COMPARE not in keywords:
        if position.types == {"array"}:
            _align(position, draft)
        return True
    if position.role == "root":
        return False
    _leaf(position, draft)
    return False


def _align(position: Position, draft: Draft) -> None:
    """Add the matching of a list."""
    found = position.keyword(_ALIGN)
    align = found[0] if found else {"ordered": True}
    valid = isinstance(align, dict) and (
        align.get("ordered") is True or align.get("match_by") in {"hungarian", "key_field"}
    )
    if found and not draft.expect(valid, position, _ALIGN, 'an object with "match_by": "hungarian" or "key_field"'):
        return
    if align.get("ordered") is True:
        draft.set(position, {"match": "ordered"})
    elif align["match_by"] == "hungarian":
        draft.set(position, {"match": "hungarian"})
    elif draft.expect(isinstance(align.get("key"), str), position, _ALIGN, 'an object with the "key" of the items'):
        draft.set(position, {"match": {"keyed": {"key": align["key"]}}})


def _leaf(position: Position, draft: Draft) -> None:
    """Add the comparator and the transforms of a value that is compared as a whole."""
    found, transforms = position.keyword(_COMPARE), position.keyword(_TRANSFORM)
    default = "numeric" if position.types in ({"number"}, {"integer"}) else "exact"
    entries = [found[0] if found else default, *(transforms[0] if transforms else [])]
    parsed = [_entry(entry) for entry in entries]
    expected = "a name or {name: {parameter: value}}; transforms are a list of these"
    for key, ok in ((_COMPARE, parsed[0]), (_TRANSFORM, all(one is not None for one in parsed[1:]))):
        if key in position.node.schema and not draft.expect(bool(ok), position, key, expected):
            return
    (name, params), *steps = (one for one in parsed if one is not None)
    known: list[Json] = [_STEPS[step] for step, _ in steps if step in _STEPS]
    normalize: dict[str, Json] = {"normalize": known} if known else {}
    settings, reason = _comparison(name, params, position)
    if reason:
        draft.miss(position, _COMPARE, reason, settings | normalize if settings else None, part=found and found[1])
    elif [step for step, _ in steps if step not in _STEPS] == ["sort_tokens"] == [steps[-1][0]] and name == "exact":
        draft.set(position, {"distance": "token-sort", "floor": 1} | normalize)
    else:
        draft.set(position, settings | normalize)
        for step, parameters in steps:
            if step not in _STEPS:
                nearest, why = _transform(step, parameters, known)
                draft.miss(position, _TRANSFORM, why, nearest, part=transforms and transforms[1], value=step)


def _entry(entry: Json) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the parameters of an entry; None if it is not valid."""
    if isinstance(entry, str) and entry:
        return entry, {}
    if isinstance(entry, dict) and len(entry) == 1:
        ((name, params),) = entry.items()
        return (name, params) if isinstance(params, dict) else None
    return None


def _comparison(name: str, params: Mapping[str, Any], position: Position) -> tuple[dict[str, Json], str]:
    """Return the settings of a comparator, and why they are not exact; empty if they are."""
    match name:
        case "exact":
            return {"distance": "exact"}, ""
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
        grid = 10.0 ** -int(params.get("digits", 0))
        return {"distance": {"rounded": {"grid": grid}}}, "Python rounds halves to even digits of the binary number"
    if name == "type_convert":
        step = "text" if params.get("to") == "str" else "decimal"
        return {"normalize": [step, *known]}, "it writes and reads values as Python does"
    return {}, "it is a transform of your own: load it as a custom normaliser"
