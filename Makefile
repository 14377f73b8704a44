# make setup    .venv with every extra, and the few system packages the tests need
# make demo     the main job on the embedded store, in a clean folder
# make check    lint, types, import floors, unit tests: about a minute
# make test     everything CI runs
# make bench    speed, memory and quality figures (slow, prints them; docs/experiments.md keeps them)
# make torture  long fault, property and mutation campaigns (hours)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
SYSTEM := git strace

.PHONY: setup demo check test bench torture mutants lock clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@for tool in $(SYSTEM); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
	  command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] || { echo "please install:$$missing"; exit 1; }; \
	  apt-get update -qq && apt-get install -y -qq $$missing; fi
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(BIN)/python -m compileall -q src
	@touch $(STAMP)

demo: setup
	scripts/demo

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest tests/unit -n 2

test: check
	$(BIN)/pytest tests -n 2 --ignore=tests/unit

bench: setup
	$(BIN)/python -m benchmarks.learnings
	$(BIN)/python -m benchmarks.extraction
	$(BIN)/python -m benchmarks.redaction
	$(BIN)/python -m benchmarks.decisions

torture: setup mutants
	HYPOTHESIS_PROFILE=torture RECOLLECT_TORTURE=1 $(BIN)/pytest tests -n 2

mutants: setup
	$(BIN)/python -m tests.mutants

lock:
	$(BIN)/uv pip compile --universal --python-version 3.11 --all-extras --group dev --no-header \
	  --no-annotate --upgrade --quiet -o requirements.lock pyproject.toml

clean:
	rm -rf $(VENV)
