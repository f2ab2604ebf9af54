import pickle
import re
import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone

import graph_metric_learn as gml
from graph_zoo import as_networkx, as_pyg, ring_or_hub, zoo
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
        ({}, Y[:7], "8 graphs, but 7 targets"),
        ({}, np.linspace(0, 1, 8) ** 2, 'the targets are numbers: use loss="mlkr"'),
        ({"task": "classes"}, np.linspace(0, 1, 8) ** 2, "discrete"),
        ({}, [0, 1, np.nan, 0, 1, 0, 1, 0], "class of graph 2 is missing"),
        ({}, None, "no class labels"),
        ({"loss": "mlkr"}, Y, 'the targets are classes: use loss="nccml", or say task="numbers"'),
        ({"task": "none"}, Y, "GraphMetric"),
        ({"task": "ranks"}, Y, "'ranks'"),
        ({"masses": "learnt"}, Y, "'learnt'"),
        ({"masses": "learned", "encoder": torch.nn.Linear(3, 2)}, Y, "leave encoder=None"),
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


# --- numbers ---------------------------------------------------------------------------------------------------------


def sized(rng, count=80):
    """Graphs with one telling feature among loud, idle ones, and the mean of the telling one: a number for each."""
    pairs, _ = zoo(rng, count)
    graphs = [(a, np.c_[rng.normal(size=len(x)) + rng.normal(), 2 * rng.normal(size=(len(x), 4))]) for a, x in pairs]
    return graphs, np.array([x[:, 0].mean() for _, x in graphs])


def nearest_error(metric, graphs, y):
    """Mean squared error of predicting each graph by its three nearest others."""
    d = metric.pairwise_distances(graphs)
    np.fill_diagonal(d, np.inf)
    return float(((y[np.argsort(d, axis=1)[:, :3]].mean(1) - y) ** 2).mean())


@pytest.mark.parametrize("options", [{}, {"masses": "learned"}, {"distance": "sw", "n_projections": 8}])
def test_learning_brings_like_numbers_together(rng, options):
    graphs, y = sized(rng)
    options = {"depth": 1, "loss": "mlkr", "batch_size": 20, "random_state": 0, **options}
    before, after = (gml.SGML(n_epochs=n, **options).fit(graphs, 7 + 100 * y) for n in (0, 20))
    assert after.history_.loss[-1] < 0.7 * after.history_.loss[0]
    assert nearest_error(after, graphs, y) < 0.7 * nearest_error(before, graphs, y)
    assert not hasattr(after, "classes_")
    assert after.objective_.centre_ == pytest.approx(7 + 100 * y.mean())


def test_the_unit_of_the_numbers_does_not_matter(rng):
    graphs, y = sized(rng, 20)
    options = {"loss": "mlkr", "n_epochs": 2, "random_state": 0}
    one, two = (gml.SGML(**options).fit(graphs, target).module_.theta for target in (y, 3 - 50 * y))
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_several_numbers_of_which_some_are_missing(rng):
    graphs, y = sized(rng, 30)
    options = {"loss": "mlkr", "n_epochs": 2, "depth": 1, "random_state": 0, "batch_size": 10}
    both = np.c_[y, rng.normal(size=30)]
    both[::3, 1] = np.nan
    metric = gml.SGML(**options).fit(graphs, both)
    assert np.isfinite(metric.history_.loss).all()
    alone = gml.SGML(**options).fit(graphs, y)
    assert not torch.equal(alone.module_.theta, metric.module_.theta)
    from_data = gml.SGML(**options).fit(
        [graph.update({"y": torch.from_numpy(row[None])}) for graph, row in zip(as_pyg(graphs), both, strict=True)]
    )
    assert torch.equal(from_data.module_.theta, metric.module_.theta)


