"""The keyword `evaluation_config` of extract-bench, as its version 0.1.0 reads it.

A value is compared by the metrics of its configuration, or of its type; objects have none. A list is compared as a
whole. Its items are not compared, so that in lists only configurations are translated, not the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre.dialects.draft import AMOUNT, OBJECT, is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.dialects.draft import Draft
    from arbitre.dialects.position import Position
    from arbitre.schema import Subschema
    from arbitre.values import Json

KEYWORD: Final = "evaluation_config"
_PRESETS: Final[Mapping[str, Mapping[str, Json]]] = {"number_tolerance": {"tolerance": 1e-3}}
"""Parameters of a metric that is given by its name alone."""
_PARAMETERS: Final = {"number_tolerance": {"tolerance": AMOUNT}}
"""Accepted parameters by metric."""
_TOLERANCE: Final = 1e-6
"""Tolerance of `number_tolerance` in a list of metrics without parameters."""
_DEFAULTS: Final = {
    "string": "string_semantic",
    "integer": "integer_exact",
    "number": "number_tolerance",
    "boolean": "boolean_exact",
    "array": "array_llm",
}
_MODEL: Final = "it asks a language model"
_MODELS: Final = frozenset({"string_semantic", "string_llm"})
"""Metrics of texts that ask a language model."""


def translate(position: Position, draft: Draft) -> bool:
    """Add the settings of a position to a draft; return whether those of the nested positions follow."""
    if position.role == "root":
        draft.set(position, {"absent": [None, []]})
    found, in_list = position.keyword(KEYWORD), position.in_list
    if found is None and in_list:
        return True
    if position.types == {"object"} and position.structured and position.open and not in_list:
        draft.set(position, {"undeclared": "ignore"})
    metrics = _metrics(position, *found, draft) if found else _default(position)
    if metrics is None:
        return False
    if not metrics and (found or position.union) and position.types != {"object"}:
        return _skip(position, draft, configured=found is not None)
    for name, params in list(metrics.items())[:1]:
        settings, reason = _comparison(name, params, position)
        reason = "a value has one distance in arbitre: this is the first metric" if len(metrics) > 1 else reason
        if reason:
            key, part = (KEYWORD, found[1]) if found else (None, position.node)
            draft.miss(position, key, reason, settings, part=part, value=None if found else name)
        else:
            draft.set(position, settings)
    return bool(position.types & {"array", "object"})


def _skip(position: Position, draft: Draft, *, configured: bool) -> bool:
    """Leave out a value that extract-bench does not compare; return whether its nested values are compared."""
    ignore = {"ignore": True} if position.role == "field" else None
    if configured and ignore:
        draft.set(position, ignore)
        return False
    reason = "only a field can be left out" if configured else "extract-bench compares no union without configuration"
    draft.miss(position, KEYWORD if configured else None, reason, ignore, value="skip")
    return bool(position.types & {"array", "object"}) and not (draft.nearest and ignore)


def _default(position: Position) -> dict[str, Mapping[str, Any]]:
    if position.union or len(position.types) != 1:
        return {}
    (kind,) = position.types
    return {_DEFAULTS[kind]: _PRESETS.get(_DEFAULTS[kind], {})} if kind in _DEFAULTS else {}


def _metrics(position: Position, config: Json, part: Subschema, draft: Draft) -> dict[str, Mapping[str, Any]] | None:
    """Return the metrics of a configuration with their parameters; None if it is not valid."""
    if isinstance(config, str):
        return {} if config == "skip" else {config: _PRESETS.get(config, {})}
    metrics: Any = config.get("metrics", []) if isinstance(config, dict) else None
    valid = isinstance(metrics, list) and all(
        isinstance(one, dict) and isinstance(one.get("metric_id"), str) for one in metrics
    )
    expected = 'the name of a metric, or {"metrics": [{"metric_id": ...}]}'
    if not draft.expect(valid, position, KEYWORD, expected, part=part):
        return None
    for index, one in enumerate(metrics):
        params, kinds = one.get("params") or {}, _PARAMETERS.get(one["metric_id"], {})
        inside = ("metrics", index, "params")
        ok = draft.expect(OBJECT.accepts(params), position, KEYWORD, OBJECT.text, part=part, inside=inside)
        if not ok or not draft.expect_parameters(params, kinds, position, KEYWORD, part=part, inside=inside):
            return None
    weights = [config.get("aggregation_weight"), *(one.get("weight") for one in metrics)]
    weight = next((weight for weight in weights if weight is not None), None)
    if weight is not None:
        nearest = {"weight": weight} if position.role == "field" and is_number(weight) and weight > 0 else None
        reason, value = "extract-bench does not read weights", f"with the weight {weight}"
        draft.miss(position, KEYWORD, reason, nearest, part=part, value=value)
    return {one["metric_id"]: one.get("params") or {} for one in metrics}


def _comparison(name: str, params: Mapping[str, Any], position: Position) -> tuple[dict[str, Json], str]:
    """Return the settings of a metric, and why they are not exact; empty if they are."""
    types = position.types
    if types & {"array", "object"}:
        if name == "array_llm" and "array" in types:
            return {"match": "hungarian"}, _MODEL
        return {}, "an object or a list has the quality of its values in arbitre"
    match name:
        case "string_semantic" | "string_llm" | "string_exact" | "string_case_insensitive" | "string_fuzzy":
            settings, reason = _as_text(_text(name, params), position)
            return settings, _MODEL if name in _MODELS else reason
        case "boolean_exact":
            return {"distance": "exact"}, "" if types == {"boolean"} else "values that are not booleans are equal"
        case "number_tolerance" | "number_exact" | "integer_exact":
            return _numeric(name, params, types)
    return {}, "it is a metric of your own: load it as a custom distance"


def _text(name: str, params: Mapping[str, Any]) -> dict[str, Json]:
    """Return the settings of a metric of texts."""
    if name in _MODELS:
        return {"distance": "token-set", "normalize": ["lower"]}
    if name == "string_fuzzy":
        lower = {} if params.get("case_sensitive") else {"normalize": ["lower"]}
        return {"distance": {"ratcliff-obershelp": {"autojunk": True}}, **lower}
    folded = {"normalize": ["casefold"]} if name == "string_case_insensitive" else {}
    return {"distance": "exact", **folded}


def _numeric(name: str, params: Mapping[str, Any], types: frozenset[str]) -> tuple[dict[str, Json], str]:
    within = params.get("tolerance", _TOLERANCE) if name == "number_tolerance" else 0
    settings: dict[str, Json] = {"distance": {"tolerance": {"within": within}} if within else "exact"}
    if not types <= {"integer", "number"}:
        return settings | {"normalize": ["decimal"]}, "texts that are not numbers are equal"
    return settings, "it drops the decimal places" if name == "integer_exact" and "number" in types else ""


def _as_text(settings: Mapping[str, Json], position: Position) -> tuple[dict[str, Json], str]:
    """Return the settings of texts, for values that may also be numbers or booleans, and why they are not exact."""
    types, steps = position.types, list[Any](settings.get("normalize", []))
    if types == {"string"}:
        exact = settings["distance"] == "exact"
        return {**settings, **({"normalize": steps} if steps or (exact and position.decimal) else {})}, ""
    alike = types and "number" not in types and ("boolean" not in types or types == {"boolean"})
    reason = "" if alike else "it compares values as Python writes them"
    return {**settings, "normalize": ["text", *steps]}, reason
