import io
import json
import pickle
import re

import joblib
import numpy as np
import pytest
import torch
from sklearn.base import clone

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph, read_rich, rich_graph
from element_graphs import element_graphs
from graph_metric_learn._core.schema import FieldError
from graph_metric_learn.linalg.multisets import MinSums
from graph_metric_learn.metrics.automatic.recipes import FAMILIES
from graph_metric_learn.metrics.automatic.state import SavedCounts
from graph_metric_learn.metrics.base import fit_with_folds

SECONDS = re.compile(r"\d+(\.\d+)? s\)")
OPTIONS = {"families": ["trees", "pairs", "nodes, mean"], "label": "element", "random_state": 0}


@pytest.fixture(scope="module")
def graphs():
    return element_graphs()


def targets(y, kind):
    several = np.stack([y, -(y**2)], axis=1)
    several[::4, 1] = np.nan
    table = np.stack([y > np.median(y), y > np.quantile(y, 0.8)], axis=1).astype(float)
    table[1::5, 0] = np.nan
    return {"numbers": y, "several": several, "labels": table, "classes": y > np.median(y), "none": None}[kind]


@pytest.fixture(scope="module", params=["numbers", "several", "labels", "classes", "none", "many"])
def metric(request, graphs):
    kind, more = (request.param, {}) if request.param != "many" else ("numbers", {"n_landmarks": 20})
    y = targets(graphs[1], kind)
    metric = gml.GraphMetric(**OPTIONS, **more, n_components=8)
    return metric.fit(graphs[0][:50], None if y is None else y[:50])


def same(one, two, graphs):
    """Whether two metrics say the same, bit by bit."""
    np.testing.assert_array_equal(one.transform(graphs), two.transform(graphs))
    np.testing.assert_array_equal(one.pairwise_distances(graphs[:9]), two.pairwise_distances(graphs[:9]))
    assert SECONDS.sub("", one.report_) == SECONDS.sub("", two.report_)
    assert one.weights_ == two.weights_
    assert (one.task_, one.seed_, one.chosen_n_neighbors) == (two.task_, two.seed_, two.chosen_n_neighbors)
    if one.learned_ is not None:
        np.testing.assert_array_equal(one.scores(graphs), two.scores(graphs))
        assert one.learned_.gate == two.learned_.gate


def test_what_comes_back_is_the_same(metric, graphs, tmp_path):
    same(gml.load(metric.save(tmp_path / "metric")), metric, graphs[0])
    again = gml.GraphMetric.load(tmp_path / "metric")
    same(gml.load(again.save(tmp_path / "again")), metric, graphs[0])
    one, two = (each.explain(*graphs[0][:2]) for each in (again, metric))
    np.testing.assert_array_equal(one.source_share, two.source_share)


def test_pickled_it_is_the_same(metric, graphs):
    same(pickle.loads(pickle.dumps(metric)), metric, graphs[0])


def test_cloned_it_is_not_fitted(metric):
    again = clone(metric)
    assert again.get_params() == metric.get_params()
    assert not hasattr(again, "mixture_")


def test_the_state_is_json_and_arrays(metric):
    config, arrays = metric.state()
    assert json.loads(json.dumps(config, allow_nan=False, default=lambda value: value.item()))
    assert all(isinstance(value, np.ndarray) for value in arrays.values())
    assert gml.GraphMetric.from_state(config, arrays).state()[0] == config


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_saved(name, tmp_path):
    read = read_rich([rich_graph(seed) for seed in range(20)])
    metric = gml.GraphMetric(families=[name], random_state=0, n_components=None)
    metric.fit(read, read.sizes + 0.5)
    assert list(metric.weights_) == [name]
    again = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(again.transform(read), metric.transform(read))
    np.testing.assert_array_equal(again.scores(read), metric.scores(read))


@pytest.mark.parametrize(
    ("features", "embedding"),
    [(["trees@0"], "histogram"), (["trees@1"], "assignment"), (["wl@1", "degree@0"], "axes"),
     (["structure@0"], "reference"), (["trees@0", "trees@1"], "auto")],
)  # fmt: skip
def test_what_was_asked_for_is_saved(graphs, tmp_path, features, embedding):
    metric = gml.GraphMetric(features=features, embedding=embedding, label="element", random_state=0)
    metric.fit(graphs[0][:40], graphs[1][:40])
    assert all(name.startswith(", ".join(features)) for name in metric.weights_)
    same(gml.load(metric.save(tmp_path / "metric")), metric, graphs[0])


def test_an_estimate_is_kept(graphs, tmp_path):
    options = {**OPTIONS, "families": ["trees"]}
    metric = gml.GraphMetric(**options, estimate=True).fit(graphs[0][:40], graphs[1][:40])
    again = gml.load(metric.save(tmp_path / "metric"))
    assert again.estimate_ == metric.estimate_
    assert "of neighbours on new graphs about" in again.report_


