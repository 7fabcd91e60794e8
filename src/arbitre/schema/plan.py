"""The compiled plan: everything about a schema that a comparison needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.errors import DataError
from arbitre.normalizers import normalize
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from arbitre.paths import Path
    from arbitre.schema.certificate import Certificate
    from arbitre.schema.describe import ResolvedPath
    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.schema.nodes import ObjectNode, PlanFacts, Site
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
        signature: Every option that can change a score.
        close: Minimum quality of a value that counts as close.
        root: The root of the schema.
        rows: The resolved options, one row per path.
        certificate: Whether the distance between documents is a metric.
        facts: Properties that allow a faster computation with the same result.
        expected: The kinds of documents that the schema is written for; None for any.
        max_calls: Maximum number of calls to a custom distance per document; None for no limit.
        format_assertion: Whether validation checks `format`.
        inputs: Files that the plan was compiled from: schemas, overlay, authority files and modules of functions.
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

    @property
    def allows_text(self) -> bool:
        """Whether the schema names text as a kind of document."""
        return self.expected is not None and Kind.STRING in self.expected

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
                hint="Use `arbitre evaluate --lenient`; in Python, ReadOptions(lenient=True), or parse it first.",
            )

    def check_pair(self, gold: Json, predicted: Json) -> None:
        """Check both documents of a pair.

        Raises:
            DataError: One of them is a text, but the schema expects an object or a list; or the prediction is null,
                but neither does the schema allow this nor is gold null.
        """
        self.check_gold(gold)
        self.check_predicted(predicted)
        null = predicted is None and gold is not None and gold is not ABSENT
        if null and self.expected is not None and Kind.NULL not in self.expected:
            raise DataError.of("Expected a prediction, got null", hint="Omit it if there is none.")

    def _instead_of_text(self, value: Json) -> str | None:
        """Return what the schema expects instead of a text; None if the value is no text, or may be one."""
        wanted = [_NAMES[kind] for kind in sorted(self.expected or ()) if kind in _NAMES]
        if not isinstance(value, str) or not wanted or self.allows_text:
            return None
        root = self.sites[0]
        value = normalize(root.normalizers if root.leaf is None else root.leaf.normalizers, value)
        return " or ".join(wanted) if isinstance(value, str) else None
