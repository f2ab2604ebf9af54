import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone

import graph_metric_learn as gml
from graph_zoo import as_networkx, as_pyg, zoo
from small_graphs import random_graphs, renumbered


def test_learning_brings_classes_together(rng):
    pairs, y = zoo(rng, 60)
    # one telling feature among loud, idle ones
    blurred = [(a, np.c_[x[:, :1], rng.normal(size=(len(x), 5)) * 2]) for a, x in pairs]
    metrics = [gml.SGML(depth=1, n_epochs=n, random_state=0).fit(blurred, y) for n in (0, 20)]
    ratios = []
    for metric in metrics:
        d = metric.pairwise_distances(blurred)
        same = y[:, None] == y[None]
        ratios.append(d[same].mean() / d[~same].mean())
    assert ratios[1] < 0.9 * ratios[0]
    assert metrics[0].history_.loss == []
    losses = metrics[1].history_.loss
    assert losses[-1] < 0.7 * losses[0]
    assert len(metrics[1].history_.seconds) == 20


@pytest.mark.parametrize("distance", ["rpw", "pw", "sw"])
def test_the_distance_is_that_of_the_node_features(rng, distance):
    pairs, y = zoo(rng, 12)
    metric = gml.SGML(depth=1, n_epochs=1, distance=distance, n_projections=7, random_state=0).fit(pairs, y)
    clouds = []
    for a, x in pairs[:4]:
        mixing = a + np.eye(len(a))
        root = np.diag(1 / np.sqrt(mixing.sum(1)))
        clouds.append(np.maximum(root @ mixing @ root @ x @ metric.module_.theta.detach().numpy(), 0))
    options = {} if distance == "rpw" else {"projections": metric.rule_.directions.numpy()}
    wanted = gml.pairwise_distances(clouds, metric=distance, **options)
    np.testing.assert_allclose(metric.pairwise_distances(pairs[:4]), wanted, atol=1e-4)
    np.testing.assert_allclose(metric.pairwise_distances(pairs[:1], pairs[:4]), wanted[:1], atol=1e-4)
    np.testing.assert_allclose(metric.pairwise_distances(pairs[:4], squared=True), wanted**2, atol=1e-3)


@pytest.mark.parametrize("kind", ["attributes", "labels"])
def test_renumbered_nodes_are_at_distance_zero(rng, kind):
    graphs = random_graphs(rng, 30, kind=kind, smallest=5, largest=30)
    metric = gml.SGML(random_state=0, depth=3, n_epochs=2).fit(graphs, np.arange(30) % 2)
    distances = metric.pairwise_distances(graphs, [renumbered(graph, rng) for graph in graphs])
    assert np.diag(distances).max() < 1e-8 * np.median(distances)  # not a rounding error of float32


def test_vectors_bound_the_distance_from_below(rng):
    pairs, y = zoo(rng, 20)
    metric = gml.SGML(n_epochs=2, random_state=0).fit(pairs, y)
    vectors, exact = metric.transform(pairs), metric.pairwise_distances(pairs)
    gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    assert vectors.dtype == np.float32
    assert (gaps <= exact + 1e-5).all()
    assert gaps.sum() > 0.9 * exact.sum()


def test_one_seed_one_result(rng):
    pairs, y = zoo(rng)
    for options in ({}, {"distance": "pw", "n_projections": 5}, {"loss": gml.nccml}):
        one, two, three = (gml.SGML(n_epochs=2, random_state=s, **options).fit(pairs, y) for s in (3, 3, 4))
        assert torch.equal(one.module_.theta, two.module_.theta)
        assert not torch.equal(one.module_.theta, three.module_.theta)
    state = np.random.get_state()[1].copy(), torch.random.get_rng_state()  # noqa: NPY002
    gml.SGML(n_epochs=1, random_state=0).fit(pairs, y)
    assert (np.random.get_state()[1] == state[0]).all()  # noqa: NPY002
    assert torch.equal(torch.random.get_rng_state(), state[1])


def test_labels_of_any_kind(rng):
    pairs, y = zoo(rng)
    names = np.array(["ring", "hub"])[y]
    by_number = gml.SGML(n_epochs=2, random_state=0).fit(pairs, 1 - y)
    by_name = gml.SGML(n_epochs=2, random_state=0).fit(pairs, names)
    assert by_name.classes_.tolist() == ["hub", "ring"]
    assert torch.equal(by_number.module_.theta, by_name.module_.theta)
    from_data = gml.SGML(n_epochs=2, random_state=0).fit(as_pyg(pairs, 1 - y))
    assert torch.equal(by_number.module_.theta, from_data.module_.theta)
    as_list = gml.SGML(n_epochs=2, random_state=0).fit(pairs, names.tolist())
    assert torch.equal(as_list.module_.theta, by_name.module_.theta)


def test_graphs_with_nothing_but_edges():
    graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    metric = gml.SGML(random_state=0).fit(graphs, [0] * 8 + [1] * 8)
    assert metric.features_.kind_ == "degree"
    d = metric.pairwise_distances(graphs)
    assert d[:8, :8].mean() < d[:8, 8:].mean()


