# The two commands of the README: `make demo` and `make test`; `make check` adds lint and types.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test lint types check man site bench clean

setup: $(VENV)/.ready

# The lock file pins every package with its hash; the project itself is installed in place, and compiled to bytecode: where
# the system is told not to keep that, each start would take a second longer. The analysis is compiled to machine code,
# too, so that no command has to do it at its first use.
$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("whence needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	-@env -u WHENCE_HOME $(BIN)/whence doctor
	@touch $@

demo: setup
	@$(BIN)/whence locate -C demo --html whence-report/demo.html

test: setup
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

check: lint types test

man: setup
	$(BIN)/python docs/man_pages.py

# The documentation as a site, in whence-site/. Links that lead nowhere end it. What it takes is installed for it alone.
site: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

$(VENV)/.docs: $(VENV)/.ready requirements-docs.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

clean:
	rm -rf $(VENV) whence-site whence-report .cache .pytest_cache .mypy_cache .ruff_cache
