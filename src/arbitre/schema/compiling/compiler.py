"""Compilation of a schema to a table of sites: resolves references, keywords, names and weights."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from math import log
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import Problem, SchemaError
from arbitre.matching.transport_options import MassScheme
from arbitre.normalizers import NFC, nfc, normalize
from arbitre.paths import STAR, unescape
from arbitre.schema.compiling.annotation_checks import Branches, sibling_keys, with_alternatives, without_list_of_forms
from arbitre.schema.compiling.branches import MAX_BRANCHES, Branch, Expander, Subschemas
from arbitre.schema.compiling.leaves import LeafBuilder, Tags
from arbitre.schema.loading.annotations import FIELD_KEYS, Annotation, Annotations
from arbitre.schema.nodes import (
    Alias,
    FieldNode,
    Identity,
    Leaf,
    ListNode,
    ObjectBranch,
    ObjectNode,
    Reference,
    ScalarBranch,
    Site,
    pattern_error,
    with_ancestors,
)
from arbitre.values import Absence, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.catalogue import Catalogue
    from arbitre.distances.base import Distance
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.schema.compiling.leaves import TaggedBranch
    from arbitre.schema.loading.annotations import Overlay
    from arbitre.schema.loading.load_schema import Subschema


TaggedSubschemas = tuple[Tags, Subschemas]
"""Subschemas of a value, and the branches of the enclosing object under which they apply."""

IndexedBranch = tuple[frozenset[int], Branch]
"""A branch of an object schema, and a set that contains only its index."""

MAX_POSITIONS: Final = 20_000
"""Maximum number of positions in a schema."""

MAX_COMBINED: Final = 2_000
"""Maximum number of subschemas that are combined at the positions of a schema, plus 20 for each of its subschemas.