def test_names_of_attributes(rng):
    pairs, y = zoo(rng, 12)
    named = as_networkx(pairs, "charge")
    one = gml.SGML(n_epochs=1, random_state=0, attribute="charge").fit(named, y)
    two = gml.SGML(n_epochs=1, random_state=0).fit(pairs, y)
    assert torch.equal(one.module_.theta, two.module_.theta)


def test_labels_named_beside_attributes_are_not_left_out():
    """Two rings whose nodes stand at the same places and differ in their element."""
    rings = []
    for element in "CN":
        ring = nx.cycle_graph(4)
        nx.set_node_attributes(ring, {n: {"place": [float(n)], "element": element} for n in ring})
        rings.append(ring)
    metric = gml.SGML(attribute="place", label="element", n_epochs=0, random_state=0).fit(rings, [0, 1])
    assert metric.features_.kind_ == "fuse"
    assert metric.pairwise_distances(rings)[0, 1] > 0.1
    alone = gml.SGML(attribute="place", label="element", features="x", n_epochs=0, random_state=0).fit(rings, [0, 1])
    assert alone.pairwise_distances(rings)[0, 1] == 0


def test_warm_start_and_partial_fit_go_on(rng):
    pairs, y = zoo(rng)
    metric = gml.SGML(n_epochs=2, random_state=0, warm_start=True).fit(pairs, y)
    first = metric.module_.theta.detach().clone()
    metric.fit(pairs, y)
    assert len(metric.history_.loss) == 4
    assert metric.history_.loss[2] < metric.history_.loss[0]
    second = metric.module_.theta.detach().clone()
    assert not torch.equal(first, second)
    metric.partial_fit(pairs[:10], y[:10] + 5, n_epochs=1)
    assert metric.classes_.tolist() == [0, 1, 5, 6]
    assert len(metric.history_.loss) == 5
    assert not torch.equal(second, metric.module_.theta)
    fresh = gml.SGML(n_epochs=1, random_state=0).partial_fit(pairs, y)
    assert len(fresh.history_.loss) == 1
    refitted = clone(metric).set_params(warm_start=False).fit(pairs, y)
    assert len(refitted.history_.loss) == 2


def gin():
    from torch_geometric.nn import GIN

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.gin = GIN(3, 8, num_layers=2, out_channels=4)

        def forward(self, batch):
            return self.gin(batch.x, batch.edge_index)

    return Encoder()


def test_a_gin_as_encoder(rng, tmp_path):
    pairs, y = zoo(rng)
    encoder = gin()
    start = encoder.gin.convs[0].nn.lins[0].weight.detach().clone()
    metric = gml.SGML(encoder=encoder, n_epochs=4, random_state=0).fit(pairs, y)
    assert torch.equal(encoder.gin.convs[0].nn.lins[0].weight, start)  # the caller's module stays as it was
    assert metric.history_.loss[-1] < metric.history_.loss[0]
    metric.save(tmp_path / "gin")
    again = gml.SGML.load(tmp_path / "gin", encoder=gin())
    np.testing.assert_allclose(again.pairwise_distances(pairs), metric.pairwise_distances(pairs), atol=1e-6)
    with pytest.raises(ValueError, match="was made with Encoder"):
        gml.SGML.load(tmp_path / "gin")
    with pytest.raises(ValueError, match="do not fit this encoder"):
        gml.SGML.load(tmp_path / "gin", encoder=torch.nn.Linear(3, 3))


def test_a_model_of_pyg_as_it_is(rng):
    from torch_geometric.nn import GIN

    torch.manual_seed(0)
    pairs, y = zoo(rng)
    metric = gml.SGML(encoder=GIN(3, 8, 2, 4), n_epochs=2, random_state=0).fit(pairs, y)
    assert metric.embed(pairs).values.shape[2] == 4


def test_encoders_that_do_not_fit_are_said(rng):
    pairs, y = zoo(rng, 8)

    class Idle(torch.nn.Module):
        def forward(self, batch):
            return batch.x

    with pytest.raises(ValueError, match="no parameters to train"):
        gml.SGML(encoder=Idle()).fit(pairs, y)
    assert gml.SGML(encoder=Idle(), n_epochs=0).fit(pairs, y).pairwise_distances(pairs).shape == (8, 8)
    with pytest.raises(ValueError, match="failed on a batch with 3 node features"):
        gml.SGML(encoder=torch.nn.Linear(5, 2)).fit(pairs, y)
    with pytest.raises(ValueError, match="got str"):
        gml.SGML(encoder="gin").fit(pairs, y)


def test_a_loaded_metric_without_its_loss_says_so(rng, tmp_path):
    pairs, y = zoo(rng, 8)
    gml.SGML(loss=gml.nca, n_epochs=1, random_state=0).fit(pairs, y).save(tmp_path / "m")
    again = gml.SGML.load(tmp_path / "m")
    assert again.pairwise_distances(pairs).shape == (8, 8)
    with pytest.raises(ValueError, match="set_params"):
        again.partial_fit(pairs, y)


