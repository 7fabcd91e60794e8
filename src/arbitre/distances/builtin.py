"""The distances by name, with the options that a schema may give them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from arbitre.catalogue import Catalogue, Factory
from arbitre.distances import dates, discrete, numbers, sets, taxonomy
from arbitre.distances.base import Distance
from arbitre.distances.custom import user_distance
from arbitre.distances.text import edit, ngrams, prose, ratcliff, translation
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from arbitre.distances.base import Facts
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
    """The schema of the length of a run."""
    return {"type": "integer", "minimum": 1, "maximum": _LONGEST_RUN, "default": default}


def _fixed(distance: Distance, summary: str, source: str = "") -> Factory[Distance]:
    """The entry of a distance without options."""
    return Factory(lambda _: distance, summary, source=source)


class DistanceCatalogue(Catalogue[Distance]):
    """The table of the distances; `with_distance` makes a larger one, with a function of your own."""

    __slots__ = ()

    def with_distance(
        self,
        name: str,
        function: Callable[[Any, Any], Any],
        facts: Facts,
        *,
        bound: Callable[[Any, Any], Any] | None = None,
        batch: bool = False,
        kinds: Iterable[Kind] = Kind,
    ) -> DistanceCatalogue:
        """A catalogue with one more distance: `function(gold, predicted)`, a float within `facts.range`.

        It is called for the pairs that a matching needs, once for each ordered pair of distinct values (once for both
        orders where `facts.symmetric`, not for equal values where `facts.identity`): `pool.calls` times. With `batch`
        it takes two equally long lists, and returns as many floats. `bound(gold, predicted)` is at most the distance,
        and cheap: with it fewer pairs are asked for. `facts` are taken at their word, by the certificate too; `kinds`
        are the kinds of values that it compares.

        Raises SchemaError where the name is taken; measuring raises SolverError, with the two values, for a result that
        is no finite number within the range, or below the bound.

        >>> from arbitre.distances.base import Facts
        >>> own = catalogue.with_distance("initial", lambda a, b: float(a[:1] != b[:1]), Facts(separating=False))
        >>> own.build("initial")("Paris", "Pau"), own.build("initial").facts.metric
        (0.0, False)
        """
        distance = user_distance(name, function, facts, bound=bound, batch=batch, kinds=kinds)
        entries = self.with_factory(name, _fixed(distance, "A function of the user.")).entries
        return DistanceCatalogue(self.term, entries)


_ANYTHING: Final = {
    "exact": _fixed(discrete.EXACT, "0 where two values of any kind are equal as JSON, else 1."),
}
_TEXTS: Final = {
    "yujian-bo": _fixed(edit.YUJIAN_BO, "Edits as a metric: 2L / (a + b + L).", "Li Yujian and Liu Bo, 2007"),
    "levenshtein": _fixed(edit.LEVENSHTEIN, "Edits over the longer length.", "Levenshtein, 1966"),
    "indel": _fixed(edit.INDEL, "Insertions and deletions over the sum of the lengths.", "Levenshtein, 1966"),
    "indel-yujian-bo": _fixed(
        edit.INDEL_YUJIAN_BO, "Insertions and deletions as a metric: 2D / (a + b + D).", "Li Yujian and Liu Bo, 2007"
    ),
    "osa": _fixed(
        edit.OSA_LONGER, "Edits and swaps of neighbours, each edited once, over the longer length.", "Damerau, 1964"
    ),
    "damerau-levenshtein": _fixed(
        edit.DAMERAU_LEVENSHTEIN,
        "Edits and swaps of neighbours over the longer length.",
        "Lowrance and Wagner, 1975",
    ),
    "lcs": _fixed(edit.LCS, "1 - longest common subsequence over the longer length.", "Bakkelund, 2009"),
    "jaro": _fixed(edit.JARO, "Characters in common near each other.", "Jaro, 1989"),
    "jaro-winkler": _fixed(
        edit.JARO_WINKLER, "Characters in common near each other, raised for a common start.", "Winkler, 1990"
    ),
    "ratcliff-obershelp": Factory(
        lambda options: ratcliff.ratcliff_obershelp(autojunk=options["autojunk"]),
        "Matching blocks, as difflib finds them.",
        {"autojunk": {"type": "boolean", "default": False}},
        source="Ratcliff and Metzener, 1988",
    ),
    "token-sort": _fixed(edit.TOKEN_SORT, "`yujian-bo` of the words in alphabetical order."),
    "token-set": _fixed(
        edit.TOKEN_SET, "`indel` of the words, 0 where one text has all words of the other.", "Cohen, 2011"
    ),
    "jaccard-ngrams": Factory(
        lambda options: ngrams.jaccard_ngrams(options["n"]),
        "1 - intersection over union of the runs of n characters.",
        {"n": _run(3)},
        source="Jaccard, 1901; Ukkonen, 1992",
    ),
    "date": Factory(
        lambda options: dates.date(options["scale"]),
        "Days over a scale, at most 1; a year or a month is all of its days.",
        {"scale": _SCALE | {"default": 365}},
        source="Hausdorff, 1914",
    ),
    "taxonomy": Factory(
        lambda options: taxonomy.taxonomy(options["parents"]),
        "Steps between two labels of a tree, over its diameter.",
        {"parents": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}},
        required=("parents",),
        source="Rada et al., 1989",
    ),
}
_NUMBERS: Final = {
    "absolute": Factory(
        lambda options: numbers.absolute(options["scale"]),
        "|a - b| over a scale, at most 1.",
        {"scale": _SCALE},
        required=("scale",),
    ),
    "relative": _fixed(
        numbers.RELATIVE, "|a - b| over the larger magnitude, at most 1.", "Marczewski and Steinhaus, 1958"
    ),
    "log": Factory(
        lambda options: numbers.log(options["scale"]),
        "x / (1 + x) for the difference x of asinh(value / scale): ratios far above the scale.",
        {"scale": _SCALE},
        required=("scale",),
        source="Johnson, 1949",
    ),
    "rounded": Factory(
        lambda options: numbers.rounded(options["grid"]),
        "0 where equal after rounding to a multiple of the grid, else 1.",
        {"grid": _GRID},
        required=("grid",),
    ),
    "tolerance": Factory(
        lambda options: numbers.tolerance(options["within"]),
        "0 where |a - b| is at most `within`, else 1.",
        {"within": _SCALE},
        required=("within",),
    ),
    "cycle": Factory(
        lambda options: numbers.cycle(int(options["period"])),
        "Steps the shorter way round between whole numbers from 0 to the period, over the most steps.",
        {"period": {"type": "integer", "minimum": 2, "maximum": 2**53}},
        required=("period",),
        source="Lee, 1958",
    ),
}
_SETS: Final = {
    "jaccard": _fixed(sets.JACCARD, "1 - intersection over union of the sets of items.", "Jaccard, 1901"),
    "dice": _fixed(sets.DICE, "1 - F1 of the sets of items.", "Dice, 1945"),
}
_LABELS: Final = {
    "ordinal": Factory(
        lambda options: discrete.ordinal(options["order"]),
        "Steps between two values of an order, over its length.",
        {"order": _SCALARS},
        required=("order",),
    ),
    "table": Factory(
        lambda options: discrete.table(options["values"], options["costs"]),
        "The cost stated for two values, symmetric.",
        {"values": _SCALARS, "costs": {"type": "array", "items": {"type": "array", "items": _COST}}},
        required=("values", "costs"),
    ),
}
_PROSE: Final = {
    "rouge-n": Factory(
        lambda options: prose.rouge_n(int(options["n"])),
        "1 - F1 of the runs of n words.",
        {"n": _run(1)},
        source="Lin, 2004",
    ),
    "rouge-1": _fixed(prose.ROUGE_1, "1 - F1 of the words.", "Lin, 2004"),
    "rouge-2": _fixed(prose.ROUGE_2, "1 - F1 of the pairs of neighbouring words.", "Lin, 2004"),
    "rouge-l": _fixed(prose.ROUGE_L, "1 - F1 of the longest common subsequence of words.", "Lin, 2004"),
    "rouge-s": Factory(
        lambda options: prose.rouge_s(int(options["skip"])),
        "1 - F1 of the pairs of words in order, at most `skip` words between.",
        {"skip": {"type": "integer", "minimum": 0, "default": 4}},
        source="Lin, 2004",
    ),
    "bleu": Factory(
        lambda options: translation.bleu(int(options["n"])),
        "1 - BLEU of the prediction against gold, through sacrebleu.",
        {"n": _run(4)},
        source="Papineni et al., 2002",
    ),
    "chrf": Factory(
        lambda options: translation.chrf(int(options["words"])),
        "1 - chrF of the prediction against gold, through sacrebleu.",
        {"words": {"type": "integer", "minimum": 0, "maximum": _LONGEST_RUN, "default": 0}},
        source="Popović, 2015",
    ),
}

catalogue: Final = DistanceCatalogue("distance", _ANYTHING | _TEXTS | _NUMBERS | _SETS | _LABELS | _PROSE)
"""Every distance that a schema may name; `catalogue.with_distance` makes a larger one."""
