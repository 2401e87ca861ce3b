# Two commands do everything on a fresh machine: `make quickstart` and `make test`.
PYTHON ?= python3

.PHONY: quickstart test bench fuzz generate translate dist bundle site release-check clean

quickstart:
	$(PYTHON) -m tools.quickstart

test: .tools/bin/nox
	.tools/bin/python -m tools.matrix

bench: .tools/bin/nox
	.tools/bin/nox -s bench

fuzz: .tools/bin/nox
	.tools/bin/nox -s fuzz

dist: .tools/bin/nox
	.tools/bin/python -m pip install -q build
	.tools/bin/python -m tools.dist

release-check: .tools/bin/nox
	.tools/bin/python -m pip install -q build twine babel -e ".[cli]"
	.tools/bin/python -m tools.release

bundle: .tools/bin/nox
	.tools/bin/nox -s bundle

site: .tools/bin/nox
	.tools/bin/nox -s docs

generate: .tools/bin/nox
	.tools/bin/nox -s generate

translate: .tools/bin/nox
	.tools/bin/nox -s translate

.tools/bin/nox:
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install -q --upgrade pip
	.tools/bin/python -m pip install -q nox
	-.tools/bin/python -m pip install -q uv

clean:
	rm -rf .venv .tools .nox build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
