"""Advises on a schema before the first comparison, from gold documents and predictions.

The advice concerns what a schema does not say: texts that are dates, amounts, numbers or identifiers, values that stand
for no value, keys that are ids or spellings of each other, which list holds the entries, and fields that say little.
Nothing is advised that the schema already declares. Where an overlay can follow the advice, it is part of it.

To add a kind of advice, write a function that yields it, and add it to `RULES`; describe it in `KINDS`, which the
reference lists.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.distances.identifiers import MIN_SHARE as MIN_SHARE_OF_IDENTIFIERS
from arbitre.distances.identifiers import find_identifiers
from arbitre.errors import shown
from arbitre.language import counted, percentage
from arbitre.parsing.dates import MIN_SHARE as MIN_SHARE_OF_DATES
from arbitre.parsing.dates import find_date_notation
from arbitre.parsing.numerals import MIN_SHARE as MIN_SHARE_OF_NUMBERS
from arbitre.parsing.numerals import find_number_notation
from arbitre.paths import STAR, escape, order, wildcard
from arbitre.schema.loading.annotations import merged_overlay
from arbitre.suggestions.census import Census, Declaration, PathCounts, declarations, fold, is_blank
from arbitre.suggestions.reference_census import MIN_FOUND, MIN_IDS, MIN_REFERENCES, scope_name
from arbitre.tables.table import WHOLE
from arbitre.values import Kind, canonical, is_placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.paths import Path
    from arbitre.schema.nodes import Site
    from arbitre.values import Json


EXAMPLES: Final = 3
"""Maximum number of values that are shown as examples."""


@dataclass(frozen=True, slots=True)
class SchemaAdvice:
    """A piece of advice on a schema, with the evidence for it.

    Attributes:
        kind: A key of `KINDS`.
        path: Wildcard path that it concerns; if there are several, the path of what they have in common.
        message: What was found, and what to do.
        evidence: The figures that it is based on, by name, and up to three `examples`.
        change: The settings that follow the advice, as an overlay; None if no overlay can, or if the values do not
            tell which settings are right.
    """

    kind: str
    path: str
    message: str
    evidence: Mapping[str, Json]
    change: Mapping[str, Json] | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        settings = "" if self.change is None else f"\n  {json.dumps(self.change, ensure_ascii=False)}"
        return f"{self.path or WHOLE}: {self.message}{settings}"


def find_schema_advice(
    gold: Census, predicted: Census, *, overlay: Mapping[str, Json] | None = None
) -> tuple[SchemaAdvice, ...]:
    """Return the advice on a schema, by path.

    Args:
        gold: What gold documents contain.
        predicted: What predictions contain, for keys and placeholders that only they have.
        overlay: The overlay of the schema, to know what it sets.
    """
    evidence = _Evidence(gold, predicted, declarations(gold.plan, overlay or {}))
    found = [advice for rule in RULES for advice in rule(evidence)]
    maps = [advice.path for advice in found if advice.kind == "id-keys"]
    kept = [advice for advice in found if not any(advice.path.startswith(f"{path}/") for path in maps)]
    linked = {path for advice in found if advice.kind == "references" for path in advice.change or ()}
    kept = [advice for advice in kept if advice.kind == "references" or advice.path not in linked]
    return tuple(sorted(kept, key=lambda advice: order(advice.path)))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a rule looks at: the values of both sides, and what is declared by wildcard path."""

    gold: Census
    predicted: Census
    declared: Mapping[str, Declaration]

    def at(self, path: Path) -> Declaration:
        """Return what is declared at a path."""
        return self.declared.get(wildcard(path)) or Declaration()


# Which list holds the entries.


MIN_SHARE_OF_ENTRIES: Final = 0.85
"""Minimum share of the gold values that are in a list of entries, or in several of which one may hold them."""

MIN_SHARE_OF_ONE: Final = 0.2
"""Minimum share of the gold values in each of several such lists."""

MIN_ENTRIES: Final = 3
"""Minimum mean number of entries of a document."""


