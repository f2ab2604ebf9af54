# `make demo` and `make test` set up everything they need in .venv, on a machine with Python >= 3.10 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# The library with all that tests and linters need, and the distributions beside it.
ALL := --editable ".[dev]" --editable ./reproduction --editable ./benchmarks
PROJECTS := pyproject.toml reproduction/pyproject.toml benchmarks/pyproject.toml

.PHONY: demo test test-bounds test-lowest fuzz lint docs build setup clean pictures

demo: $(VENV)/.installed
	$(BIN)/graph-metric-learn demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2

# The tests of compiled loops once more, every index checked; loops compiled so are kept apart from the others.
test-bounds: $(VENV)/.installed-dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/bounds $(BIN)/python -m pytest -n 2 tests/transport/kernels \
		tests/transport/test_walks.py tests/transport/test_ordering.py tests/transport/test_grids.py \
		tests/features/test_structure.py tests/features/test_propagation.py tests/embeddings/test_axes.py \
		tests/embeddings/test_reference.py tests/objectives/test_votes.py tests/metrics/sgml/training/test_compiled_step.py

# Damaged files and odd inputs for as long as one likes: make fuzz SECONDS=3600 SEED=7
SECONDS ?= 600
SEED ?= 1
fuzz: $(VENV)/.installed-dev
	GRAPH_METRIC_LEARN_FUZZ_SECONDS=$(SECONDS) GRAPH_METRIC_LEARN_FUZZ_SEED=$(SEED) \
		$(BIN)/python -m pytest -rP tests/fuzz/test_saved.py tests/fuzz/test_inputs.py tests/fuzz/test_index.py \
		tests/fuzz/test_commands.py

# The suite with the lowest versions that pyproject.toml allows, in an environment of its own.
LOWEST := .venv-lowest
test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n 2

$(LOWEST)/.installed: constraints-lowest.txt $(PROJECTS)
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python $(PIP_INSTALL) $$(grep '^torch==' constraints-lowest.txt)
	$(LOWEST)/bin/python $(PIP_INSTALL) --constraint constraints-lowest.txt $(ALL)
	touch $@

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The site, into docs/_build/html; warnings are errors. GALLERY=0 shows the examples without running them.
GALLERY ?= 1
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going -D plot_gallery=$(GALLERY) docs docs/_build/html

# Wheels and source distributions, into dist/.
build: $(VENV)/.installed-dev
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist reproduction
	$(BIN)/python -m build --outdir dist benchmarks

setup: $(VENV)/.installed-dev

# Pictures of the explorer for the documentation, from the pages of the demo; needs Debian's chromium.
pictures: $(VENV)/.installed-dev demo
	$(BIN)/python tests/take_pictures.py demo-report

# torch first and alone: a resolver that sees other packages' wishes first may pick a build with gigabytes of CUDA.
$(VENV)/.torch: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) $$(grep '^torch==' constraints.txt)
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt --editable ".[chem]"
	$(BIN)/graph-metric-learn warm-up
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed $(PROJECTS)
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt $(ALL)
	touch $@

# The site documents the baselines, too.
$(VENV)/.installed-docs: $(VENV)/.installed $(PROJECTS)
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt --editable ".[docs]" --editable ./reproduction
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) build */build dist src/*.egg-info */src/*.egg-info docs/_build docs/gallery docs/generated
