"""Which documents, entries and examples the page of several systems has room for."""

from dataclasses import replace

import pytest
from tests.unit.test_cause_examples import pages, reported

from arbitre.parsing.fast_json import compact
from arbitre.report.build_view import differing_documents
from arbitre.report.entry_links import EntryLink
from arbitre.report.page_room import MAX_ROWS, fitted, reduced
from arbitre.report.report_files import view_of
from arbitre.report.view import SystemsView

CHANGES = (
    lambda one, _, at: one | ({"role": "poet"} if at % 3 else {"name": one["name"].upper()}),
    lambda one, number, at: one | ({"name": f"{one['name']} {at}!"} if number % 2 else {"pages": [at]}),
    lambda one, number, at: one | ({"pages": [2, 1, 7]} if at else {"role": f"{number} or so"}),
)


def view(count=12, entries=8, systems=3):
    subjects = [
        replace(reported(list(pages(count, entries, CHANGES[at % 3]))), name=f"system {at}") for at in range(systems)
    ]
    made = view_of(subjects)
    return replace(made, systems=SystemsView("f1q", [], None, made.systems.differing, "macro"))


@pytest.fixture(scope="module")
def whole():
    return view()


def size(made):
    examples = [example for one in made.subjects for row in one.causes["rows"] for example in row["examples"]]
    return len(compact([[one.explorer for one in made.subjects], examples]).encode())


def examples(made):
    """The examples of all systems, with the number of their system."""
    return [
        (at, example)
        for at, one in enumerate(made.subjects)
        for row in one.causes["rows"]
        for example in row["examples"]
    ]


def test_a_view_that_fits_is_not_changed(whole):
    assert fitted(whole) == whole


@pytest.mark.parametrize("share", [0.8, 0.5, 0.2, 0.05])
def test_the_documents_and_examples_fit_in_the_room_of_the_page(whole, share):
    room = int(share * size(whole))
    made = fitted(whole, room)
    assert size(made) <= room * 1.02  # separators
    assert size(made) >= 0.6 * room
    assert fitted(whole, room) == made


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_an_example_has_its_entry_in_every_system(whole, share):
    made = fitted(whole, int(share * size(whole)))
    documents = [{one["key"]: one for one in subject.explorer} for subject in made.subjects]
    assert 0 < len(examples(made)) < len(examples(whole))
    for owner, example in examples(made):
        link = EntryLink(example["document"], example["gold_index"], example["predicted_index"])
        for at, kept in enumerate(documents):
            assert (link if at == owner else link.elsewhere).is_kept(kept)


def test_the_first_examples_of_all_causes_come_before_the_second_ones(whole):
    made = fitted(whole, int(0.2 * size(whole)))
    counts = [
        (len(kept["examples"]), len(row["examples"]))
        for one, before in zip(made.subjects, whole.subjects, strict=True)
        for kept, row in zip(one.causes["rows"], before.causes["rows"], strict=True)
    ]
    assert all(kept >= 1 for kept, _ in counts)
    assert any(kept < there for kept, there in counts)


def test_documents_that_are_not_whole_have_no_matrix_and_say_how_many_entries_they_have(whole):
    made = fitted(whole, int(0.3 * size(whole)))
    cut = [one for subject in made.subjects for one in subject.explorer if len(one["rows"]) < one["entries"]]
    assert cut
    assert all(one["matrix"] is None and one["rows"] for one in cut)
    for subject, before in zip(made.subjects, whole.subjects, strict=True):
        kept = [one["key"] for one in subject.explorer]
        assert kept == [one["key"] for one in before.explorer if one["key"] in kept]
        assert {row.key for row in subject.rows if row.kept} == set(kept)


def test_entries_of_worst_pairs_are_in_their_documents(whole):
    made = fitted(whole, int(0.2 * size(whole)))
    for subject in made.subjects:
        documents = {one["key"]: one for one in subject.explorer}
        for path in subject.paths:
            for pair in path.worst:
                if pair["document"] in documents:
                    assert EntryLink(pair["document"], pair["entry"]).is_kept(documents)


def test_one_system_and_a_chosen_number_of_documents_are_not_fitted(whole):
    one = replace(whole, subjects=whole.subjects[:1])
    assert fitted(one, 10) == one
    chosen = replace(whole, subjects=[replace(subject, keep=5) for subject in whole.subjects])
    assert fitted(chosen, 10) == chosen


def test_a_chosen_number_of_documents_begins_with_those_of_examples(whole):
    made = reduced(whole, 2)
    for subject in made.subjects:
        kept = {one["key"] for one in subject.explorer}
        assert len(kept) == 2
        assert {example["document"] for row in subject.causes["rows"] for example in row["examples"]} <= kept
    assert len({tuple(one["key"] for one in subject.explorer) for subject in made.subjects}) == 1
    assert examples(made)


def test_many_systems_share_the_rows_of_their_tables(whole):
    many = replace(whole, subjects=[replace(whole.subjects[0], rows=list(whole.subjects[0].rows) * 400)] * 4)
    for subject in fitted(many, size(whole)).subjects:
        assert len([row for row in subject.rows if not row.kept]) <= MAX_ROWS // 4


def test_documents_on_which_systems_differ_are_shown_first(whole):
    scores = [{row.key: row.scores["f1q"] for row in one.rows} for one in whole.subjects]
    differing = differing_documents(scores, 1)
    systems = replace(whole.systems, differing=differing)
    bare = [replace(one, causes=None) for one in whole.subjects]
    largest = max(len(compact(one).encode()) for subject in bare for one in subject.explorer)
    made = fitted(replace(whole, systems=systems, subjects=bare, causes=None), 3 * largest)
    assert [[one["key"] for one in subject.explorer] for subject in made.subjects] == [[differing[0].key]] * 3
