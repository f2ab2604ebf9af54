import numpy as np
import pytest

from graph_metric_learn.datasets import load_digits, load_smiles


def test_notebooks_see_classes_and_the_first_graphs():
    html = load_digits()._repr_html_()
    assert html.count("<svg") == 6
    assert "GraphDataset(digits: 1797 graphs" in html
    assert "0: 178, 1: 182" in html


def test_names_are_escaped_and_numbers_have_a_range(tmp_path):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    file = tmp_path / "m.csv"
    file.write_text("name,smiles,size\n<b>water</b>,O,1.5\nethanol,CCO,3.25\n")
    dataset = load_smiles(file, target="size", name="name")
    html = dataset._repr_html_()
    assert "&lt;b&gt;water&lt;/b&gt; (1.5)" in html
    assert "<b>water" not in html
    assert f"from {np.min(dataset.y):.3g} to 3.25" in html
