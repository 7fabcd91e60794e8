"""One comparison as a tree of nodes, with the pointer, value, share and verdict of each node."""

from __future__ import annotations

import enum
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.arrays import exact_dot
from arbitre.comparison import html_repr as html
from arbitre.comparison.levels import NONE
from arbitre.errors import DataError
from arbitre.matching import Coupling
from arbitre.matching.assignment import hungarian
from arbitre.paths import escape, pointer
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.comparison.levels import Level
    from arbitre.comparison.references import ReferenceNote
    from arbitre.values import Json


MASS_TOLERANCE: Final = 1e-9
"""Masses that differ by less than this are equal."""


class Verdict(enum.IntEnum):
    """The verdict on a node, from best to worst. Errors in children lower it to WRONG at most."""

    CORRECT = 0
    CLOSE = 1
    WRONG = 2
    WRONG_TYPE = 3
    MISSING = 4
    SPURIOUS = 5

    @property
    def text(self) -> str:
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, eq=False, slots=True)
class NodeTree:
    """Access to the levels of one comparison by node id."""

    levels: Sequence[Level]
    firsts: tuple[int, ...]

    @classmethod
    def of(cls, levels: Sequence[Level]) -> NodeTree:
        return cls(levels, tuple(level.first for level in levels))

    def __len__(self) -> int:
        return self.levels[-1].first + len(self.levels[-1]) if self.levels else 0

    def place(self, node_id: int) -> tuple[Level, int]:
        """Return the level of a node and its position in that level."""
        level = self.levels[bisect_right(self.firsts, node_id) - 1]
        return level, node_id - level.first

    def tokens(self, node_id: int, *, gold: bool) -> tuple[int | str, ...] | None:
        """Return the tokens from the root to the node on one side; None if that side has no node."""
        tokens: list[int | str] = []
        level, at = self.place(node_id)
        if level.rows(gold=gold)[at] < 0:
            return None
        while level.parent[at] != NONE:
            if not level.inner:
                rows = level.rows(gold=gold)[at : at + 1]
                tokens += level.source.tokens_of(rows)
            level, at = self.place(int(level.parent[at]))
        return tuple(reversed(tokens))

    def pointer(self, node_id: int, *, gold: bool) -> str | None:
        tokens = self.tokens(node_id, gold=gold)
        return None if tokens is None else pointer(tokens)

    def pointers(self, *, gold: bool) -> list[str | None]:
        """Return the pointer of every node on one side; None where that side has no node."""
        pointers: list[str | None] = []
        for level in self.levels:
            rows = level.rows(gold=gold)
            here: list[str | None] = [None] * len(level)
            present = (rows >= 0).nonzero()[0]
            parents = level.parent[present].tolist()
            tokens = level.source.tokens_of(rows[present])
            steps = {token: "" if level.inner else f"/{escape(str(token))}" for token in set(tokens)}
            for at, token, parent in zip(present.tolist(), tokens, parents, strict=True):
                here[at] = "" if parent == NONE else (pointers[parent] or "") + steps[token]
            pointers += here
        return pointers

    def value(self, node_id: int, *, gold: bool) -> Json:
        """Return the original value on one side; ABSENT if there is none."""
        level, at = self.place(node_id)
        rows = level.rows(gold=gold)[at : at + 1]
        return level.source.values_of(rows)[0] if rows[0] >= 0 else ABSENT

    def accepted_form(self, record: int) -> Json:
        """Return the accepted form that a pair was compared with; ABSENT if gold has only one."""
        level, at = self.place(record)
        return level.source.accepted_forms(level.left[at : at + 1], level.right[at : at + 1])[0]

    def note(self, node_id: int) -> ReferenceNote | None:
        """Return what a reference points to, if it is not right; None for all other nodes."""
        level, at = self.place(node_id)
        return level.source.reference_notes(level.left[at : at + 1], level.right[at : at + 1])[0]

    def find(self, tokens: tuple[str, ...]) -> int | None:
        """Return the id of the node at these tokens of gold; None if no node was compared there.

        If the node has several partners, return the pair with the most mass.
        """
        masses: dict[int, float] = {}
        for level in self.levels:
            if level.inner or len(level.path) != len(tokens):
                continue
            at = (level.left >= 0).nonzero()[0]
            if tokens and len(at):
                last = level.source.tokens_of(level.left[at])
                at = at[[str(token) == tokens[-1] for token in last]]
            for node_id in (level.first + at).tolist():
                here = self.tokens(node_id, gold=True)
                if here is not None and tuple(map(str, here)) == tokens:
                    if level.scale is None:
                        return int(node_id)
                    masses[node_id] = float(level.scale[node_id - level.first])
        return max(masses, key=lambda node_id: (masses[node_id], -node_id)) if masses else None

    def sides(self, node_id: int) -> list[int]:
        """Return the node and, if it pairs different kinds, the nodes of its two sides, which hold its children."""
        inner = (level.first + (level.parent == node_id).nonzero()[0] for level in self.levels if level.inner)
        return [node_id, *(number for numbers in inner for number in numbers.tolist())]

    def shares(self) -> Floats:
        """Return the maximum contribution of each node to the quality of the root; shape (nodes,).

        A leaf contributes its share times its quality. A container divides its share among its children, so the shares
        of the leaves add up to 1, and their contributions to the quality of the root.
        """
        shares = np.zeros(len(self))
        below = np.zeros(len(self))
        for level in self.levels:
            root = level.parent == NONE
            above = np.where(root, 0, level.parent)
            divisor = np.where(root, 1.0, below[above])
            weight = np.ones(len(level)) if level.inner else np.full(len(level), level.weight)
            if level.share is not None:
                weight *= level.share
            here = np.where(root, 1.0, shares[above] * weight / np.where(divisor > 0.0, divisor, 1.0))
            stop = level.first + len(level)
            shares[level.first : stop] = here
            union = level.gold + level.predicted - level.matched
            below[level.first : stop] = 2.0 if level.kind_mismatch else union
        return shares

    def verdicts(self, close: float) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
        """Return the verdict of each node: for a leaf by its quality, for a container the worst of its children."""
        if not self.levels:
            return np.zeros(0, dtype=np.int8)
        gold_kind, predicted_kind = map(np.concatenate, zip(*(level.kinds for level in self.levels), strict=True))
        gold, predicted, matched, quality = (
            np.concatenate([getattr(level, name) for level in self.levels])
            for name in ("gold", "predicted", "matched", "quality")
        )
        leaf = np.repeat([level.leaf for level in self.levels], [len(level) for level in self.levels])
        complete = np.maximum(gold, predicted) - matched <= MASS_TOLERANCE
        verdicts = np.select(
            [
                predicted_kind == NONE,
                gold_kind == NONE,
                gold_kind != predicted_kind,
                np.where(leaf, quality >= 1.0, complete),
                leaf & (quality >= close),
            ],
            [Verdict.MISSING, Verdict.SPURIOUS, Verdict.WRONG_TYPE, Verdict.CORRECT, Verdict.CLOSE],
            Verdict.WRONG,
        ).astype(np.int8)
        for level in reversed(self.levels):
            above = level.parent != NONE
            passed = np.minimum(verdicts[level.nodes][above], Verdict.WRONG)
            np.maximum.at(verdicts, level.parent[above], passed.astype(np.int8))
        return verdicts


