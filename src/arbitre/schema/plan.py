"""The compiled plan: all that comparing documents needs to know of a schema."""

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
    """A compiled schema: `sites[0]` is the root. `entries` is the wildcard path of the list of entries, or ().

    `facts` are what the engine may take for granted; a user's function is called at most `max_calls` times for a
    document (None: as often as it takes).
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
