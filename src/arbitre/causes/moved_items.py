"""Items and objects that predictions have at another level: promoted to a list further out, or demoted further in.

The items of an inner list also count as promoted if the prediction is a flat table with one row per inner item, in
which the values of the outer item are repeated.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.causes.changes import Correction, replacement
from arbitre.causes.items import (
    MAX_CHANCE,
    MAX_COMPARED,
    MIN_VALUES,
    SAME_SHARE,
    common_share,
    holder_of,
    leaves_of,
    part_at,
    tokens_of,
)
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import NO_PARTNER, excess_p, share_p
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.paths import STAR, escape, values_at, wildcard
from arbitre.paths import pointer as pointer_to
from arbitre.schema.describe import walk
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.causes.changes import Places
    from arbitre.causes.items import Leaves
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.paths import Path
    from arbitre.values import Json

CHANCE_MOVES: Final = 0.02
"""Share of documents in which chance makes an object appear as moved; see the simulations in `tests.bench.moves`."""

LIKELY_SHARE: Final = 0.4
"""Minimum share of the content that a missing and a predicted item share, if other items at their paths moved."""

FEW_DOCUMENTS: Final = 3
"""In corpora with fewer documents, faults are counted instead of documents."""


class _Move(NamedTuple):
    """A predicted value that belongs to another place.

    Attributes:
        document: The document.
        value: The value.
        tokens: Its tokens in the prediction.
        place: Its place in gold: the tokens from the root, each with those of its partner in the prediction, if any.
        faults: Numbers of its faults.
    """

    document: int
    value: Json
    tokens: Sequence[str]
    place: Sequence[tuple[int | str, Sequence[str] | None]]
    faults: Sequence[int]


def on_another_level(sample: Sample) -> Iterator[Proposal]:
    """Propose that objects and lists belong to a list or an object further in (promoted) or further out (demoted)."""
    groups: defaultdict[tuple[str, str], list[_Move]] = defaultdict(list)
    inner: defaultdict[int, list[SampleFault]] = defaultdict(list)
    for fault in sample.faults:
        if fault.fault == "moved" and isinstance(fault.gold, dict | list):
            path = sample.predicted_path(fault)
            if path is not None and path != fault.path:
                move = _move(sample, fault, fault.predicted_pointer or "", fault.predicted)
                groups[fault.path, path].append(move)
            else:
                inner[fault.document].append(fault)
        elif fault.fault == "merged" and isinstance(fault.gold, dict) and isinstance(fault.predicted, dict):
            for key, moves in _merged(sample, fault):
                groups[fault.path, f"{fault.path}/{escape(key)}/*"] += moves
    ids = len({pair.id for pair in sample.pairs})
    for (path, other), moves in groups.items():
        number = len(moves) if ids < FEW_DOCUMENTS else len({sample.pairs[move.document].id for move in moves})
        p = min(1.0, len(groups) * excess_p(number, [CHANCE_MOVES] * ids))
        if p > MAX_CHANCE:
            continue
        depths = _depth(other), _depth(path)
        kind = "promoted" if depths[0] < depths[1] else "demoted" if depths[0] > depths[1] else "other-field"
        every = [*moves, *_likely(sample, path, other), *_inside_moved(sample, moves, inner)]
        yield Proposal(
            kind,
            "prediction",
            (path,),
            tuple(dict.fromkeys(number for move in every for number in move.faults)),
            Correction(_Relocation.of(every, sample.matched).correct, frozenset(move.document for move in every)),
            p,
            advice=f"State in the prompt that these items belong at {path}; predictions have them at {other}.",
        )


def _move(sample: Sample, fault: SampleFault, pointer: str, value: Json, *others: int) -> _Move:
    """Return the move of a predicted value to the place of the gold value of a fault."""
    place = [(token, None if at is None else tokens_of(at)) for token, at in sample.place(fault)]
    return _Move(fault.document, value, tokens_of(pointer), place, (fault.number, *others))


def _inside_moved(
    sample: Sample, moves: Iterable[_Move], inner: Mapping[int, Sequence[SampleFault]]
) -> Iterator[_Move]:
    """Yield the moves of items that gold has inside moved items, but that the prediction has in another item."""
    for move in moves:
        tokens = tuple(str(token) for token, _ in move.place[1:])
        for fault in inner.get(move.document, ()):
            if tokens_of(fault.gold_pointer or "")[: len(tokens)] == tokens:
                yield _move(sample, fault, fault.predicted_pointer or "", fault.predicted)


def _merged(sample: Sample, fault: SampleFault) -> Iterator[tuple[str, list[_Move]]]:
    """Yield the moves of a gold item that is an item of a list inside the item that it was merged into.

    The items that follow it there may be those of its own list.

    Yields:
        The key of the list, and the moves of the item and of its own items.
    """
    own = {key: value for key, value in fault.gold.items() if not isinstance(value, list)}
    leaves = leaves_of(own)
    for key, items in fault.predicted.items():
        if len(leaves) < MIN_VALUES or not isinstance(items, list):
            continue
        shares = [common_share(leaves, leaves_of(item)) if isinstance(item, dict) else 0.0 for item in items]
        first = max(range(len(items)), key=lambda at: (shares[at], -at), default=0)
        if not items or shares[first] < SAME_SHARE:
            continue
        pointer = f"{fault.predicted_pointer}/{escape(key)}"
        head = _move(sample, fault, f"{pointer}/{first}", items[first])
        inner = fault.gold.get(key)
        parts = [leaves_of(item) for item in inner] if isinstance(inner, list) and key not in items[first] else []
        moves = [head]
        for at in range(first + 1, min(len(items), first + 1 + len(parts))):
            content = leaves_of(items[at])
            if any(common_share(content, part) >= LIKELY_SHARE for part in parts):
                place = [*head.place, (key, None), (at - first, None)]
                moves.append(_Move(fault.document, items[at], tokens_of(f"{pointer}/{at}"), place, ()))
        yield key, moves


def _likely(sample: Sample, path: str, other: str) -> list[_Move]:
    """Return the moves of items that probably belong elsewhere as well, although their content alone does not show it.

    Args:
        sample: The documents.
        path: Wildcard path in gold of items that moved.
        other: Their wildcard path in the predictions.
    """
    missing: defaultdict[int, list[tuple[SampleFault, Leaves]]] = defaultdict(list)
    for fault in sample.faults_by_path.get(path, ()):
        if fault.fault == "missing":
            missing[fault.document].append((fault, leaves_of(fault.gold)))
    places = _misplaced(sample, other, missing.keys())
    sizes = Counter(document for document, _ in places)
    ranked = []
    for (document, pointer), (value, least, numbers) in places.items():
        leaves = leaves_of(value)
        for fault, content in missing[document] if len(missing[document]) * sizes[document] <= MAX_COMPARED else ():
            share = common_share(content, leaves)
            if share >= LIKELY_SHARE and share > least:
                ranked.append((-share, fault.number, pointer, value, numbers))
    taken: set[Hashable] = set()
    moves = []
    for _, number, pointer, value, numbers in sorted(ranked, key=lambda one: one[:3]):
        fault = sample.faults[number]
        if not {number, (fault.document, pointer)} & taken:
            taken |= {number, (fault.document, pointer)}
            moves.append(_move(sample, fault, pointer, value, *numbers))
    return moves


def _misplaced(
    sample: Sample, path: str, documents: Container[int]
) -> dict[tuple[int, str], tuple[Json, float, tuple[int, ...]]]:
    """Return the predicted items of a path that may belong elsewhere, by document and JSON Pointer.

    Each is the item, the share of its content that its partner has, and the numbers of its faults.
    """
    places: dict[tuple[int, str], tuple[Json, float, tuple[int, ...]]] = {}
    for document, gold, predicted in sample.weak_pairs(path, sample.plan.close):
        if document in documents:
            pair = sample.pairs[document]
            sides = part_at(pair.gold, tokens_of(gold)), part_at(pair.predicted, tokens_of(predicted))
            if ABSENT not in sides:
                places[document, predicted] = sides[1], common_share(*map(leaves_of, sides)), ()
    for fault in sample.faults_by_path.get(path, ()):
        if fault.fault == "spurious" and fault.document in documents:
            places[fault.document, fault.predicted_pointer or ""] = fault.predicted, 0.0, (fault.number,)
    return places


def _depth(path: str) -> tuple[int, int]:
    """Return the number of lists and of steps above the values of a wildcard path."""
    return path.count("*"), path.count("/")


@dataclass(frozen=True, eq=False, slots=True)
class _Relocation:
    """Puts values where gold has them. The values themselves are those of the prediction.

    Objects and lists that become empty are removed, unless they have a partner in gold.

    Attributes:
        moves: The moves of each document, outer places first.
        partners: The objects and lists that have a partner, by document and JSON Pointer in the prediction.
    """

    moves: Mapping[int, Sequence[_Move]]
    partners: Container[tuple[int, str]]

    @classmethod
    def of(cls, moves: Iterable[_Move], partners: Container[tuple[int, str]]) -> _Relocation:
        """Return the relocation of some values."""
        by_document: defaultdict[int, list[_Move]] = defaultdict(list)
        for move in sorted(moves, key=lambda move: len(move.place)):
            by_document[move.document].append(move)
        return cls(by_document, partners)

    def correct(self, at: int, predicted: Json) -> Json:
        """Return the corrected prediction of a document."""
        root = copy.deepcopy(predicted)
        made: dict[tuple[int | str, ...], Any] = {}
        moved: list[tuple[Any, Any, Any, Any]] = []
        around: dict[tuple[str, ...], Sequence[Any]] = {}
        for move in self.moves.get(at, ()):
            found = holder_of(predicted, move.tokens, move.value)
            target = None if found is None else _target(root, move.place, made)
            if found is not None and target is not None:
                tokens, key = tuple(found[0]), found[1]
                around[tokens] = [part_at(root, tokens[:depth]) for depth in range(len(tokens) + 1)]
                holder = around[tokens][-1]
                moved.append((holder, key, holder[key], target))
                made[tuple(step for step, _ in move.place)] = holder[key]
        if not moved:
            return predicted
        for holder, key, *_ in sorted(moved, key=lambda one: (isinstance(one[1], int), one[1]), reverse=True):
            holder.pop(key)
        for _, _, value, (container, key) in moved:
            if isinstance(container, list):
                container.append(value)
            else:
                container[key] = value
        for tokens in sorted(around, key=len, reverse=True):
            self._remove_empty(at, tokens, around[tokens])
        return root

    def _remove_empty(self, document: int, tokens: Sequence[str], around: Sequence[Any]) -> None:
        """Remove an object or list, and those around it, up to the first that is not empty or has a partner.

        Args:
            document: The document.
            tokens: Tokens of the object or list.
            around: The objects and lists from the root to this one.
        """
        for depth in range(len(tokens), 0, -1):
            inner, outer = around[depth], around[depth - 1]
            if inner or (document, pointer_to(tokens[:depth])) in self.partners:
                break
            entries = enumerate(outer) if isinstance(outer, list) else outer.items()
            for key in [key for key, value in entries if value is inner]:
                outer.pop(key)


def _target(
    root: Any,  # noqa: ANN401  (JSON)
    place: Sequence[tuple[int | str, Sequence[str] | None]],
    made: dict[tuple[int | str, ...], Any],
) -> tuple[Any, int | str] | None:
    """Return the object or list of the prediction that should hold a value, and its key; None if there is none.

    Objects and lists between the value and the nearest predicted one are made, once for each place in gold.
    """
    depth = max((at for at, (_, tokens) in enumerate(place[:-1]) if tokens is not None), default=-1)
    if depth < 0:
        return None
    container = part_at(root, place[depth][1] or ())
    for at in range(depth + 1, len(place)):
        token = place[at][0]
        if not isinstance(container, list if isinstance(token, int) else dict):
            return None
        if at == len(place) - 1:
            return container, token
        where = tuple(step for step, _ in place[: at + 1])
        if where not in made:
            made[where] = [] if isinstance(place[at + 1][0], int) else {}
            if isinstance(container, list):
                container.append(made[where])
            elif container.get(token) is None:
                container[token] = made[where]
            else:
                made[where] = container[token]
        container = made[where]
    return None


# Inner lists that are written as rows.


class _InnerList(NamedTuple):
    """A list of objects inside the objects of another list.

    A prediction may contain one outer object, called a row, for each inner object.

    Attributes:
        path: Wildcard path of the outer list.
        key: Key of the inner list.
        fields: Fields of the inner objects that the outer objects do not have.
    """

    path: Path
    key: str
    fields: frozenset[str]

    def fields_in(self, item: Json) -> dict[str, Json]:
        """Return the fields of the inner object in a row; an empty dictionary if the item is not a row."""
        if not isinstance(item, dict) or item.get(self.key):
            return {}
        return {name: value for name, value in item.items() if name in self.fields}

    def groups(self, items: Sequence[Json]) -> Iterator[tuple[dict[str, Json], list[int]]]:
        """Yield each outer item, without its inner list, and the positions of its rows.

        The rows of an item are consecutive, and their other fields are equal.
        """
        group: list[int] = []
        outer: dict[str, Json] = {}
        for at, item in enumerate(items):
            own = self.fields_in(item)
            rest = {name: value for name, value in item.items() if name not in own and name != self.key} if own else {}
            if group and not (leaves_of(rest) and canonical(rest) == canonical(outer)):
                yield outer, group
                group = []
            if own:
                outer, group = rest, [*group, at]
        if group:
            yield outer, group

    def merged(self, items: Sequence[Json], groups: Iterable[tuple[dict[str, Json], list[int]]]) -> list[Json]:
        """Return the list with the rows of each outer item merged into one item that has the inner list."""
        merged = dict(enumerate(items))
        for outer, group in groups:
            inner = [own for at in group if leaves_of(own := self.fields_in(items[at]))]
            for at in group[1:]:
                del merged[at]
            merged[group[0]] = {**outer, self.key: inner}
        return list(merged.values())


def _inner_lists(sample: Sample) -> Iterator[_InnerList]:
    """Yield the declared lists of objects in the objects of other lists."""
    sites = sample.plan.sites
    for step in walk(sites):
        if step.repeats is None and step.path and step.path[-1] is STAR:
            outer = sites[step.site].object.fields
            for one in outer:
                inner = sites[sites[one.site].list.items].object.fields
                if fields := frozenset(other.name for other in inner).difference(other.name for other in outer):
                    yield _InnerList(step.path[:-1], one.name, fields)


def flattened_lists(sample: Sample) -> Iterator[Proposal]:
    """Propose to merge consecutive items that are rows of one item: they differ only in fields of an inner object."""
    several = list(_inner_lists(sample))
    for inner in several:
        tokens = (*inner.path, STAR, inner.key, STAR)
        known = Counter(
            leaf for pair in sample.pairs for _, one in values_at(pair.gold, tokens) for leaf in leaves_of(one)
        )
        totals = Counter(path for path, _ in known.elements())
        places: Places = defaultdict(dict)
        ends: set[tuple[int, bool, str]] = set()
        chances, equal_leaves = list[float](), 0
        for document, place, items, group in _groups(sample, inner, places):
            rows = [f"{place}/{at}" for at in group]
            partners = [sample.matched.get((document, row), NO_PARTNER)[1] for row in rows]
            ends |= {(document, False, row) for row, partner in zip(rows, partners, strict=True) if not partner}
            ends |= {(document, False, f"{row}/{escape(name)}") for row in rows for name in inner.fields}
            if gold := next(filter(None, partners), ""):
                ends.add((document, True, f"{gold}/{escape(inner.key)}"))
                parts = part_at(sample.pairs[document].gold, (*tokens_of(gold), inner.key))
                objects = [leaves_of(one) for one in parts] if isinstance(parts, list) else []
                for path, form in (leaf for at in group for leaf in leaves_of(inner.fields_in(items[at]))):
                    share = known[path, form] / max(1, totals[path])
                    chances.append(min(1.0, len(objects) * max(share, base_chance(str(form)))))
                    equal_leaves += any((path, form) in leaves for leaves in objects)
        p = min(1.0, len(several) * share_p(equal_leaves, chances))
        if p <= MAX_CHANCE:
            outer, path = wildcard((*inner.path, STAR)), wildcard(tokens)
            yield Proposal(
                "promoted",
                "prediction",
                (path,),
                tuple(dict.fromkeys(number for number, _ in sample.faults_inside(ends))),
                replacement(places),
                p,
                advice=f"Ask for each item of {outer} only once, with its list at {path.removesuffix('/*')}: "
                "predictions repeat it for each item of that list.",
            )


def _groups(
    sample: Sample, inner: _InnerList, places: Places
) -> Iterator[tuple[int, str, Sequence[Json], Sequence[int]]]:
    """Yield the rows of each item: the document, the JSON Pointer of the list, its items, and positions of the rows.

    Adds each list, and the list with its rows merged, to `places`.
    """
    for document, pair in enumerate(sample.pairs):
        for place, items in values_at(pair.predicted, inner.path):
            if isinstance(items, list) and (groups := list(inner.groups(items))):
                places[document][place] = items, inner.merged(items, groups)
                yield from ((document, place, items, group) for _, group in groups)


DETECTORS: Final[tuple[Detector, ...]] = (on_another_level, flattened_lists)
"""The detectors of this module."""
