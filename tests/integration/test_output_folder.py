"""The folder and files of `--out`: what is refused and what is replaced."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import agreement, bundled
from arbitre.cli import app
from arbitre.errors import DataError, OptionError
from arbitre.storage.output_folder import (
    LOCK,
    MARKER,
    SINGLE_FILES,
    STAGING,
    FileList,
    FileState,
    output_file,
    output_folder,
)

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
GOLD, HASTY = (str(bundled.demo() / f"{name}.jsonl") for name in ("gold", "hasty"))
EVALUATE = ("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", HASTY, "--workers", "1")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.stderr


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(here):
    (here / "documents").mkdir()
    (here / "documents" / "thesis.tex").write_text("thesis")
    before = contents(here)
    for command in (EVALUATE, ("demo",), ("rank", "--schema", SCHEMA, "--gold", GOLD, f"documents={HASTY}")):
        said = run(*command, "--out", ".", code=2)
        assert "The output folder contains files that arbitre did not write, such as documents\n" in said
        assert "such as --out arbitre-results. With --force, the results are written beside" in said
    assert contents(here) == before
    assert "documents/thesis.tex: arbitre did not write this file" in run(*EVALUATE, "--out", ".", "--force", code=2)
    assert contents(here) == before


def test_with_force_results_are_written_beside_other_files(here):
    (here / "notes.txt").write_text("mine")
    run(*EVALUATE, "--out", ".", "--force", "--quiet")
    assert (here / "evaluation.json").exists()
    run(*EVALUATE, "--out", ".", "--quiet")  # now it carries the list
    assert (here / "notes.txt").read_text() == "mine"


def test_a_folder_that_is_empty_or_has_earlier_results_is_used(here):
    (here / "out").mkdir()
    (here / "out" / ".DS_Store").write_text("of the desktop")
    run(*EVALUATE, "--out", "out", "--table", "paths.md", "--quiet")
    run("report", "out", "--lang", "fr")
    (here / "out" / "notes.txt").write_text("mine")
    run(*EVALUATE, "--out", "out", "--quiet")
    assert {"notes.txt", "report.html"} <= contents(here / "out").keys()
    assert "paths.md" not in contents(here / "out")


def test_a_result_that_was_changed_is_named_and_kept(here):
    run(*EVALUATE, "--out", "out", "--quiet")
    with (here / "out" / "matches.csv").open("a") as file:
        file.write("a note\n")
    before = contents(here / "out")
    said = run(*EVALUATE, "--out", "out", code=2)
    assert "out/matches.csv: This file has been changed since arbitre wrote it: it is not replaced" in said
    assert "or choose another folder with --out DIR." in said
    assert contents(here / "out") == before


@pytest.mark.parametrize("name", ["documents", "report.html", STAGING, MARKER, LOCK])
def test_links_are_not_followed(here, name):
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "secret").write_text("secret")
    (here / "out").mkdir()
    (here / "out" / name).symlink_to(here / "elsewhere" / ("secret" if "." in name else ""))
    assert f"out/{name}" in run(*EVALUATE, "--out", "out", "--force", code=2)
    assert contents(here / "elsewhere") == {"secret": b"secret"}
    assert [path.name for path in (here / "out").iterdir()] == [name]


def write_results(folder, **options):
    with output_folder(folder, ["a"], "demo", **options) as staging:
        (staging / "a").write_text("a")


def add_to_list(folder, file, state):
    """Add a file to the list of a folder, as somebody who edits the list could do."""
    known = FileList.read(folder)
    FileList(folder, MARKER, {**known.states, file: {state}}, known.kind).write()


@pytest.mark.parametrize(
    "file",
    [
        "../elsewhere/precious",
        "sub/../../elsewhere/precious",
        "./../elsewhere/precious",
        "{here}/elsewhere/precious",
        "{here}/out/../elsewhere/precious",
    ],
)
@pytest.mark.parametrize("options", [{}, {"force": True}, {"resume": True}], ids=str)
def test_a_list_with_a_file_outside_the_folder_is_refused(here, file, options):
    write_results(here / "out")
    for folder in ("elsewhere", "out/sub"):
        (here / folder).mkdir()
    (here / "elsewhere" / "precious").write_text("mine")
    add_to_list(here / "out", file.format(here=here), FileState.of(here / "elsewhere" / "precious"))
    before = contents(here)
    with pytest.raises(DataError, match=f"out/{MARKER}: This file has been changed since arbitre wrote it"):
        write_results(here / "out", **options)
    assert contents(here) == before


def test_a_listed_file_behind_a_link_is_kept(here):
    write_results(here / "out")
    (here / "elsewhere" / "below").mkdir(parents=True)
    (here / "elsewhere" / "below" / "precious").write_text("mine")
    (here / "out" / "sub").symlink_to(here / "elsewhere")
    add_to_list(here / "out", "sub/below/precious", FileState.of(here / "elsewhere" / "below" / "precious"))
    write_results(here / "out")
    assert contents(here / "elsewhere") == {"below/precious": b"mine"}
    assert (here / "out" / "sub").is_symlink()


def test_a_listed_name_that_no_file_can_have_is_dropped_or_refused(here):
    write_results(here / "out")
    add_to_list(here / "out", "\ud800", FileState(0, ""))
    write_results(here / "out")
    assert FileList.read(here / "out").states.keys() == {"a"}
    add_to_list(here / "out", "a\0b", FileState(0, ""))
    with pytest.raises(DataError, match=MARKER):
        write_results(here / "out")


def test_a_list_of_single_files_with_a_file_outside_is_refused(here):
    with output_file(here / "out" / "a") as part:
        part.write_text("a")
    known = FileList.read(here / "out", SINGLE_FILES)
    FileList(here / "out", SINGLE_FILES, {**known.states, "../mine": {FileState(0, "")}}).write()
    with pytest.raises(DataError, match=SINGLE_FILES), output_file(here / "out" / "a"):
        pass


def test_a_file_of_the_user_with_the_name_of_the_lock_is_kept(here):
    write_results(here / "out")
    (here / "out" / LOCK).write_text("mine")
    with output_file(here / "out" / "report.html") as part:
        part.write_text("report")
    assert (here / "out" / LOCK).read_text() == "mine"


def test_a_folder_that_contains_an_input_is_refused(here):
    run("demo", "--out", "demo", "--quiet")
    before = contents(here / "demo")
    sources = ("--schema", SCHEMA, "--gold", "demo/gold.jsonl", "--predicted", "demo/hasty.jsonl")
    assert "The output folder contains an input: demo/gold.jsonl" in run("evaluate", *sources, "--out", "demo", code=2)
    assert "contains an input" in run("rank", *sources[:4], "a=demo/hasty.jsonl", "--out", "demo", "--force", code=2)
    assert "The output folder is an input" in run("figures", "demo/hasty", "--out", "demo/hasty", code=2)
    with pytest.raises(DataError, match="The output file is an input"):
        arbitre.write_report("demo/hasty/evaluation.json", "demo/hasty/evaluation.json")
    assert contents(here / "demo") == before
    with pytest.raises(OptionError, match="different paths"):
        agreement.consensus(SCHEMA, {"a": GOLD, "b": HASTY}, out="gold", queue="gold")


CONSENSUS = ("consensus", "--schema", SCHEMA, f"a={GOLD}", f"b={HASTY}")


@pytest.mark.parametrize("out", ["queue/gold.jsonl", "queue/gold", "queue/../queue/deep/gold"])
def test_a_consensus_inside_its_queue_is_refused_before_anything_is_written(here, out):
    message = r"Expected a path for {} that is not inside {}\."
    for force in (False, True):
        said = run(*CONSENSUS, "--out", out, "--queue", "queue", *["--force"] * force, code=2)
        assert re.search(message.format("--out", "--queue"), said)
        with pytest.raises(OptionError, match=message.format("`out`", "`queue`")):
            agreement.consensus(SCHEMA, {"a": GOLD, "b": "missing.jsonl"}, out=out, queue="queue", force=force)
    assert [*here.iterdir()] == []


def test_errors_on_the_folder_of_a_queue_name_its_option(here):
    run(*CONSENSUS, "--queue", "queue")
    decisions = ("--strategy", "collegial", "--decisions", "queue/queue.csv")
    said = run(*CONSENSUS, *decisions, "--queue", "queue", code=2)
    assert "The output folder contains an input: queue/queue.csv\n" in said
    assert "Choose another folder, such as --queue queue-2." in said
    with (here / "queue" / "queue.csv").open("a") as file:
        file.write("a note\n")
    said = run(*CONSENSUS, "--queue", "queue", code=2)
    assert "or choose another folder with --queue DIR." in said
    (here / "other").mkdir()
    (here / "other" / "notes.txt").write_text("mine")
    assert "such as --queue other/arbitre-results. With --force" in run(*CONSENSUS, "--queue", "other", code=2)
    (here / "other" / SINGLE_FILES).write_text("mine")
    assert "or choose another folder.\n" in run(*CONSENSUS, "--queue", "other/queue.csv", code=2)


@pytest.mark.parametrize("queue", ["gold/queue", "gold/queue.csv"])
def test_a_queue_can_be_written_inside_the_folder_of_its_consensus(here, queue):
    for _ in range(2):
        run(*CONSENSUS, "--out", "gold", "--queue", queue)
    assert (here / queue).exists()


def test_results_are_not_written_to_the_folder_of_any_input(here, monkeypatch):
    texts = {
        "schema.json": json.dumps({"type": "object", "properties": {"name": {"$ref": "../part/part.json"}}}),
        "part.json": json.dumps({"type": "string"}),
        "overlay.json": json.dumps({"/name": {"normalize": {"authority": {"file": "../names/names.csv"}}}}),
        "names.csv": "name,variants\nAda,A.\n",
        "own_same.py": "def same(gold, predicted):\n    return float(gold != predicted)\n",
        "gold.json": '{"id": "a", "name": "Ada"}',
        "predicted.json": '{"id": "a", "name": "A."}',
        "project.json": '{"predicted": "@"}',
    }
    for name, text in texts.items():
        folder = here / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(here / "own_same")
    options = ["--schema", "schema/schema.json", "--allow-refs", here, "--overlay", "overlay/overlay.json"]
    options += ["--functions", "own_same:same", "--project", "project/project.json", "--gold", "gold/gold.json"]
    evaluate, rank = ("evaluate", *options, "--predicted"), ("rank", *options)
    run(*evaluate, "predicted/predicted.json", "--out", "results")
    before = contents(here)
    for name in texts:
        folder = name.partition(".")[0]
        for command in ((*evaluate, "predicted/predicted.json"), (*rank, "a=predicted/predicted.json")):
            said = run(*command, "--out", folder, "--force", code=2)
            assert re.search(rf"The output folder contains an input: \S*{folder}/{name}\n", said)
        schema = arbitre.Comparator("schema/schema.json", allow_refs=here, overlay="overlay/overlay.json")
        if folder in {"schema", "part", "overlay", "names"}:
            with pytest.raises(DataError, match="contains an input"):
                schema.evaluate([("a", {"name": "Ada"}, {})], out=folder, force=True)
    assert contents(here) == before


def test_a_run_that_fails_keeps_the_earlier_results(here):
    run(*EVALUATE, "--out", "out", "--quiet")
    before = contents(here / "out")
    run(*EVALUATE, "--out", "out", "--strict", code=2)
    assert {name: content for name, content in contents(here / "out").items() if STAGING not in name} == before
    run(*EVALUATE, "--out", "new", "--cluster-by", "/none", code=2)
    assert not (here / "new").exists()


WRITING = """
import sys
from pathlib import Path
from arbitre.storage.output_folder import output_folder
with output_folder(Path("out"), ["evaluation.json"], "evaluation"):
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_says_that_the_folder_is_in_use(here):
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WRITING], stdin=pipe, stdout=pipe, text=True) as first:
        assert first.stdout.readline() == "writing\n"
        said = run(*EVALUATE, "--out", "out", code=2)
        assert "out: Another process is writing to the output folder\n" in said
        assert "Wait until it has finished, or choose another folder, such as --out out-2." in said
        first.kill()
    run(*EVALUATE, "--out", "out", "--quiet")  # the lock of a killed process is released
    assert not (here / "out" / LOCK).exists()


