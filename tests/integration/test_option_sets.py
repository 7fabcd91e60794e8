"""Each option is declared once, for the command line and the keyword arguments of Python."""

import inspect
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import TypedDict

import pytest
import typer
from typer.testing import CliRunner

import arbitre
from arbitre import agreement, bundled
from arbitre.cli import _build, app, arguments, function_of, module_of, typer_command
from arbitre.cli.declarations import DECLARATIONS
from arbitre.comparator import comparator as comparator_keywords
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.errors import OptionError
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.options import ReadOptions
from arbitre.jobs import keywords as report_keywords
from arbitre.jobs.evaluation_job import EvaluationJob
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.jobs.keywords import CorpusKeywords
from arbitre.options import REQUIRED, options_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = bundled.schemas() / "examples" / "speakers.schema.json"
INTERNAL = {"texts", "untyped", "field_kinds", "drop_nulls"}
"""Fields of `ReadOptions` that are no options: `for_plan` or the inference of a schema sets them."""
GOLD, PREDICTED = (bundled.demo() / f"{name}.jsonl" for name in ("gold", "hasty"))


@dataclass(frozen=True, kw_only=True)
class OptionSet:
    size: int = 3
    shared: str = ""


class Keywords(TypedDict, total=False):
    shared: str
    other: int


def command(*, size: str, option_set: OptionSet, keywords: Keywords) -> None:
    """The own options of a command come first, then those of its sets."""


def test_options_go_to_the_first_parameter_that_takes_them():
    given = {"size": "own", "shared": "first", "other": 1}
    assert arguments(command, given) == {
        "size": "own",
        "option_set": OptionSet(size=3, shared="first"),
        "keywords": {"other": 1},
    }


def run(*given):
    return CliRunner().invoke(app, given)


def test_a_contradiction_names_the_options_as_on_the_command_line():
    result = run("evaluate", "--schema", str(SCHEMA), "--gold", str(GOLD), "--predicted", str(PREDICTED), "--resume")
    assert result.exit_code == 2
    assert "--resume requires --out" in result.stderr


@pytest.mark.parametrize("words", DECLARATIONS)
def test_the_function_of_a_command_takes_its_declared_options_with_their_types(words):
    function, declared = function_of(words), options_of(DECLARATIONS[words])
    given = {option.name: option.type for option in declared if not option.fills}
    hints = {name: kind for name, kind in inspect.get_annotations(function, eval_str=True).items() if name != "return"}
    sets = {name: kind for name, kind in hints.items() if is_dataclass(kind) or hasattr(kind, "__total__")}
    taken = {
        name for kind in sets.values() for name in kind.__annotations__ | getattr(kind, "__dataclass_fields__", {})
    }
    assert given.keys() <= hints.keys() | taken
    assert hints.keys() - sets.keys() <= given.keys()
    parsed = {option.name for option in declared if option.parser}
    assert all(hints[name] == given[name] for name in hints.keys() - sets.keys() - parsed)
    assert all(callable(pkgutil.resolve_name(option.parser)) for option in declared if option.parser)
    assert len(hints) <= 16


HEAVY = {"numpy", "scipy", "jsonschema", "rapidfuzz", "pyarrow", "jinja2", "msgspec", "yaml", "jmespath"}


@pytest.mark.parametrize("chosen", [["evaluate"], ["agree"], ["schema", "check"], ["text", "rouge"]], ids=" ".join)
def test_the_help_of_a_command_loads_no_heavy_library(chosen):
    code = f"import sys\nfrom arbitre.cli import app\napp({[*chosen, '--help']!r}, standalone_mode=False)"
    code += "\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--help" in done.stdout
    modules = set(done.stderr.split())
    assert modules & HEAVY == set()
    assert "arbitre.options" in modules
    assert {"arbitre.schema", "arbitre.comparator", "arbitre.cli.output", module_of(chosen[0])} & modules == set()


