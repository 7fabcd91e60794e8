"""The forms of a text: abbreviations, plurals, misspellings, and damage by a wrong encoding."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from arbitre.distances import catalogue as distances
from arbitre.normalizers import catalogue as normalizers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.values import Json

RELATED: Final = 0.5
"""Similarity of two texts above which a misspelling explains the difference: 1 - edits / length of the longer text."""

MIN_PART: Final = 3
"""Minimum number of characters of a text that is part of another."""

_LEVENSHTEIN: Final = distances.build("levenshtein")
TEXT: Final = normalizers.build("text")
"""Converts a number to its text."""

_BASE_LETTERS: Final = normalizers.build("base-letters")


def folded(value: Json) -> str:
    """Return the letters and digits of a value in lower case, without accents, and with œ, æ, ø, ł and đ replaced.

    >>> folded("Œuvres (1.)"), folded("Éléonore"), folded(3)
    ('oeuvres1', 'eleonore', '3')
    """
    text = unicodedata.normalize("NFKD", _BASE_LETTERS(str(TEXT(value)))).casefold()
    return "".join(sign for sign in text if sign.isalnum())


def related(gold: Json, predicted: Json) -> bool:
    """Return whether a misspelling, an omission, or a wrong digit may explain the difference between two values.

    >>> related("article", "articel"), related("Louis Barthou", "Barthou"), related(1918, "1919"), related("m", "homme")
    (True, True, True, False)
    >>> related("EUR", "€")
    False
    """
    left, right = folded(gold), folded(predicted)
    if not any(map(str.isalpha, left + right)) or (right and left.startswith(right)):
        return True
    if min(len(left), len(right)) >= MIN_PART and (right in left or (left in right and 2 * len(left) >= len(right))):
        return True
    if isinstance(gold, str) and f" {gold} " in f" {predicted} ":
        return True
    return 1.0 - _LEVENSHTEIN(left, right) >= RELATED


SMALL: Final = re.compile(
    "an?|and|by|d[aeiu]?|das|del(la)?|der|des|die|el?|en|et|for|fur|in|l[ae]?|les|of|the|und|v|von|y"
)
"""Words that an acronym can leave out."""

_MARK: Final = re.compile(r"\w\.|(?<!\w)\w(?!\w)|(?<!\w)[A-ZÀ-Þ][a-zà-ÿ]{1,2}(?!\w)|^[A-ZÀ-Þ]+$")
"""What every abbreviation contains: a point, a single letter, a short word, or capital letters only."""

_WORD: Final = re.compile(r"\w+\.?")

MIN_OMITTED: Final = 2
"""Minimum number of letters that an abbreviated word omits; a misspelt word can lack one."""

TAIL: Final = 3
"""Maximum number of characters by which the forms of a word differ at its end."""

ENDINGS: Final = (
    ("", "s"),
    ("", "es"),
    ("", "x"),
    ("", "n"),
    ("", "en"),
    ("", "e"),
    ("", "er"),
    ("y", "ies"),
    ("al", "aux"),
    ("ail", "aux"),
    ("f", "ves"),
    ("fe", "ves"),
    ("o", "i"),
    ("a", "e"),
    ("e", "i"),
    ("um", "a"),
    ("us", "i"),
    ("is", "es"),
    ("on", "a"),
    ("man", "men"),
    ("ão", "ões"),
    ("m", "ns"),
    ("z", "ces"),
)
"""Endings of the singular and the plural in English, French, German, Italian, Spanish, Portuguese and Latin."""


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case and without accents, with the point that ends them.

    >>> plain_words("J.-P. Élie, prof. ém.")
    ['j.', 'p.', 'elie', 'prof.', 'em.']
    """
    if not text.isascii():
        text = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return _WORD.findall(text.casefold())


def is_abbreviation(short: str, full: str) -> bool:
    """Return whether a text abbreviates words of another text, or consists of their initials.

    >>> is_abbreviation("L. Barthou", "Louis Barthou"), is_abbreviation("Barthou, L.", "Barthou, Louis")
    (True, True)
    >>> is_abbreviation("prof.", "professeur"), is_abbreviation("Mme Curie", "Madame Curie")
    (True, True)
    >>> is_abbreviation("L.", "Louis"), is_abbreviation("J.-B.", "Jean-Baptiste"), is_abbreviation("L", "Louis")
    (True, True, False)
    >>> is_abbreviation("ONU", "Organisation des Nations unies"), is_abbreviation("prof", "professeur")
    (True, False)
    """
    if not 0 < len(short) < len(full) or not _MARK.search(short) or folded(short[0]) != folded(full[0]):
        return False
    if full.startswith(short) and not short.endswith("."):  # cut off
        return False
    words = plain_words(short), plain_words(full)
    return all(words) and (_is_acronym(short, words[1]) or _shortens(*words))


def _is_acronym(short: str, words: Sequence[str]) -> bool:
    letters = short.replace(".", "").replace(" ", "")
    if not (letters.isupper() and letters.isalpha() and len(letters) > 1):
        return False
    letters = unicodedata.normalize("NFKD", letters).casefold()
    large = [word for word in words if not SMALL.fullmatch(word.rstrip("."))]
    return any(len(several) > 1 and letters == "".join(word[0] for word in several) for several in (words, large))


