import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graph_metric_learn as gml
from graph_metric_learn.metrics.sgml.encoders import SGCN
from graph_metric_learn.metrics.sgml.losses import LOSSES, NCA, Loss
from graph_metric_learn.metrics.sgml.training import loop
from graph_metric_learn.metrics.sgml.training.loop import partition
from graph_zoo import zoo


def test_ctrl_c_keeps_the_last_finished_epoch(rng, monkeypatch):
    pairs, y = zoo(rng)
    two = gml.SGML(n_epochs=2, random_state=0).fit(pairs, y)
    real = loop._CompiledEngine.epoch

    def interrupted(self, batches, *, restart):
        value = real(self, batches, restart=restart)
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 3:
            raise KeyboardInterrupt
        return value

    monkeypatch.setattr(loop._CompiledEngine, "epoch", interrupted)
    with pytest.warns(UserWarning, match="keeping the result of 2 of 9 epochs"):
        stopped = gml.SGML(n_epochs=9, random_state=0).fit(pairs, y)
    assert torch.equal(stopped.module_.theta, two.module_.theta)
    assert stopped.history_.interrupted
    assert len(stopped.history_.loss) == 2
    assert np.isfinite(stopped.pairwise_distances(pairs[:3])).all()


def test_which_engine_trains(monkeypatch):
    sgcn = SGCN(3, 2, seed=0)
    assert loop._compiled_loss(sgcn, "nca") == NCA
    assert loop._compiled_loss(sgcn, gml.nca) is None
    assert loop._compiled_loss(sgcn, "triplet") is None
    assert loop._compiled_loss(torch.nn.Linear(3, 2), "nca") is None
    monkeypatch.setitem(LOSSES, "by torch alone", Loss(gml.nca))
    assert loop._compiled_loss(sgcn, "by torch alone") is None
    assert loop._compiled_loss(sgcn, "mlkr") is None
    assert loop._compiled_loss(SGCN(3, 2, seed=0, learned_masses=True), "nca") is None


def test_batches_of_numbers_are_shuffled_only(rng):
    pairs, _ = zoo(rng, 12)
    y = rng.normal(size=12)
    covered, shuffled = (
        gml.SGML(loss="mlkr", n_epochs=2, random_state=0, batching=batching).fit(pairs, y)
        for batching in ("covered", "shuffled")
    )
    assert torch.equal(covered.module_.theta, shuffled.module_.theta)


def test_an_encoder_without_parameters_cannot_be_trained(rng):
    pairs, y = zoo(rng)

    class Features(torch.nn.Module):
        def forward(self, batch):
            return batch.x

    gml.SGML(encoder=Features(), n_epochs=0).fit(pairs, y)
    with pytest.raises(ValueError, match="no parameters to train: use n_epochs=0"):
        gml.SGML(encoder=Features()).fit(pairs, y)


def test_adam_restarts_or_goes_on(rng):
    pairs, y = zoo(rng)
    for loss in ("nccml", gml.nccml):
        fits = [
            gml.SGML(n_epochs=3, random_state=0, loss=loss, restart_optimizer=restart).fit(pairs, y)
            for restart in (True, False)
        ]
        assert fits[0].history_.loss[0] == fits[1].history_.loss[0]
        assert not torch.allclose(fits[0].module_.theta, fits[1].module_.theta)


def test_long_epochs_are_cut_into_pieces_without_effect(rng, monkeypatch):
    pairs, y = zoo(rng)
    whole = gml.SGML(n_epochs=2, random_state=0).fit(pairs, y)
    monkeypatch.setattr(loop, "_CHUNK_NODES", 30)
    pieces = gml.SGML(n_epochs=2, random_state=0).fit(pairs, y)
    assert torch.equal(whole.module_.theta, pieces.module_.theta)
    assert pieces.history_.loss == pytest.approx(whole.history_.loss)


def test_divergence_is_an_error_not_a_nan(rng):
    pairs, y = zoo(rng)
    huge = [(a, x * 1e30) for a, x in pairs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="training diverged"):
            gml.SGML(n_epochs=2, random_state=0, learning_rate=1e10).fit(huge, y)


def test_a_progress_bar_on_request(rng, capsys):
    pairs, y = zoo(rng)
    gml.SGML(n_epochs=2, random_state=0, progress=True).fit(pairs, y)
    assert "training: 100%" in capsys.readouterr().err
    gml.SGML(n_epochs=2, random_state=0).fit(pairs, y)
    assert capsys.readouterr().err == ""


# --- batches ----------------------------------------------------------------------------------------------------------


@given(st.integers(2, 60), st.integers(2, 9), st.integers(1, 4), st.sampled_from(["covered", "shuffled"]))
def test_every_element_once_and_no_batch_of_one(count, batch_size, classes, batching):
    rng = np.random.default_rng(count)
    batches = partition(rng.integers(0, classes, count), batch_size, rng, batching)
    assert sorted(np.concatenate(batches)) == list(range(count))
    assert all(2 <= len(batch) <= batch_size + 1 for batch in batches)
    assert all(len(batch) == batch_size for batch in batches[:-1])


@given(st.integers(0, 1000))
def test_covered_batches_have_two_classes_where_there_are_enough(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [30, 12]))
    covered = partition(y, 4, np.random.default_rng(seed), "covered")
    assert all(len(np.unique(y[batch])) == 2 for batch in covered)


def test_plain_shuffling_leaves_batches_of_one_class():
    y = np.repeat([0, 1], [30, 12])
    lonely = [
        len(np.unique(y[batch])) == 1
        for seed in range(20)
        for batch in partition(y, 4, np.random.default_rng(seed), "shuffled")
    ]
    assert sum(lonely) > 10


def test_the_seed_decides():
    y = np.arange(20) % 3
    one, two, three = (np.concatenate(partition(y, 4, np.random.default_rng(s))) for s in (0, 0, 1))
    assert (one == two).all()
    assert not (one == three).all()


def test_unknown_batching():
    with pytest.raises(ValueError, match="'random'"):
        partition(np.arange(4), 2, np.random.default_rng(0), "random")
