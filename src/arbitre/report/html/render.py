"""Render a report as a self-contained HTML page. The template only lays out the view model; it computes no scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from markupsafe import Markup, escape

from arbitre.errors import clipped, show_hidden
from arbitre.paths import escape as escape_token
from arbitre.report import entry_classes
from arbitre.report.html.cells import Cells
from arbitre.report.html.inline_svg import composition, survival
from arbitre.report.html.language import Language, Translator
from arbitre.report.html.standalone import render
from arbitre.report.html.wording import basis, contrast_basis, detectable, lead, procedure, provenance, sampled, to_best
from arbitre.report.visible_text import first_text, spelled
from arbitre.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from arbitre.report.html.view import View
    from arbitre.values import Json

GLYPHS: Final = {
    "correct": "=",
    "close": "≈",
    "wrong": "≠",
    "wrong type": "⊘",
    "missing": "−",
    "spurious": "+",
    "moved": "↔",
    "split": "⊢",
    "merged": "⊣",
}
"""Symbol of each verdict, so that colour alone carries no meaning."""

FORMULAS: Final = {
    "precision": "k / m",
    "recall": "k / n",
    "f1": "2k / (n + m)",
    "amq": "S / k",
    "imq": "S / m",
    "irq": "S / n",
    "f1q": "2S / (n + m)",
    "quality": "S / (n + m − k)",
    "omq": "3 / (1/precision + 1/recall + 1/amq)",
    "omq_imq": "3 / (1/imq + 1/recall + 1/amq)",
    "variance": "Σq² / k − amq²",
}


OUTSIDE: Final = 10
"""Maximum number of paths in a sentence; the rest are counted."""

PAPER: Final = 50
"""Maximum number of rows of a long list when the page is printed."""

REACHED: Final = 0.9
"""Document quality for which the report states the share of documents that reach it."""

STYLE: Final = (
    *("palette", "page", "answer", "tables", "curve", "controls", "map", "entry", "difference", "matrix"),
    *("phone", "print"),
)
"""Style sheets in cascade order."""

SCRIPT: Final = (
    *("page", "theme", "tables", "print", "text", "difference", "fields", "shares", "state", "filters", "address"),
    *("entry", "map", "list", "matrix", "document", "explorer"),
)
"""Script files, concatenated into one module; each uses only the ones before it."""


def render_page(view: View, language: Language = Language.EN) -> str:
    """Render a view as an HTML page; equal views give identical bytes."""
    plain = view.to_dict()
    say = Translator(language)
    several = len(plain["subjects"]) > 1
    return render(
        "report.html.j2",
        language,
        style=[f"style/{name}" for name in STYLE],
        script=[f"script/{name}" for name in SCRIPT],
        data=_data(plain, language, several=several),
        filters=_filters,
        values={
            "view": plain,
            "title": _title(plain, say),
            "several": several,
            "explored": any(one["explorer"] for one in plain["subjects"]),
            "diagnosed": any(subject["faults"] for subject in plain["subjects"]),
            "glyphs": entry_classes.GLYPHS,
            "verdict_glyphs": GLYPHS,
            "formulas": FORMULAS,
            "at": lambda number, pointer: f"{number}{pointer}" if several else pointer,
            "sentences": partial(_sentences, say=say),
            "composition": partial(composition, say=say),
            "survival": partial(survival, say=say),
            "warning": partial(_warning, say=say),
            "paper": PAPER,
            "held": {one["name"]: {document["key"] for document in one["explorer"]} for one in plain["subjects"]},
            "basis": partial(basis, say=say),
            "contrast_basis": partial(contrast_basis, say=say),
            "lead": partial(lead, say=say),
            "detectable": partial(detectable, say=say),
            "to_best": to_best,
            "provenance": partial(provenance, say=say),
            "sampled": partial(sampled, say=say),
            "methods": lambda subject: _methods(subject, plain["version"], say),
            "procedure": partial(procedure, say=say),
        },
    )


def _filters(language: Language) -> dict[str, Callable[..., Any]]:
    return {
        **Cells(Translator(language)).filters,
        "clip": clipped,
        "brief": _brief,
        "token": escape_token,
        "component": lambda text: quote(text.encode("utf-8", errors="replace"), safe=""),
        "breakable": lambda text: Markup("<wbr>/").join(map(escape, text.split("/"))).removeprefix("<wbr>"),
        "letter": lambda number: chr(ord("a") + number % 26),
    }


def _brief(one: Mapping[str, Json], room: int = 60) -> list[str]:
    """Return short texts for the gold and the predicted value of a pair: a single one if they have the same name.

    Values of different types never have the same text.
    """
    values = [one["gold"], one["predicted"]]
    named = values if kind_of(values[0]) != kind_of(values[1]) else map(_named, values)
    return list(dict.fromkeys(clipped(show_hidden(spelled(value)), room) for value in named))


def _named(value: Json) -> Json:
    """Return the first text of an object, or the value itself."""
    text = first_text(value)
    return value if text is None else text


def _data(plain: Mapping[str, Any], language: Language, *, several: bool) -> dict[str, Any]:
    say = Translator(language)
    kept = ("js.", "published", "verdict.", "class.", "theme.", "colon", "gold.column", "predicted.column")
    strings = {name: text for name, text in say.catalogue.items() if name.startswith(kept)}
    return {
        "language": language.value,
        "several": several,
        "glyphs": GLYPHS | {f"class.{name}": glyph for name, glyph in entry_classes.GLYPHS.items()},
        "strings": strings,
        "close": plain["subjects"][0]["close"] if plain["subjects"] else 1.0,
        "subjects": [{"name": one["name"], "documents": one["explorer"]} for one in plain["subjects"]],
    }


def _title(plain: Mapping[str, Any], say: Translator) -> str:
    subjects = plain["subjects"]
    first = subjects[0] if subjects else {"title": None, "entries": ""}
    title: str = first["title"] or say("title", entries=first["entries"] or say("whole"))
    if len(subjects) > 1:
        return f"{title}{say('colon')}{say('title.several', n=len(subjects))}"
    return f"{title}{say('colon')}{first['name']}" if subjects and first["name"] else title


def _sentences(subject: Mapping[str, Any], say: Translator) -> Iterator[Markup]:
    """Yield the sentences that summarise the results."""
    counts, classes = subject["counts"], subject["classes"]
    scores = {line["name"]: line["micro"] for line in subject["headline"]}
    gold, predicted, matched = (counts[name] for name in ("gold", "predicted", "matched"))
    count = partial(say.language.number, digits=0)
    share = {name: say.percent(value) for name, value in scores.items()}

    def strong(name: str, /, **values: object) -> Markup:
        marked = {key: Markup("<b>{}</b>").format(value) for key, value in values.items()}
        return escape(say.template(name, values.get("n"))).format(**marked)

    if not gold and not predicted:
        yield strong("said.nothing")
    elif not subject["moved"] and subject["forced"] is False and not float(gold).is_integer():
        yield strong("said.mass", gold=count(gold), predicted=count(predicted), matched=count(matched))
    else:
        yield (
            strong(
                "said.moved" if subject["moved"] else "said.fields" if subject["listed"] is False else "said.counts",
                gold=count(gold),
                matched=count(matched),
                predicted=count(predicted),
            )
            + " "
            + strong(
                "said.pairs",
                **{name: count(classes[name]) for name in ("exact", "close", "low")},
                threshold=say.language.number(subject["close"], 2),
            )
        )
        missing, spurious = classes["missing"], classes["spurious"]
        left = strong("said.left", missing=count(missing), spurious=count(spurious))
        none = strong("said.left.moved" if subject["moved"] and subject["forced"] else "said.left.none")
        yield left if missing or spurious else none
    if None not in (scores["irq"], scores["imq"], scores["amq"]):
        yield strong("said.graded", irq=share["irq"], imq=share["imq"], amq=share["amq"])
    size = strong("said.documents", n=subject["documents"])
    yield size + " " + strong("said.failed", n=subject["failed"]) if subject["failed"] else size
    shares = {one["quality"]: one["share"] for one in subject["document_quality"]["at_least"]}
    if subject["documents"]:
        yield strong("said.quality", share=say.percent(shares[REACHED]), least=say.language.number(REACHED, 1))
    if outside := subject["outside"]:
        named = [
            f"{show_hidden(path) or say('whole')}\u00a0{say.language.number(f1q, 2)}" for path, f1q in outside.items()
        ]
        more = [say("said.outside.more", n=len(named) - OUTSIDE)] * (len(named) > OUTSIDE)
        yield strong("said.outside", paths=", ".join((*named[:OUTSIDE], *more)))


def _warning(subject: Mapping[str, Any], name: str, say: Translator) -> str:
    counted: dict[str, int] = {
        **subject["noted"],
        "never": len(subject["never"]),
        "without_gold": len(subject["without_gold"]),
        "failed": subject["failed"],
        "unscored": len(subject["failures"]) - subject["failed"],
        "vacuous": subject["vacuous"],
        "few": subject["documents"],
    }
    paths = ", ".join(map(show_hidden, subject["never"][:OUTSIDE]))
    more = [say("said.outside.more", n=len(subject["never"]) - OUTSIDE)] * (len(subject["never"]) > OUTSIDE)
    return say(
        f"warning.{name}", n=counted.get(name, 0), documents=subject["documents"], paths=", ".join((paths, *more))
    )


def _methods(subject: Mapping[str, Any], version: str, say: Translator) -> str:
    scores = {line["name"]: line["micro"] for line in subject["headline"]}
    counts = {name: say.language.number(value, 0) for name, value in subject["counts"].items()}
    shown = {name: say.language.number(scores[name]) for name in ("f1q", "imq", "irq", "amq")}
    certificate = (subject["certificate"] or {"verdict": "unknown"})["verdict"]
    text = say(
        "methods.text",
        name=f"{show_hidden(subject['name'])}: " if subject["name"] else "",
        version=version,
        signature=show_hidden(subject["signature"]["short"]),
        documents=subject["documents"],
        failed=subject["failed"],
        entries=show_hidden(subject["entries"]) or say("whole"),
        certificate=say(f"verdict.{certificate}"),
        **{name: counts[name] for name in ("gold", "predicted", "matched")},
        **shown,
    )
    text += f" {provenance(subject['provenance'], say)}."
    found = next((line["interval"] for line in subject["headline"] if line["interval"]), None)
    if found and subject["sampled"]:
        text += f" {basis(found, subject['sampled'], say)}"
    return f"{text} {say('methods.cite', version=version)}"
