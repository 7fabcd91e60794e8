"""The compiled plan: everything about a schema that a comparison needs, and the canonical form of its sites."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import ArbitreError, DataError
from arbitre.normalizers import normalize
from arbitre.paths import wildcard
from arbitre.schema.loading.annotations import Overlay, merged_overlay
from arbitre.schema.nodes import Identity, leaves_of
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.catalogue import Catalogue
    from arbitre.paths import Path
    from arbitre.schema.certificate import Certificate
    from arbitre.schema.describe import ResolvedPath
    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.schema.nodes import Leaf, ObjectNode, PlanFacts, Reference, Site
    from arbitre.signature import Signature
    from arbitre.values import Json


_NAMES: Final = {Kind.OBJECT: "an object", Kind.ARRAY: "a list"}


class DocumentKeys(NamedTuple):
    """Keys of which every document has at least one.

    Attributes:
        names: The keys; empty if the schema allows an object without any of them.
        lists: Whether a document may also be a list.
        of_values: Whether the values of a document have the keys, because the document is a map.
    """

    names: frozenset[str]
    lists: bool = False
    of_values: bool = False


def _closed_keys(node: ObjectNode) -> frozenset[str]:
    """Return the keys that an object declares or names as aliases; none if it allows any other object."""
    if node.patterns or node.declared_map or not all(branch.names for branch in node.branches):
        return frozenset()
    sources = (source for alias in node.aliases for source in alias.sources)
    return frozenset(field.name for field in node.fields) | {str(source[0]) for source in sources if source}


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """A compiled schema.

    Attributes:
        sites: The table of sites; the first is the root.
        entries: Wildcard path of the list of entries; () if the root is the entries.
        signature: The options that can change a score.
        close: Minimum quality of a value that counts as close.
        root: The root of the schema.
        rows: The resolved options, one row per path.
        certificate: Whether the distance between documents is a metric.
        facts: Properties that allow a faster computation with the same result.
        expected: The kinds of documents that the schema is written for; None for any.
        max_calls: Maximum number of calls to a custom distance per document; None for no limit.
        format_assertion: Whether validation checks `format`.
        inputs: Files that the plan was compiled from: schemas, overlay, authority files and modules of functions.
        overlay: The settings of the overlay by path, as they would be in a file elsewhere.
        notes: What the schema contains that has no effect, and patterns that are not regular expressions.
        corpus_scopes: Scopes whose ids all documents of a corpus share.
        corpus_ids: The gold id of each predicted id of these scopes; None if they were not found yet, so that each
            document is compared alone.
        compile_with: Compiles the schema again with the settings of another overlay in addition; see `with_overlay`.
            It is pickled only if all catalogues are built in (see `compiles_anywhere`).
        custom: The catalogues with custom entries, by the parameter of `compile_plan`. They are not pickled.
    """

    sites: tuple[Site, ...]
    entries: Path
    signature: Signature
    close: float
    root: Subschema
    rows: tuple[ResolvedPath, ...]
    certificate: Certificate
    facts: PlanFacts
    expected: frozenset[Kind] | None = None
    max_calls: int | None = None
    format_assertion: bool = False
    inputs: tuple[str, ...] = ()
    overlay: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    corpus_scopes: frozenset[str] = frozenset()
    corpus_ids: Mapping[tuple[str, Any], Any] | None = None
    compile_with: Callable[[Mapping[str, Json]], Plan] | None = None
    custom: Mapping[str, Catalogue[Any]] | None = None

    def __getstate__(self) -> list[Any]:
        """Return the fields, without the compiler if its catalogues cannot be pickled."""
        left_out = () if self.compiles_anywhere else ("compile_with", "custom")
        return [None if one.name in left_out else getattr(self, one.name) for one in fields(self)]

    def __setstate__(self, state: list[Any]) -> None:
        for one, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, one.name, value)

    @property
    def compiles_anywhere(self) -> bool:
        """Whether `with_overlay` also works after unpickling. False with custom catalogues, or without a compiler."""
        return self.compile_with is not None and not self.custom

    @property
    def has_custom_distances(self) -> bool:
        """Whether a value may be compared by a custom distance."""
        leaves = (leaf for site in self.sites for leaf in leaves_of(site, frozenset(Kind)))
        return any(leaf.distance.custom for leaf in leaves)

    def with_compared_ids(self) -> Plan:
        """Return the plan in which the values of ids are compared too; the same plan if there are none.

        Raises:
            ArbitreError: The plan has custom functions and was unpickled.
        """
        from arbitre.schema.describe import walk  # noqa: PLC0415  (describes plans)

        ids = [
            wildcard((*step.path, name))
            for step in walk(self.sites)
            for name in getattr(self.sites[step.site].identity, "key", ())
            if step.repeats is None and name in self.sites[step.site].object.ignored
        ]
        return self.with_overlay({path: {"compare": True, "distance": "exact"} for path in ids}) if ids else self

    @property
    def has_judges(self) -> bool:
        """Whether a value may be compared by a judge."""
        return self.facts.judged

    def with_overlay(self, overlay: Mapping[str, Json]) -> Plan:
        """Return the plan with further settings by wildcard path, which replace those of the schema and its overlay.

        Raises:
            SchemaError: A setting is invalid, or the schema has no such path.
            ArbitreError: The plan has custom functions and was unpickled.
        """
        changed = self.compiler()(overlay)
        whole = self.overlay_with(overlay)
        return replace(changed, inputs=self.inputs, overlay=whole, corpus_ids=self.corpus_ids)

    def overlay_with(self, settings: Mapping[str, Json]) -> dict[str, Json]:
        """Return the overlay with further settings, which replace its own; see `overlay`.

        Raises:
            SchemaError: A setting is invalid.
        """
        return merged_overlay(self.overlay, Overlay.read(settings).to_dict())

    def compiler(self) -> Callable[[Mapping[str, Json]], Plan]:
        """Return `compile_with`. Raises ArbitreError if it was lost because the plan was unpickled."""
        if self.compile_with is None:
            raise ArbitreError.of(
                "The settings of a schema with custom functions cannot be changed after it was unpickled",
                hint="The search for causes, for example, tries other settings. Create the Comparator in the process "
                "that uses it.",
            )
        return self.compile_with

    @property
    def allows_text(self) -> bool:
        """Whether the schema names text as a kind of document."""
        return self.expected is not None and Kind.STRING in self.expected

    @property
    def allows_null(self) -> bool:
        """Whether null is a valid document: the schema lists it as a type, or allows any document."""
        return self.expected is None or Kind.NULL in self.expected

    @property
    def field_kinds(self) -> dict[str, frozenset[Kind]]:
        """The kinds that the schema declares for each field of a document, by name and by alias."""
        root = self.sites[0].object
        kinds = {node.name: self.sites[node.site].declared for node in root.fields}
        aliases = {
            source[0]: kinds[alias.target[0]]
            for alias in root.aliases
            for source in alias.sources
            if len(source) == len(alias.target) == 1 and alias.target[0] in kinds
        }
        return aliases | kinds

    @property
    def document_keys(self) -> DocumentKeys:
        """Keys that every document must have one of, to be compared with anything that the schema declares."""
        root = self.sites[0]
        lists = Kind.ARRAY in root.declared
        if not root.object.patterns and not root.object.declared_map:
            return DocumentKeys(_closed_keys(root.object), lists)
        sites = [site for _, site in root.object.patterns] + [root.object.additional] * root.object.declared_map
        values = [self.sites[site] for site in sites]
        closed = [_closed_keys(one.object) if one.declared == {Kind.OBJECT} else frozenset() for one in values]
        if root.object.fields or not all(closed):
            return DocumentKeys(frozenset(), lists)
        return DocumentKeys(frozenset[str]().union(*closed), lists, of_values=True)

    def check_gold(self, gold: Json) -> None:
        """Raise DataError if a gold document is a text, but the schema expects an object or a list."""
        if wanted := self._instead_of_text(gold):
            raise DataError.of(
                f"Expected the gold document to be {wanted}, got a text", hint="Write its JSON, not a string."
            )

    def check_predicted(self, predicted: Json) -> None:
        """Raise DataError if a prediction is a text, but the schema expects an object or a list."""
        if wanted := self._instead_of_text(predicted):
            raise DataError.of(
                f"Expected {wanted}, but the prediction is a text; use --lenient to read the JSON in it",
                hint="Use `arbitre evaluate --lenient` or `arbitre.evaluate(lenient=True)`, or parse it first.",
            )

    def check_pair(self, gold: Json, predicted: Json) -> None:
        """Check both documents of a pair.

        Raises:
            DataError: One of them is a text, but the schema expects an object or a list; or the prediction is null,
                but neither does the schema allow this nor is gold null.
        """
        self.check_gold(gold)
        self.check_predicted(predicted)
        if predicted is None and gold is not None and gold is not ABSENT and not self.allows_null:
            raise DataError.of("Expected a prediction, got null", hint="Omit it if there is none.")

    def _instead_of_text(self, value: Json) -> str | None:
        """Return what the schema expects instead of a text; None if the value is no text, or may be one."""
        wanted = [_NAMES[kind] for kind in sorted(self.expected or ()) if kind in _NAMES]
        if not isinstance(value, str) or not wanted or self.allows_text:
            return None
        root = self.sites[0]
        value = normalize(root.normalizers if root.leaf is None else root.leaf.normalizers, value)
        return " or ".join(wanted) if isinstance(value, str) else None


# The canonical form of a table of sites: each site once, and a digest of everything that can change a score.


def canonical_sites(sites: Sequence[Site], marked: Mapping[int, bool]) -> tuple[list[Site], dict[int, bool], str]:
    """Merge equivalent sites.

    Two tables have the same digest exactly if they compare documents in the same way. The digest does not depend on
    references versus inline subschemas, or on the order of properties. Uses partition refinement (Moore, 1956): sites
    are split by their own options, then repeatedly by the classes of their children, until nothing changes.

    Returns:
        The merged sites, the marks by their new indices, and the digest (16 hexadecimal digits).
    """
    options = [json.dumps(_own_options(site), sort_keys=True) for site in sites]
    below = [_below(site) for site in sites]
    order, numbers = _ordered([(text, marked.get(index)) for index, text in enumerate(options)], below)
    text = json.dumps([[options[index], [numbers[child] for child in below[index]]] for index in order])
    conditions = list(map(_metric_conditions, sites))
    if any(conditions):  # the certificate's assumptions keep sites apart, but do not affect scores
        keys = [(text, marked.get(index), conditions[index]) for index, text in enumerate(options)]
        order, numbers = _ordered(keys, below)
    return (
        [_renumbered(sites[index], numbers) for index in order],
        {numbers[index]: mark for index, mark in marked.items()},
        hashlib.sha256(text.encode()).hexdigest()[:16],
    )


def _ordered(keys: Sequence[Any], below: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return one site per equivalence class, and for every site the position of its class.

    Sites are equivalent if they have equal keys and equivalent children.
    """
    classes, count = _numbers_of(keys)
    while True:
        classes, finer = _numbers_of(
            [(classes[index], *(classes[child] for child in below[index])) for index in range(len(keys))]
        )
        if finer == count:
            break
        count = finer
    order = _reached(classes, below)
    number = {classes[index]: position for position, index in enumerate(order)}
    return order, [number[group] for group in classes]


