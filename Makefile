# Two commands on a fresh machine; each installs what it needs first:
#     make serve      serve MCP on http://127.0.0.1:8000/mcp
#     make test       run the tests of the product
# GNU make 3.81 and a POSIX shell are enough (macOS has both).

VENV := .venv
BIN := $(VENV)/bin
ARGS :=
WORKERS := 3
FAST_WORKERS := 2
IMAGE := search-mcp
CORPORA := corpora
# Each process that a test starts would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
BENCHMARKS := page_readiness hidden_text egress throughput search store coding_agents soak
INSTALLER := requirements/build.txt pyproject.toml devtools/environment.sh

.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup serve test test-fast test-all check format docs quality benchmarks conformance clients site image image-test release lock clean
.PHONY: changelog coverage docs-site fuzz

help:
	@echo 'make serve        serve MCP on http://127.0.0.1:8000/mcp; installs what it needs'
	@echo 'make test         run the tests of the product in three processes (WORKERS=4: four); installs what it needs'
	@echo 'make test-fast    run the tests that start no browser, server or database, in about 90 seconds'
	@echo 'make test-all     run all tests, also costly ones, hostile inputs at full size, tools and deployment'
	@echo 'make setup        install what `make serve` needs'
	@echo 'make check        check format, lint rules, types, import rules and limits of size'
	@echo 'make format       format the code and apply automatic fixes'
	@echo 'make docs         update the generated parts of the documentation'
	@echo 'make docs-site    build the documentation site in build/site'
	@echo 'make coverage     run all tests and print the test coverage'
	@echo 'make changelog    update CHANGELOG.md from the files in changes; ARGS=--draft only prints it'
	@echo 'make site         serve the test site on http://127.0.0.1:8080'
	@echo 'make quality      compare quality figures with their floors; CORPORA=DIR holds the saved pages'
	@echo 'make benchmarks   run the cost benchmarks on this machine'
	@echo 'make fuzz         send mutated messages, requests, pages and documents to a server and its parsers'
	@echo 'make conformance  run the public MCP conformance suite (npm)'
	@echo 'make clients      run the conformance suite and a dozen other MCP clients (npm, PyPI)'
	@echo 'make image        build the container image (docker)'
	@echo 'make image-test   build the Dockerfile without Docker and read a page with it (Debian, root, ten minutes)'
	@echo 'make release      build wheel, bundle, registry entry and image into dist/, and check them'
	@echo 'make lock         update the lock files of the dependencies (uv)'
	@echo 'make clean        remove the environment and all build output'
	@echo 'Pass more arguments in ARGS:  make test ARGS="-k wall"   make serve ARGS="--port 9000"'

setup: $(VENV)/.chromium

serve: setup
	@echo 'Starting search-mcp ...'
	@exec $(BIN)/search-mcp serve $(ARGS)

test: $(VENV)/.training $(VENV)/.chromium
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

# Tests without a browser, server or database.
test-fast: $(VENV)/.training
	$(BIN)/python -m pytest -n $(FAST_WORKERS) --dist loadgroup -m "not (browser or programs or slow)" $(ARGS)

# Costly cases, hostile inputs at full size and clients of other makes too; only the last two with ARGS="-m full_size".
test-all: $(VENV)/.training $(VENV)/.chromium
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "full_size or not full_size" $(ARGS)

check: $(VENV)/.training
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m devtools.size_gate

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m devtools.calendar_words
	$(BIN)/python -m devtools.settings_table
	$(BIN)/python -m devtools.tool_answers
	$(BIN)/python -m devtools.tool_pages
	$(BIN)/python -m devtools.client_files
	$(BIN)/python -m devtools.readme_pictures

docs-site: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict $(ARGS)

# Prints the coverage even if tests fail; the exit code is that of the tests.
coverage: $(VENV)/.training $(VENV)/.chromium
	@$(BIN)/coverage erase
	@status=0; $(BIN)/coverage run -m pytest -n $(WORKERS) --dist loadgroup \
		-m "thorough or not thorough" $(ARGS) || status=$$?; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage report --skip-covered --skip-empty --sort=cover && \
	exit $$status