@pytest.mark.parametrize("words", DECLARATIONS)
def test_no_heavy_module_is_needed_to_declare_a_command(words):
    """Every command is built, as for `--help`, from its declaration; its types are those that Typer knows."""
    built = typer.Typer()
    built.command()(typer_command(words))
    names = {name for parameter in typer.main.get_command(built).params for name in parameter.opts}
    declared = options_of(DECLARATIONS[words])
    assert {name for option in declared for name in option.names} <= names


FORMER = [
    (option, name, words)
    for words in DECLARATIONS
    for option in options_of(DECLARATIONS[words])
    for name in option.former
]

VALUES = {"--level": "model", "--average": "micro", "--score": "irq", "--source": "explicit", "--alpha": "0.5"}


@pytest.mark.parametrize(("option", "name", "words"), FORMER, ids=[f"{words} {name}" for _, name, words in FORMER])
def test_an_option_with_another_meaning_than_elsewhere_keeps_its_former_name_hidden(option, name, words):
    command = _build(words)
    assert name not in {each for parameter in command.params for each in parameter.opts}
    value = [] if option.type is bool else [VALUES[name]]
    required = [str(GOLD)] * sum(
        each.default is REQUIRED and each.positional for each in options_of(DECLARATIONS[words])
    )
    required += [
        part
        for each in options_of(DECLARATIONS[words])
        if each.default is REQUIRED and not each.positional
        for part in (each.names[0], str(GOLD))
    ]
    parsed = [command.make_context(words, [*required, each, *value]).params for each in (name, option.names[0])]
    assert parsed[0] == parsed[1]
    assert parsed[0] != command.make_context(words, [*required]).params
    assert "No such option" in run(words, f"{name}-else", "x").stderr


def test_a_function_takes_a_keyword_by_its_former_name_and_not_by_both():
    tags = [["B-A", "I-B"]]
    assert arbitre.entities.evaluate(tags, tags, tags="bio", lenient=True).f1 == 1.0
    with pytest.raises(OptionError, match="Expected one of `lenient_tags` and `lenient`, its former name, got both"):
        arbitre.entities.evaluate(tags, tags, lenient=True, lenient_tags=True)
    assert arbitre.Thresholds(alpha=0.01) == arbitre.Thresholds(significance=0.01)
    assert "alpha" not in signature(arbitre.Thresholds).parameters
    pairs = [("a", ["Ada"], ["Ada"])]
    with pytest.raises(OptionError, match="`table_score` requires `table`"):
        arbitre.evaluate({}, pairs, score="f1q")


