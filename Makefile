# `make demo` and `make test` set up everything they need in .venv, on a machine with Python >= 3.10 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint setup clean pictures

demo: $(VENV)/.installed
	$(BIN)/graph-metric-learn demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: $(VENV)/.installed-dev

# Pictures of the explorer for the documentation, from the pages of the demo; needs Debian's chromium.
pictures: $(VENV)/.installed-dev demo
	$(BIN)/python tests/take_pictures.py demo-report

# torch first and alone: a resolver that sees other packages' wishes first may pick a build with gigabytes of CUDA.
$(VENV)/.torch: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^torch==' constraints.txt)
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
