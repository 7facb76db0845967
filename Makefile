# Two commands do everything on a fresh machine:
#     make serve      sets up what is missing, then serves MCP on http://127.0.0.1:8000/mcp
#     make test       sets up what is missing, then runs all tests
# GNU make 3.81 and a POSIX shell are enough (macOS has both).

VENV := .venv
BIN := $(VENV)/bin
ARGS :=
WORKERS := 3
IMAGE := search-mcp
CORPORA := corpora
BENCHMARKS := settle hidden egress throughput search store soak
INSTALLER := requirements/build.txt pyproject.toml devtools/environment.sh

.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup serve test test-fast test-all check format docs quality benchmarks conformance clients site image image-test lock clean
.PHONY: changelog coverage docs-site

help:
	@echo 'make serve        MCP on http://127.0.0.1:8000/mcp; sets up what is missing'
	@echo 'make test         all tests, in three processes (WORKERS=4: in four); sets up what is missing'
	@echo 'make test-fast    tests that start no browser and no other program, in under 90 seconds'
	@echo 'make test-all     the same, with hostile inputs at full size'
	@echo 'make setup        only what `make serve` sets up'
	@echo 'make check        format, lint, types, import rules'
	@echo 'make format       what of these the machine can mend by itself'
	@echo 'make docs         tables in the documentation that are made from code'
	@echo 'make docs-site    the documentation as a web site, in build/site'
	@echo 'make coverage     all tests, then the share of the product that they run'
	@echo 'make changelog    CHANGELOG.md from the files in changes; ARGS=--draft only prints it'
	@echo 'make site         the pages of the tests on http://127.0.0.1:8080, for trying out'
	@echo 'make quality      figures against their floors; CORPORA=DIR holds the saved pages'
	@echo 'make benchmarks   what pages, searches and hours of work cost on this machine'
	@echo 'make conformance  the public conformance suite (npm)'
	@echo 'make clients      the same, and clients of a dozen other makes (npm, PyPI)'
	@echo 'make image        the container image (docker)'
	@echo 'make image-test   builds the Dockerfile and reads a page through it (Debian, root, ten minutes)'
	@echo 'make lock         new versions of what we build on (uv)'
	@echo 'make clean        removes the environment and all that was built'
	@echo 'More arguments go into ARGS:  make test ARGS="-k wall"   make serve ARGS="--port 9000"'

setup: $(VENV)/.chromium

serve: setup
	@exec $(BIN)/search-mcp serve $(ARGS)

test: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

# What needs neither a browser nor another program: for each change while it is made.
test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not (browser or programs or slow)" $(ARGS)

# Hostile inputs at full size too; only these with ARGS="-m full_size".
test-all: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "full_size or not full_size" $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.runtime
	$(BIN)/python -m devtools.settings_table
	$(BIN)/python -m devtools.tool_pages
	$(BIN)/python -m devtools.client_files

docs-site: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict $(ARGS)

# Tests may fail and the figure still be of use: it is printed, and the exit code is that of the tests.
coverage: $(VENV)/.dev $(VENV)/.chromium
	@$(BIN)/coverage erase
	@status=0; $(BIN)/coverage run -m pytest -n $(WORKERS) --dist loadgroup $(ARGS) || status=$$?; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage report --skip-covered --skip-empty --sort=cover && \
	exit $$status

changelog: $(VENV)/.dev
	@$(BIN)/towncrier build --yes $(ARGS) --version "$$($(BIN)/python -c \
		'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')"

# Figures against their floors; DIR holds the saved pages: make quality CORPORA=DIR
quality: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m benchmarks.quality --corpora "$(CORPORA)" $(ARGS)

benchmarks: $(VENV)/.dev $(VENV)/.chromium
	@for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name $(ARGS) || exit 1; done

# The public conformance suite, and clients of other makes; both set up what they need once, from npm and PyPI.
conformance: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m tests.clients.setup node
	$(BIN)/python -m benchmarks.conformance $(ARGS)

clients: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m tests.clients.setup
	$(BIN)/python -m pytest tests/clients tests/conformance $(ARGS)

# The pages of the tests, for trying out: in a second terminal, with the variable that maps a name to them,
#     SEARCH_MCP_TEST_HOSTS=shop.example=127.0.0.1:8080 .venv/bin/search-mcp fetch http://shop.example/spa/1
site: $(VENV)/.dev
	@exec $(BIN)/python -m tests.site --port 8080

image:
	docker build --tag $(IMAGE) .

image-test: $(VENV)/.runtime
	$(BIN)/python -m devtools.image.check $(ARGS)

# Without an index address on purpose: whoever installs decides where packages come from, the hashes what
# they may be. Six locks that agree: what runs, what runs beside other servers (the image), what reads in bulk,
# what develops it (each a superset of the last), what makes the documentation's site, what builds it.
lock:
	@uv=$$(command -v uv || command -v $(BIN)/uv) || { echo "make lock needs uv. Run: pip install uv" >&2; exit 1; }; \
	export UV_CUSTOM_COMPILE_COMMAND="make lock"; \
	lock="$$uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links $(ARGS)"; \
	$$lock pyproject.toml -o requirements/runtime.txt && \
	$$lock pyproject.toml --extra shared -c requirements/runtime.txt -o requirements/shared.txt && \
	$$lock pyproject.toml --extra shared --extra bulk -c requirements/shared.txt -o requirements/bulk.txt && \
	$$lock pyproject.toml --extra dev -c requirements/bulk.txt -o requirements/dev.txt && \
	$$lock pyproject.toml --extra docs -c requirements/dev.txt -o requirements/docs.txt && \
	$$lock requirements/build.in -c requirements/dev.txt -o requirements/build.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps know nothing of a checkout that was moved, nor of a Python that was replaced beneath it.
ifneq ($(wildcard $(VENV)/.runtime),)
ifneq ($(shell sh devtools/environment.sh --outdated && echo yes),)
.PHONY: $(VENV)/.runtime
endif
endif

# Stamps: each says that a step was done with the files it names, so that a second `make serve` starts at once.
$(VENV)/.runtime: requirements/runtime.txt $(INSTALLER)
	@sh devtools/environment.sh requirements/build.txt requirements/runtime.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@sh devtools/environment.sh requirements/build.txt requirements/dev.txt
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.runtime
	@sh devtools/environment.sh requirements/build.txt requirements/docs.txt
	@touch $@

$(VENV)/.chromium: $(VENV)/.runtime
	@$(BIN)/python -m browsers.chromium.install
	@touch $@