TERMINAL = {"output", "no_color", "quiet"}
"""Options about the terminal, which Python does not have."""
TABLES = {"lang": "Table.markdown, .latex and .html"}
"""Options about the language of printed results, which are tables in Python."""
IN_PYTHON = {
    "compare": (
        arbitre.compare,
        {
            "validate": "Comparison.violations",
            "published": "arbitre.published",
            "flat": "Comparator.compare_flat",
            **TABLES,
            **dict.fromkeys(["patch", "no_gains"], "Comparison.patch"),
        },
    ),
    "evaluate": (
        arbitre.evaluate,
        {"classified": "Evaluation.classification", "paths": "`gold` and `predicted`"},
    ),
    "rank": (arbitre.rank, {}),
    "fix": (arbitre.fix, {"paths": "`gold` and `predicted`", **TABLES}),
    "agree": (agreement.agree, {"suggest_category_distances": "agreement.suggest_category_distances", **TABLES}),
    "gamma": (agreement.agree_spans, TABLES),
    "consensus": (agreement.consensus, {}),
    "leave-one-out": (agreement.leave_one_out, TABLES),
    "diff": (arbitre.diff, {"lang": "EvaluationDiff.to_markdown"}),
    "entities": (
        arbitre.entities.evaluate,
        {
            "detail": "EntityEvaluation.counts and .per_class",
            "aggregate": "EntityEvaluation.classes",
            **dict.fromkeys(("no_overlap", "gold_column", "predicted_column"), "arbitre.entities.read"),
            **dict.fromkeys(("annotations", "layer", "gold_annotator", "predicted_annotator"), "arbitre.entities.read"),
            **dict.fromkeys(("fail_under", "fail_over"), "arbitre.check_bounds"),
        },
    ),
    "report": (arbitre.write_report, {"evaluations": "results"}),
    "figures": (arbitre.write_figures, {"evaluations": "results"}),
    "metricity": (arbitre.entry_metricity, TABLES),
    "perturb": (arbitre.perturb_gold, {}),
    "gold apply": (arbitre.apply_decisions, {}),
    "schema infer": (arbitre.infer_schema, {}),
    "schema import": (arbitre.import_schema, {}),
    "schema check": (arbitre.check_schema, {"certificate": "SchemaCheck.comparator.certificate"}),
    "schema explain": (arbitre.Comparator, {}),
    "schema suggest-aliases": (arbitre.suggest_aliases, {}),
    "schema suggest-gate": (arbitre.suggest_gate, {}),
    "text rouge": (arbitre.text.rouge, {"files": "texts are passed", **TABLES}),
    "text bleu": (arbitre.text.bleu, {"files": "texts are passed", **TABLES}),
    "text perplexity": (
        arbitre.text.perplexity,
        {
            **dict.fromkeys(["window", "stride"], "arbitre.text.rolling_perplexity"),
            **dict.fromkeys(["pointer", "id_key"], "log-probabilities are passed"),
            **TABLES,
        },
    ),
    "text corpus": (
        arbitre.evaluate,
        {**dict.fromkeys(["path", "kind"], "Evaluation.text"), "segmentation": "Evaluation.segmentation"},
    ),
    "confidence": (
        arbitre.confidence.report,
        {
            **dict.fromkeys(["gold", "predicted", "id_key"], "documents are passed as `answers`"),
            **dict.fromkeys(["schema", "overlay", "functions", "allow_refs"], "arbitre.Comparator"),
            "confidence_from": "arbitre.confidence",
            "logprobs": "from_logprobs",
            "suffix": "from_explicit",
            **TABLES,
        },
    ),
    "init": (arbitre.init_config, {}),
    "config show": (arbitre.Config.load, {"file": "path", "command": "Config.values"}),
    "advise": (
        arbitre.advise,
        {
            **dict.fromkeys(["train", "path", "id_key"], "labels are passed as `training`"),
            **dict.fromkeys(["predicted", "schema", "overlay", "functions", "allow_refs"], "Evaluation.leaf_pairs"),
            **dict.fromkeys([field.name for field in fields(arbitre.Thresholds)], "arbitre.Thresholds"),
            **TABLES,
        },
    ),
}
"""The function of each command, and its options that have another place in Python."""
NAMES_IN_PYTHON = {"projection": "project"}


def keywords(function):
    """The names of the arguments of a function."""
    return signature(function).parameters.keys()


SPELLED_OUT = [
    *dict.fromkeys(
        function for function, _ in IN_PYTHON.values() if "Unpack" in str(getattr(function, "__annotations__", ""))
    ),
    arbitre.Comparator.evaluate,
    arbitre.Grader.__init__,
    arbitre.Comparator.suggest_aliases,
    arbitre.Comparator.suggest_gate,
]


@pytest.mark.parametrize("function", SPELLED_OUT, ids=lambda function: function.__qualname__)
def test_a_signature_shows_every_option_with_its_type(function):
    shown = signature(function)
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in shown.parameters.values())
    (unpacked,) = [kind for kind in function.__annotations__.values() if kind.startswith("Unpack[")]
    sets = vars(report_keywords) | vars(comparator_keywords) | function.__globals__
    known = sets[unpacked.removeprefix("Unpack[").removesuffix("]")].__annotations__
    own = function.__annotations__.keys() - {"return", "options", "sources"}
    assert shown.parameters.keys() - {"self"} == known.keys() | own
    for name in known.keys() - own - {"cluster", "out", "table"}:
        assert shown.parameters[name].annotation == known[name].__forward_arg__, name
    for name, parameter in signature(arbitre.Comparator).parameters.items():
        if name not in {"schema", "distances", "normalizers", "matchings"}:  # of which arbitre has many by default
            assert shown.parameters.get(name, parameter).default == parameter.default, name


