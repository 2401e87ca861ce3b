# Two commands do everything on a fresh machine: `make quickstart` and `make test`.
PYTHON ?= python3

.PHONY: quickstart test bench fuzz generate clean

quickstart:
	$(PYTHON) -m tools.quickstart

test: .tools/bin/nox
	.tools/bin/python -m tools.matrix

bench: .tools/bin/nox
	.tools/bin/nox -s bench

fuzz:
	$(PYTHON) -m tests.fuzz.run --seconds 3600

generate: .tools/bin/nox
	.tools/bin/nox -s generate

.tools/bin/nox:
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install -q --upgrade pip
	.tools/bin/python -m pip install -q nox

clean:
	rm -rf .venv .tools .nox build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
