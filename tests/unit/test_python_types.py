"""Schemas from Python types, MODULE:NAME and YAML; documents that are Python objects."""

import dataclasses
import enum
import importlib
import json
import pickle
import sys
import typing
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, NamedTuple, Optional

import numpy as np
import pytest

from arbitre import ABSENT, Comparator, DataError, Field, Grader, OptionError, SchemaError, bundled
from arbitre.parsing.json_form import duration_text, json_form

pydantic = pytest.importorskip("pydantic")
msgspec = pytest.importorskip("msgspec")
attrs = pytest.importorskip("attrs")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class TextColour(str, enum.Enum):  # noqa: UP042  (formatted as "TextColour.RED")
    RED = "red"


class Line(pydantic.BaseModel):
    label: Annotated[str, Field(distance="levenshtein", weight=2)]
    price: Decimal


class Invoice(pydantic.BaseModel):
    lines: list[Line]
    due: date | None = None
    span: timedelta = timedelta()
    colour: Colour = Colour.RED


@dataclasses.dataclass
class DataLine:
    label: str
    price: Decimal


class Row(NamedTuple):
    label: str
    price: Decimal


class Typed(typing.TypedDict):
    label: str
    price: Decimal


class Struct(msgspec.Struct, rename="camel"):
    first_label: Annotated[str, msgspec.Meta(extra_json_schema=Field(distance="levenshtein", weight=2).json_schema)]
    price: Decimal


@attrs.define
class Attrs:
    label: Annotated[str, msgspec.Meta(extra_json_schema=Field(distance="levenshtein").json_schema)]
    price: Decimal


def rows(schema):
    return {row.path: (row.distance, row.weight) for row in Comparator(schema).explain()}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (list[Line], "/*/price"),
        (Optional[Line], "/price"),  # noqa: UP045  (both notations are to work)
        (Line | None, "/price"),
        (DataLine, "/price"),
        (Row, "/1"),
        (Typed, "/price"),
        (list[Typed], "/*/price"),
        (dict[str, DataLine], "/*/price"),
        (Struct, "/price"),
        (list[Struct], "/*/price"),
        (Attrs, "/price"),
        (list[Attrs], "/*/price"),
        (pydantic.TypeAdapter(list[Line]), "/*/price"),
    ],
    ids=str,
)
def test_a_python_type_is_a_schema_and_its_decimals_are_numbers(schema, path):
    assert rows(schema)[path][0] == "relative, yujian-bo"
    copy = pickle.loads(pickle.dumps(Comparator(schema).plan))  # noqa: S301  (workers get the plan like this)
    assert [row.path for row in copy.rows] == [row.path for row in Comparator(schema).plan.rows]


def test_field_puts_its_settings_into_the_schema():
    assert rows(Invoice)["/lines/*/label"] == ("levenshtein", 2)
    assert rows(Struct)["/firstLabel"] == ("levenshtein", 2)
    assert rows(Attrs)["/label"] == ("levenshtein", 1)
    assert repr(Field(ignore=True)) == "Field(ignore=True)"


def test_field_goes_beside_a_reference_to_another_model():
    class Page(pydantic.BaseModel):
        line: Annotated[Line, Field(weight=3)]
        lines: Annotated[list[Line], Field(match="ordered")]

    assert rows(Page)["/line"][1] == 3
    assert {row.path: row.match for row in Comparator(Page).explain()}["/lines"] == "ordered"


def test_field_has_exactly_the_keys_of_the_vocabulary():
    parameters = set(Field.__init__.__kwdefaults__)
    assert parameters == set(bundled.schema("vocabulary.schema.json")["properties"])


def test_a_wrong_setting_of_field_is_a_schema_error():
    class Page(pydantic.BaseModel):
        name: Annotated[str, Field(distance="levenstein")]

    with pytest.raises(SchemaError, match=r"(?s)/properties/name/x-arbitre/distance.*levenshtein"):
        Comparator(Page)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (3, "Python type, got int"),
        (Line(label="x", price=1), "Pass the class"),
        (type("Opaque", (), {}), "Cannot write the JSON Schema of Opaque"),
        ("no.such.module:Name", "Cannot import 'no.such.module:Name'"),
        ("decimal:Decimel", 'Did you mean "Decimal"'),
    ],
)
def test_what_is_no_schema_is_a_schema_error(source, words):
    with pytest.raises(SchemaError) as caught:
        Comparator(source)
    assert words in str(caught.value)