def test_a_single_file_is_replaced_only_if_arbitre_wrote_it(here):
    gold = here / "gold.jsonl"
    gold.write_text('{"id": "a", "name": "Ada"}\n')
    arbitre.infer_schema(gold, out="schema.json")
    gold.write_text('{"id": "a", "name": 1}\n')
    arbitre.infer_schema(gold, out="schema.json")
    assert json.loads(Path("schema.json").read_text())["properties"]["name"] == {"type": "integer"}
    Path("schema.json").write_text("{}")
    with pytest.raises(DataError, match=r"schema\.json: The file has been changed since arbitre wrote it"):
        arbitre.infer_schema(gold, out="schema.json")
    with pytest.warns(UserWarning, match=r"Writing schema-2\.json instead"):
        arbitre.infer_schema(gold, out="schema.json", force=True)
    assert Path("schema.json").read_text() == "{}"
    assert Path("schema-2.json").exists()
    with pytest.raises(DataError, match="The output file is an input"):
        arbitre.infer_schema(gold, out=gold)


def test_an_input_that_arbitre_wrote_is_not_replaced(here):
    (here / "gold.jsonl").write_text('{"id": "a", "name": "Ada"}\n')
    arbitre.perturb_gold("gold.jsonl", out="copies.jsonl")
    arbitre.infer_schema("gold.jsonl", out="schema.json")
    before = contents(here)
    sources = ("--gold", "gold.jsonl", "--predicted", "copies.json*")
    for command in (
        ("schema", "infer", "copies.json*", "--out", "copies.jsonl"),
        ("perturb", "copies.json*", "--out", "copies.jsonl"),
        ("schema", "suggest-aliases", "schema.json", *sources, "--out", "schema.json"),
        ("schema", "suggest-aliases", "schema.json", *sources, "--out", "copies.jsonl"),
        ("schema", "suggest-gate", "schema.json#", *sources, "--out", "schema.json"),
    ):
        assert "The output file is an input" in run(*command, code=2)
    assert contents(here) == before