def test_every_command_has_a_function():
    assert DECLARATIONS.keys() - IN_PYTHON.keys() == {"demo"}  # shows the other commands on the bundled corpus


@pytest.mark.parametrize("name", IN_PYTHON)
def test_python_takes_every_option_of_the_command_line_by_its_name_with_its_default(name):
    function, elsewhere = IN_PYTHON[name]
    options = {option.name: option for option in options_of(DECLARATIONS[name])}
    assert options.keys() - TERMINAL - elsewhere.keys() <= keywords(function)
    assert elsewhere.keys() <= options.keys()
    for parameter in signature(function).parameters.values():
        option = options.get(parameter.name)
        if option and option.default not in {(), None, REQUIRED} and parameter.name not in elsewhere:
            assert option.default in {parameter.default, ",".join(map(str, list_of(parameter.default)))}, option.name


def list_of(default):
    return default if isinstance(default, tuple) else (default,)


def test_keyword_sets_have_the_arguments_of_the_comparator():
    assert ComparatorKeywords.__annotations__.keys() | {"schema"} == signature(arbitre.Comparator).parameters.keys()
    options = {field.name for kind in (Sources, ReadOptions, EvaluationOptions) for field in fields(kind)}
    assert CorpusKeywords.__annotations__.keys() == options - INTERNAL - {"pairs"} | {
        "cluster",
        "fail_under",
        "fail_over",
    }


class TestSources:
    def test_the_three_ways_to_name_documents_exclude_each_other(self):
        for given in (
            {},
            {"gold": "a"},
            {"gold": "a", "predicted": "b", "pairs": "c"},
            {"pairs": "a", "manifest": "b"},
        ):
            with pytest.raises(OptionError, match="Expected `gold` and `predicted`, or `pairs` alone"):
                Sources(**given)

    def test_only_one_source_is_standard_input(self):
        with pytest.raises(OptionError, match="at most one source"):
            Sources(gold="-", predicted=["a", "-"])

    def test_a_single_path_is_a_source(self):
        joined = Sources(gold=GOLD, predicted=str(PREDICTED), only=["page_01"]).joined()
        assert [pair.id for pair in joined] == ["page_01"]

    def test_an_error_names_a_path_of_pairs(self, tmp_path):
        with pytest.raises(arbitre.DataError, match=r"none\.jsonl"):
            Sources(pairs=tmp_path / "none.jsonl").joined()


class TestEvaluationOptions:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"resume": True}, "`resume` requires `out`"),
            ({"engine": "dask"}, "Expected `engine` dask and `scheduler` together"),
            ({"scheduler": "tcp://127.0.0.1:1"}, "Expected `engine` dask and `scheduler` together"),
        ],
    )
    def test_contradictions_are_refused(self, given, message):
        with pytest.raises(OptionError, match=message):
            EvaluationOptions(**given)

    def test_python_writes_the_same_files_as_the_command(self, tmp_path):
        sources = ["--schema", str(SCHEMA), "--gold", str(GOLD), "--predicted", str(PREDICTED)]
        options = ["--validate", "--cluster-by", "/page/volume", "--workers", "1", "--quiet"]
        result = CliRunner().invoke(app, ["evaluate", *sources, *options, "--out", str(tmp_path / "command")])
        assert result.exit_code == 0, result.stderr
        joined = Sources(gold=GOLD, predicted=PREDICTED).joined()
        how = EvaluationOptions(out=tmp_path / "python", validate=True, cluster_by="/page/volume", workers=1)
        job = EvaluationJob(arbitre.Comparator(SCHEMA).plan, joined, how)
        progress = []
        _, files = job(lambda results: progress.append(len(results)))
        assert sum(progress) == len(joined)
        assert {"evaluation.json", "report.html", "violations.csv"} <= set(files)
        for name in files:
            assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes(), name


