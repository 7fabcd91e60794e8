"""Which documents, entries and examples a page has room for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Final

from arbitre.parsing.fast_json import compact
from arbitre.report.entry_links import EntryLink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.report.view import Subject, View

MAX_BYTES: Final = 1_600_000
"""Maximum total size of the documents of a page, and of the examples if it has several systems, in bytes of JSON."""

FOR_LINKS: Final = 0.7
"""Maximum share of the room for the examples with their entries; the rest is for whole documents."""


MAX_ROWS: Final = 4000
"""Maximum number of rows in the tables of documents of all systems together, besides those of the documents shown."""


def fitted(view: View, room: int = MAX_BYTES) -> View:
    """Return a view of several systems with the documents, entries and examples that fit in the room.

    The examples come first, in turns: the first of each cause, largest gain first, then the second, and so on. Each is
    shown with its entry in the results of every system. Then come the documents on which systems differ most, and the
    worst ones, in equal parts for all systems. The tables of documents list the worst of each system.

    The view of one system is returned as it is, and so is one whose number of documents was chosen.

    Args:
        view: The view.
        room: Maximum size in bytes of JSON.
    """
    if len(view.subjects) < 2 or any(one.keep is not None for one in view.subjects):  # noqa: PLR2004  (several)
        return view
    shelves = [_Shelf.of(subject) for subject in view.subjects]
    taken: set[int] = set()
    left, links = room, FOR_LINKS * room
    for owner, example in _in_turns(view):
        link = EntryLink(example["document"], example["gold_index"], example["predicted_index"])
        places = [(shelf, link if at == owner else link.elsewhere) for at, shelf in enumerate(shelves)]
        cost = _size(example) + sum(shelf.cost(one) for shelf, one in places)
        if room - left + cost <= links:
            left -= cost
            taken.add(id(example))
            for shelf, one in places:
                shelf.take(one)
    first = [one.key for one in view.systems.differing] if view.systems is not None else []
    subjects = [
        _listing(shelf.filled(subject, first, left // len(shelves), taken), MAX_ROWS // len(shelves))
        for shelf, subject in zip(shelves, view.subjects, strict=True)
    ]
    return _with_agreed(replace(view, subjects=subjects), lambda example: id(example) in taken)


def _with_agreed(view: View, shown: Callable[[Mapping[str, Any]], bool]) -> View:
    """Return a view with some examples of the values that all systems agree on."""
    agreed = None if view.causes is None else view.causes.agreed
    if view.causes is None or agreed is None:
        return view
    return replace(
        view, causes=replace(view.causes, agreed={**agreed, "examples": [*filter(shown, agreed["examples"])]})
    )


def _listing(subject: Subject, most: int) -> Subject:
    """Return a system with the first rows of its table of documents, the worst, and those of the documents shown."""
    return replace(subject, rows=[row for at, row in enumerate(subject.rows) if at < most or row.kept])


def reduced(view: View, keep: int) -> View:
    """Return the view with at most `keep` documents of each system: those the page links to, then the worst."""
    examples = dict.fromkeys(example["document"] for _, example in _in_turns(view))
    differing = [one.key for one in view.systems.differing] if view.systems is not None else []
    subjects = [_reduced(one, [*examples, *differing], keep) for one in view.subjects]
    kept = {document["key"] for document in subjects[0].explorer} if subjects else set()
    return _with_agreed(replace(view, subjects=subjects), lambda example: example["document"] in kept)


def _reduced(subject: Subject, first: Sequence[str], keep: int) -> Subject:
    known = [document["key"] for document in subject.explorer]
    worst = (pair["document"] for path in subject.paths for pair in path.worst)
    kept = set(list(dict.fromkeys(key for key in (*first, *worst, *known) if key in set(known)))[:keep])
    documents = [document for document in subject.explorer if document["key"] in kept]
    return _with_documents(subject, documents, lambda example: example["document"] in kept)


def _with_documents(
    subject: Subject, documents: Sequence[Mapping[str, Any]], shown: Callable[[Mapping[str, Any]], bool]
) -> Subject:
    """Return a system with some of its documents and examples."""
    keys, causes = {document["key"] for document in documents}, subject.causes
    if causes is not None:
        rows = [row | {"examples": [*filter(shown, row["examples"])]} for row in causes["rows"]]
        causes = {**causes, "rows": rows}
    listed = [replace(row, kept=row.key in keys) for row in subject.rows]
    return replace(subject, explorer=documents, rows=listed, causes=causes)


def _in_turns(view: View) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the examples of all causes with the number of their system, after those that all systems agree on."""
    if view.causes is not None and view.causes.agreed is not None:
        yield from ((0, example) for example in view.causes.agreed["examples"])
    causes = [(at, row) for at, one in enumerate(view.subjects) for row in (one.causes or {"rows": ()})["rows"]]
    causes.sort(key=lambda one: -one[1]["gain"])
    turns = zip_longest(*([(at, example) for example in row["examples"]] for at, row in causes))
    yield from (one for turn in turns for one in turn if one is not None)