Every set of definitions that apply to one value is a position of its own; n definitions have 2^n sets.
"""

EXTREME: Final = 1e12
"""Maximum ratio of two weights in an object. Smaller shares of the object would be lost to rounding."""

_ANYTHING: Final[list[TaggedSubschemas]] = [(None, ())]


@dataclass(slots=True)
class _Request:
    index: int
    tagged_subschemas: tuple[TaggedSubschemas, ...]
    absent: Absence
    overlay: Overlay | None
    reference: Reference | None
    """What the list around the position refers to; None if it is no list of references."""


@dataclass(slots=True)
class Compiler:
    """Builds the table of sites, one for each distinct position. The first site is the root.

    Attributes:
        distances: The distances that a schema may name.
        matchers: The matchers that a schema may name.
        normalizers: The normalisers that a schema may name.
        problems: The errors in the schema.
        marked: The value of `entries`, by site index.
        aliases: The `aliases` annotation, by site index of the object and name of the field.
        masses: For each list that is matched with a mass field: the site index of its items, the tokens of the field's
            path in an item, and the `match` annotation.
        expected: The kinds of documents that the root is written for; None for any.
        corpus_scopes: The scopes whose ids all documents of a corpus share.
    """

    distances: Catalogue[Distance]
    matchers: Catalogue[Matcher]
    normalizers: Catalogue[Normalizer]
    problems: list[Problem] = field(default_factory=list)
    marked: dict[int, bool] = field(default_factory=dict)
    aliases: dict[tuple[int, str], Annotation] = field(default_factory=dict)
    masses: list[tuple[int, tuple[str, ...], Annotation]] = field(default_factory=list)
    expected: frozenset[Kind] | None = None
    corpus_scopes: frozenset[str] = frozenset()
    _expander: Expander = field(init=False)
    _leaves: LeafBuilder = field(init=False)
    _known: dict[object, int] = field(default_factory=dict)
    _queue: deque[_Request] = field(default_factory=deque)
    _combined: int = 0
    """Number of subschemas combined so far, see `MAX_COMBINED`."""
    _root_mark: Annotation | None = None
    """The `entries` of a root that is not a list; ignored where a recursive schema refers back to the root."""

    def __post_init__(self) -> None:
        self._expander = Expander(self.problems)
        self._leaves = LeafBuilder(self.distances, self.normalizers, self.problems)

    def compile(self, root: Subschema, overlay: Overlay | None) -> list[Site]:
        """Build the table of sites and add errors to `problems`.

        Raises:
            SchemaError: The schema has too many positions, or its definitions apply together in too many combinations.
        """
        sites: list[Site] = []
        self.problems += self._stray_field_keys([(None, ((root,),))], "the root of the schema", overlay)
        self._request(self._merge_equal([(None, ((root,),))]), Absence(), overlay)
        while self._queue:
            if len(sites) == MAX_POSITIONS:
                raise SchemaError(root.problem(f"Expected a schema of at most {MAX_POSITIONS} positions, got more"))
            sites.append(self._site(self._queue.popleft()))
        return sites

    def _request(
        self,
        tagged_subschemas: Sequence[TaggedSubschemas],
        absent: Absence,
        overlay: Overlay | None,
        reference: Reference | None = None,
    ) -> int:
        """Return the index of a position's site; queue the site to be built if it is new."""
        key = (tuple(tagged_subschemas), absent, None if overlay is None else id(overlay), reference)
        if key not in self._known:
            self._known[key] = len(self._known)
            self._queue.append(_Request(self._known[key], key[0], absent, overlay, reference))
        return self._known[key]

    def _site(self, request: _Request) -> Site:
        overlay = request.overlay
        branches = [
            (tag, branch)
            for tag, subschemas in request.tagged_subschemas
            for branch in self._expander.branches(subschemas)
        ]
        if overlay is not None:
            overlay.used = True
            laid = overlay.settings
            branches = [(tag, replace(branch, settings=branch.settings | laid)) for tag, branch in branches]
        if len(branches) > MAX_BRANCHES:
            subschema = next(
                subschema
                for _, subschemas in request.tagged_subschemas
                for members in subschemas
                for subschema in members
            )
            self.problems.append(subschema.problem(f"Expected at most {MAX_BRANCHES} branches for one value, got more"))
            branches = branches[:1]
        branches = self._leaves.with_decimals(branches)
        root = request.index == 0
        if not root:
            branches = [(tag, self._without_root_mark(branch)) for tag, branch in branches]
        position = Branches.of([branch for _, branch in branches], root=root)
        if position.alternatives is True:  # a declared array is the list of forms
            branches = [
                (tag, branch) for tag, one in branches for branch in without_list_of_forms([one]) if branch.possible
            ]
        self.problems.extend(position.problems())
        self.expected = position.expected if root else self.expected
        common, absent = position.common, request.absent
        if "absent" in common:
            absent = Absence.of(nfc(common["absent"].value))
        self._set_corpus_scopes(position, root=root)
        entries = position.setting("entries")
        if entries is not None:
            self.marked[request.index] = entries.value
            self._root_mark = entries if root and Kind.ARRAY not in position.declared else self._root_mark
        leaf = self._leaves.leaf_of_any_kind(common, position.branches) if position.is_leaf else None
        identity, keys, reference = self._graph_settings(position, branches, request)
        if reference is not None and reference.key:
            leaf = Leaf(self._leaves.exact.distance, self._leaves.normalizers_at(common, position.branches))
        if leaf is not None:
            branches, common, overlay = [(None, Branch())], {}, None
        normalizers = self._leaves.normalizers_at(common, (branch for _, branch in branches))
        scalars = self._leaves.scalars(branches, common)
        of_texts = (*normalizers, *scalars[Kind.STRING][0].leaf.normalizers) if leaf is None else leaf.normalizers
        objects = self._object(request.index, branches, absent, overlay, identity)
        listed = self._list(branches, absent, overlay, reference if Kind.ARRAY in position.declared else None)
        if keys is not None:  # the entries are compared like the items of a list
            items = objects.patterns[0][1] if objects.patterns else objects.additional
            objects, listed = replace(objects, keys=keys), ListNode(items, self.matchers.build("hungarian"))
        site = Site(
            absent=absent.normalized(partial(normalize, of_texts)),
            scalars=scalars if reference is None else {kind: (ScalarBranch(self._leaves.exact),) for kind in scalars},
            object=objects,
            list=listed,
            other=self._leaves.exact,
            leaf=leaf,
            normalizers=normalizers,
            declared=position.declared,
            identity=identity,
            reference=None if Kind.ARRAY in position.declared else reference,
        )
        return site if position.alternatives is None else with_alternatives(site, position.alternatives)

    def _set_corpus_scopes(self, position: Branches, *, root: bool) -> None:
        """Set the scopes whose ids all documents of a corpus share, as the root states them."""
        scopes = position.setting("scope")
        if scopes is not None and not root:
            self.problems.append(scopes.problem("`scope` has no effect here", "Put it on the root of the schema."))
        elif scopes is not None:
            self.corpus_scopes = frozenset(name for name, where in scopes.value.items() if where == "corpus")

    def _without_root_mark(self, branch: Branch) -> Branch:
        if self._root_mark is None or branch.settings.get("entries") != self._root_mark:
            return branch
        return replace(branch, settings={key: value for key, value in branch.settings.items() if key != "entries"})

    def _graph_settings(
        self, position: Branches, branches: Sequence[TaggedBranch], request: _Request
    ) -> tuple[Identity | None, Identity | Reference | None, Reference | None]:
        """Return what identifies the objects of a position, what the keys of its maps are, and what values refer to.

        The reference of a list is that of its items, which inherit it.
        """
        maps = Kind.OBJECT in position.declared
        reference = request.reference
        if "ref" in position.common:
            choice = position.common["ref"].value
            options: dict[str, Any] = {"scope": choice} if isinstance(choice, str) else choice
            reference = Reference(options["scope"], tuple(options.get("key", ())), options.get("graded", False))
        keys: Identity | Reference | None = None
        if reference is not None and maps and not reference.key:
            keys, reference = reference, None
        identity = None if position.is_leaf else self._identity(branches, request.overlay)
        setting = position.common.get("id")
        if maps and setting is not None and isinstance(setting.value, str):
            keys = Identity(setting.value, normalizers=((NFC,),))
        return identity, keys, reference

    def _identity(self, branches: Sequence[TaggedBranch], overlay: Overlay | None) -> Identity | None:
        """Return what identifies the objects of a position: the field with an `id`, or the fields of its own `id`."""
        fields: dict[str, list[Branch]] = {}
        for _, branch in branches:
            for name in branch.properties:
                here = overlay.at(name) if overlay else None
                laid = {} if here is None else here.settings
                fields.setdefault(name, []).extend(
                    replace(one, settings=one.settings | laid)
                    for one in self._expander.branches(branch.subschemas_for(name))
                )
        own = [branch.settings["id"] for _, branch in branches if "id" in branch.settings]
        whole = next((setting.value for setting in own if isinstance(setting.value, dict)), None)
        if whole is not None:
            scope, names = whole["scope"], tuple(whole["key"])
        else:
            marked = {name: self._id_setting(several) for name, several in fields.items()}
            found = {name: setting for name, setting in marked.items() if setting is not None}
            if not found:
                return None
            scope, names = next(iter(found.values())).value, tuple(found)[:1]
            for name in tuple(found)[1:]:
                composite = json.dumps({"id": {"scope": scope, "key": list(found)}})
                hint = f"For a composite id, write {composite} on the object."
                self.problems.append(found[name].problem("Expected one field with an `id` in an object, got two", hint))
        for name in names:
            if name not in fields:
                self.problems.append(
                    own[0].problem(f'`id` names the field "{name}", which the object does not declare')
                )
                return None
        kinds = tuple(
            frozenset(kind for branch in fields[name] for kind in branch.kinds or Kind) - {Kind.NULL} for name in names
        )
        normalizers = tuple(
            self._leaves.normalizers_at(Branches.of(fields[name]).common, fields[name]) for name in names
        )
        return Identity(scope, names, kinds, normalizers)

    @staticmethod
    def _id_setting(branches: Iterable[Branch]) -> Annotation | None:
        """Return the `id` of a field with single values; None if the field has none, or is a map."""
        found = [branch.settings["id"] for branch in branches if "id" in branch.settings]
        maps = any(branch.kinds is not None and Kind.OBJECT in branch.kinds for branch in branches)
        return found[0] if found and not maps and isinstance(found[0].value, str) else None

    def _object(
        self,
        index: int,
        site_branches: Sequence[TaggedBranch],
        absent: Absence,
        overlay: Overlay | None,
        identity: Identity | None,
    ) -> ObjectNode:
        object_branches = _distinct_object_branches(
            (tag, branch) for tag, branch in site_branches if branch.takes(Kind.OBJECT)
        )
        branches = [(frozenset({number}), branch) for number, (_, branch) in enumerate(object_branches)]
        fields, ignored = self._fields(index, branches, absent, overlay, () if identity is None else identity.key)
        star = overlay.at(STAR) if overlay else None
        patterns, by_pattern = self._patterns(branches, absent, star)
        additional, by_branch = self._additional_site(branches, absent, star)
        return ObjectNode(
            fields=fields,
            branches=tuple(self._object_branch(tags, branch, absent) for tags, branch in object_branches)
            if len(object_branches) > 1
            else (),
            patterns=patterns,
            additional=additional,
            declared_map=any(branch.additional for _, branch in branches),
            tagged=by_pattern or by_branch,
            ignored=ignored,
            closed=self._closed(object_branches),
        )

    def _closed(self, branches: Sequence[TaggedBranch]) -> bool:
        """Return whether keys that the branches of an object do not declare are ignored."""
        setting = self._common_setting(branches, "undeclared", "objects")
        if setting is not None and any(branch.additional for _, branch in branches):
            message = "`undeclared` has no effect: `additionalProperties` declares all other keys"
            self.problems.append(setting.problem(message))
        return setting is not None and setting.value == "ignore"

    def _fields(
        self,
        index: int,
        branches: Sequence[IndexedBranch],
        absent: Absence,
        overlay: Overlay | None,
        ids: tuple[str, ...],
    ) -> tuple[tuple[FieldNode, ...], frozenset[str]]:
        """Return the compared fields of all branches, and the names of the ignored fields.

        The fields `ids` identify an object; they are compared only with `"compare": true`.
        """
        fields, ignored, weights = list[FieldNode](), set[str](), list[Annotation]()
        names = dict.fromkeys(name for _, branch in branches for name in branch.properties)
        siblings = sibling_keys(
            {name: [branch.subschemas_for(name) for _, branch in branches] for name in names},
            self._expander,
            overlay,
            self.problems,
        )
        ignored |= siblings
        for name in names:
            tagged_subschemas = self._merge_equal(
                (own_tag, branch.subschemas_for(name)) for own_tag, branch in branches
            )
            here = overlay.at(name) if overlay else None
            settings = self._field_settings([subschemas for _, subschemas in tagged_subschemas], here)
            compared = settings["compare"].value if "compare" in settings else name not in ids
            if "compare" in settings and name not in ids:
                self.problems.append(settings["compare"].problem("`compare` has no effect without an `id`"))
            if not compared or (settings["ignore"].value if "ignore" in settings else name in siblings):
                ignored.add(name)
                if here is not None:
                    here.used = True
                continue
            ignored.discard(name)
            weight = float(settings["weight"].value) if "weight" in settings else 1.0
            credit = "null" in settings and self._can_earn_credit(settings["null"], tagged_subschemas)
            site = self._request(tagged_subschemas, Absence.of(()) if credit else absent, here)
            fields.append(FieldNode(name, site, weight, len(tagged_subschemas) > 1, credit))
            weights += [settings["weight"]] if "weight" in settings else []
            if "aliases" in settings:
                self.aliases[index, name] = settings["aliases"]
        self.problems += _weight_problems(weights)
        return tuple(fields), frozenset(ignored)

    def _can_earn_credit(self, setting: Annotation, tagged_subschemas: Sequence[TaggedSubschemas]) -> bool:
        """Return whether a field with `null` has single values and no `absent`; a problem is added if it has not."""
        branches = [branch for _, subschemas in tagged_subschemas for branch in self._expander.branches(subschemas)]
        if any(branch.kinds is None or branch.kinds & {Kind.OBJECT, Kind.ARRAY} for branch in branches):
            message = "`null` applies to fields with single values, but a list, an object or any value is declared here"
            self.problems.append(setting.problem(message))
            return False
        if any("absent" in branch.settings for branch in branches):
            self.problems.append(setting.problem("`null` and `absent` contradict each other", "Remove one of them."))
            return False
        return True

    def _patterns(
        self, branches: Sequence[IndexedBranch], absent: Absence, overlay: Overlay | None
    ) -> tuple[tuple[tuple[str, int], ...], bool]:
        """Return (regular expression for keys, site) pairs, and whether any of the sites depends on the branch."""
        patterns, tagged = [], False
        for pattern in dict.fromkeys(pattern for _, branch in branches for pattern in branch.patterns):
            tagged_subschemas = self._merge_equal(
                (own_tag, branch.patterns.get(pattern, ())) for own_tag, branch in branches
            )
            self.problems += self._stray_field_keys(tagged_subschemas, "the values of a map", overlay)
            self.problems += _pattern_problems(pattern, tagged_subschemas[0][1][0][0])
            patterns.append((pattern, self._request(tagged_subschemas, absent, overlay)))
            tagged |= len(tagged_subschemas) > 1
        return tuple(patterns), tagged

    def _additional_site(
        self, branches: Sequence[IndexedBranch], absent: Absence, overlay: Overlay | None
    ) -> tuple[int, bool]:
        """Return the site of keys that no property and no pattern covers, and whether it depends on the branch."""
        tagged_subschemas = self._merge_equal((own_tag, branch.additional) for own_tag, branch in branches)
        here = overlay if tagged_subschemas else None
        self.problems += self._stray_field_keys(tagged_subschemas, "the values of a map", here)
        return self._request(tagged_subschemas or _ANYTHING, absent, here), len(tagged_subschemas) > 1

    def _object_branch(self, tags: Tags, branch: Branch, absent: Absence) -> ObjectBranch:
        tests = []
        for name, subschemas in branch.properties.items():
            values = [branch.values for branch in self._expander.branches(subschemas)]
            if all(value is not None for value in values):
                tests.append((name, frozenset(key for value in values for key in value or ())))
        return ObjectBranch(frozenset(branch.properties), tuple(tests), tags, absent)

    def _list(
        self,
        site_branches: Sequence[TaggedBranch],
        absent: Absence,
        overlay: Overlay | None,
        reference: Reference | None,
    ) -> ListNode:
        branches = [(tag, branch) for tag, branch in site_branches if branch.takes(Kind.ARRAY)]
        prefix, tagged = [], False
        for position in range(max((len(branch.prefix) for _, branch in branches), default=0)):
            here = overlay.at(str(position)) if overlay else None
            position_subschemas = (
                (tags, (*branch.prefix, branch.items)[: position + 1][-1]) for tags, branch in branches
            )
            tagged_subschemas = self._merge_equal(position_subschemas, open_too=True)
            self.problems += self._stray_field_keys(tagged_subschemas, "an item of a list", here)
            prefix.append(self._request(tagged_subschemas, absent, here, reference))
            tagged |= len(tagged_subschemas) > 1
        items = self._merge_equal(((tags, branch.items) for tags, branch in branches), open_too=True) or _ANYTHING
        star = overlay.at(STAR) if overlay and branches else None
        self.problems += self._stray_field_keys(items, "an item of a list", star)
        site = self._request(items, absent, star, reference)
        return ListNode(site, self._matcher(branches, site), tuple(prefix), tagged or len(items) > 1)

    def _matcher(self, branches: Sequence[TaggedBranch], items: int) -> Matcher:
        """Return the matching that the branches agree on, by default `hungarian`; errors are added to `problems`."""
        chosen = self._common_setting(branches, "match", "lists")
        if chosen is not None:
            try:
                matcher = self.matchers.build(chosen.value, pointer=chosen.pointer)
            except SchemaError as error:
                self.problems.extend(error.located(file=chosen.file).problems)
            else:
                if matcher.transport is not None and not isinstance(matcher.transport.masses, MassScheme):
                    self.masses.append((items, matcher.transport.masses, chosen))
                return matcher
        return self.matchers.build("hungarian")

    def _common_setting(self, branches: Sequence[TaggedBranch], key: str, kind: str) -> Annotation | None:
        """Return a setting that all branches of one kind must share."""
        chosen = [branch.settings[key] for _, branch in branches if key in branch.settings]
        if chosen and (len(chosen) < len(branches) or len({canonical(setting.value) for setting in chosen}) > 1):
            message = f"`{key}` differs between the branches of a union"
            self.problems.append(chosen[-1].problem(message, f"Set the same `{key}` on all branches that are {kind}."))
        return chosen[0] if chosen else None

    def _field_settings(self, subschemas: Iterable[Subschemas], overlay: Overlay | None) -> Annotations:
        """Return the settings of a field itself. Its branches must agree unless an overlay sets them."""
        laid = {} if overlay is None else {key: overlay.settings[key] for key in FIELD_KEYS & overlay.settings.keys()}
        settings: Annotations = {}
        for branch in (
            branch for field_subschemas in subschemas for branch in self._expander.branches(field_subschemas)
        ):
            for key in FIELD_KEYS & branch.settings.keys():
                setting = branch.settings[key]
                first = settings.setdefault(key, setting)
                if key not in laid and canonical(first.value) != canonical(setting.value):
                    hint = "Set it to the same value on all branches."
                    message = f"`{key}` differs between the branches ({first.pointer})"
                    self.problems.append(setting.problem(message, hint))
        return settings | laid

    def _stray_field_keys(
        self, tagged_subschemas: Iterable[TaggedSubschemas], place: str, overlay: Overlay | None
    ) -> list[Problem]:
        """Return a problem for each field setting at a position that is not a field."""
        settings = [
            branch.settings for _, subschemas in tagged_subschemas for branch in self._expander.branches(subschemas)
        ]
        settings += [overlay.settings] if overlay else []
        keys = sorted((*FIELD_KEYS, "alternatives"))
        strays = [
            here[key].problem(f"`{key}` applies to the fields of an object, but this is {place}")
            for here in settings
            for key in keys
            if key in here and (key != "alternatives" or isinstance(here[key].value, str))
        ]
        singles = [
            branch.settings["id"]
            for _, subschemas in tagged_subschemas
            for branch in self._expander.branches(subschemas)
            if "id" in branch.settings and branch.kinds is not None and Kind.OBJECT not in branch.kinds
        ]
        hint = "Put it on a field of the items of a list, or on a map whose keys are the ids."
        return strays + [setting.problem(f"`id` has no effect on {place}", hint) for setting in singles]

    def _merge_equal(self, tagged: Iterable[TaggedSubschemas], *, open_too: bool = False) -> list[TaggedSubschemas]:
        """Merge equal subschemas. If only one entry is left, it applies to every branch.

        Branches without subschemas are left out, unless `open_too` is set.
        """
        merged: dict[Subschemas, Tags] = {}
        for tags, subschemas in tagged:
            if not subschemas and not open_too:
                continue
            self._count(subschemas)
            direct = tuple(tuple(subschema.direct() for subschema in members) for members in subschemas)
            known = merged.get(direct, tags)
            merged[direct] = None if known is None or tags is None else known | tags
        if len(merged) == 1:
            return [(None, subschemas) for subschemas in merged]
        return [(tags, subschemas) for subschemas, tags in merged.items()]

    def _count(self, subschemas: Subschemas) -> None:
        """Count subschemas that apply to one value. Raises SchemaError if there are too many."""
        self._combined += sum(map(len, subschemas))
        if subschemas and self._combined - 20 * subschemas[0][0].shelf.size > MAX_COMBINED:
            message = "The definitions of the schema apply together in too many different combinations"
            hint = "Let fewer definitions apply to one value: check allOf, anyOf and oneOf in recursive definitions."
            raise SchemaError(subschemas[0][0].problem(message, hint=hint))


