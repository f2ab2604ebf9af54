"""The house keeps its order: private names stay in their folder, tests mirror the modules, the map is true.

Which room may import which is checked by `lint-imports`; the length of functions, and that every module says what it is
for, by ruff. Both read pyproject.toml.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "graph_metric_learn"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def imported_names(module: Path) -> set[tuple[str, ...]]:
    """What a module imports of the package, as (room, …, name), also inside functions."""
    names = set()
    folder = module.parts[:-1]
    for node in ast.walk(ast.parse((PACKAGE / module).read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            path = (*folder[: len(folder) + 1 - node.level], *(node.module.split(".") if node.module else ()))
            names |= {(*path, alias.name) for alias in node.names}
    return names


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_private_names_stay_in_their_folder(module):
    for path in imported_names(module):
        private = [name for name in path if name.startswith("_") and name not in ("_core", "__version__")]
        assert not private or path[: len(module.parts) - 1] == module.parts[:-1], f"{module} imports {path}"


@pytest.mark.parametrize("module", [m for m in MODULES if m.name != "__init__.py"], ids=str)
def test_tests_mirror_the_modules(module):
    assert (ROOT / "tests" / module.parent / f"test_{module.name}").is_file()


def test_no_test_is_left_behind():
    """Every test file in a folder belongs to a module; at the top there are those of the whole."""
    whole = {Path("io/test_saved_models.py")}  # tests that go through several modules
    for path in (ROOT / "tests").rglob("test_*.py"):
        test = path.relative_to(ROOT / "tests")
        if len(test.parts) > 1 and test.parts[0] != "fuzz" and test not in whole:
            assert (PACKAGE / test.parent / test.name.removeprefix("test_")).is_file(), test


def test_the_map_names_every_room_and_only_files_that_are_there():
    """Rows of the map: | `room/` | what it is for | where to begin: `file.py` …, `folder/file.py` … |"""
    rows = re.findall(r"^\| `([\w/]+)/` \|(.*)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert {room.split("/")[0] for room, _ in rows} == rooms
    for room, row in rows:
        for name in re.findall(r"`([\w/]+\.py)`", row):
            assert (PACKAGE / room / name).is_file(), f"{room}/{name}"


def test_the_files_that_answer_where_something_is_are_there():
    files = re.findall(r"`([\w/]+\.py)`", (ROOT / "docs" / "where.md").read_text())
    assert len(files) > 10
    for name in files:
        assert (PACKAGE / name).is_file(), name
