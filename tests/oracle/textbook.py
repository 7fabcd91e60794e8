"""The comparison by the book: plain recursion over two trees, held against the engine, which works on columns.

A schema becomes a `Node`. A document read through it becomes a `Tree`: leaves normalised, absent parts gone, every
value beside the node that compares it. Two trees become a `Result`.

>>> node = spec({"type": "array", "items": {"type": "string"}})
>>> compare(node, ["ab", "c"], ["c", None, "ax"]).pairs
{'': ((0, 2, 0.6), (1, 0, 1.0))}
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from functools import cache, partial
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from scipy.optimize import linear_sum_assignment

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

    `absent` names the kinds whose empty value (null, "", [], {}) counts as absent.
    """

    kind: str | None = None
    weight: float = 1.0
    absent: frozenset[str] = frozenset({"null"})
    distance: Callable[[Any, Any], float] = DISTANCES["exact"]
    normalize: tuple[Callable[[str], str], ...] = ()
    fields: Mapping[str, Node] = field(default_factory=dict)
    item: Node | None = None
    match: str = "hungarian"
    gate: float = 0.0
    key: tuple[str, ...] = ()

    def of(self, kind: str) -> Node:
        """The node for a value of this kind here."""
        usual = DISTANCES[USUAL.get(kind, "exact")]
        return self if kind == self.kind else Node(kind, absent=self.absent, distance=usual)

    def part(self, name: str | int) -> Node:
        """The node of a field or of an item; what is not declared is compared by kind."""
        declared = self.item if self.kind == "array" else self.fields.get(name)
        return declared or Node(absent=self.absent)


def spec(schema: Mapping[str, Any], absent: frozenset[str] = Node.absent) -> Node:
    """The node of a schema of one type or none. A nullable type is its type: nulls are compared by kind anyhow."""
    options = schema.get("x-arbitre", {})
    if "absent" in options:
        absent = frozenset(KINDS[type(value)] for value in options["absent"])
    types = schema.get("type", ())
    (name,) = [name for name in ([types] if isinstance(types, str) else types) if name != "null"] or [None]
    distance, measure = choice(options.get("distance", USUAL.get(name, "exact")))
    match, how = choice(options.get("match", "hungarian"))
    key = how.get("key", ())
    return Node(
        TYPES.get(name, name),
        weight=options.get("weight", 1.0),
        absent=absent,
        distance=partial(DISTANCES[distance], **measure),
        normalize=tuple(NORMALIZERS[each] for each in options.get("normalize", ())),
        fields={name: spec(part, absent) for name, part in schema.get("properties", {}).items()},
        item=spec(schema["items"], absent) if "items" in schema else None,
        match=match,
        gate=how.get("gate", 0.0),
        key=(key,) if isinstance(key, str) else tuple(key),
    )


def choice(option):
    return (option, {}) if isinstance(option, str) else next(iter(option.items()))


@dataclass(frozen=True)
class Tree:
    """A value as it is compared: a scalar has a `value`, an object or a list `parts`, by name or by position."""

    node: Node
    value: Any
    parts: Mapping[Any, Tree]

    def identity(self) -> Hashable:
        """Equal for two trees exactly when they are equal as JSON."""
        parts = {name: part.identity() for name, part in self.parts.items()}
        inside = frozenset(parts.items()) if self.node.kind == "object" else (*parts.values(),)
        return self.node.kind, self.value, inside


def read(node: Node, value: Any) -> Tree | None:
    """The tree of a value, bottom-up; None where it counts as absent."""
    kind = KINDS[type(value)]
    node, parts = node.of(kind), {}
    if kind in ("object", "array"):
        inside = value.items() if kind == "object" else enumerate(value)
        parts = {name: part for name, inner in inside if (part := read(node.part(name), inner))}
        if node.match == "set":  # the first of equal items stands for them all
            first = {part.identity(): position for position, part in reversed(parts.items())}
            parts = {position: part for position, part in parts.items() if position in first.values()}
        value = None
    for change in node.normalize:
        value = change(value)
    return None if kind in node.absent and not (value or parts) else Tree(node, value, parts)


