"""Causes at the root of documents: wrapped or unwrapped documents, and predictions of the wrong document."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from arbitre.causes.changes import Correction, jmespath_key, project_advice
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p
from arbitre.diagnosis.evidence import natural_order
from arbitre.diagnosis.renamed import fold
from arbitre.schema.nodes import first_of_pattern
from arbitre.values import ABSENT, Kind, kind_of, single_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Tokens = tuple[str | int, ...]
    """Keys and positions that lead from a document to the document inside it, or the reverse."""

MAX_DEPTH: Final = 3
"""Maximum number of objects and lists around a document."""

MIN_KNOWN: Final = 0.1
"""Minimum share of the single values of a document that the schema declares at their place."""

MAX_SHAPES: Final = 3
"""Maximum number of ways of wrapping documents that are proposed."""


def wrapped_roots(sample: Sample) -> Iterator[Proposal]:
    """Propose to unwrap predictions that are inside another object or list."""
    kinds = _kinds(sample.plan, 0)
    shapes: defaultdict[Tokens, dict[int, Json]] = defaultdict(dict)
    for at, predicted in _strange(sample):
        inner = {tokens: value for tokens, value in _inside(predicted) if kind_of(value) in kinds}
        known = {tokens: _share_known(sample.plan, 0, value) for tokens, value in inner.items()}
        best = max(known, key=lambda tokens: (known[tokens], -len(tokens)), default=())
        if best and known[best] >= (MIN_KNOWN, 1):
            shapes[best][at] = inner[best]
    for tokens, documents in _most_frequent(shapes):
        text, kind = _expression(tokens), _kind_name(next(iter(documents.values())))
        if not _all_predictions(sample, documents):
            text = f"type({text}) == '{kind}' && {text} || @"
        advice = f"Unwrap predictions, which are {_place(tokens)}: {project_advice(text)}"
        yield _proposal(sample, "wrapped-root", documents, advice, {"expression": text})


def unwrapped_roots(sample: Sample) -> Iterator[Proposal]:
    """Propose to wrap predictions of which the outermost object or list is missing."""
    places = [(tokens, site) for tokens, site in _declared_places(sample.plan) if _kinds(sample.plan, site)]
    shapes: defaultdict[Tokens, dict[int, Json]] = defaultdict(dict)
    for at, predicted in _strange(sample):
        known = {
            tokens: (*_share_known(sample.plan, site, predicted), _equal(sample.pairs[at].gold, tokens, predicted))
            for tokens, site in places
            if kind_of(predicted) in _kinds(sample.plan, site)
        }
        best = max(known, key=lambda tokens: (known[tokens], -len(tokens)), default=())
        if best and known[best] >= (MIN_KNOWN, 1):
            shapes[best][at] = _wrapped(predicted, best)
    for tokens, documents in _most_frequent(shapes):
        first = next(iter(documents))
        kind = _kind_name(sample.pairs[first].predicted)
        text = _construction(tokens)
        if not _all_predictions(sample, documents):
            if kind == _kind_name(documents[first]):
                text = f"type({_expression(tokens)}) == '{kind}' && @ || {text}"
            else:
                text = f"type(@) == '{kind}' && {text} || @"
        advice = f"Wrap predictions, which are only the {kind} {_place(tokens)}: {project_advice(text)}"
        yield _proposal(sample, "unwrapped-root", documents, advice, {"expression": text})


def _proposal(
    sample: Sample, kind: str, documents: Mapping[int, Json], advice: str, detail: Mapping[str, Json]
) -> Proposal:
    """Return the proposal of corrected predictions, given by position. Values do not decide, so chance has no part."""
    faults = sorted(
        (fault for fault in sample.faults if fault.document in documents), key=lambda one: (-one.lost, one.number)
    )
    correction = Correction(documents.get, frozenset(documents))
    numbers = tuple(fault.number for fault in faults)
    return Proposal(kind, "prediction", ("",), numbers, correction, 0.0, advice=advice, detail=detail)


def _strange(sample: Sample) -> Iterator[tuple[int, Json]]:
    """Yield the objects and lists of which no value is in a declared place, with their positions."""
    for at, (pair, mass) in enumerate(zip(sample.pairs, sample.tallies[:, 3].tolist(), strict=True)):
        predicted = pair.predicted
        if mass == 0.0 and isinstance(predicted, (dict, list)) and _share_known(sample.plan, 0, predicted)[1] == 0:
            yield at, predicted


def _most_frequent(shapes: Mapping[Tokens, dict[int, Json]]) -> list[tuple[Tokens, dict[int, Json]]]:
    return sorted(shapes.items(), key=lambda item: (-len(item[1]), item[0] != (), str(item[0])))[:MAX_SHAPES]


def _all_predictions(sample: Sample, documents: Mapping[int, Json]) -> bool:
    return all(at in documents or pair.predicted is ABSENT for at, pair in enumerate(sample.pairs))


def _kinds(plan: Plan, site: int) -> frozenset[Kind]:
    """Return whether objects or lists are declared at a site, and are not compared as one leaf."""
    found = plan.sites[site]
    return frozenset() if found.atomic else found.declared & {Kind.OBJECT, Kind.ARRAY}


def _inside(document: Json) -> Iterator[tuple[Tokens, Json]]:
    """Yield the objects and lists that are values of nested objects, or the only item of a list."""
    pending: list[tuple[Tokens, Json]] = [((), document)]
    while pending:
        tokens, value = pending.pop()
        inner: list[tuple[str | int, Json]] = []
        if isinstance(value, dict):
            inner = list(value.items())
        elif isinstance(value, list) and len(value) == 1:
            inner = [(0, value[0])]
        for token, child in inner:
            if isinstance(child, (dict, list)):
                yield (*tokens, token), child
                if len(tokens) + 1 < MAX_DEPTH:
                    pending.append(((*tokens, token), child))


def _declared_places(plan: Plan) -> Iterator[tuple[Tokens, int]]:
    """Yield the declared fields and the list items below the root, with their sites, up to `MAX_DEPTH`."""
    pending: list[tuple[Tokens, int]] = [((), 0)]
    for tokens, site in pending:
        found = plan.sites[site]
        if len(tokens) == MAX_DEPTH or found.atomic:
            continue
        inner: list[tuple[Tokens, int]] = []
        if Kind.OBJECT in found.declared:
            inner += [((*tokens, field.name), field.site) for field in found.object.fields]
        if Kind.ARRAY in found.declared:
            inner.append(((*tokens, 0), found.list.child(0)))
        yield from inner
        pending += inner


def _share_known(plan: Plan, site: int, value: Json) -> tuple[float, int]:
    """Return the share and the number of the single values for which the schema declares their place and kind.

    Other spellings of a key count as the key.
    """
    pending: list[tuple[int | None, Json]] = [(site, value)]
    known = total = 0
    while pending:
        number, inner = pending.pop()
        found = None if number is None else plan.sites[number]
        if found is None or kind_of(inner) not in found.declared:
            found = None
        if found is None or not found.atomic:
            if isinstance(inner, dict):
                node = None if found is None else found.object
                fields = {} if node is None else {fold(field.name): field.site for field in node.fields}
                for key, child in inner.items():
                    place = fields.get(fold(key))
                    if place is None and node is not None:
                        place = first_of_pattern(node.patterns, key)
                        place = node.additional if place is None and node.declared_map else place
                    pending.append((place, child))
                continue
            if isinstance(inner, list):
                pending += [(None if found is None else found.list.child(at), item) for at, item in enumerate(inner)]
                continue
        total += 1
        known += found is not None
    return (known / total if total else 0.0), known


def _equal(gold: Json, tokens: Tokens, predicted: Json) -> int:
    """Return the number of single values that a prediction shares with a part of gold."""
    for token in tokens:
        if isinstance(token, str) and isinstance(gold, dict) and token in gold:
            gold = gold[token]
        elif isinstance(token, int) and isinstance(gold, list) and gold:
            gold = gold[0]
        else:
            return 0
    return len(_words(gold) & _words(predicted))


def _wrapped(value: Json, tokens: Tokens) -> Json:
    for token in reversed(tokens):
        value = [value] if isinstance(token, int) else {token: value}
    return value


# What users are told.


def _expression(tokens: Tokens) -> str:
    """Return a JMESPath expression for the value at these tokens.

    >>> _expression(("response", "the data", 0))
    'response."the data"[0]'
    """
    text = ""
    for token in tokens:
        text += f"[{token}]" if isinstance(token, int) else f".{jmespath_key(token)}" if text else jmespath_key(token)
    return text


def _construction(tokens: Tokens) -> str:
    """Return a JMESPath expression that wraps a document.

    >>> _construction(("pages", 0, "the entries"))
    '{pages: [{"the entries": @}]}'
    """
    text = "@"
    for token in reversed(tokens):
        text = f"[{text}]" if isinstance(token, int) else f"{{{jmespath_key(token)}: {text}}}"
    return text


def _place(tokens: Tokens) -> str:
    """Return a place in words."""
    if tokens == (0,):
        return "in a list of one item"
    return f'under "{_expression(tokens)}"'


def _kind_name(value: Json) -> str:
    return "array" if isinstance(value, list) else "object"


# Predictions of the previous or the next document.


MIN_STRETCH: Final = 3
"""Minimum number of consecutive predictions of another document."""

MAX_GAP: Final = 1
"""Maximum number of predictions within a stretch that belong to no document."""

MAX_SCORE: Final = 0.8
"""Maximum f1q of a prediction of another document, compared with its own gold document."""


def shifted_documents(sample: Sample) -> Iterator[Proposal]:
    """Propose to exchange the predictions of stretches of documents that belong to the next or previous document."""
    wrong = _low_scores(sample.tallies)
    if len(wrong) < MIN_STRETCH or len(sample) <= MIN_STRETCH:
        return
    closest = _closest(sample, wrong)
    rows: defaultdict[str | None, list[int]] = defaultdict(list)
    for at in sorted(range(len(sample)), key=lambda at: natural_order(sample.pairs[at].id)):
        rows[sample.pairs[at].run].append(at)
    for step, name in ((1, "next"), (-1, "previous")):
        source: dict[int, int] = {}
        chances: list[float] = []
        agreements = 0
        stretches: list[tuple[int, int]] = []
        for order in rows.values():
            place = {at: number for number, at in enumerate(order)}
            tested = [number for number, at in enumerate(order) if at in wrong and 0 <= number + step < len(order)]
            nearest = {number: place.get(closest.get(order[number], -1), -1) for number in tested}
            hits = [number for number in tested if nearest[number] == number + step]
            chances += [1.0 / (len(order) - 1) for _ in tested]  # none in a run of one document
            for first, last in _stretches(hits):
                agreements += sum(first <= number <= last for number in hits)
                low, high = (first, last + 1) if step > 0 else (first - 1, last)
                for number, other in _exchanged(range(low, high + 1), nearest, step).items():
                    source[order[number]] = order[other]
                stretches.append((order[first], order[last]))
        if source:
            yield _exchange(sample, source, stretches, name, 2.0 * excess_p(agreements, chances))


def _low_scores(tallies: Floats) -> frozenset[int]:
    """Return the documents with a low f1q."""
    size = tallies[:, 0] + tallies[:, 1]
    low = (size > 0.0) & (2.0 * tallies[:, 3] < MAX_SCORE * size)
    return frozenset(low.nonzero()[0].tolist())


def _closest(sample: Sample, documents: frozenset[int]) -> dict[int, int]:
    """Return the document whose gold shares most information with each of these predictions; none if several do.

    The information of a word or number that n of N gold documents contain is log(N / n). Documents of other runs are
    not compared.
    """
    runs: defaultdict[str | None, list[int]] = defaultdict(list)
    for at, pair in enumerate(sample.pairs):
        runs[pair.run].append(at)
    closest = {}
    for members in runs.values():
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        for at in members:
            for word in _words(sample.pairs[at].gold):
                places[word].append(at)
        bits = {word: math.log(len(members) / len(at)) for word, at in places.items() if 2 * len(at) <= len(members)}
        for at in documents.intersection(members):
            shared: defaultdict[int, float] = defaultdict(float)
            for word in bits.keys() & _words(sample.pairs[at].predicted):
                for other in places[word]:
                    shared[other] += bits[word]
            most = max(shared.values(), default=0.0)
            best = [other for other, number in shared.items() if number == most]
            if len(best) == 1:
                closest[at] = best[0]
    return closest


def _words(value: Json) -> set[Hashable]:
    """Return the words and numbers of a document."""
    found: set[Hashable] = set()
    for inner in single_values(value):
        if isinstance(inner, str):
            found.update(inner.casefold().split())
        elif isinstance(inner, (int, float)) and not isinstance(inner, bool):
            found.add(inner)
    return found


def _stretches(hits: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each run of numbers without large gaps."""
    start = 0
    for at in range(1, len(hits) + 1):
        if at == len(hits) or hits[at] - hits[at - 1] > 1 + MAX_GAP:
            if at - start >= MIN_STRETCH:
                yield hits[start], hits[at - 1]
            start = at


