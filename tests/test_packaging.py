"""What is released: versions agree, and the wheel holds all that the library reads from its own folders."""

import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser

import pytest

import graph_metric_learn as gml
from markdown_pages import ROOT

PACKAGE = ROOT / "src" / "graph_metric_learn"
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy by the tools of this environment: nothing is downloaded."""
    pytest.importorskip("build", reason="needs graph-metric-learn[dev]")
    where = tmp_path_factory.mktemp("wheel")
    shutil.copytree(PACKAGE, where / "src" / "graph_metric_learn", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, where)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(command, cwd=where, check=True, capture_output=True)
    (found,) = (where / "dist").glob("*.whl")
    with zipfile.ZipFile(found) as archive:
        yield archive


def test_the_wheel_holds_every_file_of_the_package(wheel):
    files = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    kinds = {path.suffix for path in files if path.suffix not in (".pyc", ".nbi", ".nbc")}
    assert {".py", ".html", ".css", ".js", ".md", ".typed"} <= kinds | {
        "." + path.name.split(".")[-1] for path in files
    }
    wanted = {str(path.relative_to(ROOT / "src")) for path in files if path.suffix in kinds}
    assert wanted <= set(wheel.namelist())


def test_the_wheel_says_what_it_is(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    said = Parser().parsestr(wheel.read(name).decode())
    assert said["Name"] == "graph-metric-learn"
    assert said["Version"] == gml.__version__
    assert said["License-Expression"] == "BSD-3-Clause"
    assert said["Requires-Python"] == ">=3.10"
    assert {"chem", "serve", "index", "dask", "docs", "dev"} <= set(said.get_all("Provides-Extra"))
    assert "Typing :: Typed" in said.get_all("Classifier")
    (commands,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "graph-metric-learn = graph_metric_learn.cli:console" in wheel.read(commands).decode()


def test_one_version_everywhere():
    version = gml.__version__
    assert f'\nversion = "{version}"\n' in (ROOT / "pyproject.toml").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^## \[(.*)\]", CHANGELOG, flags=re.MULTILINE)[:2] == ["Unreleased", version]


def test_every_dependency_has_its_licence_on_the_page():
    project = (ROOT / "pyproject.toml").read_text()
    page = (ROOT / "docs" / "licences.md").read_text().lower()
    names = set(re.findall(r'"([A-Za-z][\w-]*)>=', project)) - {"build", "setuptools"}
    assert len(names) > 25
    assert [name for name in sorted(names) if not re.search(rf"\b{name.lower()}\b", page)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_make(path):
    targets = re.findall(r"run: make ([\w-]+)", path.read_text())
    assert targets
    assert all(f"\n{target}:" in (ROOT / "Makefile").read_text() for target in targets)
    assert "run: " not in re.sub(r"run: make [\w-]+\n", "", path.read_text())  # nothing but make