def test_whole_numbers_are_numbers_where_that_is_said(rng):
    graphs, y = sized(rng, 30)
    grades = np.rint(3 * y).astype(int)
    metric = gml.SGML(loss="mlkr", task="numbers", n_epochs=1, random_state=0).fit(graphs, grades)
    assert metric.objective_.centre_ == pytest.approx(grades.mean())
    by_class = gml.SGML(task="classes", n_epochs=1, random_state=0).fit(graphs, np.arange(30))
    assert len(by_class.classes_) == 30
    with pytest.raises(ValueError, match='task="numbers"'):
        gml.SGML(n_epochs=1).fit(graphs, np.arange(30))


def test_training_on_numbers_goes_on_in_the_same_units(rng):
    graphs, y = sized(rng, 40)
    metric = gml.SGML(loss="mlkr", n_epochs=2, random_state=0).fit(graphs, y)
    centre, theta = metric.objective_.centre_.copy(), metric.module_.theta.detach().clone()
    metric.partial_fit(graphs[:20], 10 * y[:20], n_epochs=1)
    assert metric.history_.loss[2] > 10 * metric.history_.loss[1]  # not scaled anew
    assert np.array_equal(metric.objective_.centre_, centre)
    assert not torch.equal(metric.module_.theta, theta)
    with pytest.raises(ValueError, match="2 numbers per graph, the metric was fitted with 1"):
        metric.partial_fit(graphs[:20], np.c_[y, y][:20])
    metric.set_params(loss="nca")
    with pytest.raises(ValueError, match='use loss="mlkr"'):
        metric.partial_fit(graphs, y)
    metric.set_params(loss="nccml").fit(graphs, y > 0)
    assert metric.classes_.tolist() == [False, True]


def test_a_loss_of_ones_own_gets_standardised_numbers(rng):
    graphs, y = sized(rng, 24)
    seen = []

    def keep(squared_distances, targets):
        seen.append(targets)
        return gml.mlkr(squared_distances, targets)

    own = gml.SGML(loss=keep, n_epochs=1, random_state=0).fit(graphs, y)
    assert own.history_.loss == gml.SGML(loss="mlkr", n_epochs=1, random_state=0).fit(graphs, y).history_.loss
    every = torch.cat(seen)
    assert every.shape == (24, 1)
    assert float(every.mean()) == pytest.approx(0, abs=1e-9)
    assert float(every.std(correction=0)) == pytest.approx(1)


def test_losses_on_vectors_are_for_classes(rng):
    losses = pytest.importorskip("pytorch_metric_learning.losses", reason="pytorch-metric-learning is not installed")
    with pytest.raises(ValueError, match="ContrastiveLoss learns from classes"):
        gml.SGML(loss=losses.ContrastiveLoss()).fit(PAIRS, np.linspace(0, 1, 8) ** 2)


# --- learned masses --------------------------------------------------------------------------------------------------


def spotted(rng, count=60):
    """The class is the place of the few nodes that are marked (feature 0); the places of the many others are noise."""
    graphs, y = [], np.arange(count) % 2
    for kind in y:
        n = int(rng.integers(8, 14))
        marked = np.arange(n) < 2
        place = np.where(marked, 2.0 * kind, 2 * rng.normal(size=n))
        graphs.append((np.zeros((n, n)), np.c_[marked, place, np.abs(place)]))
    return graphs, y


def test_learned_masses_find_the_nodes_that_matter(rng):
    graphs, y = spotted(rng)
    ratios = []
    for masses in ("uniform", "learned"):
        metric = gml.SGML(masses=masses, depth=0, n_epochs=20, random_state=0).fit(graphs, y)
        d = metric.pairwise_distances(graphs)
        same = y[:, None] == y[None]
        ratios.append(d[same].mean() / d[~same].mean())
    assert ratios[1] < 0.7 * ratios[0]
    assert metric.module_.attention[0] > 0.5
    marked = metric.explain(graphs[0], graphs[1]).plan.sum(1)[:2].sum()
    assert marked > 1.5 * 2 / len(graphs[0][0])


