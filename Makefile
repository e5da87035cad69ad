# Every target sets up what it needs in a local .venv; there is nothing to install by hand.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready

# Most tests start krond or kron as a process: without its bytecode each of them would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

STATE := .krond
LISTEN := 127.0.0.1:8080

# Schedules, decisions and what is computed from them: the part of Kron that needs no POSIX system.
LIBRARY_TESTS := tests/cron tests/decision tests/errors tests/forecast tests/jobfile tests/kronjob tests/theory

.PHONY: help setup run next test test-slow test-cluster test-library test-sqlite coverage mutation lint format \
	man deploy docs reference picture versions workflows dist release-check container bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## make .venv with Kron and the tools

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Kron needs Python 3.11 or later; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { $(PYTHON) -m pip install --quiet --user virtualenv && $(PYTHON) -m virtualenv --quiet $(VENV); }
	@echo "setting up $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

run: $(READY) ## run krond with the example jobs until Ctrl-C
	@echo 'Ask it from another terminal: $(BIN)/krond jobs --state $(STATE), or history, logs, status. Ctrl-C ends it.' >&2
	@exec $(BIN)/krond run --config examples/krond.toml --state $(STATE) --listen $(LISTEN)

next: $(READY) ## show the coming week of the example jobs
	@$(BIN)/kron next --file examples/jobs.kron --for 7d

test: $(READY) lint ## lint, types, layers and all tests but the slow ones and those on a cluster
	@$(BIN)/python -m pytest --dist worksteal -m "not slow and not cluster"

test-slow: $(READY) ## the long sweeps
	@$(BIN)/python -m pytest -rs --dist worksteal -m "slow and not cluster"

test-cluster: $(READY) ## the tests on a real Kubernetes; builds one first, once, from source (needs Go)
	@-$(BIN)/python -m tests.cluster.build
	@$(BIN)/python -m pytest -rs -n 2 --dist worksteal -m cluster tests/cluster

test-library: $(READY) ## the tests of schedules and decisions, on any system
	@$(BIN)/python -m pytest --dist worksteal -m "not slow and not cluster" $(LIBRARY_TESTS)

test-sqlite: $(READY) ## the tests of the ledgers on other versions of SQLite, built from source (needs Go and cc)
	@$(BIN)/python -m tests.packaging.sqlite_versions

coverage: $(READY) ## branch coverage of src/kron by the tests of `make test`
	@$(BIN)/python -m tests.branch_coverage.measure $(COVERAGE)

mutation: $(READY) ## put small bugs into rules, engine and the library host, and count those that the tests find
	@$(BIN)/python -m tests.mutation_score.score $(MUTATION)

lint: $(READY) ## ruff, mypy and the layer rules
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo > $(VENV)/layers.log 2>&1 || { cat $(VENV)/layers.log; exit 1; }

format: $(READY) ## write the code in the common form
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

man: $(READY) ## write the manual pages anew
	@$(BIN)/python -m tests.packaging.manual

deploy: $(READY) ## write the manifests and the chart anew
	@$(BIN)/python -m tests.packaging.chart

versions: $(READY) ## write the page of supported versions again
	@$(BIN)/python -m tests.packaging.versions

workflows: $(READY) ## check the GitHub workflows with actionlint (needs Go)
	@$(BIN)/python -m tests.packaging.workflows

dist: $(READY) ## build wheel and source distribution twice, compare them, and put them into dist/
	@$(BIN)/python -m tests.packaging.dist

release-check: $(READY) ## say what keeps this version from being released under TAG
	@$(BIN)/python -m tests.packaging.release

container: $(READY) ## build the container images and start them (needs podman or docker)
	@$(BIN)/python -m tests.packaging.images

reference: $(READY) ## write the generated pages of docs/reference
	@$(BIN)/python -m tests.docs.reference

picture: $(READY) ## take the picture of the page of krond again (needs Chromium)
	@$(BIN)/python -m tests.docs.picture

docs: reference $(DOCS_READY) ## build the documentation site in build/docs; a warning is an error
	@$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going -d build/doctrees docs build/docs
	@echo "open build/docs/index.html"

$(DOCS_READY): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

bench: $(READY) ## measure Kron beside its peers
	@$(BIN)/python bench/run.py

clean: ## remove everything that was made
	rm -rf $(VENV) $(STATE) .bench build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .mutation .branch_coverage
