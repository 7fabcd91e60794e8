"""One comparison as a tree of nodes, with the pointer, value, share and verdict of each node."""

from __future__ import annotations

import enum
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.paths import escape, pointer
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats
    from arbitre.comparison.levels import Level
    from arbitre.values import Json


MASS_TOLERANCE: Final = 1e-9
"""Masses that differ by less than this are equal."""


class Verdict(enum.IntEnum):
    """The verdict on a node, from best to worst. A node is never better than its children."""

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
        if (level.left if gold else level.right)[at] < 0:
            return None
        while level.parent[at] != NONE:
            if not level.inner:
                rows = (level.left if gold else level.right)[at : at + 1]
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
            rows = level.left if gold else level.right
            here: list[str | None] = [None] * len(level)
            present = (rows >= 0).nonzero()[0]
            tokens = level.source.tokens_of(rows[present])
            for at, token, parent in zip(present.tolist(), tokens, level.parent[present].tolist(), strict=True):
                above = "" if parent == NONE else pointers[parent] or ""
                here[at] = above if parent == NONE or level.inner else f"{above}/{escape(str(token))}"
            pointers += here
        return pointers

    def values(self, level: Level, *, gold: bool) -> list[Json]:
        """Return the original values of a level on one side; ABSENT where there is none."""
        rows = level.left if gold else level.right
        values: list[Json] = [ABSENT] * len(level)
        present = (rows >= 0).nonzero()[0]
        for at, value in zip(present.tolist(), level.source.values_of(rows[present]), strict=True):
            values[at] = value
        return values

    def value(self, node_id: int, *, gold: bool) -> Json:
        """Return the original value on one side; ABSENT if there is none."""
        level, at = self.place(node_id)
        rows = (level.left if gold else level.right)[at : at + 1]
        return level.source.values_of(rows)[0] if rows[0] >= 0 else ABSENT

    def reading(self, record: int) -> Json:
        """Return the accepted reading that a pair was compared with; ABSENT if gold has only one."""
        level, at = self.place(record)
        return level.source.readings_of(level.left[at : at + 1], level.right[at : at + 1])[0]

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
        verdicts = np.zeros(len(self), dtype=np.int8)
        for level in reversed(self.levels):
            here = slice(level.first, level.first + len(level))
            gold_kind, predicted_kind = level.kinds
            own = np.select(
                [predicted_kind == NONE, gold_kind == NONE, gold_kind != predicted_kind],
                [Verdict.MISSING, Verdict.SPURIOUS, Verdict.WRONG_TYPE],
                np.where(
                    level.quality >= 1.0,
                    Verdict.CORRECT,
                    np.where(level.quality >= close, Verdict.CLOSE, Verdict.WRONG),
                ),
            ).astype(np.int8)
            if not level.leaf:
                plain = level.paired & (gold_kind == predicted_kind)
                lacking = np.maximum(level.gold, level.predicted) - level.matched > MASS_TOLERANCE
                own = np.where(plain, np.where(lacking, Verdict.WRONG, verdicts[here]), own).astype(np.int8)
            verdicts[here] = own
            above = level.parent != NONE
            passed = np.minimum(own[above], Verdict.WRONG)
            np.maximum.at(verdicts, level.parent[above], passed.astype(np.int8))
        return verdicts


def kind_name(kind: int) -> str | None:
    """Return the JSON Schema name of a kind; None for no node."""
    return None if kind == NONE else Kind(kind).name.lower()
