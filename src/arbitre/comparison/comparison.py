"""The result of comparing one prediction with its gold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arbitre.comparison import html_repr as html
from arbitre.comparison.diagnosis import Diagnosis
from arbitre.comparison.json_format import FORMAT, levels_from_json, nodes_to_json
from arbitre.comparison.leaf_pairs import classify, value_rows
from arbitre.comparison.levels import (
    by_path,
    field_counts,
    leaves,
    of_nodes,
    pair_qualities,
    scores_by_path,
    squared_masses,
)
from arbitre.comparison.node_tree import Alignment, LeafVerdict, Match, Node, NodeTree, Verdict
from arbitre.comparison.references import ScopeReferences
from arbitre.curve import Curve
from arbitre.errors import DataError, did_you_mean
from arbitre.paths import STAR, order, outside, parse
from arbitre.schema.validate import Violation, find_violations
from arbitre.signature import Signature
from arbitre.tables.table import WHOLE
from arbitre.tally import PathScores, Scores, ScoresByPath, Tally
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    from arbitre.arrays import Floats
    from arbitre.classification import Classification
    from arbitre.comparison.cause import Cause
    from arbitre.comparison.levels import Level
    from arbitre.comparison.patch import Patch
    from arbitre.paths import Path
    from arbitre.schema.loading.load_schema import Subschema

    _Margins = Callable[[Level, int, Sequence[tuple[int, int]]], Sequence[float | None]]


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """The result of comparing a prediction with its gold document.

    Scores are computed immediately, and explanations on demand. Pointers refer to the gold document. A field that a
    prediction stores under an alias has its schema name.
    """

    level_source: Callable[[Path | None], tuple[Level, ...]]
    """Builds the levels; given a path, possibly only those on the way to it and directly below it."""
    entry_levels: tuple[Level, ...]
    """The levels down to the entries and their fields, from which the scores are computed."""
    gold: Json
    """The gold document, or `ABSENT` if there is none."""
    predicted: Json
    """The predicted document, or `ABSENT` if there is none."""
    entries: str
    """Wildcard path of the list of entries; "" is the root."""
    signature: Signature
    """The options that can change a score. Scores are comparable only if their signatures are equal."""
    close: float
    """Minimum quality, in [0, 1], for the verdict "close"."""
    schema: Subschema | None = None
    item_costs: Callable[[Level, int, tuple[int, int]], Floats] | None = None
    """Computes the distances between the items of a pair of lists; None if the comparison was read from JSON."""
    item_margins: _Margins | None = None
    """Computes the margins of the matched items of a pair of lists; None if the comparison was read from JSON."""
    format_assertion: bool = False
    """Whether a value that does not match its `format` violates the schema."""
    diagnose: Callable[[], Diagnosis] | None = None
    """Function that computes `diagnosis` once and returns it; None if there is none."""
    find_causes: Callable[[], tuple[Cause, ...]] | None = None
    """Function that finds `causes` once and returns them; None if the comparison was read from JSON."""
    find_references: Callable[[], Mapping[str, ScopeReferences]] | None = None
    """Function that returns `references`; None if there are none."""
    make_patch: Callable[[bool | None], Patch] | None = None
    """Function that returns the patch, with or without gains; None if the comparison was read from JSON."""
    again: Callable[[], Comparison] | None = None
    """Compares the documents again; None if the comparison was read from JSON."""
    rematched: Callable[[tuple[Level, ...], str], tuple[tuple[Level, ...], str | None]] | None = None
    """Returns the levels for a path, whose items are matched without its values, and what they are matched by; None if
    the comparison was read from JSON."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """All compared nodes, recomputed on each access."""
        return self.level_source(None)

    @property
    def quality(self) -> float:
        """The quality of the root, in [0, 1]; 1 if both sides are empty."""
        return float(self.entry_levels[0].quality[0]) if self.entry_levels else 1.0

    @property
    def scores(self) -> Scores:
        """The scores of the entries; pooled if several lists contain entries."""
        return Scores(Tally.of(of_nodes(self.entry_levels, self.entries, 1)[0]))

    @property
    def leaves(self) -> Scores:
        """Unweighted scores over all leaves."""
        return Scores(Tally.of(leaves(self.levels, 1)[0]))

    @property
    def by_path(self) -> ScoresByPath:
        """Scores and [outcomes](measures.md#outcomes-by-path) by wildcard path, for leaves and list items.

        The paths are in document order. Computed anew on each access. `by_path()` is equivalent.
        """
        sums = by_path(self.levels, 1, self.close)
        fields = {path: rows[0].tolist() for path, rows in field_counts(self.levels, 1).items()}
        return scores_by_path({path: sums[path][0].tolist() for path in sorted(sums, key=order)}, fields)

    def classification(self, path: str, labels: Json | Sequence[Json] = None) -> Classification:
        """Return the [confusion matrix](classification.md) of the values at a path, with the scores of each class.

        List items are matched without the values at this path, because matching on these values would inflate the
        agreement. If nothing else identifies the items, or if the comparison was read from JSON, the matching of the
        comparison is used, and the scores are upper bounds. `matched_by` of the result states how the items were
        matched. A predicted label that differs from the gold label but has quality 1, for example after `casefold`,
        counts as the gold label.

        Args:
            path: Wildcard path of single values, such as "/people/*/role".
            labels: The labels to report, in order; by default, all that occur, sorted.

        Raises:
            DataError: No single value was compared at the path.
        """
        levels = self.levels
        matched_by = "all fields" if any(level.item and path.startswith(level.text) for level in levels) else None
        if self.rematched is not None:
            levels, matched_by = self.rematched(levels, path)
        return classify(value_rows(levels, path), path, self.by_path, labels, matched_by)

    @property
    def outside(self) -> dict[str, PathScores]:
        """The scores of the paths outside the entries, which `scores` does not include.

        Empty if the root is the only entry.
        """
        paths = self.by_path
        return {path: paths[path] for path in outside(paths, self.entries)}

    @property
    def curve(self) -> Curve:
        """The survival curve of the qualities of the matched entries."""
        qualities, weights, _ = pair_qualities(self.entry_levels, self.entries)
        tally = self.scores.tally
        return Curve.of(qualities, tally.gold, tally.predicted, weights)

    def at(self, pointer: str) -> Node:
        """Return the node at a JSON Pointer of the gold document.

        `reading` of the node is the [accepted form](reference/keyword.md#alternatives) that the prediction was compared
        with, or `ABSENT` if gold has only one form. `margin` is the [margin](diagnosis.md#margin-of-a-match) of a list
        item.

        Raises:
            DataError: No node was compared at the pointer.
        """
        levels = self.levels
        node_tree = NodeTree.of(levels)
        node_id = self._node_id_at(node_tree, pointer)
        level, at = node_tree.place(node_id)
        squares = squared_masses(levels)
        return Node(
            path=level.texts()[at],
            pointer=node_tree.pointer(node_id, gold=True),
            predicted_pointer=node_tree.pointer(node_id, gold=False),
            tally=Tally.sum(_tally(*node_tree.place(side), squares[side]) for side in node_tree.sides(node_id)),
            quality=float(level.quality[at]),
            verdict=Verdict(int(node_tree.verdicts(self.close)[node_id])).text,
            gold=node_tree.value(node_id, gold=True),
            predicted=node_tree.value(node_id, gold=False),
            reading=node_tree.accepted_form(node_id),
            reference=node_tree.note(node_id),
            compute_margin=partial(self._margin_at, pointer) if level.item and level.paired[at] else None,
        )

    def _margin_at(self, pointer: str) -> float | None:
        """Return the margin of the item at a pointer of the gold document."""
        around, _, position = pointer.rpartition("/")
        return next(pair.margin for pair in self.alignment(around).pairs if pair.gold == int(position))

    def alignment(self, pointer: str) -> Alignment:
        """Return the matching of the list at a JSON Pointer of the gold document.

        See [margin of a match](diagnosis.md#margin-of-a-match) for `margin`, and
        [transport](transport.md#one-entry-made-of-two) for `costs` and `plan`.

        Args:
            pointer: JSON Pointer of a list, such as "/people".

        Raises:
            DataError: There is no list at the pointer.
        """
        try:
            levels = self.entry_levels if pointer == self.entries else self.level_source(parse(pointer))
        except ValueError:
            levels = self.levels
        node_tree = NodeTree.of(levels)
        lists: dict[int, list[Sequence[Json]]] = {}
        for side in node_tree.sides(self._node_id_at(node_tree, pointer)):
            values = [node_tree.value(side, gold=gold) for gold in (True, False)]
            if not node_tree.place(side)[0].leaf and any(isinstance(value, list) for value in values):
                lists[side] = [value if isinstance(value, list) else () for value in values]
        if not lists:
            raise DataError.of("Expected a list", pointer=pointer, hint="`by_path` lists the paths.")
        pairs: list[Match] = []
        lone: tuple[dict[int, float], dict[int, float]] = {}, {}
        depth = len(node_tree.place(next(iter(lists)))[0].path) + 1
        for level in (candidate for candidate in levels if len(candidate.path) == depth and not candidate.inner):
            at = np.logical_or.reduce([level.parent == node_id for node_id in lists]).nonzero()[0]
            left, right = level.left[at], level.right[at]
            both = (left >= 0) & (right >= 0)
            share = np.ones(len(at)) if level.share is None else level.share[at]
            gold, predicted = (map(int, level.source.tokens_of(rows[both])) for rows in (left, right))
            quality = level.quality[at[both]].tolist()
            pairs += map(Match, gold, predicted, share[both].tolist(), quality)
            for unmatched, rows in zip(lone, (left, right), strict=True):
                alone = ~both & (rows >= 0)
                tokens = map(int, level.source.tokens_of(rows[alone]))
                unmatched.update(zip(tokens, share[alone].tolist(), strict=True))
        pairs.sort()
        gold_size, predicted_size = (max(map(len, side_lists)) for side_lists in zip(*lists.values(), strict=True))
        met = {pair.gold for pair in pairs}, {pair.predicted for pair in pairs}
        missing, spurious = (tuple(sorted(unmatched.keys() - own)) for unmatched, own in zip(lone, met, strict=True))
        sizes = gold_size, predicted_size
        level, at = node_tree.place(next(iter(lists)))
        if self.item_margins is not None:
            margins = cache(
                partial(_margins, self.item_margins, level, at, [(pair.gold, pair.predicted) for pair in pairs])
            )
            for pair in pairs:
                pair._margins = margins  # noqa: SLF001  (computed for all pairs together)
        costs = None if self.item_costs is None else partial(self.item_costs, level, at, sizes)
        return Alignment(tuple(pairs), missing, spurious, sizes, lone, costs)

    def _node_id_at(self, node_tree: NodeTree, pointer: str) -> int:
        """Return the id of the node at a pointer of the gold document. Raises DataError if there is none."""
        try:
            tokens = tuple("*" if token is STAR else str(token) for token in parse(pointer))
        except ValueError as error:
            raise DataError.of(str(error), hint=f'Did you mean "/{pointer}"?') from error
        node_id = node_tree.find(tokens)
        if node_id is None:
            every = NodeTree.of(self.levels)
            known = [text for number in range(len(every)) if (text := every.pointer(number, gold=True)) is not None]
            hint = did_you_mean(pointer, known, "Pointers refer to the gold document.")
            raise DataError.of("No value was compared", pointer=pointer, hint=hint)
        return node_id

    def explain(self) -> tuple[LeafVerdict, ...]:
        """Return every leaf with its verdict and its share of the document.

        Leaves of gold come first, in document order, followed by spurious leaves.
        """
        levels = self.levels
        node_tree = NodeTree.of(levels)
        shares, verdicts = node_tree.shares(), node_tree.verdicts(self.close)
        pointers = node_tree.pointers(gold=True), node_tree.pointers(gold=False)
        rows = []
        for level in levels:
            gold, predicted, *_ = level.leaf_masses()
            values = level.values(gold=True), level.values(gold=False)
            texts = level.texts()
            for at in ((gold > 0.0) | (predicted > 0.0)).nonzero()[0].tolist():
                node_id = level.first + at
                rows.append(
                    LeafVerdict(
                        path=texts[at],
                        pointer=pointers[0][node_id],
                        predicted_pointer=pointers[1][node_id],
                        gold=values[0][at],
                        predicted=values[1][at],
                        quality=float(level.quality[at]),
                        verdict=Verdict(int(verdicts[node_id])).text,
                        share=float(shares[node_id])
                        if level.leaf or level.gold[at] + level.predicted[at] == 0.0
                        else 0.0,
                        reading=node_tree.accepted_form(node_id),
                        reference=node_tree.note(node_id),
                    )
                )
        return tuple(
            sorted(rows, key=lambda row: (row.pointer is None, order(row.pointer or row.predicted_pointer or "")))
        )

    @property
    def references(self) -> Mapping[str, ScopeReferences]:
        """The pairing of ids, and the wrong [references](references.md), by scope; empty if the schema has no ids.

        >>> from arbitre import compare
        >>> id_field = {"type": "string", "x-arbitre": {"id": "person"}}
        >>> person = {"type": "object", "properties": {"id": id_field, "name": {"type": "string"}}}
        >>> gold, predicted = [{"id": "a", "name": "Ada"}], [{"id": "p1", "name": "Ada"}]
        >>> compare({"type": "array", "items": person}, gold=gold, predicted=predicted).references["person"].pairs
        (('a', 'p1'),)
        """
        return {} if self.find_references is None else self.find_references()

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The schema violations of the prediction, computed anew on each access.

        Raises:
            DataError: The comparison was read from JSON and has no schema.
        """
        if self.schema is None:
            raise DataError.of(
                "The schema violations are not available",
                hint="A comparison that was read from JSON has no schema. Compare the documents again.",
            )
        if self.predicted is ABSENT:
            return ()
        return find_violations(self.schema, self.predicted, format_assertion=self.format_assertion)

    @property
    def diagnosis(self) -> Diagnosis:
        """The [diagnosis](diagnosis.md): misplaced values, splits, merges, and the cost of each class of fault.

        Computed on first access.

        Raises:
            DataError: The comparison was read from JSON without a diagnosis.
        """
        if self.diagnose is None:
            raise DataError.of(
                "The diagnosis is not available",
                hint="This comparison was read from JSON without a diagnosis. Compare the documents again.",
            )
        return self.diagnose()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The [causes](diagnosis.md#causes) of the faults, largest gain first.

        Computed on first access, by comparing modified copies of the documents. A single pair of documents provides
        little evidence of a cause.

        Raises:
            DataError: The comparison was read from JSON.
        """
        if self.find_causes is None:
            raise DataError.of(
                "The causes are not available",
                hint="This comparison was read from JSON. Compare the documents again.",
            )
        return self.find_causes()

    def patch(self, *, gains: bool | None = None) -> Patch:
        """Return the [JSON Patch](diagnosis.md#repair-as-a-json-patch) (RFC 6902) that turns the prediction into gold.

        The patch does not change values that count as equal or fields that are not compared. Lists that are matched by
        transport are replaced as a whole.

        Args:
            gains: Whether to compute the gains, which takes one comparison for each operation.
                By default, gains are computed unless this takes more than about a minute or calls a custom distance.

        Raises:
            DataError: The comparison was read from JSON.
        """
        if self.make_patch is None:
            raise DataError.of(
                "The patch is not available",
                hint="This comparison was read from JSON. Compare the documents again.",
            )
        return self.make_patch(gains)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-serialisable data, valid against `schemas/comparison.schema.json`; `from_dict` is the inverse."""
        paths = self.by_path
        plain: dict[str, Any] = {
            "format": FORMAT,
            "signature": self.signature.to_dict(),
            "close": self.close,
            "entries": self.entries,
            "quality": self.quality,
            "scores": self.scores.to_dict(),
            "leaves": self.leaves.to_dict(),
            "outside": {path: paths[path].to_dict() for path in outside(paths, self.entries)},
            "by_path": {path: scores.to_dict() for path, scores in paths.items()},
            "nodes": nodes_to_json(self.levels, self.close),
        }
        references = {scope: one.to_dict() for scope, one in self.references.items()}
        if references:
            plain["references"] = references
        if self.diagnose is not None:
            plain["diagnosis"] = self.diagnosis.to_dict()
        documents = {"gold_document": self.gold, "predicted_document": self.predicted}
        return plain | {side: document for side, document in documents.items() if document is not ABSENT}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Create a comparison from the result of `to_dict`. Raises DataError if the format is unknown."""
        gold, predicted = data.get("gold_document", ABSENT), data.get("predicted_document", ABSENT)
        levels = levels_from_json(data, (gold, predicted))
        diagnosis = Diagnosis.from_dict(data["diagnosis"]) if "diagnosis" in data else None
        references = {scope: ScopeReferences.from_dict(one) for scope, one in data.get("references", {}).items()}
        return cls(
            level_source=lambda _: levels,
            entry_levels=levels,
            gold=gold,
            predicted=predicted,
            entries=data["entries"],
            signature=Signature.from_dict(data["signature"]),
            close=data["close"],
            diagnose=None if diagnosis is None else lambda: diagnosis,
            find_references=(lambda: references) if references else None,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the documents and the comparator, or the JSON. The documents are compared again when unpickled."""
        return (Comparison.from_dict, (self.to_dict(),)) if self.again is None else (_call, (self.again,))

    def _repr_html_(self) -> str:
        leaves = self.explain()
        headline = [("f1q of the entries", html.bar(self.scores.f1q))]
        return html.page(
            html.table(("", ""), [*headline, ("quality of the document", html.bar(self.quality))]),
            html.composition(Counter(leaf.verdict for leaf in leaves)),
            html.folded("Worst faults", _worst_faults(leaves), shown=True),
            html.folded("Scores", html.scores_table("", [("entries", self.scores), ("leaves", self.leaves)])),
            html.paths_table(self.by_path),
            signature=self.signature,
        )

    def __repr__(self) -> str:
        return f"Comparison(quality={self.quality:.4f}, entries={self.entries!r})"

    def __str__(self) -> str:
        """Return the verdicts of all values as a tree, as `arbitre compare` prints them."""
        from arbitre.comparison.verdict_tree import verdict_text  # noqa: PLC0415  (loads rich)

        return verdict_text(self.levels, self.entries, self.close)


def _margins(
    compute: _Margins, level: Level, at: int, pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], float | None]:
    """Return the margin of each pair of positions."""
    return dict(zip(pairs, compute(level, at, pairs), strict=True))


def _call(again: Callable[[], Comparison]) -> Comparison:
    return again()


def _worst_faults(leaves: Sequence[LeafVerdict]) -> Markup:
    """Return a table of the leaves that cost the document the most quality."""
    losses = [(leaf.share * (1.0 - leaf.quality), leaf) for leaf in leaves]
    worst = sorted((loss for loss in losses if loss[0] > 0.0), key=lambda loss: -loss[0])[: html.WORST]
    rows = [
        (
            (leaf.predicted_pointer if leaf.pointer is None else leaf.pointer) or WHOLE,
            leaf.verdict,
            html.value_text(leaf.gold),
            html.value_text(leaf.predicted),
            leaf.quality,
            loss,
        )
        for loss, leaf in worst
    ]
    return html.table(("pointer", "verdict", "gold", "predicted", "quality", "lost"), rows)


def _tally(level: Level, at: int, square: float) -> Tally:
    """Return the tally of one node: a leaf counts itself, an object its fields, a list its items."""
    if level.leaf:
        return Tally.of(replace(level, scale=None).leaf_masses()[:, at])
    gold, predicted, matched, mass = (float(m[at]) for m in (level.gold, level.predicted, level.matched, level.mass))
    return Tally(gold, predicted, matched, mass, float(square))
