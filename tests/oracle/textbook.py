"""Reference implementation of the comparison: a recursion over two documents, compared with the engine in tests.

A schema becomes a `Node`. A document read through it becomes a `Tree`: leaves normalised, absent parts gone, every
value beside the node that compares it. Two trees become a `Result`.

>>> node = spec({"type": "array", "items": {"type": "string"}})
>>> compare(node, ["ab", "c"], ["c", None, "ax"]).pairs
{'': ((0, 2, 0.6), (1, 0, 1.0))}
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from tests.oracle import programme

from arbitre.paths import STAR, pointer, wildcard

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

TIE = 1e-9  # sums of qualities nearer than this are equal
FORBIDDEN = -1.0  # the weight of a pair that may not be made

KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string"}
KINDS |= {list: "array", dict: "object"}
TYPES = {"integer": "number"}  # the kind of a type, where it is not named after it
USUAL = {"string": "yujian-bo", "number": "relative"}  # the distance of a type, where it is not "exact"
NORMALIZERS = {"strip": str.strip, "lower": str.lower}
DISTANCES = {
    "exact": lambda a, b: float(a != b),
    "levenshtein": lambda a, b: edits(a, b) / max(len(a), len(b), 1),
    "yujian-bo": lambda a, b: 2 * edits(a, b) / max(len(a) + len(b) + edits(a, b), 1),
    "relative": lambda a, b: 0.0 if a == b else min(1.0, abs(a - b) / max(abs(a), abs(b))),
    "absolute": lambda a, b, scale: min(1.0, abs(a - b) / scale),
}


def edits(left: str, right: str) -> int:
    """The least number of insertions, deletions and substitutions (Levenshtein, 1966)."""
    row = list(range(len(right) + 1))
    for i, sign in enumerate(left, 1):
        above, row = row, [i]
        for j, other in enumerate(right, 1):
            row.append(min(row[j - 1] + 1, above[j] + 1, above[j - 1] + (sign != other)))
    return row[-1]


@dataclass(frozen=True)
class Node:
    """How the values at one place are compared; without a `kind`, by the kind that each happens to be.

    A quality below `floor` counts 0. Where it is `closed`, keys that are not declared are not there.
    `absent` names the kinds whose empty value (null, "", [], {}) counts as absent. `fields` are those of an object, or
    the positions of a list that are compared as fields are; `rest` compares the entries of a map. `alternatives` is the
    name of the sibling that holds further forms in gold, or True where a list stands for its forms.
    """

    kind: str | None = None
    weight: float = 1.0
    absent: frozenset[str] = frozenset({"null"})
    distance: Callable[[Any, Any], float] = DISTANCES["exact"]
    normalize: tuple[Callable[[str], str], ...] = ()
    fields: Mapping[str, Node] = field(default_factory=dict)
    rest: Node | None = None
    item: Node | None = None
    match: str = "hungarian"
    how: Mapping[str, Any] = field(default_factory=dict)
    floor: float = 0.0
    closed: bool = False
    alternatives: str | bool | None = None

    @property
    def hidden(self) -> set[str]:
        """The fields that hold forms of others, and are not compared themselves."""
        return {part.alternatives for part in self.fields.values() if isinstance(part.alternatives, str)}

    @property
    def key(self) -> tuple[str, ...]:
        key = self.how.get("key", ())
        return (key,) if isinstance(key, str) else tuple(key)

    def of(self, kind: str) -> Node:
        """The node for a value of this kind here."""
        usual = DISTANCES[USUAL.get(kind, "exact")]
        return self if kind == self.kind else Node(kind, self.weight, self.absent, usual)

    def token(self, name: str | int) -> str | int:
        """What names a part here: a number is an item's, a `Key` a map's, another text a field's or a position's."""
        if isinstance(name, int):
            return str(name) if str(name) in self.fields else name
        return Key(name) if self.rest and name not in self.fields else name

    def part(self, token: str | int) -> Node:
        """The node of a field or of an item; what is not declared is compared by kind."""
        other = self.item if isinstance(token, int) else self.rest
        return self.fields.get(token) or other or Node(absent=self.absent)


class Key(str):
    """The key of an entry of a map, any key being as good as another."""

    __slots__ = ()


def spec(schema: Mapping[str, Any], absent: frozenset[str] = Node.absent) -> Node:
    """The node of a schema of one type or none. A nullable type is its type: nulls are compared by kind anyhow."""
    options = schema.get("x-arbitre", {})
    if "absent" in options:
        absent = frozenset(KINDS[type(value)] for value in options["absent"])
    types = schema.get("type", ())
    (name,) = [name for name in ([types] if isinstance(types, str) else types) if name != "null"] or [None]
    distance, measure = choice(options.get("distance", USUAL.get(name, "exact")))
    match, how = choice(options.get("match", "hungarian"))
    sibling = options.get("alternatives")
    fields = schema.get("properties", {}) | {str(at): part for at, part in enumerate(schema.get("prefixItems", ()))}
    return Node(
        TYPES.get(name, name),
        weight=options.get("weight", 1.0),
        absent=absent,
        distance=partial(DISTANCES[distance], **measure),
        normalize=tuple(NORMALIZERS[each] for each in options.get("normalize", ())),
        fields={name: spec(part, absent) for name, part in fields.items()},
        rest=spec(schema["additionalProperties"], absent) if "additionalProperties" in schema else None,
        item=spec(schema["items"], absent) if "items" in schema else None,
        match=match,
        how=how,
        floor=options.get("floor", 0.0),
        closed=options.get("undeclared") == "ignore",
        alternatives=sibling.removeprefix("/").replace("~1", "/") if isinstance(sibling, str) else sibling,
    )


def choice(option):
    return (option, {}) if isinstance(option, str) else next(iter(option.items()))


@dataclass(frozen=True)
class Tree:
    """A value as it is compared: a scalar has a `value`, an object or a list `parts`, by token."""

    node: Node
    value: Any
    parts: Mapping[Any, Tree]
    forms: tuple[Tree, ...] = ()

    def identity(self) -> Hashable:
        """Equal for two trees exactly when they are equal as JSON, in any order of items where that does not count."""
        named = frozenset((name, part.identity()) for name, part in self.parts.items() if isinstance(name, str))
        items = [item.identity() for item in self.items.values()]
        ordered = self.node.match in ("ordered", "sequence")
        return self.node.kind, self.value, named, tuple(items) if ordered else frozenset(Counter(items).items())

    def size(self) -> int:
        """The number of leaves."""
        return sum(part.size() for part in self.parts.values()) or 1

    @property
    def items(self) -> dict[int, Tree]:
        """The items of a list that are matched, by position."""
        return {token: part for token, part in self.parts.items() if isinstance(token, int)}

    def masses(self, total: int) -> dict[int, float]:
        """What each item weighs where mass is moved between lists, so much in all."""
        measure = self.node.how.get("masses", "uniform")
        weigh = {"uniform": lambda _: 1, "size": Tree.size}.get(measure, lambda item: item.parts[measure].value)
        found = {token: weigh(item) for token, item in self.items.items()}
        return {token: mass * total / sum(found.values()) for token, mass in found.items()}


def read(node: Node, value: Any, gold: Mapping[str, Any] | None = None) -> Tree | None:
    """The tree of a value, bottom-up; None where it counts as absent. `gold` is the object around a gold value."""
    if node.alternatives is not None:
        return accepting(node, value, gold or {})
    kind = KINDS[type(value)]
    node, parts = node.of(kind), {}
    if kind in ("object", "array"):
        inside = value.items() if kind == "object" else enumerate(value)
        inside = [pair for pair in inside if not node.closed or kind == "array" or pair[0] in node.fields]
        tokens = ((node.token(name), inner) for name, inner in inside if name not in node.hidden)
        around = None if gold is None else value if kind == "object" else {}
        parts = {token: part for token, inner in tokens if (part := read(node.part(token), inner, around))}
        if node.match == "set":  # the first of equal items stands for them all
            known = set()
            for token, part in Tree(node, None, parts).items.items():
                if part.identity() in known:
                    del parts[token]
                known.add(part.identity())
        value = None
    for change in node.normalize:
        value = change(value)
    return None if kind in node.absent and not (value or parts) else Tree(node, value, parts)


def accepting(node: Node, value: Any, around: Mapping[str, Any]) -> Tree | None:
    """The tree of a value with its forms: each of them one leaf, those that count as absent gone."""
    listed = node.alternatives is True
    others = None if listed else around.get(node.alternatives)
    forms = value if listed and isinstance(value, list) else [value]
    forms = forms + (others if isinstance(others, list) else [] if others is None else [others])
    leaves = [leaf(replace(node, alternatives=None), form) for form in forms]
    kept = tuple(each for each in leaves if each)
    return replace(kept[0], forms=kept) if kept and (listed or leaves[0]) else None


def leaf(node: Node, value: Any) -> Tree | None:
    """The tree of a value that is one leaf, a list or an object too."""
    kind = KINDS[type(value)]
    if kind not in ("object", "array"):
        return read(node, value)
    absent = kind in node.absent and not value
    return None if absent else Tree(Node(kind, node.weight, node.absent), text(value), {})


def text(value: Any) -> str:
    """The same text for values that are equal as JSON."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {text(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    return repr(float(value) if KINDS[type(value)] == "number" else value)


