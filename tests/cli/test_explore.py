import json
import re

from graph_metric_learn.cli import main


def test_a_page_of_a_folder(model, folder, tmp_path, capsys):
    out = tmp_path / "page.html"
    arguments = ["explore", str(model), str(folder), "--labels", str(folder / "classes.csv"), "--out", str(out)]
    assert main([*arguments, "--title", "Rings & stars", "--explanations", "5"]) == 0
    assert f"written: {out} (20 graphs" in capsys.readouterr().out
    page = out.read_text(encoding="utf-8")
    assert "<title>Rings &amp; stars</title>" in page
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', page, flags=re.DOTALL)[1])
    assert sorted(data["names"])[:2] == ["ring10", "ring11"]
    assert data["target"]["classes"] == ["ring", "star"]
    assert data["target"]["known"] == [1] * 20
    assert main(arguments) == 2
    assert "exists already" in capsys.readouterr().err
