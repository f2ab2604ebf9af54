"""The steps of the Dockerfile, run without Docker: in a folder that stands for the image."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from explorer_graphs import fitted
from markdown_pages import ROOT, blocks

httpx = pytest.importorskip("httpx", reason="needs graph-metric-learn[serve] and httpx")
pytest.importorskip("uvicorn", reason="needs graph-metric-learn[serve]")

TEXT = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
STEPS = [tuple(line.split(maxsplit=1)) for line in TEXT.splitlines() if line]


def arguments(instruction):
    return [text for name, text in STEPS if name == instruction]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The folder that stands for the root of the image, with all that is copied."""
    root = tmp_path_factory.mktemp("image")
    folder = root
    for name, text in STEPS:
        if name == "WORKDIR":
            folder = root / text.lstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            *sources, target = text.split()
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(
                        ROOT / source, folder / target, ignore=shutil.ignore_patterns("__pycache__", "*.nb?")
                    )
                else:
                    shutil.copy(ROOT / source, folder / target)
    return root


@pytest.fixture(scope="module")
def environment():
    """What is installed is found; nothing is downloaded, and nothing is installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    pip = {"PIP_NO_INDEX": "1", "PIP_DRY_RUN": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**os.environ, **pip, "PATH": path}


def pinned():
    """Whether the environment has the versions that the image gets."""
    pins = dict(re.findall(r"^(torch|numpy|rdkit)==([\d.]+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    return all(version(name).split("+")[0] == pin for name, pin in pins.items())


def test_the_page_says_how_it_is_built_and_run():
    (block,) = blocks(ROOT / "docs" / "serve.md", "console")
    head = (ROOT / "Dockerfile").read_text().partition("FROM")[0]
    assert re.findall(r"[^\s#`.,]+", block) == [
        word for word in re.findall(r"[^\s#`.,]+", head.partition("model: ")[2]) if word != "then"
    ]


def test_what_is_copied_is_not_ignored():
    lines = (ROOT / ".dockerignore").read_text().split()
    copied = {source for text in arguments("COPY") for source in text.split()[:-1]}
    assert lines[0] == "*"
    assert {f"!{source}" for source in copied} == {line for line in lines if line.startswith("!")}


@pytest.mark.skipif(not pinned(), reason="other versions are installed than the image gets")
@pytest.mark.parametrize("command", [text for text in arguments("RUN") if "pip install" in text])
def test_what_is_installed_can_be(image, environment, command):
    folder = image / arguments("WORKDIR")[0].lstrip("/")
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    if "--constraint" in command:
        assert "Would install graph-metric-learn" in done.stdout


def test_the_other_steps_run(image, environment):
    """With the compiled loops of this environment: to compile all anew takes a minute."""
    commands = [text for text in arguments("RUN") if "pip install" not in text]
    assert any("warm-up" in command for command in commands)
    assert "NUMBA_CACHE_DIR=/opt/numba-cache" in arguments("ENV")[0]
    for command in commands:
        mapped = re.sub(r"(?<= )/(?=\w)", f"{image}/", command)
        subprocess.run(["sh", "-c", mapped], cwd=image, env=environment, check=True, timeout=600)
    assert (image / "opt" / "numba-cache").is_dir()


def test_the_server_starts_and_is_found_healthy(image, environment):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    fitted().save(image / "model")
    (entry,), (command,), (health,) = arguments("ENTRYPOINT"), arguments("CMD"), arguments("HEALTHCHECK")
    (model,) = json.loads(command)
    assert arguments("EXPOSE") == ["8000"]
    line = [*json.loads(entry), str(image / model.lstrip("/"))]
    line = [port if word == "8000" else word for word in line]
    check = health.partition("CMD ")[2].replace("8000", port)
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True, cwd=image) as running:
        try:
            assert "serving" in running.stdout.readline()
            assert subprocess.run(["sh", "-c", check], env=environment, timeout=60).returncode == 0
            answer = httpx.get(f"http://127.0.0.1:{port}/health", timeout=60).json()
            assert answer["model"] == "GraphKNNClassifier"
        finally:
            running.terminate()
            start = time.monotonic()
            running.wait(60)
    assert time.monotonic() - start < 15
    assert subprocess.run(["sh", "-c", check], env=environment, stderr=subprocess.DEVNULL, timeout=60).returncode != 0
    assert arguments("USER") == ["10001"]  # not root
