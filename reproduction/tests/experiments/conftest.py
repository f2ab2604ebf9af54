import pytest

from graph_zoo import write_tu


@pytest.fixture
def root(tmp_path):
    """A folder with the TU dataset TOY: 20 stars and 20 rings."""
    return write_tu(tmp_path / "data", 40).parent