def _size(value: Any) -> int:  # noqa: ANN401  (JSON)
    return len(compact(value).encode("utf-8", "surrogatepass"))


@dataclass(eq=False, slots=True)
class _Shelf:
    """The documents of one system, and which of their rows are taken.

    Attributes:
        documents: The documents by key.
        worst: Links to the entries of the worst pairs, by document; they are taken with the document.
        rows: Positions of the rows that are taken, by document.
        sizes: Known sizes of rows, by document and position.
    """

    documents: Mapping[str, Mapping[str, Any]]
    worst: Mapping[str, Sequence[EntryLink]]
    rows: dict[str, set[int]] = field(default_factory=dict)
    sizes: dict[tuple[str, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> _Shelf:
        worst: dict[str, list[EntryLink]] = {}
        for pair in chain.from_iterable(path.worst for path in subject.paths):
            worst.setdefault(pair["document"], []).append(EntryLink(pair["document"], pair["entry"]))
        return cls({one["key"]: one for one in subject.explorer}, worst)

    def wanted(self, link: EntryLink) -> set[int]:
        """Return the positions of the rows that a link adds."""
        document = self.documents.get(link.document)
        if document is None:
            return set()
        links = [link, *(self.worst.get(link.document, ()) if link.document not in self.rows else ())]
        found = {at for at, row in enumerate(document["rows"]) if any(one.leads_to(row) for one in links)}
        return found - self.rows.get(link.document, set())

    def cost(self, link: EntryLink) -> int:
        """Return the size of what a link adds."""
        document = self.documents.get(link.document)
        new = document is not None and link.document not in self.rows
        own = _size({**document, "rows": [], "matrix": None}) if new and document is not None else 0
        return own + sum(self.row_size(link.document, at) for at in self.wanted(link))

    def row_size(self, key: str, at: int) -> int:
        if (key, at) not in self.sizes:
            self.sizes[key, at] = _size(self.documents[key]["rows"][at])
        return self.sizes[key, at]

    def take(self, link: EntryLink) -> None:
        """Add what a link leads to."""
        if link.document in self.documents:
            rows = self.wanted(link)
            self.rows.setdefault(link.document, set()).update(rows)

    def filled(self, subject: Subject, first: Sequence[str], room: int, taken: set[int]) -> Subject:
        """Return the system with the taken examples and rows, and with whole documents as long as they fit."""
        whole: set[str] = set()
        for key in dict.fromkeys([*(key for key in first if key in self.documents), *self.documents]):
            rest = _size(self.documents[key]) - sum(self.row_size(key, at) for at in self.rows.get(key, ()))
            if rest <= room:
                room -= rest
                whole.add(key)
        kept = [self._cut(one, whole) for one in subject.explorer if one["key"] in whole or one["key"] in self.rows]
        return _with_documents(subject, kept, lambda example: id(example) in taken)

    def _cut(self, document: Mapping[str, Any], whole: set[str]) -> Mapping[str, Any]:
        """Return a document, with the rows that are taken unless it is whole; its matrix needs all rows."""
        if document["key"] in whole:
            return document
        rows = [document["rows"][at] for at in sorted(self.rows[document["key"]])]
        return {**document, "rows": rows, "matrix": None}
