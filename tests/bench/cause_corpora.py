"""Corpora for the benchmark of causes: schemas, gold documents, background noise, and noise without any cause.

Three corpora are resampled from the real gold beside the project, and are left out where it is absent; the others are
written here. Nothing is imported from the package: the schemas and documents are plain JSON.
"""

from __future__ import annotations

import json
import random
import string
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SENATE = Path(__file__).resolve().parents[2] / "schemas" / "examples"

DOCUMENTS = 30
"""Number of documents of a corpus."""
NOISE = {"replaced": 0.05, "misread": 0.05, "dropped": 0.02, "invented": 0.02}
"""Rates of the background noise: of values, the first two, and of the items of lists of objects."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """A schema and gold documents.

    Attributes:
        name: Name of the corpus.
        schema: JSON Schema.
        gold: The gold documents.
        roles: What the values of a path are: "person", "text", "label", "date", "amount", "integer", "id", "flag",
            "noun" or "tag"; lists of values have the role of their items at the path that ends in "/*".
        empty: Paths that are null or absent in a large part of the gold.
        entries: Path of the list of objects in which entries are moved, repeated or cut off; None without one.
        nested: Path of a list of objects in the entries.
        blind: Kinds of differences that the schema already ignores, by path.
        numbers: Paths of numbers that are null in a large part of the gold.
    """

    name: str
    schema: dict
    gold: tuple
    roles: dict
    empty: tuple = ()
    entries: str | None = None
    nested: str | None = None
    blind: dict = field(default_factory=dict)
    numbers: tuple = ()

    def of_role(self, *roles):
        """The paths whose values have one of these roles."""
        return [path for path, role in self.roles.items() if role in roles]


# Paths: "/records/*/title" is the title of every record.


def tokens(path):
    return path.split("/")[1:]


def places(document, path):
    """The container and the key of every place of a path; the value itself may be absent from an object."""
    *above, last = tokens(path)
    for container in reached(document, above):
        if last == "*":
            yield from ((container, at) for at in range(len(container)) if isinstance(container, list))
        elif isinstance(container, dict):
            yield container, last


def reached(document, names):
    """The values at these tokens of a path."""
    if not names:
        yield document
    elif names[0] == "*":
        for item in document if isinstance(document, list) else ():
            yield from reached(item, names[1:])
    elif isinstance(document, dict) and names[0] in document:
        yield from reached(document[names[0]], names[1:])


def values_at(document, path):
    """The values of a path, null included."""
    return list(reached(document, tokens(path) if path else []))


def leaves(value, path=""):
    """The wildcard path and the value of every scalar, empty list and empty object."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}/{key}")
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, f"{path}/*")
    else:
        yield path, value


def pool(documents):
    """The values of every path in these documents."""
    values = defaultdict(list)
    for document in documents:
        for path, value in leaves(document):
            values[path].append(value)
    return values


# Background noise.

CONFUSED = {
    "e": "c",
    "c": "e",
    "l": "1",
    "i": "l",
    "o": "0",
    "n": "u",
    "u": "n",
    "a": "o",
    "m": "rn",
    "S": "5",
    "B": "8",
    "t": "f",
}


