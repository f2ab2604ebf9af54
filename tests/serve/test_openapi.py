import pytest

pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")

import graph_metric_learn as gml
from explorer_graphs import fitted
from graph_metric_learn.serve import Limits, Service, make_app


@pytest.fixture(scope="module")
def told():
    return make_app(Service(fitted()), limits=Limits(graphs=7, neighbors=9)).openapi()


def test_it_names_the_version_and_all_paths(told):
    assert told["info"]["version"] == gml.__version__
    paths = {"/", "/health", "/metrics", "/predict", "/neighbors", "/explain", "/explained/{one}/{other}"}
    assert told["paths"].keys() == paths


def test_bodies_are_described(told):
    def bodies(path):
        content = told["paths"][path]["post"]["requestBody"]["content"]
        return {tuple(body["properties"]): body for body in content["application/json"]["schema"]["oneOf"]}

    assert bodies("/predict").keys() == {("smiles",), ("graphs",)}
    assert bodies("/neighbors").keys() == {("smiles", "k"), ("graphs", "k"), ("ids", "k")}
    one = bodies("/neighbors")["ids", "k"]
    assert (one["properties"]["ids"]["maxItems"], one["properties"]["k"]["maximum"]) == (7, 9)
    assert one["additionalProperties"] is False
    explained = bodies("/explain")["graphs",]["properties"]["graphs"]
    assert (explained["minItems"], explained["maxItems"]) == (2, 2)


def test_refusals_are_what_comes(told):
    for path, methods in told["paths"].items():
        (method,) = methods.values()
        for status in set(method["responses"]) - {"200"}:
            schema = method["responses"][status]["content"]["application/json"]["schema"]
            assert schema["required"] == ["error"], (path, status)
    assert "422" not in told["paths"]["/health"]["get"]["responses"]
    assert {"400", "413", "415", "422"} <= told["paths"]["/predict"]["post"]["responses"].keys()
    assert "413" not in told["paths"]["/explained/{one}/{other}"]["get"]["responses"]
    assert "HTTPValidationError" not in told.get("components", {}).get("schemas", {})
