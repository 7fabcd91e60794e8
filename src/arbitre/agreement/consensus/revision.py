"""Collegial revision: the consensus in which people decide on the disagreements."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arbitre.agreement.consensus.assemble import Assembly
from arbitre.inputs.provenance import ValueOrigin
from arbitre.paths import order, pointer
from arbitre.schema.validate import find_violations
from arbitre.values import ABSENT, equal_or_absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.agreement.consensus.assemble import Draft
    from arbitre.agreement.consensus.decisions import Decision, Decisions
    from arbitre.agreement.consensus.disagreement import Disagreement, RefusedDecision
    from arbitre.agreement.consensus.places import Place
    from arbitre.paths import Token
    from arbitre.schema.plan import Plan
    from arbitre.schema.validate import Violation
    from arbitre.values import Json

UNDECIDED: Final = "undecided"
"""Origin of a value that nobody decided on: the proposal stands."""
NAMED: Final = 5
"""Maximum number of decisions that a note names."""


@dataclass(slots=True)
class Revision:
    """The decisions on the disagreements of a draft, and the documents with them.

    A decision inside a value that another decision replaced applies to the new value if its place is a field of it. It
    has no effect if the new value has no such field, if a list lies in between, or if the value was left out.

    Attributes:
        draft: The proposed documents.
        decisions: Decisions by the id of their disagreement.
        assembly: The documents with the decisions.
        pointers: Pointer in the decided documents of each place that has a value there.
        settled: Ids of the disagreements without a decision that lie inside a value that was replaced or left out.
        ineffective: Ids of the decisions without effect.
    """

    draft: Draft
    decisions: Mapping[str, Decision]
    assembly: Assembly
    pointers: dict[Place, str]
    settled: set[str] = field(default_factory=set)
    ineffective: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, proposed: Assembly, draft: Draft, decisions: Mapping[str, Decision]) -> Revision:
        """Apply decisions to the proposed documents."""
        revision = cls(draft, decisions, proposed, {})
        values: dict[Place, Json] = {}
        decided: dict[Place, Disagreement] = {}
        patched: dict[Place, tuple[Place, str]] = {}
        for own in sorted(draft.disagreements, key=lambda each: order(each.pointer)):
            place, decision = draft.located[own.id], decisions.get(own.id)
            above = next((each for each in _above(place) if each in decided), None)
            covered = above is not None and (
                decided[above].id in revision.ineffective or revision.changes(decided[above])
            )
            base = next((each for each in _above(place) if each in values), None)
            if decision is None:
                if covered:
                    revision.settled.add(own.id)
                continue
            decided[place] = own
            if base is None:
                if revision.changes(own):
                    values[place] = copy.deepcopy(decision.value)
            elif _put(values[base], tokens := _from(base, place), decision.value):
                patched[place] = base, pointer(tokens)
            elif values[base] is not ABSENT or decision.value is not ABSENT:
                revision.ineffective.add(own.id)
        revision.assembly = Assembly.of(proposed.places, proposed.votes, proposed.strategy, values, proposed.pivots)
        revision.pointers = revision.assembly.pointers()
        for place, (base, rest) in patched.items():
            if base in revision.pointers and decisions[decided[place].id].value is not ABSENT:
                revision.pointers[place] = revision.pointers[base] + rest
        return revision

    def changes(self, disagreement: Disagreement) -> bool:
        """Return whether there is a decision that differs from the proposal."""
        decision = self.decisions.get(disagreement.id)
        return decision is not None and not equal_or_absent(decision.value, disagreement.proposal)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Ids of the disagreements that are neither decided nor inside a value that was replaced or left out."""
        done = self.decisions.keys() | self.settled
        return tuple(own.id for own in self.draft.disagreements if own.id not in done)

    def revised(self) -> Draft:
        """Return the draft with the decided documents."""
        return self.draft._replace(documents=self.assembly.documents(), origins=self._origins())

    def _origins(self) -> dict[str, dict[str, ValueOrigin]]:
        """Return who has each disputed value and who decided on it, by document and pointer."""
        origins: dict[str, dict[str, ValueOrigin]] = defaultdict(dict)
        for own in self.draft.disagreements:
            final = self.pointers.get(self.draft.located[own.id])
            if final is None or own.id in self.settled or own.id in self.ineffective:
                continue
            decision = self.decisions.get(own.id)
            voted = self.draft.origins.get(own.document, {}).get(own.pointer)
            if voted is None or (decision is not None and self.changes(own)):
                value = own.proposal if decision is None else decision.value
                names = tuple(each.annotator for each in own.readings if equal_or_absent(each.value, value))
            else:
                names = voted.annotators
            by, note = (UNDECIDED, None) if decision is None else (decision.by, decision.note or None)
            origins[own.document][final] = ValueOrigin(names, by, note, tie=decision is None and own.flag == "tie")
        return {name: dict(sorted(own.items(), key=lambda each: order(each[0]))) for name, own in origins.items()}

    def notes(self) -> Iterator[str]:
        """Yield the number of undecided disagreements, and the decisions without effect."""
        total = len(self.draft.disagreements)
        if self.undecided:
            number = len(self.undecided)
            yield (
                f"{number} of {total} disagreements {'is' if number == 1 else 'are'} undecided. Where "
                "nobody has decided, the gold contains the unconfirmed proposal of the majority."
            )
        if self.ineffective:
            names = sorted(self.ineffective)
            more = "" if len(names) <= NAMED else f" and {len(names) - NAMED} more"
            yield (
                "Decisions without effect, because another decision left out or replaced the value that contains them: "
                f"{', '.join(names[:NAMED])}{more}."
            )


