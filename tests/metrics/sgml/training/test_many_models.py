"""Models trained side by side against each model trained alone by the plain loop, with torch's autograd and Adam."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.encoders import SGCN
from graph_metric_learn.metrics.sgml.losses import LOSSES
from graph_metric_learn.metrics.sgml.training import many_models
from graph_metric_learn.metrics.sgml.training.batch_distances import CurveRule
from graph_metric_learn.metrics.sgml.training.loop import History, TrainingOptions, train
from graph_metric_learn.metrics.sgml.training.many_models import Job, train_many
from graph_metric_learn.transport.curves import resolve
from graph_zoo import zoo


def make_jobs(graphs, y, distance="rpw", ties="canonical", activation="relu", **options):
    """Three models that differ in all that they may: graphs, depth, start, directions, learning rate, batching."""
    jobs = []
    for seed, count in enumerate((33, 30, 17)):  # batches of 7: 5, 5 and 3 of them, the last ones shorter
        members = np.random.default_rng(seed).permutation(len(graphs))[:count]
        module = SGCN(3, 2, depth=1 + seed % 2, activation=activation, seed=seed)
        directions, carry = resolve(distance, 2, 4, None, seed, torch.empty(0))
        jobs.append(
            Job(
                module=module,
                propagated=module.prepare(graphs).numpy(),
                members=members,
                y=y[members],
                rule=CurveRule(directions, carry, ties),
                options=TrainingOptions(
                    **({"loss": "nccml", "n_epochs": 2, "batch_size": 7, "restart": True} | options),
                    learning_rate=0.01 / (1 + seed),
                    batching=("covered", "shuffled")[seed % 2],
                    n_cells=4,
                ),
                rng=np.random.default_rng(100 + seed),
                history=History(),
            )
        )
    return jobs


def train_alone(job, graphs, loss):
    options = replace(job.options, loss=loss)
    train(job.module, graphs[job.members], job.y, job.rule, options, rng=job.rng, history=job.history, progress=False)


def assert_alike(jobs, others):
    for one, two in zip(jobs, others, strict=True):
        torch.testing.assert_close(one.module.theta, two.module.theta, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(one.history.loss, two.history.loss, rtol=1e-4)


@pytest.fixture
def data(rng):
    pairs, y = zoo(rng, 36)
    return as_graphs(pairs), np.where(np.arange(36) % 5 == 0, 2, y)


@pytest.mark.parametrize(
    ("distance", "loss", "ties", "activation", "restart"),
    [
        ("rpw", "nccml", "canonical", "relu", True),
        ("rpw", "nccml-paper", "first", "none", True),
        ("pw", "nca", "canonical", "relu", False),
        ("pw", "nccml", "first", "relu", True),
        ("sw", "nca-paper", "canonical", "relu", False),
        ("sw", "nccml", "canonical", "none", True),
    ],
)
def test_side_by_side_as_alone(data, device, distance, loss, ties, activation, restart):
    graphs, y = data
    options = {"loss": loss, "n_epochs": 3, "restart": restart}
    together, alone = (make_jobs(graphs, y, distance, ties, activation, **options) for _ in range(2))
    starts = [job.module.theta.detach().clone() for job in together]
    train_many(together, graphs.sizes, torch.device(device))
    for job in alone:
        train_alone(job, graphs, LOSSES[loss].autograd)
    assert_alike(alone, together)
    for job, start in zip(together, starts, strict=True):
        assert (job.module.theta - start).abs().max() > 0.005
        assert len(job.history.seconds) == 3


@pytest.mark.parametrize("width", [0, 2, 3])
def test_models_of_fewer_features_and_runs_of_fewer_models(data, width, monkeypatch):
    """One model that lacks a feature; one, two or all three models per run: no model notices the others."""
    graphs, y = data
    jobs = make_jobs(graphs, y)
    narrow = SGCN(2, 2, depth=1, seed=5)
    jobs[1].module, jobs[1].propagated = narrow, np.ascontiguousarray(jobs[1].propagated[:, :2])
    wanted = deepcopy(jobs)
    for job in wanted:
        train_many([job], graphs.sizes, torch.device("cpu"))
    per_model = 8**2 * (int(graphs.sizes.max()) + 1) * 2**2
    monkeypatch.setattr(many_models, "_MAX_AVERAGES", width * per_model)
    train_many(jobs, graphs.sizes, torch.device("cpu"))
    assert jobs[1].module.theta.shape == (2, 2)
    assert_alike(wanted, jobs)


def test_divergence_is_an_error_not_a_nan(data):
    graphs, y = data
    (job, *_) = make_jobs(graphs, y)
    job.propagated, job.options = job.propagated * np.float32(1e30), replace(job.options, learning_rate=1e10)
    with pytest.raises(ValueError, match="training diverged"):
        train_many([job], graphs.sizes, torch.device("cpu"))


def test_an_unknown_loss(data):
    graphs, y = data
    with pytest.raises(ValueError, match="unknown loss 'triplet'"):
        train_many(make_jobs(graphs, y, loss="triplet"), graphs.sizes, torch.device("cpu"))
