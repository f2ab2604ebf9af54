"""What is released: versions agree, and each wheel holds all that is its own, and nothing else."""

import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser

import pytest

import graph_metric_learn as gml
from markdown_pages import ROOT, links

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = [ROOT / ".ci" / "run", *WORKFLOWS]
# Where each distribution stands, and its package.
PROJECTS = {
    "graph-metric-learn": (ROOT, "graph_metric_learn"),
    "graph-metric-learn-reproduction": (ROOT / "reproduction", "graph_metric_learn_reproduction"),
    "graph-metric-learn-benchmarks": (ROOT / "benchmarks", "graph_metric_learn_benchmarks"),
}
COMMANDS = {
    "graph-metric-learn": "graph-metric-learn = graph_metric_learn.cli:console",
    "graph-metric-learn-reproduction": "reproduce = graph_metric_learn_reproduction.command",
    "graph-metric-learn-benchmarks": "bench = graph_metric_learn_benchmarks.command",
}


@pytest.fixture(scope="module", params=PROJECTS)
def built(request, tmp_path_factory):
    """A distribution and its wheel, built from a copy by the tools of this environment: nothing is downloaded."""
    pytest.importorskip("build", reason="needs graph-metric-learn[dev]")
    project, package = PROJECTS[request.param]
    copy = tmp_path_factory.mktemp("wheel")
    shutil.copytree(project / "src" / package, copy / "src" / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(project / name, copy)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    (path,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        yield request.param, wheel


def metadata(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def test_a_wheel_holds_every_file_of_its_package_and_nothing_else(built):
    name, wheel = built
    project, package = PROJECTS[name]
    compiled = {".pyc", ".nbi", ".nbc"}
    files = {path for path in (project / "src" / package).rglob("*") if path.is_file() and path.suffix not in compiled}
    held = {path for path in wheel.namelist() if ".dist-info/" not in path}
    assert held == {str(path.relative_to(project / "src")) for path in files}
    assert f"{package}/py.typed" in held


def test_a_wheel_says_what_it_is(built):
    name, wheel = built
    said = metadata(wheel)
    assert said["Name"] == name
    assert said["Version"] == gml.__version__
    assert said["License-Expression"] == "BSD-3-Clause"
    assert said["Requires-Python"] == ">=3.10"
    assert "Typing :: Typed" in said.get_all("Classifier")
    assert said.get_payload().startswith(f"# {name}")
    (commands,) = (path for path in wheel.namelist() if path.endswith("entry_points.txt"))
    group = "console_scripts" if name == "graph-metric-learn" else "graph_metric_learn.commands"
    assert wheel.read(commands).decode().split("\n")[:2] == [f"[{group}]", COMMANDS[name]]
    (licence,) = (path for path in wheel.namelist() if path.endswith("LICENSE"))
    assert wheel.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_what_the_wheels_need(built):
    name, wheel = built
    said = metadata(wheel)
    needed = {re.match(r"[\w-]+", line)[0].lower() for line in said.get_all("Requires-Dist") if "extra ==" not in line}
    if name == "graph-metric-learn":
        assert {"chem", "serve", "index", "dask", "docs", "dev", "optimal"} == set(said.get_all("Provides-Extra"))
        assert not needed & {"pot", "grakel", "netlsd", "rdkit", "markdown-it-py"}
        assert not any(one.startswith("graph-metric-learn-") for one in needed)
    else:
        assert "pot" in needed
        exact = {line for line in said.get_all("Requires-Dist") if line.startswith("graph-metric-learn")}
        assert all(line.endswith(f"=={gml.__version__}") for line in exact)


def test_one_version_everywhere():
    version = gml.__version__
    for project, _ in PROJECTS.values():
        assert f'\nversion = "{version}"\n' in (project / "pyproject.toml").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^## \[(.*)\]", CHANGELOG, flags=re.MULTILINE)[:2] == ["Unreleased", version]


def test_every_dependency_has_its_licence_on_the_page():
    page = (ROOT / "docs" / "licences.md").read_text().lower()
    projects = "\n".join((project / "pyproject.toml").read_text() for project, _ in PROJECTS.values())
    names = set(re.findall(r'"([A-Za-z][\w-]*)>=', projects)) - {"build", "setuptools"}
    assert len(names) > 25
    assert [name for name in sorted(names) if not re.search(rf"\b{name.lower()}\b", page)] == []


def test_every_dependency_has_its_lowest_version_pinned():
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / "constraints-lowest.txt").read_text(), re.MULTILINE))
    pinned = {name.lower(): version for name, version in pinned.items()}
    for project, _ in PROJECTS.values():
        for name, version in re.findall(r'"([A-Za-z][\w-]*)>=([\d.]+)', (project / "pyproject.toml").read_text()):
            exact = pinned.get(name.lower(), version)
            assert (exact + ".0.0").startswith(version), f"{name}: {exact} is not the lowest that is allowed, {version}"


@pytest.mark.parametrize("project", [project for project, _ in PROJECTS.values()], ids=lambda path: path.name)
def test_readmes_link_to_what_is_there(project):
    assert all((project / target).exists() for target, _ in links(project / "README.md"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_workflows_call_make(path):
    before = "- run: " if path.suffix == ".yml" else ""
    targets = re.findall(rf"^ *{before}make ([\w-]+)", path.read_text(), flags=re.MULTILINE)
    assert targets
    assert all(f"\n{target}:" in (ROOT / "Makefile").read_text() for target in targets)
    assert "run: " not in re.sub(r"run: make [\w-]+\n", "", path.read_text())  # nothing but make


@pytest.mark.parametrize(
    ("target", "needed"),
    [
        ("demo", ()),
        ("docs", ("reproduction",)),
        ("test", ("reproduction", "benchmarks")),
        ("test-lowest", ("benchmarks",)),
    ],
)
def test_make_installs_what_a_target_needs(target, needed):
    make = shutil.which("make")
    if make is None:
        pytest.skip("needs make")
    said = subprocess.run([make, "-nB", target], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert ".[chem]" in said or ".[dev]" in said
    for project in ("reproduction", "benchmarks"):
        if project in needed or not needed:
            assert (f"--editable ./{project}" in said) == (project in needed)
