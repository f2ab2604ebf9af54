import numpy as np

from graph_metric_learn_benchmarks.inputs import LABELS, NCI1_SIZES, labelled_rings, relu_clouds, rings_with_chords


def test_sizes_are_nci1s():
    assert len(NCI1_SIZES) == 4110
    assert (NCI1_SIZES.min(), NCI1_SIZES.max()) == (3, 111)
    assert abs(NCI1_SIZES.mean() - 29.87) < 0.01


def test_clouds_have_their_sizes_and_many_zeros(rng):
    clouds = relu_clouds(rng, np.array([4, 300]))
    assert [cloud.shape for cloud in clouds] == [(4, 5), (300, 5)]
    assert clouds[0].dtype == np.float32
    assert 0.4 < np.mean(clouds[1] == 0) < 0.6
    assert clouds[1].min() == 0


def test_rings_with_chords(rng):
    graphs = rings_with_chords(rng, 3, 20)
    assert graphs.sizes.tolist() == [20] * 3
    assert graphs.x.shape == (60, 5)
    assert (graphs.degrees >= 2).all()
    assert 2 * 20 < graphs.degrees[:20].sum() <= 2 * 26
    edges = set(map(tuple, graphs.edges.T.tolist()))
    assert all((v, u) in edges and u != v for u, v in edges)
    assert len(edges) == graphs.edges.shape[1]
    assert all(u // 20 == v // 20 for u, v in edges)


def test_labelled_rings(rng):
    graphs = labelled_rings(rng, 50)
    assert len(graphs) == 50
    assert set(graphs.sizes) <= set(NCI1_SIZES)
    assert (graphs.degrees == 2).all()
    assert graphs.x.shape[1] == LABELS
    assert (graphs.x.sum(1) == 1).all()
    assert (graphs.owner[graphs.edges[0]] == graphs.owner[graphs.edges[1]]).all()
