import pytest

from graph_metric_learn.graphs.sources.smiles_workers import SmilesWorkers
from graph_metric_learn.serve.requests import Batch, Limits, check_fields, read_count, read_ids
from graph_metric_learn.serve.requests import read_graphs as read_batch

SMALL = Limits(graphs=3, nodes=4, edges=4, smiles=10, neighbors=5)
WORKERS = SmilesWorkers(1)
SQUARE = {"nodes": [{"id": i} for i in range(4)], "edges": [{"source": i, "target": (i + 1) % 4} for i in range(4)]}


def read_graphs(body, limits, count=None):
    """The graphs of a body without errors."""
    batch = read_batch(body, limits, WORKERS.read, count)
    assert not batch.errors
    return batch.graphs


def test_graphs_in_node_link_format():
    one, two = read_graphs({"graphs": [SQUARE, {**SQUARE, "edges": []}]}, SMALL)
    assert one.number_of_edges() == 4
    assert two.number_of_nodes() == 4


def test_molecules():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    assert [graph.num_nodes for graph in read_graphs({"smiles": ["CCO", "C"]}, SMALL)] == [3, 1]
    with pytest.raises(ValueError, match=r"row 1 .*is not a valid SMILES[^()]*$"):
        read_graphs({"smiles": ["CCO", "C1CC"]}, SMALL, count=2)
    with pytest.raises(ValueError, match="graph 0 has 5 nodes: at most 4"):
        read_graphs({"smiles": ["CCCCC"]}, SMALL)


def test_molecules_that_cannot_be_read_are_errors_of_their_own():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    batch = read_batch({"smiles": ["C1CC", "CCO", "C" * 11]}, SMALL, WORKERS.read)
    assert [graph.smiles for graph in batch.graphs] == ["CCO"]
    assert batch.errors == {
        0: "row 0 ('C1CC') is not a valid SMILES",
        2: "row 2 has 11 characters: a SMILES may have 10",
    }
    with pytest.raises(ValueError, match=r"^row 0 \('C1CC'\) is not a valid SMILES$"):
        read_batch({"smiles": ["C1CC", "\ud800"]}, SMALL, WORKERS.read)


def test_answers_stand_where_the_entries_of_the_request_are():
    answer = {"ids": [[1], [2]], "distances": [[0.0], [0.5]]}
    assert Batch(["a", "b"]).complete(answer) == answer
    found = Batch(["a", "b"], {2: "bad", 0: "worse"}).complete(answer)
    assert found["ids"] == [None, [1], None, [2]]
    assert found["distances"] == [None, [0.0], None, [0.5]]
    assert found["errors"] == [{"row": 0, "error": "worse"}, {"row": 2, "error": "bad"}]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([], "expected a JSON object"),
        ({}, "expected a JSON object"),
        ({"smiles": ["C"], "graphs": [SQUARE]}, "expected a JSON object"),
        ({"smiles": "CCO"}, "must be a list"),
        ({"smiles": []}, "at least one"),
        ({"smiles": ["C"] * 4}, "4 graphs in one request: at most 3"),
        ({"smiles": [7]}, "row 0 is a int"),
        ({"smiles": ["C" * 11]}, "row 0 has 11 characters"),
        ({"graphs": ["CCO"]}, "graph 0 is a str"),
        ({"graphs": [{"nodes": [{"id": 0}]}]}, 'needs "nodes" and "edges"'),
        ({"graphs": [{"nodes": [0], "edges": []}]}, "not an object"),
        ({"graphs": [{"nodes": [{"id": i} for i in range(5)], "edges": []}]}, "5 nodes: at most 4"),
        ({"graphs": [{**SQUARE, "edges": SQUARE["edges"] * 2}]}, "8 edges: at most 4"),
        ({"graphs": [{"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 9}]}]}, "not listed"),
        ({"graphs": [{"nodes": [{"id": {}}], "edges": []}]}, "cannot read graph 0"),
        (
            {"graphs": [SQUARE, {**SQUARE, "edges": [*SQUARE["edges"][:3], {"source": 0}]}]},
            "^edge 3 of graph 1 has no target$",
        ),
        ({"graphs": [{"nodes": [{"id": 0}], "links": [{"target": 0}]}]}, "^edge 0 of graph 0 has no source$"),
    ],
)
def test_bad_bodies_are_refused_with_a_reason(body, why):
    with pytest.raises(ValueError, match=why):
        read_graphs(body, SMALL)


def test_unknown_fields_are_named():
    check_fields({"smiles": []}, ("smiles", "k"))
    check_fields([], ("smiles",))
    with pytest.raises(ValueError, match=r"^unknown field 'K', 'x': known are 'smiles', 'k'$"):
        check_fields({"K": 3, "smiles": [], "x": 1}, ("smiles", "k"))
    with pytest.raises(ValueError, match="'4' and 3 more: ") as caught:
        check_fields({"a" * 1000: 0} | {str(i): i for i in range(1, 8)}, ("smiles",))
    assert len(str(caught.value)) < 200


def test_how_many():
    assert read_count({}, SMALL, 3) == 3
    assert read_count({"k": 5}, SMALL) == 5
    for bad in (0, 6, "5", 1.5, True, None):
        with pytest.raises(ValueError, match='"k" must be'):
            read_count({"k": bad}, SMALL)
    with pytest.raises(ValueError, match='"k" must be') as caught:
        read_count({"k": "many" * 1000}, SMALL)
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match="exactly 2"):
        read_graphs({"graphs": [SQUARE]}, SMALL, count=2)


def test_ids():
    assert read_ids({"ids": ["a", 7]}, SMALL) == ["a", 7]
    assert read_ids({"graphs": [SQUARE]}, SMALL) is None
    assert read_ids([], SMALL) is None
    for bad in ("a", [], ["a"] * 4, [True], [1.5], [None], [["a"]]):
        with pytest.raises(ValueError, match="id"):
            read_ids({"ids": bad}, SMALL)
    with pytest.raises(ValueError, match="not both"):
        read_ids({"ids": ["a"], "smiles": ["C"]}, SMALL)


def test_all_graphs_together_are_bounded():
    with pytest.raises(ValueError, match="8 nodes together: at most 7"):
        read_graphs({"graphs": [SQUARE] * 2}, Limits(all_nodes=7))
    with pytest.raises(ValueError, match="8 edges together: at most 7"):
        read_graphs({"graphs": [SQUARE] * 2}, Limits(all_edges=7))
    assert len(read_graphs({"graphs": [SQUARE] * 2}, Limits(all_nodes=8, all_edges=8))) == 2
