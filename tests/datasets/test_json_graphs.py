import json

import pytest

from graph_metric_learn.datasets.folder import load_folder
from graph_metric_learn.datasets.json_graphs import graphs_from_node_link
from graph_metric_learn.graphs import as_graphs


def test_a_plain_node_link_file(tmp_path):
    text = """{"nodes": [{"id": "u", "mass": 1}, {"id": "v", "mass": 2, "note": null}],
               "links": [{"source": "v", "target": "u", "edge_type": 4}]}"""
    (tmp_path / "one.json").write_text("\ufeff" + text, encoding="utf-8")
    graphs = as_graphs(load_folder(tmp_path)[1])
    assert graphs.x.tolist() == [[1], [2]]
    assert graphs.edge_data.labels.tolist() == [[4], [4]]
    assert graphs.unused == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", r"cannot read one\.json: "),
        ("[]", r'cannot read one\.json: expected the node-link format of NetworkX, with the keys "nodes"'),
        ('{"nodes": []}', r"cannot read one\.json: expected the node-link format"),
        ('{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 1}]}', r"one\.json: edges name nodes that are not"),
        ('{"nodes": [{"id": 0}, {"id": 0}], "links": []}', r"one\.json: .* or a node is listed twice"),
        (
            '{"nodes": [{"id": 0, "m": 1}, {"id": 1}], "links": []}',
            r"one\.json: attribute 'm' is missing on some nodes",
        ),
        (
            '{"nodes": [{"id": 0, "label": "C"}, {"id": 1}], "links": []}',
            r"one\.json: attribute 'label' is missing on some nodes",
        ),
        (
            '{"nodes": [{"id": 0, "m": [1]}, {"id": 1, "m": [1, 2]}], "links": []}',
            r"one\.json: attribute 'm' is missing",
        ),
        (
            '{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 0, "m": 1}, {"source": 0, "target": 0}]}',
            r"one\.json: attribute 'm' is missing on some edges",
        ),
    ],
)
def test_bad_node_link_files(tmp_path, text, words):
    (tmp_path / "one.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        load_folder(tmp_path)


def test_what_json_says_of_the_graph_itself_is_an_object(tmp_path):
    """A list there ended in a TypeError."""
    (tmp_path / "a.json").write_text('{"nodes": [{"id": 0}], "edges": [], "graph": []}')
    with pytest.raises(ValueError, match=r'cannot read a.json: "graph" must be an object, got \[\]'):
        load_folder(tmp_path)


@pytest.mark.parametrize("where", ["weight", "x"])
def test_numbers_of_hundreds_of_digits_are_refused_and_can_be_left_out(tmp_path, where):
    graphs = [{"nodes": [{"id": 0, "x": 1}, {"id": 1, "x": 2}], "edges": [{"source": 0, "target": 1, "weight": 2}]}] * 2
    bad = json.loads(json.dumps(graphs[0]))
    (bad["edges"][0] if where == "weight" else bad["nodes"][1])[where] = 10**400
    for name, graph in zip("abc", [*graphs, bad], strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(graph))
    with pytest.raises(ValueError, match=f"c.json: .* attribute '{where}' is a number of hundreds of digits"):
        load_folder(tmp_path)
    with pytest.warns(UserWarning, match="1 of 3 files left out"):
        assert load_folder(tmp_path, on_error="skip")[0] == ["a", "b"]


def test_graphs_of_a_request_are_named_as_the_caller_says():
    one = {"nodes": [{"id": 0, "mass": 1.0}, {"id": 1, "mass": 2.0}], "edges": [{"source": 0, "target": 1}]}
    first, second = graphs_from_node_link([one, one], ["graph 0", "graph 1"])
    assert (first.name, second.name) == ("graph 0", "graph 1")
    assert one["nodes"][0] == {"id": 0, "mass": 1.0}  # what came in stays as it is
    with pytest.raises(ValueError, match="line 2 has no nodes"):
        graphs_from_node_link([{"nodes": [], "edges": []}], ["line 2"])
    with pytest.raises(ValueError, match="cannot read graph 1: expected the node-link format"):
        graphs_from_node_link([one, []], ["graph 0", "graph 1"])
    with pytest.raises(ValueError, match=r"graph 1\.json has no node attribute 'mass', graph 0\.json has"):
        graphs_from_node_link([one, {"nodes": [{"id": 0}], "edges": []}], ["graph 0", "graph 1"])
