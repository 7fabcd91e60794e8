"""Sentences of the report page: its title, the verdict, the summary, the caveats, and a text for a methods section."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from arbitre.errors import show_hidden
from arbitre.report.statistics_text import basis, probability, provenance, sampled, to_best
from arbitre.statistics.intervals import FEW_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.language import Translator

OUTSIDE: Final = 10
"""Maximum number of paths in a sentence; the rest are counted."""

REACHED: Final = 0.9
"""Document quality for which the report states the share of documents that reach it."""

PAIR: Final = 2
"""Number of systems whose comparison fits in one line."""


def title(plain: Mapping[str, Any], say: Translator) -> str:
    """Return the title of the page: that of the schema, else the entries, and the system or the number of systems.

    Args:
        plain: The view as JSON.
        say: Translator of the language of the page.
    """
    subjects = plain["subjects"]
    first = subjects[0] if subjects else {"title": None, "entries": ""}
    title: str = first["title"] or say("title", entries=first["entries"] or say("whole"))
    if len(subjects) > 1:
        return f"{title}{say('colon')}{say('title.several', n=len(subjects))}"
    return f"{title}{say('colon')}{first['name']}" if subjects and first["name"] else title


def headline(systems: Mapping[str, Any], say: Translator) -> Markup:
    """Return which system is best, in one line: "careful 0.97 > hasty 0.71" for two systems.

    The sign is ">" only if the difference is significant. Of more systems, only the first is named.
    """
    board = [one for one in systems["board"] if one["score"] is not None]
    tests = [test for test in to_best(systems)[1:] if test is not None and test["p"] is not None]
    names = [
        Markup("<b>{}</b> {}").format(show_hidden(one["name"]), say.language.number(one["score"], 2)) for one in board
    ]
    if len(board) != PAIR:
        better = sum(test["significant"] for test in tests)
        tested = "verdict.line.first" if better else "verdict.line.highest"
        name = tested if tests else "verdict.line.untested"
        said = say(name, n=better, others=len(board) - 1)
        return Markup("{} <small>{}</small>").format(names[0], said) if names else Markup()
    sign = "?" if not tests else ">" if tests[0]["significant"] else "≈"
    verdict = {">": "verdict.line.better", "≈": "verdict.line.none", "?": "verdict.line.untested"}[sign]
    said = say(verdict, a=show_hidden(board[0]["name"]))
    return Markup(' <span class="sign">{}</span> ').format(sign).join(names) + Markup(" <small>{}</small>").format(said)


def contrast(systems: Mapping[str, Any], say: Translator) -> str:
    """Return the difference of two systems with its interval and p, and how many documents support it."""
    parts = []
    if len(systems["board"]) == PAIR and (test := to_best(systems)[1]) and test["difference"] is not None:
        number = partial(say.language.number, digits=2)
        known = test["low"] is not None
        ends = f" [{number(-test['high'])}{say('separator')}{number(-test['low'])}]" if known else ""
        parts.append(say("verdict.difference", difference=number(-test["difference"]) + ends))
        if test["adjusted"] is not None:
            parts.append(probability(test["adjusted"], "=", say))
    if systems["sampled"]:
        clusters, documents = systems["sampled"]["clusters"], systems["sampled"]["documents"]
        few = (documents if clusters is None else clusters) < FEW_UNITS
        parts.append(sampled(systems["sampled"], say) + (say("verdict.hint") if few else ""))
    return " · ".join(parts)


def causes_searched(subjects: Sequence[Mapping[str, Any]], say: Translator) -> Iterator[str]:
    """Yield what limits the search for causes: the documents that were examined, if not all, and the f1q there."""
    known = [one["causes"] for one in subjects if one["causes"]]
    for documents, total in dict.fromkeys((one["documents"], one["total"]) for one in known):
        name = "causes.sampled" if documents < total else "causes.searched"
        yield say(name, n=documents, documents=say.language.number(documents, 0), total=say.language.number(total, 0))


def no_causes(subjects: Sequence[Mapping[str, Any]], say: Translator) -> Iterator[str]:
    """Yield why no causes are listed: all values are correct, none were found, or there was no search."""
    known = [one for one in subjects if one["causes"]]
    if not known:
        yield say("causes.unknown")
    elif all(one["document_quality"]["exact_match_rate"] in {1.0, None} for one in known):
        yield say("causes.none")
    else:
        yield say("causes.none.searched")
        yield from causes_searched(known, say)
        if not all(one["faults"] for one in known):
            yield say("causes.none.diagnose")


def test_title(test: Mapping[str, Any], say: Translator) -> str:
    """Return the difference of a pair of systems with its interval and adjusted p, for a tooltip."""
    number = partial(say.language.number, digits=4)
    known = test["low"] is not None
    ends = f" [{number(test['low'])}{say('separator')}{number(test['high'])}]" if known else ""
    p = "" if test["adjusted"] is None else f", {probability(test['adjusted'], '=', say)}"
    return f"{show_hidden(test['a'])} − {show_hidden(test['b'])}{say('colon')}{number(test['difference'])}{ends}{p}"


def strong(name: str, say: Translator, /, **values: object) -> Markup:
    """Return a sentence with its values in bold."""
    marked = {key: Markup("<b>{}</b>").format(say.value(value)) for key, value in values.items()}
    return escape(say.form(name, values)).format(**marked)


def caveats(view: Mapping[str, Any], say: Translator) -> list[str]:
    """Return the warnings and then the notes of all systems, each once, with the systems that it concerns."""
    subjects = view["subjects"]
    said = [(warning(one, name, say), one["name"]) for one in subjects for name in one["warnings"]]
    said += [(say.sentence(note), None) for note in (view["systems"]["notes"] if view["systems"] else ())]
    said += [(say.sentence(note), one["name"]) for one in subjects for note in one["notes"]]
    return _each_once(((show_hidden(text), name) for text, name in said), len(subjects), say)


def _each_once(said: Iterable[tuple[str, str | None]], systems: int, say: Translator) -> list[str]:
    """Return the different texts, each after the names of the systems that it concerns, unless it concerns all or none.

    Args:
        said: The texts, each with the name of a system.
        systems: Number of systems.
        say: Translator of the language.
    """
    owners: dict[str, list[str]] = {}
    for text, name in said:
        owners.setdefault(text, []).extend([] if name is None else [show_hidden(name)])
    return [
        f"{', '.join(names)}{say('colon')}{text}" if 0 < len(names) < systems else text
        for text, names in owners.items()
    ]


def sentences(subject: Mapping[str, Any], say: Translator) -> Iterator[Markup]:
    """Yield the sentences that summarise the results."""
    counts, classes = subject["counts"], subject["classes"]
    scores = {line["name"]: line["macro"] for line in subject["headline"]}
    gold, predicted, matched = (counts[name] for name in ("gold", "predicted", "matched"))
    count = partial(say.language.number, digits=0)
    share = {name: say.percent(value) for name, value in scores.items()}

    if not gold and not predicted:
        yield strong("said.nothing", say)
    elif not subject["moved"] and subject["forced"] is False and not float(gold).is_integer():
        yield strong("said.mass", say, gold=count(gold), predicted=count(predicted), matched=count(matched))
    else:
        yield (
            strong(
                "said.moved" if subject["moved"] else "said.fields" if subject["listed"] is False else "said.counts",
                say,
                gold=count(gold),
                matched=count(matched),
                predicted=count(predicted),
            )
            + " "
            + strong(
                "said.pairs",
                say,
                **{name: count(classes[name]) for name in ("exact", "close", "low")},
                threshold=say.language.number(subject["close"], 2),
            )
        )
        missing, spurious = classes["missing"], classes["spurious"]
        left = strong("said.left", say, missing=count(missing), spurious=count(spurious))
        none = strong("said.left.moved" if subject["moved"] and subject["forced"] else "said.left.none", say)
        yield left if missing or spurious else none
    if None not in (scores["irq"], scores["imq"], scores["amq"]):
        name = "said.graded.several" if subject["documents"] > 1 else "said.graded"
        yield strong(name, say, irq=share["irq"], imq=share["imq"], amq=share["amq"])
    size = strong("said.documents", say, n=subject["documents"])
    yield size + " " + strong("said.failed", say, n=subject["failed"]) if subject["failed"] else size
    shares = {one["quality"]: one["share"] for one in subject["document_quality"]["at_least"]}
    if subject["documents"]:
        yield strong("said.quality", say, share=say.percent(shares[REACHED]), least=say.language.number(REACHED, 1))
    if outside := subject["outside"]:
        named = [
            f"{show_hidden(path) or say('whole')}\u00a0{say.language.number(f1q, 2)}" for path, f1q in outside.items()
        ]
        more = [say("said.outside.more", n=len(named) - OUTSIDE)] * (len(named) > OUTSIDE)
        yield strong("said.outside", say, paths=", ".join((*named[:OUTSIDE], *more)))


def warning(subject: Mapping[str, Any], name: str, say: Translator) -> str:
    """Return a warning of a system, by its name, with the numbers that it states."""
    counted: dict[str, int] = {
        **subject["noted"],
        "never": len(subject["never"]),
        "without_gold": len(subject["without_gold"]),
        "failed": subject["failed"],
        "unscored": len(subject["failures"]) - subject["failed"],
        "vacuous": subject["vacuous"],
        "few": subject["documents"] - subject["vacuous"],
    }
    paths = ", ".join(map(show_hidden, subject["never"][:OUTSIDE]))
    more = [say("said.outside.more", n=len(subject["never"]) - OUTSIDE)] * (len(subject["never"]) > OUTSIDE)
    return say(
        f"warning.{name}", n=counted.get(name, 0), documents=subject["documents"], paths=", ".join((paths, *more))
    )


def methods(subjects: Sequence[Mapping[str, Any]], version: str, say: Translator) -> list[str]:
    """Return paragraphs for a methods section: how systems were compared, and the results of each.

    What is the same for several systems is said once.
    """
    setups = _each_once(((_setup(one, version, say), one["name"]) for one in subjects), len(subjects), say)
    results = _each_once(((_results(one, say), one["name"]) for one in subjects), len(subjects), say)
    return [*setups, *results] if len(subjects) > 1 else [f"{setups[0]} {results[0]}"]


def held(subjects: Sequence[Mapping[str, Any]], say: Translator) -> list[str]:
    """Return how many documents of each system the page contains; what is the same for several systems is said once."""

    def said(subject: Mapping[str, Any]) -> str:
        n, documents = len(subject["explorer"]), subject["documents"]
        return say("explorer.all", n=n) if n == documents else say("explorer.held", n=n, documents=documents)

    return _each_once(((said(one), one["name"]) for one in subjects), len(subjects), say)


def _setup(subject: Mapping[str, Any], version: str, say: Translator) -> str:
    certificate = (subject["certificate"] or {"verdict": "unknown"})["verdict"]
    text = say(
        "methods.setup",
        version=version,
        signature=show_hidden(subject["signature"]["short"]),
        certificate=say(f"verdict.{certificate}"),
    )
    text += f" {provenance(subject['provenance'], say)}."
    found = next((line["interval"] for line in subject["headline"] if line["interval"]), None)
    if found and subject["sampled"]:
        text += f" {basis(found, subject['sampled'], say)}"
    return f"{text} {say('methods.cite', version=version)}"


def _results(subject: Mapping[str, Any], say: Translator) -> str:
    counts = {name: say.language.number(value, 0) for name, value in subject["counts"].items()}
    text = say(
        "methods.results",
        documents=subject["documents"],
        failed=subject["failed"],
        vacuous=subject["vacuous"],
        entries=show_hidden(subject["entries"]) or say("whole"),
        **{name: counts[name] for name in ("gold", "predicted", "matched")},
    )
    averages = ("macro", "micro") if subject["documents"] > 1 else ("micro",)
    return " ".join((text, *(_scores(subject, average, say) for average in averages)))


def _scores(subject: Mapping[str, Any], average: str, say: Translator) -> str:
    """Return the main scores, macro or micro; the macro f1q has its interval, if known."""
    lines = {line["name"]: line for line in subject["headline"]}
    values = {name: say.language.number(lines[name][average]) for name in ("f1q", "imq", "irq", "amq")}
    if average == "macro" and (ends := lines["f1q"]["interval"]):
        low, high = (say.language.number(ends[end]) for end in ("low", "high"))
        level = say.level(ends["level"])
        values["f1q"] = say("methods.interval", score=values["f1q"], level=level, low=low, high=high)
    return say(f"methods.{average}", **values)
