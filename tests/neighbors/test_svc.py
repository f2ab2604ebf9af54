import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import graph_metric_learn as gml
from graph_zoo import zoo


@pytest.fixture(scope="module")
def data():
    pairs, y = zoo(np.random.default_rng(1), 60)
    return pairs[:40], y[:40], pairs[40:], y[40:]


def sgml(**options):
    return gml.SGML(**{"depth": 1, "n_epochs": 2, "random_state": 0, **options})


def test_svm_is_scikit_learns_on_the_kernel(data):
    train, y, test, _ = data
    clf = gml.GraphSVC(sgml(), gamma=0.5, C=3.0).fit(train, y)
    kernel = np.exp(-0.5 * clf.metric_.pairwise_distances(train).astype(float))
    wanted = SVC(C=3.0, kernel="precomputed").fit(kernel, y)
    k_test = np.exp(-0.5 * clf.metric_.pairwise_distances(test, train).astype(float))
    np.testing.assert_allclose(clf.decision_function(test), wanted.decision_function(k_test), atol=1e-6)
    assert (clf.predict(test) == wanted.predict(k_test)).all()


def test_accuracy_in_and_out_of_cross_validation(data):
    train, y, test, y_test = data
    assert gml.GraphSVC(sgml(n_epochs=5)).fit(train, y).score(test, y_test) >= 0.9
    assert cross_val_score(gml.GraphSVC(sgml(n_epochs=1)), train, y, cv=2).mean() >= 0.8


@pytest.mark.parametrize("name", ["gamma", "C"])
def test_bad_options_get_one_clear_error(data, name):
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"{name} must be positive"):
            gml.GraphSVC(**{name: value}).fit(*data[:2])
