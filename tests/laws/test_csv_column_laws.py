"""CSV cells formatted by column equal those formatted one by one."""

import io
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitre.tables.csv_text import CsvDialect, cell, csv_text, csv_writer, format_cells, format_numbers
from arbitre.values import ABSENT

DIALECTS = [CsvDialect.named("standard"), CsvDialect.named("excel-fr")]
TEXTS = st.text() | st.text("\",;\r\n=+'1e-9 0.0", min_size=1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | TEXTS
VALUES = st.recursive(SCALARS, lambda below: st.lists(below) | st.dictionaries(TEXTS, below), max_leaves=8)


@pytest.mark.parametrize("dialect", DIALECTS, ids=["standard", "excel-fr"])
@given(values=st.lists(VALUES | st.just(ABSENT)))
@example(values=["3e-2", "19e siècle", [1e-5], [0.00001234], [1e16], [1e15], {"0.0000": 1}])
@example(values=["\ud800", [2**70]])
@example(values=[[1e-5], {"0.0000": 4e22}, {"a": -1e-9}, 7, True])
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
