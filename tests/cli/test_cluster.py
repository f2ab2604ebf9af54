import numpy as np
import pytest

from cluster import cluster
from graph_metric_learn.cli import main


def test_a_scheduler_does_the_same(model, folder, tmp_path, capsys):
    pytest.importorskip("distributed", reason="needs the extra dask")
    with cluster(tmp_path) as (address, _):
        for command, out in (("distances", "all.npy"), ("index", "index")):
            assert main([command, str(model), str(folder), "--out", str(tmp_path / out)]) == 0
            elsewhere = ["--out", str(tmp_path / f"there-{out}"), "--scheduler", address]
            assert main([command, str(model), str(folder), *elsewhere]) == 0
        np.testing.assert_array_equal(np.load(tmp_path / "there-all.npy"), np.load(tmp_path / "all.npy"))
        capsys.readouterr()
        found = []
        for options in ([], ["--scheduler", address]):
            arguments = ["neighbors", str(tmp_path / "there-index"), str(folder), "-k", "3", "--format", "csv"]
            assert main([*arguments, *options]) == 0
            found.append(capsys.readouterr().out)
        assert found[0] == found[1]
        assert found[0].count("\n") > 3


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
def test_no_scheduler_is_one_line(address, model, folder, tmp_path, capsys, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: real(address, timeout=0.5))
    arguments = ["distances", str(model), str(folder), "--out", str(tmp_path / "x.npy"), "--scheduler", address]
    assert main(arguments) == 2
    assert f"no scheduler answers at {address}" in capsys.readouterr().err