def revise(
    plan: Plan, proposed: Assembly, draft: Draft, decisions: Decisions | None
) -> tuple[Revision, tuple[RefusedDecision, ...]]:
    """Apply decisions to a draft.

    Returns:
        The revision, and the decisions that were refused: those that do not belong to a disagreement with these
        readings, and those that the schema does not allow.

    Raises:
        DataError: Every decision is refused.
    """
    if decisions is None:
        return Revision.of(proposed, draft, {}), ()
    decisions = decisions.on(draft.disagreements)
    while True:  # without one decision, another may violate the schema
        revision = Revision.of(proposed, draft, decisions.by_id)
        wrong = {decision.id: (decision, violation) for decision, violation in _violating(plan, revision)}
        if not wrong:
            return revision, decisions.refused
        decisions = decisions.without(
            (
                decision,
                f"The schema does not allow the decision on {decision.id!r}: {violation.message} ({violation.keyword})",
                "Change the decision, or correct the schema.",
            )
            for decision, violation in wrong.values()
        )


def _violating(plan: Plan, revision: Revision) -> Iterator[tuple[Decision, Violation]]:
    """Yield the decisions that the schema does not allow: the value, or the object or list that it was left out of.

    A value that an annotator has at its place is always allowed.
    """
    by_document: dict[str, list[Disagreement]] = defaultdict(list)
    for own in revision.draft.disagreements:
        if own.id in revision.decisions:
            by_document[own.document].append(own)
    documents = revision.assembly.documents()
    for name, disagreements in by_document.items():
        violations = _violations(plan, documents.get(name, ABSENT))
        if violations:
            violations = _without_those_of_annotators(plan, revision, disagreements, violations)
        refused = list(_refused(revision, disagreements, violations))
        if not refused and violations:  # decisions may be valid one by one, but not together in their object or list
            before = Counter(each.place for each in _violations(plan, revision.draft.documents.get(name, ABSENT)))
            added = Counter(each.place for each in violations) - before
            refused = list(_incompatible(revision, disagreements, [each for each in violations if each.place in added]))
        yield from refused


def _above(place: Place) -> Iterator[Place]:
    """Yield the places that contain a place, the innermost first."""
    while place.parent is not None:
        place = place.parent
        yield place


def _from(base: Place, place: Place) -> list[Token]:
    """Return the path from a place to another one inside it."""
    tokens: list[Token] = []
    while place is not base and place.parent is not None:
        tokens.append(place.token)
        place = place.parent
    return tokens[::-1]