def matrices_in(thing, rows):
    """How many arrays with at least so many rows and columns a pickled object holds."""

    class Counting(pickle.Pickler):
        found = 0

        def reducer_override(self, part):
            if isinstance(part, (np.ndarray, torch.Tensor)):
                self.found += sum(side >= rows for side in part.shape) > 1
            return NotImplemented

    pickler = Counting(io.BytesIO())
    pickler.dump(thing)
    return pickler.found


def test_no_matrices_of_all_graphs_are_kept():
    """What is chosen after the metric is asked for while it is fitted."""
    graphs, y = element_graphs(150)
    metric = gml.GraphMetric(**OPTIONS, n_components=8)
    folds = fit_with_folds(metric, graphs, y)
    assert matrices_in(folds(1000), 100) > 0
    assert matrices_in(metric, 100) == 0


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_give_the_same(graphs, backend):
    metric = gml.GraphMetric(**OPTIONS).fit(graphs[0][:50], graphs[1][:50])
    wanted = metric.transform(graphs[0])
    with joblib.parallel_config(backend, n_jobs=2):
        np.testing.assert_array_equal(metric.transform(graphs[0]), wanted)
        again = gml.GraphMetric(**OPTIONS).fit(graphs[0][:50], graphs[1][:50])
    same(again, metric, graphs[0])


# --- damaged states are refused --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def estimated(graphs):
    y = graphs[1][:40]
    options = {"features": ["labels@0"], "label": "element", "embedding": "mean", "learn": False, "random_state": 0}
    return gml.GraphMetric(**options, estimate=True).fit(graphs[0][:40], y > np.sort(y)[-12])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"score": "high"}, "estimate.score must be a number, got 'high'"),
        ({"error": -0.1}, "estimate.error must be a number >= 0.0, got -0.1"),
        ({"guess": None}, "estimate.guess must be a number"),
        ({"guess_name": 3}, "estimate.guess_name must be a string"),
        ({"balanced": float("nan")}, "estimate.balanced must be a number"),
        ({"balanced_error": -0.1}, "estimate.balanced_error must be a number >= 0"),
        ({"balanced_guess": "half"}, "estimate.balanced_guess must be a number"),
        ({"rank": 1}, "estimate.rank is not known"),
    ],
)
def test_an_estimate_in_a_file_is_checked_field_by_field(estimated, change, words):
    config, tensors = estimated.state()
    with pytest.raises(ValueError, match=words):
        gml.GraphMetric.from_state({**config, "estimate": {**config["estimate"], **change}}, tensors)


@pytest.fixture(scope="module")
def saved(graphs):
    """The state of a metric with a family of counts and one of vectors."""
    options = {**OPTIONS, "families": ["trees", "nodes, mean"], "n_components": 8}
    metric = gml.GraphMetric(**options).fit(graphs[0][:50], graphs[1][:50])
    assert set(metric.weights_) == {"trees", "nodes, mean"}
    return metric.state()


def changed(config, path, value):
    config = json.loads(json.dumps(config, default=lambda one: one.item()))
    holder = config
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value(holder[path[-1]]) if callable(value) else value
    return config


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("params", "n_landmarks"), 3, "params.n_landmarks"),
        (("params", "scoring"), "best", "params.scoring"),
        (("params", "families"), ["bushes"], "params.families"),
        (("params", "colour"), 1, "params.colour is not known"),
        (("task",), "ranks", "task"),
        (("families", "trees", "weight"), 0.0, "families.trees.weight"),
        (("families", "trees", "weight"), lambda weight: weight / 2, "families have weights that add up to .*, not 1"),
        (("families", "trees", "recipe", "embedding"), "histogram", "families.trees.recipe"),
        (("families", "trees", "recipe", "ranges"), [9], "families.trees.recipe.ranges"),
        (("families", "trees", "recipe", "sets"), [["trees@0"]], "families.trees.recipe"),
        (("families", "nodes, mean", "recipe", "sets"), [["labels@7"]], "families.nodes, mean.recipe.sets"),
        (("families", "nodes, mean", "landmarks", "kind"), "counts", "families.nodes, mean.landmarks"),
        (("families", "nodes, mean", "landmarks", "sets", 0, "scale"), -1.0, "landmarks.sets.0.scale"),
        (("blocks",), None, "blocks"),
        (("coordinates", "unit"), 0.0, "coordinates.unit"),
        (("learned", "unit"), -1.0, "learned.unit"),
        (("learned", "setting", "penalty"), 0.0, "learned.setting.penalty"),
        (("learned", "gate", "weight"), -1.0, "learned.gate.weight"),
        (("width",), {"kept": -1}, "width"),
        (("seconds",), -1.0, "seconds"),
    ],
)
def test_fields_are_checked(saved, path, value, words):
    config, arrays = saved
    with pytest.raises(ValueError, match=words):
        gml.GraphMetric.from_state(changed(config, path, value), arrays)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("families.trees.landmarks.vocabulary", lambda a: a[:-1]),
        ("families.trees.landmarks.postings", lambda a: a[::-1].copy()),
        ("families.trees.landmarks.reference", lambda a: a + np.uint32(60)),
        ("families.trees.landmarks.count", lambda a: -a),
        ("families.trees.landmarks.count", lambda a: a * np.float32(np.nan)),
        ("families.nodes, mean.landmarks.sets.0.vectors", lambda a: a[:-1]),
        ("families.nodes, mean.landmarks.sets.0.vectors", lambda a: a[:, :-1]),
        ("coordinates.centre", lambda a: a[:-1]),
        ("coordinates.axes", lambda a: a[:-1]),
        ("coordinates.rest", lambda a: a[:-1]),
        ("learned.alpha", lambda a: a[:-1]),
        ("learned.alpha", lambda a: np.concatenate([a, a], axis=1)),
        ("learned.mean", lambda a: np.append(a, 0.0)),
        ("learned.basis", lambda a: np.concatenate([a, a])),
        ("learned.graphs", lambda a: a[:-1]),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(saved, name, change):
    config, arrays = saved
    assert name in arrays
    with pytest.raises(ValueError, match=name.split(".")[0]):
        gml.GraphMetric.from_state(config, {**arrays, name: change(arrays[name])})
    if name == "learned.graphs":  # it may be missing
        return
    with pytest.raises(ValueError, match=name.rsplit(".", 1)[0]):
        gml.GraphMetric.from_state(config, {key: value for key, value in arrays.items() if key != name})


