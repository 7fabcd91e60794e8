"""The kinds of the faults that no change repairs: faults that look alike, without one explanation for all."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from arbitre.causes.changes import declared_normalizers, site_at
from arbitre.causes.examples import examples_of
from arbitre.comparison.cause import KINDS, Cause
from arbitre.diagnosis.evidence import searchable_values
from arbitre.distances import catalogue
from arbitre.distances.edit import changed_characters
from arbitre.engine.columns.references import referred_id
from arbitre.engine.references.renaming import ids_in
from arbitre.inputs.source_search import SourceText
from arbitre.normalizers import normalize
from arbitre.paths import value_at
from arbitre.values import ABSENT, Json, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.references import Id
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.normalizers import Normalizer
    from arbitre.schema.nodes import Site

    Ids = Mapping[str, AbstractSet[object]]

NEAR: Final = 0.7
"""Minimum similarity of two texts that are nearly equal: 1 - edits / length of the longer text."""

MIN_DIGITS: Final = 4
"""Minimum number of characters of numbers that resemble each other."""

MIN_PART: Final = 3
"""Minimum number of characters of texts that resemble each other."""

MAX_CONFUSIONS: Final = 20
"""Maximum number of pairs of confused characters."""

IN_SOURCE: Final = 0.5
"""Minimum share of the texts and numbers of a fault that the source text contains, if it counts as in the source."""

MIN_CORRECT: Final = 5
"""Minimum number of correct values needed to decide whether the values of a path occur in the source texts."""

MAX_CORRECT: Final = 50
"""Maximum number of correct values of a path that are searched for in the source texts."""

CERTAIN: Final = "no-prediction"
"""The kind that needs no minimum number of faults, as no other explanation is possible."""

_CUT_OFF: Final = re.compile(r"\s*(?:…|\.\.\.)$")
"""Ellipsis at the end of a truncated text."""

_LEVENSHTEIN: Final = catalogue.build("levenshtein")


def remaining_causes(
    sample: Sample, texts: SourceTexts | None = None, explained: Collection[int] = ()
) -> Iterator[Cause]:
    """Yield the remaining faults by kind, with the gain of correcting them; kinds with few faults are taken together.

    Args:
        sample: The documents after all changes.
        texts: The texts that were given to the model; None if there are none.
        explained: Numbers of faults to leave out because a cause already explains them.
    """
    similarity = Similarity(sample)
    groups: defaultdict[str, list[SampleFault]] = defaultdict(list)
    for fault in sample.faults:
        if fault.number not in explained:
            groups[similarity.kind_of(fault)].append(fault)
    few = {kind: len(faults) for kind, faults in groups.items() if kind != CERTAIN and not sample.suffices(faults)}
    for kind in few:
        groups["other"] += groups.pop(kind)
    names = sorted(filter(groups.get, groups), key=list(KINDS).index)
    places = {fault.number: at for at, kind in enumerate(names) for fault in groups[kind]}
    gains = sample.group_gains(places | dict.fromkeys(explained, len(names)), len(names) + 1)[: len(names)]
    in_source = SourceSearch(sample, texts)
    for kind, gain in zip(names, gains, strict=True):
        faults = sorted(groups[kind], key=lambda fault: (-fault.lost, fault.number))
        detail: Mapping[str, Json] = {}
        advice = KINDS[kind].advice
        if kind == "near":
            detail = {"confusions": similarity.confusions(faults)}
        elif kind == "other":
            detail = {"kinds": dict(sorted(few.items(), key=lambda item: (-item[1], item[0])))}
        elif kind in ("omission", "hallucination") and (found := in_source.counts(faults)):
            detail, advice = found, _source_advice(kind, **found)
        yield Cause(
            kind,
            "prediction",
            tuple(dict.fromkeys(fault.path for fault in faults)),
            len(faults),
            math.fsum(fault.lost for fault in faults) / sample.mass if sample.mass else 0.0,
            gain,
            None,
            examples_of(sample, faults),
            sample.ids_of(faults),
            advice,
            detail=detail,
        )


_BY_FAULT: Final = {"split": "split", "merged": "merged", "renamed": "renamed-field"}
"""Kinds of the faults of some classes, whatever their values."""


class Similarity:
    """How wrong values resemble gold, after the normalisers of their paths.

    Attributes:
        sample: The documents.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self._references = WrongReferences(sample)
        self._normalizers: dict[str, tuple[Normalizer, ...]] = {}

    def kind_of(self, fault: SampleFault) -> str:
        """Return the kind of a fault."""
        named = self._references.kind_of(fault) or _BY_FAULT.get(fault.fault)
        if named is not None:
            return named
        if fault.fault == "moved":
            return "moved-object" if isinstance(fault.gold, dict | list) else "moved-value"
        if fault.gold is ABSENT:
            return "hallucination"
        if fault.predicted is ABSENT:
            failed = not fault.path or self.sample.pairs[fault.document].failure is not None
            return CERTAIN if failed else "omission"
        return resemblance(*self._normal(fault))

    def confusions(self, faults: Sequence[SampleFault]) -> list[Json]:
        """Return the characters that differ in nearly equal values: in gold, in the prediction, and how often."""
        counts = Counter(pair for fault in faults for pair in changed_characters(*map(str, self._normal(fault))))
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [[*pair, number] for pair, number in ranked[:MAX_CONFUSIONS]]

    def _normal(self, fault: SampleFault) -> tuple[Json, Json]:
        """Return both values after the normalisers of the path."""
        if fault.path not in self._normalizers:
            site = site_at(self.sample.plan, fault.path)
            self._normalizers[fault.path] = () if site is None else declared_normalizers(site)
        used = self._normalizers[fault.path]
        return normalize(used, fault.gold), normalize(used, fault.predicted)


