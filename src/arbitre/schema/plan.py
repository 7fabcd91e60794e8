"""The compiled plan: everything about a schema that a comparison needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arbitre.paths import Path
    from arbitre.schema.certificate import Certificate
    from arbitre.schema.describe import ResolvedPath
    from arbitre.schema.loading.references import Subschema
    from arbitre.schema.nodes import Site
    from arbitre.schema.plan_facts import PlanFacts
    from arbitre.signature import Signature


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
        max_calls: Maximum number of calls to a custom distance per document; None for no limit.
        format_assertion: Whether validation checks `format`.
    """

    sites: tuple[Site, ...]
    entries: Path
    signature: Signature
    close: float
    root: Subschema
    rows: tuple[ResolvedPath, ...]
    certificate: Certificate
    facts: PlanFacts
    max_calls: int | None = None
    format_assertion: bool = False