class Tally(NamedTuple):
    gold: float = 0.0
    predicted: float = 0.0
    matched: float = 0.0
    quality: float = 0.0
    quality_sq: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))

    def __rmul__(self, weight: float) -> Tally:
        return Tally(*(weight * mass for mass in self))


NOTHING = Tally()


def seen(gold: Any, predicted: Any, quality: float) -> Tally:
    """The tally of a pair, or of what one side has and the other, None, lacks."""
    left, right = gold is not None, predicted is not None
    return Tally(float(left), float(right), float(left and right), quality, quality * quality)


@dataclass
class Result:
    """What two trees come to: quality and tally, and what was counted below.

    `by_path` counts leaves and items of lists, by wildcard path; a leaf that is itself an item, once, as an item.
    `pairs` holds (gold position, predicted position, quality), positions as in the documents, by the pointer of the
    gold list. `unique`: no list counted here could be matched otherwise at no loss (`greedy` has but one way); where it
    is False, another solver may rightly find other pairs and tallies by path.
    """

    quality: float = 0.0
    tally: Tally = NOTHING
    leaves: Tally = NOTHING
    by_path: dict[str, Tally] = field(default_factory=dict)
    pairs: dict[str, tuple[tuple[int, int, float], ...]] = field(default_factory=dict)
    unique: bool = True

    def take(self, inner: Result, mass: float = 1.0) -> Result:
        """Add what another result counted, so much of it."""
        self.leaves += mass * inner.leaves
        for path, tally in inner.by_path.items():
            self.by_path[path] = self.by_path.get(path, NOTHING) + mass * tally
        self.pairs |= inner.pairs
        self.unique &= inner.unique
        return self

    def count(self, path: tuple, part: Tree, mass: float, tally: Tally, inner: Result) -> None:
        """Count so much of the part at `path`, and of what was counted below it."""
        self.tally += part.node.weight * mass * tally
        item = {wild(path): tally} if isinstance(path[-1], int) else {}
        self.take(inner, mass).take(Result(by_path=item), mass)


