"""Changes that repair a cause: settings in an overlay, or corrections of the predictions."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from copy import copy
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from arbitre.normalizers import catalogue
from arbitre.paths import STAR, parse
from arbitre.schema.describe import steps_to
from arbitre.schema.nodes import leaves_of
from arbitre.values import ABSENT, Json, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.normalizers import Normalizer
    from arbitre.paths import Path
    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan


@dataclass(frozen=True, slots=True)
class OverlayChange:
    """Settings by wildcard path, as in an overlay.

    Attributes:
        overlay: The settings.
    """

    overlay: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of the predictions that no overlay can make.

    Attributes:
        correct: `correct(at, predicted)` returns the corrected prediction of a document, given by its position in the
            sample. It must not modify its argument. It may return the argument itself.
        documents: Positions of the documents that it changes; None for all.
    """

    correct: Callable[[int, Json], Json]
    documents: frozenset[int] | None = None


Change: TypeAlias = OverlayChange | Correction


Places: TypeAlias = defaultdict[int, dict[str, tuple[Json, Json]]]
"""Old and new value by document and by JSON Pointer in the prediction."""


def replacement(values: Places) -> Correction:
    """Return the correction that replaces values in predictions.

    Args:
        values: The values. ABSENT stands for a missing key. A value that is no longer the old one is not replaced: an
            earlier change may have moved it.
    """

    def correct(at: int, predicted: Json) -> Json:
        for place, (old, new) in values[at].items():
            predicted = _replaced(predicted, parse(place), old, new)
        return predicted

    return Correction(correct, frozenset(values))


def _replaced(value: Json, tokens: Path, old: Json, new: Json) -> Json:
    """Return a value in which a part is replaced. Only the lists and objects around the part are copied."""
    if not tokens:
        if value is ABSENT or old is ABSENT:
            return new if value is old else value
        return new if canonical(value) == canonical(old) else value
    name = str(tokens[0])
    token: str | int = name
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        token = int(name)
        inner = value[token]
    elif isinstance(value, dict):
        inner = value.get(name, ABSENT)
    else:
        return value
    changed = _replaced(inner, tokens[1:], old, new)
    if changed is inner:
        return value
    copied = copy(value)
    if changed is ABSENT:
        del copied[token]
    else:
        copied[token] = changed
    return copied


REDUCING: Final = frozenset({"concat", "digits", "numbers"})
"""Normalisers of which the result no longer shows the notation of a value."""


def site_at(plan: Plan, path: str) -> Site | None:
    """Return the site at a wildcard path; None if the schema does not declare the path."""
    tokens = parse(path)
    steps = steps_to(plan.sites, tokens)
    return plan.sites[steps[-1].site] if len(steps) == len(tokens) + 1 else None


def declared_normalizers(site: Site) -> tuple[Normalizer, ...]:
    """Return the normalisers that are declared for the values of a site, in order."""
    if site.leaf is not None:
        return tuple(one for one in site.leaf.normalizers if not one.implied)
    several = [site.normalizers, *(leaf.normalizers for leaf in leaves_of(site, site.declared or frozenset(Kind)))]
    return tuple(one for one in max(several, key=len) if not one.implied)


def normalizers_before(site: Site) -> tuple[Normalizer, ...]:
    """Return the declared normalisers of a site after which `with_normalizers` adds others."""
    return tuple(takewhile(lambda one: one.name not in REDUCING, declared_normalizers(site)))


def with_normalizers(plan: Plan, path: str, added: Sequence[Json]) -> dict[str, Json]:
    """Return the settings of a path that add normalisers after those that it already has, but before `REDUCING`."""
    site = site_at(plan, path)
    present = [] if site is None else [_spec(one) for one in declared_normalizers(site)]
    at = 0 if site is None else len(normalizers_before(site))
    return {"normalize": [*present[:at], *(one for one in added if one not in present), *present[at:]]}


def with_absent(plan: Plan, path: str, added: Sequence[Json]) -> dict[str, Json]:
    """Return the settings of a path that count further values as absent."""
    site = site_at(plan, path)
    present = [None] if site is None else list(site.absent.values)
    return {"absent": [*present, *(one for one in added if one not in present)]}


def _spec(normalizer: Normalizer) -> Json:
    """Return a normaliser as it is written in a schema, without what its options imply, such as versions."""
    factory = catalogue.entries.get(normalizer.name)
    known = {} if factory is None else factory.options
    declared = normalizer.options if normalizer.authority is None else normalizer.authority.declared
    options = {name: value for name, value in declared.items() if name in known}
    return {normalizer.name: options} if options else normalizer.name


# JMESPath expressions that correct predictions.


def jmespath_key(key: str) -> str:
    """Return a key as it is written in a JMESPath expression."""
    return key if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", key) else json.dumps(key, ensure_ascii=False)


def project_advice(expression: str) -> str:
    """Return the end of a sentence on how to apply a JMESPath expression to predictions."""
    return f"use --project with a file that contains {json.dumps({'predicted': expression}, ensure_ascii=False)}."


def with_projected(path: Path, corrected: Callable[[str], str]) -> str:
    """Return a JMESPath expression for a document in which the value at a path is replaced.

    Args:
        path: Wildcard path of the value. Wildcards stand for items of lists.
        corrected: Returns the expression for the new value, given that for the old one.

    >>> with_projected(parse("/people/*/name/first"), lambda old: f"to_array({old})[0]")
    'merge(@, {people: people[*].merge(@, {name: name && merge(name, {first: to_array(name.first)[0]})})})'
    """

    def inside(base: str, rest: Path) -> str:
        if not rest:
            return corrected(base)
        if rest[0] is STAR:
            return f"{'' if base == '@' else base}[*].{inside('@', rest[1:])}"
        key = jmespath_key(str(rest[0]))
        place = key if base == "@" else f"{base}.{key}"
        merged = f"merge({base}, {{{key}: {inside(place, rest[1:])}}})"
        return merged if base == "@" else f"{base} && {merged}"

    return inside("@", path)
