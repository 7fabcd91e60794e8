"""Planters of causes that change values: another notation, another label, or single errors.

See `cause_planters`. By default the package converts all texts to Unicode NFC, so another normal form is no fault and is
not planted.
"""

from __future__ import annotations

import copy
import datetime as dt
import html
import json
import re
import unicodedata
from collections import Counter, defaultdict
from contextlib import suppress
from fractions import Fraction

from tests.bench.cause_corpora import STARTS, SUBJECTS, misread, places, values_at, words

PLANTERS = defaultdict(list)
"""The planters by kind. A planter takes a random generator, a corpus, predictions that it changes, and the paths that are
taken. It yields one attempt after another: the variant, the paths and the number of changes. Before the next attempt, the
predictions are restored. It yields nothing if the corpus has no place for the cause."""


def planter(kind):
    def added(function):
        PLANTERS[kind].append(function)
        return function

    return added


def chosen(rng):
    """The share of the places that a cause changes."""
    return rng.uniform(0.6, 1.0)


def free(path, taken):
    """Whether no cause is planted at this path, above or below it."""
    return not any(path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in taken)


# Values in another notation.


def values(kind, roles, variants, least=0.25):
    """Add a planter that changes the values of one path.

    Args:
        kind: Kind of the cause.
        roles: Roles of the values that it can change.
        variants: Functions of a generator and a value by name of the notation. They return None for a value that they
            cannot change.
        least: Minimum share of the values that change.
    """

    @planter(kind)
    def plant_values(rng, corpus, predicted, taken):
        options = [
            (path, name)
            for path in corpus.of_role(*roles)
            if free(path, taken) and kind not in corpus.blind.get(path, ())
            for name in variants
        ]
        rng.shuffle(options)
        for path, name in options:
            change = variants[name]
            changeable = [
                (container, key, new)
                for document in predicted
                for container, key in places(document, path)
                if (old := at(container, key)) is not None and (new := change(rng, old)) is not None and new != old
            ]
            present = sum(value is not None for document in predicted for value in values_at(document, path))
            if len(changeable) < least * present:
                continue
            share, count = chosen(rng), 0
            for container, key, new in changeable:
                if rng.random() < share:
                    container[key], count = new, count + 1
            yield name, (path,), count


def at(container, key):
    return container.get(key) if isinstance(container, dict) else container[key]


def of_text(change):
    """A variant that changes texts, without a random generator."""
    return lambda _, value: change(value) if isinstance(value, str) else None


def without_accents(text):
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def full_width(text):
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


def hyphenated(rng, text):
    """The text with one long word broken at the end of a line."""
    words = text.split(" ")
    long = [number for number, word in enumerate(words) if len(word) >= 7 and word.isalpha()]
    if not long:
        return None
    number = rng.choice(long)
    cut = rng.randint(3, len(words[number]) - 3)
    words[number] = f"{words[number][:cut]}-\n{words[number][cut:]}"
    return " ".join(words)


def spaced(rng, text):
    gaps = [number for number, letter in enumerate(text) if letter == " "]
    if not gaps:
        return None
    gap = rng.choice(gaps)
    return f"{text[:gap]}  {text[gap + 1 :]}"


TEXTS = ("text", "person", "place", "journal", "surname", "forename", "noun", "label", "tag")

