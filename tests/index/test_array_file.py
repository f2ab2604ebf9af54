import copy

import numpy as np
import pytest

from graph_metric_learn.index.array_file import (
    check_array,
    check_record,
    map_arrays,
    verify_arrays,
    write_arrays,
)

NAME = "00000001-0123abcd.rows"


@pytest.fixture
def written(tmp_path, rng):
    arrays = {
        "vectors": rng.normal(size=(5, 3)).astype(np.float32),
        "ends": np.arange(5),
        "text": np.frombuffer(b"hello", np.uint8),
        "none": np.zeros((0, 4), np.float32),
    }
    return tmp_path, arrays, write_arrays(tmp_path / NAME, arrays)


def test_arrays_come_back_and_the_file_stays_as_it_is(written):
    folder, arrays, record = written
    check_record(record, "r")
    mapped = map_arrays(folder, record)
    for name, array in arrays.items():
        np.testing.assert_array_equal(mapped[name], array)
        assert mapped[name].dtype == array.dtype
    mapped["vectors"][0] = 7.0  # a copy: compiled loops want arrays that may be written to
    np.testing.assert_array_equal(map_arrays(folder, record)["vectors"], arrays["vectors"])
    verify_arrays(folder, record)


def test_a_file_is_never_overwritten(written):
    with pytest.raises(FileExistsError):
        write_arrays(written[0] / NAME, {})


def test_nothing_at_all_can_be_written(tmp_path):
    record = write_arrays(tmp_path / NAME, {"bits": np.zeros(0, np.uint8)})
    assert len(map_arrays(tmp_path, check_record(record, "r"))["bits"]) == 0


def test_damage_is_named(written):
    folder, _, record = written
    data = bytearray((folder / NAME).read_bytes())
    data[64] ^= 1  # of `ends`
    (folder / NAME).write_bytes(data)
    with pytest.raises(ValueError, match=f"{NAME} is damaged: ends is not what was written"):
        verify_arrays(folder, record)
    (folder / NAME).write_bytes(data[:-1])
    with pytest.raises(ValueError, match=rf"{NAME} has {record['bytes'] - 1} bytes, the manifest says"):
        map_arrays(folder, record)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("file",), "../../etc/passwd", r"r.file is '../../etc/passwd'"),
        (("file",), "00000001-0123abcd.rows/x", "r.file is"),
        (("bytes",), True, "r.bytes must be of type int"),
        (("bytes",), 0, "r.bytes must be positive"),
        (("arrays",), [], "r.arrays must be of type dict"),
        (("arrays", "ends"), 3, "r.arrays.ends must be an object"),
        (("arrays", "ends", "offset"), -64, "r.arrays.ends.offset"),
        (("arrays", "ends", "offset"), 1, "r.arrays.ends.offset"),
        (("arrays", "ends", "offset"), 64000, "does not lie in the file"),
        (("arrays", "ends", "dtype"), "|O", "r.arrays.ends.dtype"),
        (("arrays", "ends", "shape"), [10**9], "does not lie in the file"),
        (("arrays", "ends", "shape"), [-1], "r.arrays.ends.shape must be whole numbers"),
        (("arrays", "ends", "shape"), [], "one to three numbers"),
        (("arrays", "ends", "crc32"), -1, "r.arrays.ends.crc32"),
    ],
)
def test_every_field_of_a_record_is_checked(written, path, value, message):
    record = copy.deepcopy(written[2])
    place = record
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        check_record(record, "r")
    del place[path[-1]]
    if path[-1] != "ends":
        with pytest.raises(ValueError, match=f"{path[-1]} is missing"):
            check_record(record, "r")


def test_type_and_shape_of_an_array(written):
    record = written[2]
    check_array(record, "r", "vectors", "<f4", (None, 3))
    with pytest.raises(ValueError, match=r"r.arrays.vectors.dtype is '<f4', expected '<f8'"):
        check_array(record, "r", "vectors", "<f8", (5, 3))
    with pytest.raises(ValueError, match=r"r.arrays.vectors.shape is \[5, 3\], expected \[6, 3\]"):
        check_array(record, "r", "vectors", "<f4", (6, 3))
    with pytest.raises(ValueError, match=r"r.arrays.heads is missing"):
        check_array(record, "r", "heads", "<f4", (5, 3))
