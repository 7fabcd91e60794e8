"""Import of a schema that is annotated for another tool: an x-arbitre overlay, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from arbitre.dialects import extract_bench, stickler, x_eval
from arbitre.dialects.draft import Draft
from arbitre.dialects.position import Position
from arbitre.errors import OptionError, SchemaError
from arbitre.options import DialectName
from arbitre.paths import order
from arbitre.schema import SchemaSource, compile_plan, load
from arbitre.schema.loading.annotations import FOREIGN, foreign_keywords
from arbitre.storage.output_folder import destination, paths_among, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from arbitre.dialects.draft import Untranslated
    from arbitre.values import Json

_DIALECTS: Final[Mapping[str, Callable[[Position, Draft], bool]]] = {
    "stickler": stickler.translate,
    "extract-bench": extract_bench.translate,
    "x-eval": x_eval.translate,
}


@dataclass(frozen=True, slots=True)
class ImportedSchema:
    """The keywords of another tool, translated into an overlay.

    Attributes:
        dialect: The other tool.
        overlay: The settings of `x-arbitre` by path.
        untranslated: The keywords that the overlay does not express, in the order of the schema.
    """

    dialect: str
    overlay: Mapping[str, Json]
    untranslated: tuple[Untranslated, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        missing = [one.to_dict() for one in self.untranslated]
        return {"dialect": self.dialect, "overlay": dict(self.overlay), "untranslated": missing}


def import_schema(
    schema: SchemaSource,
    dialect: DialectName,
    *,
    nearest: bool = False,
    out: str | Path | None = None,
    allow_refs: str | Path | Iterable[str | Path] = (),
    force: bool = False,
) -> ImportedSchema:
    """Translate the annotations that a schema has for another tool into an overlay, as `arbitre schema import` does.

    The overlay contains the settings that mean the same in both tools, including defaults. All other keywords are
    listed.

    Args:
        schema: The schema.
        dialect: The other tool: "stickler", "extract-bench" or "x-eval".
        nearest: Also add the nearest settings for keywords without an exact equivalent.
        out: File for the overlay; None writes none.
        allow_refs: Further folders with files that the schema may reference.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.

    Returns:
        The overlay, and the keywords that it does not express.

    Raises:
        SchemaError: The schema is invalid, has no keyword of the other tool, or has a value that the other tool does
            not accept.
        DataError: The file cannot be written, or is not one that arbitre wrote.
        OptionError: The other tool is unknown.

    >>> name = {"type": "string", "x-aws-stickler-weight": 2}
    >>> import_schema({"type": "object", "properties": {"name": name}}, "stickler").overlay["/name"]
    {'weight': 2, 'distance': 'levenshtein', 'normalize': ['lower', 'squash-space'], 'floor': 0.5}
    """
    if dialect not in _DIALECTS:
        names = get_args(DialectName)
        raise OptionError.of(f"Expected `dialect` to be {' or '.join(names)}, got {dialect!r}")
    root = load(schema, allow_refs)
    target = destination(out, inputs=[*root.shelf.files, *paths_among(schema)], force=force)
    found = foreign_keywords(root.document.contents)
    if dialect not in found:
        hint = f"It has keywords of {' and of '.join(found)}." if found else None
        starts = " or ".join(FOREIGN[dialect])
        raise SchemaError.of(
            f"Expected keywords of {dialect}, got none that starts with {starts}", file=root.file, hint=hint
        )
    draft, pending = Draft(nearest), [Position("", "root", root)]
    while pending:
        position = pending.pop()
        if position.recursive:
            draft.miss(position, None, "the schema is recursive, and an overlay cannot be: write x-arbitre into it")
        elif _DIALECTS[dialect](position, draft):
            pending += reversed(list(position.children()))
    if draft.problems:
        raise SchemaError(*dict.fromkeys(draft.problems))
    overlay = {path: draft.overlay[path] for path in sorted(draft.overlay, key=order) if draft.overlay[path]}
    compile_plan(root, overlay=overlay)
    imported = ImportedSchema(dialect, overlay, tuple(draft.untranslated))
    write_json(imported.overlay, target)
    return imported