def _exchanged(stretch: range, nearest: Mapping[int, int], step: int) -> dict[int, int]:
    """Return the document whose prediction each document of a stretch receives.

    Args:
        stretch: The documents.
        nearest: The document to which a prediction belongs, if it is known.
        step: 1 if most predictions belong to the next document, -1 if they belong to the previous one.
    """
    source: dict[int, int] = {}
    waiting = sorted(stretch, key=lambda number: nearest.get(number) != number + step)
    for targets in (nearest, {number: number + step for number in stretch}):
        for number in waiting:
            if (target := targets.get(number, -1)) in stretch:
                source.setdefault(target, number)
        waiting = [number for number in waiting if number not in source.values()]
    return source | dict(zip((number for number in stretch if number not in source), waiting, strict=True))


def _exchange(
    sample: Sample, source: Mapping[int, int], stretches: Sequence[tuple[int, int]], name: str, p: float
) -> Proposal:
    """Return the proposal to give each document the prediction of another."""
    faults = [fault for fault in sample.faults if fault.document in source]
    faults.sort(key=lambda fault: (-fault.lost, fault.number))
    change = Correction(lambda at, _: sample.pairs[source[at]].predicted, frozenset(source))
    where = ", ".join(f"{sample.pairs[first].id} to {sample.pairs[last].id}" for first, last in stretches[:3])
    advice = f"Correct the ids of predictions: those of {where} belong to the {name} document."
    numbers = tuple(fault.number for fault in faults)
    return Proposal("page-shifted", "prediction", ("",), numbers, change, p, advice=advice)


DETECTORS: Final[tuple[Detector, ...]] = (wrapped_roots, unwrapped_roots, shifted_documents)
"""The detectors of this module."""
