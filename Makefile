# make setup   .venv with every extra, and the few system packages the tests need
# make demo    the main job on the embedded store, from a clean folder
# make check   lint, types, import floors, unit tests: under a minute
# make test    everything CI runs
# make bench   speed, memory and quality figures (slow; writes nothing)
# make torture long fault and property campaigns
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

.PHONY: setup demo check test bench torture lock clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@command -v git >/dev/null || { apt-get update -qq && apt-get install -y -qq git; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $(STAMP)

demo: setup
	$(BIN)/python -m demo

check: setup
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest tests/unit -n 2

test: check
	$(BIN)/pytest tests -n 2 --ignore=tests/unit

lock:
	$(BIN)/uv pip compile --universal --python-version 3.11 --all-extras --group dev --no-header \
	  --no-annotate --upgrade --quiet -o requirements.lock pyproject.toml

clean:
	rm -rf $(VENV)