def test_a_ranking_uses_custom_distances(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_distances.py").write_text(
        "from arbitre.distances import Facts, catalogue\n"
        "own = catalogue.with_distance('never', lambda a, b: 1.0 * (a != b), Facts())\n"
    )
    (tmp_path / "schema.json").write_text(
        '{"type": "object", "properties": {"value": {"type": "string", "x-arbitre": {"distance": "never"}}}}'
    )
    for name, value in (("gold", "ab"), ("a", "ac")):
        (tmp_path / f"{name}.json").write_text(f'[{{"id": "1", "value": "{value}"}}]')
    arguments = ["rank", "--schema", "schema.json", "--gold", "gold.json", "a=a.json", "--format", "json"]
    assert CliRunner().invoke(app, arguments).exit_code == 2
    result = CliRunner().invoke(app, [*arguments, "--functions", "own_distances:own"])
    assert result.exit_code == 0, result.stderr


def test_a_quiet_check_of_documents_answers_by_its_exit_code(tmp_path):
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    (tmp_path / "a.json").write_text("1")
    arguments = ["schema", "check", str(tmp_path / "schema.json"), str(tmp_path / "a.json")]
    assert "1 violation" in CliRunner().invoke(app, arguments).output
    result = CliRunner().invoke(app, [*arguments, "--quiet"])
    assert (result.exit_code, result.output) == (1, "")


@pytest.fixture(scope="module")
def script(docs_script):
    return docs_script("make_reference")


def test_the_tables_of_the_reference_are_those_of_the_code(script):
    for page, change in script.PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert change(text) == text, page.name
        emptied = script.MARKED.sub(r"\1\3", re.sub(r"(?m)^\| <a id=.*\n", "", text))
        assert change(emptied) == text, page.name
        assert (emptied == text) == (page.name == "keyword.md"), page.name
    marked = "".join(page.read_text(encoding="utf-8") for page in script.PAGES)
    assert sorted(re.findall("<!-- from the code: ([a-z]+) -->", marked)) == sorted(script.MADE)


def test_the_docstrings_name_the_command_of_each_function(script):
    found = script.python_of_commands()
    assert found.keys() == IN_PYTHON.keys()
    for words, (function, _) in IN_PYTHON.items():
        named = [one for one, _ in found[words].values()]
        assert named, words
        assert function in named or words in {"text bleu", "text corpus", "schema explain", "config show"}


def test_every_attribute_and_method_of_a_public_class_is_described(script):
    public = {kind for name in arbitre.__all__ if isinstance(kind := getattr(arbitre, name), type)}
    described = {(kind, name) for kind in public for name in re.findall(r"`(\w+)`", inspect.getdoc(kind))}
    members = [(kind, name, member) for kind in public for name, member in script.members(kind).items()]
    lacking = {
        f"{kind.__name__}.{name}" for kind, name, one in members if not one.text and (kind, name) not in described
    }
    assert lacking == set()


def test_every_option_is_described_once(script):
    text = script.COMMANDS.read_text(encoding="utf-8")
    described = re.findall(r'<a id="([a-z-]+)"></a>', text)
    assert len(set(described)) == len(described) == len(script._described())
    assert set(re.findall(r"commands\.md#([a-z-]+)\)", (script.REFERENCE / "index.md").read_text())) == set(described)


def test_the_attributes_and_keywords_in_python_are_those_of_the_declarations(script):
    files = {file: file.read_text(encoding="utf-8") for file in script.modules()}
    assert {file.relative_to(script.SOURCE).name for file in files} >= {"keywords.py", "evaluation_options.py"}
    for file, text in files.items():
        assert script.module(text) == text, file