changelog: $(VENV)/.dev
	@$(BIN)/towncrier build --yes $(ARGS) --version "$$($(BIN)/python -c \
		'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')"

# DIR holds the saved pages: make quality CORPORA=DIR
quality: $(VENV)/.training $(VENV)/.chromium
	$(BIN)/python -m benchmarks.quality --corpora "$(CORPORA)" $(ARGS)

benchmarks: $(VENV)/.training $(VENV)/.chromium
	@for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name $(ARGS) || exit 1; done

fuzz: $(VENV)/.training $(VENV)/.chromium
	$(BIN)/python -m benchmarks.fuzz $(ARGS)

# Both install the clients once, from npm and PyPI.
conformance: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m tests.clients.setup node
	$(BIN)/python -m benchmarks.conformance $(ARGS)

clients: $(VENV)/.dev $(VENV)/.chromium
	$(BIN)/python -m tests.clients.setup
	$(BIN)/python -m pytest -m "full_size or not full_size" tests/clients tests/conformance $(ARGS)

# To read the test site, map a host name to it in a second terminal:
#     SEARCH_MCP_TEST_HOSTS=shop.example=127.0.0.1:8080 .venv/bin/search-mcp fetch http://shop.example/spa/1
site: $(VENV)/.dev
	@exec $(BIN)/python -m tests.site --port 8080

image:
	docker build --tag $(IMAGE) .

image-test: $(VENV)/.runtime
	$(BIN)/python -m devtools.image.check $(ARGS)

release: $(VENV)/.dev
	$(BIN)/python -m devtools.release $(ARGS)

# The lock files contain hashes but no index URL, so that each user can install from any index. The versions agree in
# all of them: runtime, shared (the image), bulk, dev, training (all tests), docs and build.
lock:
	@uv=$$(command -v uv || command -v $(BIN)/uv) || { echo "make lock needs uv. Run: pip install uv" >&2; exit 1; }; \
	export UV_CUSTOM_COMPILE_COMMAND="make lock"; \
	lock="$$uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links $(ARGS)"; \
	$$lock pyproject.toml -o requirements/runtime.txt && \
	$$lock pyproject.toml --extra shared -c requirements/runtime.txt -o requirements/shared.txt && \
	$$lock pyproject.toml --extra shared --extra bulk -c requirements/shared.txt -o requirements/bulk.txt && \
	$$lock pyproject.toml --extra dev -c requirements/bulk.txt -o requirements/dev.txt && \
	$$lock pyproject.toml --extra training -c requirements/dev.txt -o requirements/training.txt && \
	$$lock pyproject.toml --extra docs -c requirements/dev.txt -o requirements/docs.txt && \
	$$lock requirements/build.in -c requirements/dev.txt -o requirements/build.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Rebuild the environment if the checkout was moved or its Python was replaced, which stamps cannot show.
ifneq ($(wildcard $(VENV)/.runtime),)
ifneq ($(shell sh devtools/environment.sh --outdated && echo yes),)
.PHONY: $(VENV)/.runtime
endif
endif

# Stamp files record finished steps, so that a second `make serve` starts at once.
$(VENV)/.runtime: requirements/runtime.txt $(INSTALLER)
	@sh devtools/environment.sh requirements/build.txt requirements/runtime.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@sh devtools/environment.sh requirements/build.txt requirements/dev.txt
	@touch $@

$(VENV)/.training: requirements/training.txt $(VENV)/.dev
	@sh devtools/environment.sh requirements/build.txt requirements/training.txt
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.runtime
	@sh devtools/environment.sh requirements/build.txt requirements/docs.txt
	@touch $@

$(VENV)/.chromium: $(VENV)/.runtime
	@$(BIN)/python -m browsers.chromium.install
	@touch $@
