"""Random schemas, documents of a schema, and pairs of documents that resemble each other.

Alphabets are small, so that equal values, duplicates and ties occur. With `ties=False` every item of a list is, or
holds in a field `noise`, a number that resembles no other: then matchings of equal quality are improbable.
Gates and prices are numbers that no quality comes to be by chance.
"""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = ["a", "b", "c", "x/y", "*"]
NOISE = "noise"
POLICIES = [[], [None], [None, ""], [None, [], {}], ["", [], {}], [None, "", [], {}]]
WEIGHTS = [0.5, 2, 3.25]
GATES = [0.3141, 0.7183]
FLOORS = [0.1, 0.5, 2 / 3, 0.92, 1]
SOLVERS = [
    {"solver": "exact"},
    {"solver": "partial", "mass": 0.6},
    {"solver": "partial"},
    {"solver": "dummy", "lambda": 0.2718},
    {"solver": "dummy", "lambda": 0.4142},
    {"solver": "unbalanced", "penalty": "tv", "reg_m": 0.1234},
    {"solver": "unbalanced", "penalty": "tv", "reg_m": 0.5772},
]
"""The transports that are linear programmes."""
SMOOTH = [
    {"solver": "sinkhorn", "epsilon": 0.1},
    {"solver": "unbalanced", "reg_m": 0.4},
]
"""Those that are not."""
MANY = 300
RANDOMS = st.randoms(use_true_random=True)
TEXTS = st.text("abA ", max_size=4)
NUMBERS = st.sampled_from([-1, 0, 1, 2, 0.5, 1.0, 10])
SCALARS = st.none() | st.booleans() | NUMBERS | st.text("ab", max_size=3)
ANYTHING = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("ab"), part, max_size=2),
    max_leaves=4,
)
DISTANCES = {
    "string": ["exact", "levenshtein", "yujian-bo"],
    "number": ["relative", {"absolute": {"scale": 200}}],
    "integer": ["exact", "relative", {"absolute": {"scale": 3}}],
}


def one_in(draw, count):
    """Whether a chance of one in `count` has come; shrinks to no."""
    return draw(st.integers(1, count)) == count


def type_of(schema):
    """The type of a schema beside null; None where it has none."""
    types = schema.get("type")
    return types[0] if isinstance(types, list) else types


@st.composite
def schemas(draw, *, ties=True, depth=3):
    """A schema of an object or a list, at most `depth` containers deep."""
    return _schema(draw, draw(st.sampled_from(["object", "array"])), depth, ties=ties, item=False)


@st.composite
def documents(draw, schema, *, ties=True):
    """A document of a schema, mostly valid: with `ties`, wrong kinds, stray keys, nulls and duplicates come in."""
    return _without_text(_document(draw, schema, None if ties else draw(RANDOMS), item=False))


def _without_text(document):
    """The document, or a list of it if it is a text: where an object or a list is expected, a text is a failure."""
    return [document] if isinstance(document, str) else document


@st.composite
def pairs(draw, schema, *, ties=True):
    """A gold document, and a prediction that is the gold one edited, or now and then another document."""
    gold = draw(documents(schema, ties=ties))
    if one_in(draw, 8):
        return gold, draw(documents(schema, ties=ties))
    return gold, _without_text(_edited(draw, gold, None if ties else draw(RANDOMS)))


@st.composite
def cases(draw, *, ties=True, depth=3):
    """A schema, a gold document, a prediction."""
    schema = draw(schemas(ties=ties, depth=depth))
    return schema, *draw(pairs(schema, ties=ties))


@st.composite
def moved(draw, schema, *, solvers=SOLVERS, ties=True, uniform=False):
    """The schema with mass moved between most of its lists, whose heads and fields may be positions and maps."""
    options = dict(schema.get("x-arbitre", {}))
    if type_of(schema) == "array":
        items = draw(moved(schema["items"], solvers=solvers, ties=ties, uniform=uniform))
        if not one_in(draw, 4):
            others = ["size"] + ([NOISE] if NOISE in items.get("properties", {}) else [])
            masses = ["uniform"] + ([] if uniform else others)
            options["match"] = {"transport": draw(st.sampled_from(solvers)) | {"masses": draw(st.sampled_from(masses))}}
        elif "keyed" in str(options):
            options.pop("match")
        head = {"prefixItems": [items]} if ties and one_in(draw, 4) else {}
        return schema | {"items": items} | head | ({"x-arbitre": options} if options else {})
    if type_of(schema) == "object":
        parts = {
            name: draw(moved(part, solvers=solvers, ties=ties, uniform=uniform))
            for name, part in schema["properties"].items()
        }
        free = [name for name, part in parts.items() if name != NOISE and "weight" not in part.get("x-arbitre", {})]
        rest = {"additionalProperties": parts.pop(draw(st.sampled_from(free)))} if free and one_in(draw, 4) else {}
        return schema | {"properties": parts} | rest
    return schema


