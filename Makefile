# Two commands need nothing but Python 3.11, gcc, make and pip: `make demo` and `make test`.
# The stamps make the second time start at once; a changed pyproject.toml installs again.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-input

.PHONY: help install demo test slow check format tree clean

help:  ## what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 14

install: $(VENV)/core.stamp  ## danlu in .venv, and nothing more

demo: $(VENV)/core.stamp  ## train, evaluate and export a small model on text that this machine carries
	@$(BIN)/danlu demo

test: $(VENV)/dev.stamp  ## the tests that need no accelerator and no patience
	@$(BIN)/python -m pytest -m "not slow and not gpu"

slow: $(VENV)/dev.stamp  ## the big matrices
	@$(BIN)/python -m pytest -m "slow and not gpu"

check: $(VENV)/dev.stamp  ## lint, format, types, and the lines of src with their change
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python tools/lines.py

format: $(VENV)/dev.stamp  ## format the code and renew the file tree in the README
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python tools/tree.py

clean:  ## remove the environment and all caches; runs/ stays
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/core.stamp: pyproject.toml $(VENV)/pip.stamp
	@echo "Installing danlu and what it needs into $(VENV) (PyTorch is large: the first time takes minutes) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(VENV)/pip.stamp
	@echo "Installing danlu and its development tools into $(VENV) (PyTorch is large: the first time takes minutes) ..."
	@$(PIP) --editable ".[dev]"
	@touch $@ $(VENV)/core.stamp

# Some distributions split `ensurepip` from Python: then the machine's own pip fills the environment.
$(VENV)/pip.stamp:
	@python=$$(for name in python3.11 python3; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$name; break; fi; done); \
	if [ -z "$$python" ]; then echo "danlu needs Python 3.11 or newer as python3.11 or python3" >&2; exit 1; fi; \
	echo "Creating $(VENV) with $$($$python --version) ..."; \
	if ! $$python -m venv $(VENV) >/dev/null 2>&1; then \
	  $$python -m venv --without-pip $(VENV); \
	  $$python -m pip --python $(BIN)/python install --quiet --disable-pip-version-check pip; \
	fi
	@touch $@
