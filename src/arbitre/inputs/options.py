"""Options for reading documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from arbitre.inputs.document_ids import normalized_id
from arbitre.parsing import damaged_json
from arbitre.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.inputs.projection import Projection
    from arbitre.schema import Plan
    from arbitre.values import Kind


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading documents."""

    # from arbitre.options: Reading
    id_key: str = "id"
    """Key that contains the id of a record."""
    id_pattern: str | None = None
    """Regular expression that extracts the id from a file name. The id is the group named id if there is one, else
    the first group, else the whole match."""
    normalize_ids: bool = False
    """Treat ids that differ only in case, Unicode form or file extension as equal."""
    gold_key: str = "gold"
    """Key or column that contains the gold document of a record."""
    predicted_key: str = "predicted"
    """Key or column that contains the prediction of a record."""
    gold_sheet: str | None = None
    """Sheet of an Excel workbook that contains gold. None means the first sheet."""
    predicted_sheet: str | None = None
    """Sheet of an Excel workbook that contains predictions. None means the first sheet."""
    project: Projection | None = None
    """JMESPath expressions that transform gold documents and predictions before comparison."""
    lenient: bool = False
    """Repair predictions that are not valid JSON, and list the repairs."""
    repair_structure: bool = False
    """With `lenient`, also accept repairs that move or drop keys."""
    max_depth: int = 512
    """Maximum nesting depth of lists and objects in a document."""
    # end of the options
    texts: bool = False
    """Whether the schema allows a text as the document; see `for_plan`. If not, lenient reading replaces a prediction
    that is a text by the JSON in it."""
    untyped: bool = False
    """Whether the schema allows any document; see `for_plan`. If so, lenient reading keeps a prediction that is a text
    if gold is a text as well."""
    field_kinds: Mapping[str, frozenset[Kind]] = field(default_factory=dict)
    """Kinds of the fields of a document by name, to read the cells of CSV files; see `for_plan`. Cells of other fields
    are texts."""
    drop_nulls: bool = False
    """Whether to leave out the null fields of structs in Parquet files."""

    def ids(self, given: Iterable[str | int]) -> frozenset[str]:
        """Return ids as texts, in the form in which they are compared."""
        return frozenset(normalized_id(str(one)) if self.normalize_ids else str(one) for one in given)

    def for_plan(self, plan: Plan) -> Self:
        """Return the options for documents of a schema.

        Lenient reading keeps texts if the schema allows them, and the cells of CSV files are read as the kinds that the
        schema declares.
        """
        return replace(self, texts=plan.allows_text, untyped=plan.expected is None, field_kinds=plan.field_kinds)

    def signed(self, plan: Plan) -> Plan:
        """Return the plan with the reading options that can change scores added to its signature."""
        entries = dict(plan.signature.entries)
        if self.lenient:
            entries["lenient"] = f"json-repair {damaged_json.version()}" + ", structure" * self.repair_structure
        if self.project is not None:
            entries |= self.project.signature
        return replace(plan, signature=Signature.of(entries, plan.signature.version))
