import numpy as np
import pytest

from graph_metric_learn_reproduction.experiments.molecules import (
    MOLECULE_RIVALS,
    evaluate_molecules,
    group_split,
    molecule_cells,
    molecule_copies,
    molecule_rows,
    read_molecules,
)
from graph_metric_learn_reproduction.experiments.records import Records

pytest.importorskip("rdkit")

HEADER = "smiles,measured log solubility in mols per litre\n"


@pytest.fixture
def folder(tmp_path):
    chains = [f"{'C' * n}{end}" for n in range(1, 13) for end in ("", "O", "N")]
    rows = [f"{smiles},{-0.7 * len(smiles) + 0.5 * smiles.endswith('O') + 0.05}" for smiles in chains]
    rows += ["C[C@H](O)F,-0.55", "C[C@@H](O)F,-0.55"]  # copies beside stereo
    (tmp_path / "ESOL.csv").write_text(HEADER + "\n".join(rows) + "\n")
    read_molecules.cache_clear()
    return tmp_path


def test_copies_are_found_and_dropped(folder):
    kept, dropped = (read_molecules("ESOL", str(folder), copies) for copies in ("kept", "dropped"))
    assert (len(kept.y), len(dropped.y)) == (38, 37)
    assert kept.n_copies == dropped.n_copies == 1
    assert kept.groups[-1] == kept.groups[-2]


def test_groups_are_on_one_side():
    groups = np.array(list("aabbccddeeffgghhiijj"))
    for run in range(5):
        train, test = group_split(groups, run)
        assert not set(groups[train]) & set(groups[test])
        assert len(test) == 2
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(20))
    assert len({tuple(group_split(groups, run)[1]) for run in range(5)}) > 1


def test_cells_leave_out_what_makes_no_sense():
    cells = molecule_cells(2)
    assert {c["dataset"] for c in cells if c["classifier"] == "head-svc"} == {"BACE"}
    assert {c["dataset"] for c in cells if c["model"]["copies"] == "dropped"} == {"ESOL", "Lipophilicity"}
    assert {c["method"] for c in cells} == {"graphmetric", *MOLECULE_RIVALS}
    assert {c["dataset"] for c in molecule_cells(1, ["ESOL"])} == {"ESOL"}
    assert {c["method"] for c in molecule_cells(1, rivals=["chemprop"])} == {"graphmetric", "chemprop"}


def test_heads_and_fingerprints_are_evaluated_on_the_same_molecules(folder, tmp_path):
    cells = [c for c in molecule_cells(1, ["ESOL"]) if c["model"]["copies"] == "kept"]
    records = Records(tmp_path / "records")
    for method, classifiers in (("graphmetric", ("head-auto", "head-ridge")), ("morgan-ridge", ("own",))):
        configs = [c for c in cells if c["method"] == method and c["classifier"] in classifiers]
        for config, result in zip(configs, evaluate_molecules(configs, str(folder)), strict=True):
            records.add(config, result)
            assert result["test"] < 2.0  # the spread of the targets is about 2.4
            assert (result["molecules"], result["copies"]) == (38, 1)
    rows = molecule_rows(list(records))
    ours, ridge, rival, difference = rows[1:]
    assert [row[0] for row in (ours, ridge, rival)] == [
        "GraphMetric, head chosen by itself", "GraphMetric, its ridge", "kernel ridge, Morgan counts",
    ]  # fmt: skip
    assert "(1 split)" in ours[1]
    assert difference[0] == "— GraphMetric, head chosen by itself, less kernel ridge, Morgan counts"
    scores = {
        one["config"]["method"]: one["result"]["test"] for one in records if one["config"]["classifier"] != "head-ridge"
    }
    value, *notes = difference[1].split(", ")
    assert notes == ["1 split"]
    assert float(value) == pytest.approx(scores["graphmetric"] - scores["morgan-ridge"], abs=1e-3)
    assert molecule_rows([]) == []
    assert molecule_copies(list(records)) == "1 on ESOL"


def test_copies_are_listed_by_dataset(tmp_path):
    records = Records(tmp_path)
    assert molecule_copies([]) == ""
    for cell in molecule_cells(1):
        records.add(cell, {"test": 0.5, "copies": {"ESOL": 13, "Lipophilicity": 98, "BACE": 30}[cell["dataset"]]})
    assert molecule_copies(list(records)) == "13 on ESOL, 98 on Lipophilicity and 30 on BACE"
