import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from graph_metric_learn._core.gaps import columns_by_gaps


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.booleans()))
def test_every_known_entry_is_in_one_part(known):
    parts = list(columns_by_gaps(known))
    seen = np.zeros(known.shape, dtype=int)
    for rows, columns in parts:
        seen[np.ix_(rows, columns)] += 1
        assert (known[:, columns].sum(0) == len(rows)).all()
    np.testing.assert_array_equal(seen, known)
    patterns = {known[:, columns[0]].tobytes() for _, columns in parts}
    assert len(patterns) == len(parts)


def test_columns_without_gaps_come_first_then_those_with_the_most():
    table = np.array(
        [[1.0, np.nan, 2.0, np.nan], [1.0, np.nan, np.nan, 3.0], [1.0, 4.0, 5.0, 6.0], [1.0, np.nan, 0.0, 0.0]]
    )
    assert [columns.tolist() for _, columns in columns_by_gaps(np.isfinite(table))] in (
        [[0], [1], [2], [3]],
        [[0], [1], [3], [2]],
    )
