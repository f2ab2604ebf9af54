import numpy as np
import pytest

from graph_metric_learn_benchmarks import scale


def test_vectors_have_the_variances_of_molecules(rng):
    vectors = scale.molecule_vectors(rng, 4000)
    deviations = np.sqrt(np.linalg.eigvalsh(np.cov(vectors.T.astype(float)))[::-1])
    np.testing.assert_allclose(deviations[[0, 9, 99]], [1, 10**-0.58, 100**-0.58], rtol=0.2)
    assert vectors.dtype == np.float32


def test_the_quick_run_measures_everything(monkeypatch):
    pytest.importorskip("faiss", reason="needs faiss-cpu")
    monkeypatch.setattr(scale, "seconds", lambda call, **options: (call(), 0.5)[1])
    called = []
    for name in ("measure_fit", "measure_workers", "measure_molecules"):
        monkeypatch.setattr(scale, name, lambda report, *given, quick, name=name: called.append((name, *given)))
    report = scale.run(quick=True, molecules="folder")
    assert called == [("measure_fit",), ("measure_workers",), ("measure_molecules", "folder")]
    assert report.numbers["build"]["rows"] == 20_000
    judged = {target["what"]: target for target in report.targets}
    assert judged["one exact query of 20,000 vectors: faster than FAISS"]["value"] == 1
    assert judged["one exact query of 20,000 vectors"]["value"] == 500
    assert judged["100 exact queries of 20,000 vectors / FAISS"]["value"] == 1
    assert judged["neighbours as near as those of FAISS"]["met"]
    assert judged["open an index of 20,000"]["value"] == 0.5
    assert {"add one to 20,000 in memory", "remove one of 20,000 in memory"} <= set(judged)
    assert {"add one to 20,000 on disk", "remove one of 20,000 on disk"} <= set(judged)
    assert report.numbers["disk"]["bytes_per_row"] < 800
    assert scale.draw(report).startswith(b"\x89PNG")