def resemblance(gold: Json, predicted: Json) -> str:
    """Return how a wrong value resembles gold: "part-of", "near" or "unrelated".

    >>> resemblance("Louis Barthou", "Barthou"), resemblance("Barthou", "Barthon"), resemblance(1918, 1978)
    ('part-of', 'near', 'near')
    >>> resemblance("Discussion d'un projet de loi", "Discussion d'un pro…")
    'part-of'
    >>> resemblance([1, 2], [2]), resemblance([1, 2], [2, 3]), resemblance([1], [2]), resemblance(1, 2)
    ('part-of', 'near', 'unrelated', 'unrelated')
    """
    if not (kind_of(gold).scalar and kind_of(predicted).scalar):
        sets = _members(gold), _members(predicted)
        if all(sets) and (sets[0] <= sets[1] or sets[0] >= sets[1]):
            return "part-of"
        return "near" if sets[0] & sets[1] else "unrelated"
    if all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in (gold, predicted)):
        texts = isinstance(gold, str) and isinstance(predicted, str)
        short, long = sorted((str(gold), str(predicted)), key=len)
        return _resemblance_of_texts(short, long, MIN_PART if texts else MIN_DIGITS)
    return "unrelated"


def _resemblance_of_texts(short: str, long: str, min_length: int) -> str:
    """Return how two texts or numbers resemble each other; whole words are a part, also of a nearly equal text."""
    short = _CUT_OFF.sub("", short)
    if len(short) < min_length:
        return "unrelated"
    inside = short in long
    if inside and short != long and re.search(rf"(?<!\w){re.escape(short)}(?!\w)", long):
        return "part-of"
    if 1.0 - _LEVENSHTEIN(short, long) >= NEAR:
        return "near"
    return "part-of" if inside else "unrelated"


def _members(value: Json) -> Counter[object]:
    """Return what a list or an object contains; a single value is a list of one."""
    if isinstance(value, dict):
        return Counter((key, canonical(inner)) for key, inner in value.items())
    return Counter(map(canonical, value if isinstance(value, list) else [value]))