def _metric_conditions(site: Site) -> tuple[str, ...]:
    """Return the conditions under which the distances of a site are metrics."""
    leaves = (choice.leaf for choices in site.scalars.values() for choice in choices)
    return tuple(leaf.metric_if for leaf in leaves if leaf.metric_if is not None)


def _numbers_of(keys: Sequence[Any]) -> tuple[list[int], int]:
    """Return a number for each key, the same for equal keys, and the number of distinct keys."""
    known: dict[Any, int] = {}
    return [known.setdefault(key, len(known)) for key in keys], len(known)


def _reached(classes: Sequence[int], below: Sequence[Sequence[int]]) -> list[int]:
    """Return one site per class in breadth-first order from the root, which depends on the options only."""
    site_of_class = {classes[0]: 0}
    pending = [0]
    for index in pending:  # grows during iteration
        for child in below[index]:
            if classes[child] not in site_of_class:
                site_of_class[classes[child]] = child
                pending.append(child)
    return list(site_of_class.values())


def _below(site: Site) -> list[int]:
    node = site.object
    fields = (child.site for child in sorted(node.fields, key=lambda child: child.name))
    return [*fields, *(child for _, child in node.patterns), node.additional, *site.list.prefix, site.list.items]


def _renumbered(site: Site, numbers: Sequence[int]) -> Site:
    """Return a site that refers to the sites below it by their new numbers."""
    node, listed = site.object, site.list
    return replace(
        site,
        object=replace(
            node,
            fields=tuple(replace(child, site=numbers[child.site]) for child in node.fields),
            patterns=tuple((pattern, numbers[child]) for pattern, child in node.patterns),
            additional=numbers[node.additional],
        ),
        list=replace(listed, items=numbers[listed.items], prefix=tuple(numbers[child] for child in listed.prefix)),
    )


