# Everything a newcomer needs: `make demo` and `make test`. Each target makes its own .venv and installs what it
# needs; the second time nothing is installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo
# The extras the tests exercise; the demo needs none.
TEST_EXTRAS := dev,spacy,pandas,polars,rdf,eval,retrieval,train,zh
CODE := src tests benchmarks samples reproductions docs

.PHONY: demo test test-spark lint bench docs format clean

demo: $(VENV)/.core
	@$(BIN)/python samples/demo.py $(DEMO)

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n auto --dist worksteal $(PYTEST)

# Those of Apache Spark, which `make test` skips: pyspark is a large download, and Java starts many times.
test-spark: $(VENV)/.spark
	$(BIN)/python -m pytest -q tests/engine tests/plugs/test_spark_plug.py $(PYTEST)

lint: $(VENV)/.test
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py $(BENCH)

docs: $(VENV)/.test
	$(BIN)/python -m entlink_cli.reference > docs/cli.md
	$(BIN)/python docs/make.py

format: $(VENV)/.test
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

clean:
	rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(TEST_EXTRAS)]'
	@touch $@ $(VENV)/.core

$(VENV)/.spark: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	@touch $@

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@