def kind_name(kind: int) -> str | None:
    """Return the JSON Schema name of a kind; None for no node."""
    return None if kind == NONE else Kind(kind).json_type


# Results for single nodes.


class _MatchedItems(NamedTuple):
    """The fields of `Match`."""

    gold: int
    predicted: int
    mass: float
    quality: float


class Match(_MatchedItems):
    """A gold list item matched with a predicted list item.

    Attributes:
        gold: Position of the gold item, from 0.
        predicted: Position of the predicted item, from 0.
        mass: Mass of the pair: 1 in an assignment; in a transport plan, an item may have several partners.
        quality: Quality of the pair, in [0, 1]; higher is better.
    """

    _margins: Callable[[], Mapping[tuple[int, int], float | None]] | None = None
    """Computes the margins of all pairs of the lists once; None if the comparison was read from JSON."""

    @property
    def margin(self) -> float | None:
        """How much the sum of the qualities of all pairs decreases if this pair is forbidden, at least 0.

        0 means that another matching is as good. Exchanging equal items does not change the result, so it does not
        count as another matching. None if the matching is not optimal by quality: for all matchings except `hungarian`,
        and for items at positions of `prefixItems`.

        On first access, the qualities of all pairs of the two lists are computed.

        Raises:
            DataError: The comparison was read from JSON.
        """
        if self._margins is None:
            raise DataError.of(
                "The margins of pairs are not available",
                hint="A comparison that was read from JSON cannot compute margins. Compare the documents again.",
            )
        return self._margins()[self.gold, self.predicted]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields; the margin is not available afterwards."""
        return Match, tuple(self)


@dataclass(frozen=True)
class Alignment:
    """The matching of a gold list of n items with a predicted list of m items. Items are identified by position.

    Attributes:
        pairs: The matched pairs.
        missing: Positions of gold items without a partner.
        spurious: Positions of predicted items without a partner.
        sizes: Number of items in the gold list and in the predicted list, (n, m).
        unmatched: Unmatched mass by position, for the gold list and for the predicted list.
        compute_costs: Computes `costs`; None if the comparison was read from JSON.
    """

    pairs: tuple[Match, ...]
    missing: tuple[int, ...]
    spurious: tuple[int, ...]
    sizes: tuple[int, int] = field(compare=False, repr=False)
    unmatched: tuple[Mapping[int, float], Mapping[int, float]] = field(compare=False, repr=False)
    compute_costs: Callable[[], Floats] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def costs(self) -> Floats:
        """Distance of each gold item from each predicted item, in [0, 1]; shape (n, m).

        All distances are computed on first access, whether or not the matching needed them. The distance is NaN if two
        items cannot be compared: null items that count as absent, repeated items of a list that is matched with `set`,
        and items at different positions of `prefixItems`.

        Raises:
            DataError: The comparison was read from JSON.
        """
        if self.compute_costs is None:
            raise DataError.of(
                "The distances between items are not available",
                hint="A comparison that was read from JSON cannot compute distances. Compare the documents again.",
            )
        return self.compute_costs()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, with the costs computed, because the function that computes them cannot be pickled."""
        if self.compute_costs is not None:
            self.costs  # noqa: B018  (kept in the dictionary)
        return self.__dict__ | {"compute_costs": None}

    @property
    def plan(self) -> Floats:
        """Mass moved from each gold item to each predicted item; shape (n, m).

        In an assignment, a matched pair has mass 1. In a transport plan, the masses of the gold items sum to n; those
        of the predicted items sum to n if the plan is balanced, else to m.
        """
        return self.coupling.matrix

    @cached_property
    def coupling(self) -> Coupling:
        """The plan with the shares, the effective number of partners and the unmatched mass of each item."""
        met = [pair.gold for pair in self.pairs], [pair.predicted for pair in self.pairs]
        mass = np.array([pair.mass for pair in self.pairs], dtype=np.float64)
        masses = np.zeros(self.sizes[0]), np.zeros(self.sizes[1])
        for totals, positions, unmatched in zip(masses, met, self.unmatched, strict=True):
            np.add.at(totals, positions, mass)
            np.add.at(totals, list(unmatched), list(unmatched.values()))
        return Coupling.of(*met, self.sizes, mass, masses)

    @cached_property
    def w1(self) -> float | None:
        """Wasserstein distance of order 1 between the lists, in [0, 1], regardless of the matching.

        All items of a list have the same mass, and each list has mass 1. Repeated items count once if the lists are
        matched with `set`. None if a list is empty or a distance is undefined.
        """
        from arbitre.matching.transport import transport  # noqa: PLC0415  (loads POT, which only this needs)
        from arbitre.matching.transport_options import TransportOptions  # noqa: PLC0415

        quality = self._qualities
        if quality is None or 0 in quality.shape:
            return None
        plan = transport(quality, how=TransportOptions())
        return 1.0 - exact_dot(plan.mass, quality[plan.gold, plan.predicted]) / len(quality)

    @cached_property
    def ospa(self) -> float | None:
        """OSPA distance of order 1 with cut-off 1 between the lists, in [0, 1], regardless of the matching.

        It is the cost of the optimal assignment, in which an item without partner costs 1, divided by the size of the
        longer list (Schuhmacher et al., 2008). Repeated items count once if the lists are matched with `set`. None if a
        distance is undefined. Where both exist, w1 <= ospa; the difference is the cost of the different lengths.
        """
        quality = self._qualities
        if quality is None:
            return None
        matched = hungarian(quality)
        longer = max(quality.shape)
        return 1.0 - exact_dot(matched.mass, quality[matched.gold, matched.predicted]) / longer if longer else 0.0

    @property
    def _qualities(self) -> Floats | None:
        """The qualities of the pairs of present items; None if one is undefined."""
        sides = [{pair[side] for pair in self.pairs} | set(self.unmatched[side]) for side in (0, 1)]
        quality = 1.0 - self.costs[np.ix_(*(sorted(side) for side in sides))]
        return None if np.isnan(quality).any() else quality

    def _repr_html_(self) -> str:
        counts = f"{len(self.pairs)} matched, {len(self.missing)} missing, {len(self.spurious)} spurious"
        rows = [(str(pair.gold), str(pair.predicted), pair.mass, pair.quality) for pair in self.pairs[: html.PATHS]]
        cut = f"The picture shows the first {html.ITEMS} items."
        return html.page(
            html.line(counts, strong=True),
            html.line("Gold on the left, predicted on the right. Darker lines: equal; orange: below 0.8."),
            html.matching(self.pairs, (self.missing, self.spurious), self.sizes),
            *([html.line(cut)] if max(self.sizes) > html.ITEMS else []),
            html.folded("Pairs", html.table(("gold", "predicted", "mass", "quality"), rows)),
        )


