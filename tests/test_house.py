"""The house keeps its order: imports go one way, every module is on the map and has its tests, no file grows large."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "graph_metric_learn"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

# What each room may import from, beside itself. `__init__.py` of the package may name all of them.
_INNER = {"_core", "graphs", "features", "transport", "embeddings", "objectives", "persistence"}
MAY_USE = {
    "_core": set(),
    "graphs": {"_core"},
    "transport": {"_core"},
    "features": {"_core", "graphs"},
    "embeddings": {"_core", "transport"},
    "objectives": {"_core", "graphs"},
    "persistence": {"_core", "transport"},
    "datasets": {"_core", "graphs"},
    "metrics": _INNER,
    "index": {*_INNER, "metrics"},
    "neighbors": {*_INNER, "metrics", "index"},
    "baselines": {"_core", "graphs", "features", "transport", "objectives"},
    "report": {*_INNER, "metrics", "index", "neighbors", "datasets"},
    "experiments": {*_INNER, "metrics", "index", "neighbors", "datasets", "baselines", "report"},
    "bench": {*_INNER, "metrics", "index", "neighbors", "datasets", "baselines", "report", "experiments"},
    "cli": {*_INNER, "metrics", "index", "neighbors", "datasets", "baselines", "report", "experiments", "bench"},
}
# An old public name, `graphs.NodeFeatures`, that is looked up when somebody asks for it.
EXCEPTIONS = {("graphs/__init__.py", "features")}


def room_of(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imports(module: Path) -> set[tuple[str, ...]]:
    """What a module imports of the package, as (room, …, name), also inside functions."""
    found = set()
    package = module.parts[:-1]
    for node in ast.walk(ast.parse((PACKAGE / module).read_text())):
        if isinstance(node, ast.ImportFrom):
            target = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                target = (*package[: len(package) + 1 - node.level], *target)
            elif target[:1] == (PACKAGE.name,):
                target = target[1:]
            else:
                continue
            found |= {(*target, name.name) for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {tuple(n.name.split(".")[1:]) for n in node.names if n.name.startswith(f"{PACKAGE.name}.")}
    return found


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_no_room_reaches_back(module):
    room = room_of(module)
    if room in ("__init__", "__main__"):
        return
    used = {target[0] for target in imports(module) if target and target[0] != "__version__"} - {room}
    allowed = MAY_USE[room] | {used for path, used in EXCEPTIONS if path == str(module)}
    assert used <= allowed, f"{module} imports from {sorted(used - allowed)}"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_private_names_stay_in_their_folder(module):
    for target in imports(module):
        private = [name for name in target if name.startswith("_") and name not in ("_core", "__version__")]
        assert not private or target[: len(module.parts) - 1] == module.parts[:-1], f"{module} imports {target}"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_loops_are_compiled_in_one_way(module):
    """The decorators of `_core.compiled` find a place for their cache where the package folder cannot be written."""
    own = str(module) == "_core/compiled.py"
    assert own or not re.search(r"from numba import .*jit|numba\.n?jit", (PACKAGE / module).read_text())


def test_the_two_metrics_do_not_know_each_other():
    for module in MODULES:
        if module.parts[:2] == ("metrics", "automatic"):
            assert not any(target[:2] == ("metrics", "sgml") for target in imports(module)), module
        if module.parts[:2] == ("metrics", "sgml"):
            assert not any(target[:2] == ("metrics", "automatic") for target in imports(module)), module


@pytest.mark.parametrize("module", [m for m in MODULES if m.name != "__init__.py"], ids=str)
def test_tests_mirror_the_modules(module):
    assert (ROOT / "tests" / module.parent / f"test_{module.name}").is_file()


def test_no_test_is_left_behind():
    """Every test file in a folder belongs to a module; at the top there are those of the whole."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        place = path.relative_to(ROOT / "tests")
        whole = {Path("persistence/test_saved_models.py")}  # tests that go through several modules
        if len(place.parts) > 1 and place.parts[0] != "fuzz" and place not in whole:
            assert (PACKAGE / place.parent / place.name.removeprefix("test_")).is_file(), place


def test_files_stay_small():
    lines = sorted(
        len((PACKAGE / module).read_text().splitlines()) for module in MODULES if module.name != "__init__.py"
    )
    assert lines[-1] <= 400
    assert lines[len(lines) // 2] < 180


def test_the_map_lists_every_module():
    """Rows of the map: | `folder/` | what it is for | `file.py` …, `file.py` … |"""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `([\w/]+)/` \|.*$", text, re.MULTILINE)
    assert len(rows) == len(set(rows))
    listed = set()
    for folder, row in re.findall(r"^\| `([\w/]+)/` \|(.*)$", text, re.MULTILINE):
        listed |= {f"{folder}/{name}" for name in re.findall(r"`(\w+\.py)`", row)}
    listed |= set(re.findall(r"^\| `(\w+\.py)` \|", text, re.MULTILINE))
    there = {str(module) for module in MODULES if module.name != "__init__.py"}
    assert listed == there, f"missing: {sorted(there - listed)}; gone: {sorted(listed - there)}"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_says_what_it_is_for(module):
    said = ast.get_docstring(ast.parse((PACKAGE / module).read_text()))
    assert said
    assert said.splitlines()[0].endswith((".", ":"))