def _shortens(short: Sequence[str], full: Sequence[str]) -> bool:
    """Return whether each word is the same or abbreviated, and at least one is abbreviated."""
    if len(short) != len(full):
        return False
    different = [(a, b) for a, b in zip(short, full, strict=True) if a.rstrip(".") != b.rstrip(".")]
    same = sum(len(word.rstrip(".")) > 1 for word, other in zip(short, full, strict=True) if word == other)
    return bool(different) and all(_shortened(a, b, alone=not same) for a, b in different)


def _shortened(short: str, full: str, *, alone: bool) -> bool:
    """Return whether a word is an abbreviation of another; `alone` if no word beside it is the same."""
    letters, rest = short.rstrip("."), full.rstrip(".")
    if len(letters) + MIN_OMITTED > len(rest) or letters[0] != rest[0]:
        return False
    if len(letters) == 1:
        return not alone or short.endswith(".")
    if short.endswith("."):
        return rest.startswith(letters) or _is_contraction(letters, rest)
    return not alone and len(letters) <= TAIL and _is_contraction(letters, rest)


def _is_contraction(short: str, full: str) -> bool:
    """Return whether a word has the first and the last letter of another, and between them letters in their order."""
    return short[-1] == full[-1] and contains_in_order(full, short)


def contains_in_order(full: str, characters: str) -> bool:
    """Return whether a text contains the given characters in this order.

    >>> contains_in_order("kilogrammes", "kg"), contains_in_order("kilogrammes", "gk")
    (True, False)
    """
    rest = iter(full)  # each search continues after the character that was found
    return all(character in rest for character in characters)


def is_plural(singular: str, plural: str) -> bool:
    """Return whether a text is another in the plural: words differ in the endings of singular and plural only.

    >>> is_plural("ligne aérienne", "lignes aériennes"), is_plural("city", "cities"), is_plural("cat", "cart")
    (True, True, False)
    """
    if not differs_in_tails(singular, plural):
        return False
    different = [(a, b) for a, b in zip(plain_words(singular), plain_words(plural), strict=True) if a != b]
    return all(any(_ends(a, b, *pair) for pair in ENDINGS) for a, b in different)


def _ends(singular: str, plural: str, one: str, many: str) -> bool:
    stem = singular.removesuffix(one)
    return singular.endswith(one) and plural == stem + many and len(stem) >= MIN_PART


def differs_in_tails(left: str, right: str) -> bool:
    """Return whether words of two texts differ in their last characters only."""
    rough = left.split(), right.split()
    if len(rough[0]) != len(rough[1]) or not all(map(_has_same_stem, *rough)):
        return False
    words = plain_words(left), plain_words(right)
    return len(words[0]) == len(words[1]) and words[0] != words[1] and all(map(_has_same_stem, *words))


def _has_same_stem(left: str, right: str) -> bool:
    if left == right:
        return True
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return same >= MIN_PART - 1 and max(len(left), len(right)) - same <= TAIL


# Texts that were decoded in the wrong encoding.


_BYTES: Final = {
    **{chr(byte): byte for byte in range(0x80, 0x100)},
    **{bytes([byte]).decode("cp1252", "ignore"): byte for byte in range(0x80, 0xA0)},
    " ": 0xA0,  # a no-break space often becomes a space
}
"""The byte of each character in Latin-1 or Windows-1252."""


def _of_bytes(first: int, last: int) -> str:
    """Return a pattern for one character whose byte is in a range."""
    return f"[{re.escape(''.join(sign for sign, byte in _BYTES.items() if first <= byte <= last))}]"


_NEXT: Final = _of_bytes(0x80, 0xBF)
_MISREAD: Final = re.compile(
    f"{_of_bytes(0xC2, 0xDF)}{_NEXT}|{_of_bytes(0xE0, 0xEF)}{_NEXT}{{2}}|{_of_bytes(0xF0, 0xF4)}{_NEXT}{{3}}"
)
"""Matches characters whose bytes may encode a single character in UTF-8."""


def decoded_again(text: str) -> str:
    """Restore a text in UTF-8 that was decoded as Windows-1252 or Latin-1, once or several times.

    >>> decoded_again("BesanÃ§on"), decoded_again("lâ€™Ã©tÃ©"), decoded_again("Ãƒâ€°vreux"), decoded_again("Orléans")
    ('Besançon', 'l’été', 'Évreux', 'Orléans')
    """
    before = None
    while text != before:
        before, text = text, _MISREAD.sub(_decoded, text)
    return text


def _decoded(found: re.Match[str]) -> str:
    try:
        return bytes(map(_BYTES.__getitem__, found[0])).decode()
    except UnicodeDecodeError:
        return found[0]


LOST: Final = ("\ufffd", "?")
"""Replacements for characters that cannot be decoded or encoded."""


def lost_characters(damaged: str, text: str) -> bool | None:
    r"""Return whether only characters outside ASCII were replaced in a text; None if it has no replacement characters.

    >>> lost_characters("Orl\ufffdans", "Orléans"), lost_characters("Orl?ans ?", "Orléans ?")
    (True, True)
    >>> lost_characters("O?léans", "Orléans"), lost_characters("Orléans ?", "Orleans ?")
    (False, None)
    """
    marks = [mark for mark in LOST if damaged.count(mark) > text.count(mark)]
    if not marks:
        return None
    return any(
        len({re.sub(rf"[{mark}\u0080-\U0010ffff]+", "\0", side) for side in (damaged, text)}) == 1 for mark in marks
    )
