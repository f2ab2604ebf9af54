import numpy as np
import pytest

from graph_metric_learn.embeddings import EMBEDDINGS
from graph_metric_learn.metrics.automatic import stages
from graph_metric_learn.metrics.automatic.learning import Stage
from graph_metric_learn.metrics.automatic.reweighting import LowRankMap
from graph_metric_learn.metrics.automatic.sample import Sample
from graph_metric_learn.metrics.automatic.stages import Learned, learn_stages
from graph_metric_learn.metrics.automatic.terms import Term
from graph_metric_learn.objectives import Classes


def made_of(points, sizes, kind):
    """A sample of clouds of alternating classes, and a term of all their columns."""
    sample = Sample({"attributes@0": points.astype(np.float32)}, {"nodes": sizes}, np.arange(len(sizes)) % 2)
    embedding = EMBEDDINGS[kind]().fit(sample.blocks["attributes@0"], sizes, np.random.default_rng(0))
    return sample, Term("all", ["attributes@0"], None, kind, embedding)


def spread_clouds(rng, count=80, n=16, shift=0.0):
    """Class 1 has its first column at ±1 around `shift`, class 0 at 0; the second column is noise of larger spread."""
    first = 0.1 * rng.normal(size=(count, n))
    first[1::2] += shift + np.tile([1.0, -1.0], n // 2)
    return np.stack([first, 5.0 * rng.normal(size=(count, n))], axis=2).reshape(-1, 2), np.full(count, n)


def single_points(rng, count, signal):
    """Clouds of one point: the first column tells the classes apart, the others are noise."""
    x = rng.normal(size=(count, 4))
    x[:, 0] = signal * (np.arange(count) % 2) + 0.1 * rng.normal(size=count)
    return x, np.ones(count, dtype=np.int64)


def kept_stage():
    return Stage("made up", 1, 0.5, 0.6, 0.01, True, refreshed=True)


def test_embeddings_are_fitted_anew_where_that_helps(rng):
    """Plans that follow the noise mix up the first column; with the noise weighted away they follow that."""
    sample, term = made_of(*spread_clouds(rng), "reference")
    term.weight_columns(np.array([1.0, 1e-6]))
    learned = Learned([term])
    assert stages._refresh(learned, sample, Classes(), rng)
    assert learned.terms[0] is not term
    assert learned.terms[0].column_weights is None  # they are part of its basis now
    scores = [
        Classes().left_out_scores(sample.squares([t]), sample.target, (3,)).mean() for t in (term, *learned.terms)
    ]
    assert scores[1] > scores[0] + 0.1


def test_embeddings_stay_where_fitting_anew_does_not_help(rng):
    sample, term = made_of(*single_points(rng, 60, signal=0.0), "mean")
    term.weight_columns(np.array([1.0, 2.0, 1.0, 0.5]))
    learned = Learned([term])
    assert not stages._refresh(learned, sample, Classes(), rng)
    assert learned.terms == [term]


def test_a_kept_stage_fits_embeddings_anew(rng):
    sample, term = made_of(*spread_clouds(rng, count=200, shift=0.5), "reference")
    learned = learn_stages([term], sample, Classes(), rng)
    weighted = next(stage for stage in learned.stages if stage.name == "weights of columns")
    assert weighted.kept
    assert weighted.refreshed
    assert learned.terms[0].basis is not None


@pytest.mark.parametrize("low_rank", [False, True])
def test_what_harms_the_graphs_outside_is_taken_back(rng, monkeypatch, low_rank):
    """Learning that erases the column that tells the classes apart, on a part of the sample."""
    monkeypatch.setattr(stages, "_LEARNED_ON", 40)
    sample, term = made_of(*single_points(rng, 120, signal=3.0), "mean")

    def harm(learned, part, objective, rng):
        assert len(part.target) == 40
        if low_rank:
            learned.low_rank = LowRankMap(np.eye(4, 1, dtype=np.float32), -np.ones((1, 1), dtype=np.float32))
        else:
            learned.terms[0].weight_columns(np.array([0.0, 1.0, 1.0, 1.0]))
        learned.stages.append(kept_stage())

    monkeypatch.setattr(stages, "_learn_in_turn", harm)
    learned = learn_stages([term], sample, Classes(), rng)
    assert learned.terms == [term]
    assert term.column_weights is None
    assert learned.low_rank is None
    (stage,) = learned.stages
    assert (stage.kept, stage.refreshed, stage.confirmed) == (False, None, False)


def test_what_does_no_harm_is_confirmed(rng, monkeypatch):
    monkeypatch.setattr(stages, "_LEARNED_ON", 40)
    sample, term = made_of(*single_points(rng, 120, signal=0.5), "mean")

    def help_along(learned, part, objective, rng):
        learned.terms[0].weight_columns(np.array([100.0, 1.0, 1.0, 1.0]))
        learned.stages.append(kept_stage())

    monkeypatch.setattr(stages, "_learn_in_turn", help_along)
    learned = learn_stages([term], sample, Classes(), rng)
    np.testing.assert_array_equal(learned.terms[0].column_weights, [100, 1, 1, 1])
    assert learned.stages[0].confirmed
    assert learned.stages[0].kept


def test_without_graphs_outside_nothing_is_confirmed(rng):
    sample, term = made_of(*single_points(rng, 60, signal=0.5), "mean")
    learned = learn_stages([term], sample, Classes(), rng)
    assert all(stage.confirmed is None for stage in learned.stages)


def test_what_is_not_kept_leaves_the_terms_alone():
    """Nothing to learn: stages that are not kept change neither weights nor embeddings."""
    rng = np.random.default_rng(1)
    sample, term = made_of(*single_points(rng, 80, signal=0.0), "reference")
    learned = learn_stages([term], sample, Classes(), rng)
    assert not any(stage.kept for stage in learned.stages)
    assert [stage.refreshed for stage in learned.stages] == [None] * len(learned.stages)
    assert learned.terms[0].column_weights is None
    assert learned.low_rank is None
