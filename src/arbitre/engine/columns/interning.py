"""Normalise leaf values and give equal values the same code.

Each value that is not absent gets three numbers:

* its *code*, the same for equal normalised values;
* the *slot* of the code: the kind of the value, and which leaf (a distance with its normalisers) compares it. Branches
  of a union can have different leaves. Values in different slots have distance 1;
* its *local* index: its position among the values of its slot, which is its index in the pool of this slot.

For example, if texts and numbers have different distances:

    value    "May"   1931   null   "June"   "May"
    code     0       1      -1     2        0
    slot     0       1             0        0
    local    0       0             1        0
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, count, pairwise
from types import MethodDescriptorType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.distances.base import Placed, Surroundings
from arbitre.engine.columns.alternatives import AcceptedForms, FormsPool
from arbitre.engine.columns.ragged import starts_of
from arbitre.normalizers import is_surely_nfc, normalize, normalized
from arbitre.values import KINDS, Json, Kind, canonical, check_integers, check_number, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Indices, Mask
    from arbitre.distances.base import Pool
    from arbitre.normalizers import Normalizer
    from arbitre.schema.nodes import Leaf, ScalarBranch, Site


class Interned(NamedTuple):
    """Interned values, as fields of a `LeafColumn`.

    Attributes:
        codes: Code of each value; -1 if absent. Shape (values,).
        values: Normalised value of each code; shape (codes,).
        kinds: `Kind` of each code.
        slots: Slot of each code.
        local: Index of each code in the pool of its slot.
        pools: Pool of each slot.
        leaves: Distance and normalisers of each slot.
        present: Mask of the values that are not absent; None for all.
        forms: The accepted forms of the values; None if each value has one form.
    """

    codes: Indices
    values: list[Json]
    kinds: npt.NDArray[np.int8]
    slots: npt.NDArray[np.int16]
    local: Indices
    pools: tuple[Pool, ...]
    leaves: tuple[Leaf, ...]
    present: Mask | None
    forms: AcceptedForms | None = None


def intern(site: Site, values: Sequence[Json], types: set[type], tags: Indices | None) -> Interned:
    """Normalise the values of a site and give equal values the same code.

    Values of one plain type (text or integer) with one leaf are normalised and coded together by a dictionary, all
    others one by one. Both ways give the same result. The first saves 24% on single documents with 20 nested entries,
    40% on a corpus of them.

    Args:
        site: The position of the values in the schema.
        values: The values as they were read.
        types: The types of the values.
        tags: The parent's branch of a union for each value, if the site depends on it.

    Raises:
        DataError: A number is not finite, or a value is not JSON. The error has no pointer yet.
    """
    if tags is not None or not types <= _PLAIN:
        return _by_value(site, values, tags)
    normalizers = site.leaf.normalizers if site.leaf is not None else site.normalizers
    if normalizers and normalizers[0].implied and is_surely_nfc(values, types):
        normalizers = normalizers[1:]
    inputs: Iterable[Json] = values
    input_of_value, size = None, len(values)  # None: value t is input t
    if types <= _HASHED and not _as_cheap_as_lookup(normalizers):  # normalise each distinct value once
        input_of_value, inputs = _codes_and_distinct(values, size)
        size = len(inputs)
    normals, types = normalized(normalizers, inputs, types)
    leaf = _only_leaf(site, KINDS[next(iter(types))]) if len(types) == 1 and types <= _HASHED else None
    if leaf is None or (site.absent.texts and types != {str}):  # the texts may have been normalised to numbers
        return _by_value(site, values, None)
    codes, distinct = _codes_and_distinct(normals, size)
    if int in types:
        check_integers(distinct)
    some_absent = not site.absent.normal_texts.isdisjoint(distinct)
    if some_absent:
        absent = [code for code, value in enumerate(distinct) if value in site.absent.normal_texts]
        codes[np.isin(codes, absent)] = -1
    if input_of_value is not None:
        codes = codes[input_of_value]
    return Interned(
        codes=codes,
        values=distinct,
        kinds=np.full(len(distinct), int(KINDS[type(distinct[0])]), dtype=np.int8),
        slots=np.zeros(len(distinct), dtype=np.int16),
        local=np.arange(len(distinct), dtype=np.intp),
        pools=(leaf.distance.pool(distinct),),
        leaves=(leaf,),
        present=codes >= 0 if some_absent else None,
    )


def intern_forms(site: Site, values: Sequence[Json], siblings: Sequence[Json], tags: Indices | None) -> Interned:
    """Intern values of which gold may accept several forms; values with the same forms share a code.

    For example, for the list of forms ["Paris", "Lutèce"] and the value "Paris", the forms have the codes 0, 1 and 0,
    the values have the codes 0 and 1. The pool of the values computes distances from those of the forms.

    Args:
        site: The position of the values in the schema.
        values: The values as they were read. If the site takes lists of forms, a list on either side is one.
        siblings: Further forms of the first values, one form or a list of forms each; null for none.
        tags: As for `intern`.

    A form that counts as absent is left out. A value is absent if it has no form, or if its sibling field has some but
    the value itself is absent.

    Returns:
        The values. Their only slot is that of all forms together, with the leaf of the first form.
    """
    in_lists = site.alternatives is True
    groups = [value if in_lists and isinstance(value, list) else [value] for value in values]
    for row, sibling in enumerate(siblings):
        if sibling is not None:
            groups[row] = [values[row], *(sibling if isinstance(sibling, list) else [sibling])]
    starts = starts_of(np.fromiter(map(len, groups), dtype=np.intp, count=len(groups)))
    all_forms = list(chain.from_iterable(groups))
    forms = intern(site, all_forms, set(map(type, all_forms)), None if tags is None else tags.repeat(np.diff(starts)))

    code_of: dict[tuple[int, ...], int] = {}  # code of each distinct value, by the codes of its forms
    codes = np.full(len(values), -1, dtype=np.intp)
    form_codes = forms.codes.tolist()
    for row, (start, stop) in enumerate(pairwise(starts.tolist())):
        kept = tuple(dict.fromkeys(code for code in form_codes[start:stop] if code >= 0))
        if kept and (in_lists or form_codes[start] >= 0):
            codes[row] = code_of.setdefault(kept, len(code_of))

    members = np.fromiter(chain.from_iterable(code_of), dtype=np.intp)
    first = starts_of(np.fromiter(map(len, code_of), dtype=np.intp, count=len(code_of)))
    pool = FormsPool(first, members, forms.kinds, forms.slots, forms.local, forms.pools)
    return Interned(
        codes=codes,
        values=[forms.values[kept[0]] for kept in code_of],
        kinds=forms.kinds[members[first[:-1]]],
        slots=np.zeros(len(code_of), dtype=np.int16),
        local=np.arange(len(code_of), dtype=np.intp),
        pools=(pool,) if code_of else (),
        leaves=forms.leaves[:1],
        present=codes >= 0 if len(codes) and codes.min() < 0 else None,
        forms=AcceptedForms(pool, starts, all_forms, forms.values, forms.codes),
    )


def with_surroundings(parts: Interned, around: Sequence[Surroundings]) -> Interned:
    """Return values of which each has a code of its own, and of which the pools know the surroundings.

    Args:
        parts: The values.
        around: Surroundings of each value; shape (values,).
    """
    present = (parts.codes >= 0).nonzero()[0]
    old = parts.codes[present]
    codes = np.full_like(parts.codes, -1)
    codes[present] = np.arange(len(present), dtype=np.intp)
    values, slots = [parts.values[code] for code in old.tolist()], parts.slots[old]
    local = np.zeros(len(old), dtype=np.intp)
    pools = []
    for slot, leaf in enumerate(parts.leaves):
        own = (slots == slot).nonzero()[0]
        local[own] = np.arange(len(own), dtype=np.intp)
        members: list[Any] = [values[at] for at in own.tolist()]
        if leaf.distance.context:
            places = (around[row] for row in present[own].tolist())
            members = [Placed(*both) for both in zip(members, places, strict=True)]
        pools.append(leaf.distance.pool(members))
    return parts._replace(
        codes=codes, values=values, kinds=parts.kinds[old], slots=slots, local=local, pools=tuple(pools)
    )


def _as_cheap_as_lookup(normalizers: Sequence[Normalizer]) -> bool:
    """Return whether normalising a text is as cheap as looking it up: only NFC and built-in string methods."""
    return all(one.implied or isinstance(one.of_text, MethodDescriptorType) for one in normalizers)


_HASHED: Final = frozenset({str, int})
"""Types for which two values of the same type are equal as JSON if and only if they are equal in Python."""

_PLAIN: Final = _HASHED | {list}
"""Types of values that may be coded together; normalisers such as `concat` turn lists into texts."""


def _codes_and_distinct(values: Iterable[Json], size: int) -> tuple[Indices, list[Json]]:
    """Return a code for each of `size` values, and the distinct values in order of appearance."""
    code: defaultdict[Json, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, values), dtype=np.intp, count=size)
    return codes, list(code)


def _only_leaf(site: Site, kind: Kind) -> Leaf | None:
    """Return the leaf that compares all values of a kind, if there is only one and it does not normalise further."""
    if site.leaf is not None:
        return site.leaf if kind in site.leaf.distance.kinds else None
    choices = site.scalars[kind]
    return choices[0].leaf if len(choices) == 1 and not choices[0].leaf.normalizers else None


def _by_value(site: Site, values: Sequence[Json], tags: Indices | None) -> Interned:
    """Intern the values like `intern`, but one distinct value at a time."""
    input_of_value, distinct = _distinct(values, tags)
    code_of: dict[tuple[int, Hashable], int] = {}  # by slot and canonical normalised value
    normals: list[Json] = []  # of each code, as the next three
    kinds: list[int] = []
    slots: list[int] = []
    local: list[int] = []
    compared: list[tuple[Kind, Leaf]] = []  # kind and leaf of each slot
    members: list[list[Json]] = []  # the normalised values of each slot
    code_of_input = np.empty(len(distinct), dtype=np.intp)
    for position, (value, tag) in enumerate(distinct):
        normal, kind, leaf = _resolve(site, value, tag)
        if site.absent.covers(normal) or (isinstance(value, str) and value in site.absent.texts):
            code_of_input[position] = -1
            continue
        slot = next((number for number, known in enumerate(compared) if known == (kind, leaf)), len(compared))
        if slot == len(compared):
            compared.append((kind, leaf))
            members.append([])
        key = (slot, canonical(normal))
        code = code_of.get(key)
        if code is None:
            code = code_of[key] = len(normals)
            normals.append(normal)
            kinds.append(kind)
            slots.append(slot)
            local.append(len(members[slot]))
            members[slot].append(normal)
        code_of_input[position] = code
    codes = code_of_input[input_of_value]
    leaves = tuple(leaf for _, leaf in compared)
    return Interned(
        codes=codes,
        values=normals,
        kinds=np.array(kinds, dtype=np.int8),
        slots=np.array(slots, dtype=np.int16),
        local=np.array(local, dtype=np.intp),
        pools=tuple(leaf.distance.pool(values) for leaf, values in zip(leaves, members, strict=True)),
        leaves=leaves,
        present=codes >= 0 if len(code_of_input) and code_of_input.min() < 0 else None,
    )


def _distinct(values: Sequence[Json], tags: Indices | None) -> tuple[Indices, list[tuple[Json, int | None]]]:
    """Return the position of each value among the distinct values, and these with their tags, before normalisation.

    Values with the same tag are the same if they are equal as JSON.
    """
    by_value: dict[Hashable, int] = {}
    by_identity: dict[tuple[int, int | None], int] = {}  # documents may share objects and lists
    distinct: list[tuple[Json, int | None]] = []
    positions = []
    for value, tag in zip(values, [None] * len(values) if tags is None else tags.tolist(), strict=True):
        position = by_identity.get((id(value), tag))
        if position is None:
            position = by_identity[id(value), tag] = by_value.setdefault((tag, canonical(value)), len(by_value))
            if position == len(distinct):
                distinct.append((value, tag))
        positions.append(position)
    return np.array(positions, dtype=np.intp), distinct


def _resolve(site: Site, value: Json, tag: int | None) -> tuple[Json, Kind, Leaf]:
    """Return the normalised value, its kind, and the leaf that compares it."""
    if site.leaf is not None:
        leaf = site.leaf
        normal = normalize(leaf.normalizers, value)
        kind = kind_of(normal)
        return normal, kind, leaf if kind in leaf.distance.kinds else _by_kind(site, kind)
    normal = normalize(site.normalizers, value)
    kind = kind_of(normal)
    leaf = _by_kind(site, kind, canonical(normal), tag)
    if leaf.normalizers:
        normal = normalize(leaf.normalizers, normal)
        kind = kind_of(normal)
        if kind not in leaf.distance.kinds:
            leaf = _by_kind(site, kind)
    check_number(normal)
    return normal, kind, leaf


def _by_kind(site: Site, kind: Kind, key: Hashable = None, tag: int | None = None) -> Leaf:
    """Return the leaf of a kind: the first choice for the tag that lists the value, or the first without a list."""
    if not kind.scalar:
        return site.other
    choices: tuple[ScalarBranch, ...] = site.scalars[kind]
    if tag is not None:
        choices = tuple(choice for choice in choices if choice.tags is None or tag in choice.tags) or choices
    if len(choices) > 1:
        named = [choice for choice in choices if choice.values is not None and key in choice.values]
        free = [choice for choice in choices if choice.values is None]
        choices = (*named, *free, *choices)
    return choices[0].leaf
