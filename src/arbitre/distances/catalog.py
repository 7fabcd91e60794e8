"""The distances by name, with the options that a schema may give them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from arbitre.catalogue import Catalogue, Entry
from arbitre.distances import dates, discrete, numbers, ratcliff, sets, strings

if TYPE_CHECKING:
    from arbitre.distances.base import Distance

_SCALE: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": sys.float_info.max}


def _fixed(distance: Distance, summary: str, source: str = "") -> Entry[Distance]:
    """The entry of a distance without options."""
    return Entry(lambda _: distance, summary, source=source)


catalogue: Final[Catalogue[Distance]] = Catalogue(
    "distance",
    {
        "exact": _fixed(discrete.EXACT, "0 where two values of any kind are equal as JSON, else 1."),
        "yujian-bo": _fixed(strings.YUJIAN_BO, "Edits as a metric: 2L / (a + b + L).", "Li Yujian and Liu Bo, 2007"),
        "levenshtein": _fixed(strings.LEVENSHTEIN, "Edits over the longer length.", "Levenshtein, 1966"),
        "indel": _fixed(strings.INDEL, "Insertions and deletions over the sum of the lengths.", "Levenshtein, 1966"),
        "jaro-winkler": _fixed(strings.JARO_WINKLER, "Characters in common near each other.", "Winkler, 1990"),
        "ratcliff-obershelp": Entry(
            lambda options: ratcliff.ratcliff_obershelp(autojunk=options["autojunk"]),
            "Matching blocks, as difflib finds them.",
            {"autojunk": {"type": "boolean", "default": False}},
            source="Ratcliff and Metzener, 1988",
        ),
        "token-sort": _fixed(strings.TOKEN_SORT, "`yujian-bo` of the words in alphabetical order."),
        "absolute": Entry(
            lambda options: numbers.absolute(options["scale"]),
            "|a - b| over a scale, at most 1.",
            {"scale": _SCALE},
            required=("scale",),
        ),
        "relative": _fixed(
            numbers.RELATIVE, "|a - b| over the larger magnitude, at most 1.", "Marczewski and Steinhaus, 1958"
        ),
        "date": Entry(
            lambda options: dates.date(options["scale"]),
            "Days over a scale, at most 1; a year or a month is all of its days.",
            {"scale": _SCALE | {"default": 365}},
            source="Hausdorff, 1914",
        ),
        "jaccard": _fixed(sets.JACCARD, "1 - intersection over union of the sets of items.", "Jaccard, 1901"),
        "ordinal": Entry(
            lambda options: discrete.ordinal(options["order"]),
            "Steps between two values of an order, over its length.",
            {
                "order": {
                    "type": "array",
                    "items": {"type": ["string", "number", "boolean", "null"]},
                    "minItems": 1,
                    "uniqueItems": True,
                }
            },
            required=("order",),
        ),
    },
)
"""Every distance that a schema may name; `catalogue.with_entry` makes a larger one."""
