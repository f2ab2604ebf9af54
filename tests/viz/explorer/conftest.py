import pytest

import explorer_graphs


@pytest.fixture(scope="session")
def rings_and_stars():
    return explorer_graphs.rings_and_stars()


@pytest.fixture(scope="session")
def classifier():
    return explorer_graphs.fitted()
