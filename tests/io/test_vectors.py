import numpy as np
import pytest

from graph_metric_learn.io.vectors import new_vectors


def test_parts_become_one_array(tmp_path, rng):
    vectors = rng.normal(size=(1234, 7)).astype(np.float32)
    with new_vectors(tmp_path / "some.npy") as write:
        for lo in range(0, 1234, 100):
            part = vectors[lo : lo + 100]
            write([None] * len(part), part[:, ::-1][:, ::-1], [None] * len(part))
    np.testing.assert_array_equal(np.load(tmp_path / "some.npy"), vectors)
    np.testing.assert_array_equal(np.load(tmp_path / "some.npy", mmap_mode="r")[1000], vectors[1000])


def test_a_file_appears_when_it_is_whole(tmp_path):
    def stopped():
        with new_vectors(tmp_path / "some.npy") as write:
            write(["a"], np.ones((1, 3)), [None])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with (
        pytest.raises(ValueError, match=r"some\.npy was not written: there are no graphs"),
        new_vectors(tmp_path / "some.npy"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "some.npy").touch()
    with pytest.raises(ValueError, match="exists already"), new_vectors(tmp_path / "some.npy"):
        pass


@pytest.mark.parametrize(("ids", "wanted"), [([1, 2**62], [1, 2**62]), (["a", "\udcff"], ["a", "\\udcff"])])
def test_parquet_has_ids_and_metadata(tmp_path, ids, wanted):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    with new_vectors(tmp_path / "some.parquet") as write:
        for row, value in enumerate(ids):
            write([value], np.full((1, 3), row), ['{"n": 1}' if row else None])
    table = parquet.read_table(tmp_path / "some.parquet")
    assert table["id"].to_pylist() == wanted
    assert table["vector"].to_pylist() == [[0.0] * 3, [1.0] * 3]
    assert table["metadata"].to_pylist() == [None, '{"n": 1}']
