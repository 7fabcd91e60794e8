"""The config file: where it is found, what it may contain, and what commands take from it."""

import inspect
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import agreement, bundled
from arbitre.cli import app
from arbitre.cli.config_defaults import config_defaults
from arbitre.cli.declarations import DECLARATIONS
from arbitre.config import ONLY_COMMAND, PATHS, Config
from arbitre.errors import OptionError
from arbitre.options import Output, options_of

PROJECT = """
schema = "schema.json"
gold = "gold.jsonl"

[systems]
careful = "careful.jsonl"

[options]
close = 0.9
id-key = "id"

[options.rank]
score = ["f1q", "imq"]
"""
WILDCARDS = {"at", "classified", "fields", "path"}
"""Options whose values are paths in documents."""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with the demo corpus and a config file, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("gold", "careful", "hasty"):
        shutil.copy(bundled.demo() / f"{name}.jsonl", tmp_path)
    shutil.copy(bundled.schemas() / "examples" / "speakers.schema.json", tmp_path / "schema.json")
    Path("arbitre.toml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def run(*given):
    return CliRunner().invoke(app, given, env={"NO_COLOR": "1", "COLUMNS": "200"})


def f1q(*given):
    result = run(*given, "--format", "json", "--no-diagnose")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["macro"]["f1q"]


def test_evaluate_alone_runs():
    explicit = ("--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "careful.jsonl")
    assert f1q("evaluate") == f1q("--config", "/dev/null", "evaluate", *explicit)
    said = run("evaluate", "--no-diagnose").stderr
    assert "Options from arbitre.toml: schema, close, gold, predicted, id_key" in said


def test_the_command_line_takes_precedence():
    hasty = f1q("evaluate", "--predicted", "hasty.jsonl")
    assert hasty < f1q("evaluate")
    assert f1q("evaluate", "gold.jsonl", "hasty.jsonl") == hasty
    document = json.loads(Path("gold.jsonl").read_text("utf-8").splitlines()[0])
    Path("pairs.jsonl").write_text(json.dumps({"id": "x", "gold": document, "predicted": document}), encoding="utf-8")
    assert f1q("evaluate", "--pairs", "pairs.jsonl") == 1.0


def test_paths_are_relative_to_the_file(project, monkeypatch):
    (project / "below" / "here").mkdir(parents=True)
    expected = f1q("evaluate")
    monkeypatch.chdir(project / "below" / "here")
    assert f1q("evaluate") == expected


def test_several_systems_are_ranked_and_evaluate_asks_for_one():
    Path("arbitre.toml").write_text(PROJECT.replace("[options]", 'hasty = "hasty.jsonl"\n\n[options]'), "utf-8")
    ranked = run("rank", "--format", "json", "--no-diagnose", "--no-chance")
    assert ranked.exit_code == 0, ranked.stderr
    assert [system["name"] for system in json.loads(ranked.stdout)["systems"]] == ["careful", "hasty"]
    refused = run("evaluate")
    assert refused.exit_code == 2
    assert "arbitre.toml names several systems: careful, hasty. Choose" in refused.stderr


def test_python_takes_the_same_options():
    config = arbitre.Config.find()
    options = config.options(arbitre.evaluate)
    assert options == {
        "schema": "schema.json",
        "gold": "gold.jsonl",
        "predicted": ["careful.jsonl"],
        "close": 0.9,
        "id_key": "id",
    }
    assert arbitre.evaluate(**options, no_diagnose=True).macro.f1q == f1q("evaluate")
    assert config.options(arbitre.rank)["systems"] == {"careful": ["careful.jsonl"]}
    assert config.options(arbitre.rank)["score"] == ["f1q", "imq"]


@pytest.mark.parametrize(
    "function",
    [agreement.agree, agreement.consensus, arbitre.compare, arbitre.diff, arbitre.evaluate, arbitre.fix, arbitre.rank],
    ids=lambda function: function.__name__,
)
def test_python_leaves_out_the_options_that_only_the_command_has(function):
    command, taken = function.__name__, inspect.signature(function).parameters
    options = [option for option in options_of(DECLARATIONS[command]) if not option.fills]
    lacking = {name for option in options if option.name not in taken for name in option.spellings}
    terminal = {name for option in options_of(Output) for name in option.spellings}
    assert lacking - terminal == {*ONLY_COMMAND.get(command, ())}
    values = dict.fromkeys(sorted(lacking - {"output", "classified"}), "x")
    assert Config(Path("arbitre.toml"), own={command: values}).options(function) == {}
    with pytest.raises(OptionError, match="Unknown option 'formt'"):
        Config(Path("arbitre.toml"), own={command: {"formt": "json"}}).options(function)


def test_pyproject_counts_if_it_has_the_table():
    Path("arbitre.toml").unlink()
    Path("pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert Config.find() is None
    Path("pyproject.toml").write_text("[project\n", encoding="utf-8")  # somebody else's, and damaged
    assert Config.find() is None
    Path("pyproject.toml").write_text('[tool.arbitre]\nschema = "schema.json"\n', encoding="utf-8")
    assert Config.find().project == {"schema": "schema.json"}


FAULTS = {
    "[options": "Expected TOML",
    "gold = []\n[option]\nx = 1": "Unknown setting 'option'",
    "systems = 3": "Expected a table, got 3 at /systems",
    "[systems]\na = []": "Expected a path or a list of paths, got [] at /systems/a",
    "[options]\nclos = 0.9": "Unknown option 'clos' at /options/clos",
    "[options.evalute]\nclose = 0.9": "Unknown command 'evalute' at /options/evalute",
    "[options.evaluate]\nscore = 'f1q'": "Unknown option 'score' of `arbitre evaluate` at /options/evaluate/score",
    "[options]\nschema = 'x'": "Expected 'schema' at the top, not under [options] at /options/schema",
    "[options]\nsystem = 'x'": "Expected 'systems' at the top, not under [options] at /options/system",
    "[options]\nformat = [1, 2]": "Expected a text or a number, got [1, 2] at /options/format",
    "[options]\nid_key = 'id'\n'id-key' = 'x'": "Expected one of 'id_key' and 'id-key', two names of the same option, got "
    "both at /options",
    "[options.rank]\nid-key = 'id'\nid_key = 'id'": "Expected one of 'id-key' and 'id_key', two names of the same option, "
    "got both at /options/rank",
    "[options]\noutput = 'json'\nformat = 'json'": "Expected one of 'output' and 'format', two names of the same option, "
    "got both at /options",
    "[options.evaluate]\nclassified = '/a'\nclassification = '/b'": "Expected one of 'classified' and 'classification', "
    "two names of the same option, got both at /options/evaluate",
    "[options]\nvalidate = 1": "Expected true or false, got 1 at /options/validate",
    "[options]\nclose = [0.5, 0.9]": "Expected a text or a number, got [0.5, 0.9] at /options/close",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_name_the_file_and_the_place(text):
    Path("arbitre.toml").write_text(text, encoding="utf-8")
    result = run("evaluate", "--schema", "schema.json", "gold.jsonl", "careful.jsonl")
    assert result.exit_code == 2
    assert f"arbitre.toml: {FAULTS[text]}" in result.stderr


def test_an_invalid_value_is_traced_to_the_file():
    Path("arbitre.toml").write_text(PROJECT.replace("0.9", '"high"'), encoding="utf-8")
    result = run("evaluate")
    assert result.exit_code == 2
    assert "'--close': arbitre.toml: " in result.stderr


def test_help_works_whatever_the_file_contains():
    Path("arbitre.toml").write_text("[", encoding="utf-8")
    assert run("evaluate", "--help").exit_code == 0


def test_config_show_prints_the_file_and_the_options_of_a_command(project):
    shown = run("config", "show").stdout
    assert f"# {project / 'arbitre.toml'}" in shown
    assert 'systems.careful = ["careful.jsonl"]' in shown
    assert "options.rank.score" in shown
    own = json.loads(run("config", "show", "--command", "rank", "--format", "json").stdout)
    assert own["settings"]["systems.careful"] == ["careful.jsonl"]
    assert own["settings"]["close"] == 0.9
    table = run("config", "show", "--format", "csv").stdout.splitlines()
    assert table[0] == "setting,value"
    assert len(table) == len(shown.splitlines())
    assert "| systems.careful |" in run("config", "show", "--format", "markdown").stdout
    unknown = run("config", "show", "--command", "evalute")
    assert unknown.exit_code == 2
    assert "Unknown command 'evalute'. Did you mean" in unknown.stderr
    Path("arbitre.toml").rename("other.toml")
    assert "# other.toml" in run("--config", "other.toml", "config", "show").stdout
    missing = run("config", "show")
    assert missing.exit_code == 1
    assert "`arbitre init` writes one" in missing.stderr


def test_every_option_that_is_a_path_is_resolved():
    declared = {option for each in DECLARATIONS.values() for option in options_of(each)}
    located = {one.name for one in declared if one.metavar in {"PATH", "FILE", "DIR", "NAME=PATH", "NAME=PATH..."}}
    configurable = located - WILDCARDS - {"after", "annotators", "before", "documents", "file", "folder", "logprobs"}
    assert configurable == PATHS


@pytest.mark.parametrize("words", DECLARATIONS)
def test_every_command_takes_a_config_with_all_kinds_of_settings(words):
    assert config_defaults(words, Config.find()).keys() <= {one.name for one in options_of(DECLARATIONS[words])}


@pytest.mark.parametrize("words", DECLARATIONS)
def test_every_option_has_its_names_on_the_command_line_and_in_python(words):
    for option in options_of(DECLARATIONS[words]):
        long = [name.removeprefix("--") for name in option.names if name.startswith("--")]
        for name in (*long, *([] if option.positional else [option.name])):
            value = "true" if option.type is bool else "'x'"
            Path("arbitre.toml").write_text(f"[options.'{words}']\n{name} = {value}\n", encoding="utf-8")
            assert config_defaults(words, Config.find()).keys() == {option.name}


def test_options_have_the_names_of_the_command_line():
    Path("arbitre.toml").write_text(
        PROJECT.replace("[options]", '[options]\nformat = "json"')
        + '[options.evaluate]\nclassification = "/speakers/*/name"\n',
        encoding="utf-8",
    )
    result = run("evaluate", "--no-diagnose")
    assert result.exit_code == 0, result.stderr
    assert "classification" in json.loads(result.stdout)
    assert "classification" in result.stderr
    assert "classified" not in result.stderr
    shown = json.loads(run("config", "show", "--command", "evaluate", "--format", "json").stdout)["settings"]
    assert (shown["format"], shown["classification"]) == ("json", "/speakers/*/name")


def test_the_table_of_a_command_takes_precedence_under_either_name():
    text = "[options]\nid-key = 'a'\nformat = 'text'\n[options.evaluate]\nid_key = 'b'\noutput = 'json'\n"
    Path("arbitre.toml").write_text(text, encoding="utf-8")
    assert config_defaults("evaluate", Config.find()) == {"id_key": "b", "output": "json"}
    assert config_defaults("compare", Config.find()) == {"output": "text"}
    assert config_defaults("agree", Config.find()) == {"id_key": "a", "output": "text"}


def test_named_paths_are_relative_to_the_file(project):
    (project / "below").mkdir()
    text = "[options.consensus]\nsystem = ['a=a.jsonl', 'b=-']\n"
    (project / "below" / "arbitre.toml").write_text(text, encoding="utf-8")
    found = config_defaults("consensus", Config.load("below/arbitre.toml"))
    assert found == {"systems": ["a=below/a.jsonl", "b=-"]}


class TestInit:
    def test_it_finds_gold_systems_and_ids_and_infers_a_schema(self):
        for name in ("arbitre.toml", "schema.json"):
            Path(name).unlink()
        new = arbitre.init_config()
        assert new.gold.name == "gold.jsonl"
        assert {name: path.name for name, path in new.systems.items()} == {
            "careful": "careful.jsonl",
            "hasty": "hasty.jsonl",
        }
        assert new.inferred is not None
        assert json.loads(Path("schema.json").read_text("utf-8")) == new.inferred.schema
        assert run("rank", "--no-diagnose", "--no-chance").exit_code == 0

    def test_records_with_another_key_of_the_id_are_joined(self):
        Path("arbitre.toml").unlink()
        for name in ("gold", "careful", "hasty"):
            lines = [json.loads(line) for line in Path(f"{name}.jsonl").read_text("utf-8").splitlines()]
            renamed = [{"folio": line.pop("id"), "constant": 1, **line} for line in lines]
            Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, renamed)), encoding="utf-8")
        new = arbitre.init_config()
        assert new.options == {"id_key": "folio"}
        assert new.systems.keys() == {"careful", "hasty"}

    def test_folders_whose_names_differ_in_case_are_joined(self):
        Path("arbitre.toml").unlink()
        for folder, change in (("truth", str), ("models/a", str.upper), ("models/b", str)):
            Path(folder).mkdir(parents=True)
            for line in Path("gold.jsonl").read_text("utf-8").splitlines():
                value = json.loads(line)
                (Path(folder) / f"{change(value.pop('id'))}.json").write_text(json.dumps(value), encoding="utf-8")
        for name in ("gold", "careful", "hasty"):
            Path(f"{name}.jsonl").unlink()
        shutil.rmtree("models/b")
        new = arbitre.init_config()
        assert (new.gold.as_posix(), new.options) == ("truth", {"normalize_ids": True})
        assert {name: path.as_posix() for name, path in new.systems.items()} == {"a": "models/a"}
        assert run("evaluate", "--no-diagnose").exit_code == 0

    @pytest.mark.parametrize(
        ("ids", "pattern"),
        [
            (["page_02", "page_03"], r"^(?P<id>page_\d+)(?:[-_. ](?P<run>.+))?$"),
            (["a.cover", "page_02"], r"^(?P<id>a\.cover|page_\d+)(?:[-_. ](?P<run>.+))?$"),
            ([f"letter-{name}" for name in "abcd"], "^(?P<id>[^-]+-[^-]+)(?:-(?P<run>.+))?$"),
        ],
    )
    def test_runs_in_file_names_are_found(self, tmp_path, monkeypatch, ids, pattern):
        (tmp_path / "own").mkdir()
        monkeypatch.chdir(tmp_path / "own")
        for folder, runs in (("gold", [""]), ("answers", ["-01_vt", "-02"])):
            Path(folder).mkdir()
            for name in (f"{one}{run}" for one in ids for run in runs):
                Path(folder, f"{name}.json").write_text('["a"]', encoding="utf-8")
        new = arbitre.init_config()
        assert (new.options, new.notes, [*new.systems]) == ({"id_pattern": pattern}, (), ["answers"])
        found = run("evaluate", "--format", "json", "--no-diagnose")
        assert found.exit_code == 0
        scores = json.loads(found.stdout)
        assert (scores["documents"], scores["macro"]["f1q"]) == (2 * len(ids), 1.0)

    @pytest.mark.parametrize(("suffix", "run_of"), [(".txt", ""), (".md", "_run1")])
    def test_folders_of_raw_answers_are_systems_and_those_of_other_texts_are_not(
        self, tmp_path, monkeypatch, suffix, run_of
    ):
        (tmp_path / "own").mkdir()
        monkeypatch.chdir(tmp_path / "own")
        texts = {
            "answers/small": ['Here it is:\n```json\n{"name": "Ada"}\n```', '{"name": "Bo"}', '{"name": "Cy'],
            "answers/large": ['{"name": "Ada"}'] * 3,
            "pages": ["Ada, see [1].", "Bo {", "Cy [2]"],
            "gold answers": ['{"name": "Ada"}'] * 3,
            "other": ['{"name": "Ada"}'] * 3,
        }
        for at, name in enumerate(["Ada", "Bo", "Cy"]):
            for folder, contents in texts.items():
                Path(folder).mkdir(parents=True, exist_ok=True)
                stem = f"elsewhere{at}" if folder == "other" else f"page_{at}{'' if folder == 'pages' else run_of}"
                Path(folder, f"{stem}{suffix}").write_text(contents[at], encoding="utf-8")
            Path("gold").mkdir(exist_ok=True)
            Path(f"gold/page_{at}.json").write_text(json.dumps({"name": name}), encoding="utf-8")
        Path("answers/README.md").write_text("# Answers", encoding="utf-8")
        new = arbitre.init_config()
        assert {name: path.as_posix() for name, path in new.systems.items()} == {
            "large": "answers/large",
            "small": "answers/small",
        }
        (note,) = new.notes
        assert note.startswith("other: not a system, no document has an id of gold")
        assert new.options.keys() == {"lenient", *(["id_pattern"] if run_of else [])}
        found = run("evaluate", "--predicted", "answers/small", "--format", "json", "--no-diagnose")
        assert json.loads(found.stdout)["macro"]["f1q"] == 1.0

    def test_ids_that_cannot_be_joined_are_shown_with_the_option(self, tmp_path, monkeypatch):
        (tmp_path / "own").mkdir()
        monkeypatch.chdir(tmp_path / "own")
        for name in ("gold/page_02_gold", "answers/page_02_vt"):
            Path(name).parent.mkdir()
            Path(f"{name}.json").write_text('["a"]', encoding="utf-8")
        new = arbitre.init_config()
        (note,) = new.notes
        assert new.options == {}
        assert note == (
            "answers: not a system, no document has an id of gold (in gold: 'page_02_gold', here: 'page_02_vt'). "
            "If its file names contain more than the id, use --id-pattern (in arbitre.toml: id_pattern)."
        )

    def test_a_schema_in_the_envelope_of_an_api_is_found(self):
        Path("arbitre.toml").unlink()
        envelope = {"name": "page", "strict": True, "schema": json.loads(Path("schema.json").read_text("utf-8"))}
        Path("schema.json").unlink()
        Path("page.schema.json").write_text(json.dumps(envelope), encoding="utf-8")
        Path("schema.old.json").write_text('{"name": "page"}', encoding="utf-8")
        new = arbitre.init_config()
        assert (new.inferred, new.schema.as_posix()) == (None, "page.schema.json#/schema")
        (note,) = new.notes
        assert note == (
            "schema.old.json: not used as the schema. Expected a JSON Schema, got an object without its keywords; "
            "the keys are name."
        )
        assert run("rank", "--no-diagnose", "--no-chance").exit_code == 0

    @pytest.mark.parametrize("key", ["id", "folio"])
    def test_systems_are_found_if_gold_is_a_late_part_of_their_documents(self, tmp_path, monkeypatch, key):
        (tmp_path / "own").mkdir()
        monkeypatch.chdir(tmp_path / "own")
        lines = [json.dumps({key: f"d{at}", "name": "x"}) + "\n" for at in range(3000)]
        Path("gold.jsonl").write_text("".join(lines[:3000:2]), encoding="utf-8")
        Path("late.jsonl").write_text("".join([*lines[1:2200:2], lines[2998]]), encoding="utf-8")
        new = arbitre.init_config()
        assert ([*new.systems], new.notes) == (["late"], ())
        assert new.options == ({} if key == "id" else {"id_key": key})

    def test_gold_is_the_file_with_the_whole_word_and_the_others_are_listed(self):
        Path("arbitre.toml").unlink()
        Path("gold.jsonl").rename("ground_truth2.jsonl")
        for name in ("golden_retriever", "old-truth"):
            shutil.copy("careful.jsonl", f"{name}.jsonl")
        shutil.copy("careful.jsonl", "marigold.jsonl")
        new = arbitre.init_config()
        assert (new.gold.name, [*new.systems]) == ("ground_truth2.jsonl", ["careful", "hasty"])
        assert new.notes == tuple(
            f"{name}.jsonl: not used, the gold is ground_truth2.jsonl"
            for name in ("old-truth", "golden_retriever", "marigold")
        )

    def test_other_documents_are_listed_and_nothing_is_replaced(self):
        Path("arbitre.toml").unlink()
        Path("notes.jsonl").write_text('{"id": "elsewhere"}\n', encoding="utf-8")
        (note,) = arbitre.init_config().notes
        assert note == (
            "notes.jsonl: not a system, no document has an id of gold (in gold: 'page_01', here: 'elsewhere'). "
            "If its records store the id under another key, use --id-key (in arbitre.toml: id_key)."
        )
        Path("arbitre.toml").write_text(PROJECT, encoding="utf-8")
        refused = run("init")
        assert refused.exit_code == 2
        assert "arbitre.toml" in refused.stderr
        assert Path("arbitre.toml").read_text("utf-8") == PROJECT
        assert run("init", "--force").exit_code == 0
        assert Path("arbitre.toml").read_text("utf-8") == PROJECT

    def test_a_single_document_is_gold_if_there_is_no_other_gold(self, tmp_path, monkeypatch):
        (tmp_path / "own").mkdir()
        monkeypatch.chdir(tmp_path / "own")
        for name in ("gold", "answer", "package"):
            document = {"id": "a", "name": "x"} if name != "package" else {"name": "x"}
            Path(f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        new = arbitre.init_config()
        assert (new.gold.name, [*new.systems]) == ("gold.json", ["answer"])
        (note,) = new.notes
        assert note.startswith(
            "package.json: not a system, no document has an id of gold (in gold: 'a', here: 'package')"
        )
        assert note.endswith("name it under [systems].")
        assert run("evaluate", "--no-diagnose").exit_code == 0
        Path("gold.json").write_text('{"id":', encoding="utf-8")
        Path("schema.json").unlink()
        with pytest.raises(arbitre.DataError, match=r"gold\.json:1: Expected valid JSON"):
            arbitre.init_config()

    def test_gold_that_cannot_be_read_is_named(self, tmp_path):
        gold = tmp_path / "own" / "gold"
        gold.mkdir(parents=True)
        (gold / "a.json").write_text('{"a":', encoding="utf-8")
        with pytest.raises(arbitre.DataError, match=r"got none\n.*a\.json:1: Expected valid JSON"):
            arbitre.init_config(gold.parent)
        (gold / "b.json").write_text('{"a": 1}', encoding="utf-8")
        (note,) = arbitre.init_config(gold.parent).notes
        assert note.startswith(f"{gold / 'a.json'}:1: Expected valid JSON")

    def test_a_folder_without_gold_is_an_error(self, tmp_path):
        (tmp_path / "empty").mkdir()
        with pytest.raises(arbitre.DataError, match="whose name contains gold"):
            arbitre.init_config(tmp_path / "empty")
        (tmp_path / "file").touch()
        for name, message in (("file", "Expected a folder, got a file"), ("nofolder", "The folder does not exist")):
            with pytest.raises(arbitre.DataError, match=f"{name}: {message}"):
                arbitre.init_config(tmp_path / name)


class TestHelp:
    def test_rare_options_are_shown_with_help_all_only(self):
        common, everything = (run("evaluate", option).stdout for option in ("--help", "--help-all"))
        assert "--gold-sheet" not in common
        assert "--help-all also lists" in common
        for option in options_of(DECLARATIONS["evaluate"]):
            assert all(name in everything for name in option.names)
            assert option.rare or all(name in common for name in option.names)

    def test_rare_options_work_as_others(self):
        assert run("evaluate", "--gold-key", "gold", "--no-diagnose").exit_code == 0


class TestFormats:
    def test_csv_has_every_row_and_column_of_every_table(self):
        printed = run("evaluate", "--no-diagnose", "--format", "csv").stdout
        assert "score,Per-document mean" in printed
        assert "/speakers/*/interventions/*/pages/*," in printed
        assert "…" not in printed

    def test_a_single_table_is_plain_csv(self):
        lines = run("schema", "explain", "--format", "csv").stdout.splitlines()
        assert lines[0] == "path,kind,weight,compared by"
        assert len({line.count(",") for line in lines[:3]}) == 1

    def test_markdown_has_texts_and_tables(self):
        printed = run("evaluate", "--no-diagnose", "--format", "markdown").stdout
        assert printed.startswith("6 documents, 0 failed")
        assert "| score |" in printed

    def test_pipes_have_all_columns(self):
        printed = CliRunner().invoke(app, ["rank", "--no-diagnose"], env={"NO_COLOR": "1", "COLUMNS": None}).stdout
        assert "Left out at this width" not in printed


def test_names_of_systems_come_from_the_file(project):
    with pytest.raises(OptionError, match="Cannot read the config file"):
        Config.load(project / "missing.toml")
