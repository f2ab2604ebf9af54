import networkx as nx
import pytest

from graph_metric_learn.datasets.sources import load_source
from tu_toy import TOY, write_folder, zipped


@pytest.fixture
def graphml(tmp_path):
    folder = tmp_path / "graphs"
    folder.mkdir()
    for n in (3, 4):
        nx.write_graphml(nx.path_graph(n), folder / f"path{n}.graphml")
    (folder / "y.csv").write_text("graph,label\npath4,long\npath3,short\n")
    return folder


def test_a_folder_of_graph_files(graphml):
    names, graphs, y = load_source(str(graphml))
    assert names == ["path3", "path4"]
    assert [len(graph) for graph in graphs] == [3, 4]
    assert y is None
    names, _, y = load_source(str(graphml), labels=graphml / "y.csv")
    assert names == ["path4", "path3"]
    assert y.tolist() == ["long", "short"]


def test_a_tu_dataset_by_folder_or_by_name(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "zips").mkdir()
    (tmp_path / "zips" / "TOY.zip").write_bytes(zipped(TOY))
    for source, root in ((str(tmp_path / "TOY"), None), ("TOY", tmp_path), ("TOY", tmp_path / "zips")):
        names, graphs, y = load_source(source, root=root)
        assert names == ["0", "1"]
        assert y.tolist() == [4, -2]
        assert graphs[0].x.tolist() == [[1, 7], [1, 7], [3, 7], [3, 7]]  # as in the file


def test_what_cannot_be_meant(tmp_path):
    with pytest.raises(ValueError, match="there is no folder no/such/folder"):
        load_source("no/such/folder")
    with pytest.raises(ValueError, match="--labels goes with a folder of graph files"):
        load_source(str(write_folder(tmp_path) / "TOY"), labels=tmp_path / "y.csv")
