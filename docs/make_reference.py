"""Write what is declared in the code into the reference and the Python interface.

python docs/make_reference.py

Writes the tables of options in `reference/commands.md`, the tables between `<!-- from the code: NAME -->` and
`<!-- end -->` in the other pages of the reference, and the attributes between `# from arbitre.options: GROUPS` and
`# end of the options` in the modules that have such a block.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections import defaultdict
from dataclasses import replace
from enum import Enum
from functools import cache, cached_property, partial
from inspect import Parameter
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args, get_origin

import arbitre
from arbitre import bundled, normalizers, options
from arbitre.cli.declarations import DECLARATIONS
from arbitre.comparison.cause import KINDS
from arbitre.distances import builtin_distances
from arbitre.errors import show_hidden
from arbitre.gold import checks
from arbitre.matching import builtin_matchers
from arbitre.options import REQUIRED, options_of
from arbitre.suggestions import label_advice, schema_advice
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from arbitre.catalogue import Factory
    from arbitre.distances.base import Distance, Facts
    from arbitre.options import Option

ROOT: Final = Path(__file__).resolve().parents[1]
REFERENCE: Final = Path(__file__).with_name("reference")
COMMANDS: Final = REFERENCE / "commands.md"
MARKED: Final = re.compile(r"(<!-- from the code: ([a-z]+) -->\n)[^<]*(?:<(?!!-- end)[^<]*)*(\n<!-- end -->)")
SOURCE: Final = ROOT / "src" / "arbitre"
BLOCK: Final = re.compile(r"( +)# from arbitre\.options: (.+)\n(?:.*\n)*?\1# end of the options\n")
WIDTH: Final = 120
SENTENCE: Final = "the cat sat on the mat", "the cat sat on a mat"
DISTANCE_EXAMPLES: Final[dict[str, tuple[dict[str, Any], Any, Any]]] = {
    "exact": ({}, 1, 1.0),
    "yujian-bo": ({}, "kitten", "sitting"),
    "levenshtein": ({}, "kitten", "sitting"),
    "indel": ({}, "kitten", "sitting"),
    "indel-yujian-bo": ({}, "kitten", "sitting"),
    "osa": ({}, "Maria", "Mraia"),
    "damerau-levenshtein": ({}, "ca", "abc"),
    "lcs": ({}, "kitten", "sitting"),
    "jaro": ({}, "Martha", "Marhta"),
    "jaro-winkler": ({}, "Martha", "Marhta"),
    "ratcliff-obershelp": ({}, "kitten", "sitting"),
    "token-sort": ({}, "Ada Lovelace", "Lovelace Ada"),
    "token-set": ({}, "Ada Lovelace", "Ada"),
    "jaccard-ngrams": ({}, "kitten", "kitchen"),
    "date": ({}, "1918-11-03", "1918-11-13"),
    "duration": ({}, "PT90M", "PT1H"),
    "time": ({}, "23:00", "01:00"),
    "uuid": ({}, "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff8b86d011b42d00c04fc964ff"),
    "iban": ({}, "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    "isbn": ({}, "0-306-40615-2", "9780306406157"),
    "doi": ({}, "10.1000/182", "https://doi.org/10.1000/182"),
    "email": ({}, "ada@example.org", "ada@EXAMPLE.org"),
    "uri": ({}, "http://example.org/a", "HTTP://example.org:80/b/../a"),
    "taxonomy": ({"parents": {"cat": "animal", "dog": "animal", "animal": "being"}}, "cat", "animal"),
    "absolute": ({"scale": 10}, 36, 38),
    "relative": ({}, 8, 10),
    "log": ({"scale": 1}, 100, 1000),
    "rounded": ({"grid": 10}, 36, 38),
    "tolerance": ({"within": 1}, 36, 38),
    "cycle": ({"period": 12}, 1, 11),
    "jaccard": ({}, ["a", "b"], ["b", "c"]),
    "dice": ({}, ["a", "b"], ["b", "c"]),
    "span": ({}, {"start": 0, "end": 4}, {"start": 2, "end": 4}),
    "ordinal": ({"order": ["low", "medium", "high"]}, "low", "medium"),
    "table": ({"values": ["red", "pink"], "costs": [[0, 0.2], [0.2, 0]]}, "red", "pink"),
    "rouge-n": ({}, *SENTENCE),
    "rouge-1": ({}, *SENTENCE),
    "rouge-2": ({}, *SENTENCE),
    "rouge-l": ({}, *SENTENCE),
    "rouge-s": ({}, *SENTENCE),
    "rouge-lsum": ({}, *SENTENCE),
    "bleu": ({}, *SENTENCE),
    "chrf": ({}, *SENTENCE),
    "window-diff": ({"k": 2}, "0100100", "0010100"),
    "pk": ({"k": 2}, "0100100", "0010100"),
    "generalized-hamming": ({}, "0100100", "0010100"),
}
"""Options, a gold value and a predicted value for each distance."""
NORMALISER_EXAMPLES: Final[dict[str, tuple[dict[str, Any], Any]]] = {
    "strip": ({}, " Ada "),
    "casefold": ({}, "Straße"),
    "lower": ({}, "Ada"),
    "upper": ({}, "Ada"),
    "nfc": ({}, "e\u0301"),
    "as-written": ({}, "é"),
    "nfkc": ({}, "ﬁn x²"),
    "unaccent": ({}, "Éléonore"),
    "base-letters": ({}, "Łódź, œuvre"),
    "squash-space": ({}, " Ada   Lovelace "),
    "strip-invisible": ({}, "Ada\u200e"),
    "dehyphenate": ({}, "inter- national"),
    "strip-markup": ({}, "<i>Nana</i>, by **Zola**"),
    "roman": ({}, "XIV"),
    "fraction": ({}, "3 1/2"),
    "digits": ({}, "No. 12-7"),
    "numbers": ({}, "p. 12-15"),
    "text": ({}, 36),
    "decimal": ({}, "12.50"),
    "amount": ({}, "1.234,50 €"),
    "mixed-units": ({"units": {"£": 1, "s": 20, "d": 240}}, "£3 5s. 6d."),
    "strip-punctuation": ({}, "U.S.A."),
    "number": ({"decimal": ","}, "1 234,5"),
    "date": ({"formats": ["%d/%m/%Y"]}, "03/11/1918"),
    "authority": ({"names": {"Lyon": ["Lugdunum"]}}, "Lugdunum"),
    "concat": ({"separator": " "}, ["Ada", "Lovelace"]),
}
"""Options and a value for each normaliser."""
MATCHING_EXAMPLE: Final = (("Ada", "Bob", "Cy"), ("Bob", "Cyd", "Ada"))
"""Names in gold, and predicted names."""
WEAKER: Final = {"hungarian": ("a `gate`", {"gate": 0.7}), "transport": ("other solvers", {"solver": "sinkhorn"})}
"""Options that decide whether a matching keeps a metric, in words and as in a schema."""
PUBLIC_MODULES: Final = (
    "arbitre",
    *(f"arbitre.{name}" for name in ("agreement", "confidence", "entities", "text")),
)
"""Modules with public functions."""
OWN_TABLES: Final = {
    "comparator": arbitre.Comparator,
    "comparison": arbitre.Comparison,
    "evaluation": arbitre.Evaluation,
}
"""Classes that have a table of their own."""
INTERNAL: Final = ("Callable", "ClassVar", "DetailReader", "DocumentTable", "InitVar", "Subschema", "_", "tuple[Level")
"""Attributes of these types are not part of the interface."""
AS_COMMAND: Final = re.compile(r"as `arbitre ([a-z -]+?)(?: --[a-z-]+)?` does")
"""How a docstring names the command that does the same."""
COMMON: Final = "of", "to_dict", "from_dict"
"""Methods that most results have; the page names them once."""
INTRODUCTION: Final = "demo"
"""Command that comes first on the page, but whose shared options are described under other commands."""


def commands(page: str) -> str:
    """Return the page of the commands with its tables of options regenerated."""
    sections = re.split(r"(?m)^(?=## )", page)
    for at, section in enumerate(sections):
        words = re.match(r"## arbitre (.+)\n", section)
        if words and words[1] in DECLARATIONS:
            table = "\n".join(["| option | meaning |", "|---|---|", *_rows(words[1])]) + "\n"
            sections[at] = re.sub(r"\| option \| meaning \|\n(\|.*\n)*", lambda _, made=table: made, section)
    return "".join(sections)


@cache
def _described() -> dict[Option, str]:
    """Return the command that describes each option: the first on the page that takes it."""
    pattern = r"(?m)^## arbitre (.+)$"
    listed = [words for words in re.findall(pattern, COMMANDS.read_text(encoding="utf-8")) if words in DECLARATIONS]
    found: dict[Option, str] = {}
    for words in sorted(listed, key=lambda words: words == INTRODUCTION):
        for option in options_of(DECLARATIONS[words]):
            if not option.positional:
                found.setdefault(replace(option, group=""), words)
    return found


def _rows(words: str) -> Iterator[str]:
    """Yield the rows of a command. Options that another command describes are in one row for each such command."""
    same: dict[str, list[Option]] = defaultdict(list)
    for option in options_of(DECLARATIONS[words]):
        if not option.positional:
            shared = replace(option, group="")
            same[_described()[shared]].append(shared)
    for option in same.pop(words, []):
        yield f'| <a id="{_anchor(words, option)}"></a>{_names(option)} | {_meaning(option)} |'
    for other, shared in same.items():
        names = ", ".join(f"[{_names(option)}](#{_anchor(other, option)})" for option in shared)
        yield f"| {names} | see [`{other}`](#arbitre-{other.replace(' ', '-')}) |"


def _anchor(words: str, option: Option) -> str:
    """Return the id of the row that describes an option."""
    return f"{words} {option.name}".replace(" ", "-").replace("_", "-")


def options_index() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the index of all options: the option, and the commands that take it."""
    yield "option", "commands"
    taken: dict[Option, list[str]] = {option: [] for option in _described()}
    for words in DECLARATIONS:
        for option in options_of(DECLARATIONS[words]):
            if not option.positional:
                taken[replace(option, group="")].append(words)
    for option, words in sorted(_described().items(), key=lambda item: (item[0].names[0], item[1])):
        link = f"reference/commands.md#{_anchor(words, option)}"
        everywhere = len(taken[option]) == len(DECLARATIONS)
        yield f"[{_names(option)}]({link})", "all" if everywhere else ", ".join(f"`{one}`" for one in taken[option])


