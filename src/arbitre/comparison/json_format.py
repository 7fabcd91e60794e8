"""Conversion of comparisons to and from plain JSON, in the format of `schemas/comparison.schema.json`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import NONE, Level, with_scales
from arbitre.comparison.node_tree import NodeTree, Verdict, kind_name
from arbitre.comparison.references import ReferenceNote, ReferredItem
from arbitre.errors import DataError
from arbitre.paths import DEPTH, STAR, list_position, parse
from arbitre.tally import COUNTS
from arbitre.values import ABSENT, SIDES, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Kinds
    from arbitre.paths import Path, Token

FORMAT: Final = "arbitre-comparison/1"


def nodes_to_json(levels: Sequence[Level], close: float) -> list[dict[str, Any]]:
    """Return every node as plain JSON; a side without a node is null."""
    node_tree = NodeTree.of(levels)
    verdicts = node_tree.verdicts(close).tolist()
    pointers = node_tree.pointers(gold=True), node_tree.pointers(gold=False)
    known: tuple[list[Json], list[Json]] = [], []
    return [node for level in levels for node in _nodes(level, verdicts, pointers, known)]


def _nodes(
    level: Level,
    verdicts: list[int],
    pointers: tuple[list[str | None], list[str | None]],
    known: tuple[list[Json], list[Json]],
) -> Iterator[dict[str, Any]]:
    """Yield the nodes of one level, and add their values to the known values of each side.

    The value of an object or list is written only if the value of its parent does not hold it, because it was moved
    from an alias.
    """
    kinds = [kinds.tolist() for kinds in level.kinds]
    texts, forms = level.texts(), level.source.accepted_forms(level.left, level.right)
    notes = level.source.reference_notes(level.left, level.right)
    parents, qualities = level.parent.tolist(), level.quality.tolist()
    shares = [1.0] * len(level) if level.share is None else level.share.tolist()
    masses = [mass.tolist() for mass in (level.gold, level.predicted, level.matched, level.mass)]
    for side, values in zip(SIDES, known, strict=True):
        values.extend(level.values(gold=side == "gold"))
    for at in range(len(level)):
        node_id = level.first + at
        node: dict[str, Any] = {
            "path": texts[at],
            "gold": pointers[0][node_id],
            "predicted": pointers[1][node_id],
            "gold_kind": kind_name(kinds[0][at]),
            "predicted_kind": kind_name(kinds[1][at]),
            "leaf": level.leaf,
            "item": level.item,
            "inner": level.inner,
            "parent": None if parents[at] == NONE else parents[at],
            "weight": level.weight,
            "quality": qualities[at],
            "verdict": Verdict(verdicts[node_id]).text,
        }
        if shares[at] != 1.0:
            node["mass"] = shares[at]
        for side, values in zip(SIDES, known, strict=True):
            value = values[node_id]
            if value is not ABSENT and (level.leaf or _inherited(node, side, values, value) is not value):
                node[f"{side}_value"] = value
        if level.leaf:
            if forms[at] is not ABSENT:
                node["gold_reading"] = forms[at]
            if (note := notes[at]) is not None:
                node["reference"] = note._asdict()
        else:
            node["tally"] = {name: float(mass[at]) for name, mass in zip(COUNTS, masses, strict=True)}
        yield node


@dataclass(frozen=True, eq=False, slots=True)
class _ReadNodes:
    """The nodes of one level as read from JSON; rows are positions in these sequences."""

    tokens: Sequence[int | str]
    values: Sequence[Json]
    kinds: Kinds
    forms: Sequence[Json]
    notes: Sequence[ReferenceNote | None]

    def tokens_of(self, rows: Indices) -> list[int | str]:
        return [self.tokens[row] for row in rows.tolist()]

    def values_of(self, rows: Indices) -> list[Json]:
        return [self.values[row] for row in rows.tolist()]

    def normalized_values_of(self, rows: Indices) -> list[Json]:
        return self.values_of(rows)  # the JSON has the original values only

    def accepted_forms(self, left: Indices, right: Indices) -> list[Json]:  # noqa: ARG002
        return [self.forms[row] for row in left.tolist()]

    def referred(self, rows: Indices) -> list[ReferredItem | None]:
        return [None] * len(rows)

    def reference_notes(self, left: Indices, right: Indices) -> list[ReferenceNote | None]:
        return [self.notes[max(pair) % len(self.notes)] for pair in zip(left.tolist(), right.tolist(), strict=True)]

    def kinds_of(self, left: Indices, right: Indices) -> tuple[Kinds, Kinds]:
        gold, predicted = (np.where(rows >= 0, self.kinds[rows], np.int8(NONE)) for rows in (left, right))
        return gold, predicted


def levels_from_json(data: Mapping[str, Any], documents: tuple[Json, Json]) -> tuple[Level, ...]:
    """Return the levels of a comparison that was written as JSON.

    Args:
        data: The result of `Comparison.to_dict`.
        documents: The gold document and the prediction; `ABSENT` if there is none.

    Raises:
        DataError: The format is unknown.
    """
    if data.get("format") != FORMAT:
        raise DataError.of(
            f'Expected `format` to be "{FORMAT}", got {data.get("format")!r}',
            pointer="/format",
            hint="Pass the result of `Comparison.to_dict`, or compare the documents again.",
        )
    nodes: list[dict[str, Any]] = data["nodes"]
    levels = []
    known: tuple[list[Json], list[Json]] = [], []
    first = 0
    for _, level_nodes in groupby(nodes, key=_level_of):
        members = list(level_nodes)
        levels.append(_level(members, first, nodes, documents, known))
        first += len(members)
    return with_scales(levels)


def _level_of(node: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key shared by the nodes of one level. The depth distinguishes deep paths with equal abridged text."""
    depth = (node["gold"] or node["predicted"] or "").count("/")
    return node["path"], depth, node["leaf"], node["item"], _is_kind_mismatch(node), node["inner"], node["weight"]


