import numpy as np
import pytest

from explorer_graphs import fitted, rings_and_stars
from graph_metric_learn.report.serve.service import Service


@pytest.fixture(scope="module")
def service():
    graphs, y = rings_and_stars()
    return Service(fitted(), graphs=graphs, y=y, title="Rings")


def test_predictions_are_those_of_the_model(service):
    graphs, _ = rings_and_stars()
    found = service.predict(graphs[36:])
    assert found["predictions"] == service.model.predict(graphs[36:]).tolist()
    assert found["shares"][0].keys() == {"ring", "star & co"}


def test_neighbours_have_the_names_of_the_reference_graphs(service):
    graphs, _ = rings_and_stars()
    found = service.neighbors([graphs[30]], 3)
    assert found["ids"][0][0] == "graph number 30"
    assert found["distances"][0] == sorted(found["distances"][0])
    assert len(service.neighbors([graphs[30]], 999)["ids"][0]) == 36


def test_an_index_is_searched_where_there_is_one(service):
    class Index:
        def __len__(self):
            return 2

        def search(self, graphs, k):
            assert k == 2
            return np.zeros((len(graphs), k)), np.array([["a", "b"]] * len(graphs))

    graphs, _ = rings_and_stars()
    indexed = Service(service.metric, Index())
    assert indexed.neighbors(graphs[:1], 10) == {"ids": [["a", "b"]], "distances": [[0.0, 0.0]]}
    assert indexed.health() == {"status": "ok", "model": "GraphMetric", "graphs": 2}
    with pytest.raises(ValueError, match="cannot predict"):
        indexed.predict(graphs[:1])
    with pytest.raises(ValueError, match="nothing to search"):
        Service(service.metric).neighbors(graphs[:1], 1)
    assert indexed.page() is None


def test_explanations_and_those_of_the_page(service):
    graphs, _ = rings_and_stars()
    found = service.explain([graphs[0], graphs[30]])
    assert sum(found["terms"].values()) == pytest.approx(1)
    assert sum(share for _, share in found["nodes"][0]) == pytest.approx(1)
    assert set(service.explained(0, 30)) == {"record", "terms"}
    for pair in ((0, 0), (0, 99), (-1, 2)):
        with pytest.raises(ValueError, match="no pair"):
            service.explained(*pair)
    assert '"served":true' in service.page()