def test_with_force_a_single_file_gets_a_new_name(here):
    (here / "gold.jsonl").write_text('{"id": "a", "name": "Ada"}\n')
    arbitre.perturb_gold("gold.jsonl", out="gold-2.jsonl")
    assert "Writing gold-3.jsonl instead." in run("schema", "infer", "gold-2.jsonl", "--out", "gold.jsonl", "--force")
    run(*EVALUATE, "--out", "out", "--quiet")
    (here / "out" / "report.html").write_text("mine")
    assert "Writing out/report-2.html instead." in run("report", "out", "--force")
    assert (here / "out" / "report.html").read_text() == "mine"


def test_only_callers_with_force_are_told_to_use_it(here):
    for name in ("keep.html", "keep.jsonl"):
        (here / name).write_text("mine")
    evaluation = arbitre.Comparator({"type": "string"}).evaluate([("a", "yes", "yes")])
    with pytest.raises(arbitre.DataError, match=r"keep.html: The file exists") as raised:
        evaluation.report("keep.html")
    assert raised.value.hint == "Choose another name."
    with pytest.raises(arbitre.DataError) as raised:
        arbitre.perturb_gold("gold.jsonl", out="keep.jsonl")
    assert raised.value.hint == "Choose another name, or use --force to write to a new file beside it."


