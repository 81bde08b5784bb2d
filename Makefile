# Everything runs inside a virtual environment that these rules create; nothing else is touched.
#   make PYTHON=python3.12 test    another interpreter
#   make VENV=/some/where test     another place for the environment
#   make test ARGS="-k hinge -x"   further arguments to pytest

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

comma := ,
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo test lint bench-core bench-regress paper clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Stamps inside the environment say what it holds, and age with pyproject.toml.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "zerogap needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(VENV)/.created
	@echo "Installing zerogap [$(subst +,$(comma),$*)] into $(VENV) (a minute or two the first time)"
	$(PIP) -e ".[$(subst +,$(comma),$*)]"
	@touch $@

venv: $(VENV)/.installed-dev ## create the development environment

demo: $(VENV)/.installed-cli+plot ## fit two real datasets with live progress and certificates, plot gap against time
	$(BIN)/zerogap demo --out demo

test: $(VENV)/.installed-dev ## run the tests
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-dev ## check style, types, the layer rule and the size budgets
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_budgets.py

bench-core: $(VENV)/.installed-dev ## print the core benchmarks (needs g++ for the C++ baseline)
	$(BIN)/python -m benchmarks.core $(ARGS)

bench-regress: $(VENV)/.installed-dev ## time a base revision against this tree: make bench-regress ARGS="--base HEAD~1"
	$(BIN)/python -m benchmarks.regress $(ARGS)

paper: $(VENV)/.installed-paper ## run the paper's experiments into paper-out
	$(BIN)/zerogap paper --out paper-out

clean: ## remove caches and outputs, keep the environment
	rm -rf build dist demo paper-out .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests tools benchmarks examples docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## remove the environment too
	rm -rf $(VENV)