@dataclass(frozen=True, slots=True)
class Node:
    """A compared leaf, object or list, with its scores.

    Attributes:
        path: Wildcard path of the node.
        pointer: JSON Pointer in the gold document; None if gold does not have the node.
        predicted_pointer: JSON Pointer in the prediction, with aliased fields in their place in the schema; None if it
            does not have the node.
        tally: Tally of the node: a leaf counts itself, an object its fields, a list its items.
        quality: Quality of the node, in [0, 1]; higher is better.
        verdict: "correct", "close", "wrong", "wrong type", "missing" or "spurious".
        gold: Value in gold; `ABSENT` if there is none.
        predicted: Predicted value; `ABSENT` if there is none.
        reading: Accepted form of gold that the prediction was compared with; `ABSENT` if gold has only one.
        reference: Target of an incorrect reference; None for all other nodes.
        compute_margin: Computes `margin`; None if the node is not a matched item of a list.
    """

    path: str
    pointer: str | None
    predicted_pointer: str | None
    tally: Tally
    quality: float
    verdict: str
    gold: Json
    predicted: Json
    reading: Json = ABSENT
    reference: ReferenceNote | None = None
    compute_margin: Callable[[], float | None] | None = field(default=None, compare=False, repr=False)

    @property
    def scores(self) -> Scores:
        """Scores of the fields of an object, the items of a list, or the leaf."""
        return Scores(self.tally)

    @property
    def margin(self) -> float | None:
        """How certain the pairing of a list item is, see `Match.margin`; None if the node is not a matched item."""
        return None if self.compute_margin is None else self.compute_margin()


@dataclass(frozen=True, slots=True)
class LeafVerdict:
    """The verdict on one leaf, as listed by `Comparison.explain`.

    The sum of `share` x `quality` over all leaves is the quality of the root.

    Attributes:
        path: Wildcard path of the leaf.
        pointer: JSON Pointer in the gold document; None if gold does not have the leaf.
        predicted_pointer: JSON Pointer in the prediction, with aliased fields in their place in the schema; None if it
            does not have the leaf.
        gold: Value in gold; `ABSENT` if there is none.
        predicted: Predicted value; `ABSENT` if there is none.
        quality: Quality of the leaf, in [0, 1]; higher is better.
        verdict: "correct", "close", "wrong", "wrong type", "missing" or "spurious".
        share: Share of the leaf in the document, in [0, 1]; the shares of all leaves add up to 1.
        reading: Accepted form of gold that the prediction was compared with; `ABSENT` if gold has only one.
        reference: Target of an incorrect reference; None for all other leaves.
    """

    path: str
    pointer: str | None
    predicted_pointer: str | None
    gold: Json
    predicted: Json
    quality: float
    verdict: str
    share: float
    reading: Json = ABSENT
    reference: ReferenceNote | None = None