def test_a_list_of_files_that_cannot_be_written_leaves_nothing_in_the_folder(here):
    resource = pytest.importorskip("resource")
    (here / "notes.txt").write_text("mine")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as if the disk were full
    try:
        with pytest.raises(DataError, match="Cannot write the file"), output_file(here / "new.csv") as part:
            part.write_text("id\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(here) == {"notes.txt": b"mine"}


def test_results_without_their_list_are_named(here):
    run(*EVALUATE, "--out", "out", "--quiet")
    (here / "out" / MARKER).unlink()
    for force in ([], ["--force"]):
        said = run(*EVALUATE, "--out", "out", *force, code=2)
        assert f"out: The output folder contains results such as evaluation.json, but not {MARKER}" in said
        assert "or choose another folder, such as --out out/arbitre-results." in said


def test_folders_of_a_run_that_fails_are_removed(here):
    with pytest.raises(DataError, match=r"disk"), output_folder(here / "new" / "out", ["a"], "demo"):
        raise OSError(28, "disk")
    for name in ("..", "../a", STAGING):
        with (
            pytest.raises(DataError, match="folder name"),
            output_folder(here / "out", ["a"], "demo", parts={name: ["b"]}),
        ):
            pass
    assert [*here.iterdir()] == []


def test_results_of_another_command_are_not_replaced(here):
    run("consensus", "--schema", SCHEMA, f"a={GOLD}", f"b={GOLD}", "--out", "gold", "--quiet")
    run(*EVALUATE, "--out", "results", "--quiet")
    before = contents(here)
    assert "The output folder contains results of another kind: consensus" in run(*EVALUATE, "--out", "gold", code=2)
    consensus = ("consensus", "--schema", SCHEMA, f"a={GOLD}", f"b={GOLD}", "--out", "results")
    assert "results of another kind" in run(*consensus, code=2)
    assert contents(here) == before


COMMANDS = {
    "evaluate": (*EVALUATE, "--out"),
    "rank": ("rank", "--schema", SCHEMA, "--gold", GOLD, f"a={GOLD}", f"b={GOLD}", "--out"),
    "demo": ("demo", "--out"),
    "metricity": ("metricity", GOLD, GOLD, "--schema", SCHEMA, "--out"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_results_of_a_command_are_replaced_only_by_that_command(here, command):
    run(*COMMANDS[command], "out", "--quiet")
    before = contents(here)
    for name, other in COMMANDS.items():
        if name != command:
            assert "results of another kind" in run(*other, "out", "--quiet", code=2), name
    assert contents(here) == before
    run(*COMMANDS[command], "out", "--quiet")


def test_a_command_replaces_its_own_results_of_other_documents(here):
    for number in (1, 2):
        name = f"p[{number}].json"
        (here / f"in{number}").mkdir()
        (here / f"in{number}" / name).write_text("[]", encoding="utf-8")
        source = f"in{number}"
        run("consensus", "--schema", SCHEMA, f"a={source}", f"b={source}", "--out", "out", "--quiet")
        assert name in contents(here / "out")


def test_a_folder_of_rank_with_the_results_of_a_ranking_is_not_replaced(here):
    run(*COMMANDS["rank"], "out/a", "--quiet")
    before = contents(here)
    assert "results of another kind" in run(*COMMANDS["rank"], "out", "--force", "--quiet", code=2)
    assert contents(here) == before


URLS = ("s3://bucket/out", "gs://bucket/out", "file:///tmp/out", "memory://out", "https://example.org/out")


@pytest.mark.parametrize("url", URLS)
def test_results_are_not_written_to_a_folder_with_the_name_of_a_url(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = {"type": "array", "items": {"type": "string"}}
    with pytest.raises(DataError, match="Expected a path of this machine, got a URL") as caught:
        arbitre.evaluate(words, [("a", ["x"], ["x"])], out=url)
    assert caught.value.file == url.replace(":///", "://")
    with pytest.raises(DataError, match="got a URL"):
        arbitre.infer_schema([["x"]], out=f"{url}/schema.json")
    with pytest.raises(DataError, match="got a URL"):
        arbitre.evaluate(words, gold=f"{url}/gold.jsonl", predicted="x.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_such_a_name_may_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s3:").mkdir()
    arbitre.evaluate({"type": "array"}, [("a", ["x"], ["x"])], out="s3:/out")
    assert Path("s3:", "out", "evaluation.json").is_file()
