# make setup    .venv with every extra
# make demo     a week of a small project on the embedded store, in a clean folder, told on one screen
# make check    lint, types, import floors, unit tests: about a minute
# make test     everything CI runs (installs the few system packages that the tests need)
# make bench    speed, memory and quality figures (slow, prints them; docs/measurements.md keeps them);
#               SETS="DIR …" holds search on each set of texts and questions against textbook BM25
# make torture  long fault, property and mutation campaigns, resumable: a night and more (EXAMPLES=500 TIMES=4 MUTANTS=200 MINUTES=10 for less)
# make failover three PostgreSQL nodes with Patroni and etcd, 16 agents, five faults a round (as root; ROUNDS=1)
# make sbom     what a release is made of, as CycloneDX, in dist/
# make wheel    the wheel, twice, and whether both have the same bytes
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# What the tests put faults in with, look at the page with and install the hosts with; the program itself needs none of it.
TOOLS := git strace pgbouncer chromium npm curl
# Real hosts and clients, for the tests that drive them. npm writes the second file when it is done.
NPM := tests/host/npm
HOSTS := $(NPM)/node_modules/.package-lock.json
# What torture tries: examples of each property, how often each fault campaign (34 make 10,000 kills and power cuts), random
# mutants, minutes of soak, rounds of failover. tests/torture.py has the same defaults and remembers what was done.
export EXAMPLES TIMES MUTANTS MINUTES ROUNDS
# Folders of texts and questions as benchmarks/retrieval.py reads them; VECTORS keeps vectors between runs.
SETS ?=
VECTORS ?= $(VENV)/vectors.db

# Where tests have their folders: in memory where there is room for 2 GB and programs may run, for they sync without end.
# The tests of faults stay on a disk.
SCRATCH = $(shell probe=/dev/shm/recollect-$$$$; \
  [ "$$(df -Pk /dev/shm 2>/dev/null | awk 'END {print $$4}')" -gt 2000000 ] && cp /bin/true $$probe && \
  $$probe && echo /dev/shm || echo $${TMPDIR:-/tmp}; rm -f $$probe)

.PHONY: setup tools demo check test bench torture failover mutants lock audit sbom wheel clean

setup: $(STAMP)

tools:
	@PATH="$$PATH:/usr/sbin"; for tool in $(TOOLS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
	  command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] || { echo "the tests need:$$missing"; exit 1; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; fi

$(STAMP): requirements.lock pyproject.toml
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
	$(BIN)/python scripts/supply.py audit
	$(BIN)/pytest tests/unit -n 2 --dist worksteal

$(HOSTS): $(NPM)/package-lock.json | tools
	npm install --prefix $(NPM) --no-save --no-audit --no-fund --silent
	@touch $@

test: tools check $(HOSTS)
	TMPDIR=$(SCRATCH) $(BIN)/pytest tests -n 2 --dist worksteal --ignore=tests/unit --ignore=tests/faults
	$(BIN)/pytest tests/faults -n 2 --dist worksteal

bench: setup
	$(BIN)/python -m benchmarks.learnings
	$(BIN)/python -m benchmarks.decisions
	$(BIN)/python -m benchmarks.tree
	$(BIN)/python -m benchmarks.log_entries
	$(BIN)/python -m benchmarks.extraction
	$(BIN)/python -m benchmarks.signs
	$(BIN)/python -m benchmarks.redaction
	$(BIN)/python -m benchmarks.imports
	$(BIN)/python -m benchmarks.detectors tests/data/detector_pairs.jsonl
	$(BIN)/python -m benchmarks.routing tests/data/routing.json
	$(BIN)/python -m benchmarks.engines
	$(BIN)/python -m benchmarks.serve
	$(BIN)/python -m benchmarks.hook
	$(BIN)/python -m benchmarks.start_up
	below=; for set in $(SETS); do echo "$$set"; $(BIN)/python -m benchmarks.retrieval $$set --cache $(VECTORS) || below="$$below $$set"; done; \
	  [ -z "$$below" ] || { echo "below textbook BM25:$$below"; exit 1; }

torture: tools setup $(HOSTS)
	$(BIN)/python tests/torture.py

failover: setup
	$(BIN)/python tests/failover.py $(or $(ROUNDS),1)

mutants: tools setup
	$(BIN)/python -m tests.mutants

lock: setup
	$(BIN)/uv pip compile --universal --python-version 3.11 --all-extras --group dev --no-header \
	  --no-annotate --generate-hashes --upgrade --quiet -o requirements.lock pyproject.toml

audit: setup
	$(BIN)/python scripts/supply.py audit

sbom:
	$(PYTHON) scripts/supply.py sbom

wheel: setup
	$(BIN)/python scripts/supply.py wheel

clean:
	rm -rf $(VENV)
