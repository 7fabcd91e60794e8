"""The position of values in documents, for the column that is built from them and for errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arbitre.errors import ArbitreError, FunctionError
from arbitre.paths import STAR, Token, pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.engine.columns.column import Column
    from arbitre.values import Json


@dataclass(slots=True)
class ValueOrigin:
    """The position of the values of a new column: fields of `Column`, and data for building its child columns."""

    parent: Column | None
    origin: Indices
    gold: int
    """Number of gold values, which come first."""
    token: Token | None = None
    tokens: Sequence[int | str] | Indices | None = None
    tags: Indices | None = None
    """The parent's branch of a union for each value, if the values depend on it."""
    item: bool = False
    siblings: Sequence[Json] = ()
    """The value of the sibling field that holds further readings, for each gold value."""

    def located(self, error: ArbitreError, row: int) -> ArbitreError:
        """Return the error with the JSON Pointer and the side of its row."""
        tokens: list[int | str] = []
        if self.tokens is not None:
            token = self.tokens[row]
            tokens.append(token if isinstance(token, str) else int(token))
        elif self.token is not None and self.token is not STAR:
            tokens.append(self.token)
        above = self.parent.address(int(self.origin[row])) if self.parent is not None else ()
        side = "gold" if row < self.gold else "predicted"
        here, where = pointer((*above, *tokens)), f" in the {side} document"
        problems = (
            replace(each, message=each.message + where, pointer=here + (each.pointer or "")) for each in error.problems
        )
        placed = type(error)(*problems)
        if isinstance(placed, FunctionError) and isinstance(error, FunctionError):
            placed.values = error.values
            placed.document = row if self.parent is None else int(self.parent.root_rows(self.origin[[row]])[0])
        return placed

    def below(
        self,
        column: Column,
        rows: Indices,
        token: Token | None = None,
        *,
        tokens: Sequence[int | str] | Indices | None = None,
        tags: Indices | None = None,
        item: bool = False,
    ) -> ValueOrigin:
        """Return the origin of the values in these rows (increasing) of the column that was built here.

        `tags` are the branches of all rows of the column.
        """
        gold = int(rows.searchsorted(self.gold))
        return ValueOrigin(column, rows, gold, token, tokens, None if tags is None else tags[rows], item)
