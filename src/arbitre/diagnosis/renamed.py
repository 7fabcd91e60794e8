"""Renamed fields: a field is missing in an object, and the same value is in the object under another key.

A key that is only spelt differently always counts. With another name, the values decide: they are tested together like
moved values, as the values of several fields of one object support each other.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.diagnosis.moved import MovedNodes, significant
from arbitre.diagnosis.moved_candidates import MoveCandidate, has_undeclared_key
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.engine.columns.column import Column
from arbitre.paths import STAR
from arbitre.values import canonical, single_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from arbitre.arrays import Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.moved_chance import UsualValues
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MIN_SHARED: Final = 0.5
"""Minimum share of the single values of two lists or objects that are equal, for both to be one value."""


class _Field(NamedTuple):
    """A field that only one side of an object has."""

    node: int
    key: str
    path: str
    declared: bool
    value: Json


def renamed_fields(
    plan: Plan, levels: Sequence[Level], documents: int, usual: UsualValues | None = None
) -> list[list[MovedNodes]]:
    """Return the nodes of the renamed fields of each document.

    Args:
        plan: The compiled schema.
        levels: The levels of the documents.
        documents: Number of documents.
        usual: How often each value occurs in the gold of the corpus; None for a single pair.
    """
    found: list[list[MovedNodes]] = [[] for _ in range(documents)]
    equal: list[tuple[int, int, _Field, _Field, int]] = []
    tests = [0] * documents
    for document, parent, missing, spurious in _incomplete(plan, levels):
        certain = list(_same_key(missing, spurious))
        found[document] += [MovedNodes(gold.node, predicted.node) for gold, predicted in certain]
        taken = {node for gold, predicted in certain for node in (gold.node, predicted.node)}
        known = [gold for gold in missing if gold.declared and gold.node not in taken]
        unknown = [predicted for predicted in spurious if not predicted.declared and predicted.node not in taken]
        tests[document] += bool(known and unknown)
        equal += [
            (document, parent, gold, predicted, len(unknown))
            for gold in known
            for predicted in unknown
            if mostly_equal(gold.value, predicted.value)
        ]
    candidates: list[list[MoveCandidate]] = [[] for _ in range(documents)]
    counts = _gold_counts(levels, {gold.path for _, _, gold, _, _ in equal})
    for document, parent, gold, predicted, rivals in equal:
        chance = min(1.0, _chance(gold, predicted, counts[document, gold.path], usual, document) * rivals)
        candidates[document].append(MoveCandidate(document, parent, parent, gold.node, predicted.node, 1.0, chance, 1))
    tried = map(significant, candidates, tests)
    return [[*certain, *likely] for certain, likely in zip(found, tried, strict=True)]


def _incomplete(plan: Plan, levels: Sequence[Level]) -> Iterator[tuple[int, int, list[_Field], list[_Field]]]:
    """Yield the matched objects with missing and spurious fields: document, node, and these fields."""
    paired = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
    for level in levels:
        paired[level.nodes] = level.paired & (not level.kind_mismatch)
    fields = [(level, _alone(level, paired)) for level in levels if _is_field(level)]
    wanted = np.ones(len(paired), dtype=np.bool_)
    for side in range(2):
        incomplete = np.zeros(len(paired), dtype=np.bool_)
        for level, nodes_by_side in fields:
            incomplete[level.parent[nodes_by_side[side]]] = True
        wanted &= incomplete
    found: defaultdict[tuple[int, int], tuple[list[_Field], list[_Field]]] = defaultdict(lambda: ([], []))
    for level, sides in fields if wanted.any() else ():
        column = level.source
        undeclared = level.named or (isinstance(column, Column) and has_undeclared_key(plan, column))
        for side, (rows, nodes) in enumerate(zip((level.left, level.right), sides, strict=True)):
            at = nodes[wanted[level.parent[nodes]]]
            documents, parents = level.document[at].tolist(), level.parent[at].tolist()
            keys, values = level.source.tokens_of(rows[at]), level.source.values_of(rows[at])
            for node, *place, key, value in zip(at.tolist(), documents, parents, keys, values, strict=True):
                document, parent = place
                one = _Field(level.first + node, str(key), level.text, not undeclared, value)
                found[document, parent][side].append(one)
    for document, parent in sorted(found):
        yield document, parent, *found[document, parent]


def _is_field(level: Level) -> bool:
    """Return whether the nodes of a level are the fields of objects, but not the values of maps."""
    return not level.item and not level.inner and bool(level.path) and (level.named or level.path[-1] is not STAR)


def _alone(level: Level, paired: Mask) -> tuple[Indices, Indices]:
    """Return the nodes of a level in matched objects that only gold has, and those that only the prediction has."""
    gold, predicted, both = level.node_masks()
    inside = paired[level.parent] & ~both
    return (gold & inside).nonzero()[0], (predicted & inside).nonzero()[0]


def _same_key(missing: Sequence[_Field], spurious: Sequence[_Field]) -> Iterator[tuple[_Field, _Field]]:
    """Yield the fields whose keys are only spelt differently; each field occurs once."""
    by_key: defaultdict[str, list[_Field]] = defaultdict(list)
    for predicted in spurious:
        by_key[fold(predicted.key)].append(predicted)
    for gold in [*missing]:
        alike = by_key.get(fold(gold.key), [])
        for predicted in sorted(alike, key=lambda one: letters(one.key) != letters(gold.key)):
            one_word = letters(predicted.key) == letters(gold.key)
            if fold(gold.key) and (one_word or (gold.declared and not predicted.declared)):
                alike.remove(predicted)
                yield gold, predicted
                break


def _gold_counts(levels: Sequence[Level], paths: AbstractSet[str]) -> defaultdict[tuple[int, str], Counter[Hashable]]:
    """Return the gold values of some paths of each document, with their number."""
    counts: defaultdict[tuple[int, str], Counter[Hashable]] = defaultdict(Counter)
    for level in levels:
        if level.leaf and not level.named and level.text in paths:
            at = (level.left >= 0).nonzero()[0]
            values = level.source.values_of(level.left[at])
            for document, value in zip(level.document[at].tolist(), values, strict=True):
                counts[document, level.text][canonical(value)] += 1
    return counts


def _chance(gold: _Field, predicted: _Field, own: Counter[Hashable], usual: UsualValues | None, document: int) -> float:
    """Return the probability that an unrelated value agrees with the value of a field.

    It is estimated as for moved values: from the length of the value, from its share in the document, and from its
    share in the corpus. The single values of lists and objects count as independent.
    """
    if isinstance(gold.value, (list, dict)):
        inside = {canonical(value) for value in single_values(predicted.value)}
        shared = {canonical(value): base_chance(value) for value in single_values(gold.value)}
        return prod(chance for key, chance in shared.items() if key in inside)
    total, count = own.total(), own[canonical(gold.value)]
    single = sum(number == 1 for number in own.values()) / max(total, 1)
    chance = max(base_chance(gold.value), (count - single) / max(total, 1))
    if usual is None:
        return chance
    numbers = np.array([count]), np.array([total])
    other = usual.frequencies.chance(gold.path, [gold.value], *numbers, usual.counted[document : document + 1])
    return max(chance, float(other[0]))


# The spellings of keys, and equal values.


def letters(key: str) -> str:
    """Return the letters and digits of a key, without case and accents.

    >>> letters("Année-de-naissance")
    'anneedenaissance'
    """
    return "".join(one for one in unicodedata.normalize("NFKD", key).casefold() if one.isalnum())


def fold(key: str) -> str:
    """Return what all spellings of a key have in common: its letters and digits in the singular.

    >>> {fold(key) for key in ("container-title", "container_title", "containerTitle", "Container Titles")}
    {'containertitle'}
    """
    folded = letters(key)
    if folded.endswith("ies"):
        return f"{folded[:-3]}y"
    if folded.endswith(("sses", "xes", "ches", "shes")):
        return folded[:-2]
    return folded[:-1] if folded.endswith("s") and not folded.endswith("ss") and len(folded) > 1 else folded


def mostly_equal(gold: Json, predicted: Json) -> bool:
    """Return whether two values are equal, or two lists or two objects share most of their single values.

    >>> mostly_equal([1, 2, 3], [3, 2, 1, 4]), mostly_equal("1", 1)
    (True, False)
    """
    if isinstance(gold, (list, dict)) and type(gold) is type(predicted):
        sides = [Counter(map(canonical, single_values(side))) for side in (gold, predicted)]
        size = sum(side.total() for side in sides)
        return size > 0 and MIN_SHARED * size <= 2 * (sides[0] & sides[1]).total()
    return canonical(gold) == canonical(predicted)
