import csv
import io

import pytest

from graph_metric_learn.cli import main


def test_predictions_are_a_table(folder, model, tmp_path, capsys):
    assert main(["predict", str(model), str(folder)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 20
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert float(rows[0]["share ring"]) + float(rows[0]["share star"]) == pytest.approx(1)
    assert main(["predict", str(model), str(folder), "--out", str(tmp_path / "p.csv")]) == 0
    assert len(list(csv.DictReader((tmp_path / "p.csv").open()))) == 20
