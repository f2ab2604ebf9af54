import json

import numpy as np
import pytest

from graph_metric_learn_reproduction.experiments.fair import (
    FAIR_DATASETS,
    evaluate_fair,
    fair_cells,
    fair_rows,
    read_splits,
)
from graph_metric_learn_reproduction.experiments.records import Records
from graph_zoo import write_tu


@pytest.fixture
def folder(tmp_path):
    everything = np.arange(30)
    folds = [{"test": everything[k::10].tolist()} for k in range(10)]
    for fold in folds:
        rest = np.setdiff1d(everything, fold["test"])
        fold |= {"train": rest[:20].tolist(), "validation": rest[20:].tolist()}
    (tmp_path / "ENZYMES.json").write_text(json.dumps(folds))
    return tmp_path


def test_the_validation_part_belongs_to_training(folder):
    splits = read_splits(folder, "ENZYMES", 30)
    assert len(splits) == 10
    assert [len(part) for part in splits[0]] == [27, 3]


def test_files_are_read_as_they_were_published(folder):
    wanted = read_splits(folder, "ENZYMES", 30)
    folds = json.loads((folder / "ENZYMES.json").read_text())
    published = [{"test": fold.pop("test"), "model_selection": [fold]} for fold in folds]
    (folder / "ENZYMES.json").write_text(json.dumps(published))
    for (train, test), (wanted_train, wanted_test) in zip(read_splits(folder, "ENZYMES", 30), wanted, strict=True):
        np.testing.assert_array_equal(train, wanted_train)
        np.testing.assert_array_equal(test, wanted_test)


@pytest.mark.parametrize(
    "text",
    [
        "[]x",
        '[{"test": [0], "model_selection": []}]',
        '[{"train": [0]}]',
        '[{"train": [0], "validation": [0], "test": [1]}]',
    ],
)
def test_bad_files_of_splits_are_refused(folder, text):
    (folder / "ENZYMES.json").write_text(text)
    with pytest.raises(ValueError, match=r"ENZYMES\.json"):
        read_splits(folder, "ENZYMES", 2)


def test_cells_and_rows(folder, tmp_path):
    write_tu(tmp_path / "data", 30, "ENZYMES")
    cells = [c for c in fair_cells(2, ["ENZYMES"]) if c["classifier"] == "head-knn"]
    assert len(cells) == 2
    assert {c["dataset"] for c in fair_cells(1)} == set(FAIR_DATASETS)
    records = Records(tmp_path / "records")
    for cell in cells:
        records.add(cell, evaluate_fair([cell], str(tmp_path / "data"), str(folder))[0])
    rows = fair_rows(list(records))
    assert rows[1][0] == "GraphMetric, its k-NN"
    assert rows[1][1 + FAIR_DATASETS.index("ENZYMES")].endswith("(2 folds)")
    assert [row[0].endswith("as published") for row in rows[2:]] == [True, True]
    assert all(len(row) == len(rows[0]) for row in rows)
    assert fair_rows([]) == []
