"""The causes of the faults of a corpus: their kinds, and their form as plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Mapping

Side = Literal["prediction", "gold", "schema"]


class CauseKind(NamedTuple):
    """A kind of cause.

    Attributes:
        seen: What the faults look like.
        found: How the faults are recognised.
        gain: What produces the gain: an overlay, a correction of the predictions that no overlay can make, or the
            repair of the faults.
        todo: What to do about it.
        systematic: Whether one explanation covers all faults of the cause. The faults of other kinds only look alike.
    """

    seen: str
    found: str
    gain: str
    todo: str
    systematic: bool = True

    @property
    def advice(self) -> str:
        """What to do, as one sentence."""
        return f"{self.todo[:1].upper()}{self.todo[1:]}."


KINDS: Final[Mapping[str, CauseKind]] = {
    # Other keys and another structure.
    "wrapped-root": CauseKind(
        "the document is wrapped in another object or list",
        "the keys and values of the schema are deeper inside the prediction",
        "correction",
        "unwrap predictions with --project",
    ),
    "unwrapped-root": CauseKind(
        "the outermost object or list is missing",
        "the prediction has the keys and values of an inner part of the schema",
        "correction",
        "wrap predictions with --project",
    ),
    "page-shifted": CauseKind(
        "predictions belong to the next or previous document",
        "rare words agree with the gold of a neighbouring document, for several documents in a row",
        "correction",
        "correct the ids of predictions",
    ),
    "key-spelling": CauseKind(
        "a key is spelt differently",
        "keys are equal apart from case, accents and separators",
        "overlay",
        "add the alias, or state the key in the prompt",
    ),
    "renamed-key": CauseKind(
        "the values are under another key",
        "values agree with those of a missing field, whatever its key",
        "overlay",
        "add the alias, or state the key in the prompt",
    ),
    "ids-as-keys": CauseKind(
        "a list is an object with ids as keys, or the reverse",
        "the keys are values of a field of the items",
        "correction",
        "state the structure in the prompt",
    ),
    "promoted": CauseKind(
        "an item or a field is at a higher level",
        "objects and fields were moved to a higher level",
        "overlay or correction",
        "state the level in the prompt",
    ),
    "demoted": CauseKind(
        "an item or a field is at a deeper level",
        "objects and fields were moved to a deeper level",
        "overlay or correction",
        "state the level in the prompt",
    ),
    "list-or-value": CauseKind(
        "a list instead of one value, or the reverse",
        "the value equals an item of the list",
        "overlay or correction",
        "state the type in the prompt",
    ),
    "serialised-list": CauseKind(
        "a list is written as one text",
        "the parts of the text are the items of the list",
        "overlay or correction",
        "state the type in the prompt",
    ),
    "other-field": CauseKind(
        "a value is in another field of its object",
        "values agree with wrong or missing values of another field of the same objects",
        "correction",
        "describe both fields in the prompt",
    ),
    "columns-swapped": CauseKind(
        "the values of two fields are swapped",
        "the values of each field agree with gold of the other field in the same objects",
        "correction",
        "describe both fields in the prompt",
    ),
    "column-shifted": CauseKind(
        "the values of a field are those of the next or previous item",
        "values agree with those of the next or previous item",
        "correction",
        "check the input",
    ),
    "ids-offset": CauseKind(
        "numbers differ by a constant",
        "most wrong numbers differ from gold by the same amount",
        "correction",
        "state in the prompt where numbering starts",
    ),
    "truncated": CauseKind(
        "the last items are missing",
        "missing items are at the end of lists more often than expected by chance",
        "correction",
        "raise the output limit of the model, or split the input",
    ),
    "duplicated": CauseKind(
        "items are repeated",
        "items without a partner have the content of an item that has one",
        "correction",
        "ask for each item once, or remove duplicates",
    ),
    # Other notations of the same value.
    "case": CauseKind(
        "the same text in different case",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "accents": CauseKind(
        "the same text with different accents",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "unicode": CauseKind(
        "the same text with different Unicode characters, such as ligatures",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "spaces": CauseKind(
        "the same text with different white space",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "punctuation": CauseKind(
        "the same text with different punctuation",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "quotes": CauseKind(
        "the same text with different quotation marks or apostrophes",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "hyphenation": CauseKind(
        "the same text with words hyphenated differently at the ends of lines",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or ask for the notation of gold",
    ),
    "amount": CauseKind(
        "the same amount in another notation",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or state the notation",
    ),
    "number-format": CauseKind(
        "the same number in another notation",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or state the notation",
    ),
    "roman-numerals": CauseKind(
        "the same number as a Roman numeral",
        "values are equal after normalisation; the normaliser that changes the least is preferred",
        "overlay",
        "add the normaliser, or state the notation",
    ),
    "units": CauseKind(
        "the same quantity with another unit",
        "a unit next to the number, or a constant factor",
        "overlay or correction",
        "state the unit in the prompt",
    ),
    "date-format": CauseKind(
        "the same date in another notation",
        "both values are the same day; all values together show whether the day or the month is first",
        "overlay",
        "add the normaliser, or ask for ISO 8601",
    ),
    "name-order": CauseKind(
        "the words of a name in another order",
        "texts are equal after sorting their words",
        "overlay",
        "add the distance, or state the order",
    ),
    "abbreviation": CauseKind(
        "initials or an abbreviation of the same text",
        "words are shortened to their first letters",
        "overlay",
        "map the forms, or ask for the full text",
    ),
    "singular-plural": CauseKind(
        "singular instead of plural, or the reverse",
        "words differ in a plural ending",
        "overlay",
        "map the forms, or list the terms",
    ),
    "absent-value": CauseKind(
        "an absent value is written as a placeholder, such as an empty text",
        "one side has a placeholder, and the other has no value",
        "overlay",
        "declare the values as absent",
    ),
    "value-mapping": CauseKind(
        "one value always stands for another",
        "a predicted value is hardly ever right, and its gold value is nearly always the same",
        "overlay",
        "map the values, or list the allowed ones",
    ),
    # Single faults that look alike.
    "moved-object": CauseKind(
        "an object is in another entry",
        "[moved objects](diagnosis.md#moved-objects)",
        "repair",
        "check how entries are delimited",
        systematic=False,
    ),
    "moved-value": CauseKind(
        "a value is in another entry or field",
        "[moved values](diagnosis.md#moved-values)",
        "repair",
        "check how entries are delimited",
        systematic=False,
    ),
    "renamed-field": CauseKind(
        "a field is under another key",
        "[renamed fields](diagnosis.md#renamed-fields)",
        "repair",
        "state the key in the prompt",
        systematic=False,
    ),
    "split": CauseKind(
        "one item was predicted as several",
        "[splits](diagnosis.md#splits-and-merges)",
        "repair",
        "define in the prompt what one item is",
        systematic=False,
    ),
    "merged": CauseKind(
        "several items were predicted as one",
        "[merges](diagnosis.md#splits-and-merges)",
        "repair",
        "define in the prompt what one item is",
        systematic=False,
    ),
    "dangling-reference": CauseKind(
        "a reference to an id that no item has",
        "the prediction has no item with this id",
        "repair",
        "ask for an item for each id, or check the ids of predictions",
        systematic=False,
    ),
    "swapped-references": CauseKind(
        "two references of an object are swapped",
        "each has the value of the other in gold",
        "repair",
        "describe the direction of the relation in the prompt",
        systematic=False,
    ),
    "merged-targets": CauseKind(
        "a reference to another item; often, two items were predicted as one",
        "the item in gold has no partner",
        "repair",
        "define in the prompt when two mentions are the same item",
        systematic=False,
    ),
    "split-target": CauseKind(
        "a reference to another item; often, one item was predicted as two",
        "the predicted item has no partner",
        "repair",
        "define in the prompt when two mentions are the same item",
        systematic=False,
    ),
    "other-target": CauseKind(
        "a reference to another item",
        "both items have partners, but not each other",
        "repair",
        "check a sample against the source",
        systematic=False,
    ),
    "near": CauseKind(
        "a text with a few wrong characters",
        "at least 70 % of the characters agree, or lists share items",
        "repair",
        "check the OCR, or correct predictions",
        systematic=False,
    ),
    "part-of": CauseKind(
        "gold contains the prediction, or the reverse",
        "one side contains the other",
        "repair",
        "define in the prompt what the value includes",
        systematic=False,
    ),
    "unrelated": CauseKind(
        "a value that does not resemble gold",
        "no other kind applies",
        "repair",
        "check a sample against the source",
        systematic=False,
    ),
    "no-prediction": CauseKind(
        "a document without a usable prediction",
        "the prediction failed or is missing",
        "repair",
        "see the list of failures",
        systematic=False,
    ),
    "omission": CauseKind(
        "a value or item is missing",
        "the gold value or item has no partner",
        "repair",
        "check whether the source contains it",
        systematic=False,
    ),
    "hallucination": CauseKind(
        "a value or item that gold does not have",
        "the predicted value or item has no partner",
        "repair",
        "check whether the source contains it",
        systematic=False,
    ),
    "other": CauseKind(
        "faults of rare kinds",
        "kinds with fewer than five faults, or in fewer than three documents",
        "repair",
        "see the list of faults",
        systematic=False,
    ),
}
"""The kinds of causes, by name."""


class CauseExample(NamedTuple):
    """One fault of a cause.

    Attributes:
        id: Id of the document.
        run: Run of the prediction; None if it has none.
        path: Wildcard path of the fault.
        gold_pointer: JSON Pointer in gold; None if gold has no such value.
        predicted_pointer: JSON Pointer in the prediction, with aliased fields in their place in the schema; None if the
            prediction has no such value, or only after the changes of the causes found before.
        gold: Value in gold; ABSENT if there is none.
        predicted: Predicted value, after the changes of the causes found before; ABSENT if there is none.
        gold_index: Index of the entry in gold, as in `matches.csv`; None if there is none.
        predicted_index: Index of the entry in the prediction; None if there is none.
        place: JSON Pointer in gold of the value that a correction of gold would change: `gold_pointer`, or where it
            would add the predicted value ("-" for an item of a list); None if it is unknown.
        costliest: Whether it is among the most costly faults of the cause; the others are drawn at random.
    """

    id: str
    run: str | None
    path: str
    gold_pointer: str | None
    predicted_pointer: str | None
    gold: Json
    predicted: Json
    gold_index: str | None = None
    predicted_index: str | None = None
    place: str | None = None
    costliest: bool = True

    def to_dict(self) -> dict[str, Json]:
        """Return plain JSON, without absent values."""
        return {name: value for name, value in self._asdict().items() if value is not ABSENT}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create an example from the result of `to_dict`."""
        return cls(**{"gold": ABSENT, "predicted": ABSENT, **data})