def _weight_problems(settings: Sequence[Annotation]) -> list[Problem]:
    """Return a problem if the weights in an object differ too much; a key without a weight has weight 1."""
    weights = sorted([1.0, *(float(setting.value) for setting in settings)])
    if weights[-1] / EXTREME <= weights[0]:
        return []
    farthest = max(settings, key=lambda setting: abs(log(setting.value)))
    message = f"Expected the weights in an object to differ by a factor of at most {EXTREME:g}"
    hint = (
        "Smaller shares are lost to rounding. The default weight is 1; use `ignore` for fields that should not count."
    )
    return [farthest.problem(f"{message}, got {weights[0]:g} and {weights[-1]:g}", hint)]


def _pattern_problems(pattern: str, subschema: Subschema) -> list[Problem]:
    message = pattern_error(pattern)
    return [] if message is None else [subschema.problem(message)]


def _distinct_object_branches(branches: Iterable[TaggedBranch]) -> list[TaggedBranch]:
    """Drop branches with the same tag and the same object declaration as an earlier one."""
    distinct: dict[object, TaggedBranch] = {}
    for tag, branch in branches:
        key = (tag, tuple(branch.properties.items()), tuple(branch.patterns.items()), branch.additional)
        distinct.setdefault(key, (tag, branch))
    return list(distinct.values())