def _entries(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the lists that hold most values, if the schema names no entries and the root would be the only entry."""
    gold, root = evidence.gold, evidence.gold.sites[()]
    marked = any("entries" in declared.settings for declared in evidence.declared.values())
    total, fewest = gold.below(()) + gold.undeclared, MIN_ENTRIES * max(gold.documents, 2)
    if marked or evidence.gold.plan.entries or Kind.ARRAY in root.declared or not total:
        return
    lists = [path for path, site in gold.sites.items() if _is_list_of_objects(gold, path, site)]
    shares = {path: gold.below(path) / total for path in lists if gold.at(path).items >= fewest}
    one = next((path for path, share in shares.items() if share >= MIN_SHARE_OF_ENTRIES), None)
    chosen = [path for path, share in shares.items() if STAR not in path and share >= MIN_SHARE_OF_ONE]
    found = chosen if one is None else [one]
    held = sum(shares[path] for path in found)
    if held < MIN_SHARE_OF_ENTRIES:
        return
    named = " and ".join(f"{wildcard(path)} ({percentage(shares[path])})" for path in found)
    where = "this list. Mark it" if one is not None else f"lists: {named}. Mark one of them"
    yield SchemaAdvice(
        "entries",
        "" if one is None else wildcard(one),
        f"Each document is scored as one entry, but {percentage(held)} of the gold values are in {where} with "
        '`"entries": true` if its items are your entries.',
        {"documents": gold.documents, "values": total, "share": round(held, 4), "examples": []},
        None if one is None else {wildcard(one): {"entries": True}},
    )


def _is_list_of_objects(gold: Census, path: Path, site: Site) -> bool:
    below = gold.sites.get((*path, STAR))
    listed = Kind.ARRAY in site.declared and not site.atomic
    return listed and below is not None and Kind.OBJECT in below.declared and not below.atomic


# Keys.


MIN_ID_KEYS: Final = 5
"""Minimum number of different keys that are ids."""

MIN_PLAIN_ID_KEYS: Final = 10
"""Minimum number of different keys that are ids, if they do not look like codes or if there is only one object."""

MAX_RECURRENCE: Final = 0.5
"""Maximum share of the objects that have a key, on average, if the keys are ids that look like codes."""

MAX_PLAIN_RECURRENCE: Final = 0.3
"""The same for ids that do not look like codes."""

MIN_KEYS: Final = 3
"""Minimum number of objects that have a spelling of a key; of gold documents that have it, 2."""

MAX_TOGETHER: Final = 0.05
"""Maximum share of the objects with either of two spellings that have both."""

_RUNS: Final = re.compile("([^\\W\\d_]+)|([0-9]+)")


def _id_keys(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the objects whose keys are ids, so that each key has a path of its own."""
    for path, site in evidence.gold.sites.items():
        counts = evidence.gold.at(path)
        if site.atomic or site.object.declared_map or site.object.patterns or site.object.closed:
            continue
        if _are_ids(counts):
            examples = list(counts.keys)[:EXAMPLES]
            yield SchemaAdvice(
                "id-keys",
                wildcard(path),
                f"The keys look like ids: {len(counts.keys)} different ones in {counted(counts.objects, 'object')}, "
                f"such as {_listed(examples)}. Each key has its own path. Declare their values once, as "
                "`additionalProperties`, or write a list of objects that have the id in a field.",
                {"keys": len(counts.keys), "objects": counts.objects, "examples": examples},
            )


def _are_ids(counts: PathCounts) -> bool:
    """Return whether the keys of objects are ids: alike or rarely the same, with values of the same structure."""
    number = len(counts.keys)
    members = [member for member in counts.members.values() if member is not Kind.NULL]
    if number < MIN_ID_KEYS or not _have_same_structure(members):
        return False
    if all(key.isdecimal() for key in counts.keys):
        return True
    recurrence = counts.keys.total() / number / counts.objects
    shapes = Counter(_RUNS.sub(lambda run: "a" if run[1] else "9", key) for key in counts.keys if _has_digit(key))
    coded = bool(shapes) and 10 * shapes.most_common(1)[0][1] >= 9 * number
    if coded and recurrence <= MAX_RECURRENCE:
        return True
    if number < MIN_PLAIN_ID_KEYS:
        return False
    return (coded and counts.objects == 1) or (recurrence <= MAX_PLAIN_RECURRENCE and not isinstance(members[0], Kind))


def _have_same_structure(members: Sequence[frozenset[str] | Kind]) -> bool:
    """Return whether all are values of one kind, or objects that have at least half of their keys in common."""
    keys = [member for member in members if isinstance(member, frozenset)]
    if not keys:
        return len(set(members)) == 1
    every, common = keys[0].union(*keys), keys[0].intersection(*keys)
    return len(keys) == len(members) and bool(common) and 2 * len(common) >= len(every)


def _has_digit(key: str) -> bool:
    return any(sign.isdecimal() for sign in key)


def _key_spelling(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the keys that are spellings of each other, in gold or in gold and predictions."""
    for path, site in evidence.gold.sites.items():
        if site.atomic or site.object.declared_map or site.object.patterns:
            continue
        gold, predicted = evidence.gold.at(path), evidence.predicted.at(path)
        declared = {member.name for member in site.object.fields}
        spellings: defaultdict[str, set[str]] = defaultdict(set)
        for key in (*declared, *gold.keys, *predicted.keys):
            spellings[fold(key)].add(key)
        for folded, keys in spellings.items():
            in_gold = sorted(key for key in keys if gold.keys[key])
            together = gold.together[folded] + predicted.together[folded]
            if len(keys) == 1 or together > MAX_TOGETHER * sum(gold.keys[key] + predicted.keys[key] for key in keys):
                continue
            known = sorted(keys & declared)
            if len(in_gold) > 1:
                yield from _both_in_gold(path, in_gold, gold)
            elif len(known) == 1 and in_gold and in_gold != known:
                yield from _otherwise_in_gold(path, known[0], in_gold[0], gold)
            elif known and (in_gold == known or not in_gold):
                others = sorted(keys - declared)
                yield from _otherwise_in_predictions(evidence, path, known, others)


def _both_in_gold(path: Path, keys: Sequence[str], gold: PathCounts) -> Iterator[SchemaAdvice]:
    if gold.objects >= MIN_KEYS and sorted(gold.keys[key] for key in keys)[-2] >= MIN_KEYS - 1:
        yield SchemaAdvice(
            "key-spelling",
            wildcard(path),
            f"Gold spells a key in {len(keys)} ways: {_named(gold.keys, keys)}. Use one spelling in gold; until then, "
            "a prediction with the other spelling counts as wrong.",
            {"gold": {key: gold.keys[key] for key in keys}, "examples": list(keys)[:EXAMPLES]},
        )


def _otherwise_in_gold(path: Path, known: str, key: str, gold: PathCounts) -> Iterator[SchemaAdvice]:
    if gold.keys[key] >= MIN_KEYS:
        yield SchemaAdvice(
            "key-spelling",
            wildcard((*path, known)),
            f"Gold never has the key {shown(known)}, but has {_named(gold.keys, [key])}, which the schema does not "
            "declare. Use one spelling in the schema and in gold.",
            {"gold": {key: gold.keys[key]}, "examples": [key]},
        )


def _otherwise_in_predictions(
    evidence: _Evidence, path: Path, known: Sequence[str], keys: Sequence[str]
) -> Iterator[SchemaAdvice]:
    predicted = evidence.predicted.at(path)
    found = [key for key in keys if predicted.keys[key] >= MIN_KEYS]
    if not found or len(known) > 1 or evidence.gold.sites[path].object.closed:
        return
    place = (*path, known[0])
    aliases = [*evidence.at(place).settings.get("aliases", ()), *map(escape, found)]
    yield SchemaAdvice(
        "key-spelling",
        wildcard(place),
        f"Predictions spell this key differently: {_named(predicted.keys, found)}. Accept it as an alias, or name "
        "the key in the prompt.",
        {"predicted": {key: predicted.keys[key] for key in found}, "examples": found[:EXAMPLES]},
        {wildcard(place): {"aliases": aliases}},
    )


# Fields that say little.


MIN_CONSTANT: Final = 10
"""Minimum number of values of a constant field."""

MIN_OBJECTS: Final = 10
"""Minimum number of objects of which none has a field that never occurs."""


def _unused(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the fields that the schema declares, but no gold document has; not those inside of them."""
    unused: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in evidence.gold.sites:
        above = evidence.gold.at(path[:-1])
        if not path or not isinstance(path[-1], str) or above.objects < MIN_OBJECTS or evidence.gold.at(path).values:
            continue
        if not any(fold(key) == fold(path[-1]) and key != path[-1] for key in above.keys):  # not another spelling
            unused[path[:-1]].append(path)
    for paths in unused.values():
        for group in [paths] if len(paths) > EXAMPLES else [[path] for path in paths]:
            yield _never_occur(evidence, group)


def _never_occur(evidence: _Evidence, paths: Sequence[Path]) -> SchemaAdvice:
    """Return the advice on one field of an object, or on several."""
    objects = evidence.gold.at(paths[0][:-1]).objects
    only = sum(evidence.predicted.at(path).values for path in paths)
    named = _listed([path[-1] for path in paths[:EXAMPLES]])
    if len(paths) == 1:
        path, it, said = paths[0], "it", "this field, but it never occurs in gold"
    else:
        path, it = paths[0][:-1], "them"
        said = f"{len(paths)} fields that never occur in gold, such as {named}"
    extra = f"; predictions have {it} {counted(only, 'time')}, which is always wrong" if only else ""
    return SchemaAdvice(
        "unused",
        wildcard(path),
        f"The schema declares {said} ({counted(objects, 'object')}){extra}. Add gold that has {it}, or remove {it} "
        "from the schema and the prompt.",
        {"objects": objects, "predicted": only, "paths": list(map(wildcard, paths)), "examples": []},
    )


def _constant(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the fields that have the same value in all of gold."""
    for path, site in evidence.gold.sites.items():
        counts = evidence.gold.at(path)
        if not path or not isinstance(path[-1], str) or counts.values < MIN_CONSTANT or len(counts.distinct) != 1:
            continue
        declared = evidence.at(path)
        weighed = "weight" in declared.settings or len(declared.listed) == 1
        single = counts.scalars == counts.values and not site.atomic
        if weighed or not single or evidence.gold.missing(path) or counts.empty.total():
            continue
        (value,) = counts.distinct.values()
        if is_blank(value):
            continue
        yield SchemaAdvice(
            "constant",
            wildcard(path),
            f"All {counts.values} gold values are {shown(value, 60)}. A model that always predicts it is right, which "
            "raises the scores. Give the field a low `weight`, or `ignore` it.",
            {"values": counts.values, "examples": [value]},
        )


# Values that stand for no value.


MIN_PLACEHOLDERS: Final = 3
"""Minimum number of values that stand for no value."""

MIN_OTHERS: Final = 10
"""Minimum number of different other texts, or of numbers, at a path where "none" or "-" is not one category of many."""

_CODE: Final = re.compile("[A-Z]{2,3}|[^\\w\\s]{1,3}")
"""Texts among which "NA" is a code, and "-" is a sign."""


class _Placeholders(NamedTuple):
    """The values at a path that stand for no value, as JSON with their number in gold and in predictions."""

    path: Path
    gold: Counter[str]
    predicted: Counter[str]


def _absent_values(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the values that stand for no value, at all paths that have the same ones together."""
    sides = [evidence.gold.at(path).texts + evidence.predicted.at(path).texts for path in evidence.gold.sites]
    totals = Counter[str]()
    for texts in sides:
        totals.update({text: number for text, number in texts.items() if is_placeholder(text)})
    groups: defaultdict[tuple[str, ...], list[_Placeholders]] = defaultdict(list)
    for path, site in evidence.gold.sites.items():
        if site.alternatives is not None:
            continue
        found = _placeholders(evidence, path, totals)
        if named := {*found.gold, *found.predicted}:
            groups[tuple(sorted(named))].append(found)
    for values, places in groups.items():
        paths = [place.path for place in places]
        gold = sum((place.gold for place in places), Counter[str]())
        predicted = sum((place.predicted for place in places), Counter[str]())
        where = f" at {', '.join(map(wildcard, paths[:EXAMPLES]))}" if len(paths) > 1 else ""
        more = f" and {counted(len(paths) - EXAMPLES, 'more path')}" if len(paths) > EXAMPLES else ""
        told = " and ".join(f"{value} ({_on_sides(gold[value], predicted[value])})" for value in values)
        verb, these, equal = ("stands", "it", "it is") if len(values) == 1 else ("stand", "them", "they are")
        yield SchemaAdvice(
            "absent-value",
            wildcard(_common(paths)),
            f"{told} probably {verb} for no value{where}{more}. Declare {these} as `absent`, so that {equal} equal to "
            "null and to a missing key.",
            {
                "gold": gold.total(),
                "predicted": predicted.total(),
                "examples": [json.loads(one) for one in values[:EXAMPLES]],
            },
            merged_overlay(*(_with_absent(evidence.gold.sites[path], path, values) for path in paths)),
        )


def _placeholders(evidence: _Evidence, path: Path, totals: Mapping[str, int]) -> _Placeholders:
    """Return the values at a path that stand for no value; `totals` are the numbers of each text at all paths."""
    gold, predicted = evidence.gold.at(path), evidence.predicted.at(path)
    found = _Placeholders(path, Counter(), Counter())
    others = [text for text in gold.texts if not is_placeholder(text)]
    codes = sum(map(bool, map(_CODE.fullmatch, others)))
    numbers = gold.values - gold.texts.total() - gold.empty.total()
    are_codes = 2 * codes > len(others)
    told_apart = not are_codes and max(len(others), numbers) >= MIN_OTHERS
    for text in dict.fromkeys((*gold.texts, *predicted.texts)):
        if not is_placeholder(text) or canonical(text) in evidence.at(path).listed:
            continue
        in_gold, in_predictions = gold.texts[text], predicted.texts[text]
        if is_placeholder(text, certain=True):
            certain = totals[text] >= MIN_PLACEHOLDERS
        elif in_gold:
            certain = told_apart and in_gold >= MIN_PLACEHOLDERS
        else:
            certain = not are_codes and in_predictions >= MIN_PLACEHOLDERS and gold.values >= MIN_OTHERS
        if certain:
            found.gold.update({json.dumps(text, ensure_ascii=False): in_gold})
            found.predicted.update({json.dumps(text, ensure_ascii=False): in_predictions})
    for value in dict.fromkeys((*gold.empty, *predicted.empty)):
        if _is_another_notation(evidence, path, value):
            found.gold.update({value: gold.empty[value]})
            found.predicted.update({value: predicted.empty[value]})
    return found


def _on_sides(gold: int, predicted: int) -> str:
    sides = ((gold, "in gold"), (predicted, "in predictions"))
    return ", ".join(f"{counted(number, 'time')} {side}" for number, side in sides if number)


def _is_another_notation(evidence: _Evidence, path: Path, value: str) -> bool:
    """Return whether an empty list or object, or a list of placeholders, is one of several notations of no value.

    Gold that always writes [] does not need advice: only where gold or the predictions also omit the field, or where
    predictions write [] and gold omits it.
    """
    gold, predicted = evidence.gold.at(path).empty[value], evidence.predicted.at(path).empty[value]
    if value not in ("[]", "{}"):
        return gold + predicted >= MIN_PLACEHOLDERS
    without = evidence.gold.missing(path), evidence.predicted.missing(path)
    mixed = gold >= MIN_PLACEHOLDERS and without[0] >= MIN_PLACEHOLDERS
    only_predicted = not gold and without[0] >= MIN_PLACEHOLDERS and predicted >= MIN_PLACEHOLDERS
    only_gold = gold >= MIN_PLACEHOLDERS and not without[0] and not predicted and without[1] >= MIN_PLACEHOLDERS
    return mixed or only_predicted or only_gold


def _with_absent(site: Site, path: Path, values: Sequence[str]) -> dict[str, Json]:
    """Return the setting that counts further values as absent; a list of placeholders by its items."""
    read = [json.loads(value) for value in values]
    flat = [part for value in read for part in ([*value, []] if isinstance(value, list) else [value])]
    added = {canonical(value): value for value in [*site.absent.values, *flat]}
    return {wildcard(path): {"absent": list(added.values())}}


def _common(paths: Sequence[Path]) -> Path:
    """Return the longest path that all paths start with."""
    shared = takewhile(lambda tokens: len(set(tokens)) == 1, zip(*paths, strict=False))
    return paths[0] if len(paths) == 1 else tuple(tokens[0] for tokens in shared)


# Texts that are dates, amounts, numbers or identifiers.


MIN_TEXTS: Final = 5
"""Minimum number of texts of a notation."""

MAX_LENGTH: Final = 300
"""Number of characters of a text that are looked at."""

_OF_TEXTS: Final = frozenset(
    {
        *("strip", "casefold", "lower", "upper", "nfc", "as-written", "nfkc", "unaccent", "base-letters"),
        *("squash-space", "strip-invisible"),
    }
)
"""Normalisers after which dates, numbers and identifiers are still the same."""

_IDENTIFIERS: Final = {
    "uuid": "UUIDs",
    "isbn": "ISBNs",
    "iban": "IBANs",
    "doi": "DOIs",
    "email": "e-mail addresses",
    "uri": "URIs",
    "exact": "identifiers",
}


class _Notation(NamedTuple):
    """What the texts of a path are, and the settings that compare them accordingly, unless there is a doubt."""

    kind: str
    name: str
    texts: Sequence[str]
    remedy: str
    settings: Mapping[str, Json]
    doubt: str | None = None


def _notations(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the paths whose texts are dates, amounts, numbers or identifiers, but compared by their characters."""
    for path, site in evidence.gold.sites.items():
        texts = Counter[str]()
        for text, number in evidence.gold.at(path).texts.items():
            texts[text[:MAX_LENGTH]] += 0 if is_placeholder(text) else number
        texts = +texts
        normalizers, declared = _text_normalizers(site), evidence.at(path)
        if texts.total() < MIN_TEXTS or normalizers is None or declared.listed or "distance" in declared.settings:
            continue
        if (found := _notation_of(texts, site.declared - {Kind.NULL}, normalizers)) is None:
            continue
        matching, examples = sum(texts[text] for text in found.texts), list(found.texts[:EXAMPLES])
        share = "All" if matching == texts.total() else f"{matching} of"
        told = f", but {found.doubt}. Declare the notation yourself." if found.doubt else f". {found.remedy}"
        yield SchemaAdvice(
            found.kind,
            wildcard(path),
            f"{share} {texts.total()} texts are {found.name}, such as {_listed(examples)}{told}",
            {"values": texts.total(), "matching": matching, "distinct": len(texts), "examples": examples},
            None if found.doubt else {wildcard(path): dict(found.settings)},
        )


def _text_normalizers(site: Site) -> list[str] | None:
    """Return the names of the declared normalisers; None if texts are not compared by their characters after them."""
    if site.atomic or Kind.STRING not in site.declared or len(site.scalars[Kind.STRING]) != 1:
        return None
    leaf = site.scalars[Kind.STRING][0].leaf
    names = [one.name for one in (*site.normalizers, *leaf.normalizers) if not one.implied]
    return names if leaf.distance.name == "yujian-bo" and _OF_TEXTS.issuperset(names) else None


def _notation_of(texts: Counter[str], kinds: frozenset[Kind], normalizers: Sequence[str]) -> _Notation | None:
    """Return the notation of texts that are declared with these kinds and normalisers; None if they are just texts."""
    only_texts = kinds == {Kind.STRING}
    code = find_identifiers(texts) if only_texts else None
    identifiers = None if code is None else _identifiers(*code)
    if code is not None and code[0] != "exact":
        return identifiers
    if only_texts and (dates := find_date_notation(texts)) is not None:
        named = {"formats": list(dates.formats), "languages": list(dates.languages)}
        options = {option: value for option, value in named.items() if value}
        settings: dict[str, Json] = {"normalize": [*normalizers, {"date": options}]} if options else {}
        settings, name = settings | {"distance": "date"}, f"dates in {dates.name}"
        return _Notation("date-format", name, dates.dates, "Compare them as dates, in days.", settings, dates.doubt)
    if kinds <= {Kind.STRING, Kind.NUMBER} and (numbers := find_number_notation(texts)) is not None:
        kind, normalizer = ("amount", "amount") if numbers.currency else ("number-format", "number")
        settings = {"normalize": [*normalizers, {normalizer: numbers.options} if numbers.options else normalizer]}
        if numbers.whole and not numbers.currency:  # as for integers in JSON
            settings["distance"] = "exact"
        name, remedy = ("amounts" if numbers.currency else "numbers"), "Compare them as numbers."
        return _Notation(kind, name, numbers.numbers, remedy, settings, numbers.doubt)
    return identifiers


def _identifiers(distance: str, texts: Sequence[str]) -> _Notation:
    remedy = "One wrong character makes a different identifier: give no partial credit for it."
    return _Notation("identifier", _IDENTIFIERS[distance], texts, remedy, {"distance": distance})


# Sentences.


def _listed(values: Sequence[Json]) -> str:
    *first, last = [shown(value, 60) for value in values]
    return f"{', '.join(first)} and {last}" if first else last


def _named(counts: Mapping[str, int], keys: Sequence[str]) -> str:
    """Return keys with their number: `"title" (3 times)`."""
    return " and ".join(f"{shown(key)} ({counted(counts[key], 'time')})" for key in keys)


def _references(evidence: _Evidence) -> Iterator[SchemaAdvice]:
    """Yield the ids to which other values refer, unless the schema has ids already."""
    if evidence.gold.plan.facts.has_ids:
        return
    taken: set[str] = set()
    for found in evidence.gold.references.id_fields():
        places = [found.path, *found.references]
        if any(place not in evidence.gold.sites for place in places):
            continue
        if any({"distance", "ref", "id"} & evidence.at(place).settings.keys() for place in places):
            continue
        scope = scope_name(found.path, taken)
        taken.add(scope)
        named = " and ".join(wildcard(place) for place in found.references)
        total = sum(found.references.values())
        yield SchemaAdvice(
            "references",
            wildcard(found.path),
            f"The values are ids: {counted(found.ids, 'value')}, each once in its list, such as "
            f"{_listed(found.examples)}, and {counted(total, 'value')} at {named} are among them. Compared as values, "
            "they are all wrong if a prediction numbers its items in another way.",
            {"ids": found.ids, "references": total, "examples": found.examples},
            {wildcard(found.path): {"id": scope}} | {wildcard(place): {"ref": scope} for place in found.references},
        )


RULES: Final[Sequence[Callable[[_Evidence], Iterable[SchemaAdvice]]]] = (
    _entries,
    _references,
    _id_keys,
    _key_spelling,
    _unused,
    _constant,
    _absent_values,
    _notations,
)
"""The rules. For one path, advice is in this order."""


class SchemaAdviceKind(NamedTuple):
    """A kind of advice.

    Attributes:
        found: What triggers the advice.
        evidence: Minimum counts and shares.
        settings: The settings that implement the advice; "" if an overlay cannot.
    """

    found: str
    evidence: str
    settings: str = ""


def _texts(share: float) -> str:
    return f"{MIN_TEXTS} texts, and {share:.0%} of the texts of the field"


KINDS: Final[Mapping[str, SchemaAdviceKind]] = {
    "entries": SchemaAdviceKind(
        "the root is the only entry, although one or more lists of objects contain most values",
        f"{MIN_SHARE_OF_ENTRIES:.0%} of the values, {MIN_ENTRIES} items per document",
        "`entries`, if there is only one such list",
    ),
    "references": SchemaAdviceKind(
        "a field whose values are unique in their list, and values elsewhere in the document that refer to them",
        f"{MIN_IDS} ids, {MIN_REFERENCES} references, {MIN_FOUND:.0%} of which refer to an id",
        "`id`, `ref`",
    ),
    "id-keys": SchemaAdviceKind(
        "an object used as a map: its keys are numbers, codes, or names that rarely recur",
        f"{MIN_ID_KEYS} keys; {MIN_PLAIN_ID_KEYS} if the keys have no digits, or if they have letters and are all in "
        "one object",
    ),
    "key-spelling": SchemaAdviceKind(
        "two spellings of a key, such as `container-title` and `container_title`, that rarely occur in the same object",
        f"{MIN_KEYS - 1} occurrences of each in gold; if the schema declares only one spelling, {MIN_KEYS} occurrences "
        "of the other in gold or in predictions",
        "`aliases`, if only predictions have the other spelling",
    ),
    "unused": SchemaAdviceKind("declared fields that never occur in gold", f"{MIN_OBJECTS} objects"),
    "constant": SchemaAdviceKind("a field that has the same value in all gold documents", f"{MIN_CONSTANT} values"),
    "absent-value": SchemaAdviceKind(
        'placeholders such as `""`, `"n/a"` and `["null"]`; also `[]`, if other documents omit the list',
        f"{MIN_PLACEHOLDERS} values",
        "`absent`",
    ),
    "date-format": SchemaAdviceKind(
        "texts that are dates in ISO 8601, in numbers, or in words (with the extra `dates`)",
        _texts(MIN_SHARE_OF_DATES),
        "`distance`, and `normalize` for notations other than ISO 8601",
    ),
    "amount": SchemaAdviceKind("texts that are numbers with a currency", _texts(MIN_SHARE_OF_NUMBERS), "`normalize`"),
    "number-format": SchemaAdviceKind(
        "texts that are numbers",
        _texts(MIN_SHARE_OF_NUMBERS),
        "`normalize`; `distance` for whole numbers",
    ),
    "identifier": SchemaAdviceKind(
        "UUIDs, ISBNs, IBANs, DOIs, e-mail addresses and URIs; also other codes that contain digits but no spaces, and "
        "are nearly all different",
        _texts(MIN_SHARE_OF_IDENTIFIERS),
        "`distance`",
    ),
}
"""The kinds of advice by name."""