@dataclass(frozen=True, slots=True)
class Cause:
    """The faults of a corpus that one explanation covers, or that look alike.

    Attributes:
        kind: Kind of the cause, one of `KINDS`.
        side: Where the fault probably lies: "prediction", "gold" or "schema".
        paths: Wildcard paths of the faults.
        count: Number of faults.
        cost: Decrease in pooled f1q that the cause explains; the costs of all causes add up to 1 - f1q. For a cause
            with a change, it is the increase in f1q when its change is made after those of the causes found before it.
            For other causes, it is the cost of their faults after all these changes.
        gain: Increase in pooled f1q if the change is made, or if the faults are corrected. Found by making the change
            and comparing again. The gains do not add up.
        change: The change as an overlay, which `overlay` accepts; None if no overlay makes it.
        examples: Up to 20 faults: the 10 most costly, from different documents if possible, then a random sample of the
            others. There are fewer if their values are large.
        documents: Number of gold documents with these faults; several runs of one document count once.
        advice: What to do, as one sentence.
        chance_gain: Increase in f1q if the change is made and predictions are compared with the gold of other
            documents; None if it is unknown.
        forgiving: Whether f1q corrected for chance, (f1q - chance) / (1 - chance), does not rise, because the change
            makes unrelated documents more similar to the same extent. This is forgiveness, not repair.
        detail: Further figures, such as the characters that differ.
    """

    kind: str
    side: Side
    paths: tuple[str, ...]
    count: int
    cost: float
    gain: float
    change: dict[str, Json] | None
    examples: tuple[CauseExample, ...]
    documents: int = 0
    advice: str = ""
    chance_gain: float | None = None
    forgiving: bool = False
    detail: Mapping[str, Json] = field(default_factory=dict)

    @property
    def systematic(self) -> bool:
        """Whether one explanation covers all faults of the cause, by a test against chance."""
        return KINDS[self.kind].systematic

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. `from_dict` is the inverse."""
        plain = {**_shallow(self), "paths": list(self.paths), "detail": dict(self.detail)}
        return plain | {"examples": [example.to_dict() for example in self.examples]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cause:
        """Create a cause from the result of `to_dict`."""
        examples = tuple(map(CauseExample.from_dict, data["examples"]))
        return cls(**(dict(data) | {"paths": tuple(data["paths"]), "examples": examples}))


@dataclass(frozen=True, slots=True)
class CauseAnalysis:
    """The causes of the faults of a corpus, and the documents in which they were found.

    Attributes:
        causes: The causes, largest gain first.
        documents: Number of documents that were examined.
        total: Number of documents of the corpus.
        f1q: Pooled f1q of the documents that were examined; None without entries.
        f1q_after: Their f1q after all changes are made.
        notes: What limits the analysis.
        faults: The faults of these documents with a predicted value and a known place in gold that no systematic cause
            explains, for the comparison of systems; None if they are unknown.
    """

    causes: tuple[Cause, ...] = ()
    documents: int = 0
    total: int = 0
    f1q: float | None = None
    f1q_after: float | None = None
    notes: tuple[str, ...] = ()
    faults: tuple[CauseExample, ...] | None = field(default=None, repr=False, compare=False)

    def to_dict(self, *, faults: bool = False) -> dict[str, Any]:
        """Return plain JSON, with `faults` only if they are asked for. `from_dict` is the inverse."""
        plain = _shallow(self) | {"causes": [cause.to_dict() for cause in self.causes], "notes": list(self.notes)}
        del plain["faults"]
        if faults and self.faults is not None:
            plain["faults"] = [example.to_dict() for example in self.faults]
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CauseAnalysis:
        """Create an analysis from the result of `to_dict`."""
        rows = {"causes": tuple(map(Cause.from_dict, data["causes"])), "notes": tuple(data["notes"])}
        if "faults" in data:
            rows["faults"] = tuple(map(CauseExample.from_dict, data["faults"]))
        return cls(**(dict(data) | rows))


def _shallow(record: Cause | CauseAnalysis) -> dict[str, Any]:
    """Return the fields of a record by name; values are not copied."""
    return {name: getattr(record, name) for name in record.__slots__}