# Aliases are assigned to the objects from which they are resolved.


def with_aliases(
    sites: Sequence[Site], aliases: Mapping[tuple[int, str], Annotation]
) -> tuple[list[Site], list[Problem]]:
    """Assign each alias to the object that owns it: a list item, a map value or the root.

    A pointer is resolved from the object that holds the field first, then from the owner. It must not name a declared
    field, which would lose its value.

    Returns:
        The sites with their aliases, and the problems found.
    """
    linked, problems = list(sites), list[Problem]()
    if not aliases:
        return linked, problems
    children = [[child.site for child in site.object.fields] for site in sites]
    holding = with_ancestors((index for index, _ in aliases), children)
    owners = {0}
    for site in sites:
        owners |= {site.object.additional, *(index for _, index in site.object.patterns)}
        owners |= {site.list.items, *site.list.prefix}
    for owner in sorted(owners & holding):
        owned = []
        for alias, setting in _below(sites, aliases, owner, holding):
            owned.append(alias)
            for source in alias.sources:
                if _declared(sites, owner, source):
                    message = f'Expected `aliases` to name no declared field, got "{"/".join(source)}"'
                    problems.append(
                        setting.problem(message, "To read that field's value as this field, set `ignore` on it.")
                    )
        linked[owner] = replace(sites[owner], object=replace(sites[owner].object, aliases=tuple(owned)))
    return linked, problems


