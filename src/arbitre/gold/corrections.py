"""Corrects gold by the decisions of people, and keeps the decisions that cannot be applied."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.comparison.patch import patch_path, patch_tokens
from arbitre.errors import shown
from arbitre.gold.decisions import (
    GOLD_IS_WRONG,
    PREDICTION_IS_WRONG,
    UNSURE,
    GoldDecision,
    GoldDecisions,
    RefusedGoldDecision,
)
from arbitre.gold.gold_texts import DocumentText, GoldSource
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.provenance import Correction, Provenance, ValueOrigin
from arbitre.inputs.reader import Reader
from arbitre.parsing.json_edits import Edit, Operation, edited
from arbitre.paths import list_position, order, pointer
from arbitre.schema.loading.load_schema import load
from arbitre.schema.validate import Violation, find_certain_violations, find_violations
from arbitre.schema.value_schema import value_schemas
from arbitre.storage.output_folder import FileState, paths_among
from arbitre.values import ABSENT, canonical, equal_or_absent

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.gold.gold_texts import GoldText
    from arbitre.schema.loading.load_schema import SchemaSource, Subschema
    from arbitre.values import Json

END: Final = "-"
"""Last token of the pointer of an item that is added at the end of a list."""


@dataclass(frozen=True, slots=True)
class AppliedDecisions:
    """The result of applying a file of decisions to gold.

    Attributes:
        out: The corrected gold.
        documents: Number of corrected documents.
        operations: Number of corrected values, by operation: "replace", "add" and "remove".
        by: Number of corrected values, by the person who decided.
        predictions_wrong: Number of decisions that the prediction is wrong.
        unsure: Number of decisions of people who were unsure.
        refused: Decisions that were not applied.
        refused_file: Table of the refused decisions; None if there are none.
    """

    out: Path
    documents: int
    operations: Mapping[str, int]
    by: Mapping[str, int]
    predictions_wrong: int
    unsure: int
    refused: tuple[RefusedGoldDecision, ...]
    refused_file: Path | None

    @property
    def values(self) -> int:
        """Number of corrected values."""
        return sum(self.operations.values())

    def to_dict(self) -> dict[str, Json]:
        """Return plain JSON."""
        return {
            "out": self.out.as_posix(),
            "documents": self.documents,
            "values": self.values,
            "operations": dict(self.operations),
            "by": dict(self.by),
            "predictions_wrong": self.predictions_wrong,
            "unsure": self.unsure,
            "refused": [each.to_dict() for each in self.refused],
            "refused_file": None if self.refused_file is None else self.refused_file.as_posix(),
        }


def apply_decisions(
    decisions: str | Path,
    gold: str | Path,
    *,
    out: str | Path,
    schema: SchemaSource | None = None,
    allow_refs: str | Path | Iterable[str | Path] = (),
    id_key: str = "id",
    id_pattern: str | None = None,
    normalize_ids: bool = False,
    gold_key: str = "gold",
    force: bool = False,
) -> AppliedDecisions:
    """Apply decisions from a report to gold, as `arbitre gold apply` does, and write a corrected copy.

    The copy differs from the gold only in the corrected values. Its sidecar states who corrected how many values.
    Decisions that the prediction is wrong, and decisions of people who were unsure, are only counted. A decision is
    refused, and written to a table beside the copy, if

    - the gold no longer contains the value, the place or the document that the decision refers to;
    - it contradicts another decision on the same value or on a part of it;
    - the corrected value would violate the schema.

    Args:
        decisions: Decisions that were exported from a report (.csv or .json).
        gold: The gold that was evaluated: a folder of `<id>.json` files, a `.json` or a `.jsonl` file.
        out: New folder or file for the corrected gold, in the same form as `gold`.
        schema: Schema that the corrected values must not violate. Formats are checked as far as possible.
        allow_refs: Further folders with files that the schema may reference.
        id_key: Key of the id of a record.
        id_pattern: Regular expression that finds the id in a file name.
        normalize_ids: Whether ids are compared without case, Unicode form and file extension.
        gold_key: Key of the gold document in records that contain both documents.
        force: Whether to write beside files that arbitre did not write.

    Returns:
        The number of corrected values, and the refused decisions.

    Raises:
        DataError: The decisions or the gold cannot be read, or a file cannot be written or is not one that arbitre
            wrote.
        SchemaError: The schema is invalid.
        OptionError: `out` does not have the form of `gold`, or an option is invalid.
    """
    root = None if schema is None else load(schema, allow_refs)
    reading = ReadOptions(
        id_key=id_key,
        id_pattern=id_pattern,
        normalize_ids=normalize_ids,
        gold_key=gold_key,
        field_kinds=dict.fromkeys(_declared(root), frozenset()),
    )
    source = GoldSource(Path(gold), Reader.of("gold", reading))
    source.check()
    inputs = [gold, decisions, *paths_among(schema)]
    target = source.destination(Path(out), inputs, force=force)
    read, origin = GoldDecisions.read(decisions), Provenance.read(gold)
    ids = Counter(part.record.id for _, parts in source.files() for part in parts if part.record is not None)
    chosen, refused = _agreed(_of_documents(read.decisions, ids))
    corrected: dict[str, _Correction] = {}

    def changed(part: GoldText) -> bytes:
        record = part.record
        if record is None or record.id not in chosen:
            return part.data
        located = source.located(part.data.decode("utf-8"), record)
        own = corrected[record.id] = _corrected(located, chosen[record.id], root)
        return own.text.encode("utf-8")

    source.write(target, changed, inputs, force=force)
    refused = [*read.refused, *refused, *(each for own in corrected.values() for each in own.refused)]
    removed = {name: own.removed() for name, own in corrected.items()}
    refused = [_in_copy(each, ids, removed) for each in refused]
    applied = _summary(target, read, corrected.values(), refused)
    _write_sidecar(read, origin, corrected, applied)
    return replace(applied, refused_file=read.write_refused(applied.refused, target))


_Proposal = tuple[GoldDecision, ...]
"""Decisions that agree on one place."""
_Removed = dict[tuple[str, ...], list[int]]
"""Positions of removed items in ascending order, by the path of their list."""


def _declared(root: Subschema | None) -> Iterable[str]:
    """Return the keys that a schema declares for a document."""
    whole = {} if root is None else value_schemas(root, [""]).get("", {})
    return whole.get("properties", ()) if isinstance(whole, dict) else ()


def _refused(proposal: Iterable[GoldDecision], reason: str) -> list[RefusedGoldDecision]:
    return [RefusedGoldDecision(reason, own.row, own, own.line) for own in proposal]


# Which decisions are about one place, and whether they agree.


def _of_documents(
    decisions: Iterable[GoldDecision], ids: Mapping[str, int]
) -> Iterator[tuple[GoldDecision, str | RefusedGoldDecision]]:
    """Yield each decision with the id of its document, or with why it is refused.

    In files of reports that do not state runs, a run follows the id, after "/".
    """
    for own in decisions:
        name = own.document
        shorter = [name[:at] for at, sign in enumerate(name) if sign == "/" and name[:at] in ids]
        unclear = bool(shorter) and own.run is None
        others = " or ".join(map(repr, shorter))
        advice = f"If it is a run of {others}, write the id under 'document' and the run under 'run'."
        if name not in ids:
            reason = f"Gold has no document {name!r}."
            yield own, _refused([own], f"{reason} {advice}" if unclear else reason)[0]
        elif unclear and own.report:
            reason = f"{name!r} is a document, or a run of another one. {advice} If not, leave 'run' empty."
            yield own, _refused([own], reason)[0]
        elif ids[name] > 1:
            yield own, _refused([own], f"Gold has {ids[name]} documents with the id {name!r}.")[0]
        else:
            yield own, name


def _in_copy(
    refused: RefusedGoldDecision, ids: Mapping[str, int], removed: Mapping[str, _Removed]
) -> RefusedGoldDecision:
    """Return a refused decision whose pointer refers to the corrected copy."""
    own = refused.decision
    if own is None or own.pointer is None:
        return refused
    (_, document) = next(_of_documents([own], ids))
    if not isinstance(document, str) or document not in removed:
        return refused
    return refused._replace(pointer=patch_path(_moved(patch_tokens(own.pointer), removed[document])))


def _agreed(
    decisions: Iterable[tuple[GoldDecision, str | RefusedGoldDecision]],
) -> tuple[dict[str, list[_Proposal]], list[RefusedGoldDecision]]:
    """Return the decisions that gold is wrong, by document and place, and the refused ones.

    Items that are added to one list are different places, unless their predicted or their correct values are equal.
    """
    places: dict[tuple[str, str, Hashable], list[GoldDecision]] = defaultdict(list)
    refused: list[RefusedGoldDecision] = []
    for own, document in decisions:
        if isinstance(document, RefusedGoldDecision):
            refused.append(document)
        elif own.pointer is None:
            if own.choice == GOLD_IS_WRONG:
                refused += _refused([own], "The place in gold is unknown. Correct the gold by hand.")
        elif own.choice != UNSURE:
            added = own.value if own.predicted is ABSENT else own.predicted
            places[document, own.pointer, _item(own, added)].append(own)
    chosen: dict[tuple[str, str, Hashable], list[GoldDecision]] = defaultdict(list)
    for (document, at, _), each in places.items():
        first = each[0]
        if any(own.choice != first.choice or not equal_or_absent(own.value, first.value) for own in each):
            others = ", ".join(f"{own.by} ({own.choice})" for own in each)
            refused += _refused(each, f"The decisions on this place differ: {others}. Keep one of them.")
        elif first.choice == GOLD_IS_WRONG:
            chosen[document, at, _item(first, first.value)] += each
    by_document: dict[str, list[_Proposal]] = defaultdict(list)
    for (document, _, _), each in chosen.items():
        by_document[document].append(tuple(each))
    return by_document, refused


def _item(own: GoldDecision, value: Json) -> Hashable:
    """Return a key of a value if the decision adds an item to a list; otherwise None."""
    added = str(own.pointer).endswith(f"/{END}") and own.gold is ABSENT
    return canonical(value) if added and value is not ABSENT else None


# The corrections of one document.


class _RefusedError(Exception):
    """A decision cannot be applied; the message gives the reason."""


class _Change(NamedTuple):
    """Decisions that agree.

    Attributes:
        proposal: The decisions.
        tokens: Path of their value in the document.
        edit: Edit of its text.
        holder: The list or object around the value before the correction.
        created: Edits that add the lists and objects around the value that the document lacks.
    """

    proposal: _Proposal
    tokens: tuple[str, ...]
    edit: Edit
    holder: Json
    created: tuple[Edit, ...] = ()

    @property
    def place(self) -> str:
        return str(self.proposal[0].pointer)


class _Correction(NamedTuple):
    """The corrections of one document.

    Attributes:
        text: The text of its record after them.
        changes: The changes, in the order in which they were made.
        refused: Decisions that cannot be applied.
        before: The document before them.
    """

    text: str
    changes: Sequence[_Change]
    refused: Sequence[RefusedGoldDecision]
    before: Json

    def removed(self) -> _Removed:
        """Return the items that the corrections remove."""
        removed: _Removed = defaultdict(list)
        for change in self.changes:
            if change.edit.op == "remove" and isinstance(change.holder, list):
                insort(removed[change.tokens[:-1]], int(change.tokens[-1]))
        return removed

    def origins(self, known: Mapping[str, ValueOrigin]) -> dict[str, ValueOrigin]:
        """Return the origins of values by their pointers after the corrections, given those before."""
        added: Counter[tuple[str, ...]] = Counter()
        changed = {change.tokens for change in self.changes}
        places = [
            (tokens, origin)
            for tokens, origin in ((tuple(patch_tokens(at.replace("~2", "*"))), origin) for at, origin in known.items())
            if not any(tokens[:size] in changed for size in range(len(tokens) + 1))
        ]
        for proposal, tokens, edit, holder, _ in self.changes:
            names, notes = (dict.fromkeys(getattr(own, name) for own in proposal) for name in ("by", "note"))
            origin = ValueOrigin((), ", ".join(names), "; ".join(filter(None, notes)) or None)
            above, at = tokens[:-1], tokens[-1:]
            if edit.op == "add" and isinstance(holder, list):
                at = (str(len(holder) + added[above]),)
                added[above] += 1
            places += [(above + at, origin)] if edit.op != "remove" else []
        removed = self.removed()
        moved = {pointer(_moved(tokens, removed)): origin for tokens, origin in places}
        return dict(sorted(moved.items(), key=lambda each: order(each[0])))


def _corrected(located: DocumentText, proposals: Iterable[_Proposal], root: Subschema | None) -> _Correction:
    """Apply decisions to one document."""
    document = located.value(located.text)
    found: list[_Change] = []
    refused: list[RefusedGoldDecision] = []
    items: dict[tuple[str, ...], set[Hashable]] = {}
    for proposal in proposals:
        try:
            change = _change(document, proposal, located)
        except _RefusedError as error:
            refused += _refused(proposal, str(error))
            continue
        known: set[Hashable] = set()
        if change.edit.op == "add" and isinstance(change.holder, list) and change.holder:
            known = items.get(change.tokens) or items.setdefault(change.tokens, {*map(canonical, change.holder)})
        if known and canonical(change.edit.value) in known:
            refused += _refused(proposal, "The list in gold already has this item.")
        else:
            found.append(change)
    changes: list[_Change] = []
    clashes = _Clashes(found)
    for change in _in_turn(found):
        if others := clashes.of(change):
            places = ", ".join(each.place for each in others)
            reason = f"The decision on {places} changes the same value. Keep one of them."
            refused += _refused(change.proposal, reason)
        else:
            changes.append(change)
    kept, disallowed = _allowed(located, changes, root)
    text = edited(located.text, _edits(kept))
    return _Correction(text, kept, [*refused, *disallowed], document)


def _change(document: Json, proposal: _Proposal, located: DocumentText) -> _Change:
    """Return the change of a document by a decision. Raises _RefusedError."""
    own = proposal[0]
    tokens = tuple(patch_tokens(str(own.pointer)))
    if not tokens and (located.labels or own.value is ABSENT):
        raise _RefusedError("A whole document cannot be left out, or replaced in a record that also has its id.")
    if tokens and tokens[0] in located.labels:
        raise _RefusedError(f"{own.pointer} is the id of the record, not a value of the document.")
    created = _created(document, own, tokens)
    try:
        known = _value_at(document, tokens[:-1]) if tokens and not created else None
    except LookupError as error:
        raise _RefusedError(_gone(own)) from error
    holder = created[tokens[:-1]] if created else known
    at_end = isinstance(holder, list) and tokens[-1] == END
    try:
        current = ABSENT if at_end or created else _value_at(document, tokens)
    except LookupError as error:
        if not isinstance(holder, dict):
            raise _RefusedError(_gone(own)) from error
        current = ABSENT
    was_null = own.gold is ABSENT and current is None  # null usually counts as absent
    if not was_null and not equal_or_absent(current, own.gold):
        if equal_or_absent(current, own.value):
            raise _RefusedError("Gold already is as decided.")
        was, now = ("absent" if value is ABSENT else shown(value) for value in (own.gold, current))
        raise _RefusedError(f"Gold has changed since the decision: it was {was}, and is {now}.")
    if equal_or_absent(own.value, current):
        raise _RefusedError("The correct value is that of gold: there is nothing to change.")
    op: Operation = "add" if current is ABSENT else "remove" if own.value is ABSENT else "replace"
    edit = Edit(op, (*located.above, *tokens), None if own.value is ABSENT else own.value)
    return _Change(
        proposal, tokens, edit, holder, tuple(Edit("add", (*located.above, *at), new) for at, new in created.items())
    )


def _created(document: Json, own: GoldDecision, tokens: tuple[str, ...]) -> dict[tuple[str, ...], Json]:
    """Return the empty lists and objects that a decision adds around its value, by path, outermost first.

    Those that the document has in the meantime are left out. Raises _RefusedError.
    """
    types = own.creates.split()
    listed = "array" in types[-1:]
    objects = types[:-1] if listed else types
    if any(each != "object" for each in objects) or len(types) >= max(len(tokens), 1) or (listed and tokens[-1] != END):
        raise _RefusedError("Expected 'creates' to be object for each object around the value, and array for a list.")
    created: dict[tuple[str, ...], Json] = {}
    for depth, each in enumerate(types, len(tokens) - len(types)):
        expected = list if each == "array" else dict
        try:
            known = _value_at(document, tokens[:depth])
        except LookupError as error:
            if not created and not isinstance(_part(document, tokens[: depth - 1]), dict):
                raise _RefusedError(_gone(own)) from error
            created[tokens[:depth]] = expected()
            continue
        if not isinstance(known, expected):
            at = patch_path(tokens[:depth])
            raise _RefusedError(f"Gold has changed since the decision: {at} was absent, and is {shown(known)}.")
    return created


def _edits(changes: Iterable[_Change]) -> Iterator[Edit]:
    """Yield the edits of changes. A list or an object that several changes create is created only once."""
    created = set[tuple[str, ...]]()
    for change in changes:
        for edit in change.created:
            if edit.tokens not in created:
                created.add(edit.tokens)
                yield edit
        yield change.edit


class _Clashes:
    """Index of the changes of a document by their paths, to find those that exclude each other."""

    def __init__(self, changes: Sequence[_Change]) -> None:
        self._changes = changes
        self._at: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._inside: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._created: dict[tuple[str, ...], dict[type, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, change in enumerate(changes):
            self._at[change.tokens].append(number)
            for size in range(len(change.tokens)):
                self._inside[change.tokens[:size]].append(number)
            for edit in change.created:
                self._created[edit.tokens][type(edit.value)].append(number)

    def of(self, change: _Change) -> list[_Change]:
        """Return the changes around or inside a change, and those that create a value of another type at one place."""
        found = set(self._inside.get(change.tokens, ()))
        for size in range(len(change.tokens)):
            found.update(self._at.get(change.tokens[:size], ()))
        for edit in change.created:
            for created, numbers in self._created[edit.tokens].items():
                found.update(numbers if created is not type(edit.value) else ())
        return [self._changes[number] for number in sorted(found)]


def _gone(own: GoldDecision) -> str:
    return f"Gold has no value at {own.pointer}. It may have changed since the decision."


def _in_turn(changes: Iterable[_Change]) -> list[_Change]:
    """Sort changes: items of lists are removed last, from the end, so that no pointer changes before its turn."""
    ordered = sorted(changes, key=lambda change: order(change.place))
    removals = [change for change in ordered if change.edit.op == "remove"]
    return [change for change in ordered if change.edit.op != "remove"] + removals[::-1]


def _allowed(
    located: DocumentText, changes: Sequence[_Change], root: Subschema | None
) -> tuple[Sequence[_Change], list[RefusedGoldDecision]]:
    """Return the changes that do not violate the schema where the document does not already, and the refused ones."""
    if root is None or not changes:
        return changes, []
    before = Counter(each.place for each in _violations(root, located, located.text))

    def added(chosen: Sequence[_Change]) -> list[Violation]:
        after = _violations(root, located, edited(located.text, _edits(chosen)))
        new = Counter(each.place for each in after) - before
        return [each for each in after if each.place in new]

    if not added(changes):
        return changes, []
    document = located.value(located.text)
    tried = [_tried_alone(root, document, change, before) for change in changes]
    changes, caused = [change for change, _ in tried], {id(change): found for change, found in tried}
    kept: list[_Change] = []
    pending = [[change for change in changes if not caused[id(change)]]]
    while any(pending):
        some = pending.pop()
        if not (new := added([*kept, *some])):
            kept += some
        elif len(some) > 1:
            pending += some[len(some) // 2 :], some[: len(some) // 2]
        elif (null := _null_for(some[0], new)) is not None and not added([*kept, null]):
            kept.append(null)
        else:
            caused[id(some[0])] = new
    refused: list[RefusedGoldDecision] = []
    for change in changes:
        for first in caused[id(change)][:1]:
            reason = f"The schema does not allow it: {first.message} ({first.keyword}) at {first.pointer or '/'}."
            refused += _refused(change.proposal, reason)
    return kept, refused


def _null_for(change: _Change, violations: Sequence[Violation]) -> _Change | None:
    """Return the change that replaces a required value with null; None if the change does not remove one."""
    holder, required = change.holder, violations[0].keyword == "required"
    if required and change.edit.op == "remove" and isinstance(holder, dict) and holder[change.tokens[-1]] is not None:
        return change._replace(edit=change.edit._replace(op="replace", value=None))
    return None


def _tried_alone(
    root: Subschema, document: Json, change: _Change, before: Collection[tuple[str, str]]
) -> tuple[_Change, Sequence[Violation]]:
    """Return a change, or the one that writes null instead, with the new violations that it certainly causes."""
    found = _certainly_added(root, document, change, before)
    null = _null_for(change, found) if found else None
    return (change, found) if null is None or _certainly_added(root, document, null, before) else (null, ())


def _certainly_added(
    root: Subschema, document: Json, change: _Change, before: Collection[tuple[str, str]]
) -> Sequence[Violation]:
    """Return the new violations that a change causes, whatever the other changes are; [] if this is uncertain."""
    if change.created or (isinstance(change.holder, list) and change.edit.op != "replace"):
        return []
    value = ABSENT if change.edit.op == "remove" else change.edit.value
    found = find_certain_violations(root, document, change.tokens, value, format_assertion="checkable")
    return [] if any(each.place in before for each in found) else found


def _violations(root: Subschema, located: DocumentText, text: str) -> tuple[Violation, ...]:
    return find_violations(root, located.value(text), format_assertion="checkable")


def _value_at(value: Json, tokens: Iterable[str]) -> Json:
    """Return the value at a path. Raises LookupError if there is none."""
    for token in tokens:
        if isinstance(value, list) and (position := list_position(token)) is not None:
            value = value[position]
        elif isinstance(value, dict):
            value = value[token]
        else:
            raise LookupError(token)
    return value


def _part(value: Json, tokens: Iterable[str]) -> Json:
    """Return the value at a path; ABSENT if there is none."""
    try:
        return _value_at(value, tokens)
    except LookupError:
        return ABSENT


def _moved(tokens: Sequence[str], removed: _Removed) -> list[str]:
    """Return a path after the removal of items of lists."""
    moved = []
    for at, token in enumerate(tokens):
        gone = removed.get(tuple(tokens[:at]), ())
        position = list_position(token) if gone else None
        moved.append(token if position is None else str(position - bisect_left(gone, position)))
    return moved


# The result.


def _summary(
    out: Path, read: GoldDecisions, corrections: Collection[_Correction], refused: Sequence[RefusedGoldDecision]
) -> AppliedDecisions:
    changes = [change for own in corrections for change in own.changes]
    lost = {id(each.decision) for each in refused}
    choices = Counter(own.choice for own in read.decisions if id(own) not in lost)
    return AppliedDecisions(
        out,
        documents=sum(bool(own.changes) for own in corrections),
        operations=dict(sorted(Counter(change.edit.op for change in changes).items())),
        by=dict(sorted(Counter(name for change in changes for name in {own.by for own in change.proposal}).items())),
        predictions_wrong=choices[PREDICTION_IS_WRONG],
        unsure=choices[UNSURE],
        refused=tuple(sorted(refused, key=lambda each: each.line or 0)),
        refused_file=None,
    )


def _write_sidecar(
    read: GoldDecisions, before: Provenance | None, corrections: Mapping[str, _Correction], applied: AppliedDecisions
) -> None:
    """Write the provenance of the corrected gold: that of the gold, and the corrections."""
    if not applied.values:
        if before is not None:
            before.write(applied.out)
        return
    reports = {own.report for each in corrections.values() for change in each.changes for own in change.proposal}
    correction = Correction(
        read.file.name,
        FileState.of(read.file).sha256,
        ", ".join(sorted(filter(None, reports))) or None,
        applied.by,
        applied.values,
        applied.documents,
    )
    known = {} if before is None else before.values
    values = {**known, **{name: own.origins(known.get(name, {})) for name, own in corrections.items()}}
    values = {name: own for name, own in values.items() if own}
    if before is None:
        Provenance((), corrections=(correction,), values=values).write(applied.out)
    else:
        replace(before, corrections=(*before.corrections, correction), values=values).write(applied.out)
