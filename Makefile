# Everything here needs only Python 3.11+, make and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help venv browser demo test slow lint format bench contest docs notebooks package size clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

venv: $(VENV)/.installed  ## create .venv and install the package with its test tools (instant when up to date)

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bezierflow needs Python 3.11 or newer; found %d.%d. Try: make PYTHON=python3.11 ..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plots,interop,test]'
	@# The driver of the page's tests is large and not made for every platform: without it those tests say so and are skipped.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.45' || echo 'no playwright here: the browser tests will be skipped'
	@touch $@

browser:  ## find Chromium for the page's tests, or install it where apt-get may (as root)
	@for name in "$$BEZIERFLOW_BROWSER" chromium chromium-browser google-chrome google-chrome-stable; do \
		command -v "$$name" && exit; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null && command -v chromium) \
		|| echo 'Chromium could not be installed: the browser tests will be skipped'; \
	else echo 'no Chromium, and no right to install it: the browser tests will be skipped'; fi

demo: venv  ## run the paper's Algorithm 2 and others on scaled-MED: a table and a picture
	$(BIN)/bezierflow demo

test: venv browser  ## run the tests and the quick examples of the pages; the explorer's tests need a Chromium
	$(BIN)/python -m pytest -n auto --dist worksteal

slow: venv browser  ## the same with slow tests and slow examples, and with all types checked
	$(BIN)/python -m pytest -n auto --dist worksteal --slow

$(VENV)/.lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lint]'
	@touch $@

lint: $(VENV)/.lint  ## ruff and pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: $(VENV)/.docs  ## build the documentation site, running every example on its pages (docs/_build/html/index.html)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo 'open docs/_build/html/index.html'

notebooks:  ## make docs/notebooks from the pages
	$(PYTHON) docs/site/notebooks.py

package: venv  ## build the sdist and the wheel into dist/, and check what is in them
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m pytest tests/test_release.py
	@for file in dist/*; do echo; echo "$$file"; $(BIN)/python -m tarfile -l $$file 2>/dev/null || $(BIN)/python -m zipfile -l $$file; done

size:  ## measure what the package without extras takes on the disk, in a fresh environment
	$(PYTHON) -m venv --clear build/size
	build/size/bin/python -m pip install --quiet --disable-pip-version-check .
	build/size/bin/python benchmarks/installed_size.py

$(VENV)-peers/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]'
	@touch $@

bench: $(VENV)-peers/.installed  ## compare speed with pytorch-bsf and NumPy, in an environment of its own
	$(VENV)-peers/bin/python benchmarks/peers.py

contest: $(VENV)-peers/.installed  ## every method on every problem, peers included (about 20 minutes)
	$(VENV)-peers/bin/python -m benchmarks.contest
	$(VENV)-peers/bin/python -m benchmarks.contest.report

format: $(VENV)/.lint  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
