"""The changes that repair the causes of a corpus, each with its gain and its gain on held-out documents."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from arbitre.causes.changes import OverlayChange, site_at
from arbitre.causes.forms import related
from arbitre.causes.mappings import RECURS, is_code
from arbitre.causes.remainder import resemblance
from arbitre.causes.sample import Sample
from arbitre.causes.search import Search, cause_of
from arbitre.comparison.cause import KINDS
from arbitre.corpus.tables import entry_note, some_paths
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.language import Translator
from arbitre.paths import wildcard
from arbitre.schema.loading.annotations import merged_overlay
from arbitre.schema.nodes import leaves_of
from arbitre.storage.columns import encoded
from arbitre.suggestions.suggested_gate import suggest_gate
from arbitre.tables.table import SIGNED, Table, TableColumn, columns, count
from arbitre.values import Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from arbitre.causes.sample import SampleFault
    from arbitre.causes.search import Found
    from arbitre.comparison.cause import Cause
    from arbitre.inputs.records import Pair
    from arbitre.schema.plan import Plan
    from arbitre.suggestions.suggested_gate import SuggestedGate
    from arbitre.values import Json

MIN_HELD_OUT: Final = 20
"""Minimum number of documents of a corpus whose changes are tested on held-out documents."""

MAPPING: Final = "value-mapping"
"""The kind of cause that maps values to other values. Each pair of values may be due to chance."""

MIN_HELD_OUT_SHARE: Final = 0.5
"""Minimum held-out gain of a value-mapping, as a share of its gain."""

MISREAD_SHARE: Final = 0.5
"""Minimum share of values that resemble gold for a value-mapping to count as possibly misread."""

GATE: Final = "gate"
"""Name of the gate among the kinds of changes to accept."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that would fix one cause of faults, with its gain; an item of `Fixes.fixes`.

    Attributes:
        cause: The cause that it repairs. Its `cost` is the gain of the change, given those above it.
        f1q: Pooled f1q after this change and those above it.
        held_out: Gain on one half of the documents if the cause was found in the other half; None if the corpus is too
            small, or if the cause was not found there. For a value-mapping, the part of the gain from pairs of values
            that occur in at least three documents: these pairs would be found even if any one of their documents were
            left out.
        accepted: Whether the overlay contains the change.
    """

    cause: Cause
    f1q: float
    held_out: float | None
    accepted: bool

    @property
    def gain(self) -> float:
        """Increase in pooled f1q, given the changes above."""
        return self.cause.cost

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {
            "cause": self.cause.to_dict(),
            "gain": self.gain,
            "f1q": self.f1q,
            "held_out": self.held_out,
            "accepted": self.accepted,
        }


@dataclass(frozen=True, slots=True)
class Fixes:
    """The changes that would fix the causes of faults in a corpus, in the order in which to make them.

    Attributes:
        fixes: The changes. Each is the one with the largest gain, given those above it and the order of the search.
        overlay: The accepted changes, added to the settings of the overlay that was given.
        documents: Number of documents that were examined.
        f1q: Their pooled f1q.
        f1q_after: Their pooled f1q with the overlay.
        gate: A gate for the matching of the entries; None if none can be suggested.
        f1q_with_gate: Their pooled f1q with the gate and without the overlay; None without a gate.
        entries: Wildcard path of the list of entries.
    """

    fixes: tuple[Fix, ...]
    overlay: dict[str, Json]
    documents: int
    f1q: float
    f1q_after: float
    gate: SuggestedGate | None = None
    f1q_with_gate: float | None = None
    entries: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        plain = {name: getattr(self, name) for name in ("overlay", "documents", "f1q", "f1q_after", "f1q_with_gate")}
        gate = None if self.gate is None else self.gate.to_dict()
        return {"fixes": [fix.to_dict() for fix in self.fixes], **plain, "gate": gate}

    def table(self) -> Table:
        """Return the changes as a table. Paths below the entries are relative to an entry."""
        head = (
            *(TableColumn("", least=3), TableColumn("cause", said=Translator.cause)),
            TableColumn("path", kind="lines", said=Translator.text),
            *columns("faults", written=count),
            *columns("gain", "held out", "by chance", written=SIGNED),
            TableColumn("what to do", least=24, said=Translator.text),
        )
        rows = [
            (
                "x" if fix.accepted else "",
                fix.cause.kind,
                some_paths(fix.cause.paths, self.entries),
                fix.cause.count,
                fix.gain,
                fix.held_out,
                fix.cause.chance_gain,
                f"Forgiveness, not repair: {fix.cause.advice}" if fix.cause.forgiving else fix.cause.advice,
            )
            for fix in self.fixes
        ]
        return Table.of("Changes", head, rows, notes=(FIGURES, *entry_note([row[2] for row in rows], self.entries)))


FIGURES: Final = (
    "x: accepted, in the overlay. Gain: increase in pooled f1q, after the changes above. Held out: gain on one half of "
    "the documents of a change that was found in the other half; for value-mapping, the part of the gain from pairs of "
    "values that occur in at least three documents. By chance: gain if predictions are compared with the gold of other "
    "documents."
)
"""Explanation of the figures of a change."""


def find_fixes(plan: Plan, pairs: Sequence[Pair], accept: Collection[str] = ()) -> Fixes:
    """Find the changes that repair the causes of some documents.

    Args:
        plan: The compiled schema.
        pairs: The documents.
        accept: Kinds of causes whose changes the overlay contains, or "gate". By default, all changes except those that
            do not raise the chance-corrected f1q, those that gain nothing on held-out documents, and value-mappings
            whose held-out gain is less than half of their gain, or that may contain misread values.

    Raises:
        OptionError: A kind of cause is unknown.
    """
    for kind in accept:
        if kind not in KINDS and kind != GATE:
            raise OptionError.of(f"Expected a kind of cause, got {kind!r}.", hint=did_you_mean(kind, [*KINDS, GATE]))
    search = Search.of(plan, pairs)
    held_out = _held_out(plan, pairs)
    fixes, f1q = [], search.start.f1q
    for found in search.found:
        cause = cause_of(found)
        if cause.kind == MAPPING and search.start.size >= MIN_HELD_OUT:
            gain: float | None = _confirmed_share(found) * found.cost
        else:
            gain = next((own for kind, paths, own in held_out if kind == cause.kind and paths & {*cause.paths}), None)
        by_default = not cause.forgiving and (gain is None or gain > 0.0)
        if cause.kind == MAPPING:
            enough = gain is None or gain >= MIN_HELD_OUT_SHARE * found.cost
            by_default = by_default and enough and not _may_be_misread(found)
        accepted = cause.change is not None and (cause.kind in accept if accept else by_default)
        f1q += found.cost
        fixes.append(Fix(cause, f1q, gain, accepted))
    gate, gated = _gate(plan, search.start, pairs)
    overlays = [fix.cause.change for fix in fixes if fix.accepted and fix.cause.change is not None]
    if gate is not None and GATE in accept:
        overlays.append(gate.overlay)
    changes = merged_overlay(*overlays)
    after = search.start.trial(OverlayChange(changes)) if changes else None
    f1q_after = search.start.f1q if after is None else after.f1q
    return Fixes(
        tuple(fixes),
        plan.overlay_with(changes),
        len(search.start),
        search.start.f1q,
        f1q_after,
        gate,
        gated,
        wildcard(plan.entries),
    )


def _confirmed_share(found: Found) -> float:
    """Return the share of the gain of a mapping that is due to pairs of values in more than `RECURS` documents.

    This is equivalent to leave-one-out cross-validation of documents: pairs in fewer documents would not be found if
    one of those documents were left out.
    """
    pairs: defaultdict[object, list[SampleFault]] = defaultdict(list)
    for fault in found.faults:
        pairs[canonical(fault.gold), canonical(fault.predicted)].append(fault)
    confirmed = [several for several in pairs.values() if found.sample.ids_of(several) > RECURS]
    whole = math.fsum(fault.lost for fault in found.faults)
    return math.fsum(fault.lost for several in confirmed for fault in several) / whole if whole else 0.0


def _may_be_misread(found: Found) -> bool:
    """Return whether at least half of the values of a mapping resemble gold, so they may be misread or incomplete.

    Excludes fields that are compared for equality only, such as enums, and codes (the first letters of a label).
    """
    pairs = [(fault.gold, fault.predicted) for fault in found.faults]
    alike = [
        pair for pair in pairs if not is_code(*pair) and (related(*pair) or resemblance(*pair) in {"near", "part-of"})
    ]
    sites = [site_at(found.sample.plan, path) for path in found.proposal.paths]
    exact_only = all(
        site is not None and {leaf.distance.name for leaf in leaves_of(site, {Kind.STRING})} == {"exact"}
        for site in sites
    )
    return not exact_only and len(alike) >= MISREAD_SHARE * len(pairs)


def _held_out(plan: Plan, pairs: Sequence[Pair]) -> list[tuple[str, set[str], float]]:
    """Look for causes in half of the documents, and return the gains of their changes on the other half.

    The halves are chosen by a digest of the ids; all runs of a document are in the same half.

    Returns:
        The kind, the paths and the gain of each cause of the first half, given the changes of those before it.
    """
    if len({pair.id for pair in pairs}) < MIN_HELD_OUT:
        return []
    halves: tuple[list[Pair], list[Pair]] = [], []
    for pair in pairs:
        halves[blake2b(encoded(pair.id), digest_size=1).digest()[0] % 2].append(pair)
    sample, gains = Sample.of(plan, halves[1]), []
    for found in Search.of(plan, halves[0]).found:
        if isinstance(found.proposal.change, OverlayChange):
            trial = sample.trial(found.proposal.change)
            if trial is not None:
                gains.append((found.proposal.kind, {*found.proposal.paths}, trial.f1q - sample.f1q))
                sample = sample.after(trial)
    return gains


def _gate(plan: Plan, sample: Sample, pairs: Sequence[Pair]) -> tuple[SuggestedGate | None, float | None]:
    """Return the suggested gate and the f1q with it, if there is one."""
    try:
        gate = suggest_gate(plan, pairs)
    except DataError:
        return None, None
    trial = sample.trial(OverlayChange(gate.overlay))
    return (None, None) if trial is None else (gate, trial.f1q)