def test_a_loss_of_pytorch_metric_learning(rng):
    losses = pytest.importorskip("pytorch_metric_learning.losses", reason="pytorch-metric-learning is not installed")
    pairs, y = zoo(rng)
    metric = gml.SGML(loss=losses.ContrastiveLoss(), n_epochs=6, depth=1, random_state=0).fit(pairs, y)
    assert metric.history_.loss[-1] < metric.history_.loss[0]


def test_clone_params_and_pickle(rng):
    pairs, y = zoo(rng)
    metric = gml.SGML(depth=1, n_epochs=1, random_state=0)
    assert clone(metric).get_params() == metric.get_params()
    metric.fit(pairs, y)
    assert not hasattr(clone(metric), "module_")
    again = pickle.loads(pickle.dumps(metric))
    assert np.array_equal(again.pairwise_distances(pairs), metric.pairwise_distances(pairs))
    assert metric.fit_transform(pairs, y).shape[0] == len(pairs)


PAIRS, Y = zoo(np.random.default_rng(0), 8)


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({}, np.zeros(8), "one class"),
        ({}, Y[:7], r"8 graphs, but class labels of shape \(7,\)"),
        ({}, np.linspace(0, 1, 8) ** 2, "discrete"),
        ({}, [0, 1, np.nan, 0, 1, 0, 1, 0], "discrete|NaN"),
        ({}, None, "no class labels"),
        ({"depth": -1}, Y, "depth"),
        ({"depth": 1.5}, Y, "depth"),
        ({"n_components": 0}, Y, "n_components"),
        ({"batch_size": 1}, Y, "batch_size"),
        ({"learning_rate": 0.0}, Y, "learning_rate"),
        ({"distance": "w2"}, Y, "'w2'"),
        ({"loss": "triplet"}, Y, "'triplet'"),
        ({"features": "wl"}, Y, "'wl'"),
        ({"propagation": "mean"}, Y, "'mean'"),
        ({"activation": "gelu"}, Y, "'gelu'"),
        ({"ties": "optimal"}, Y, "canonical"),
        ({"ties": "x"}, Y, "'x'"),
        ({"batching": "x"}, Y, "'x'"),
        ({"device": "tpu9"}, Y, "'tpu9'"),
        ({"random_state": "a"}, Y, "random_state"),
    ],
)
def test_bad_options_get_one_clear_error(options, y, words):
    with pytest.raises(ValueError, match=words):
        gml.SGML(**options).fit(PAIRS, y)


def test_new_graphs_must_have_the_fitted_features():
    metric = gml.SGML(n_epochs=1, random_state=0).fit(PAIRS, Y)
    with pytest.raises(ValueError, match="2 node features, the metric was fitted with 3"):
        metric.transform([(a, x[:, :2]) for a, x in PAIRS])
    with pytest.raises(ValueError, match="graph 1"):
        metric.transform([PAIRS[0], (PAIRS[1][0], PAIRS[1][1][:-1])])


def test_cuda_without_a_card_is_said():
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    with pytest.raises(ValueError, match="no CUDA device"):
        gml.SGML(device="cuda").fit(PAIRS, Y)


def test_devices_learn_alike(rng, device):
    pairs, y = zoo(rng)
    here = gml.SGML(n_epochs=2, depth=1, random_state=0, device="cpu").fit(pairs, y)
    there = gml.SGML(n_epochs=2, depth=1, random_state=0, device=device).fit(pairs, y)
    torch.testing.assert_close(there.module_.theta.cpu(), here.module_.theta, rtol=1e-2, atol=1e-3)
    assert isinstance(there.pairwise_distances(pairs[:3]), np.ndarray)


def test_a_fitted_metric_moves(device, tmp_path):
    here = gml.SGML(n_epochs=1, random_state=0, device="cpu").fit(PAIRS, Y)
    there = gml.SGML.load(here.save(tmp_path / "metric")).to(device)
    assert there.module_.theta.device.type == device
    assert there.embed(PAIRS).device.type == device
    np.testing.assert_allclose(there.pairwise_distances(PAIRS), here.pairwise_distances(PAIRS), atol=1e-5)
    np.testing.assert_allclose(there.transform(PAIRS), here.transform(PAIRS), atol=1e-5)
    out = np.empty((len(PAIRS), len(PAIRS)), np.float32)
    assert there.pairwise_distances(PAIRS, out=out, precision="tf32") is out
    np.testing.assert_allclose(out, here.pairwise_distances(PAIRS), atol=1e-2)
    assert there.to("cpu").partial_fit(PAIRS, Y, n_epochs=1).module_.theta.device.type == "cpu"
    with pytest.raises(ValueError, match="'tpu'"):
        there.to("tpu")


def test_large_batches_learn_alike_on_all_devices(rng, device):
    pairs, y = zoo(rng, 80)
    fits = [gml.SGML(n_epochs=3, batch_size=64, random_state=0, device=d).fit(pairs, y) for d in ("cpu", device)]
    torch.testing.assert_close(fits[1].module_.theta.cpu(), fits[0].module_.theta, rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(fits[1].history_.loss, fits[0].history_.loss, rtol=1e-3)