def _put(value: Json, tokens: Sequence[Token], new: Json) -> bool:
    """Set or remove a field inside a value. Return False if there is no object for it, or if a list lies in between."""
    for token in tokens[:-1]:
        value = value.get(token) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(tokens[-1], str):
        return False
    if new is ABSENT:
        value.pop(tokens[-1], None)
    else:
        value[tokens[-1]] = copy.deepcopy(new)
    return True


def _refused(
    revision: Revision, disagreements: Sequence[Disagreement], violations: Sequence[Violation]
) -> Iterator[tuple[Decision, Violation]]:
    """Yield each violation of a decided value, or inside a value that is not the proposal."""
    decided = _decided(revision, disagreements)
    for violation in violations:
        own = _innermost(decided, violation.pointer)
        if own is not None and (decided.get(violation.pointer) is own or revision.changes(own)):
            yield revision.decisions[own.id], violation


def _decided(revision: Revision, disagreements: Sequence[Disagreement]) -> dict[str, Disagreement]:
    """Return the disagreements with a decision that keeps a value, by the pointer of the value."""
    return {
        revision.pointers[place]: own
        for own in disagreements
        if (place := revision.draft.located[own.id]) in revision.pointers
    }


def _innermost(decided: Mapping[str, Disagreement], where: str) -> Disagreement | None:
    """Return the disagreement about the innermost decided value at or above a pointer; None if there is none."""
    while where not in decided and where:
        where = where.rpartition("/")[0]
    return decided.get(where)


def _without_those_of_annotators(
    plan: Plan, revision: Revision, disagreements: Sequence[Disagreement], violations: Sequence[Violation]
) -> tuple[Violation, ...]:
    """Return the violations, except those that come from the reading of an annotator.

    A violation comes from a reading if it is inside a decided value that an annotator has, and a document of an
    annotator has the same violation.
    """
    root = revision.assembly.places.roots[disagreements[0].document]
    theirs = {each.place for at in root.voters() for each in _violations(plan, root.values[at])}
    decided = _decided(revision, disagreements)

    def kept(violation: Violation) -> bool:
        own = _innermost(decided, violation.pointer)
        value = ABSENT if own is None else revision.decisions[own.id].value
        read = own is not None and any(equal_or_absent(value, each.value) for each in own.readings)
        return not read or violation.place not in theirs

    return tuple(filter(kept, violations))


def _incompatible(
    revision: Revision, disagreements: Sequence[Disagreement], violations: Sequence[Violation]
) -> Iterator[tuple[Decision, Violation]]:
    """Yield each violation of an object or a list with the decisions that changed something in it.

    If a required field is missing, this is the decision to leave it out. A decision changes the objects and lists that
    contain its place, and nulls beside it that stand for omitted items.
    """
    nulls: dict[Place | None, list[Place]] = {}
    changed: dict[str | None, list[Disagreement]] = defaultdict(list)
    for own in disagreements:
        if revision.changes(own):
            place = revision.draft.located[own.id]
            if place.parent not in nulls:
                nulls[place.parent] = _nulls_for_omitted(revision, place.parent)
            for affected in {revision.pointers.get(each) for each in (*_above(place), *nulls[place.parent])}:
                changed[affected].append(own)
    for violation in violations:
        fields = [
            own
            for own in changed[violation.pointer]
            if violation.keyword == "required"
            and violation.message.startswith(f"{_key(revision, own)!r} is a required")
        ]
        for own in fields or changed[violation.pointer]:
            yield revision.decisions[own.id], violation


def _nulls_for_omitted(revision: Revision, parent: Place | None) -> list[Place]:
    """Return the places in a list or an object where null stands for an omitted item."""
    assembly = revision.assembly
    children = parent.children if parent is not None else ()
    return [each for each in children if assembly.values[each] is None and assembly.votes[each].value is ABSENT]


def _key(revision: Revision, disagreement: Disagreement) -> Token:
    """Return the key or the list position of the place of a disagreement."""
    return revision.draft.located[disagreement.id].token


def _violations(plan: Plan, document: Json) -> tuple[Violation, ...]:
    """Return the violations of the schema by a document; none for a document that is left out."""
    return () if document is ABSENT else find_violations(plan.root, document, format_assertion=plan.format_assertion)