def index_of_three():
    """Two levels; names 5 and 7 of the first, 4 of the second."""
    reference, name = np.array([0, 1, 1, 2]), np.array([5, 5, 7, 4], dtype=np.uint64)
    return MinSums(reference, name, np.array([1, 2, 3, 4]), np.array([0, 0, 0, 1]), n_references=3, n_levels=2)


def test_an_index_comes_back():
    sums = index_of_three()
    again = SavedCounts.of(sums).sums(3, 2)
    np.testing.assert_array_equal(again.pairwise(), sums.pairwise())
    for name in ("vocabulary", "levels", "postings", "reference", "count", "totals"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sums, name))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"levels": np.array([0, 2])}, "levels do not ascend from 0 to 3"),
        ({"levels": np.array([0, 3, 2, 3])}, "levels do not ascend"),
        (
            {"levels": np.array([0, 3]), "vocabulary": np.array([4, 5, 7], dtype=np.uint64)},
            "levels has 2 entries for 2 levels",
        ),
        ({"levels": np.array([1, 2, 3])}, "levels do not ascend"),
        ({"postings": np.array([0, 2, 3, 3])}, "postings do not ascend from 0 to 4"),
        ({"postings": np.array([0, 2, 4])}, "postings must have an entry for each name"),
        ({"postings": np.array([0, 0, 3, 4])}, "postings must have an entry for each name"),
        ({"vocabulary": np.array([7, 5, 4], dtype=np.uint64)}, "vocabulary must ascend within each level"),
        ({"vocabulary": np.array([5, 5, 4], dtype=np.uint64)}, "vocabulary must ascend within each level"),
        ({"reference": np.array([1, 0, 1, 2], dtype=np.uint32)}, "reference must ascend for each name"),
        ({"reference": np.array([0, 0, 1, 2], dtype=np.uint32)}, "reference must ascend for each name"),
        ({"reference": np.array([0, 1, 1, 3], dtype=np.uint32)}, "reference holds 3, but there are 3 landmarks"),
        ({"count": np.array([1.0, 2.0, 3.0, -1.0], dtype=np.float32)}, "count"),
        ({"count": np.array([1.0, 2.0, 3.0], dtype=np.float32)}, "count"),
    ],
)
def test_an_index_that_cannot_be_is_refused(change, words):
    fields = {
        name: getattr(index_of_three(), name) for name in ("vocabulary", "levels", "postings", "reference", "count")
    }
    with pytest.raises(FieldError, match=words):
        SavedCounts(**{**fields, **change}).sums(3, 2)


@pytest.mark.parametrize("features", [["edge_trees@0"], ["edge@0"], ["around@0"], ["strength@0"]])
def test_blocks_of_edges_need_edges_that_are_read(features):
    drawn = [edge_graph(seed) for seed in range(20)]
    y = np.arange(20) % 2
    metric = gml.GraphMetric(features=features, random_state=0, directed=False, **NAMES).fit(drawn, y)
    config, tensors = metric.state()
    assert gml.GraphMetric.from_state(config, tensors).edge_reading_ == metric.edge_reading_
    config["edge_reading"] = {}
    with pytest.raises(ValueError, match="edge_reading reads nothing that edges carry, but block"):
        gml.GraphMetric.from_state(config, tensors)