def test_module_and_name_import_a_schema_from_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shapes_of_ours.py").write_text(
        "import dataclasses\n@dataclasses.dataclass\nclass Shape:\n    sides: int\n", encoding="utf-8"
    )
    assert [row.path for row in Comparator("shapes_of_ours:Shape").explain()] == ["", "/sides"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("raise EOFError('no table')", "EOFError: no table"),
        ("raise ValueError('no table')", "ValueError: no table"),
        ("def d(:", "SyntaxError: invalid syntax"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_an_error_during_an_import_is_a_schema_error_with_its_type(tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "failing_import", raising=False)
    Path("failing_import.py").write_text(line, encoding="utf-8")
    importlib.invalidate_caches()
    with pytest.raises(SchemaError, match="Cannot import 'failing_import:d': ") as caught:
        Comparator("failing_import:d")
    assert words in caught.value.message
    assert caught.value.hint == 'Correct the module. To see the traceback, run `python -c "import failing_import"`.'
    with pytest.raises(OptionError, match="Cannot import 'failing_import:d': ") as caught:
        Comparator({"type": "string"}, functions="failing_import:d")
    assert "To see the traceback" in caught.value.hint


class Lazy(type):
    """Annotations that cannot be evaluated, as from Python 3.14 on if they name what only type checkers import."""

    @property
    def __annotations__(cls):
        raise NameError("name 'Sequence' is not defined")


def test_the_annotations_of_an_instance_are_not_evaluated():
    class Words(metaclass=Lazy):
        pass

    with pytest.raises(SchemaError, match="got Words") as caught:
        Comparator(Words())
    assert caught.value.hint == "Pass the class, not an instance of it."


@pytest.mark.skipif(sys.version_info < (3, 14), reason="the annotations are evaluated when the module is imported")
def test_the_annotations_of_a_custom_function_are_not_evaluated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (
        "from typing import TYPE_CHECKING",
        "if TYPE_CHECKING:",
        "    from collections.abc import Sequence",
        "def half(gold: Sequence, predicted: Sequence) -> float:",
        "    return 0.5",
    )
    Path("functions_with_types.py").write_text("\n".join(lines), encoding="utf-8")
    schema = {"type": "string", "x-arbitre": {"distance": "half"}}
    assert Comparator(schema, functions="functions_with_types:half").compare(gold="a", predicted="b").quality == 0.5


class TestDocuments:
    def test_instances_are_compared_like_their_json(self):
        gold = Invoice(lines=[Line(label="tea", price="1.50")], due=date(2024, 5, 1), span=timedelta(hours=1))
        predicted = {"lines": [{"label": "tee", "price": 1.5}], "due": "2024-05-01", "span": "PT60M", "colour": "red"}
        comparator = Comparator(Invoice)
        whole = json.loads(gold.model_dump_json())
        comparison = comparator.compare(gold=gold, predicted=predicted)
        assert comparison.to_dict() == comparator.compare(gold=whole, predicted=predicted).to_dict()
        assert comparison.by_path()["/lines/*/price"].f1q == 1
        assert (
            comparator.evaluate([("a", gold, predicted)]).micro == comparator.evaluate([("a", whole, predicted)]).micro
        )

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (Decimal("1.50"), 1.5),
            (Decimal(10**30), 10**30),
            (Decimal("1E+999999"), float("inf")),
            (np.float32(0.1), 0.1),
            (np.int64(3), 3),
            (np.True_, True),
            (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
            (np.array([0.1], dtype=np.float32), [0.1]),
            (np.array(5), 5),
            (np.datetime64("2024-05-01"), "2024-05-01"),
            ((1, (2, "x")), [1, [2, "x"]]),
            (Row("a", Decimal(1)), ["a", 1]),
            (DataLine("a", Decimal("0.5")), {"label": "a", "price": 0.5}),
            (Attrs("a", Decimal("0.5")), {"label": "a", "price": 0.5}),
            (Struct("a", Decimal("0.5")), {"firstLabel": "a", "price": "0.5"}),
            (Line(label="a", price="0.5"), {"label": "a", "price": "0.5"}),
            ({Colour.RED: [Colour.BLUE]}, {"red": ["blue"]}),
            (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00+00:00"),
            (time(12, 30), "12:30:00"),
            (timedelta(days=-1, microseconds=5), "-PT86399.999995S"),
            (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            (Path("a"), "a"),
            (ABSENT, ABSENT),
        ],
        ids=repr,
    )
    def test_a_python_object_has_a_json_form(self, value, expected):
        assert json_form(value) == expected
        assert type(json_form(value)) is type(expected)

    def test_a_field_that_pydantic_excludes_is_ignored(self):
        class Answer(pydantic.BaseModel):
            name: str
            thoughts: str = pydantic.Field(exclude=True)
            line: Line | None = pydantic.Field(None, exclude=True)
            steps: Annotated[list[str], Field(weight=2)] = pydantic.Field([], exclude=True)
            sure: Annotated[bool, Field(ignore=False)] = pydantic.Field(default=True, exclude=True)

        @pydantic.dataclasses.dataclass
        class Short:
            name: str
            thoughts: str = pydantic.Field(exclude=True)

        raw = {"name": "Ada", "thoughts": "hm", "line": {"label": "a", "price": 1}, "steps": ["a"]}
        comparator = Comparator(Answer)
        assert comparator.compare(gold=Answer(**raw), predicted=raw).quality == 1.0
        assert comparator.compare(gold=raw, predicted=Answer(name="Ada", thoughts="")).quality == 1.0
        assert comparator.compare(gold={"sure": True}, predicted={"sure": False}).quality == 0.0
        raw = {"name": "Ada", "thoughts": "hm"}
        assert Comparator(Short).compare(gold=Short(**raw), predicted=raw).quality == 1.0

    def test_a_duration_is_written_as_pydantic_reads_it(self):
        adapter = pydantic.TypeAdapter(timedelta)
        for span in (timedelta(), timedelta(days=3), timedelta(days=-2, seconds=7, microseconds=120)):
            assert adapter.validate_python(duration_text(span)) == span

    def test_nested_objects_in_plain_documents_are_converted_in_every_function(self):
        schema = {"type": "object", "properties": {"on": {"type": "string", "format": "date"}, "n": {"type": "array"}}}
        gold, same = {"on": date(2024, 5, 1), "n": (np.int64(1), 2)}, {"on": "2024-05-01", "n": [1, 2]}
        comparator = Comparator(schema)
        assert comparator.compare(gold=gold, predicted=same).quality == 1
        pairs = [(str(number), gold, same) for number in range(9)]
        evaluation = comparator.evaluate(pairs)
        assert (evaluation.micro.f1q, evaluation.failures) == (1, ())
        assert evaluation.to_dict() == comparator.evaluate([(name, same, same) for name, _, _ in pairs]).to_dict()
        assert not comparator.check_gold([gold]).findings
        assert comparator.most_calls(gold=gold, predicted=same) == {}
        assert Comparator.infer([gold]).schema == Comparator.infer([same]).schema

    @pytest.mark.parametrize(
        ("key", "text"),
        [
            (Colour.RED, "red"),
            (TextColour.RED, "red"),
            (enum.StrEnum("Plain", {"RED": "red"}).RED, "red"),
            (date(2024, 5, 1), "2024-05-01"),
            (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "additionalProperties": {}}], ids=str)
    def test_keys_that_are_python_objects_are_their_texts_in_every_function(self, schema, key, text):
        comparator = Comparator(schema)
        gold, predicted = {"a": {key: [1]}, key: "x"}, {"a": {}, key: "y"}
        comparison = comparator.compare(gold=gold, predicted=predicted)
        same = comparator.compare(gold={"a": {text: [1]}, text: "x"}, predicted={"a": {}, text: "y"})
        assert comparison.to_dict() == same.to_dict()
        assert [one.path for one in comparison.patch()] == [one.path for one in same.patch()]
        assert {fault.gold_pointer for fault in comparison.diagnosis.faults} == {f"/{text}", f"/a/{text}/0"}
        evaluation = comparator.evaluate([("a", gold, predicted)])
        assert (evaluation.documents[0].quality, evaluation.failures) == (same.quality, ())
        assert Grader(schema)(predicted, gold).score == same.quality

    def test_a_key_without_a_text_is_an_error_with_its_place(self):
        with pytest.raises(DataError, match="Expected every key to be text, got 1 in the gold document at /a"):
            Comparator({"type": "object"}).compare(gold={"a": {1: "x"}}, predicted={})

    @pytest.mark.parametrize("moment", [np.datetime64("NaT", "s"), pytest.importorskip("pandas").NaT])
    def test_a_moment_that_is_no_time_is_refused(self, moment):
        with pytest.raises(DataError, match="finite number, got nan"):
            Comparator({"type": "array"}).compare(gold=[moment], predicted=[])

    def test_a_part_that_occurs_many_times_is_converted_once(self):
        shared = [Decimal(1)]
        for _ in range(100):
            shared = [shared, shared]
        with pytest.raises(DataError, match="occur in it several times"):
            Comparator({"type": "array"}).compare(gold=shared, predicted=[])

    def test_what_cannot_be_converted_stays_an_error_with_its_place(self):
        comparator = Comparator({"type": "object"})
        with pytest.raises(DataError, match="got object in the gold document at /a/0"):
            comparator.compare(gold={"a": [object()]}, predicted={})
        with pytest.raises(DataError, match="finite number, got inf"):
            comparator.compare(gold={"a": Decimal("Infinity")}, predicted={})
        endless = ()
        for _ in range(600):
            endless = (endless,)
        with pytest.raises(DataError, match="at most 512 nested"):
            comparator.compare(gold=endless, predicted={})
        evaluation = comparator.evaluate([("a", {"a": 1}, {"a": object()})])
        assert [failure.id for failure in evaluation.failures] == ["a"]


class Vendor(pydantic.BaseModel):
    vendor: Annotated[str, Field(distance="exact", weight=9)] = pydantic.Field(
        validation_alias=pydantic.AliasChoices("vendor_name", "vendor")
    )
    total: int = pydantic.Field(serialization_alias="sum")

    @pydantic.computed_field
    @property
    def double(self) -> int:
        return 2 * self.total


@pydantic.dataclasses.dataclass
class Node:
    label: str = pydantic.Field(validation_alias="text")
    nodes: list["Node"] = pydantic.Field(default_factory=list)


@dataclasses.dataclass
class Aliased:
    label: Annotated[str, pydantic.Field(alias="text")]
    vendor: Vendor


class Base(pydantic.BaseModel, polymorphic_serialization=True):
    a: int = pydantic.Field(default=1, validation_alias="A")


class Derived(Base):
    b: int = pydantic.Field(default=2, validation_alias="B")


class Everything(pydantic.BaseModel):
    type: int = pydantic.Field(default=1, validation_alias="metadata")
    path: int = pydantic.Field(default=1, validation_alias=pydantic.AliasPath("a", "b"), serialization_alias="p")
    vendors: dict[str, list[Vendor]]
    union: Node | Vendor | None
    tagged: Annotated[
        Annotated[Vendor, pydantic.Tag("vendor")] | Annotated[Node, pydantic.Tag("node")],
        pydantic.Discriminator(lambda value: type(value).__name__.lower()),
    ]
    anything: typing.Any
    own: pydantic.SerializeAsAny[pydantic.BaseModel]
    derived: Base | None
    recursive: Optional["Everything"] = pydantic.Field(default=None, validation_alias="again")


class TestKeysOfInstances:
    VENDOR = Vendor(vendor="Acme", total=1)
    JSON: typing.ClassVar = {"vendor_name": "Acme", "total": 1}

    def test_instances_have_the_keys_of_the_schema_of_their_type(self):
        comparison = Comparator(Vendor).compare(gold=self.VENDOR, predicted=Vendor(vendor="Acme Ltd", total=1))
        assert comparison.quality == pytest.approx(0.1)
        assert Grader(Vendor)(json.dumps(self.JSON), self.VENDOR).score == 1

    def test_instances_at_every_depth_have_the_keys_of_the_schema(self):
        node, nodes = Node(text="a", nodes=[Node(text="b")]), {"text": "a", "nodes": [{"text": "b", "nodes": []}]}
        given = {
            "vendors": {"k": [self.VENDOR]},
            "union": node,
            "tagged": self.VENDOR,
            "anything": ({"x": [self.VENDOR, node]}, Decimal("1.5")),
            "own": self.VENDOR,
            "derived": Derived(),
        }
        inner = {
            "metadata": 1,
            "path": 1,
            "vendors": {"k": [self.JSON]},
            "union": nodes,
            "tagged": self.JSON,
            "anything": [{"x": [self.JSON, nodes]}, "1.5"],
            "own": self.JSON,
            "derived": {"A": 1, "B": 2},
            "again": None,
        }
        assert json_form(Everything(**given, again=Everything(**given))) == inner | {"again": inner}
        declared = pydantic.TypeAdapter(Everything).json_schema()["$defs"]["Everything"]["properties"]
        assert declared.keys() == inner.keys()

    def test_a_standard_data_class_has_the_keys_of_its_schema(self):
        assert json_form([Aliased("a", self.VENDOR)]) == [{"text": "a", "vendor": self.JSON}]
        assert Comparator(Aliased).schema["properties"].keys() == {"text", "vendor"}

    def test_fields_that_are_validated_by_name_have_their_names_as_keys(self):
        class Named(pydantic.BaseModel, validate_by_alias=False, validate_by_name=True):
            a: int = pydantic.Field(alias="A")

        assert json_form(Named(a=1)) == {"a": 1}
        assert Comparator(Named).schema["properties"].keys() == {"a"}

    def test_an_instance_that_contains_itself_is_an_error(self):
        class Loose(pydantic.BaseModel):
            value: typing.Any

        endless = []
        endless += [endless, endless]
        with pytest.raises(DataError, match="Cannot write a Loose as JSON: Circular reference"):
            json_form(Loose(value=endless))


class TestYaml:
    SCHEMA = """
    type: object
    properties:
      country: {enum: [no, on, 012, 1:30, 2024-05-01]}
      name: &name
        type: string
        x-arbitre: {weight: 2}
      alias: *name
      count: {type: integer, maximum: 0x10}
    """

    def test_a_yaml_file_is_a_schema_and_an_overlay(self, tmp_path):
        pytest.importorskip("yaml")
        file, overlay = tmp_path / "schema.yaml", tmp_path / "overlay.yml"
        file.write_text(self.SCHEMA.replace("0x10", "10"), encoding="utf-8")
        overlay.write_text("/alias: {weight: 3}\n", encoding="utf-8")
        comparator = Comparator(file, overlay=overlay)
        assert comparator.schema["properties"]["country"]["enum"] == ["no", "on", 12, "1:30", "2024-05-01"]
        assert {row.path: row.weight for row in comparator.explain()} == {
            "": 1,
            "/country": 1,
            "/name": 2,
            "/alias": 3,
            "/count": 1,
        }

    @pytest.mark.parametrize(
        ("text", "words", "line"),
        [
            ("type: object\ntype: array\n", 'has the key "type" twice', 2),
            ("type: [object", "not valid YAML", 1),
            ("type: !!python/object:os.system x", "could not determine a constructor", 1),
            ("enum: [!!binary aGk=]", "only JSON values", None),
            ("properties: &p {a: *p}", "Circular reference", None),
        ],
    )
    def test_what_is_not_json_in_a_yaml_file_is_an_error(self, tmp_path, text, words, line):
        pytest.importorskip("yaml")
        file = tmp_path / "schema.yaml"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SchemaError) as caught:
            Comparator(file)
        assert words in str(caught.value)
        assert caught.value.file == str(file)
        assert caught.value.line == line


def test_python_objects_are_converted_beside_a_document_that_fails():
    comparator = Comparator({"type": "array", "items": {"type": "integer"}})
    evaluation = comparator.evaluate([("null", [1], None), ("tuple", (1, 2), (1, 2))])
    assert [(failure.id, failure.side) for failure in evaluation.failures] == [("null", "predicted")]
    assert {document.key: document.quality for document in evaluation.documents} == {"null": 0.0, "tuple": 1.0}