def _is_kind_mismatch(node: Mapping[str, Any]) -> bool:
    """Return whether a node pairs an object or list with a value of another kind. Leaves may have any kinds."""
    kinds = node["gold_kind"], node["predicted_kind"]
    return not node["leaf"] and None not in kinds and kinds[0] != kinds[1]


def _level(
    members: list[dict[str, Any]],
    first: int,
    nodes: list[dict[str, Any]],
    documents: tuple[Json, Json],
    known: tuple[list[Json], list[Json]],
) -> Level:
    """Return one level, and add the values of its nodes to the known values of each side."""
    size = len(members)
    head = members[0]
    names: list[int | str] = []
    for side, document, values in zip(SIDES, documents, known, strict=True):
        for node in members:
            pointer, parent = node[side], node["parent"]
            if pointer is None:
                names.append("")
                values.append(ABSENT)
                continue
            tokens = parse(pointer)
            token: int | str = str(tokens[-1]) if tokens else ""
            if parent is not None and nodes[parent][f"{side}_kind"] == "array" and not node["inner"]:
                token = int(token)
            names.append(token)
            value_key = f"{side}_value"
            written = value_key in node or head["leaf"]
            values.append(node[value_key] if written else _inherited(node, side, values, document))
    rows = np.arange(size, dtype=np.intp)
    present = {side: np.array([node[side] is not None for node in members]) for side in SIDES}
    tallies = [node.get("tally", dict.fromkeys(COUNTS, 0.0)) for node in members]
    masses = {name: np.array([tally[name] for tally in tallies], dtype=np.float64) for name in COUNTS}
    shares = np.array([node.get("mass", 1.0) for node in members], dtype=np.float64)
    forms = [node.get("gold_reading", ABSENT) for node in members]
    notes = [ReferenceNote(**node["reference"]) if "reference" in node else None for node in members]
    return Level(
        path=_path(head, nodes),
        leaf=head["leaf"],
        item=head["item"],
        kind_mismatch=_is_kind_mismatch(head),
        inner=head["inner"],
        weight=float(head["weight"]),
        first=first,
        parent=np.array([NONE if node["parent"] is None else node["parent"] for node in members], dtype=np.intp),
        document=np.zeros(size, dtype=np.intp),
        source=_ReadNodes(names, [*known[0][first:], *known[1][first:]], _kinds(members), forms, notes),
        left=np.where(present["gold"], rows, NONE),
        right=np.where(present["predicted"], rows + size, NONE),
        quality=np.array([node["quality"] for node in members], dtype=np.float64),
        gold=masses["gold"],
        predicted=masses["predicted"],
        matched=masses["matched"],
        mass=masses["quality_mass"],
        share=None if (shares == 1.0).all() else shares,
    )


def _path(node: dict[str, Any], nodes: list[dict[str, Any]]) -> Path:
    """Return the path of a node. The text of deep paths is abridged; their end is collected from the nodes above."""
    path = parse(node["path"])
    if len(path) <= DEPTH:
        return path
    tokens: list[Token] = []
    while node["parent"] is not None:
        if not node["inner"]:
            tokens.append(STAR if node["item"] else parse(node["gold"] or node["predicted"])[-1])
        node = nodes[node["parent"]]
    return (*path[:DEPTH], *tokens[::-1][DEPTH:])


def _kinds(members: list[dict[str, Any]]) -> Kinds:
    """Return the kinds of the gold nodes, followed by those of the predicted nodes."""
    names = [node[key] for key in ("gold_kind", "predicted_kind") for node in members]
    return np.array([NONE if name is None else Kind[name.upper()] for name in names], dtype=np.int8)


def _inherited(node: Mapping[str, Any], side: str, values: Sequence[Json], document: Json) -> Json:
    """Return the value of a node as the value of its parent holds it; ABSENT if a prediction holds it under an alias.

    Args:
        node: The node as JSON.
        side: "gold" or "predicted".
        values: The values of the nodes before it.
        document: The value of the root.
    """
    if node["parent"] is None:
        return document
    value = values[node["parent"]]
    if node["inner"]:
        return value
    token = str(parse(node[side])[-1])
    if isinstance(value, list) and (position := list_position(token)) is not None and position < len(value):
        return value[position]
    return value.get(token, ABSENT) if isinstance(value, dict) else ABSENT
