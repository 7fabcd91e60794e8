"""Small HTML tables of results for notebooks. All text from data is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.signature import Signature
    from arbitre.tally import MacroScores, Scores

SHOWN: Final = ("f1q", "imq", "irq", "amq", "gold", "predicted", "matched")
PATHS: Final = 30
"""Maximum number of paths in the table."""


def scores_html(
    title: str, columns: Mapping[str, Scores | MacroScores], by_path: Mapping[str, Scores], signature: Signature
) -> str:
    """Return HTML with the scores of a result, the scores of its paths, and the signature.

    >>> from arbitre.signature import Signature
    >>> "&lt;b&gt;" in scores_html("<b>", {}, {}, Signature((), "1"))
    True
    """
    parts = [f"<p><b>{escape(title)}</b></p>"]
    parts += _table("", columns.items())
    parts += _table("path", [(path or "(the whole)", scores) for path, scores in list(by_path.items())[:PATHS]])
    if len(by_path) > PATHS:
        parts.append(f"<p>and {len(by_path) - PATHS} more paths</p>")
    parts.append(f"<p><small>signature <code>{escape(signature.short)}</code></small></p>")
    return "".join(parts)


def _table(corner: str, rows: Iterable[tuple[str, Scores | MacroScores]]) -> list[str]:
    body_rows = [
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{_number(getattr(scores, score))}</td>' for score in SHOWN)}</tr>"
        for name, scores in rows
    ]
    heads = "".join(f"<th>{name}</th>" for name in SHOWN)
    return [f"<table><thead><tr><th>{corner}</th>{heads}</tr></thead><tbody>", *body_rows, "</tbody></table>"] * bool(
        body_rows
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}" if float(value).is_integer() else f"{value:.4f}"