def _below(
    sites: Sequence[Site], aliases: Mapping[tuple[int, str], Annotation], owner: int, holding: set[int]
) -> Iterator[tuple[Alias, Annotation]]:
    """Yield the aliases of all fields of an object, nested ones included; recursive parts are visited once."""
    pending: deque[tuple[int, tuple[str, ...], frozenset[int]]] = deque([(owner, (), frozenset({owner}))])
    while pending:
        index, path, above = pending.popleft()
        for child in sorted(sites[index].object.fields, key=lambda field: field.name):
            target = (*path, child.name)
            setting = aliases.get((index, child.name))
            if setting is not None:
                pointers = [tuple(map(unescape, text.removeprefix("/").split("/"))) for text in setting.value]
                sources = dict.fromkeys([(*path, *tokens) for tokens in pointers] + pointers)
                sources.pop(target, None)
                yield Alias(target, tuple(sources), null=sites[child.site].absent.null), setting
            if child.site in holding and child.site not in above and not sites[child.site].atomic:
                pending.append((child.site, target, above | {child.site}))


def _declared(sites: Sequence[Site], owner: int, tokens: tuple[str, ...]) -> bool:
    """Return whether a site declares the fields at these tokens, one below the other."""
    index = owner
    for token in tokens:
        child_index = next((child.site for child in sites[index].object.fields if child.name == token), None)
        if child_index is None:
            return False
        index = child_index
    return True