class WrongReferences:
    """Finds the kinds of wrong references: dangling, swapped, or due to items predicted as one or as several.

    The ids of the predictions are those of gold (see `arbitre.engine.with_gold_ids`): an id that only one side has is
    that of an item without a partner.

    Args:
        sample: The documents.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._sites: dict[str, Site | None] = {}
        self._ids: dict[int, tuple[Ids, Ids]] = {}

    def kind_of(self, fault: SampleFault) -> str | None:
        """Return the kind of a wrong reference; None for a fault of another kind."""
        site = self._site(fault.path) if self._has_references else None
        if site is None or site.reference is None or ABSENT in (fault.gold, fault.predicted) or fault.fault == "moved":
            return None
        gold_ids, predicted_ids = (ids.get(site.reference.scope, set()) for ids in self._of_document(fault.document))
        gold, predicted = (referred_id(site, value) for value in (fault.gold, fault.predicted))
        if predicted not in predicted_ids:
            return "dangling-reference"
        if self._swapped(fault, site.reference.scope, (predicted, gold)):
            return "swapped-references"
        if gold not in predicted_ids:
            return "merged-targets"
        return "split-target" if predicted not in gold_ids else "other-target"

    @cached_property
    def _has_references(self) -> bool:
        return self._sample.plan.facts.has_references

    def _site(self, path: str) -> Site | None:
        """Return the position of a wildcard path in the schema; None if the schema does not declare the path."""
        if path not in self._sites:
            self._sites[path] = site_at(self._sample.plan, path)
        return self._sites[path]

    def _of_document(self, document: int) -> tuple[Ids, Ids]:
        """Return the ids of gold and of the prediction, by scope."""
        if document not in self._ids:
            pair = self._sample.pairs[document]
            self._ids[document] = ids_in(self._sample.plan, pair.gold), ids_in(self._sample.plan, pair.predicted)
        return self._ids[document]

    def _swapped(self, fault: SampleFault, scope: str, swapped: tuple[Id | None, Id | None]) -> bool:
        """Return whether another reference of the same object has these ids in gold and in the prediction."""
        pair, path = self._sample.pairs[fault.document], fault.path.rpartition("/")[0]
        holders = []
        for document, pointer in ((pair.gold, fault.gold_pointer), (pair.predicted, fault.predicted_pointer)):
            holder = None if pointer is None else value_at(document, pointer.rpartition("/")[0])
            holders.append(holder if isinstance(holder, dict) else {})
        return any(
            (site := self._site(f"{path}/{key}")) is not None
            and site.reference is not None
            and site.reference.scope == scope
            and tuple(referred_id(site, holder[key]) for holder in holders) == swapped
            for key in sorted(holders[0].keys() & holders[1].keys())
        )


class SourceSearch:
    """Whether the values of faults occur in the texts that were given to the model."""

    def __init__(self, sample: Sample, texts: SourceTexts | None) -> None:
        self._sample = sample
        self._texts = texts
        self._read: dict[int, SourceText | None] = {}

    def counts(self, faults: Sequence[SampleFault]) -> dict[str, int]:
        """Count the faults whose values are in the source text, and the others; empty if no value was searched for.

        Values of paths whose correct values rarely occur in the texts, such as labels and offsets, are ignored.
        """
        counts = Counter(present for fault in faults for present in self._present(fault))
        return {"in_source": counts[True], "not_in_source": counts[False]} if counts else {}

    def _present(self, fault: SampleFault) -> Iterator[bool]:
        gold = fault.gold is not ABSENT
        values = searchable_values(fault.path, fault.gold if gold else fault.predicted)
        found = self._found((fault.document, value) for path, value in values if (path, gold) not in self._unwritten)
        if found:
            yield sum(found) / len(found) >= IN_SOURCE

    @cached_property
    def _unwritten(self) -> frozenset[tuple[str, bool]]:
        """Paths whose correct values rarely occur in the texts, each with the side of the values (true for gold)."""
        correct: defaultdict[tuple[str, bool], list[tuple[int, str | float]]] = defaultdict(list)
        for path, leaves in self._sample.leaves.items():
            for leaf in leaves:
                for gold, side in ((True, leaf.gold), (False, leaf.predicted)) if leaf.quality == 1.0 else ():
                    for inner, value in searchable_values(path, side):
                        if len(correct[inner, gold]) < MAX_CORRECT and self._text(leaf.document) is not None:
                            correct[inner, gold].append((leaf.document, value))
        found = {key: self._found(values) for key, values in correct.items() if len(values) >= MIN_CORRECT}
        return frozenset(key for key, several in found.items() if sum(several) < IN_SOURCE * len(several))

    def _found(self, values: Iterable[tuple[int, str | float]]) -> list[bool]:
        """Return whether each value is in the text of its document; documents without a text are skipped."""
        return [value in text for document, value in values if (text := self._text(document)) is not None]

    def _text(self, document: int) -> SourceText | None:
        if document not in self._read:
            pair = self._sample.pairs[document]
            text = None if self._texts is None else self._texts.read(pair.id, pair.run)
            self._read[document] = None if text is None else SourceText(text)
        return self._read[document]


def _source_advice(kind: str, in_source: int, not_in_source: int) -> str:
    """Return what to do about missing or spurious values whose source text is known."""
    share = f"{in_source} of {in_source + not_in_source} are in the source text"
    if kind == "omission":
        todo = "ask for all values" if in_source >= not_in_source else "check the OCR: the model cannot know the others"
    else:
        todo = "define what to extract" if in_source >= not_in_source else "ask for values of the source text only"
    return f"{todo[0].upper()}{todo[1:]}; {share}." if ":" not in todo else f"{share}; {todo}."