@dataclass(frozen=True)
class Tally:
    gold: float = 0.0
    predicted: float = 0.0
    matched: float = 0.0
    quality: float = 0.0
    quality_sq: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __rmul__(self, weight: float) -> Tally:
        return Tally(*(weight * mass for mass in astuple(self)))


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
    tally: Tally = Tally()
    leaves: Tally = Tally()
    by_path: dict[str, Tally] = field(default_factory=dict)
    pairs: dict[str, tuple[tuple[int, int, float], ...]] = field(default_factory=dict)
    unique: bool = True

    def take(self, inner: Result) -> Result:
        """Add what another result counted."""
        self.leaves += inner.leaves
        for path, tally in inner.by_path.items():
            self.by_path[path] = self.by_path.get(path, Tally()) + tally
        self.pairs |= inner.pairs
        self.unique &= inner.unique
        return self

    def count(self, node: Node, path: tuple, tally: Tally, inner: Result) -> None:
        """Count the field or item of `node` at `path`, and what was counted below it."""
        self.tally += node.part(path[-1]).weight * tally
        self.take(inner).take(Result(by_path={wild(path): tally} if node.kind == "array" else {}))


def wild(path: tuple) -> str:
    return wildcard(tuple(STAR if isinstance(token, int) else token for token in path))


def compare(node: Node, gold: Any, predicted: Any) -> Result:
    """The result of two documents; where both are absent, nothing is counted and the quality is 1."""
    left, right = read(node, gold), read(node, predicted)
    return visit(left, right, ()) if left or right else Result(quality=1.0)


def visit(gold: Tree | None, predicted: Tree | None, path: tuple) -> Result:
    """The result of two trees that stand for each other, or of one that the other side lacks."""
    if gold and predicted and (gold.node.kind != predicted.node.kind or bool(gold.parts) != bool(predicted.parts)):
        missing, spurious = visit(gold, None, path), visit(None, predicted, path)  # nothing in common
        return Result(0.0, missing.tally + spurious.tally).take(missing).take(spurious)
    node, ours, theirs = (gold or predicted).node, gold.parts if gold else {}, predicted.parts if predicted else {}
    if not (ours or theirs):  # a leaf: a scalar, or an empty container, which asserts no field and no item
        quality = 1.0 - node.distance(gold.value, predicted.value) if gold and predicted else 0.0
        tally, is_item = seen(gold, predicted, quality), path and isinstance(path[-1], int)
        own = Tally() if node.kind in ("object", "array") else tally
        return Result(quality, own, tally, {} if is_item else {wild(path): tally})
    pairs, unique = couple(node, ours, theirs, path) if ours and theirs else ([], True)
    missing = [(i, None, visit(ours[i], None, (*path, i))) for i in ours if i not in {i for i, _, _ in pairs}]
    spurious = [(None, j, visit(None, theirs[j], (*path, j))) for j in theirs if j not in {j for _, j, _ in pairs}]
    result = Result(unique=unique)
    for i, j, inner in pairs + missing + spurious:
        result.count(node, (*path, j if i is None else i), seen(i, j, inner.quality), inner)
    if node.kind == "array" and pairs:
        result.pairs[pointer(path)] = tuple(sorted((i, j, inner.quality) for i, j, inner in pairs))
    total = result.tally
    result.quality = total.quality / (total.gold + total.predicted - total.matched)
    return result


def couple(node: Node, gold: Mapping, predicted: Mapping, path: tuple) -> tuple[list, bool]:
    """The fields of one name or the items matched, with their results; and whether no other matching is as good."""
    if node.kind == "object":
        names = [name for name in gold if name in predicted]
        return [(name, name, visit(gold[name], predicted[name], (*path, name))) for name in names], True
    rows, columns = list(gold), list(predicted)
    results = [[visit(gold[i], predicted[j], (*path, i)) for j in columns] for i in rows]
    ours, theirs = ([mark(node, rank, item) for rank, item in enumerate(side.values())] for side in (gold, predicted))
    more = TIE / (len(rows) + 1)  # of the matchings of greatest quality, one with most pairs
    weights = [
        [result.quality + more if result.quality >= node.gate else FORBIDDEN for result in row] for row in results
    ]
    for i, j in product(range(len(rows)), range(len(columns))):
        if ours[i] is None or ours[i] != theirs[j]:
            weights[i][j] = FORBIDDEN
    solve = {"greedy": greedy, "sequence": align}.get(node.match, assign)
    chosen = solve(weights)
    unique = solve is greedy or tie_free(solve, weights, chosen)
    return [(rows[i], columns[j], results[i][j]) for i, j in chosen], unique


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
