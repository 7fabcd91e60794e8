"""Render the disagreements of annotators as an HTML page on which people decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre.report.html.language import Language, Translator
from arbitre.report.html.standalone import render

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLE: Final = (
    *(f"style/{name}" for name in ("palette", "page", "tables", "controls", "difference", "phone")),
    "queue/queue",
)
"""Style sheets in cascade order: those of the report that the page needs, and its own."""

SCRIPT: Final = (
    *(f"script/{name}" for name in ("page", "theme", "text", "difference")),
    *(f"queue/{name}" for name in ("decisions", "context", "case", "list", "files")),
)
"""Script files; each uses only the ones before it."""

_KEPT: Final = ("queue.", "theme.", "js.all", "js.cut", "js.more", "js.empty", "js.nothing", "js.field")
"""Prefixes of the names of the strings that the script uses."""


def render_queue(queue: Mapping[str, Any], version: str, language: Language = Language.EN) -> str:
    """Render a queue as an HTML page; equal queues give identical bytes.

    Args:
        queue: `key`, `annotators`, `entries`, `disagreements` and `decisions`; see
            `arbitre.agreement.consensus.queue_view`.
        version: Version of arbitre.
        language: Language of the page.
    """
    say = Translator(language)
    strings = {name: text for name, text in say.catalogue.items() if name.startswith(_KEPT)}
    return render(
        "queue.html.j2",
        language,
        style=STYLE,
        script=SCRIPT,
        data={"language": language.value, "strings": strings, "glyphs": {}, **queue},
        values={
            "version": version,
            "title": say("queue.title", names=", ".join(queue["annotators"])),
            "size": len(queue["disagreements"]),
        },
    )
