import gzip

import numpy as np
import pytest

from graph_metric_learn_benchmarks import streams
from graph_metric_learn_benchmarks.measure import Report


def judged(report):
    return {target["what"]: target for target in report.targets}


def test_classes_differ_in_their_labels(rng):
    graphs = streams.labelled_graphs(rng, 400)
    few = np.isin(graphs.labels[:, 0], [0, 1])
    share = np.array([few[graphs.owner % 2 == side].mean() for side in (0, 1)])
    np.testing.assert_allclose(share, [2 / 37, 0.1 + 0.9 * 2 / 37], atol=0.02)


def test_fit_is_measured(capsys):
    report = Report("scale")
    streams.measure_fit(report, quick=True)
    assert report.numbers["fit"]["graphs"] == [40, 80]
    assert set(report.numbers["fit"]["seconds"]) == {"few", "many", "stream"}
    assert "fit on 80 graphs / on 40, graph by graph" in judged(report)
    assert "fit on 80 graphs: memory" in judged(report)


def test_molecules_are_measured_where_there_are_some(tmp_path, capsys):
    pytest.importorskip("rdkit")
    report = Report("scale")
    streams.measure_molecules(report, tmp_path, quick=True)
    assert "left out" in capsys.readouterr().out
    texts = ["C" * (i % 7 + 1) + "NO"[i % 2] + "C" * (i % 3) for i in range(300)]
    texts.insert(250, "CC(C)(C)(C)C")  # QM9 has such: a carbon atom with too many bonds
    (tmp_path / "qm9_smiles.csv.gz").write_bytes(gzip.compress(("smiles\n" + "\n".join(texts)).encode()))
    with pytest.warns(UserWarning, match="no possible molecule"):
        streams.measure_molecules(report, tmp_path, quick=True)
    assert report.numbers["molecules"]["count"] == 300
    assert "300 molecules read, embedded and indexed: size on disk" in judged(report)
