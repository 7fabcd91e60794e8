"""Tables for papers: contents, and escaping in every format."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

import arbitre
from arbitre.comparison.cause import Cause, CauseAnalysis
from arbitre.corpus import tables
from arbitre.corpus.documents import document_frame, path_frame
from arbitre.errors import DataError, OptionError
from arbitre.jobs.result_files import write_parquet
from arbitre.systems import tables as system_tables
from arbitre.systems.factors import factor
from arbitre.systems.ranking import rank
from arbitre.systems.run_stability import run_stability
from arbitre.tables.arrow import to_arrow_table
from arbitre.tables.csv_text import CHUNK_ROWS, unescaped, write_frame
from arbitre.tables.table import PLACE, SCORE, SIGNED, Table, TableColumn, count, probability
from arbitre.tally import NAMES

COMPARATOR = arbitre.Comparator({"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "exact"}}})
GOLD = ["Ada", "Bo", "Cy", "Di"]


def right(**counts):
    """An evaluation of documents of which so many of the four names are found."""
    return COMPARATOR.evaluate((name, GOLD, GOLD[:count]) for name, count in counts.items())


@pytest.fixture
def evaluation():
    return COMPARATOR.evaluate(
        [("p_1", GOLD, GOLD), ("p_2", GOLD, GOLD[:2]), ("q_1", GOLD, ["Zoe"]), ("q_2", GOLD, arbitre.ABSENT)]
    )


@pytest.mark.parametrize(
    ("path", "entries", "notes"),
    [
        ("/people/*/name", "/people", ["…: /people/*"]),
        ("/*/name", "", ["…: /*"]),
        ("/people/*", "/people", []),
        ("/…/name", "", []),
    ],
)
def test_an_abbreviated_path_is_explained_only_where_it_occurs(path, entries, notes, evaluation):
    cause = Cause("case", "schema", (path,), 5, 0.1, 0.2, {}, (), documents=3, advice="Do it.")
    table = tables.causes(CauseAnalysis((cause,), 3, 3, 0.9), entries, evaluation.signature)
    assert [note for note in table.notes if note.startswith("…")] == notes


def test_the_documents_table_has_a_row_for_each_document(evaluation):
    assert tables.documents(evaluation, ("irq", "imq")).markdown().splitlines() == [
        "| document | gold | predicted | matched | irq | imq |",
        "|:---|---:|---:|---:|---:|---:|",
        r"| p\_1 | 4 | 4 | 4 | 1.0000 | 1.0000 |",
        r"| p\_2 | 4 | 2 | 2 | 0.5000 | 1.0000 |",
        r"| q\_1 | 4 | 1 | 1 | 0.0000 | 0.0000 |",
        r"| q\_2 | 4 | 0 | 0 | 0.0000 | – |",
        "",
        f"Signature: `{COMPARATOR.signature.short}`",
    ]
    usual = tables.documents(evaluation)
    assert [column.name for column in usual.columns][4:] == ["document quality", "f1q", "imq", "irq", "amq"]
    assert [row[4] for row in usual.rows] == [1.0, 0.5, 0.0, 0.0]


def test_the_paths_table_has_a_row_for_each_path(evaluation):
    assert tables.paths(evaluation, ("irq",)).latex().splitlines() == [
        f"% Signature: {COMPARATOR.signature.short}",
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r"path & gold & predicted & matched & irq \\",
        r"\midrule",
        r"/* & 16 & 7 & 7 & 0.3750 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_paths_have_their_outcomes_as_counts(evaluation):
    head, _, row, *_ = tables.paths(evaluation).markdown().splitlines()
    assert head.endswith(r"| exact\_match\_rate | exact | close | wrong | wrong\_type | missing | spurious |")
    assert row.endswith("| 0.3750 | 6 | 0 | 1 | 0 | 9 | 0 |")


def test_the_scores_table_has_a_row_for_each_score(evaluation):
    rows = list(csv.DictReader(io.StringIO(tables.means(evaluation).csv())))
    assert [row["score"] for row in rows] == [*NAMES, "document_quality"]
    assert {row["signature"] for row in rows} == {COMPARATOR.signature.short}
    found = {row["score"]: row for row in rows}
    assert float(found["document_quality"]["macro"]) == evaluation.document_quality.mean == 0.375
    assert float(found["f1q"]["micro"]) == evaluation.micro.f1q
    assert float(found["imq"]["macro"]) == evaluation.macro.imq == 0.5
    assert found["imq"]["documents"] == "4"


def test_groups_are_means_over_their_documents(evaluation):
    found = tables.by_cluster(evaluation, r"^.", ("irq", "imq"), name="page")
    assert found.rows == (("p", 2, 0.75, 1.0), ("q", 2, 0.0, 0.0))
    assert found.columns[0].name == "page"
    assert tables.by_cluster(evaluation, None, ("irq",)).rows == (("all", 4, 0.375),)
    assert tables.by_cluster(evaluation, r"_(.)", ("irq",)).rows == (("1", 2, 0.5), ("2", 2, 0.25))


def test_minus_signs_are_set_in_latex_and_zero_has_none():
    table = Table.of("", (TableColumn("a-b"), TableColumn("a - b", SIGNED)), [("-x", -0.19), ("y", -0.00001)])
    assert r"-x & $-$0.1900 \\" in table.latex()
    assert r"-x & $-$0,1900 \\" in table.latex(lang="fr")
    assert r"y & +0.0000 \\" in table.latex()
    assert (SCORE(-0.00001), PLACE(-0.001)) == ("0.0000", "0.00")


def test_the_leaderboard_marks_groups_with_letters():
    systems = {"a": right(**dict.fromkeys("pqrstuvw", 4)), "b": right(**dict.fromkeys("pqrstuvw", 3))}
    ranking = rank(systems, "irq")
    found = system_tables.leaderboard(ranking)
    assert [column.name for column in found.columns] == [
        *(
            "system",
            "irq",
            "score low",
            "score high",
            "to best",
            "low",
            "high",
            "alike",
            "chance",
            "failed",
            "document quality",
        )
    ]
    assert [row[0] + row[7] for row in found.rows] == ["aa", "bb"]
    assert found.rows[0][8] == ranking.systems[0].floor == 1.0  # every page names the same people
    assert system_tables.side_by_side(ranking).texts() == [
        ["a", "1.0000", "1.0000", "1.0000", "1.0000", "1.25"],
        ["b", "0.7500", "0.8571", "1.0000", "1.0000", "1.75"],
    ]
    assert system_tables.pairs(ranking.pairs).texts() == [
        ["a", "b", "+0.2500", "+0.1948", "+0.3489", "0.0078", "0.0078", "0.0078", "0.0907"]
    ]
    assert system_tables.winners(ranking).texts() == [["/*", "1.0000", "0.7500", "a"]]
    assert system_tables.lacking(ranking).rows == ()


def test_tied_winners_are_all_listed():
    ranking = rank({"a": right(p=4), "b": right(p=4)})
    assert system_tables.winners(ranking).texts() == [["/*", "1.0000", "–", "all"]]


def test_group_letters_continue_beyond_the_alphabet():
    assert [system_tables._letter(at) for at in (0, 25, 26, 53)] == ["a", "z", "a1", "b2"]


def test_the_tables_of_levels_and_contrasts_have_a_row_for_each():
    evaluation = COMPARATOR.evaluate(
        [(one, GOLD, GOLD[:found]) for one in "pq" for found in (4, 2)] + [("p", GOLD, [])]
    )
    found = [factor(evaluation, "ocr", {"ocr": ["good", "bad", "good", "bad", ""]}, "irq")]
    assert system_tables.levels(found).texts()[0][:4] == ["ocr", "(empty)", "1", "0.0000"]
    assert system_tables.levels(found).texts()[2][:4] == ["ocr", "good", "2", "1.0000"]
    assert system_tables.contrasts(found).texts()[2][:5] == ["ocr", "bad", "good", "2", "-0.5000"]
    assert system_tables.contrasts(found).texts()[2][7:] == ["0.5000", "1.0000", "1.0000", "–"]


def test_the_runs_table_shows_the_mean_spread_and_changes():
    evaluation = COMPARATOR.evaluate([("p", GOLD, GOLD), ("p", GOLD, GOLD[:2]), ("q", GOLD, []), ("q", GOLD, [])])
    found = run_stability(evaluation, "irq")
    assert system_tables.runs({"s": found}).texts() == [["s", "2", "2", "0.3750", "0.1768", "50.0%"]]


def test_an_unknown_score_is_refused(evaluation):
    with pytest.raises(OptionError) as error:
        tables.documents(evaluation, ("f1qq",))
    assert str(error.value).startswith("Expected a column of a table, got 'f1qq'\n  Did you mean \"f1q\"")


def test_numbers_are_rounded_for_reading():
    assert [count(value) for value in (3.0, 12_345_678, 2.5, 0)] == ["3", "12345678", "2.50", "0"]
    assert [probability(value) for value in (0.0625, 5e-5, 4e-5, 1.0)] == ["0.0625", "0.0001", "<0.0001", "1.0000"]


HOSTILE = r"a|b & 5% _x_ #1 $y$ {z} ~^ \cmd <i> [l](u) `c` *e*"


def one(text, number=0.5):
    return Table.of("", (TableColumn("name"), TableColumn("f1q", SCORE)), ((text, number),))


def test_markup_in_names_is_escaped():
    assert one(HOSTILE).latex().splitlines()[4] == (
        r"a\textbar{}b \& 5\% \_x\_ \#1 \$y\$ \{z\} \textasciitilde{}\textasciicircum{} \textbackslash{}cmd "
        r"\textless{}i\textgreater{} [l](u) \textasciigrave{}c\textasciigrave{} *e* & 0.5000 \\"
    )
    assert one(HOSTILE).markdown().splitlines()[2] == (
        r"| a\|b \& 5% \_x\_ \#1 \$y\$ {z} \~^ \\cmd \<i\> \[l\](u) \`c\` \*e\* | 0.5000 |"
    )


@pytest.mark.parametrize(
    ("text", "typeset"),
    [
        ("--- en", "-{}-{}- en"),
        ("1-2, a", "1-2, a"),
        ("-–", "-{}--"),
        ("''a'',,b", "'{}'a'{}',{},b"),
        ("?`<<", r"?\textasciigrave{}\textless{}\textless{}"),
    ],
)
def test_characters_are_not_set_as_ligatures_in_latex(text, typeset):
    assert one(text).latex().splitlines()[4] == rf"{typeset} & 0.5000 \\"


@pytest.mark.parametrize("text", ["*", "[2cm]"])
def test_a_row_is_not_read_as_an_option_of_the_line_break(text):
    assert one(text).latex().splitlines()[4].startswith("{}" + text)


@given(st.text())
def test_no_text_breaks_a_table(text):
    assert len(one(text).latex().split("\n")) == 8
    assert len(one(text).markdown().split("\n")) == 4
    rows = list(csv.reader(io.StringIO(one(text).csv(), newline="")))
    assert [row[1] for row in rows] == ["f1q", "0.5"]
    assert unescaped(rows[1][0]) == text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx"])
def test_no_cell_starts_a_formula(text):
    rows = list(csv.reader(io.StringIO(one(text, -0.5).csv(), newline="")))
    assert rows[1] == [f"'{text}", "-0.5"]


def test_arrow_has_the_columns_of_the_documents(evaluation):
    table = evaluation.to_arrow()
    assert table.column_names == [
        "id", "run", "failed", "document_quality", "gold", "predicted", "matched", "quality_mass", *NAMES, "signature"
    ]  # fmt: skip
    assert table.column("id").to_pylist() == ["p_1", "p_2", "q_1", "q_2"]
    assert table.column("run").to_pylist() == [None] * 4
    assert table.column("failed").to_pylist() == [False, False, False, True]
    assert table.column("imq").to_pylist() == [1.0, 1.0, 0.0, None]
    for name in NAMES:
        expected = [getattr(each.scores, name) for each in evaluation.documents]
        assert table.column(name).to_pylist() == pytest.approx(expected), name


def test_arrow_of_no_documents_has_types():
    table = COMPARATOR.evaluate([]).to_arrow()
    assert (table.num_rows, {str(field.type) for field in table.schema}) == (0, {"string", "bool", "double"})


def test_a_parquet_table_survives_a_round_trip(evaluation, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "new" / "documents.parquet"
    write_parquet(path, evaluation.to_arrow())
    assert parquet.read_table(path).equals(evaluation.to_arrow())
    assert [one.name for one in path.parent.iterdir()] == ["documents.parquet"]


def test_an_unwritable_parquet_file_is_reported(evaluation, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="Cannot write the file"):
        write_parquet(tmp_path / "file" / "x.parquet", evaluation.to_arrow())


def test_csv_and_arrow_have_the_same_columns_and_numbers(evaluation):
    for frame in (
        document_frame(evaluation.document_table, evaluation.signature),
        path_frame(evaluation.by_path, evaluation.signature),
        tables.means(evaluation),
    ):
        file = io.StringIO()
        write_frame(file, frame)
        rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
        for name, column in to_arrow_table(frame).to_pydict().items():
            texts = [row[name] for row in rows]
            held = any(isinstance(one, str) for one in column)
            assert [text if held else json.loads(text or "null") for text in texts] == column, name


def test_whole_masses_are_written_as_counts():
    frame = {"quality_mass": np.array([3.0, 2.5]), "f1q": np.array([1.0, np.nan]), "run": [None, "=a"]}
    file = io.StringIO()
    write_frame(file, frame)
    assert file.getvalue() == "quality_mass,f1q,run\n3,1.0,\n2.5,,'=a\n"


def test_a_frame_has_every_row_of_a_large_table():
    file = io.StringIO()
    write_frame(file, {"n": range(2 * CHUNK_ROWS + 1), "f1q": np.zeros(2 * CHUNK_ROWS + 1)})
    assert file.getvalue().splitlines()[1:] == [f"{n},0.0" for n in range(2 * CHUNK_ROWS + 1)]


def test_a_table_is_a_frame_of_texts_counts_and_numbers():
    columns = (TableColumn("system"), TableColumn("f1q", SCORE), TableColumn("failed", count))
    found = to_arrow_table(Table.of("", columns, (("a", None, 1), ("b", 0.5, 0))))
    assert [str(field.type) for field in found.schema] == ["string", "double", "int64"]
    assert found.to_pydict() == {"system": ["a", "b"], "f1q": [None, 0.5], "failed": [1, 0]}
    assert [str(field.type) for field in to_arrow_table(Table.of("", columns, ())).schema] == [
        "string",
        "double",
        "double",
    ]


def test_a_table_is_html_without_tags_from_data():
    heads = (TableColumn("name"), TableColumn("f1q", SCORE))
    html = Table.of("", heads, [("<b>Ada</b>\u202e", 0.5), (Markup("<i>x</i>"), None)]).html()
    assert re.findall(r"<t[hd] style=\"text-align:(\w+)\">(.*?)</t[hd]>", html) == [
        *[("left", "name"), ("right", "f1q")],
        *[("left", "&lt;b&gt;Ada&lt;/b&gt;⟨U+202E⟩"), ("right", "0.5000")],
        *[("left", "<i>x</i>"), ("right", "–")],
    ]
    assert Table.of("", heads, []).html() == ""


def test_cells_that_do_not_apply_are_missing_numbers():
    table = Table.of("", (TableColumn("name"), TableColumn("tp", count)), [("a", 1), ("average", ""), ("b", None)])
    assert [row[1] for row in table.texts()] == ["1", "", "–"]
    assert to_arrow_table(table).to_pydict()["tp"] == [1.0, None, None]


def test_columns_of_arrays_are_a_table():
    table = Table.of_frame({"id": ["a", "b"], "f1q": np.array([0.5, np.nan])})
    assert (len(table), table.size, list(table), repr(table)) == (2, 2, ["id", "f1q"], "Table(2 rows, 2 columns)")
    assert table.markdown().splitlines()[2:] == ["| a | 0.5000 |", "| b | – |"]
