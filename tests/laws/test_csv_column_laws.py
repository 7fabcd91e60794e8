"""Cells formatted by column are those formatted one by one."""

import io
import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitre.parsing.fast_json import encode_each
from arbitre.report.csv_columns import csv_text, format_cells, format_numbers
from arbitre.report.text_files import CsvDialect, cell, csv_writer
from arbitre.values import ABSENT

DIALECTS = [CsvDialect.named("standard"), CsvDialect.named("excel-fr")]
TEXTS = st.text() | st.text("\",;\r\n=+'1e-9 0.0", min_size=1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | TEXTS
VALUES = st.recursive(SCALARS, lambda below: st.lists(below) | st.dictionaries(TEXTS, below), max_leaves=8)


@given(st.lists(VALUES))
@example(["3e-2", "19e siècle", [1e-5], [0.00001234], [1e16], [1e15], {"0.0000": 1}])
@example(["\ud800", [2**70]])
@example(["é" * 5_000, [1e-5], "4e5", {"0.0000": 4e22}, {"a": -1e-9}])
def test_json_of_many_values_is_that_of_each(values):
    expected = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    for text, alone in zip(encode_each(values), expected, strict=True):
        assert text is None or text == alone


def test_common_values_do_not_need_another_json_encoder():
    usual = [[403, 405], {"nom": "Durand", "notes": [0.25, None, True]}, "l'été\n«1900»", -7, 1e15, 0.0001]
    assert None not in encode_each(usual)
    assert encode_each([]) == []


@pytest.mark.parametrize("dialect", DIALECTS, ids=["standard", "excel-fr"])
@given(values=st.lists(VALUES | st.just(ABSENT)))
@example(values=["=1+1", "\ud800", [], {}, True, 2.5, [2.5], None, ABSENT])
def test_cells_of_a_column_are_those_of_each_value(dialect, values):
    assert format_cells(values, dialect) == [cell(value, dialect) for value in values]


@pytest.mark.parametrize("dialect", DIALECTS, ids=["standard", "excel-fr"])
@given(numbers=st.lists(FLOATS | st.sampled_from([0.0, -0.0, math.nan, 1.0])))
def test_numbers_of_a_column_are_those_of_each_number(dialect, numbers):
    texts = ["" if math.isnan(number) else cell(number, dialect) for number in numbers]
    assert format_numbers(np.array(numbers, dtype=np.float64), dialect) == texts
    whole = [
        cell(int(number), dialect) if number.is_integer() else text for number, text in zip(numbers, texts, strict=True)
    ]
    assert format_numbers(np.array(numbers, dtype=np.float64), dialect, masses=True) == whole


def test_an_infinite_number_is_not_written_as_a_missing_one():
    with pytest.raises(ValueError, match="JSON compliant"):
        format_numbers(np.array([0.5, math.inf]))


@pytest.mark.parametrize("dialect", DIALECTS, ids=["standard", "excel-fr"])
@given(rows=st.lists(st.lists(TEXTS | st.just(""), min_size=3, max_size=3)))
def test_rows_of_columns_are_those_of_the_csv_writer(dialect, rows):
    file = io.StringIO(newline="")
    csv_writer(file, dialect._replace(mark=False)).writerows(rows)
    columns = [[row[at] for row in rows] for at in range(3)]
    assert csv_text(columns, dialect) == file.getvalue()