def _names(option: Option) -> str:
    return ", ".join(f"`{name}`" for name in option.names)


def _meaning(option: Option) -> str:
    """Return the help of an option as Markdown, with its values, its default and what the reference adds."""
    text = _markdown(option.help, lambda part: re.sub(r"(--[a-z][a-z-]*)", r"`\1`", part))
    kinds = (option.type, *get_args(option.type))  # values may be optional
    values = [str(value) for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    if values:
        text += f" Values: {', '.join(f'`{value}`' + ' (default)' * (value == option.default) for value in values)}."
    elif option.default is REQUIRED:
        text += " Required."
    elif option.default not in {None, ()} and option.type is not bool:
        default = f"{option.default:,}" if isinstance(option.default, int) else f"{option.default}"
        text += f" Default: `{default}`."
    return _linked(f"{text} {option.more}".rstrip())


def _markdown(text: str, change: Callable[[str], str] = str) -> str:
    """Return plain text, changed outside of code, as Markdown: signs that have a meaning in Markdown are escaped."""
    return "".join(
        part if part.startswith("`") else re.sub(r"([*|]|<(?=\w))", r"\\\1", change(part))
        for part in re.split(r"(`[^`]*`)", text)
    )


def _linked(text: str) -> str:
    """Return Markdown with its links, which are relative to `docs/` in the code, relative to `docs/reference/`."""
    return re.sub(r"\]\((reference/)?(?=[\w/-]+\.md)", lambda found: "](" if found[1] else "](../", text)


def causes() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the kinds of causes."""
    yield "kind", "what you see", "how arbitre detects it", "gain measured by", "what to do"
    for name, kind in KINDS.items():
        yield f"`{name}`", kind.seen, kind.found, kind.gain, kind.todo


def gold_checks() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the problems in gold."""
    yield "check", "what it reports"
    yield from ((f"`{name}`", kind.reports) for name, kind in checks.CHECKS.items())


def gold_warnings() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the warnings about gold."""
    yield "warning", "what it reports"
    yield from ((f"`{name}`", kind.reports) for name, kind in checks.WARNINGS.items())


def schema_advice_kinds() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the kinds of advice on a schema."""
    yield "kind", "what is found", "minimum evidence", "settings"
    yield from ((f"`{name}`", *kind) for name, kind in schema_advice.KINDS.items())


def data_advice() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the advice on data, with the default thresholds."""
    yield "check", "reported if", "default"
    defaults = arbitre.Thresholds()
    for name, check in label_advice.CHECKS.items():
        yield f"`{name}`", check.reported, " and ".join(f"{getattr(defaults, one):g}" for one in check.thresholds)


def distances() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the distances, with an example that is computed."""
    yield "name", "options", "compares", "metric", "definition", "example"
    for name, entry in builtin_distances.catalogue.entries.items():
        choice, gold, predicted = DISTANCE_EXAMPLES[name]
        distance = builtin_distances.catalogue.build({name: choice})
        example = f"`d({_json(gold)}, {_json(predicted)}) = {distance(gold, predicted):.3g}`"
        yield (
            f"`{name}`",
            choices(entry),
            _compared(distance),
            _fact(distance.facts),
            entry.summary,
            (f"with `{_json(choice)}`, " if choice else "") + example,
        )


def _compared(distance: Distance) -> str:
    """Return the kinds of values that a distance compares, in words."""
    named = {Kind.ARRAY: "lists", Kind.OBJECT: "objects", Kind.NUMBER: "numbers", Kind.STRING: "texts"}
    if distance.kinds == frozenset(Kind):
        return "anything"
    if {Kind.STRING, Kind.NUMBER} <= distance.kinds:
        return "scalars"
    return ", ".join(word for kind, word in named.items() if kind in distance.kinds)


def _fact(facts: Facts) -> str:
    """Return whether a distance is a metric, and if not, why."""
    if facts.pseudometric:
        return "yes" if facts.metric else "pseudo"
    return "no: not symmetric" if not facts.symmetric else "no: triangle inequality fails"


def normalisers() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the normalisers, with an example that is computed."""
    yield "name", "options", "result", "example"
    for name, entry in normalizers.catalogue.entries.items():
        choice, value = NORMALISER_EXAMPLES[name]
        example = f"`{_json(value)}` gives `{_json(normalizers.catalogue.build({name: choice})(value))}`"
        yield (
            f"`{name}`",
            choices(entry),
            entry.summary,
            (f"with `{_json(choice)}`, " if choice else "") + example,
        )


def matchings() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the matchings, with the pairs that each makes of the same lists."""
    yield "name", "options", "pairs", "keeps a metric", "example"
    gold, predicted = ([{"name": name} for name in side] for side in MATCHING_EXAMPLE)
    for name, entry in builtin_matchers.catalogue.entries.items():
        choice = {"key": "name"} if entry.required else {}
        items = {"type": "object", "properties": {"name": {"type": "string"}}}
        schema = {"type": "array", "items": items, "x-arbitre": {"match": {name: choice}}}
        alignment = arbitre.Comparator(schema).compare(gold=gold, predicted=predicted).alignment("")
        pairs = ", ".join(f"{gold[pair.gold]['name']}–{predicted[pair.predicted]['name']}" for pair in alignment.pairs)
        matcher = builtin_matchers.catalogue.build({name: choice})
        kept = ("yes" if matcher.separating else "pseudo") if matcher.metric else "no"
        if name in WEAKER:
            words, other = WEAKER[name]
            kept += f"; {'yes' if builtin_matchers.catalogue.build({name: other}).metric else 'no'} with {words}"
        yield f"`{name}`", choices(entry), entry.summary, kept, pairs


def choices(entry: Factory[Any]) -> str:
    """Return the options of a catalogue entry with their defaults."""
    parts = []
    for name, schema in entry.options.items():
        note = " (required)" if name in entry.required else ""
        default = f" = {json.dumps(schema['default'])}" if "default" in schema else ""
        parts.append(f"`{name}`{note}{default}")
    return ", ".join(parts)


def _json(value: Any) -> str:  # noqa: ANN401  (any JSON)
    return show_hidden(json.dumps(value, ensure_ascii=False))


class Member(NamedTuple):
    """A function, or an attribute or a method of a class, as the reference lists it."""

    call: str
    """Its name, with the parameters of a function."""
    type: str
    """Type of its value, or of what it returns."""
    text: str
    """Its docstring up to its sections and examples, in one line."""
    module: str
    """Module in which the type has its meaning."""

    def row(self) -> tuple[str, str, str]:
        """Return the row of a table. Parameters come last, as names in the first column are not broken."""
        kinds = re.split(r" \| (?![^\[]*\])", self.type)
        name, called, parameters = self.call.removesuffix(")").partition("(")
        text = f"{self.text} Parameters: `{parameters}`." if parameters else self.text
        return f"`{name}{'()' if called else ''}`", " or ".join(f"`{kind}`" for kind in kinds), text


def functions() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the public functions."""
    yield "function", "returns", "what it does"
    for name, function in _functions("arbitre"):
        text = re.sub(rf",? {AS_COMMAND.pattern}", "", _first_sentence(inspect.unwrap(function)))
        text = text if name == function.__name__ else f"Former name of `{function.__name__}`."
        yield _function(name, function)._replace(text=text).row()


def _functions(module: str) -> Iterator[tuple[str, FunctionType]]:
    """Yield the public functions of a module by name."""
    public = importlib.import_module(module)
    found = ((name, getattr(public, name)) for name in sorted(public.__all__))
    yield from ((name, function) for name, function in found if isinstance(function, FunctionType))


def _function(name: str, function: FunctionType) -> Member:
    inner = inspect.unwrap(function)
    call = f"{name}({_parameters(inner)})"
    return Member(call, inner.__annotations__.get("return", "None"), _prose(inner.__doc__), inner.__module__)


def _parameters(function: FunctionType) -> str:
    """Return the parameters of a function with their defaults; `**options` are not spelled out."""
    own = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    shown = [one for one in inspect.signature(function).parameters.values() if one.name in own]
    parts = []
    for one in shown:
        if one.name in {"self", "cls"}:
            continue
        if one.kind is Parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = "" if one.default is Parameter.empty else f"={_default(one.default)}"
        parts.append(f"{one.name}{default}")
    if function.__code__.co_flags & inspect.CO_VARKEYWORDS:
        parts.append(f"**{function.__code__.co_varnames[len(own)]}")
    return ", ".join(parts)


def _default(value: object) -> str:
    """Return a default as text, without what differs between runs and versions."""
    plain = value is None or isinstance(value, bool | int | float | str | tuple)
    return repr(value) if plain else "..."


def _prose(docstring: str | None) -> str:
    """Return a docstring in one line, up to its sections and examples."""
    text = re.split(r"(?m)^(?:Args|Attributes|Raises|Returns):\n|^>>> ", inspect.cleandoc(docstring or ""))[0]
    return " ".join(text.split())


def _first_sentence(member: object) -> str:
    """Return the first sentence of a docstring, in one line."""
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", _prose((inspect.getdoc(member) or "").partition("\n\n")[0]))[0]


def command_functions() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the commands: the functions whose docstrings say that they do the same."""
    yield "command", "in Python", "returns"
    for words, found in python_of_commands().items():
        link = f"[`{words}`](reference/commands.md#arbitre-{words.replace(' ', '-')})"
        rows = [member.row() for _, member in found.values()]
        yield link, ", ".join(f"`{name}`" for name in found), ", ".join(dict.fromkeys(row[1] for row in rows))


@cache
def python_of_commands() -> dict[str, dict[str, tuple[object, Member]]]:
    """Return the functions of each command by their names, with what describes them."""
    known: dict[str, tuple[object, Member]] = {}
    for module in PUBLIC_MODULES:
        place = module.removeprefix("arbitre").removeprefix(".")
        for name, function in _functions(module):
            if place or name in arbitre.__all__:
                known[f"{place}.{name}".lstrip(".")] = function, _function(name, function)
    for kind in (arbitre.Comparator, arbitre.Evaluation, arbitre.Config):
        for name, member in members(kind).items():
            known[f"{kind.__name__}.{name}"] = getattr(kind, name, None), member
    return {
        words: {name: one for name, one in known.items() if words in AS_COMMAND.findall(one[1].text)}
        for words in DECLARATIONS
        if words != INTRODUCTION
    }


@cache
def members(kind: type) -> dict[str, Member]:
    """Return the public attributes and methods of a class by name, in the order of their definition."""
    found: dict[str, Member] = {}
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("arbitre.")]
    texts = {name: text for base in bases for name, text in _attribute_texts(base).items()}
    for base in bases:
        for name, annotation in inspect.get_annotations(base).items():
            text = getattr(annotation, "__forward_arg__", annotation)  # of a named tuple
            found[name] = Member(name, text, texts.get(name, ""), base.__module__)
        for name, member in vars(base).items():
            if isinstance(member, property | cached_property):
                function = member.fget if isinstance(member, property) else member.func
                found[name] = _function(name, function)._replace(call=name)
            elif isinstance(member, FunctionType | classmethod | staticmethod):
                found[name] = _function(name, getattr(member, "__func__", member))
        if isinstance(text := vars(base).get("__str__"), FunctionType) and text.__doc__:
            found[f"str({kind.__name__.lower()})"] = _function("", text)._replace(call=f"str({kind.__name__.lower()})")
    internal = {name for name, one in found.items() if name.startswith("_") or one.type.startswith(INTERNAL)}
    return {name: one for name, one in found.items() if name not in internal and "former name" not in one.text.lower()}