def misread(rng, value):
    """Replace one or two letters of a text with letters that look alike, or one digit of a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return misread_number(rng, value)
    if not isinstance(value, str):
        return value
    letters = list(value)
    for at in rng.sample(range(len(letters)), min(len(letters), rng.choice((1, 1, 2)))):
        letters[at] = CONFUSED.get(letters[at], rng.choice(string.ascii_lowercase))
    return "".join(letters)


def misread_number(rng, number):
    """Replace one digit of a number."""
    digits = list(json.dumps(number))
    at = rng.choice([at for at, digit in enumerate(digits) if digit.isdecimal()])
    digits[at] = rng.choice("123456789")
    return json.loads("".join(digits))


def invented(rng, item, path, values):
    """An object with the keys of another one, and values of the corpus."""
    made = {}
    for key, value in item.items():
        below = f"{path}/{key}"
        if isinstance(value, dict):
            made[key] = invented(rng, value, below, values)
        else:
            made[key] = [] if isinstance(value, list) else rng.choice(values.get(below) or [None])
    return made


def with_noise(rng, document, values, rates=NOISE):
    """A copy of a document with values replaced and misread, and items of lists of objects dropped and invented."""

    def visit(value, path):
        if isinstance(value, dict):
            return {key: visit(item, f"{path}/{key}") for key, item in value.items()}
        if isinstance(value, list):
            items = []
            for item in value:
                if isinstance(item, dict) and rng.random() < rates["dropped"]:
                    continue
                items.append(visit(item, f"{path}/*"))
                if isinstance(item, dict) and rng.random() < rates["invented"]:
                    items.append(invented(rng, item, f"{path}/*", values))
            return items
        if value is not None and rng.random() < rates["replaced"]:
            return rng.choice([other for other in values[path] if other is not None])
        return misread(rng, value) if rng.random() < rates["misread"] else value

    return visit(document, "")


# Vocabularies of the corpora that are written here.


def words(text, separator=" "):
    return text.split(separator)


FORENAMES = words(
    "Louis Aristide Raymond Édouard Joseph André Léon François Gaston Hélène Jean-Baptiste Marie Renée Thérèse Eugène René Émile Paul Camille Noémie Désiré Cécile Hippolyte Alexandre Irène Jérôme Agnès Blanche Honoré Zoé"
)
SURNAMES = words(
    "Barthou Briand Poincaré Herriot Caillaux Tardieu Bérard Flandin Doumergue Painlevé Bénard Lémery Chéron Sarraut Delbos Régnier Marraud Sérot Brindeau Cadilhon Cuttoli Dalbiez Damecour Babin Héry Léglise Mahieu Rondé Vallée Chênebenoit Fourcade Guérin Lefèvre Pichery Soufflot Fleuriot Affre Griffon"
)
TOWNS = words(
    "Saint-Étienne,Besançon,Orléans,Nîmes,Béziers,Angoulême,Alençon,Mâcon,Périgueux,Évreux,La Rochelle,Le Mans,Aix-en-Provence,Saint-Denis,Troyes,Rouen,Dijon,Pau,Sète,Chambéry,Épinal,Vendôme,Condé-sur-l'Escaut,L'Haÿ-les-Roses",
    ",",
)
SUBJECTS = words(
    "official records,municipal finances,l'histoire régionale,railway traffic,coastal fisheries,l'économie agricole,military service,the first assembly,public instruction,the press d'opinion,l'élevage ovin,manuscript fragments,textile manufactures,hydrographic surveys,the colonies' budgets,l'éclairage électrique,sanitary inspections,glass and steel,river navigation,the printers' guild,l'assistance médicale",
    ",",
)
STARTS = words(
    "A study of,Notes on,Élements for the history of,Report on,Essays concerning,An introduction to,Recent findings in,Observations; first series: on,The economics of,Correspondence about,A critical edition of,Statistical tables of",
    ",",
)
ENDS = [
    "1789–1914",
    "(second part)",
    "in the nineteenth century",
    "before the reform",
    "under the Third Republic",
    "with maps and figures",
    "and its critics",
    "a reassessment",
]
JOURNALS = ["Journal of Economic History", "Revue d'histoire moderne", "Annals of Statistics and Finance", "Bulletin of the Geographical Society", "Journal of Official Statistics", "Review of Classical Philology", "Cahiers d'études régionales", "Proceedings of the Royal Institution", "Archives of Natural Science", "Quarterly Review of Fisheries"]  # fmt: skip
TRADES = words(
    "baker,miller,farm worker,weaver,fisherman's widow,printer,carpenter,school teacher,notary,shoemaker,wine merchant,railway clerk,domestic servant,glass blower,tanner,locksmith",
    ",",
)
GOODS = words(
    "copper wire,oak plank,steel bolt,cotton sheet,window pane,brass fitting,paper ream,flax sack,roof tile,iron nail,glass flask,wool blanket,paint tin,lamp oil barrel",
    ",",
)
TAGS = words(
    "finance,education,agriculture,navy,posts,railways,justice,public works,health,colonies,pensions,customs,fisheries,press",
    ",",
)


def person(rng):
    return f"{rng.choice(FORENAMES)} {rng.choice(SURNAMES)}"


def title(rng):
    end = f", {rng.choice(ENDS)}" if rng.random() < 0.6 else ""
    return f"{rng.choice(STARTS)} {rng.choice(SUBJECTS)}{end}"


def date(rng, first=1890, last=1935):
    return f"{rng.randint(first, last)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def number(rng, lowest, highest, digits=2):
    return round(rng.uniform(lowest, highest), digits)


def of(kind, **more):
    return {"type": kind, **more}


def nullable(kind):
    return {"anyOf": [{"type": kind}, {"type": "null"}]}


def objects(properties, **more):
    return {"type": "array", "items": {"type": "object", "properties": properties}, **more}


def sizes(rng):
    return rng.randint(3, 12)


def bibliography(rng):
    """References with the keys of CSL-JSON."""
    types = ["article-journal", "book", "chapter", "thesis", "report", "paper-conference"]
    author = {"family": of("string"), "given": of("string")}
    schema = of("object", properties={"records": objects({
        "type": of("string", enum=types), "title": of("string"), "author": objects(author),
        "container-title": of("string"), "publisher": of("string"), "publisher-place": of("string"),
        "issued": of("string", format="date"), "volume": of("integer"), "page-first": of("integer"),
        "number-of-pages": of("integer"), "price": of("number"), "language": of("string", enum=["fr", "en", "de", "la"]),
        "keyword": {"type": "array", "items": of("string")}, "editor": nullable("string"),
        "collection-title": nullable("string"), "note": nullable("string"), "edition": nullable("integer"),
    }, **{"x-arbitre": {"entries": True}})})  # fmt: skip

    def record():
        return {
            "type": rng.choice(types), "title": title(rng),
            "author": [{"family": rng.choice(SURNAMES), "given": rng.choice(FORENAMES)} for _ in range(rng.randint(1, 3))],
            "container-title": rng.choice(JOURNALS), "publisher": f"{rng.choice(SURNAMES)} & {rng.choice(SURNAMES)}",
            "publisher-place": rng.choice(TOWNS), "issued": date(rng), "volume": rng.randint(2, 60),
            "page-first": rng.randint(1, 900), "number-of-pages": rng.randint(4, 400), "price": number(rng, 2, 4000),
            "language": rng.choice(["fr", "en", "de", "la"]), "keyword": rng.sample(TAGS, rng.randint(1, 4)),
            "editor": person(rng) if rng.random() < 0.4 else None,
            "collection-title": rng.choice(SUBJECTS).capitalize() if rng.random() < 0.4 else None,
            "note": None, "edition": rng.randint(2, 9) if rng.random() < 0.5 else None,
        }  # fmt: skip

    top = "/records/*/"
    roles = {"type": "label", "title": "text", "author/*/family": "surname", "author/*/given": "forename",
             "container-title": "journal", "publisher": "text", "publisher-place": "place", "issued": "date",
             "volume": "integer", "page-first": "integer", "number-of-pages": "integer", "price": "amount",
             "language": "label", "keyword/*": "tag", "editor": "person", "collection-title": "text"}  # fmt: skip
    gold = tuple({"records": [record() for _ in range(sizes(rng))]} for _ in range(DOCUMENTS))
    return Corpus("bibliography", schema, gold, {top + key: role for key, role in roles.items()},
                  (top + "editor", top + "collection-title", top + "note"), "/records", top + "author",
                  numbers=(top + "edition",))  # fmt: skip


def letters(rng):
    """A catalogue of letters."""
    kinds = ["letter", "postcard", "telegram", "draft", "visiting card"]
    schema = of("object", properties={"letters": objects({
        "number": of("integer"), "kind": of("string", enum=kinds), "sender": of("string"), "recipient": of("string"),
        "sent": of("string", format="date"), "received": of("string", format="date"), "place": of("string"),
        "summary": of("string"), "sheets": {"type": "array", "items": of("integer")}, "signed": of("boolean"),
        "seal": {"type": "object", "properties": {"colour": of("string"), "motto": of("string")}},
        "postage": of("number"), "shelfmark": of("string"), "remarks": nullable("string"), "copyist": nullable("string"),
    }, **{"x-arbitre": {"entries": True}})})  # fmt: skip

    def letter(count):
        first = rng.randint(1, 300)
        return {
            "number": count, "kind": rng.choice(kinds), "sender": person(rng), "recipient": person(rng), "sent": date(rng),
            "received": date(rng), "place": rng.choice(TOWNS), "summary": f"{title(rng)}. {rng.choice(STARTS)} {rng.choice(SUBJECTS)}.",
            "sheets": sorted(rng.sample(range(first, first + 40), rng.randint(1, 4))), "signed": rng.random() < 0.6,
            "seal": {"colour": rng.choice(["red", "black", "green", "brown"]), "motto": rng.choice(SUBJECTS)},
            "postage": number(rng, 0.5, 30), "shelfmark": f"MS {rng.randint(1, 90)}, f. {rng.randint(1, 400)}",
            "remarks": rng.choice(SUBJECTS) if rng.random() < 0.35 else None,
            "copyist": person(rng) if rng.random() < 0.3 else None,
        }  # fmt: skip

    top, gold, count = "/letters/*/", [], 100
    for _ in range(DOCUMENTS):
        gold.append({"letters": [letter(count + at) for at in range(sizes(rng))]})
        count += rng.randint(12, 40)
    roles = {"number": "id", "kind": "label", "sender": "person", "recipient": "person", "sent": "date",
             "received": "date", "place": "place", "summary": "text", "sheets/*": "integer", "signed": "flag",
             "postage": "amount", "shelfmark": "text", "seal/motto": "text", "remarks": "text",
             "copyist": "person"}  # fmt: skip
    return Corpus("letters", schema, tuple(gold), {top + key: role for key, role in roles.items()},
                  (top + "remarks", top + "copyist"), "/letters")  # fmt: skip


def register(rng):
    """Rows of a parish register; the document is the list."""
    row = {
        "id": of("integer"), "date": of("string", format="date"), "name": of("string"), "spouse": nullable("string"),
        "trade": of("string"), "place": of("string"), "dowry": of("number"), "tax": of("number"), "children": of("integer"),
        "age": of("integer"), "literate": of("boolean"), "act": of("string", enum=["birth", "marriage", "burial"]),
        "witness": nullable("string"), "weight_kg": of("number"), "fine": nullable("number"),
    }  # fmt: skip

    def entry(count):
        return {
            "id": count, "date": date(rng, 1780, 1860), "name": f"{rng.choice(SURNAMES)}, {rng.choice(FORENAMES)}",
            "spouse": person(rng) if rng.random() < 0.5 else None, "trade": rng.choice(TRADES),
            "place": rng.choice(TOWNS), "dowry": number(rng, 10, 9000), "tax": number(rng, 1, 90),
            "children": rng.randint(0, 9), "age": rng.randint(16, 88), "literate": rng.random() < 0.5,
            "act": rng.choice(["birth", "marriage", "burial"]), "witness": person(rng) if rng.random() < 0.3 else None,
            "weight_kg": number(rng, 2, 90, 1), "fine": rng.randint(0, 60) / 2 if rng.random() < 0.4 else None,
        }  # fmt: skip

    gold, count = [], 1
    for _ in range(DOCUMENTS):
        gold.append([entry(count + at) for at in range(sizes(rng))])
        count += len(gold[-1])
    roles = {"id": "id", "date": "date", "name": "person", "spouse": "person", "trade": "noun", "place": "place",
             "dowry": "amount", "tax": "amount", "children": "integer", "age": "integer", "literate": "flag",
             "act": "label", "witness": "person", "weight_kg": "quantity"}  # fmt: skip
    return Corpus("register", objects(row), tuple(gold), {f"/*/{key}": role for key, role in roles.items()},
                  ("/*/spouse", "/*/witness"), "", numbers=("/*/fine",))  # fmt: skip


def inventory(rng):
    """Documents with sections of items."""
    item = {"label": of("string"), "good": of("string"), "quantity": of("integer"), "price": of("number"),
            "weight_kg": of("number"), "supplier": of("string"), "stored": of("string"), "remark": nullable("string")}  # fmt: skip
    section = {"heading": of("string"), "page": of("integer"), "clerk": of("string"), "items": objects(item)}
    schema = of("object", properties={
        "house": of("string"), "drawn_up": of("string", format="date"),
        "sections": objects(section, **{"x-arbitre": {"entries": True}}),
    })  # fmt: skip

    def one():
        return {"label": f"No. {rng.randint(1, 999)}, {rng.choice(SUBJECTS)}", "good": rng.choice(GOODS),
                "quantity": rng.randint(1, 2500), "price": number(rng, 1, 6000), "weight_kg": number(rng, 1, 400, 1),
                "supplier": person(rng), "stored": rng.choice(TOWNS),
                "remark": title(rng) if rng.random() < 0.4 else None}  # fmt: skip

    def part(at):
        return {"heading": title(rng), "page": 3 + 7 * at + rng.randint(0, 6), "clerk": person(rng),
                "items": [one() for _ in range(rng.randint(1, 5))]}  # fmt: skip

    gold = tuple({"house": f"{rng.choice(SURNAMES)} frères, {rng.choice(TOWNS)}", "drawn_up": date(rng),
                  "sections": [part(at) for at in range(rng.randint(3, 6))]} for _ in range(DOCUMENTS))  # fmt: skip
    top, low = "/sections/*/", "/sections/*/items/*/"
    roles = {top + "heading": "text", top + "page": "integer", top + "clerk": "person", low + "label": "text",
             low + "good": "noun", low + "quantity": "integer", low + "price": "amount", low + "weight_kg": "quantity",
             low + "supplier": "person", low + "stored": "place", low + "remark": "text"}  # fmt: skip
    return Corpus("inventory", schema, gold, roles, (low + "remark",), "/sections", top + "items")


def contents(rng):
    """Tables of contents: chapters and sections have the same fields."""
    node = {"title": of("string"), "page": of("integer"), "author": of("string")}
    schema = of("object", properties={"chapters": objects({**node, "sections": objects(node)})})

    def line(page):
        return {"title": title(rng), "page": page, "author": person(rng)}

    def chapter(page):
        return {**line(page), "sections": [line(page + at + 1) for at in range(rng.randint(1, 4))]}

    gold = tuple({"chapters": [chapter(1 + 9 * at + rng.randint(0, 3)) for at in range(rng.randint(3, 8))]}
                 for _ in range(DOCUMENTS))  # fmt: skip
    top, low = "/chapters/*/", "/chapters/*/sections/*/"
    roles = {prefix + key: role for prefix in (top, low)
             for key, role in (("title", "text"), ("page", "integer"), ("author", "person"))}  # fmt: skip
    return Corpus("contents", schema, gold, roles, (), "/chapters", top + "sections")


# Corpora that are resampled from real gold.


def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def crossed(rng, values):
    """A text from the first words of one real text and the last words of another."""
    first, second = rng.choice(values).split(), rng.choice(values).split()
    return " ".join([*first[: max(1, len(first) // 2)], *second[len(second) // 2 :]]) if len(first) > 1 else first[0]


def redated(rng, values):
    """A date with the years, months and days of real dates."""
    year, month, day = (rng.choice(values).split("-")[at] for at in range(3))
    return f"{year}-{month}-{min(int(day), 28):02}"


def swimming(rng):
    """Results of swimming championships."""
    folder = DATA / "extract-bench" / "swimming"
    tables = [
        event
        for file in sorted((folder / "gold").glob("*.json"))
        for table in [load(file)]
        for event in table.get("events", [table])
    ]
    rows = [row for table in tables for group in table["age_groups"] for row in group["results"]]
    athletes = [row["athlete_details"] for row in rows]
    groups = sorted({group["age_group"] for table in tables for group in table["age_groups"]})
    names = [one["athlete"] for one in athletes if one["athlete"].count(" ") == 1]
    teams = [one["team"] for one in athletes if one["team"]]

    def result(rank):
        timed = rng.random() < 0.9
        return {
            "rank": rank if timed else "NA",
            "athlete_details": {
                "athlete": f"{rng.choice(names).split()[0]} {rng.choice(names).split()[1]}",
                "country": rng.choice(athletes)["country"], "year_birth": rng.choice(athletes)["year_birth"] - rng.randint(0, 9),
                "team": crossed(rng, teams),
            },
            "time": f"{rng.randint(1, 4)}:{rng.randint(0, 59):02}.{rng.randint(0, 99):02}" if timed else rng.choice(["DNS", "DSQ"]),
            "records": rng.choice([["WR", "CR"], ["NR"], ["CR"]]) if rng.random() < 0.3 else None,
        }  # fmt: skip

    def document():
        return {
            "championship": rng.choice(["WORLD AQUATICS MASTERS CHAMPIONSHIPS", "EUROPEAN MASTERS CHAMPIONSHIPS"])
            + f" {rng.choice(['KYUSHU', 'BUDAPEST', 'ROMA', 'DOHA'])} {rng.randint(2009, 2024)}",
            "event_details": dict(rng.choice(tables)["event_details"]),
            "age_groups": [
                {"age_group": group, "results": [result(rank + 1) for rank in range(rng.randint(3, 6))]}
                for group in sorted(rng.sample(groups, rng.randint(1, min(3, len(groups)))), reverse=True)
            ],
        }

    top = "/age_groups/*/results/*/"
    roles = {top + "athlete_details/athlete": "person", top + "athlete_details/team": "text",
             top + "athlete_details/country": "label", top + "athlete_details/year_birth": "integer",
             top + "time": "text", "/championship": "text", "/event_details/category": "label"}  # fmt: skip
    return Corpus("swimming", load(folder / "schema.json"), tuple(document() for _ in range(DOCUMENTS)), roles,
                  (top + "records",), "/age_groups/*/results")  # fmt: skip


def credit_agreement(rng):
    """Terms of credit agreements: one entry a document."""
    folder = DATA / "extract-bench" / "credit_agreement"
    found = [load(file) for file in sorted((folder / "gold").glob("*.json"))]
    parties, terms = [one["parties"] for one in found], [one["terms"] for one in found]
    lenders = [" ".join(name.split()) for one in parties for name in one["lenders"] if name != "NOT_FOUND"]
    dates = [one[key] for one in terms for key in ("agreement_date", "maturity_date") if one[key]]
    prose = {key: [" ".join(one[key].split()[:24]) for one in terms if one[key] and one[key] != "NOT_FOUND"]
             for key in ("use_of_proceeds", "borrowing_request", "authorized_officer_definition")}  # fmt: skip

    def document():
        return {
            "parties": {
                "lenders": [crossed(rng, lenders) for _ in range(sizes(rng))],
                "administrative_agent": crossed(rng, lenders),
                "borrower": crossed(rng, [one["borrower"] for one in parties]),
                "lead_arranger": [crossed(rng, lenders) for _ in range(rng.randint(1, 3))] if rng.random() < 0.5 else None,
            },
            "terms": {
                "agreement_date": redated(rng, dates), "maturity_date": redated(rng, dates) if rng.random() < 0.9 else None,
                "beneficial_ownership_certification_required": rng.random() < 0.5,
                "governing_law": rng.choice(terms)["governing_law"].replace("THE STATE OF NEW YORK", "State of New York"),
                "loan_commitment": {"amount": round(rng.choice(terms)["loan_commitment"]["amount"] * rng.uniform(0.2, 2), 2),
                                    "currency": rng.choice(["USD", "EUR", "GBP"])},
                **{key: crossed(rng, texts) if rng.random() < 0.5 else None for key, texts in prose.items()},
            },
        }  # fmt: skip

    roles = {"/parties/lenders/*": "text", "/parties/administrative_agent": "text", "/parties/borrower": "text",
             "/terms/agreement_date": "date", "/terms/maturity_date": "date", "/terms/governing_law": "label",
             "/terms/loan_commitment/amount": "amount", "/terms/loan_commitment/currency": "label",
             "/terms/use_of_proceeds": "text", "/terms/borrowing_request": "text",
             "/terms/beneficial_ownership_certification_required": "flag"}  # fmt: skip
    empty = (
        "/parties/lead_arranger",
        "/terms/use_of_proceeds",
        "/terms/borrowing_request",
        "/terms/authorized_officer_definition",
    )
    return Corpus(
        "credit agreements", load(folder / "schema.json"), tuple(document() for _ in range(DOCUMENTS)), roles, empty
    )


def senate(rng):
    """Speakers of the French Senate and their pages, as first published."""
    real = [one for file in sorted((DATA / "senat-1931" / "gold").glob("*.json"))
            for one in load(file)["listes_des_intervenants"]]  # fmt: skip
    names = [one["nom"].rstrip(")").split(" (") for one in real]
    surnames, forenames = [name[0] for name in names], [name[1] for name in names if len(name) > 1]

    def speaker():
        pages = [] if rng.random() < 0.05 else rng.sample(range(1, 1820), rng.randint(1, 8))
        forename = f" ({rng.choice(forenames)})" if rng.random() < 0.8 else ""
        return {"nom": rng.choice(surnames) + forename, "references_pages": sorted(pages) or "<renvoi d'index>"}

    top = "/listes_des_intervenants/*/"
    gold = tuple({"listes_des_intervenants": [speaker() for _ in range(sizes(rng))]} for _ in range(DOCUMENTS))
    blind = {
        top + "nom": {"case", "spaces"},
        top + "references_pages/*": {"number-format", "list-or-value", "serialised-list"},
    }
    return Corpus("Senate", load(SENATE / "senat-published.schema.json"), gold,
                  {top + "nom": "person", top + "references_pages/*": "integer"}, (), "/listes_des_intervenants",
                  None, blind)  # fmt: skip


def senate_nested(rng):
    """Speakers of the French Senate, with their actions."""
    real = load(DATA / "senat-1931" / "nested" / "gold.json")["listes_des_intervenants"]
    actions = [action["action"]["description_action"] for one in real
               if isinstance(one.get("actions_relatives_a_l_intervenant"), list)
               for action in one["actions_relatives_a_l_intervenant"]]  # fmt: skip

    def speaker():
        return {
            "nom_de_famille": rng.choice(real)["nom_de_famille"], "prenom": rng.choice(real).get("prenom") or "Louis",
            "actions_relatives_a_l_intervenant": [
                {"action": {"description_action": " ".join(crossed(rng, actions).split()[:18]),
                            "references_page": sorted(rng.sample(range(1, 1820), rng.randint(1, 3)))}}
                for _ in range(rng.randint(1, 4))
            ],
        }  # fmt: skip

    top = "/listes_des_intervenants/*/"
    low = top + "actions_relatives_a_l_intervenant/*/action/"
    roles = {top + "nom_de_famille": "surname", top + "prenom": "forename", low + "description_action": "text",
             low + "references_page/*": "integer"}  # fmt: skip
    gold = tuple({"listes_des_intervenants": [speaker() for _ in range(sizes(rng))]} for _ in range(DOCUMENTS))
    blind = {
        path: {"case", "spaces", "unicode"}
        for path in (top + "nom_de_famille", top + "prenom", low + "description_action")
    }
    return Corpus("Senate, nested", load(SENATE / "senat-nested.schema.json"), gold, roles, (),
                  "/listes_des_intervenants", top + "actions_relatives_a_l_intervenant", blind)  # fmt: skip


WRITTEN = (bibliography, letters, register, inventory, contents)
REAL = (swimming, credit_agreement, senate, senate_nested)


def makers():
    """The functions that make a corpus; without those of real gold where it is absent."""
    return (*WRITTEN, *(REAL if DATA.is_dir() else ()))


def predictions(rng, corpus, rates=NOISE):
    """Copies of the gold documents with background noise."""
    values = pool(corpus.gold)
    return [with_noise(rng, document, values, rates) for document in corpus.gold]


# Noise without any cause.


def noise_corpus(rng):  # noqa: C901  (one step for each kind of noise)
    """A corpus whose predictions have independent errors in closed vocabularies, and no cause.

    A wrong value is drawn from a distribution that does not depend on the gold value, and that may be right by chance.
    The exception are "favourite errors": up to half of the wrong values of a label are one other label. All labels are
    then equally frequent in gold, and most predictions of each are right, so no mapping of values would repair anything.
    Vocabularies with labels that differ only in case, accents, notation or number have no favourite errors.

    Returns:
        Schema, gold documents, predictions, and the settings.
    """
    rate = rng.choice((0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    skew = rng.choice(("uniform", "frequent labels", "favourite errors"))
    vocabularies = {
        "label": labels(rng), "status": labels(rng), "count": list(range(rng.randint(3, 10))),
        "year": list(range(1900, 1900 + rng.randint(5, 40))), "name": [person(rng) for _ in range(rng.randint(12, 36))],
        "short": [f"{rng.choice(FORENAMES)[0]}. {surname}" for surname in rng.sample(SURNAMES, 20)],
        "flag": [True, False], "day": [f"1918-{rng.randint(1, 12):02}-{rng.randint(1, 12):02}" for _ in range(30)],
        "price": [round(rng.uniform(1, 9), 1) for _ in range(20)], "number": list(range(1, 13)),
    }  # fmt: skip
    vocabularies["witness"] = vocabularies["name"]  # the values of two fields can be exchanged by chance
    kinds = {"count": "integer", "year": "integer", "flag": "boolean", "price": "number", "number": "integer"}
    fields = rng.sample(sorted(vocabularies), rng.randint(3, len(vocabularies)))
    properties = {key: of(kinds.get(key, "string")) for key in fields}
    for key in {"label", "status"} & set(fields):
        properties[key] = {"enum": [*vocabularies[key], None]}
    listed = rng.random() < 0.5
    if listed:
        properties["pages"] = {"type": "array", "items": of("integer")}
    weights = {
        key: [1 / (at + 1) if skew == "frequent labels" else 1 for at in range(len(vocabularies[key]))]
        for key in fields
    }
    favourite = {
        key: dict(zip(map(str, vocabularies[key]), rng.sample(vocabularies[key], len(vocabularies[key])), strict=True))
        for key in fields
        if vocabularies[key] not in LOOK_ALIKE
    }
    missing, spurious, empty = rng.uniform(0, 0.15), rng.uniform(0, 0.15), rng.choice((0, 0, 0.2))

    def drawn(key):
        return rng.choices(vocabularies[key], weights[key])[0]

    def entry(at):
        made = {key: None if rng.random() < empty else drawn(key) for key in fields}
        made |= {"number": at + 1} if "number" in fields else {}
        return made | ({"pages": [rng.randint(1, 60) for _ in range(rng.randint(0, 4))]} if listed else {})

    def wrong(key, value):
        if value is None or rng.random() >= rate:
            return value if value is not None or rng.random() < 1 - rate / 4 else drawn(key)
        if rng.random() < 0.1:
            return None
        if key in favourite and skew == "favourite errors" and rate <= 0.5 and rng.random() < 0.5:
            return favourite[key][str(value)]
        return drawn(key)

    def noisy(item):
        made = {key: wrong(key, item[key]) for key in fields}
        if listed:
            pages = [
                rng.randint(1, 60) if rng.random() < rate / 2 else page
                for page in item["pages"]
                if rng.random() > missing
            ]
            made["pages"] = pages + [rng.randint(1, 60) for _ in range(2) if rng.random() < spurious]
        return made

    gold, predicted = [], []
    for _ in range(rng.choice((10, 20, 30, 60))):
        items = [entry(at) for at in range(sizes(rng))]
        kept = [noisy(item) for item in items if rng.random() > missing]
        for item in items:
            if rng.random() < spurious:
                kept.insert(
                    rng.randint(0, len(kept)), noisy({**entry(rng.randrange(12)), "pages": item.get("pages", [])})
                )
        gold.append({"entries": items})
        predicted.append({"entries": kept})
    schema = of("object", properties={"entries": objects(properties)})
    return schema, gold, predicted, {"rate": rate, "skew": skew, "fields": sorted(properties), "documents": len(gold)}


LOOK_ALIKE = (
    ["male", "female", "Male", "unknown"], ["résumé", "resume", "letter"], ["A", "a", "B", "b"],
    ["oui", "non", "Oui", "Non", "n.c."], ["pêche", "péché", "pêché", "peche"], ["1", "2", "3", "I", "II", "III"],
    ["baker", "bakers", "miller", "millers"], ["low", "medium", "high", "none", "n/a", "unknown", "other", "mixed"],
)  # fmt: skip
UNLIKE = (
    ["paid", "unpaid"], ["N", "S", "E", "W", "NE", "SE"], ["birth", "marriage", "burial"], ["fr", "en", "de", "la", "it"],
    ["low", "medium", "high", "very high", "steep", "flat", "other", "mixed"], ["yes", "no", "unknown"],
)  # fmt: skip


def labels(rng):
    """A closed vocabulary of two to eight labels."""
    return rng.choice((*LOOK_ALIKE, *UNLIKE))


def seeded(*parts):
    """A random generator that depends on these parts only."""
    return random.Random("/".join(map(str, parts)))  # noqa: S311
