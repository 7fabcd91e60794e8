"""The built-in distances by name, with their options in a schema."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

from arbitre.catalogue import Catalogue, Factory
from arbitre.distances import (
    dates,
    discrete,
    edit,
    identifiers,
    ngrams,
    numbers,
    rouge,
    segmentations,
    sets,
    spans,
    translation,
)
from arbitre.distances.base import Distance, Facts
from arbitre.distances.custom import user_distance
from arbitre.distances.judges import Judge
from arbitre.errors import SchemaError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from arbitre.values import Json

_SCALE: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": sys.float_info.max}
_GRID: Final = {"type": "number", "minimum": sys.float_info.min, "maximum": sys.float_info.max}
_SCALARS: Final = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean", "null"]},
    "minItems": 1,
    "uniqueItems": True,
}
_COST: Final = {"type": "number", "minimum": 0, "maximum": 1}
_LONGEST_RUN: Final = 100


def _run(default: int) -> dict[str, Json]:
    """Return the JSON Schema of an n-gram length."""
    return {"type": "integer", "minimum": 1, "maximum": _LONGEST_RUN, "default": default}


def _fixed(distance: Distance, summary: str, source: str = "") -> Factory[Distance]:
    """Return the catalogue entry of a distance without options."""
    return Factory(lambda _: distance, summary, source=source)


def _one_option(
    make: Callable[[Any], Distance],
    option: str,
    schema: Mapping[str, Json],
    summary: str,
    source: str = "",
    *,
    of_documents: tuple[str, ...] = (),
) -> Factory[Distance]:
    """Return the catalogue entry of a distance with one required option."""
    return Factory(lambda options: make(options[option]), summary, {option: schema}, (option,), source, of_documents)


class DistanceCatalogue(Catalogue[Distance]):
    """A catalogue of distances; `with_distance` returns a copy with a custom distance."""

    __slots__ = ()

    extension = "Load a distance of your own with --functions MODULE:NAME, or in Python with `distances=`."

    def with_distance(
        self,
        name: str,
        function: Callable[[Any, Any], Any],
        facts: Facts | None = None,
        *,
        bound: Callable[[Any, Any], Any] | None = None,
        batch: bool = False,
        kinds: Iterable[Kind | str] | None = None,
        context: bool = False,
    ) -> DistanceCatalogue:
        """Return a catalogue that also contains a custom distance.

        `function` is called only for pairs that a matching needs, at most once for each ordered pair of distinct
        values: once for both orders if `facts.symmetric`, and never for equal values if `facts.identity`. `pool.calls`
        counts the calls.

        Comparing raises FunctionError, with the path, the two values and their document, if the function raises an
        exception, or if a result is not a finite number within `facts.range` or is below the bound.

        Args:
            name: Name of the distance in schemas.
            function: `function(gold, predicted)` returns a float within `facts.range`.
            facts: Its mathematical properties, as far as you claim them; by default, those that the function states
                (see `arbitre.distances.embedding`), otherwise none. The certificate lists a claim among its
                assumptions. `Comparator.check_claims` checks claims on data.
            bound: `bound(gold, predicted)` cheaply returns a lower bound of the distance: reduces the calls.
            batch: Whether `function` takes two lists of the same length and returns a list of floats.
            kinds: Kinds of values that it accepts, of "null", "boolean", "number", "string", "array" and "object"; by
                default, those that the function states, otherwise all.
            context: Whether `function` also takes `context`, a `Context` with the parent and the document of both
                values; with `batch`, a list of them. The function is then called for each pair of values, also if
                the same values occur elsewhere, and claims are not checked on data.

        Raises:
            SchemaError: The name is already in use, or a kind is unknown.

        >>> from arbitre.distances.base import Facts
        >>> own = catalogue.with_distance("initial", lambda a, b: float(a[:1] != b[:1]), Facts(separating=False))
        >>> own.build("initial")("Paris", "Pau"), own.build("initial").facts.metric
        (0.0, False)
        """
        if isinstance(function, Judge):
            distance = self._judged(name, function)
        else:
            distance = user_distance(name, function, facts, bound=bound, batch=batch, kinds=kinds, context=context)
        return self.with_factory(name, _fixed(distance, "A custom distance."))

    def _judged(self, name: str, judge: Judge) -> Distance:
        """Return the distance of a judge: the one that decides the matching, with the judge. Raises SchemaError."""
        base = self.build(judge.match_by)
        if Kind.STRING not in base.kinds or not base.facts.identity:
            raise SchemaError.of(
                f"Expected `match_by` to be a distance of texts that is 0 for equal texts, got {base.name}"
            )
        judge.name = name
        return replace(
            base,
            name=name,
            kinds=frozenset({Kind.STRING}),
            facts=Facts.only("identity"),
            options={"judge": judge.version, "match_by": {judge.match_by: dict(base.options)}},
            custom=True,
            judge=judge,
        )


_ANYTHING: Final = {
    "exact": _fixed(discrete.EXACT, "0 if the values are equal as JSON, else 1"),
}
_TEXTS: Final = {
    "yujian-bo": _fixed(
        edit.YUJIAN_BO,
        "2L / (a + b + L), where L is the number of edits between texts of a and b characters",
        "Li Yujian and Liu Bo, 2007",
    ),
    "levenshtein": _fixed(
        edit.LEVENSHTEIN,
        "number of edits (insertions, deletions and substitutions of characters), divided by the length of the longer "
        "text",
        "Levenshtein, 1966",
    ),
    "indel": _fixed(
        edit.INDEL,
        "number of insertions and deletions, divided by the sum of the lengths of both texts",
        "Levenshtein, 1966",
    ),
    "indel-yujian-bo": _fixed(
        edit.INDEL_YUJIAN_BO,
        "2D / (a + b + D), where D is the number of insertions and deletions between texts of a and b characters",
        "Li Yujian and Liu Bo, 2007",
    ),
    "osa": _fixed(
        edit.OSA_LONGER,
        "number of edits and transpositions of adjacent characters, divided by the length of the longer text; no "
        "substring is edited twice",
        "Damerau, 1964",
    ),
    "damerau-levenshtein": _fixed(
        edit.DAMERAU_LEVENSHTEIN,
        "number of edits and transpositions of adjacent characters, divided by the length of the longer text; a "
        "transposed pair can be edited again",
        "Lowrance and Wagner, 1975",
    ),
    "lcs": _fixed(
        edit.LCS,
        "1 - L / M, where L is the length of the longest common subsequence and M the length of the longer text",
        "Bakkelund, 2009",
    ),
    "jaro": _fixed(edit.JARO, "1 - Jaro similarity, which counts common characters at nearby positions", "Jaro, 1989"),
    "jaro-winkler": _fixed(edit.JARO_WINKLER, "as `jaro`, but smaller for texts with a common prefix", "Winkler, 1990"),
    "ratcliff-obershelp": Factory(
        lambda options: edit.ratcliff_obershelp(autojunk=options["autojunk"]),
        "1 - `ratio()` of `SequenceMatcher` in Python's `difflib`, which finds matching blocks",
        {"autojunk": {"type": "boolean", "default": False}},
        source="Ratcliff and Metzener, 1988",
    ),
    "token-sort": _fixed(edit.TOKEN_SORT, "`yujian-bo` after the words of each text are sorted alphabetically"),
    "token-set": _fixed(
        edit.TOKEN_SET,
        "smallest `indel` distance between any two of three texts: the shared words alone, the shared words followed "
        "by the other words of the first text, and the shared words followed by the other words of the second text; "
        "without shared words, the `indel` distance between the two texts. Words are sorted and not repeated. The "
        "distance is 0 if one text contains at least one word and all of its words occur in the other",
        "Cohen, 2011",
    ),
    "jaccard-ngrams": Factory(
        lambda options: ngrams.jaccard_ngrams(options["n"]),
        "1 - intersection over union of the sets of character n-grams; a text with fewer than `n` characters "
        "counts as a single n-gram",
        {"n": _run(3)},
        source="Jaccard, 1901; Ukkonen, 1992",
    ),
    "date": Factory(
        lambda options: dates.date(options["scale"]),
        "number of days between two dates, divided by `scale`, at most 1. A date without a day is compared as the "
        "interval of all days in its month or year (see [dates and times](reference/distances.md#dates-and-times))",
        {"scale": _SCALE | {"default": 365}},
        source="Hausdorff, 1914",
    ),
    "duration": _fixed(
        dates.DURATION,
        "the `relative` distance between the lengths of two durations such as `P1DT12H` (see [dates and "
        "times](reference/distances.md#dates-and-times)); a year counts as 365.2425 days, and a month as a twelfth of "
        "a year",
        "Marczewski and Steinhaus, 1958",
    ),
    "time": Factory(
        lambda options: dates.time(options["scale"]),
        "number of hours between two times of day (see [dates and times](reference/distances.md#dates-and-times)), in "
        "the shorter direction around the clock, divided by `scale`, at most 1. A time without a UTC offset is "
        "interpreted as UTC",
        {"scale": _SCALE | {"default": 12}},
        source="Lee, 1958",
    ),
    "uuid": _fixed(identifiers.UUID, "0 for two notations of the same UUID, else 1"),
    "iban": _fixed(identifiers.IBAN, "0 for two notations of the same IBAN, else 1; ignores case and spaces"),
    "isbn": _fixed(
        identifiers.ISBN,
        "0 for two notations of the same ISBN, else 1; ignores hyphens and spaces, and converts a "
        "valid ISBN-10 to its ISBN-13",
    ),
    "doi": _fixed(
        identifiers.DOI,
        "0 for two notations of the same DOI, else 1; ignores case and a prefix such as `https://doi.org/` or `doi:`",
    ),
    "email": _fixed(
        identifiers.EMAIL, "0 for two notations of the same e-mail address, else 1; ignores the case of the domain"
    ),
    "uri": Factory(
        lambda options: identifiers.GRADED_URI if options["graded"] else identifiers.URI,
        "0 for two URIs with the same normal form (RFC 3986), else 1; with `graded`, the `yujian-bo` distance between "
        "the normal forms. The normal form ignores the case of the scheme and of the host, the default port, escapes "
        "of ordinary characters, dot segments, and whether the path after a host is empty or `/`",
        {"graded": {"type": "boolean", "default": False}},
    ),
    "taxonomy": _one_option(
        discrete.taxonomy,
        "parents",
        {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
        "number of steps between two labels in a tree, divided by the diameter of the tree. `parents` maps "
        "each label to its parent",
        "Rada et al., 1989",
        of_documents=("parents",),
    ),
}
_NUMBERS: Final = {
    "absolute": _one_option(numbers.absolute, "scale", _SCALE, "absolute difference divided by `scale`, at most 1"),
    "relative": _fixed(
        numbers.RELATIVE,
        "absolute difference divided by the larger magnitude, at most 1",
        "Marczewski and Steinhaus, 1958",
    ),
    "log": _one_option(
        numbers.log,
        "scale",
        _SCALE,
        "x / (1 + x), where x is the absolute difference between asinh(a / `scale`) and asinh(b / `scale`) for the "
        "values a and b. Values far above `scale` are compared by their ratio, and values near 0 by their difference",
        "Johnson, 1949",
    ),
    "rounded": _one_option(
        numbers.rounded,
        "grid",
        _GRID,
        "0 if the values are equal after rounding to a multiple of `grid`, else 1. "
        "Values halfway between two multiples round to the even one; if they or `grid` are only approximated by binary "
        "floating-point numbers, as 0.15 is, they can round either way",
    ),
    "tolerance": Factory(
        lambda options: numbers.tolerance(options.get("within"), options.get("relative")),
        "0 if the difference is at most `within`, or at most `relative` times the larger magnitude, else 1; "
        "at least one of `within` and `relative` is required. Numbers are compared as decimals, as they are written: "
        "20.00 and 19.99 differ by exactly 0.01",
        {"within": _SCALE, "relative": {"type": "number", "minimum": 2**-52, "maximum": 1 - 2**-53}},
    ),
    "cycle": _one_option(
        lambda period: numbers.cycle(int(period)),
        "period",
        {"type": "integer", "minimum": 2, "maximum": 2**53},
        "number of steps between two whole numbers from 0 to `period`, in the shorter direction around a cycle such as "
        "the months of a year, divided by the largest possible number of steps",
        "Lee, 1958",
    ),
}
_SETS: Final = {
    "jaccard": _fixed(
        sets.JACCARD, "1 - intersection over union of the items, ignoring order and repetition", "Jaccard, 1901"
    ),
    "dice": _fixed(sets.DICE, "1 - F1 of the items, ignoring order and repetition", "Dice, 1945"),
}
_OBJECTS: Final = {
    "span": Factory(
        lambda options: spans.span(options["overlap"], options.get("label")),
        "1 - intersection over union of two spans, which are objects with the numbers `start` and `end` (exclusive). "
        'With `overlap` "half": half of this distance if the spans overlap, else 1; with "any": 0 if they overlap, '
        'else 1; with "equal": 0 if their boundaries are equal, else 1. With `label`, the name of a key, spans with '
        "different values of this key have distance 1",
        {
            "overlap": {"enum": list(get_args(spans.Overlap)), "default": "iou"},
            "label": {"type": "string", "minLength": 1},
        },
        source="Jaccard, 1901",
    ),
}
_LABELS: Final = {
    "ordinal": _one_option(
        discrete.ordinal,
        "order",
        _SCALARS,
        "number of steps between two values in the list `order`, divided by the number of steps from its first value "
        "to its last value. All values in `order` must be of the same kind. Fields with an `enum` do not need `order`: "
        "the default is the `enum`",
        of_documents=("order",),
    ),
    "table": Factory(
        lambda options: discrete.table(options["values"], options["costs"]),
        "the entry for two of the `values` in the symmetric matrix `costs`; whether the distance is a metric "
        "depends on `costs`. The cost between values of different kinds must be 1",
        {"values": _SCALARS, "costs": {"type": "array", "items": {"type": "array", "items": _COST}}},
        required=("values", "costs"),
        of_documents=("values",),
    ),
}
_PROSE: Final = {
    "rouge-n": Factory(
        lambda options: rouge.rouge_n(int(options["n"])),
        "1 - F1 of the word n-grams; a text with fewer than `n` words counts as a single n-gram",
        {"n": _run(1)},
        source="Lin, 2004",
    ),
    "rouge-1": _fixed(rouge.ROUGE_1, "1 - F1 of the words", "Lin, 2004"),
    "rouge-2": _fixed(rouge.ROUGE_2, "1 - F1 of the word bigrams", "Lin, 2004"),
    "rouge-l": _fixed(rouge.ROUGE_L, "1 - F1 of the longest common subsequence of words", "Lin, 2004"),
    "rouge-s": Factory(
        lambda options: rouge.rouge_s(int(options["skip"])),
        "1 - F1 of the ordered pairs of words with at most `skip` words between them",
        {"skip": {"type": "integer", "minimum": 0, "default": 4}},
        source="Lin, 2004",
    ),
    "rouge-lsum": Factory(
        lambda options: rouge.rouge_lsum(options["tokenizer"]),
        "1 - F1 of the longest common subsequences of sentences, computed by rouge-score (extra `text`); each line is "
        'a sentence. With the `tokenizer` "rouge-score", texts are split into words as in that package',
        {"tokenizer": {"enum": list(rouge.TOKENIZERS), "default": "words"}},
        source="Lin, 2004",
    ),
    "bleu": Factory(
        lambda options: translation.bleu(int(options["n"]), options.get("weights")),
        "1 - BLEU of the prediction with gold as the reference text, computed by sacrebleu (extra `text`); with "
        "`weights`, BLEU without smoothing, computed by nltk (see [text](text.md#bleu))",
        {"n": _run(4), "weights": {"type": "array", "items": _COST, "minItems": 1, "maxItems": _LONGEST_RUN}},
        source="Papineni et al., 2002",
    ),
    "chrf": Factory(
        lambda options: translation.chrf(int(options["words"])),
        "1 - chrF of the prediction with gold as the reference text, computed by sacrebleu (extra `text`); with "
        "`words` = 2, chrF++",
        {"words": {"type": "integer", "minimum": 0, "maximum": _LONGEST_RUN, "default": 0}},
        source="Popović, 2015",
    ),
}

_WINDOW: Final = {"k": {"type": "integer", "minimum": 1}}
_CHANGE: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e6}
_SEGMENTATIONS: Final = {
    "window-diff": Factory(
        lambda options: segmentations.window_diff(options.get("k")),
        "share of windows of `k` positions with different numbers of boundaries in gold and in the prediction (see "
        "[segmentations](text.md#segmentations)); by default, `k` is half the mean length of the gold segments, and "
        "the distance is then not symmetric",
        _WINDOW,
        source="Pevzner and Hearst, 2002",
    ),
    "pk": Factory(
        lambda options: segmentations.pk(options.get("k")),
        "share of windows of `k` positions with a boundary either in gold or in the prediction, but not in both; `k` "
        "is as for `window-diff`",
        _WINDOW,
        source="Beeferman et al., 1999",
    ),
    "generalized-hamming": Factory(
        lambda options: segmentations.generalized_hamming(**options),
        "lowest cost of changing the predicted boundaries into the gold boundaries, divided by the cost of deleting "
        "all predicted and inserting all gold boundaries; not symmetric if `insertion` and `deletion` differ",
        {
            "insertion": _CHANGE | {"default": 2},
            "deletion": _CHANGE | {"default": 2},
            "shift": _CHANGE | {"default": 1},
        },
        source="Bookstein et al., 2002",
    ),
}

catalogue: Final = DistanceCatalogue(
    "distance", _ANYTHING | _TEXTS | _NUMBERS | _SETS | _OBJECTS | _LABELS | _PROSE | _SEGMENTATIONS
)
"""The built-in distances; `catalogue.with_distance` returns a copy with a custom distance."""
