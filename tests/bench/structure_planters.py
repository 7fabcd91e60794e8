"""Planters of causes that change keys and structure, and of single errors in structure.

See `cause_planters`.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter, defaultdict
from itertools import pairwise

from tests.bench.cause_corpora import places, reached, tokens, values_at
from tests.bench.value_planters import at, chosen, free, planter

# Keys.


def objects_at(predicted, path):
    """The objects that have the last key of a path, by document."""
    above, key = path.rsplit("/", 1)
    for document in predicted:
        yield [one for one in reached(document, tokens(above) if above else []) if isinstance(one, dict) and key in one]


def key_paths(corpus):
    """The paths of the fields with a role, or of the lists of such values."""
    return sorted({path.removesuffix("/*") for path in corpus.roles})


def respell(rng, predicted, path, new, share=None):
    """Give a field another key in a share of the documents; the order of the keys is kept."""
    key, count = tokens(path)[-1], 0
    share = chosen(rng) if share is None else share
    for found in objects_at(predicted, path):
        if rng.random() < share:
            for one in found:
                items = [(new if name == key else name, value) for name, value in one.items()]
                one.clear()
                one.update(items)
                count += 1
    return count


def with_last(path, key):
    return f"{path.rsplit('/', 1)[0]}/{key}"


def spellings(key):
    """Other spellings of a key, by name."""
    parts = re.split(r"[-_]", key) if re.search(r"[-_]", key) else re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", key)
    if len(parts) > 1:
        yield "snake", "_".join(parts).lower()
        yield "kebab", "-".join(parts).lower()
        yield "camel", parts[0].lower() + "".join(part.capitalize() for part in parts[1:])
        yield "words", " ".join(parts)
    yield "capitalised", key[:1].upper() + key[1:]
    yield "upper", key.upper()


@planter("key-spelling")
def spell_key(rng, corpus, predicted, taken):
    """A key is spelt in another way."""
    paths = [path for path in key_paths(corpus) if free(path, taken) and re.search(r"[-_]", tokens(path)[-1])]
    for path in rng.sample(paths, len(paths)) or rng.sample(key_paths(corpus), 1):
        key = tokens(path)[-1]
        options = [new for _, new in spellings(key) if new != key]
        if not free(path, taken) or not options:
            continue
        new = rng.choice(options)
        yield f"{key} as {new}", (path, with_last(path, new)), respell(rng, predicted, path, new)


OTHER_NAMES = {
    "title": "name", "publisher-place": "location", "container-title": "journal", "issued": "date", "publisher": "press",
    "price": "cost", "language": "tongue", "sender": "author", "recipient": "addressee", "sent": "written_on",
    "place": "town", "summary": "abstract", "sheets": "folios", "name": "person", "trade": "occupation", "tax": "levy",
    "date": "when", "age": "years", "children": "offspring", "heading": "caption", "clerk": "notary", "good": "article",
    "quantity": "count", "supplier": "vendor", "label": "description", "stored": "town", "page": "folio",
    "author": "writer", "athlete": "swimmer", "team": "club", "country": "nation", "year_birth": "born",
    "time": "result", "borrower": "debtor", "lenders": "banks", "agreement_date": "signed_on", "maturity_date": "end",
    "governing_law": "jurisdiction", "amount": "sum", "currency": "unit", "nom": "speaker",
    "references_pages": "pages", "references_page": "folios", "nom_de_famille": "surname", "prenom": "forename",
    "description_action": "summary_of_act", "keyword": "subjects", "administrative_agent": "agent",
    "use_of_proceeds": "purpose",
}  # fmt: skip


@planter("renamed-key")
def rename_key(rng, corpus, predicted, taken):
    """A key has another name."""
    names = {token for path in corpus.roles for token in tokens(path)}
    paths = [path for path in key_paths(corpus) if free(path, taken) and tokens(path)[-1] in OTHER_NAMES]
    for path in rng.sample(paths, len(paths)):
        key, new = tokens(path)[-1], OTHER_NAMES[tokens(path)[-1]]
        if new not in names:
            yield f"{key} as {new}", (path, with_last(path, new)), respell(rng, predicted, path, new)


# Structure around the whole document.


@planter("wrapped-root")
def wrap_root(rng, _, predicted, taken):
    if taken:  # changes every path
        return
    variant, wrap = rng.choice((
        ("data", lambda one: {"data": one}), ("list of one", lambda one: [one]), ("result", lambda one: {"result": one}),
        ("response/data", lambda one: {"response": {"data": one}}),
        ("status and output", lambda one: {"status": "ok", "output": one}),
    ))  # fmt: skip
    yield variant, ("",), each_document(rng, predicted, wrap)


@planter("unwrapped-root")
def unwrap_root(rng, corpus, predicted, taken):
    properties = corpus.schema.get("properties", {})
    if taken or len(properties) != 1:
        return
    key = next(iter(properties))
    yield f"{key} left out", ("",), each_document(rng, predicted, lambda document: document[key])


def each_document(rng, predicted, change):
    """Change a share of the documents; return how many."""
    share, count = chosen(rng), 0
    for number, document in enumerate(predicted):
        if rng.random() < share:
            predicted[number], count = change(document), count + 1
    return count


@planter("page-shifted")
def shift_pages(rng, _, predicted, taken):
    """The predictions of one or two stretches of documents belong to the document before."""
    if taken:
        return
    count = 0
    for first in rng.choice(((0,), (0, 15), (4, 18))):
        last = min(len(predicted), first + rng.randint(9, 14))
        predicted[first:last] = [predicted[last - 1], *predicted[first : last - 1]]
        count += last - first
    yield "one document later", ("",), count


# Structure in the document.


@planter("ids-as-keys")
def key_by_id(rng, corpus, predicted, taken):
    """The list of entries is an object with ids as keys."""
    ids = [path for path in corpus.of_role("id", "person")
           if corpus.entries and path.rsplit("/", 1)[0] == f"{corpus.entries}/*" and path not in corpus.empty]  # fmt: skip
    if not corpus.entries or not ids or not free(corpus.entries, taken) or corpus.entries.count("*"):
        return
    key = tokens(ids[0])[-1]

    def keyed(items):
        return {str(one.get(key)): {name: value for name, value in one.items() if name != key} for one in items}

    share, count = chosen(rng), 0
    for document in predicted:
        if rng.random() < share:
            for container, name in places(document, corpus.entries):
                container[name], count = keyed(container[name]), count + 1
    yield f"{key} as key", (corpus.entries,), count


def subobjects(corpus):
    """The paths of objects in objects, and the path of the object around each."""
    found = defaultdict(set)
    for path in corpus.roles:
        names = tokens(path.removesuffix("/*"))
        if len(names) > 1 and names[-2] != "*":
            found["/" + "/".join(names[:-1])].add(names[-1])
    return found


@planter("promoted")
def promote_fields(rng, corpus, predicted, taken):
    """A field, or all fields, of an object in an object are written beside it."""
    options = [(above, keys) for above, keys in subobjects(corpus).items() if free(above, taken)]
    rng.shuffle(options)
    for above, keys in options:
        moved = sorted(keys) if rng.random() < 0.5 else rng.sample(sorted(keys), 1)
        outer = above.rsplit("/", 1)[0]
        count, share = 0, chosen(rng)
        for found in objects_at(predicted, above):
            for one in found if rng.random() < share else ():
                inner = one[tokens(above)[-1]]
                if not isinstance(inner, dict) or any(key in one for key in moved):
                    continue
                for key in moved:
                    if key in inner:
                        one[key], count = inner.pop(key), count + 1
                if not inner:
                    del one[tokens(above)[-1]]
        paths = [f"{above}/{key}" for key in moved] + [f"{outer}/{key}" for key in moved]
        yield "fields, one level out", (*paths, *([above] if len(moved) > 1 else [])), count


@planter("demoted")
def demote_fields(rng, corpus, predicted, taken):
    """A field is written into an object beside it, or into a new one."""
    inners = [path for path in subobjects(corpus) if "*" in path or corpus.entries is None]
    options = [path for path in key_paths(corpus) if free(path, taken) and (path.count("*") or corpus.entries is None)]
    rng.shuffle(options)
    for path in options:
        above, key = path.rsplit("/", 1)
        beside = [inner for inner in inners if inner.rsplit("/", 1)[0] == above and free(inner, taken)]
        name = tokens(beside[0])[-1] if beside else rng.choice(("details", "metadata", "info"))
        count, share = 0, chosen(rng)
        for found in objects_at(predicted, path):
            for one in found if rng.random() < share else ():
                inner = one.get(name, {})
                if isinstance(inner, dict) and key not in inner and one[key] is not None:
                    one[name], count = inner | {key: one.pop(key)}, count + 1
        yield f"into {name}", (path, f"{above}/{name}/{key}"), count


@planter("promoted")
def promote_items(rng, corpus, predicted, taken):
    """Items of an inner list are items of the outer list."""
    yield from levels(rng, corpus, predicted, taken, promoted=True)


@planter("demoted")
def demote_items(rng, corpus, predicted, taken):
    """Items of the outer list are items of the inner list of the one before."""
    yield from levels(rng, corpus, predicted, taken, promoted=False)


@planter("promoted")
def write_rows(rng, corpus, predicted, taken):
    """Each entry is repeated for each item of its inner list."""
    if corpus.nested is None or not free(corpus.entries, taken):
        return
    key, share, count = tokens(corpus.nested)[-1], chosen(rng), 0
    for container, name in lists_of_entries(predicted, corpus, 1):
        rows = []
        for entry in container[name] if rng.random() < share else ():
            outer = {field: value for field, value in entry.items() if field != key}
            inner = entry.get(key)
            if not isinstance(inner, list) or not all(
                isinstance(one, dict) and not outer.keys() & one for one in inner
            ):
                return
            rows += [copy.deepcopy(outer) | one for one in inner] or [outer]
            count += len(inner)
        container[name] = rows or container[name]
    yield "a row for each item of the inner list", (corpus.entries,), count


def levels(rng, corpus, predicted, taken, *, promoted):
    if corpus.name != "contents" or not free(corpus.entries, taken):
        return
    share, count = chosen(rng), 0
    for document in predicted:
        chapters = []
        for chapter in document["chapters"]:
            if promoted:
                kept = [one for one in chapter["sections"] if rng.random() >= share]
                out = [one for one in chapter["sections"] if one not in kept]
                chapters += [{**chapter, "sections": kept}, *out]
                count += len(out)
            elif chapters and rng.random() < share / 2:
                inner = {key: value for key, value in chapter.items() if key != "sections"}
                chapters[-1]["sections"] += [inner, *chapter["sections"]]
                count += 1
            else:
                chapters.append(chapter)
        document["chapters"] = chapters
    yield "items of the inner list", (corpus.entries, corpus.nested), count


def lists_of_values(corpus):
    return [path.removesuffix("/*") for path in corpus.roles if path.endswith("/*")]


@planter("list-or-value")
def list_or_value(rng, corpus, predicted, taken):
    """A value is a list of one, or a list of one is a value."""
    lists = lists_of_values(corpus)
    options = [
        path
        for path in key_paths(corpus)
        if free(path, taken) and "list-or-value" not in corpus.blind.get(f"{path}/*", ())
    ]
    rng.shuffle(options)
    for path in options:
        share, count = chosen(rng), 0
        for document in predicted:
            for container, key in places(document, path):
                value = at(container, key)
                if path in lists and isinstance(value, list) and len(value) == 1 and rng.random() < share:
                    container[key], count = value[0], count + 1
                elif (
                    path not in lists
                    and value is not None
                    and not isinstance(value, list | dict)
                    and rng.random() < share
                ):
                    container[key], count = [value], count + 1
        yield "value for list of one" if path in lists else "list of one", (path,), count


@planter("serialised-list")
def serialise(rng, corpus, predicted, taken):
    """A list is one text."""
    options = [
        path
        for path in lists_of_values(corpus)
        if free(path, taken) and "serialised-list" not in corpus.blind.get(f"{path}/*", ())
    ]
    rng.shuffle(options)
    variant, write = rng.choice((
        ("comma", lambda items: ", ".join(map(str, items))), ("semicolon", lambda items: "; ".join(map(str, items))),
        ("JSON", lambda items: json.dumps(items, ensure_ascii=False)), ("hyphen", lambda items: "-".join(map(str, items))),
        ("and", lambda items: " and ".join(map(str, items))),
    ))  # fmt: skip
    for path in options:
        if variant in {"hyphen", "comma", "and"} and corpus.roles[f"{path}/*"] == "text":
            write, variant = (lambda items: "; ".join(map(str, items))), "semicolon"
        share, count = chosen(rng), 0
        for document in predicted:
            for container, key in places(document, path):
                value = at(container, key)
                if isinstance(value, list) and len(value) > 1 and rng.random() < share:
                    container[key], count = write(value), count + 1
        yield variant, (path,), count


def pairs_of_fields(corpus, taken, roles):
    """Pairs of fields of the same object with the same role, or roles of one group."""
    paths = [path for path in corpus.roles if not path.endswith("/*") and free(path, taken)]
    return [
        (first, second)
        for first in paths
        for second in paths
        if first != second and first.rsplit("/", 1)[0] == second.rsplit("/", 1)[0]
        and any({corpus.roles[first], corpus.roles[second]} <= group for group in roles)
    ]  # fmt: skip


ALIKE = (
    {"person"},
    {"text", "journal", "place"},
    {"date"},
    {"integer", "id"},
    {"amount", "quantity"},
    {"surname", "forename"},
    {"noun", "place"},
)
"""Roles of fields that are confused with each other."""


@planter("columns-swapped")
def swap_columns(rng, corpus, predicted, taken):
    """Two fields of the same objects are exchanged."""
    pairs = [(a, b) for a, b in pairs_of_fields(corpus, taken, ALIKE) if not {a, b} & set(corpus.empty)]
    rng.shuffle(pairs)
    for first, second in pairs:
        share, count = chosen(rng), 0
        one, other = tokens(first)[-1], tokens(second)[-1]
        for found in objects_at(predicted, first):
            for row in found if rng.random() < share else ():
                if other in row and row[one] != row[other]:
                    row[one], row[other], count = row[other], row[one], count + 1
        yield f"{one} and {other}", (first, second), count


@planter("other-field")
def write_into_other_field(rng, corpus, predicted, taken):
    """A value is in another field, and its own is null; the other field is mostly null in gold."""
    pairs = [(a, b) for a in corpus.roles for b in corpus.empty
             if a != b and a not in corpus.empty and not a.endswith("/*") and a.rsplit("/", 1)[0] == b.rsplit("/", 1)[0]
             and free(a, taken) and free(b, taken) and corpus.roles[a] in {"text", "person", "place", "journal"}]  # fmt: skip
    rng.shuffle(pairs)
    for first, second in pairs:
        share, count = chosen(rng), 0
        one, other = tokens(first)[-1], tokens(second)[-1]
        for found in objects_at(predicted, first):
            for row in found:
                if row[one] is not None and row.get(other) is None and rng.random() < share:
                    row[other], row[one], count = row[one], None, count + 1
        yield f"{one} in {other}", (first, second), count


def lists_of_entries(predicted, corpus, least):
    """The container and key of every list of entries with at least so many items; the whole document without a path."""
    for number, document in enumerate(predicted):
        found = [(predicted, number)] if corpus.entries == "" else places(document, corpus.entries)
        for container, key in found:
            if isinstance(at(container, key), list) and len(container[key]) >= least:
                yield container, key


@planter("column-shifted")
def shift_column(rng, corpus, predicted, taken):
    """A field has the value of the row before, or after."""
    if corpus.entries is None:
        return
    top = f"{corpus.entries}/*/"
    paths = [path for path in corpus.roles if path.startswith(top) and "*" not in path[len(top) :] and free(path, taken)
             and path not in corpus.empty and corpus.roles[path] not in {"flag", "label"}]  # fmt: skip
    for path in rng.sample(paths, len(paths)):
        share, count, step = chosen(rng), 0, rng.choice((1, -1))
        for container, key in lists_of_entries(predicted, corpus, 3):
            if rng.random() >= share:
                continue
            rows = [
                (row, name)
                for row, name in places({"rows": container[key]}, f"/rows/*/{path[len(top) :]}")
                if name in row
            ]
            old = [row[name] for row, name in rows]
            for number, (row, name) in enumerate(rows):
                row[name] = old[number - step] if 0 <= number - step < len(old) else None
                count += 1
        yield "row before" if step == 1 else "row after", (path,), count


@planter("ditto")
def write_ditto(rng, corpus, predicted, taken):
    """A ditto mark, or null, is where the value is that of the row before."""
    if corpus.entries is None:
        return
    top = f"{corpus.entries}/*/"
    paths = [path for path in corpus.of_role("label", "place", "date", "noun", "person") if path.startswith(top)
             and "*" not in path[len(top) :] and free(path, taken) and path not in corpus.empty]  # fmt: skip
    for path in rng.sample(paths, len(paths)):
        mark, share, count = rng.choice(('"', "〃", "id.", "Do.", "idem", None)), chosen(rng), 0
        repeated = []
        for container, key in lists_of_entries(predicted, corpus, 2):
            rows = places({"rows": container[key]}, f"/rows/*/{path[len(top) :]}")
            rows = [(row, name) for row, name in rows if name in row]
            repeated += [last for first, last in pairwise(rows) if at(*first) == at(*last) is not None]
        values = Counter(at(*one) for one in repeated)
        if max(values.values(), default=1) > 0.6 * values.total():  # the mark would be another name of this value
            continue
        for row, name in repeated:
            if rng.random() < share:
                row[name], count = mark, count + 1
        yield json.dumps(mark), (path,), count


@planter("ids-offset")
def offset_ids(rng, corpus, predicted, taken):
    """Numbers differ from gold by a constant."""
    paths = [path for path in corpus.of_role("id", "integer") if free(path, taken)]
    paths = [path for path in paths if "number-format" not in corpus.blind.get(path, ()) or corpus.name == "Senate"]
    for path in rng.sample(paths, len(paths)):
        offset = rng.choice((1, -1, 2, 10, 100))
        share, count = chosen(rng), 0
        for document in predicted:
            for container, key in places(document, path):
                value = at(container, key)
                if isinstance(value, int) and not isinstance(value, bool) and rng.random() < share:
                    container[key], count = value + offset, count + 1
        yield f"{offset:+}", (path,), count


@planter("duplicated")
def duplicate(rng, corpus, predicted, taken):
    """Entries are repeated: each after itself, or all of them at the end."""
    if corpus.entries is None or not free(corpus.entries, taken):
        return
    whole, share, count = rng.random() < 0.5, rng.uniform(0.3, 0.6), 0
    for container, key in lists_of_entries(predicted, corpus, 1):
        items, copies = container[key], []
        if whole:
            copies = [*items, *(copy.deepcopy(items) if rng.random() < share else [])]
        else:
            for item in items:
                copies += [item, *([copy.deepcopy(item)] if rng.random() < share else [])]
        container[key], count = copies, count + len(copies) - len(items)
    yield ("the whole list" if whole else "each after itself"), (corpus.entries,), count


@planter("truncated")
def truncate(rng, corpus, predicted, taken):
    """The last entries are missing."""
    if corpus.entries is None or not free(corpus.entries, taken):
        return
    share, count = chosen(rng), 0
    for container, key in lists_of_entries(predicted, corpus, 4):
        if rng.random() < share:
            kept = max(1, int(len(container[key]) * rng.uniform(0.4, 0.75)))
            count += len(container[key]) - kept
            container[key] = container[key][:kept]
    yield "the last quarter to half", (corpus.entries,), count


# Single faults that look alike.


@planter("moved-object")
def move_objects(rng, corpus, predicted, taken):
    """Objects are in the next entry."""
    if corpus.nested is None or not free(corpus.nested, taken):
        return
    inner, count = tokens(corpus.nested)[-1], 0
    for container, key in lists_of_entries(predicted, corpus, 2):
        entries = container[key]
        for first, second in pairwise(entries):
            if (
                first.get(inner)
                and isinstance(second.get(inner), list)
                and isinstance(first[inner], list)
                and rng.random() < 0.25
            ):
                second[inner].insert(0, first[inner].pop())
                count += 1
    yield "to the next entry", (corpus.nested,), count


@planter("moved-value")
def move_values(rng, corpus, predicted, taken):
    """The values of a field are exchanged between neighbouring entries."""
    if corpus.entries is None:
        return
    top = f"{corpus.entries}/*/"
    paths = [path for path in corpus.of_role("text", "person", "place", "date", "amount")
             if path.startswith(top) and "*" not in path[len(top) :] and free(path, taken) and path not in corpus.empty]  # fmt: skip
    if not paths:
        return
    path, count = rng.choice(paths), 0
    for container, key in lists_of_entries(predicted, corpus, 2):
        rows = [
            (row, name) for row, name in places({"rows": container[key]}, f"/rows/*/{path[len(top) :]}") if name in row
        ]
        for (first, name), (second, _) in list(pairwise(rows))[::2]:
            if first[name] != second[name] and rng.random() < 0.35:
                first[name], second[name], count = second[name], first[name], count + 1
    yield "exchanged with the next entry", (path,), count


def text_keys(corpus):
    """The keys of the first text of an entry, and of the first person; empty if it has neither."""
    top = f"{corpus.entries}/*/"
    for roles in (("text",), ("person", "surname")):
        found = [
            path[len(top) :] for path in corpus.of_role(*roles) if path.startswith(top) and path not in corpus.empty
        ]
        yield from [key for key in found if "/" not in key][:1]


@planter("split")
def split(rng, corpus, predicted, taken):
    """Entries are two entries, each with a part of every list; the other values are in both."""
    count = 0
    if corpus.entries is None or not free(corpus.entries, taken):
        return
    for container, name in lists_of_entries(predicted, corpus, 1):
        items = []
        for item in container[name]:
            lists = {key: value for key, value in item.items() if isinstance(value, list)}
            if any(len(value) > 1 for value in lists.values()) and rng.random() < 0.3:
                cuts = {key: (len(value) + 1) // 2 for key, value in lists.items()}
                items.append(item | {key: value[: cuts[key]] for key, value in lists.items()})
                items.append(copy.deepcopy(item) | {key: value[cuts[key] :] for key, value in lists.items()})
                count += 1
            else:
                items.append(item)
        container[name] = items
    yield "by the lists", (corpus.entries,), count


@planter("merged")
def merge(rng, corpus, predicted, taken):
    """Two entries are one, with the items of both lists and the texts and names of both; other values are lost."""
    count = 0
    if corpus.entries is None or not free(corpus.entries, taken):
        return
    joined = list(text_keys(corpus))
    for container, name in lists_of_entries(predicted, corpus, 2):
        items = []
        for item in container[name]:
            lists = [key for key, value in item.items() if isinstance(value, list)]
            if items and lists and all(isinstance(items[-1].get(key), list) for key in lists) and rng.random() < 0.2:
                whole = items[-1] | {key: items[-1][key] + item[key] for key in lists}
                items[-1] = whole | {
                    key: f"{whole[key]}; {item[key]}" for key in joined if whole.get(key) and item.get(key)
                }
                count += 1
            else:
                items.append(item)
        container[name] = items
    yield "with the entry before", (corpus.entries,), count


@planter("unrelated")
def replace(rng, corpus, predicted, taken):
    """Values are other values of the same path."""
    paths = [
        path for path in corpus.of_role("text", "person", "place") if free(path, taken) and path not in corpus.empty
    ]
    path, count = rng.choice(paths), 0
    known = [value for document in corpus.gold for value in values_at(document, path) if value]
    for document in predicted:
        for container, key in places(document, path):
            if at(container, key) is not None and rng.random() < 0.3:
                container[key], count = rng.choice(known), count + 1
    yield "value of another entry", (path,), count


@planter("omission")
def omit(rng, corpus, predicted, taken):
    """Values are missing at random."""
    paths = [path for path in key_paths(corpus) if free(path, taken) and path not in corpus.empty]
    path, count = rng.choice(paths), 0
    for found in objects_at(predicted, path):
        for one in found:
            if rng.random() < 0.3:
                del one[tokens(path)[-1]]
                count += 1
    yield "field left out", (path,), count


@planter("hallucination")
def hallucinate(rng, corpus, predicted, taken):
    """Values stand where gold has none."""
    paths = [path for path in corpus.empty if free(path, taken) and corpus.roles.get(path) in {"text", "person"}]
    if not paths:
        return
    path, count = rng.choice(paths), 0
    known = [value for document in corpus.gold for value in values_at(document, path) if value]
    for document in predicted:
        for container, key in places(document, path):
            if at(container, key) is None and rng.random() < 0.4:
                container[key], count = rng.choice(known), count + 1
    yield "value of another entry", (path,), count
