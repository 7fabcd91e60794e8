"""The settings of a position over all its branches, and checks that they have an effect there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

from arbitre.errors import Problem, did_you_mean
from arbitre.matching import Candidates
from arbitre.paths import pointer, unescape, wildcard
from arbitre.schema.describe import walk
from arbitre.schema.loading.load_schema import KEYWORD
from arbitre.schema.nodes import below, leaves_of
from arbitre.values import Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.schema.compiling.branches import Branch, Expander, Subschemas
    from arbitre.schema.loading.annotations import Annotation, Annotations, Overlay
    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.schema.nodes import Alternatives, Leaf, Site


_CONTAINERS: Final = frozenset({Kind.ARRAY, Kind.OBJECT})

_OF_REFERENCES: Final = frozenset({Kind.STRING, Kind.ARRAY, Kind.OBJECT})

_NOT_OF_REFERENCES: Final = frozenset({"distance", "floor", "alternatives"})

_OWNERS: Final = {
    "match": (Kind.ARRAY, "list"),
    "entries": (Kind.ARRAY, "list"),
    "undeclared": (Kind.OBJECT, "object"),
}
"""The kind that a setting applies to, and its name."""


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of one position of a schema.

    Attributes:
        branches: The branches.
        common: Settings that all branches except null share.
        declared: The declared kinds.
        open: Whether a branch accepts any kind.
        root: Whether this is the root of the schema.
    """

    branches: Sequence[Branch]
    common: Annotations
    declared: frozenset[Kind]
    open: bool
    root: bool = False

    @classmethod
    def of(cls, branches: Sequence[Branch], *, root: bool = False) -> Self:
        branches = without_list_of_forms(branches)
        valued = [branch for branch in branches if branch.kinds != frozenset({Kind.NULL})] or branches
        first = valued[0].settings
        common = {key: first[key] for key in first if all(_same(key, first[key], branch) for branch in valued)}
        declared = frozenset(kind for branch in branches for kind in branch.kinds or ())
        return cls(branches, common, declared, any(branch.kinds is None for branch in branches), root)

    @property
    def alternatives(self) -> Alternatives:
        """Where gold lists the accepted forms of a value; None if it contains one value only."""
        setting = self.common.get("alternatives")
        if setting is None or setting.value is False:
            return None
        return True if setting.value is True else sibling_of(setting)

    @property
    def expected(self) -> frozenset[Kind] | None:
        """The kinds of values that the branches are written for; None for any."""
        kinds = [branch.expected for branch in self.branches]
        return None if None in kinds else frozenset(kind for expected in kinds for kind in expected or ())

    @property
    def is_leaf(self) -> bool:
        """Whether every value here is one leaf, whatever its kind."""
        return "distance" in self.common and (self.open or bool(self.declared & _CONTAINERS))

    def setting(self, key: str) -> Annotation | None:
        """Return the first setting with this key."""
        return next((branch.settings[key] for branch in self.branches if key in branch.settings), None)

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each setting that has no effect, or that only some of the branches have."""
        if self.is_leaf:
            hint = "Move it to the list or object that has the `distance`, or remove that `distance`."
            yield from self._nested_problems(self.common["distance"], hint)
        for key in (
            "distance",
            "normalize",
            "floor",
            "match",
            "entries",
            "undeclared",
            "absent",
            "alternatives",
            "ref",
        ):
            settings = [branch.settings[key] for branch in self.branches if key in branch.settings]
            for setting in {(setting.pointer, setting.file): setting for setting in settings}.values():
                carrying = [branch for branch in self.branches if branch.settings.get(key) == setting]
                problem = self._problem(key, setting, carrying)
                if problem is not None:
                    yield problem
        if self.alternatives is not None:
            yield from self._form_problems(self.common["alternatives"])

    def _form_problems(self, setting: Annotation) -> Iterator[Problem]:
        """Yield a problem if the accepted forms of a position are not single values."""
        if not self.declared and not self.open:
            message = "`alternatives` needs the type of one form, but only an array is declared here"
            yield setting.problem(message, 'Declare both, for example "type": ["string", "array"].')
        elif self.declared & _CONTAINERS:
            message = "`alternatives` applies to single values, but a list or an object is declared here"
            hint = "Put it on the nested values. With `true`, a declared array is the list of forms."
            yield setting.problem(message, hint)
        elif not self.is_leaf:
            yield from self._nested_problems(setting, "Move it next to `alternatives`.")

    def _nested_problems(self, setting: Annotation, hint: str) -> Iterator[Problem]:
        """Yield a problem for each annotation inside a leaf, except in definitions, which may be used elsewhere."""
        place = setting.pointer.removesuffix(f"{KEYWORD}/{setting.pointer.rpartition('/')[2]}")
        for subschema in (subschema for branch in self.branches for subschema in branch.below()):
            written = subschema.file == setting.file and subschema.pointer.startswith(place)
            if written and isinstance(subschema.schema, dict) and KEYWORD in subschema.schema:
                yield subschema.problem(f"`{KEYWORD}` has no effect inside a leaf", KEYWORD, hint=hint)

    def _problem(self, key: str, setting: Annotation, carrying: list[Branch]) -> Problem | None:
        kinds = frozenset(kind for branch in carrying for kind in (branch.kinds if branch.kinds is not None else Kind))
        if "ref" in self.common and key in _NOT_OF_REFERENCES:
            hint = 'To count how similar the entries are, write {"ref": {"scope": ..., "graded": true}}.'
            return setting.problem(f"`{key}` has no effect on a reference, which is right or wrong", hint)
        if key == "ref" and len(kinds & _OF_REFERENCES) > 1:
            message = "`ref` applies to single values, a list of them or a map, but several of these are declared"
            return setting.problem(message, "Declare one of them.")
        return self._problem_of_kind(key, setting, kinds)

    def _problem_of_kind(self, key: str, setting: Annotation, kinds: frozenset[Kind]) -> Problem | None:
        """Return a problem if a setting does not apply to these kinds."""
        shared = key in self.common
        message: str | None = None
        hint: str | None = "Put it on the union."
        if key in _OWNERS:
            kind, name = _OWNERS[key]
            if kind not in kinds and not (key == "entries" and self.root and setting.value):
                message, hint = f"`{key}` applies to {name}s, but no {name} is declared here", None
                if key == "entries":
                    hint = 'The root may be marked too, with `"entries": true`.'
            elif self.is_leaf and _same_annotation(setting, self.common["distance"]):
                message, hint = f"`{key}` has no effect: `distance` makes the {name} a leaf", None
        elif key in ("absent", "alternatives", "ref") and not shared:
            message = f"`{key}` differs between the branches of a union"
        elif key in ("distance", "normalize", "floor") and self.is_leaf and not shared:
            message = f"`{key}` is set on one branch, but the union is compared as one leaf"
        elif key in ("normalize", "floor") and not self.is_leaf and not any(kind.scalar for kind in kinds):
            message = f"`{key}` applies to single values, but none is declared here"
            hint = "Put it on the nested values, or give the list or object a `distance` that makes it a leaf."
        elif key == "distance" and not shared and kinds & _CONTAINERS:
            message = "`distance` makes a list or object a leaf, but is set on only one branch"
        return None if message is None else setting.problem(message, hint)


def without_list_of_forms(branches: Sequence[Branch]) -> list[Branch]:
    """Return the branches of a position. Where gold may list forms, the array that is this list is left out."""
    made = []
    for branch in branches:
        setting = branch.settings.get("alternatives")
        listed = setting is not None and setting.value is True and branch.kinds
        made.append(replace(branch, kinds=branch.kinds - {Kind.ARRAY}) if listed and branch.kinds else branch)
    return [branch for branch in made if branch.possible] or made


def sibling_of(setting: Annotation) -> str:
    """Return the key of the sibling field that contains the alternatives."""
    return unescape(str(setting.value).removeprefix("/"))


def _same(key: str, setting: Annotation, branch: Branch) -> bool:
    other = branch.settings.get(key)
    return other is not None and (other == setting or canonical(other.value) == canonical(setting.value))


def _same_annotation(setting: Annotation, other: Annotation) -> bool:
    """Return whether two settings belong to the same annotation."""
    return (setting.pointer.rpartition("/")[0], setting.file) == (other.pointer.rpartition("/")[0], other.file)


# Sites with accepted alternatives, and the matchings that cannot use them.


def with_alternatives(site: Site, alternatives: Alternatives) -> Site:
    """Return a site whose leaves take the best of several accepted forms."""

    def accepting(leaf: Leaf) -> Leaf:
        return replace(leaf, alternatives=alternatives, metric_if=None)

    return replace(
        site,
        scalars={
            kind: tuple(replace(branch, leaf=accepting(branch.leaf)) for branch in branches)
            for kind, branches in site.scalars.items()
        },
        other=accepting(site.other),
        leaf=None if site.leaf is None else accepting(site.leaf),
        alternatives=alternatives,
    )


def sibling_keys(
    fields: Mapping[str, Sequence[Subschemas]], expander: Expander, overlay: Overlay | None, problems: list[Problem]
) -> set[str]:
    """Return the keys of an object that contain the forms of other fields; errors are added to `problems`.

    These keys are compared only if they are annotated with `"ignore": false`.

    Args:
        fields: The subschemas of each declared field, one for each branch of the object.
        expander: Resolves the subschemas.
        overlay: The overlay of the object.
        problems: Receives the errors.
    """
    keys = set()
    for name, subschemas in fields.items():
        here = overlay.at(name) if overlay else None
        settings = [branch.settings.get("alternatives") for each in subschemas for branch in expander.branches(each)]
        if here is not None and "alternatives" in here.settings:
            settings = [here.settings["alternatives"]]
        for setting in settings:
            if setting is None or not isinstance(setting.value, str):
                continue
            keys.add(sibling_of(setting))
            if sibling_of(setting) == name:
                message = f'Expected `alternatives` to name another field, got "{setting.value}"'
                hint = "Write true if gold contains a list of forms in place of the value."
                problems.append(setting.problem(message, hint))
    return keys


def matching_problems(sites: Sequence[Site], root: Subschema) -> Iterator[Problem]:
    """Yield a problem for each list that is matched by an ignored key, or by equality of values with alternatives.

    Equality with one of several forms is not transitive, so it does not divide the items into groups.
    """
    for step in walk(sites):
        site = sites[step.site]
        matcher, items = site.list.matcher, site.list.items
        path = wildcard(step.path) or "the root"
        if site.alternatives is not None:
            named = [leaf.distance for leaf in leaves_of(site, frozenset(Kind))]
            for refused in [one.name for one in named if one.judge is not None or one.context][:1]:
                message = f"The values at {path} have `alternatives`, which the distance `{refused}` does not compare"
                yield Problem(message, root.file, hint="Neither a judge nor a distance with context can compare them.")
        if step.repeats is not None or site.atomic:
            continue
        if matcher.candidates is Candidates.SAME_VALUE and _has_alternatives(sites, items):
            message = f"`set` cannot match the items of {path}: they have `alternatives`"
            hint = 'Use {"hungarian": {"gate": 1}}, or map variants to one name with the normaliser `authority`.'
            yield Problem(message, root.file, hint=hint)
        for key in matcher.key if matcher.candidates is Candidates.SAME_KEY else ():
            if _is_ignored(sites, items, key):
                message = f"`keyed` cannot use the key {wildcard(key)} of {path}: it is ignored"
                yield Problem(message, root.file, hint="Compare it with a small `weight` instead of `ignore`.")
            elif sites[_at(sites, items, key)].alternatives is not None:
                message = f"`keyed` cannot use the key {wildcard(key)} of {path}: it has `alternatives`"
                hint = "Map variants to one name with the normaliser `authority` instead."
                yield Problem(message, root.file, hint=hint)


DECLARE_MASSES: Final = 'Declare the field. If it is used only for masses, also set `"ignore": true` on it.'


def mass_problems(
    sites: Sequence[Site], masses: Sequence[tuple[int, tuple[str, ...], Annotation]]
) -> Iterator[Problem]:
    """Yield a problem for each mass field that the items do not declare; see `Compiler.masses`.

    Objects that declare neither fields nor patterns, or that are compared as leaves, may contain any field.
    """
    for items, tokens, setting in masses:
        index = items
        for depth, token in enumerate(tokens):
            site, node = sites[index], sites[index].object
            if token in node.ignored:
                break
            child = node.declared(token)
            if child is None:
                names = sorted({*node.field_sites, *node.ignored})
                if names or node.patterns or (site.declared and Kind.OBJECT not in site.declared):
                    place = setting._replace(pointer=setting.pointer + pointer(["transport", "masses"]))
                    written = setting.value["transport"]["masses"]
                    known = [wildcard((*tokens[:depth], name)) if written[0] == "/" else name for name in names]
                    hint = did_you_mean(written, known, DECLARE_MASSES)
                    message = f'Expected `masses` to name a field that the items declare, got "{written}"'
                    yield place.problem(message, hint)
                break
            index = child


def _has_alternatives(sites: Sequence[Site], index: int) -> bool:
    """Return whether a site, or any site below it, has accepted forms."""
    pending, seen = [index], {index}
    for number in pending:  # grows during iteration
        if sites[number].alternatives is not None:
            return True
        new = [child.site for child in below(sites[number]) if child.site not in seen]
        seen.update(new)
        pending += new
    return False


def _is_ignored(sites: Sequence[Site], index: int, key: tuple[str, ...]) -> bool:
    """Return whether the values at these tokens below a site are ignored."""
    return any(key[depth] in sites[_at(sites, index, key[:depth])].object.ignored for depth in range(len(key)))


def _at(sites: Sequence[Site], index: int, key: tuple[str, ...]) -> int:
    """Return the site at these tokens below a site; undeclared keys have the site of further keys."""
    for token in key:
        node = sites[index].object
        index = next((child.site for child in node.fields if child.name == token), node.additional)
    return index