@cache
def _attribute_texts(kind: type) -> dict[str, str]:
    """Return the descriptions of the attributes of a class: under `Attributes:`, or in a docstring of their own."""
    listed = re.findall(
        r"(?m)^    (\w+): (.*(?:\n {8,}.*)*)", (inspect.getdoc(kind) or "").partition("Attributes:\n")[2]
    )
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    own = {
        ast.unparse(attribute.target): text.value.value
        for attribute, text in pairwise(definition.body)
        if isinstance(attribute, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    return {name: _prose(text) for name, text in (*listed, *own.items())}


def _table_of(kind: type) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the attributes and methods of a class."""
    yield f"`{kind.__name__}`", "type", "what it is"
    yield from (member.row() for member in members(kind).values())


def classes() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the public classes and modules."""
    yield "name", "what it is", "attributes and methods"
    for name in sorted(arbitre.__all__):
        member = getattr(arbitre, name)
        if not isinstance(member, FunctionType) and inspect.getdoc(member) and getattr(member, "__name__", ""):
            own = member.__name__.rpartition(".")[2]
            text = _first_sentence(member) if name == own else f"Former name of `{own}`."
            yield f"`{name}`", text, _listed(member) if name == own else ""


def results() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the classes of results that are not exported."""
    yield "name", "what it is", "attributes and methods"
    for kind in sorted(_reached(), key=lambda kind: kind.__name__):
        yield f"`{kind.__name__}`", _first_sentence(kind), _listed(kind, without=COMMON)


def _listed(member: object, without: Collection[str] = ()) -> str:
    """Return the names of the members of a class or a module; of a class with a table of its own, a link to it."""
    if not isinstance(member, type):
        return ", ".join(f"`{name}`" for name in getattr(member, "__all__", ()))
    if member in OWN_TABLES.values():
        return f"see [below](#{member.__name__.lower()})"
    base = next((kind for kind in member.__mro__[1:] if kind.__name__ in arbitre.__all__), None)
    inherited = members(base) if base else {}
    own = [
        re.sub(r"(?s)\(.+\)", "()", one.call)
        for name, one in members(member).items()
        if name not in {*inherited, *without}
    ]
    return ", ".join([f"those of `{base.__name__}`" if base else "", *(f"`{call}`" for call in own)]).removeprefix(", ")


@cache
def _reached() -> set[type]:
    """Return the classes that are not exported, but that public functions and members return, also within others."""
    public = {getattr(arbitre, name) for name in arbitre.__all__}
    pending = [_function(name, function) for module in PUBLIC_MODULES for name, function in _functions(module)]
    pending += [one for kind in public if isinstance(kind, type) for one in members(kind).values()]
    reached: set[type] = set()
    while pending:
        member = pending.pop()
        for name in re.findall(r"\w+", member.type):
            kind = _class_named(name, member.module)
            if kind is not None and kind not in reached | public:
                reached.add(kind)
                pending += members(kind).values()
    return reached


def _class_named(name: str, module: str) -> type | None:
    """Return the class that a name in an annotation of a module stands for; None if it is not one of arbitre."""
    found = getattr(sys.modules[module], name, None)
    if found is None and name in _imported(module):
        found = getattr(importlib.import_module(_imported(module)[name]), name, None)
    own = isinstance(found, type) and found.__module__.startswith("arbitre.")
    return found if own and not issubclass(found, Enum) else None


@cache
def _imported(module: str) -> dict[str, str]:
    """Return the modules that the names imported in a module come from, also if only for its types."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in statements for alias in node.names if node.module}


def tables(page: str) -> str:
    """Return a page with the tables between its marks regenerated."""

    def table(found: re.Match[str]) -> str:
        head, *rows = MADE[found[2]]()
        lines = [head, ("---",) * len(head), *rows]
        made = "".join(f"| {' | '.join(map(_cell, cells))} |\n" for cells in lines)
        return f"{found[1]}\n{made}{found[3]}"

    return MARKED.sub(table, page)


def _cell(text: str) -> str:
    """Return a cell of a table: bars outside of code are escaped, and links are relative to the page."""
    return _linked(re.sub(r"(?<!\\)\|", r"\\|", text))


def module(text: str) -> str:
    """Return the source of a module with its blocks of options regenerated."""
    return BLOCK.sub(lambda found: _block(text, found), text)


def _block(text: str, found: re.Match[str]) -> str:
    indent, groups = found[1], found[2]
    names, _, left_out = groups.partition(" without ")
    declared = options_of(*(getattr(options, name) for name in names.split(", ")))
    head = text[: found.start()].rpartition("\nclass ")[2].partition(":\n")[0]
    values = "Keywords" not in head
    lines = [f"{indent}# from arbitre.options: {groups}"]
    for option in declared:
        if option.name not in left_out.split(", "):
            lines += [indent + _attribute(option, values=values), *_docstring(option, indent)]
    return "\n".join([*lines, f"{indent}# end of the options\n"])


def _attribute(option: Option, *, values: bool) -> str:
    """Return an attribute; with `values`, with its default."""
    kind = option.annotation
    if not values:
        return f"{option.name}: {kind}"
    return f"{option.name}: {option.field or f'{kind} = {_value(option.default)}'}"


def _value(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _docstring(option: Option, indent: str) -> list[str]:
    """Return the help of an option as a docstring."""
    lines = textwrap.wrap(f'"""{_in_python(option)}', WIDTH - len(indent) - 3, break_on_hyphens=False)
    return [indent + line for line in [*lines[:-1], lines[-1] + '"""']]


def _in_python(option: Option) -> str:
    """Return the help of an option, with the names of options as in Python."""
    text = re.sub(r"(?<![`\w])--([a-z][a-z-]*)", lambda name: f"`{name[1].replace('-', '_')}`", option.help)
    text = re.sub(r" (May be repeated|Repeat the option[^.]*)\.$", "", text)
    return text.replace("Default:", "None means") if option.default is None else text


def keywords(function: Callable[..., Any], without: Callable[..., Any] | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the declared options of a function: the name, with a link to its description, and the default.

    Args:
        function: The function, or a class.
        without: A function whose options are left out.
    """
    yield "option", "default"
    declared = {one.name: one for one in options_of(DECLARATIONS["evaluate"], options.Functions, options.Overrides)}
    left_out = () if without is None else inspect.signature(without).parameters
    for one in inspect.signature(function).parameters.values():
        if one.name in declared and one.name not in left_out and one.default is not Parameter.empty:
            option = replace(declared[one.name], group="")
            words, default = _described().get(option), _default(one.default)
            name = (
                f"`{one.name}`" if words is None else f"[`{one.name}`](reference/commands.md#{_anchor(words, option)})"
            )
            yield name, "" if default == "..." else f"`{default}`"


def formats() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the bundled schemas: the file, the formats that it describes, and what they contain."""
    yield "schema", "format", "describes"
    for file in sorted(bundled.schemas().iterdir(), key=lambda file: file.name):
        if file.name.endswith(".schema.json"):
            text = file.read_text(encoding="utf-8")
            names = sorted(set(re.findall(r'"const": "(arbitre-[^"]+)"', text)))
            contents = re.split(r"(?<=[.]) (?=[A-Z])", json.loads(text)["description"])[0]
            yield f"`{file.name}`", ", ".join(f"`{name}`" for name in names), contents


def modules() -> Iterator[Path]:
    """Yield the modules that contain options."""
    return (file for file in sorted(SOURCE.rglob("*.py")) if BLOCK.search(file.read_text(encoding="utf-8")))


MADE: Final = {
    "advice": data_advice,
    "causes": causes,
    "classes": classes,
    "commands": command_functions,
    "comparatoroptions": partial(keywords, arbitre.Comparator),
    "distances": distances,
    "evaluateoptions": partial(keywords, arbitre.evaluate, without=arbitre.Comparator),
    "formats": formats,
    "functions": functions,
    "goldchecks": gold_checks,
    "goldwarnings": gold_warnings,
    "matchings": matchings,
    "normalisers": normalisers,
    "options": options_index,
    "results": results,
    "schemaadvice": schema_advice_kinds,
} | {name: partial(_table_of, kind) for name, kind in OWN_TABLES.items()}
"""The functions that yield the rows of the tables, header first, by the names in the marks."""
PAGES: Final = {
    page: commands if page == COMMANDS else tables
    for page in (*sorted(REFERENCE.glob("*.md")), REFERENCE.with_name("advice.md"))
}
"""The pages with tables from the code, with the functions that return them regenerated."""


if __name__ == "__main__":
    for page, change in PAGES.items():
        page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")
    for file in modules():
        file.write_text(module(file.read_text(encoding="utf-8")), encoding="utf-8")