values("case", TEXTS, {
    "upper case": of_text(str.upper),
    "lower case": of_text(str.lower),
    "capitalised words": of_text(str.title),
})  # fmt: skip
values("accents", TEXTS, {"accents dropped": of_text(without_accents)})
values("unicode", ("text", "person", "place", "journal"), {
    "full-width characters": of_text(full_width),
    "ligatures": of_text(lambda text: text.replace("fi", "ﬁ").replace("fl", "ﬂ").replace("ff", "ﬀ")),
    "direction marks": of_text(lambda text: f"\u200e{text}\u200f"),
    "byte order marks": of_text(lambda text: f"\ufeff{text}"),
    "soft hyphens": of_text(lambda text: re.sub(r"(\w{3})(?=\w{2})", "\\1\u00ad", text)),
    "long s": of_text(lambda text: re.sub(r"s(?=\w)", "ſ", text)),
})  # fmt: skip
values("spaces", ("text", "person", "place", "journal"), {
    "double space": spaced,
    "no-break spaces": of_text(lambda text: text.replace(" ", "\u00a0")),
    "space at both ends": of_text(lambda text: f" {text} "),
    "line breaks": of_text(lambda text: text.replace(" ", "\n", 1)),
})  # fmt: skip
values("punctuation", ("text", "place", "journal"), {
    "full stop at the end": of_text(lambda text: f"{text}."),
    "commas dropped": of_text(lambda text: re.sub(r"[,;:.](?=\s|$)", "", text)),
    "in brackets": of_text(lambda text: f"[{text}]"),
    "hyphens as spaces": of_text(lambda text: re.sub(r"(?<=\w)-(?=\w)", " ", text)),
})  # fmt: skip
values("quotes", ("text", "person", "place", "journal"), {
    "curly apostrophes": of_text(lambda text: text.replace("'", "’")),
    "straight apostrophes": of_text(lambda text: text.replace("’", "'")),
    "quoted": of_text(lambda text: f"«{text}»"),
    "in straight quotes": of_text(lambda text: f'"{text}"'),
})  # fmt: skip
values("hyphenation", ("text", "journal"), {"hyphen and line break": hyphenated})


def misdecoded(text, encoding="cp1252"):
    """The bytes of a text in UTF-8, decoded in another encoding; None if nothing changes, or if it is impossible."""
    try:
        return None if text.isascii() else text.encode().decode(encoding)
    except UnicodeDecodeError:
        return None


values("encoding", ("text", "person", "place", "surname", "forename"), {
    "UTF-8 read as Windows-1252": of_text(misdecoded),
    "UTF-8 read as Latin-1": of_text(lambda text: misdecoded(text, "latin-1")),
    "read wrongly twice": of_text(lambda text: misdecoded(misdecoded(text, "latin-1") or "", "cp1252")),
    "replacement characters": of_text(lambda text: re.sub("[^\\x00-\\x7f]", "\ufffd", text)),
    "question marks": of_text(lambda text: text.encode("ascii", "replace").decode()),
})  # fmt: skip


def marked(before, after):
    """A variant that adds markup around one word."""

    def change(rng, text):
        if not isinstance(text, str) or not any(map(str.isalpha, text)):
            return None
        words = text.split(" ")
        at = rng.choice([number for number, word in enumerate(words) if any(map(str.isalpha, word))])
        words[at] = f"{before}{words[at]}{after}"
        return " ".join(words)

    return change


values("markup", ("text", "person", "place", "surname", "journal"), {
    "tags around a word": marked("<i>", "</i>"),
    "tags around the text": of_text(lambda text: f"<i>{text}</i>"),
    "tags with attributes": of_text(lambda text: f'<hi rend="italic">{text}</hi>'),
    "Markdown around a word": marked("**", "**"),
    "Markdown around the text": of_text(lambda text: f"**{text}**"),
    "underscores": of_text(lambda text: f"_{text}_"),
    "entities of letters": of_text(lambda text: text.encode("ascii", "xmlcharrefreplace").decode()),
    "entities of XML": of_text(lambda text: html.escape(text, quote=True)),
})  # fmt: skip


def grouped(number, group, decimal, digits=2):
    """A number with two decimals and a separator of thousands."""
    return f"{number:,.{digits}f}".replace(",", "\0").replace(".", decimal).replace("\0", group)


