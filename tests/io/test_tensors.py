from pathlib import Path

import numpy as np
import pytest
from damage import with_type
from safetensors.numpy import save

from graph_metric_learn.io.tensors import read_tensors

FILE = Path("tensors.safetensors")
DATA = save({"theta": np.arange(6, dtype=np.float32).reshape(2, 3), "sizes": np.array([1, 2])})


def test_arrays_come_back():
    found = read_tensors(FILE, DATA)
    assert found.keys() == {"theta", "sizes"}
    np.testing.assert_array_equal(found["theta"], [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "header cannot be read"),
        (DATA[:20], "header cannot be read"),
        (b"\xff" * 40, "header cannot be read"),
        (DATA[:-4], "is damaged"),
        (with_type(DATA, "theta", "BF16"), "theta holds numbers of type BF16"),
        (with_type(DATA, "theta", "F64"), "is damaged"),
        (save({"theta": np.array([np.nan])}), "theta holds NaN"),
    ],
)
def test_damage_is_a_clear_error(data, words):
    with pytest.raises(ValueError, match=words):
        read_tensors(FILE, data)
