"""Collegial revision: the gold that people decided on, disagreement by disagreement."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from arbitre.agreement.consensus.apply_decisions import Applied, apply_decisions
from arbitre.agreement.consensus.decisions import same
from arbitre.corpus.joining.provenance import DisagreementCounts, ValueOrigin
from arbitre.errors import DataError, Problem
from arbitre.schema.validation.validate import find_violations
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.agreement.consensus.decisions import Decision, Decisions
    from arbitre.agreement.consensus.disagreement import Consensus, Disagreement
    from arbitre.schema.plan import Plan
    from arbitre.schema.validation.validate import Violation
    from arbitre.values import Json

UNDECIDED: Final = "undecided"
"""Origin of a value that nobody decided on: the proposal stands."""


def decide(plan: Plan, consensus: Consensus, decisions: Decisions | None = None) -> Consensus:
    """Return a consensus with the decisions of people in place of its proposals.

    Args:
        plan: The compiled schema.
        consensus: The proposed consensus.
        decisions: The decisions; None for none.

    Returns:
        The consensus with the decided documents. Its provenance names who decided on each value, and its notes say how
        many disagreements are undecided.

    Raises:
        DataError: A decision does not belong to a disagreement with these readings, or the schema does not allow the
            decided value.
    """
    by_id = {} if decisions is None else decisions.by_id
    if decisions is not None:
        decisions.check(consensus.disagreements)
    by_document: dict[str, list[Disagreement]] = defaultdict(list)
    for disagreement in consensus.disagreements:
        by_document[disagreement.document].append(disagreement)
    names = sorted(consensus.documents.keys() | by_document.keys())
    applied = {name: apply_decisions(consensus.documents.get(name, ABSENT), by_document[name], by_id) for name in names}
    if decisions is not None:
        _check(plan, consensus, applied, by_document, decisions)
    total = len(consensus.disagreements)
    decided = len(by_id.keys() | {name for each in applied.values() for name in each.settled})
    counts = DisagreementCounts(total, sum(each.flagged for each in consensus.disagreements), decided)
    values = {name: _origins(by_document[name], each, by_id) for name, each in applied.items()}
    return replace(
        consensus,
        documents={name: each.document for name, each in applied.items() if each.document is not ABSENT},
        provenance=replace(
            consensus.provenance,
            disagreements=counts,
            values={name: origins for name, origins in values.items() if origins},
        ),
        notes=(*consensus.notes, *_notes(total, decided, applied)),
    )


def _origins(
    disagreements: Sequence[Disagreement], applied: Applied, decisions: Mapping[str, Decision]
) -> dict[str, ValueOrigin]:
    origins = {}
    for own in sorted(disagreements, key=lambda each: each.pointer):
        final = applied.pointers.get(own.id)
        if final is None:
            continue
        decision = decisions.get(own.id)
        value = own.proposal if decision is None else decision.value
        annotators = tuple(reading.annotator for reading in own.readings if same(reading.value, value))
        by, note = (UNDECIDED, None) if decision is None else (decision.by, decision.note or None)
        origins[final] = ValueOrigin(annotators, by, note)
    return origins


def _notes(total: int, decided: int, applied: Mapping[str, Applied]) -> list[str]:
    notes = []
    if decided < total:
        notes.append(
            f"Undecided: {total - decided} of {total} disagreements. There the gold has the proposal of the majority, "
            "which no person has confirmed."
        )
    for each in applied.values():
        notes += [
            f"The decision on {name!r} has no effect: the decision on {each.settled[name]!r} left out or replaced the "
            "value that contains it."
            for name in each.ineffective
        ]
    return notes


def _check(
    plan: Plan,
    consensus: Consensus,
    applied: Mapping[str, Applied],
    by_document: Mapping[str, Sequence[Disagreement]],
    decisions: Decisions,
) -> None:
    """Raise DataError if the schema does not allow a decided value, or a list or object without a value left out."""
    problems: list[Problem] = []
    for name, disagreements in by_document.items():
        own = [each for each in disagreements if each.id in decisions.by_id]
        if not own or applied[name].document is ABSENT:
            continue
        violations = _violations(plan, applied[name].document)
        refused = list(_refused(own, applied[name], decisions.by_id, violations))
        if not refused and _places(violations) - _places(_violations(plan, consensus.documents.get(name, ABSENT))):
            refused = list(_incompatible(plan, consensus.documents.get(name, ABSENT), own, decisions.by_id))
        problems += [
            Problem(
                f"The schema does not allow the decision on {decision.id!r}: {violation.message} ({violation.keyword})",
                decisions.file,
                decision.line,
                hint="Decide on another value, or correct the schema.",
            )
            for decision, violation in refused
        ]
    if problems:
        raise DataError(*sorted(problems, key=lambda problem: problem.line or 0))


def _refused(
    disagreements: Sequence[Disagreement],
    applied: Applied,
    decisions: Mapping[str, Decision],
    violations: Sequence[Violation],
) -> Iterator[tuple[Decision, Violation]]:
    """Yield each violation of a decided value, or inside a value that is not the proposal."""
    decided = {applied.pointers[each.id]: each for each in disagreements if each.id in applied.pointers}
    for violation in violations:
        place = violation.pointer
        while place not in decided and place:
            place = place.rpartition("/")[0]
        if place in decided:
            decision = decisions[decided[place].id]
            if place == violation.pointer or not same(decision.value, decided[place].proposal):
                yield decision, violation


def _incompatible(
    plan: Plan, document: Json, disagreements: Sequence[Disagreement], decisions: Mapping[str, Decision]
) -> Iterator[tuple[Decision, Violation]]:
    """Yield the violations that each decision adds, in the order of the file."""
    done: dict[str, Decision] = {}
    before = _places(_violations(plan, document))
    for decision in sorted((decisions[each.id] for each in disagreements), key=lambda decision: decision.line or 0):
        done[decision.id] = decision
        violations = _violations(plan, apply_decisions(document, disagreements, done).document)
        added = _places(violations) - before
        before = _places(violations)
        yield from ((decision, each) for each in violations if _place(each) in added)


def _violations(plan: Plan, document: Json) -> tuple[Violation, ...]:
    if document is ABSENT:
        return ()
    return find_violations(plan.root, document, format_assertion=plan.format_assertion)


def _places(violations: Sequence[Violation]) -> Counter[tuple[str, str]]:
    return Counter(map(_place, violations))


def _place(violation: Violation) -> tuple[str, str]:
    """Return where a violation is, whatever the positions of list items, and the violated keyword."""
    return _POSITION.sub("/*", violation.pointer), violation.keyword


_POSITION: Final = re.compile(r"/[0-9]+(?=/|$)")