@pytest.mark.parametrize("loss", ["nccml", "nca-paper", "mlkr", gml.nca])
def test_training_starts_at_uniform_masses(rng, loss):
    pairs, y = zoo(rng, 24)
    target = y + 0.1 * rng.normal(size=24) if loss == "mlkr" else y
    options = {"loss": loss, "random_state": 0}
    start, plain = (gml.SGML(n_epochs=0, masses=m, **options).fit(pairs, target) for m in ("learned", "uniform"))
    np.testing.assert_allclose(start.pairwise_distances(pairs), plain.pairwise_distances(pairs), atol=1e-5)
    first, wanted = (
        gml.SGML(n_epochs=1, batch_size=24, masses=m, **options).fit(pairs, target) for m in ("learned", "uniform")
    )
    assert first.history_.loss[0] == pytest.approx(wanted.history_.loss[0], rel=1e-4)
    assert first.module_.attention.abs().max() > 0


def test_distances_of_learned_masses_are_those_of_the_weighted_clouds(rng):
    pairs, y = zoo(rng, 12)
    metric = gml.SGML(depth=1, n_epochs=5, masses="learned", random_state=0).fit(pairs, y)
    clouds, masses = [], []
    for a, x in pairs[:5]:
        mixing = a + np.eye(len(a))
        root = np.diag(1 / np.sqrt(mixing.sum(1)))
        smooth = root @ mixing @ root @ x
        clouds.append(np.maximum(smooth @ metric.module_.theta.detach().numpy(), 0))
        weights = np.exp(smooth / metric.module_.scale.numpy() @ metric.module_.attention.detach().numpy())
        masses.append(weights / weights.sum())
    assert max(np.ptp(a) for a in masses) > 0.02
    wanted = gml.pairwise_distances(clouds, weights=masses)
    np.testing.assert_allclose(metric.pairwise_distances(pairs[:5]), wanted, atol=1e-4)
    assert np.abs(wanted - gml.pairwise_distances(clouds)).max() > 1e-2
    vectors = metric.transform(pairs[:5])
    gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    assert (gaps <= wanted + 1e-4).all()
    assert gaps.sum() > 0.9 * wanted.sum()


@pytest.mark.parametrize("kind", ["attributes", "labels"])
def test_renumbered_nodes_with_learned_masses_are_at_distance_zero(rng, kind):
    graphs = random_graphs(rng, 30, kind=kind, smallest=5, largest=30)
    metric = gml.SGML(random_state=0, depth=3, n_epochs=2, masses="learned").fit(graphs, np.arange(30) % 2)
    distances = metric.pairwise_distances(graphs, [renumbered(graph, rng) for graph in graphs])
    assert np.diag(distances).max() < 1e-8 * np.median(distances)


def test_losses_on_vectors_learn_masses_too(rng):
    losses = pytest.importorskip("pytorch_metric_learning.losses", reason="pytorch-metric-learning is not installed")
    pairs, y = zoo(rng)
    metric = gml.SGML(loss=losses.ContrastiveLoss(), n_epochs=2, masses="learned", random_state=0).fit(pairs, y)
    assert metric.module_.attention.abs().max() > 0


