import json

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime

from graph_metric_learn._core.schema import join, read, split
from graph_metric_learn.linalg.ridge import fit_ridge
from graph_metric_learn.metrics.automatic.kernel_ridge import (
    KernelRidge,
    KernelRidgeState,
    Part,
    mean_kernel,
    part_vectors,
)
from graph_metric_learn.metrics.automatic.kernels import FORMS, kernel_from_squares
from made_up_vectors import points_term, squares_of, tree_names, trees_term

COUNT = 50


def terms_and_vectors(rng):
    """Terms of each kind with their vectors: dense ones with and without projection, and sparse ones."""
    points, wide = rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 300))
    sizes = rng.integers(2, 9, COUNT)
    names = tree_names(rng, sizes)
    terms = {"points": points_term(points, "attributes@0"), "wide": points_term(wide, "attributes@1")}
    terms["trees"] = trees_term(names, sizes)
    embedded = {
        terms["points"].key: points.astype(np.float32),
        terms["wide"].key: wide.astype(np.float32),
        terms["trees"].key: terms["trees"].embedded({"trees@0": names}, sizes),
    }
    terms["wide"].compact(embedded[terms["wide"].key])
    terms["trees"].compact(embedded[terms["trees"].key])  # as in the distance; kernels take the rows as they are
    return terms, embedded


@pytest.fixture
def made(rng):
    terms, embedded = terms_and_vectors(rng)
    forms = {"points": "gaussian", "wide": "linear", "trees": "gaussian"}
    parts = [Part.fit(term, forms[name], embedded[term.key]) for name, term in terms.items()]
    parts.append(Part.fit(terms["trees"], "linear", embedded[terms["trees"].key]))
    outputs = np.stack([embedded[terms["points"].key][:, 0], rng.normal(size=COUNT)], axis=1).astype(float)
    outputs[:5, 1] = np.nan
    return KernelRidge.fit(parts, mean_kernel(parts, embedded), outputs, 0.1), terms, embedded, outputs


def rows(embedded, which):
    return {key: vectors[which] for key, vectors in embedded.items()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["points", "wide", "trees"])
def test_kernels_are_those_of_the_squared_distances(rng, form, name):
    terms, embedded = terms_and_vectors(rng)
    vectors = embedded[terms[name].key]
    part = Part.fit(terms[name], form, vectors)
    compared = part_vectors(terms[name], vectors)
    dense = compared.toarray() if sparse.issparse(compared) else compared
    assert dense.shape[1] == (49 if name == "wide" else vectors.shape[1])  # 50 points span 49 directions
    np.testing.assert_allclose(part.kernel(compared), kernel_from_squares(squares_of(dense), form), atol=1e-9)
    np.testing.assert_allclose(part.kernel(compared[:7]), part.kernel(compared)[:7], atol=1e-12)


def test_scores_of_training_graphs_are_the_kernel_times_the_weights(made):
    machine, _, embedded, outputs = made
    kernel = machine.kernel(embedded)
    np.testing.assert_allclose(machine.scores(embedded), kernel @ machine.weights + machine.mean)
    np.testing.assert_allclose(machine.mean, np.nanmean(outputs, axis=0))
    wanted = fit_ridge(kernel, outputs - machine.mean, machine.penalty)
    np.testing.assert_allclose(machine.weights, wanted)
    np.testing.assert_allclose(machine.scores(rows(embedded, slice(3, 9))), machine.scores(embedded)[3:9])


def test_the_mean_kernel_is_the_mean_over_the_parts(made):
    machine, _, embedded, _ = made
    each = [part.kernel(part_vectors(part.term, embedded[part.term.key])) for part in machine.parts]
    np.testing.assert_allclose(machine.kernel(embedded), np.mean(each, axis=0))


def test_gradients_along_the_line_add_up_to_the_difference_of_scores(made):
    """The fundamental theorem: ∫ ⟨∇f, u − v⟩ along the line from v to u is f(u) − f(v)."""
    machine, _, embedded, _ = made
    directions = np.array([[0.7, 1.0], [-1.3, 0.0]])
    for pair in ([0, 1], [2, 30], [11, 4]):
        both = rows(embedded, pair)
        gained = np.zeros(2)
        for term, gradients in machine.mean_gradients(machine.compared(both), directions):
            first, second = (vector.toarray() if sparse.issparse(vector) else vector for vector in both[term.key])
            gained += (np.ravel(first).astype(float) - np.ravel(second)) @ gradients
        scores = machine.scores(both) @ directions
        # projections round to float32
        np.testing.assert_allclose(gained, scores[0] - scores[1], atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["points", "trees"])
def test_a_part_gains_the_difference_to_the_last_digit(rng, form, name):
    terms, embedded = terms_and_vectors(rng)
    vectors = embedded[terms[name].key]
    part = Part.fit(terms[name], form, vectors)
    weights = rng.normal(size=(COUNT, 2))
    compared = part_vectors(terms[name], vectors)
    dense = compared.toarray() if sparse.issparse(compared) else compared
    for i, j in ((0, 1), (5, 40), (7, 7)):
        gradient = part.mean_gradient(dense[i], dense[j], weights)
        values = part.kernel(compared[[i, j]]) @ weights
        np.testing.assert_allclose((dense[i] - dense[j]) @ gradient, values[0] - values[1], atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["points", "trees"])
def test_the_gradient_at_a_place_is_that_of_finite_differences(rng, form, name):
    """From a place to itself nothing is averaged."""
    terms, embedded = terms_and_vectors(rng)
    vectors = embedded[terms[name].key]
    part, weights = Part.fit(terms[name], form, vectors), rng.normal(size=(COUNT, 1))
    at = np.ravel(vectors[[3]].toarray() if sparse.issparse(vectors) else vectors[3]).astype(float) + 0.1

    def value(place):
        row = sparse.csr_array(place[None]) if sparse.issparse(vectors) else place[None]
        return float((part.kernel(row) @ weights)[0, 0])

    numeric = approx_fprime(at, value, 1e-6)
    np.testing.assert_allclose(part.mean_gradient(at, at, weights)[:, 0], numeric, atol=1e-4 * np.abs(numeric).max())


def test_it_comes_back_from_its_state(made):
    machine, terms, embedded, _ = made
    config, arrays = split(machine.state())
    by_key = {term.key: term for term in terms.values()}
    again = KernelRidge.from_state(read(KernelRidgeState, join(json.loads(json.dumps(config)), arrays)), by_key, None)
    np.testing.assert_array_equal(again.scores(embedded), machine.scores(embedded))
    assert again.penalty == machine.penalty
    assert [(part.term.key, part.form) for part in again.parts] == [(p.term.key, p.form) for p in machine.parts]
