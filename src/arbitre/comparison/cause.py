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
        "the document is nested in another object or list",
        "the keys and values expected at the root occur at a deeper level of the prediction",
        "correction",
        "unwrap predictions with --project",
    ),
    "unwrapped-root": CauseKind(
        "the outermost object or list is missing",
        "the prediction has the keys and values expected inside the outermost object or list",
        "correction",
        "wrap predictions with --project",
    ),
    "page-shifted": CauseKind(
        "predictions belong to the next or previous document",
        "in several consecutive documents, the prediction contains the rare words of the next or previous gold "
        "document",
        "correction",
        "correct the ids of predictions",
    ),
    "key-spelling": CauseKind(
        "a key is spelt differently",
        "the keys differ only in case, accents or separators, or one is the plural of the other and most values are "
        "equal",
        "overlay or correction",
        "add the alias, or state the key in the prompt",
    ),
    "renamed-key": CauseKind(
        "the values of a field are under another key",
        "the values under another key agree with the gold values of a missing field",
        "overlay",
        "add the alias, or state the key in the prompt",
    ),
    "ids-as-keys": CauseKind(
        "a list of objects was predicted as an object with ids as keys, or the reverse",
        "the keys are ids of gold items, or the objects have the fields of gold items",
        "correction",
        "state the structure in the prompt",
    ),
    "promoted": CauseKind(
        "an item or a field is at a higher level than in gold",
        "missing objects or fields occur at a higher level of the prediction, or an item occurs once for each "
        "item of a list inside it, with the fields of that inner item",
        "overlay or correction",
        "state the level in the prompt",
    ),
    "demoted": CauseKind(
        "an item or a field is at a deeper level than in gold",
        "missing objects or fields occur at a deeper level of the prediction",
        "overlay or correction",
        "state the level in the prompt",
    ),
    "list-or-value": CauseKind(
        "a list was predicted instead of a single value, or the reverse",
        "the single value agrees with the first item of the list",
        "correction",
        "state the type in the prompt",
    ),
    "serialised-list": CauseKind(
        "a list was predicted as a single text, or the reverse",
        "the parts of the text are the items of the list",
        "correction",
        "state the type in the prompt",
    ),
    "other-field": CauseKind(
        "a value is in another field of the same object",
        "the predicted values of a field agree with gold values of another field that are missing or wrong",
        "correction",
        "describe both fields in the prompt",
    ),
    "columns-swapped": CauseKind(
        "the values of two fields are swapped",
        "the predicted values of each field agree with the gold values of the other field",
        "correction",
        "describe both fields in the prompt",
    ),
    "column-shifted": CauseKind(
        "the values of a field are those of the next or previous item",
        "most wrong values of a field in a list are the gold values of the next or previous item",
        "correction",
        "check whether the rows of the input are aligned",
    ),
    "ditto": CauseKind(
        "a ditto mark, or no value, was predicted where gold repeats the value of the previous item",
        "where the mark occurs, gold usually equals the predicted value of the previous item, and these values vary",
        "correction",
        "ask for the value in every item",
    ),
    "ids-offset": CauseKind(
        "numbers differ from gold by a constant",
        "most wrong numbers differ from gold by the same amount",
        "correction",
        "state in the prompt where numbering starts",
    ),
    "truncated": CauseKind(
        "the last items of lists are missing",
        "more missing items are at the ends of lists than expected by chance",
        "correction",
        "raise the output limit of the model, or split the input",
    ),
    "duplicated": CauseKind(
        "items are repeated",
        "predicted items without a good partner repeat other items of their list",
        "correction",
        "ask for each item once, or remove duplicates",
    ),
    # Other notations of the same value.
    "case": CauseKind(
        "texts differ only in case",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "accents": CauseKind(
        "texts differ only in accents",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "unicode": CauseKind(
        'texts differ only in equivalent or invisible Unicode characters, such as ligatures, "ß" for "ss", or '
        "direction marks",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "spaces": CauseKind(
        "texts differ only in whitespace",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "punctuation": CauseKind(
        "texts differ only in punctuation",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "quotes": CauseKind(
        "texts differ only in quotation marks or apostrophes",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "hyphenation": CauseKind(
        "texts differ only in hyphenation at the ends of lines",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "encoding": CauseKind(
        "texts are damaged by a wrong encoding, such as Ã© for é, or characters are replaced with � or ?",
        "the text, decoded as UTF-8, nearly equals the other text, or only characters outside ASCII were replaced",
        "correction",
        "read and write all texts as UTF-8",
    ),
    "markup": CauseKind(
        "texts contain Markdown, or HTML or XML tags or character entities",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or ask for the notation of gold in the prompt",
    ),
    "amount": CauseKind(
        "an amount is written in a different notation",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or state the notation in the prompt",
    ),
    "number-format": CauseKind(
        "a number is written in a different notation, or has the opposite sign",
        "a normaliser makes the values equal, or the numbers differ only in their sign",
        "overlay or correction",
        "add a normaliser, or state the notation in the prompt",
    ),
    "roman-numerals": CauseKind(
        "a number is written as a Roman numeral, or the reverse",
        "a normaliser makes the values equal",
        "overlay",
        "add a normaliser, or state the notation in the prompt",
    ),
    "units": CauseKind(
        "a quantity is given in a different unit, or its unit is spelt differently",
        "the values are equal apart from the presence or spelling of the unit, or they differ by a constant factor",
        "overlay or correction",
        "state the unit in the prompt",
    ),
    "date-format": CauseKind(
        "a date is written in a different notation",
        "both values denote the same day",
        "overlay",
        "add a normaliser, or ask for ISO 8601 dates in the prompt",
    ),
    "day-month-swapped": CauseKind(
        "the day and the month of a date are swapped",
        "more wrong dates than expected by chance equal the gold date after day and month are swapped",
        "correction",
        "state the order of day and month in the prompt",
    ),
    "date-offset": CauseKind(
        "dates differ from gold by a constant number of days or years",
        "most wrong dates differ from gold by the same number of days or years",
        "correction",
        "check how dates are read or converted, including time zones, calendars and centuries",
    ),
    "affix": CauseKind(
        "the prediction adds the same prefix or suffix to many texts, such as a title or a label, or leaves out one "
        "that gold has",
        "many texts equal the other text plus the same words or characters before or after it",
        "correction",
        "state in the prompt what the value includes",
    ),
    "name-order": CauseKind(
        "the words of a name are in a different order",
        "the texts are equal after their words are sorted",
        "overlay",
        "use a distance that ignores the order of words, or state the order in the prompt",
    ),
    "abbreviation": CauseKind(
        "a text is abbreviated or reduced to initials, or the reverse",
        "one text abbreviates the words of the other text, or consists of their initials",
        "overlay or correction",
        "map abbreviations to full texts, or ask for full texts in the prompt",
    ),
    "singular-plural": CauseKind(
        "a singular was predicted instead of a plural, or the reverse",
        "the words differ only in a singular or plural ending",
        "overlay or correction",
        "map the plural to the singular, or list the allowed terms in the prompt",
    ),
    "absent-value": CauseKind(
        "a placeholder, such as an empty text, stands for an absent value",
        "one side has a placeholder where the other side has no value",
        "overlay",
        "declare the values as absent",
    ),
    "default-value": CauseKind(
        "a constant value, such as 0, was predicted where gold has no value",
        "most spurious values of a field are the same value, and this value is less frequent elsewhere",
        "correction",
        "ask to omit fields without a value",
    ),
    "value-mapping": CauseKind(
        "one value is regularly predicted instead of another",
        "a predicted value is rarely correct, and the gold value is nearly always the same one",
        "overlay or correction",
        "map the values, or list the allowed values in the prompt",
    ),
    # Single faults that look alike.
    "moved-object": CauseKind(
        "an object or a list is in the wrong place",
        "see [moved objects](diagnosis.md#moved-objects)",
        "repair",
        "check how entries are delimited",
        systematic=False,
    ),
    "moved-value": CauseKind(
        "a value is in the wrong entry or field",
        "see [moved values](diagnosis.md#moved-values)",
        "repair",
        "check how entries are delimited",
        systematic=False,
    ),
    "renamed-field": CauseKind(
        "a field is under another key",
        "see [renamed fields](diagnosis.md#renamed-fields)",
        "repair",
        "state the key in the prompt",
        systematic=False,
    ),
    "split": CauseKind(
        "one item was predicted as several items",
        "see [splits](diagnosis.md#splits-and-merges)",
        "repair",
        "define in the prompt what counts as one item",
        systematic=False,
    ),
    "merged": CauseKind(
        "several items were predicted as one item",
        "see [merges](diagnosis.md#splits-and-merges)",
        "repair",
        "define in the prompt what counts as one item",
        systematic=False,
    ),
    "dangling-reference": CauseKind(
        "a reference contains an id that no item has",
        "no predicted item has this id",
        "repair",
        "ask for an item for each id, or check the ids of predictions",
        systematic=False,
    ),
    "swapped-references": CauseKind(
        "two references of an object are swapped",
        "the predicted value of each reference is the gold value of the other",
        "repair",
        "describe the direction of the relation in the prompt",
        systematic=False,
    ),
    "merged-targets": CauseKind(
        "a reference points to the wrong item, often because two items were predicted as one",
        "the item that the gold reference points to has no partner",
        "repair",
        "define in the prompt when two mentions refer to the same item",
        systematic=False,
    ),
    "split-target": CauseKind(
        "a reference points to the wrong item, often because one item was predicted as two",
        "the item that the predicted reference points to has no partner",
        "repair",
        "define in the prompt when two mentions refer to the same item",
        systematic=False,
    ),
    "other-target": CauseKind(
        "a reference points to the wrong item",
        "both referenced items have partners, but are not matched with each other",
        "repair",
        "check a sample against the source",
        systematic=False,
    ),
    "near": CauseKind(
        "a value differs in a few characters or items",
        "at least 70% of the characters agree, or two lists or objects share some contents",
        "repair",
        "check the OCR, or correct predictions",
        systematic=False,
    ),
    "part-of": CauseKind(
        "a value contains the gold value, or is contained in it",
        "one text or list contains the other",
        "repair",
        "define in the prompt what the value includes",
        systematic=False,
    ),
    "unrelated": CauseKind(
        "a value does not resemble the gold value",
        "no other kind applies",
        "repair",
        "check a sample against the source",
        systematic=False,
    ),
    "no-prediction": CauseKind(
        "a document has no usable prediction",
        "the prediction is missing or could not be used",
        "repair",
        "see the list of failures",
        systematic=False,
    ),
    "omission": CauseKind(
        "a value or an item is missing",
        "the gold value or item has no partner",
        "repair",
        "check whether the source contains it",
        systematic=False,
    ),
    "hallucination": CauseKind(
        "a value or an item is spurious",
        "the predicted value or item has no partner",
        "repair",
        "check whether the source contains it",
        systematic=False,
    ),
    "other": CauseKind(
        "the faults are of kinds that rarely occur",
        "in a corpus of three or more documents, there are fewer than five faults of a kind, or they occur in fewer "
        "than three documents",
        "repair",
        "see the list of faults",
        systematic=False,
    ),
}
"""The kinds of causes, by name."""


class CauseExample(NamedTuple):
    """An example of a fault that belongs to a cause.

    Attributes:
        id: Id of the document.
        run: Run of the prediction; None if it has none.
        path: Wildcard path of the fault.
        gold_pointer: JSON Pointer in gold; None if gold has no such value.
        predicted_pointer: JSON Pointer in the prediction, with aliased fields in their place in the schema; None if the
            prediction has no such value, or only after the changes of the causes found before.
        gold: Value in gold; ABSENT if there is none. If `gold_pointer` is None, any value here, such as null, counts as
            absent.
        predicted: Predicted value, after the changes of the causes found before; ABSENT if there is none, or None
            (null) at a position of `prefixItems`.
        gold_index: Index of the entry in gold, as in `matches.csv`; None if there is none.
        predicted_index: Index of the entry in the prediction; None if there is none.
        place: JSON Pointer in gold of the value that a correction of gold would change: `gold_pointer`, or where it
            would add the predicted value ("-" for an item of a list); None if it is unknown, and for split and merged
            items. If gold was transformed by a projection, it points into the transformed gold.
        costliest: Whether it is among the most costly faults of the cause; the others are drawn at random.
        creates: Types ("object" or "array") of the containers around `place` that gold lacks, outermost first. A
            correction of gold would create them.
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
    creates: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return plain JSON, without absent values and without `creates` if it is empty."""
        plain = {name: value for name, value in self._asdict().items() if value is not ABSENT}
        return plain | {"creates": list(self.creates)} if plain.pop("creates") else plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create an example from the result of `to_dict`."""
        return cls(**{"gold": ABSENT, "predicted": ABSENT, **data, "creates": tuple(data.get("creates", ()))})


@dataclass(frozen=True, slots=True)
class Cause:
    """A group of faults in a corpus that share an explanation or look alike.

    Attributes:
        kind: Kind of the cause, one of `KINDS`.
        side: Where the fault probably lies: "prediction", "gold" or "schema".
        paths: Wildcard paths of the faults.
        count: Number of faults.
        cost: Decrease in pooled f1q that the cause explains; the costs of all causes add up to 1 - f1q. For a cause
            with a change, it is the increase in f1q when its change is made after those of the causes found before it.
            For other causes, it is the cost of their faults after all these changes.
        gain: Increase in pooled f1q if the change is made, or if the faults are corrected. The gain of a change is
            found by making the change and comparing again. The gains do not add up.
        change: The change as an overlay, which `overlay` accepts; None if no overlay makes it.
        examples: Up to 20 faults: the 10 most costly, from different documents if possible, then a random sample of the
            others. There are fewer if their values are large.
        documents: Number of gold documents with these faults; several runs of one document count once.
        advice: What to do, as one sentence.
        chance_gain: Increase in f1q if the change is made and predictions are compared with the gold of other
            documents; None if it is unknown.
        forgiving: Whether f1q corrected for chance, (f1q - chance) / (1 - chance), does not rise, because the change
            raises the similarity of unrelated documents by the same amount. Such a change makes the comparison more
            lenient, but repairs no fault.
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
    """The causes of the faults in a corpus, and the number of documents that were examined.

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
