"""Intervals, tests and the provenance of the gold in words, in the terminal, the report and its methods text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import show_hidden

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.language import Translator

NAMED: Final = 5
"""Maximum number of systems named in one sentence; the rest are counted."""

_LEAST: Final = 1e-4


def sampled(found: Mapping[str, Any], say: Translator) -> str:
    """Describe the sampling units of an interval, given its `documents`, `clusters` and `runs`.

    >>> from arbitre.language import Language, Translator
    >>> sampled({"documents": 12, "clusters": 4, "runs": True}, Translator(Language.EN))
    '12 documents in 4 clusters (runs of one document)'
    """
    text = say("units.documents", n=found["documents"])
    if found["clusters"] is None:
        return text
    text = say("units.clustered", documents=text, clusters=say("units.clusters", n=found["clusters"]))
    return f"{text} {say('units.runs')}" if found["runs"] else text


def provenance(groups: Sequence[Sequence[str]], say: Translator) -> str:
    r"""Return the provenance of the gold as one line, given the parts of its headline (`GoldProvenance.parts`).

    >>> from arbitre.language import Language, Translator
    >>> provenance([["single annotator (ada)"]], Translator(Language.FR))
    'Référence\xa0: un seul annotateur (ada)'
    """
    texts = [", ".join(show_hidden(say.sentence(part)) for part in parts) for parts in groups]
    return f"{say('gold')}{say('colon')}{say('list.groups').join(texts)}"


def basis(interval: Mapping[str, Any], units: Mapping[str, Any] | None, say: Translator) -> str:
    """Describe how an interval was computed: level, method, number of resamples, and sampling units if known."""
    resampled = say("basis.resamples", n=interval["resamples"]) if interval["resamples"] else say("basis.no_resamples")
    text = say(
        "basis",
        level=say.level(interval["level"]),
        method=say(f"method.{interval['method']}"),
        resampled=resampled,
    )
    return f"{text} {say('basis.units', units=sampled(units, say))}" if units else text


def contrast_basis(tests: Sequence[Mapping[str, Any]], units: Mapping[str, Any] | None, say: Translator) -> str:
    """Describe how the intervals of differences were computed; empty without intervals."""
    known = [one for one in tests if one["level"] is not None]
    if not known:
        return ""
    drawn = max((one["swaps"] for one in known if not one["exact"]), default=None)
    swaps = say("methods.exact") if drawn is None else say("methods.drawn", n=drawn)
    text = say("basis.difference", swaps=swaps, level=say.level(known[0]["level"]))
    return f"{text} {say('basis.units', units=sampled(units, say))}" if units else text


def verdict(tests: Sequence[Mapping[str, Any]], score: str, pairs: int, alpha: float, say: Translator) -> str:
    """Summarise the tests of one system against others in one sentence.

    Args:
        tests: Tests of the view with the same `a`: all significant, all not significant, or all without a p.
        score: Name of the score.
        pairs: Number of tests that were corrected together.
        alpha: Significance level.
        say: Translator.
    """
    one = tests[0]
    ours, theirs = _name(one["a"], say), _names([test["b"] for test in tests], say)
    if len(tests) == 1 and one["significant"] and one["difference"] < 0.0:
        ours, theirs = theirs, ours
    if one["p"] is None:
        return say("shown.unknown", a=ours, b=theirs)
    if not any(test["differing"] for test in tests):
        return say(f"shown.same.{_units(one)}", a=ours, b=theirs, score=score)
    pick = max if one["significant"] else min
    sign = "=" if len(tests) == 1 else "≤" if one["significant"] else "≥"
    found = probability(pick(test["adjusted"] for test in tests), sign, say)
    corrected = say("shown.corrected", correction=one["correction"], n=pairs) if pairs > 1 else ""
    if one["significant"]:
        return say("shown.differ", a=ours, b=theirs, p=found + corrected)
    text = found + corrected + _limit(tests, pairs, alpha, say)
    if len(tests) > 1:
        return say("shown.none.several", a=ours, b=theirs, p=text)
    return say("shown.none", a=ours, b=theirs, p=text)


def lead(systems: Mapping[str, Any], say: Translator) -> str:
    """Summarise which system has the highest score, and its tests.

    `systems` is a `SystemsView` in JSON form.
    """
    board = [one for one in systems["board"] if one["score"] is not None]
    if len(board) < 2:  # noqa: PLR2004
        return ""
    named = [f"{show_hidden(one['name'])} ({say.language.number(one['score'], 2)})" for one in board]
    if systems["tests"] is None:
        return say("lead.untested", scores=_listed(named, say))
    alpha = round(1.0 - systems["level"], 12)
    tests = [facing(one, board[0]["name"]) for one in systems["tests"]]
    pairs = sum(one["p"] is not None for one in tests)
    own = [one for one in tests if one["a"] == board[0]["name"]]
    parts = [say("lead.two", scores=", ".join(named)) if len(board) == 2 else say("lead.highest", first=named[0])]  # noqa: PLR2004
    tested = [one for one in own if one["p"] is not None]
    for some in (
        [one for one in tested if one["significant"]],
        [one for one in tested if not one["significant"]],
        [one for one in own if one["p"] is None],
    ):
        if some:
            text = verdict(some, systems["score"], pairs, alpha, say)
            parts.append(f"{text if some[0]['significant'] else text[:1].upper() + text[1:]}.")
    if len(board) > 2:  # noqa: PLR2004
        parts.append(say("lead.pairs", n=sum(one["significant"] for one in tests), pairs=pairs))
    return " ".join(parts)


def to_best(systems: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    """Return the test of each system of the board against the first one, as the system minus the first.

    None for the first system, and for systems without such a test.
    """
    names = [one["name"] for one in systems["board"]]
    found = {
        name: facing(test, name)
        for test in systems["tests"] or ()
        for name in (test["a"], test["b"])
        if name != names[0] and names[0] in {test["a"], test["b"]}
    }
    return [found.get(name) for name in names]


def detectable(systems: Mapping[str, Any], say: Translator) -> str:
    """State the smallest difference to the best system that would be detected; empty if there is none."""
    known = [one["detectable"] for one in to_best(systems) if one is not None and one["detectable"] is not None]
    if not known:
        return ""
    least, most = (say.language.number(value, 2) for value in (min(known), max(known)))
    return say("detectable", found=least) if least == most else say("detectable.range", least=least, most=most)


def procedure(systems: Mapping[str, Any], say: Translator) -> str:
    """Describe how systems were compared, for a methods section; empty without tests."""
    if systems["tests"] is None or not systems["sampled"]:
        return ""
    method = next((one["interval"]["method"] for one in systems["board"] if one["interval"]), "clopper-pearson")
    tests = [one for one in systems["tests"] if one["p"] is not None]
    drawn = {one["swaps"] for one in tests if not one["exact"]}
    unit = "cluster" if systems["sampled"]["clusters"] is not None else "document"
    return say(
        "methods.systems",
        score=systems["score"],
        average=say(f"average.{systems['average']}"),
        units=sampled(systems["sampled"], say),
        level=say.level(systems["level"]),
        method=say(f"method.{method}"),
        unit=say(f"units.one.{unit}"),
        swaps=say("methods.drawn", n=max(drawn)) if drawn else say("methods.exact"),
        correction=say(f"methods.{tests[0]['correction']}", n=len(tests)) if len(tests) > 1 else say("methods.single"),
    )


def probability(p: float, sign: str, say: Translator) -> str:
    """Format a p-value with its relation sign, to three significant digits.

    >>> from arbitre.language import Language, Translator
    >>> probability(0.75, "=", Translator(Language.EN)), probability(0.00001, "=", Translator(Language.EN))
    ('p = 0.75', 'p < 0.0001')
    """
    return f"p < {_digits(_LEAST, say)}" if p < _LEAST and sign != "≥" else f"p {sign} {_digits(p, say)}"


def _limit(tests: Sequence[Mapping[str, Any]], pairs: int, alpha: float, say: Translator) -> str:
    """Explain that no significant result was possible, if so; otherwise return an empty text."""
    able = min(tests, key=lambda test: (test["smallest_p"], -test["differing"]))
    smallest = able["smallest_p"]
    by_holm = pairs > 1 and able["correction"] == "Holm"
    if smallest * (pairs if by_holm else 1) <= alpha:
        return ""
    units = _units(able)
    every = able["differing"] == able["clusters" if units == "clusters" else "shared"]
    counted = say(f"units.{units}" if every else f"differing.{units}", n=able["differing"])
    if by_holm:
        return say("shown.limit.unadjusted", units=counted, smallest=_digits(smallest, say))
    return say("shown.limit", units=counted, smallest=_digits(smallest, say))


def _units(test: Mapping[str, Any]) -> str:
    """Return what a test swaps: "clusters" or "documents"."""
    return "documents" if test["clusters"] in {None, test["shared"]} else "clusters"


def facing(test: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the test with the named system as `a`, if it takes part."""
    if test["b"] != name:
        return test
    turned = {"difference": test["difference"], "low": test["high"], "high": test["low"]}
    ends = {key: None if value is None else 0.0 - value for key, value in turned.items()}
    return {**test, "a": test["b"], "b": test["a"], **ends}


def _digits(value: float, say: Translator) -> str:
    digits = 4 if value < 0.001 else 3  # noqa: PLR2004
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".") if value < _LEAST * 10 else f"{value:.3g}"
    return say.language.written(text)


def _name(name: str, say: Translator) -> str:
    return show_hidden(name) or say("empty")


def _names(names: Sequence[str], say: Translator) -> str:
    return _listed([_name(name, say) for name in names], say)


def _listed(names: Sequence[str], say: Translator) -> str:
    """Join names into an enumeration, shortened if there are many."""
    shown = list(names[:NAMED]) if len(names) > NAMED + 1 else list(names)
    last = say("list.more", n=len(names) - len(shown)) if len(shown) < len(names) else shown.pop()
    return say("list.and", first=", ".join(shown), last=last) if shown else last