def wild(path: tuple) -> str:
    return wildcard(tuple(STAR if isinstance(token, (int, Key)) else token for token in path))


def compare(node: Node, gold: Any, predicted: Any) -> Result:
    """The result of two documents; where both are absent, nothing is counted and the quality is 1."""
    left, right = read(node, gold, {}), read(node, predicted)
    return visit(left, right, ()) if left or right else Result(quality=1.0)


def visit(gold: Tree | None, predicted: Tree | None, path: tuple) -> Result:
    """The result of two trees that stand for each other, or of one that the other side lacks."""
    if gold and predicted and gold.forms:  # the best accepted form; of several predicted ones, the worst
        bare = [[replace(tree, forms=()) for tree in side.forms] for side in (gold, predicted)]
        near = [max(((visit(g, p, path), g.node.kind == p.node.kind) for g in bare[0]), key=rank) for p in bare[1]]
        return min(near, key=rank)[0]
    return judged(gold, predicted, path)


def judged(gold: Tree | None, predicted: Tree | None, path: tuple) -> Result:
    """The result of two trees of one form each."""
    if gold and predicted and gold.node.kind != predicted.node.kind:  # nothing in common
        missing, spurious = visit(gold, None, path), visit(None, predicted, path)
        return Result(0.0, missing.tally + spurious.tally).take(missing).take(spurious)
    node, ours, theirs = (gold or predicted).node, gold.parts if gold else {}, predicted.parts if predicted else {}
    if not (ours or theirs):  # a leaf: a scalar, or an empty container, which asserts no field and no item
        quality = 1.0 - node.distance(gold.value, predicted.value) if gold and predicted else 0.0
        quality *= quality >= node.floor - 1e-12
        tally, is_item = seen(gold, predicted, quality), path and isinstance(path[-1], int)
        own = NOTHING if node.kind in ("object", "array") and (gold or predicted).value is None else tally
        return Result(quality, own, tally, {} if is_item else {wild(path): tally})
    result, pairs, left = Result(), [], amounts(gold, predicted)
    if ours and theirs:
        pairs, result.unique = couple(gold, predicted, left, path)
    elif gold and predicted:  # the empty one is a leaf
        result.take(visit(None if ours else gold, None if theirs else predicted, path))
    for i, j, mass, inner in pairs:
        left[0][i] -= mass
        left[1][j] -= mass
        result.count((*path, i), ours[i], mass, seen(i, j, inner.quality), inner)
    for i, mass in left[0].items():
        if mass > TIE:
            result.count((*path, i), ours[i], mass, seen(i, None, 0.0), visit(ours[i], None, (*path, i)))
    for j, mass in left[1].items():
        if mass > TIE:
            result.count((*path, j), theirs[j], mass, seen(None, j, 0.0), visit(None, theirs[j], (*path, j)))
    matched = tuple(sorted((i, j, inner.quality) for i, j, _, inner in pairs if isinstance(i, int)))
    result.pairs |= {pointer(path): matched} if matched else {}
    total = result.tally
    result.quality = total.quality / (total.gold + total.predicted - total.matched)
    return result


