import io
import json

from graph_metric_learn.serve.monitoring import Monitoring


def test_requests_are_counted_by_path_method_and_status():
    seen = Monitoring()
    for seconds in (0.004, 0.3, 99.0):
        seen.add("/predict", "POST", 200, seconds)
    seen.add("/predict", "POST", 422, 0.004)
    seen.add("other", "BREW\n", 404, 0.004)
    lines = seen.text({"graphs": 7, "unread_smiles_total": 2}, version='1.0"\n').splitlines()
    for line in (
        'graph_metric_learn_requests_total{path="/predict",method="POST",status="200"} 3',
        'graph_metric_learn_requests_total{path="/predict",method="POST",status="422"} 1',
        'graph_metric_learn_requests_total{path="other",method="other",status="404"} 1',
        'graph_metric_learn_request_seconds_bucket{path="/predict",le="0.005"} 2',
        'graph_metric_learn_request_seconds_bucket{path="/predict",le="0.25"} 2',
        'graph_metric_learn_request_seconds_bucket{path="/predict",le="0.5"} 3',
        'graph_metric_learn_request_seconds_bucket{path="/predict",le="+Inf"} 4',
        'graph_metric_learn_request_seconds_count{path="/predict"} 4',
        "# TYPE graph_metric_learn_unread_smiles_total counter",
        "# TYPE graph_metric_learn_graphs gauge",
        "graph_metric_learn_graphs 7",
        'graph_metric_learn_info{version="1.0\\"\\n"} 1',
    ):
        assert line in lines
    total = next(line for line in lines if line.startswith("graph_metric_learn_request_seconds_sum"))
    assert abs(float(total.split()[-1]) - 99.308) < 1e-9


def test_a_line_of_the_log_is_json_whatever_was_asked_for():
    file = io.StringIO()
    seen = Monitoring(file)
    seen.log("::1", "GET", "/a\n\udce9" + "x" * 1000, 404, 0.1234567, 20)
    seen.log("::1", "GET", "/", 200, 0.5, 3)
    first, second = file.getvalue().splitlines()
    line = json.loads(first)
    assert line["path"].startswith("/a\n\udce9x")
    assert len(line["path"]) == 200
    assert (line["status"], line["seconds"], line["bytes"]) == (404, 0.123457, 20)
    assert line["time"].endswith("+00:00")
    assert json.loads(second)["path"] == "/"
    Monitoring().log("::1", "GET", "/", 200, 0.5, 3)  # nowhere
