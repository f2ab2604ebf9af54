import subprocess
import sys

import numpy as np
import pytest

from graph_metric_learn_reproduction.baselines import (
    BASELINES,
    FGW,
    DescriptorSystem,
    KernelSystem,
    PairwiseSystem,
    kernel_distances,
)
from graph_metric_learn_reproduction.baselines.base import normalized
from small_graphs import random_graphs, renumbered

MATRIX_SYSTEMS = [name for name in BASELINES if not hasattr(BASELINES[name], "fit")]


def matrix(system, graphs):
    return system.kernel(graphs) if isinstance(system, KernelSystem) else system.distances(graphs)


def test_the_table_holds_every_system_by_its_name():
    assert set(BASELINES) == {
        *("w2", "w2-entropic", "fgw", "fgw-wl", "wwl", "wl-oa", "propak", "hgk-sp"),
        *("netlsd", "fgsd", "netsimile", "pscn", "mean-pool", "largest-class"),
        *("gin", "gine", "tfgw", "tw", "morgan-forest", "morgan-ridge", "chemprop"),
    }


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize(("features", "dataset"), [("labels", "NCI1"), ("degree", "IMDB-BINARY"), ("fuse", "ENZYMES")])
def test_every_setting_of_a_grid_is_one_that_the_system_takes(name, features, dataset):
    grid = BASELINES[name].grid(features, dataset)
    assert 1 <= len(grid) <= 6
    for setting in grid:
        assert setting.items() <= BASELINES[name](**setting).params.items()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown baseline 'wwl2': use one of 'w2', .*'largest-class'"):
        BASELINES["wwl2"]


@pytest.mark.parametrize("kind", ["labels", "attributes"])
@pytest.mark.parametrize("name", MATRIX_SYSTEMS)
def test_matrices_are_symmetric_and_distances_of_a_graph_to_itself_zero(name, kind, rng):
    graphs = random_graphs(rng, 7, kind=kind)
    system = BASELINES[name]()
    result = matrix(system, graphs)
    assert result.dtype == np.float64
    assert result.shape == (7, 7)
    assert (result == result.T).all()
    if isinstance(system, (DescriptorSystem, PairwiseSystem)):
        assert (np.diag(result) == 0).all()
        assert (result >= 0).all()
        assert result.max() > 0


@pytest.mark.parametrize("kind", ["labels", "attributes"])
@pytest.mark.parametrize("name", MATRIX_SYSTEMS)
def test_the_numbering_of_the_nodes_does_not_matter(name, kind, rng):
    if name == "fgw-wl" or (name, kind) == ("fgw", "labels"):
        pytest.skip("where labels make ties, the local minimum that is reached may depend on it")
    graphs = random_graphs(rng, 7, kind=kind)
    others = [renumbered(graph, rng) for graph in graphs]
    system = BASELINES[name]()
    np.testing.assert_allclose(matrix(system, graphs), matrix(system, others), atol=1e-9)


@pytest.mark.parametrize("system", ["netlsd", "fgsd", "netsimile", "fgw", "w2", "wwl"])
def test_a_renumbered_graph_is_at_distance_zero_not_at_a_rounding_error(system, rng):
    """Else rounding would choose among several equal neighbours."""
    graphs = random_graphs(rng, 6, smallest=5)
    others = [renumbered(graph, rng) for graph in graphs]
    distances = matrix(BASELINES[system](), [*graphs, *others])
    assert (np.diag(distances, 6) == 0).all()
    assert np.count_nonzero(distances) > 0


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("w2-entropic", {"reg": -1.0}), ("propak", {"width": 0.0}), ("propak", {"iterations": -1}),
        ("hgk-sp", {"width": 0}), ("hgk-sp", {"iterations": 0}), ("fgsd", {"bins": 0}),
        ("pscn", {"fields": 0}), ("pscn", {"learning_rate": 0}), ("wwl", {"depth": 1.5}), ("wl-oa", {"depth": -1}),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(name, options, rng):
    graphs, system = random_graphs(rng, 4), BASELINES[name](**options)
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be "):
        system.fit(graphs, [0, 1, 0, 1]) if name == "pscn" else matrix(system, graphs)


@pytest.mark.parametrize("name", ["w2", "wwl", "wl-oa", "propak", "hgk-sp", "mean-pool", "pscn"])
def test_graphs_without_features_are_refused(name):
    bare, system = [(np.ones((2, 2)), None)] * 2, BASELINES[name]()
    with pytest.raises(ValueError, match="no node features"):
        system.fit(bare, [0, 1]) if name == "pscn" else matrix(system, bare)


@pytest.mark.parametrize("name", ["w2", "fgw", "propak", "hgk-sp", "netlsd"])
def test_a_missing_package_says_what_to_install(name, monkeypatch, rng):
    system, graphs = BASELINES[name](), random_graphs(rng, 2)
    for module in system.needs:
        monkeypatch.setitem(sys.modules, module, None)
    assert system.missing() == list(system.needs)
    with pytest.raises(ImportError, match="install graph-metric-learn-reproduction"):
        matrix(system, graphs)


def test_importing_the_baselines_imports_none_of_their_packages():
    code = "import sys, graph_metric_learn_reproduction.baselines; print({'ot', 'grakel', 'netlsd'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


def test_kernel_distances_are_those_of_the_vectors_behind_the_kernel(rng):
    vectors = rng.normal(size=(5, 3))
    expected = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    np.testing.assert_allclose(kernel_distances(vectors @ vectors.T), expected, atol=1e-7)


def test_rounding_of_a_normalised_kernel_does_not_part_equal_graphs(rng):
    counts = np.repeat(rng.integers(1, 9, size=(40, 7)), 2, axis=0)
    distances = kernel_distances(normalized((counts @ counts.T).astype(float)))
    np.testing.assert_array_equal(distances[::2, 1::2].diagonal(), 0.0)
    assert np.all(distances[::2, ::2][~np.eye(40, dtype=bool)] > 0)


def test_a_graph_without_any_feature_is_like_itself_only():
    np.testing.assert_array_equal(normalized(np.diag([0.0, 4.0])), np.eye(2))


def test_graphs_are_read_with_float32_features_and_edge_data_only_if_used(rng):
    weights, x = np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([[0.1], [0.2]])
    plain, with_edges = FGW().read([(weights, x)]), FGW(edges=True).read([(weights, x)])
    assert plain.edge_data is None
    assert with_edges.edge_data.carries == ["weights"]
    assert plain.x.dtype == with_edges.x.dtype == np.float32