def rank(near: tuple[Result, bool]) -> tuple[float, bool]:
    """The order of forms: by quality, those of the same kind before others."""
    return near[0].quality, near[1]


def amounts(gold: Tree | None, predicted: Tree | None) -> tuple[dict, dict]:
    """How much there is of every part of two trees: 1, or where mass is moved between lists, what it weighs there."""
    ours, theirs = (dict.fromkeys(tree.parts, 1.0) if tree else {} for tree in (gold, predicted))
    if gold and predicted and gold.node.match == "transport":
        n, m = len(gold.items), len(predicted.items)
        balanced = n and gold.node.how.get("solver", "exact") == "exact"
        ours, theirs = ours | gold.masses(n), theirs | predicted.masses(n if balanced else m)
    return ours, theirs


def couple(gold: Tree, predicted: Tree, own: tuple[dict, dict], path: tuple) -> tuple[list, bool]:
    """The parts of one name and the items matched, with the mass of each pair; and whether nothing else is as good."""
    node = gold.node
    names = [name for name in gold.parts if isinstance(name, str) and name in predicted.parts]
    pairs = [(name, name, 1.0, visit(gold.parts[name], predicted.parts[name], (*path, name))) for name in names]
    rows, columns = gold.items, predicted.items
    if not (rows and columns):
        return pairs, True
    results = [[visit(ours, theirs, (*path, i)) for theirs in columns.values()] for i, ours in rows.items()]
    qualities = [[result.quality for result in row] for row in results]
    if node.match == "transport":
        masses = (np.array([side[token] for token in items]) for side, items in zip(own, (rows, columns), strict=True))
        plan, unique = programme.plan(1.0 - np.array(qualities), *masses, node.how)
        chosen = list(zip(*np.nonzero(plan), strict=True))
    else:
        plan = np.ones((len(rows), len(columns)))
        chosen, unique = match(node, rows, columns, qualities)
    names = list(rows), list(columns)
    return pairs + [(names[0][i], names[1][j], float(plan[i, j]), results[i][j]) for i, j in chosen], unique