def of_number(change):
    return lambda _, value: change(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def parts_of(number, form):
    """A number with two decimals as an amount in two units."""
    hundredths = round(number * 100)
    return form.format(hundredths // 100, hundredths % 100)


def with_fraction(number, form):
    """A number with one decimal as an integer and a fraction; None for an integer."""
    whole, rest = divmod(Fraction(str(number)), 1)
    return form(whole, rest) if rest and rest.denominator <= 10 else None


VULGAR = dict(zip(map(Fraction, ["1/2", "1/5", "2/5", "3/5", "4/5", "1/4", "3/4", "1/10"]), "½⅕⅖⅗⅘¼¾⅒", strict=True))

values("amount", ("amount",), {
    "1 234,50 EUR": of_number(lambda number: f"{grouped(number, ' ', ',')} EUR"),
    "€1,234.50": of_number(lambda number: f"€{grouped(number, ',', '.')}"),
    "1.234,50 €": of_number(lambda number: f"{grouped(number, '.', ',')} €"),
    "USD 1,234.50": of_number(lambda number: f"USD {grouped(number, ',', '.')}"),
    "1234 fr. 50 c.": of_number(lambda number: parts_of(number, "{} fr. {:02} c.")),
    "1234 Mark 50 Pf.": of_number(lambda number: parts_of(number, "{} Mark {} Pf.")),
    "1 234,50 francs": of_number(lambda number: f"{grouped(number, ' ', ',')} F"),
})  # fmt: skip
values("number-format", ("amount", "integer", "quantity", "id"), {
    "digits as text": of_number(str),
    "1 234,5": of_number(lambda number: grouped(number, " ", ",", 0 if isinstance(number, int) else 2)),
    "1.234,5": of_number(lambda number: grouped(number, ".", ",", 0 if isinstance(number, int) else 2)),
    "1,234.5": of_number(lambda number: grouped(number, ",", ".", 0 if isinstance(number, int) else 2)),
    "3 1/2": of_number(lambda number: with_fraction(number, lambda whole, rest: f"{whole} {rest}")),
    "3½": of_number(
        lambda number: with_fraction(number, lambda whole, rest: f"{whole}{VULGAR[rest]}" if rest in VULGAR else None)
    ),
})  # fmt: skip


def roman(number):
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 4000:
        return None
    text = ""
    for size, numeral in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                             ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"), strict=True):  # fmt: skip
        text, number = text + numeral * (number // size), number % size
    return text


values("roman-numerals", ("integer",), {
    "XIV": lambda _, value: roman(value),
    "xiv": lambda _, value: (roman(value) or "").lower() or None,
})  # fmt: skip
values("units", ("quantity",), {
    "12.5 kg": of_number(lambda number: f"{number} kg"),
    "12,5 kg": of_number(lambda number: f"{number} kg".replace(".", ",")),
    "grams": of_number(lambda number: round(number * 1000)),
})  # fmt: skip

MONTHS = {
    "en": words("January February March April May June July August September October November December"),
    "fr": words("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
}


def of_date(form):
    """A variant that writes an ISO date in another form."""

    def change(_, value):
        found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value) if isinstance(value, str) else None
        if not found or not 1 <= int(found[2]) <= 12:
            return None
        return form(found[1], found[2], found[3])

    return change


values("date-format", ("date",), {
    "03/11/1918, day first": of_date(lambda y, m, d: f"{d}/{m}/{y}"),
    "11/03/1918, month first": of_date(lambda y, m, d: f"{m}/{d}/{y}"),
    "3.11.1918": of_date(lambda y, m, d: f"{int(d)}.{int(m)}.{y}"),
    "3.XI.1918": of_date(lambda y, m, d: f"{int(d)}.{roman(int(m))}.{y}"),
    "3/XI/1918": of_date(lambda y, m, d: f"{int(d)}/{roman(int(m))}/{y}"),
    "03-11-1918": of_date(lambda y, m, d: f"{d}-{m}-{y}"),
    "19181103": of_date(lambda y, m, d: f"{y}{m}{d}"),
    "3 November 1918": of_date(lambda y, m, d: f"{int(d)} {MONTHS['en'][int(m) - 1]} {y}"),
    "November 3, 1918": of_date(lambda y, m, d: f"{MONTHS['en'][int(m) - 1]} {int(d)}, {y}"),
    "3 novembre 1918": of_date(lambda y, m, d: f"{int(d)} {MONTHS['fr'][int(m) - 1]} {y}"),
})  # fmt: skip


values("day-month-swapped", ("date",), {
    "1918-03-11": of_date(lambda y, m, d: f"{y}-{d}-{m}" if int(d) <= 12 and d != m else None),
    "1918-25-03": of_date(lambda y, m, d: f"{y}-{d}-{m}" if d != m else None),
}, least=0.15)  # fmt: skip


def days_later(number):
    """A variant that moves an ISO date by a number of days."""

    def change(y, m, d):
        with suppress(ValueError):  # the day and the month are swapped, or misread
            return (dt.date(int(y), int(m), int(d)) + dt.timedelta(number)).isoformat()

    return of_date(change)


values("date-offset", ("date",), {
    "one year later": of_date(lambda y, m, d: f"{int(y) + 1}-{m}-{d}"),
    "ten years earlier": of_date(lambda y, m, d: f"{int(y) - 10}-{m}-{d}"),
    "a century later": of_date(lambda y, m, d: f"{int(y) + 100}-{m}-{d}"),
    "one day earlier": days_later(-1),
    "one day later": days_later(1),
})  # fmt: skip


def surname_first(form):
    """A variant that writes "Louis Barthou" in a form with the surname first."""

    def change(text):
        parts = text.split(" ")
        return form.format(parts[0], " ".join(parts[1:])) if len(parts) > 1 and not set("(),") & set(text) else None

    return of_text(change)


def forename_first(text):
    found = re.fullmatch(r"(.+?)(?:, | \()([^()]+)\)?", text)
    return f"{found[2]} {found[1]}" if found else None


def initials(text):
    """The text with the forename as an initial, wherever it stands."""
    for form in (
        r"(?P<before>.+(?:, | \())(?P<name>[^\W\d_])[^\W\d_]+(?P<after>.*)",
        r"(?P<name>[^\W\d_])[^\W\d_]+(?P<after> .+)",
    ):
        if found := re.fullmatch(form, text):
            rest = re.sub(r"^-\w+", "", found["after"])
            return f"{found.groupdict().get('before') or ''}{found['name']}.{rest}"
    return None


SHORT = {"Journal": "J.", "Review": "Rev.", "Revue": "Rev.", "Annals": "Ann.", "Bulletin": "Bull.", "Economic": "Econ.",
         "Geographical": "Geogr.", "Society": "Soc.", "Official": "Off.", "Statistics": "Stat.", "Classical": "Class.",
         "Proceedings": "Proc.", "Institution": "Inst.", "Archives": "Arch.", "Quarterly": "Q.", "History": "Hist.",
         "histoire": "hist.", "Saint-": "St-", "Natural": "Nat.", "Science": "Sci.", "Correspondence": "Corr.",
         "Association": "Assn.", "Corporation": "Corp.", "National": "Natl.", "Company": "Co."}  # fmt: skip


def abbreviated(text):
    for word, short in SHORT.items():
        text = text.replace(word, short)
    return text


values("name-order", ("person",), {
    "Barthou, Louis": surname_first("{1}, {0}"),
    "Barthou Louis": surname_first("{1} {0}"),
    "Barthou (Louis)": surname_first("{1} ({0})"),
    "Louis Barthou": of_text(forename_first),
})  # fmt: skip
values("abbreviation", ("person",), {"initials": of_text(initials)})
values("abbreviation", ("text", "journal", "place"), {"abbreviated words": of_text(abbreviated)})


def plural(text):
    return text[:-1] + "ies" if text.endswith("y") else text + ("es" if text.endswith(("s", "h", "x")) else "s")


values("singular-plural", ("noun",), {"plural": of_text(plural)})

OTHER_LABELS = {
    "article-journal": "article de revue", "book": "livre", "chapter": "chapitre", "thesis": "thèse", "report": "rapport",
    "paper-conference": "communication", "letter": "lettre", "postcard": "carte postale", "telegram": "télégramme",
    "draft": "brouillon", "visiting card": "carte de visite", "birth": "naissance", "marriage": "mariage",
    "burial": "inhumation", "JPN": "Japan", "BRA": "Brazil", "FRA": "France", "GER": "Germany", "USA": "United States",
    "ITA": "Italy", "AUS": "Australia", "GBR": "Great Britain", "MEX": "Mexico", "TPE": "Chinese Taipei",
    "USD": "US dollars", "EUR": "euros", "GBP": "pounds sterling", "fr": "français", "en": "anglais", "de": "allemand",
    "la": "latin", "Freestyle": "nage libre", "Backstroke": "dos", "Breaststroke": "brasse", "Butterfly": "papillon",
    "Individual Medley": "quatre nages",
}  # fmt: skip


@planter("value-mapping")
def map_values(rng, corpus, predicted, taken):
    """Some or all labels of a closed vocabulary have another name, or one label always replaces another."""
    paths = [path for path in corpus.of_role("label") if free(path, taken)]
    rng.shuffle(paths)
    for path in paths:
        found = Counter(value for document in predicted for value in values_at(document, path) if value in OTHER_LABELS)
        known = [label for label, count in found.most_common() if count >= 8]
        if not known:
            continue
        if rng.random() < 0.5:
            mapped, variant = (
                {label: OTHER_LABELS[label] for label in known},
                "all labels, in words of another language",
            )
        else:
            mapped = {label: OTHER_LABELS[label] for label in rng.sample(known[:6], min(len(known), rng.randint(1, 2)))}
            variant = " and ".join(f"{old} as {new}" for old, new in mapped.items())
        count, share = 0, chosen(rng)
        for document in predicted:
            for container, key in places(document, path):
                if at(container, key) in mapped and rng.random() < share:
                    container[key], count = mapped[at(container, key)], count + 1
        yield variant, (path,), count


@planter("absent-value")
def write_absent(rng, corpus, predicted, taken):
    """Nothing is written as a text or an empty list."""
    paths = [path for path in corpus.empty if free(path, taken)]
    rng.shuffle(paths)
    for path in paths:
        written = rng.choice(("", "n/a", "null", "None", "-", "N/A", "not found", "unknown", [], ["null"]))
        share, count = chosen(rng), 0
        for document in predicted:
            for container, key in places(document, path):
                if at(container, key) is None and rng.random() < share:
                    container[key], count = copy.copy(written), count + 1
        yield json.dumps(written), (path,), count


@planter("default-value")
def write_default(rng, corpus, predicted, taken):
    """A number stands for nothing."""
    paths = [path for path in corpus.numbers if free(path, taken)]
    for path in rng.sample(paths, len(paths)):
        written, share, count = rng.choice((0, 0, 0, 1, -1, 9999)), chosen(rng), 0
        for document in predicted:
            for container, key in places(document, path):
                if at(container, key) is None and rng.random() < share:
                    container[key], count = written, count + 1
        yield f"{written}", (path,), count


NOTATIONS = tuple(PLANTERS)
"""The kinds above."""


def surrounded(before, after):
    """A variant that adds the same signs before and after texts with letters."""
    return of_text(lambda text: f"{before}{text}{after}" if any(map(str.isalpha, text)) else None)


values("affix", ("text", "person", "place", "surname", "journal"), {
    "title": surrounded("M. ", ""), "label": surrounded("Note : ", ""), "footnote": surrounded("", " (1)"),
    "article": surrounded("the ", ""),
})  # fmt: skip

# Single errors that look alike.

values(
    "near",
    ("text", "person", "place"),
    {"misread": lambda rng, text: misread(rng, text) if isinstance(text, str) and len(text) > 5 else None},
)
values("part-of", ("text", "journal"), {
    "first words": of_text(lambda text: " ".join(text.split()[: len(text.split()) // 2]) if len(text.split()) > 3 else None),
    "more words": lambda rng, text: f"{text} {rng.choice(STARTS).lower()} {rng.choice(SUBJECTS)}",
})  # fmt: skip