@st.composite
def floored(draw, schema):
    """The schema with floors on most of its leaves, and with some of its objects closed to undeclared keys."""
    options = dict(schema.get("x-arbitre", {}))
    if type_of(schema) in DISTANCES and not one_in(draw, 3):
        options["floor"] = draw(st.sampled_from(FLOORS))
    if type_of(schema) == "object" and "additionalProperties" not in schema and one_in(draw, 2):
        options["undeclared"] = draw(st.sampled_from(["count", "ignore"]))
    inner = {"items": draw(floored(schema["items"]))} if "items" in schema else {}
    if "properties" in schema:
        parts = schema["properties"].items()
        inner["properties"] = {name: part if name == NOISE else draw(floored(part)) for name, part in parts}
    return schema | inner | ({"x-arbitre": options} if options else {})


@st.composite
def accepting(draw, schema, *, ties=True):
    """The schema with alternatives at most of its single values, and lists that are matched by quality or position."""
    options = dict(schema.get("x-arbitre", {}))
    if type_of(schema) == "array":
        if any(name in str(options.get("match")) for name in ("set", "keyed")):
            options.pop("match")
        return schema | {"items": draw(accepting(schema["items"], ties=ties)), "x-arbitre": options}
    if type_of(schema) == "object":
        parts = {}
        for name, part in schema["properties"].items():
            parts[name] = part if name == NOISE else draw(accepting(part, ties=ties))
            if name != NOISE and type_of(part) not in ("array", "object") and one_in(draw, 2):
                own = parts[name].get("x-arbitre", {}) | {"alternatives": f"/{name.replace('/', '~1')}2"}
                parts[name] = part | {"x-arbitre": own}
                other = {key: part[key] for key in part if key == "type"}
                parts[f"{name}2"] = draw(st.sampled_from([{"type": "array", "items": other}, other]))
        return schema | {"properties": parts}
    if ties and not one_in(draw, 3):
        return schema | {"x-arbitre": options | {"alternatives": True}}
    return schema


@st.composite
def with_forms(draw, schema, gold):
    """The gold document with lists of forms in place of values."""
    if schema.get("x-arbitre", {}).get("alternatives") is True:
        if one_in(draw, 3) or isinstance(gold, list):
            return gold
        same = documents(schema) if type_of(schema) else SCALARS
        return draw(st.permutations([gold, *draw(st.lists(same | SCALARS, max_size=3))]))
    if isinstance(gold, dict) and type_of(schema) == "object":
        return {
            name: draw(with_forms(schema["properties"][name], part)) if name in schema["properties"] else part
            for name, part in gold.items()
        }
    if isinstance(gold, list) and type_of(schema) == "array":
        return [draw(with_forms(schema["items"], item)) for item in gold]
    return gold


@st.composite
def alternatives(draw, *, ties=True, depth=3):
    """A schema with alternatives, a gold document with several forms of its values, a prediction."""
    schema = draw(accepting(draw(schemas(ties=ties, depth=depth)), ties=ties))
    gold, predicted = draw(pairs(schema, ties=ties))
    return schema, draw(with_forms(schema, gold)), predicted


