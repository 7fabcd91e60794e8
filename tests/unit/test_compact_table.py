"""Tables with the smallest exact type for each column."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arbitre.storage.columns import CompactTable

VALUES = st.floats() | st.integers(0, 70_000).map(float) | st.sampled_from([0.0, -0.0, 255.0, 256.0, 65535.0, 65536.0])
PARTS = st.lists(st.integers(0, 4).flatmap(lambda rows: arrays(np.float64, (rows, 3), elements=VALUES)), max_size=4)


@given(parts=PARTS)
@example(parts=[np.array([[1.0, 2.0, 3.0]]), np.array([[256.0, -0.0, np.nan]]), np.array([[1e300, 0.5, -1.0]])])
def test_a_table_holds_its_rows_bit_for_bit(parts):
    table = CompactTable(3)
    for part in parts:
        table.extend(part)
    rows = np.concatenate([np.empty((0, 3)), *parts])
    assert table.floats().tobytes() == rows.tobytes()
    assert np.asarray(table).tobytes() == rows.tobytes()
    assert table.floats(2).tobytes() == np.ascontiguousarray(rows[:, :2]).tobytes()
    assert len(table) == len(rows)


def test_small_whole_numbers_take_one_byte():
    table = CompactTable.of(np.array([[7.0, 300.0, 0.5]] * 10))
    assert [column.nbytes for column in table.columns()] == [10, 20, 80]


def test_a_column_changes_its_type_when_needed():
    table = CompactTable(1)
    for number in range(300):
        table.extend(np.array([[float(number)]]))
    table.pad(301)
    assert table.floats()[:, 0].tolist() == [*map(float, range(300)), 0.0]