def _own_options(site: Site) -> dict[str, Any]:
    """Return a site's own options as plain JSON."""
    return {
        "absent": site.absent.values,
        "declared": sorted(site.declared),
        "leaf": None if site.leaf is None else _leaf(site.leaf),
        "normalize": list(map(_name_and_options, site.normalizers)),
        "scalars": {
            kind.name: [[_leaf(branch.leaf), _sorted(branch.values), _sorted(branch.tags)] for branch in choices]
            for kind, choices in site.scalars.items()
        },
        "object": _object(site.object),
        "list": [len(site.list.prefix), _name_and_options(site.list.matcher), site.list.tagged],
    } | {
        name: value
        for name, value in (
            ("alternatives", site.alternatives),
            ("id", None if site.identity is None else _identity(site.identity)),
            ("ref", None if site.reference is None else _reference(site.reference)),
        )
        if value is not None
    }


def _identity(identity: Identity) -> list[Any]:
    return [identity.scope, identity.key, [list(map(_name_and_options, own)) for own in identity.normalizers]]


def _reference(reference: Reference) -> list[Any]:
    return [reference.scope, reference.key, reference.graded]


def _object(node: ObjectNode) -> dict[str, Any]:
    """Return the options of an object that can change a score, as plain JSON."""
    return (
        {
            "fields": sorted([child.name, child.weight, child.tagged] for child in node.fields),
            "variants": [
                [
                    sorted(branch.names),
                    sorted([name, _sorted(values)] for name, values in branch.tests),
                    _sorted(branch.tags),
                    branch.absent.values,
                ]
                for branch in node.branches
            ],
            "patterns": [pattern for pattern, _ in node.patterns],
            "map": [node.declared_map, node.tagged],
            "ignored": sorted(node.ignored),
            "aliases": [[alias.target, alias.sources, alias.null] for alias in node.aliases],
        }
        | ({"undeclared": "ignore"} if node.closed else {})
        | _keys(node)
    )


def _keys(node: ObjectNode) -> dict[str, Any]:
    """Return what the keys of a map are, if they are ids or references."""
    if node.keys is None:
        return {}
    return {"keys": _identity(node.keys) if isinstance(node.keys, Identity) else _reference(node.keys)}


def _name_and_options(component: Any) -> list[Any]:  # noqa: ANN401  (a distance, a matcher or a normaliser)
    return [component.name, dict(component.options)]


def _leaf(leaf: Leaf) -> list[Any]:
    return [_name_and_options(leaf.distance), list(map(_name_and_options, leaf.normalizers))]


def _sorted(values: frozenset[Any] | None) -> list[str] | None:
    return None if values is None else sorted(map(repr, values))