def leaf_count(value):
    """The number of scalars in a value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 1 if inside is None else sum(map(leaf_count, inside))


@st.composite
def transports(draw, *, solvers=SOLVERS, ties=True, depth=3, uniform=False):
    """A schema with mass moved between lists, a gold document, a prediction; few enough items to solve by the book."""
    schema, gold, predicted = draw(
        cases(ties=ties, depth=depth).filter(lambda case: leaf_count(case[1]) * leaf_count(case[2]) <= MANY)
    )
    return draw(moved(schema, solvers=solvers, ties=ties, uniform=uniform)), gold, predicted


def _schema(draw, name, depth, *, ties, item):
    options = {"absent": draw(st.sampled_from(POLICIES))} if one_in(draw, 5) else {}
    schema = {} if name is None else {"type": [name, "null"] if one_in(draw, 4) else name}
    if name == "object":
        names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
        parts = {key: _part(draw, depth - 1, ties=ties, item=False) for key in names}
        for part in parts.values():
            if one_in(draw, 3):
                part["x-arbitre"] = part.get("x-arbitre", {}) | {"weight": draw(st.sampled_from(WEIGHTS))}
        schema["properties"] = parts | ({NOISE: {"type": "number"}} if item and not ties else {})
    elif name == "array":
        schema["items"] = _part(draw, depth - 1, ties=ties, item=True)
        if not one_in(draw, 3):
            options["match"] = _match(draw, schema["items"])
    elif name in DISTANCES:
        if one_in(draw, 2):
            options["distance"] = draw(st.sampled_from(DISTANCES[name]))
        if name == "string" and one_in(draw, 3):
            options["normalize"] = draw(st.sampled_from([["strip"], ["lower"], ["strip", "lower"]]))
    return schema | ({"x-arbitre": options} if options else {})


def _part(draw, depth, *, ties, item):
    leaves = ["number"] if item and not ties else ["string", "number", "integer", "boolean", None]
    names = leaves + (["object", "array"] * 2 if depth > 0 else [])
    return _schema(draw, draw(st.sampled_from(names)), depth, ties=ties, item=item)


def _match(draw, items):
    gate = {"gate": draw(st.sampled_from(GATES))}
    names = ["hungarian", {"hungarian": gate}, "greedy", {"greedy": gate}, "ordered", "sequence"]
    inner = items.get("properties", {})
    keys = [name for name, part in inner.items() if type_of(part) in {"string", "integer", "boolean"}]
    if keys:
        names += [{"keyed": {"key": keys[0]}}, {"keyed": {"key": keys}}] * 4
    if type_of(items) != "array" and not any(type_of(part) in {"object", "array"} for part in inner.values()):
        names.append("set")
    return draw(st.sampled_from(names))


def _document(draw, schema, noise, *, item):
    name = type_of(schema)
    if noise is None and (name is None or one_in(draw, 15)):
        return draw(ANYTHING)
    if isinstance(schema.get("type"), list) and not (item and noise) and one_in(draw, 5):
        return None
    if name == "object":
        parts = schema["properties"].items()
        value = {
            key: _document(draw, part, noise, item=False) for key, part in parts if key == NOISE or not one_in(draw, 6)
        }
        return value | ({"extra": draw(SCALARS if noise else ANYTHING)} if one_in(draw, 8) else {})
    if name == "array":
        count = draw(st.integers(1 if noise else 0, 5))
        value = [_document(draw, schema["items"], noise, item=True) for _ in range(count)]
        return value + (value[:1] if noise is None and one_in(draw, 4) else [])
    if name == "number" and noise:
        return noise.uniform(1, 100)
    return draw(
        {"string": TEXTS, "number": NUMBERS, "integer": st.integers(-1, 3), "boolean": st.booleans()}.get(name, SCALARS)
    )


def _edited(draw, value, noise):
    if isinstance(value, dict):
        parts = {key: _edited(draw, part, noise) for key, part in value.items() if key == NOISE or not one_in(draw, 8)}
        return parts | ({"stray": draw(SCALARS if noise else ANYTHING)} if one_in(draw, 12) else {})
    if isinstance(value, list):
        items = [_edited(draw, item, noise) for item in value if not one_in(draw, 6)]
        if value and one_in(draw, 5):
            items.append(_edited(draw, draw(st.sampled_from(value)), noise))
        if one_in(draw, 3):
            items = draw(st.permutations(items))
        return _swapped(draw, items) if one_in(draw, 4) else items
    if noise and isinstance(value, float):
        return value * noise.uniform(0.8, 1.25)
    if not one_in(draw, 2):
        return value
    if isinstance(value, str):
        return draw(TEXTS)
    return draw(NUMBERS if isinstance(value, (int, float)) and not isinstance(value, bool) else SCALARS)


def _swapped(draw, items):
    """The items, two of them with the values of one field exchanged."""
    records = [index for index, item in enumerate(items) if isinstance(item, dict)]
    if len(records) < 2:
        return items
    i, j = draw(st.permutations(records))[:2]
    shared = sorted(items[i].keys() & items[j].keys())
    if not shared:
        return items
    name = draw(st.sampled_from(shared))
    exchanged = {i: items[i] | {name: items[j][name]}, j: items[j] | {name: items[i][name]}}
    return [exchanged.get(index, item) for index, item in enumerate(items)]