def match(node: Node, gold: Mapping, predicted: Mapping, qualities: list[list[float]]) -> tuple[list, bool]:
    """Which item is matched with which, one to one; and whether no other matching is as good."""
    ours, theirs = ([mark(node, rank, item) for rank, item in enumerate(side.values())] for side in (gold, predicted))
    more, gate = TIE / (len(gold) + 1), node.how.get("gate", 0.0)  # of the greatest quality, the most pairs
    weights = [[quality + more if quality >= gate else FORBIDDEN for quality in row] for row in qualities]
    for i, j in product(range(len(ours)), range(len(theirs))):
        if ours[i] is None or ours[i] != theirs[j]:
            weights[i][j] = FORBIDDEN
    solve = {"greedy": greedy, "sequence": align}.get(node.match, assign)
    chosen = solve(weights)
    return chosen, solve is greedy or tie_free(solve, weights, chosen)


def mark(node: Node, rank: int, item: Tree) -> Hashable:
    """What an item must share with another to be paired with it; None is shared with none."""
    if node.match == "keyed":
        key = tuple(item.parts[name].identity() for name in node.key if name in item.parts)
        return key if len(key) == len(node.key) else None
    return {"ordered": rank, "set": item.identity()}.get(node.match, "any")


def assign(weights: list[list[float]]) -> list[tuple[int, int]]:
    """The one-to-one pairs of greatest weight: every row has, beside the columns, one of weight 0 to stay alone in."""
    padded = [[*row, *[0.0] * len(weights)] for row in weights]
    found = zip(*linear_sum_assignment(padded, maximize=True), strict=True)
    return [(int(i), int(j)) for i, j in found if j < len(weights[0])]


def align(weights: list[list[float]]) -> list[tuple[int, int]]:
    """The order-preserving pairs of greatest weight, from the best of the first i rows and j columns."""

    @cache
    def best(i: int, j: int) -> tuple[float, list[tuple[int, int]]]:
        if not (i and j):
            return 0.0, []
        weight, pairs = best(i - 1, j - 1)
        both = weight + weights[i - 1][j - 1], [*pairs, (i - 1, j - 1)]
        return max(both, best(i - 1, j), best(i, j - 1), key=itemgetter(0))

    return best(len(weights), len(weights[0]))[1]


def greedy(weights: list[list[float]]) -> list[tuple[int, int]]:
    """Every row in turn takes the nearest free column, the first of equals."""
    free, pairs = list(range(len(weights[0]))), []
    for i, row in enumerate(weights):
        nearest = max((row[j] for j in free), default=FORBIDDEN)
        if nearest > FORBIDDEN:
            free.remove(column := next(j for j in free if row[j] > nearest - TIE))
            pairs.append((i, column))
    return pairs


def tie_free(solve: Callable, weights: list[list[float]], pairs: list[tuple[int, int]]) -> bool:
    """Whether every other solution is worse: each pair is forbidden in turn and the rest solved again."""
    for pair in pairs:
        rest = [[FORBIDDEN if (i, j) == pair else w for j, w in enumerate(row)] for i, row in enumerate(weights)]
        others = solve(rest)
        loss = sum(weights[i][j] for i, j in pairs) - sum(weights[i][j] for i, j in others)
        if loss < TIE and len(others) >= len(pairs):
            return False
    return True