def test_devices_learn_masses_alike(rng, device):
    pairs, y = zoo(rng)
    options = {"n_epochs": 2, "depth": 1, "random_state": 0, "masses": "learned"}
    here, there = (gml.SGML(device=where, **options).fit(pairs, y) for where in ("cpu", device))
    torch.testing.assert_close(there.module_.attention.cpu(), here.module_.attention, rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(there.pairwise_distances(pairs), here.pairwise_distances(pairs), rtol=0.05, atol=1e-2)


# --- what edges carry ------------------------------------------------------------------------------------------------


def two_groups_or_none(rng, kind, n=40):
    """Complete network with weights: of two groups that hold together (kind 1), or of none (kind 0), of equal mean."""
    group = rng.permutation(n) < n // 2
    mean = np.where(group[:, None] == group, 0.65, 0.35) if kind else np.full((n, n), 0.5)
    upper = np.triu(np.clip(mean + 0.1 * rng.normal(size=(n, n)), 0.01, 1.0), 1)
    return upper + upper.T, None


def carrying(rng, count=12, *, directed=False):
    """PyG graphs with x, edge_attr (vectors), edge_type and edge_weight; every edge listed both ways, or one way."""
    graphs = []
    for graph in as_pyg([ring_or_hub(int(n), i % 2, rng) for i, n in enumerate(rng.integers(5, 9, count))]):
        upper = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
        m = upper.shape[1]
        data = {
            "edge_attr": rng.normal(size=(m, 2)),
            "edge_type": rng.integers(0, 3, m),
            "edge_weight": rng.random(m) + 1,
        }
        graph.edge_index = upper if directed else torch.cat([upper, upper.flip(0)], dim=1)
        for name, values in data.items():
            graph[name] = torch.from_numpy(values if directed else np.concatenate([values, values]))
        graphs.append(graph)
    return graphs, np.arange(count) % 2


def test_classes_that_are_only_in_weights(rng):
    y = np.arange(300) % 2
    graphs = [two_groups_or_none(rng, kind) for kind in y]
    scores = {}
    for sums in (False, True):
        metric = gml.SGML(edge_sums=sums, n_epochs=3, random_state=0)
        model = gml.GraphKNNClassifier(metric, n_neighbors=3).fit(graphs[:200], y[:200])
        scores[sums] = model.score(graphs[200:], y[200:])
    assert scores[True] >= 0.9
    assert scores[False] < 0.8


@pytest.mark.parametrize("propagation", ["symmetric", "sum", "in", "out"])
def test_weights_and_directions_are_those_of_the_formula(rng, propagation):
    """The distance is that of clouds that were propagated with dense matrices."""
    graphs, y = carrying(rng, directed=True)
    options = {"directed": True, "propagation": propagation, "depth": 2, "n_epochs": 1, "random_state": 0}
    metric = gml.SGML(**options).fit(graphs, y)
    clouds = []
    for graph in graphs:
        n, (tails, heads) = graph.num_nodes, graph.edge_index.numpy()
        arcs = np.zeros((n, n))
        arcs[tails, heads] = graph.edge_weight / graph.edge_weight.mean()
        weights = {"in": arcs.T, "out": arcs}.get(propagation, arcs + arcs.T) + np.eye(n)
        degrees = weights.sum(1)[:, None]
        step = {"symmetric": weights / np.sqrt(degrees * degrees.T), "sum": weights}.get(propagation, weights / degrees)
        clouds.append(np.maximum(step @ step @ graph.x.numpy() @ metric.module_.theta.detach().numpy(), 0))
    np.testing.assert_allclose(metric.pairwise_distances(graphs), gml.pairwise_distances(clouds), rtol=1e-4, atol=1e-5)


def test_edges_false_sees_edges_that_are_there_or_not(rng):
    pairs, y = zoo(rng, 20)
    weighted = [(a * rng.normal(size=a.shape), x) for a, x in pairs]  # also directed: both directions differ
    plain = gml.SGML(n_epochs=2, random_state=0).fit(pairs, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without = gml.SGML(n_epochs=2, random_state=0, edges=False, edge_sums=True).fit(weighted, y)
    assert torch.equal(without.module_.theta, plain.module_.theta)
    np.testing.assert_array_equal(without.transform(weighted), plain.transform(pairs))
    assert not np.array_equal(
        gml.SGML(n_epochs=2, random_state=0).fit(weighted, y).transform(weighted), plain.transform(pairs)
    )


def test_what_is_not_used_is_said_once_per_fit(rng):
    graphs, y = carrying(rng)
    everything = "edge labels .* edge vectors .*edge_attr.*which this metric does not use: edge_sums=True"
    for call in (
        lambda: gml.SGML(n_epochs=1, random_state=0).fit(graphs, y),
        lambda: gml.GraphKNNClassifier(gml.SGML(n_epochs=1, random_state=0), n_neighbors=1).fit(graphs, y),
        lambda: gml.fit_many([gml.SGML(n_epochs=1, random_state=s) for s in range(3)], graphs, y),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        said = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
        assert len(said) == 1
        assert re.search(everything, said[0])
        assert "edge weights" not in said[0]
    metric = gml.SGML(n_epochs=1, random_state=0, edge_sums=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        metric.fit(graphs, y).partial_fit(graphs, y).pairwise_distances(graphs)
    with pytest.warns(UserWarning, match="edge directions"):
        gml.SGML(n_epochs=1, directed=True).fit(carrying(rng, directed=True)[0], y)


def test_names_of_what_networkx_edges_carry(rng):
    graphs = as_networkx(zoo(rng, 10)[0])
    for graph in graphs:
        for ends in graph.edges:
            del graph.edges[ends]["weight"]  # all 1
            graph.edges[ends].update(
                bond="ab"[int(rng.integers(2))], length=[float(rng.random())], strength=rng.random()
            )
    names = {"edge_label": "bond", "edge_attribute": "length", "edge_weight": "strength"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        metric = gml.SGML(**names, edge_sums=True, n_epochs=1, random_state=0).fit(graphs, np.arange(10) % 2)
    assert metric.edge_sums_.reading.carries == ["labels", "vectors", "weights"]
    with pytest.warns(
        UserWarning, match="edge attribute 'bond', edge attribute 'length' and edge attribute 'strength'"
    ):
        gml.SGML(n_epochs=1).fit(graphs, np.arange(10) % 2)


@pytest.mark.parametrize(
    "options", [{"edge_sums": True}, {"propagation": "in"}, {"edge_sums": True, "propagation": "out"}]
)
def test_metrics_with_edges_come_back(rng, tmp_path, options):
    graphs, y = carrying(rng, directed=True)
    metric = gml.SGML(n_epochs=1, random_state=0, directed=True, **options).fit(graphs, y)
    metric.save(tmp_path / "metric")
    again = gml.load(tmp_path / "metric")
    np.testing.assert_array_equal(again.pairwise_distances(graphs), metric.pairwise_distances(graphs))
    again.partial_fit(graphs, y, n_epochs=1)
    assert not np.array_equal(again.pairwise_distances(graphs), metric.pairwise_distances(graphs))


def test_new_graphs_are_read_as_those_in_fit(rng):
    graphs, y = carrying(rng)
    y_less = [graph.clone() for graph in graphs]
    for graph in y_less:
        del graph.edge_weight, graph.edge_attr, graph.edge_type
    fitted_without = gml.SGML(n_epochs=1, random_state=0).fit(y_less, y)
    np.testing.assert_array_equal(fitted_without.transform(graphs), fitted_without.transform(y_less))
    trees = [nx.random_labeled_tree(6, seed=i) for i in range(10)]
    arrows = [nx.DiGraph(list(nx.bfs_edges(tree, 0))) for tree in trees]
    metric = gml.SGML(propagation="in", n_epochs=1, random_state=0).fit(arrows, np.arange(10) % 2)
    assert metric.directed_
    both_ways = [tree.to_directed() for tree in trees]
    np.testing.assert_array_equal(metric.transform(both_ways), metric.transform(trees))
    assert not np.array_equal(metric.transform(arrows), metric.transform(trees))
    refitted = metric.fit(trees, np.arange(10) % 2)
    assert not refitted.directed_
    np.testing.assert_array_equal(refitted.transform(arrows), refitted.transform(trees))


def test_shares_of_nodes_with_edge_sums(rng):
    graphs, y = carrying(rng)
    metric = gml.SGML(n_epochs=1, random_state=0, edge_sums=True).fit(graphs, y)
    said = metric.explain(graphs[0], graphs[1])
    np.testing.assert_allclose(said.distance, metric.pairwise_distances(graphs[:1], graphs[1:2])[0, 0], rtol=1e-5)
    np.testing.assert_allclose([said.source_share.sum(), said.target_share.sum()], 1.0, rtol=1e-6)


def test_renumbering_and_orientation_change_nothing_with_edge_data(rng):
    graphs, y = carrying(rng)
    metric = gml.SGML(n_epochs=1, random_state=0, edge_sums=True).fit(graphs, y)
    other = []
    for graph in graphs:
        order, edges = (
            torch.from_numpy(rng.permutation(graph.num_nodes)),
            torch.from_numpy(rng.permutation(graph.num_edges)),
        )
        moved = graph.clone()
        moved.x = graph.x[torch.argsort(order)]
        moved.edge_index = order[graph.edge_index][:, edges].flip(0)
        for name in ("edge_attr", "edge_type", "edge_weight"):
            moved[name] = graph[name][edges]
        other.append(moved)
    distances = metric.pairwise_distances(graphs, other)
    assert np.diag(distances).max() < 1e-5 * np.median(distances)


def test_huge_offsets_are_said_and_centred(rng):
    pairs, y = zoo(rng, 40)
    far = [(a, x + 1e8) for a, x in pairs]
    with pytest.warns(UserWarning, match="lie so far from 0"):
        gml.SGML(n_epochs=1, random_state=0).fit(far, y)
    near, moved = (
        gml.SGML(features="attributes", n_epochs=2, random_state=0).fit(g, y).pairwise_distances(g)
        for g in (pairs, far)
    )
    np.testing.assert_allclose(moved, near, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "nodes", "edges"),
    [
        ({"features": "degree"}, None, None),
        ({"features": "x"}, ("charge",), None),
        ({"features": "degree", "edge_sums": True}, None, ("length",)),
    ],
)
def test_only_columns_that_are_used_must_be_there(options, nodes, edges):
    def ring(n, **names):
        graph = nx.cycle_graph(n)
        nx.set_node_attributes(graph, [float(n)], "x")
        nx.set_edge_attributes(graph, [float(n)], "edge_attr")
        graph.graph.update(names)
        return graph

    graphs = [ring(n, node_columns=["charge"], edge_columns=["length"]) for n in (3, 4, 5, 6)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metric = gml.SGML(n_epochs=1, random_state=0, **options).fit(graphs, [0, 1, 0, 1])
        (batched,) = gml.fit_many([clone(metric)], graphs, [0, 1, 0, 1])
    for fitted in (metric, batched):
        assert (fitted.columns_.nodes, fitted.columns_.edges) == (nodes, edges)
        for name, used in (("node_columns", nodes), ("edge_columns", edges)):
            other = ring(4, **{name: ["mass"]})
            if used is None:
                assert np.isfinite(fitted.transform([other])).all()
            else:
                with pytest.raises(ValueError, match="unknown: 'mass'"):
                    fitted.transform([other])


def test_training_that_goes_on_keeps_the_columns():
    def rings(*names):
        graphs = [nx.cycle_graph(n) for n in (3, 4, 5, 6)]
        for n, graph in enumerate(graphs):
            nx.set_node_attributes(graph, [{"charge": n, "mass": -9.0 * n * n}[name] for name in names], "x")
            graph.graph["node_columns"] = list(names)
        return graphs

    y, wanted = [0, 1, 0, 1], gml.SGML(n_epochs=2, random_state=0, warm_start=True)
    wanted.fit(rings("charge", "mass"), y).fit(rings("charge", "mass"), y).partial_fit(rings("charge", "mass"), y)
    metric = clone(wanted)
    metric.fit(rings("charge", "mass"), y).fit(rings("mass", "charge"), y).partial_fit(rings("mass", "charge"), y)
    assert metric.columns_.nodes == ("charge", "mass")
    torch.testing.assert_close(metric.module_.theta, wanted.module_.theta, rtol=0, atol=0)
