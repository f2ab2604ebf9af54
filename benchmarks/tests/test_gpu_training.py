import numpy as np
import pytest
import torch

from graph_metric_learn_benchmarks import gpu_training
from graph_metric_learn_benchmarks.inputs import labelled_rings
from graph_metric_learn_benchmarks.measure import Report
from graph_zoo import write_tu


@pytest.fixture
def report():
    return Report("gpu", machine={})


def test_graphs_are_spread_over_nci1(rng, tmp_path):
    """The first graphs of NCI1 are of one class, so a few are taken from all over it."""
    folder = write_tu(tmp_path, 30, "NCI1")
    (folder / "NCI1_node_labels.txt").write_text("0\n" * sum(4 + g // 4 for g in range(30)))
    graphs, classes, name = gpu_training.training_graphs(rng, tmp_path, 6)
    assert classes.tolist() == [g % 2 for g in range(0, 30, 5)]
    assert graphs.sizes.tolist() == [4 + g // 4 for g in range(0, 30, 5)]
    assert graphs.x.shape[1] == 1  # the labels
    assert name == "NCI1"
    assert len(gpu_training.training_graphs(rng, tmp_path, 99)[0]) == 30


def test_random_graphs_take_the_place_of_a_missing_nci1(rng, tmp_path):
    graphs, classes, name = gpu_training.training_graphs(rng, tmp_path, 6)
    assert len(graphs) == 6
    assert classes.tolist() == [0, 1] * 3
    assert name == "random graphs of NCI1's sizes"


def test_models_trained_together_are_compared_with_those_trained_alone(report, device):
    graphs = labelled_rings(np.random.default_rng(0), 20)
    gpu_training.many_models(report, graphs, np.arange(20) % 2, "rings", torch.device(device), runs=1, epochs=1)
    found = report.numbers["many_models"]
    assert found["models"] == 4
    assert found["cpu_as_one_by_one"]
    assert report.targets[0]["what"].startswith("loss of the first epoch")
    assert report.targets[0]["met"]


def test_large_batches(report, device, rng):
    gpu_training.large_batches(report, rng, torch.device(device), count=40, batch=8)
    assert {"graphs": 40, "batch_size": 8}.items() <= report.numbers["large_batches"].items()
    assert report.targets[0]["what"] == "one epoch of 40 graphs, batches of 8"


def test_steps_by_batch(report, device, rng, capsys):
    gpu_training.step_by_batch(report, rng, torch.device(device), count=16, batches=(4, 8))
    rows = report.numbers["step_ms_by_batch"]
    assert set(rows) == {4, 8}
    assert set(rows[4]) == {"cpu", device}
    assert "ms per step by batch" in capsys.readouterr().out
