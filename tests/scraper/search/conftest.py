"""Fixtures of the search tests: local engines, and searchers that query them with real browsers."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Protocol

import pytest
import pytest_asyncio

from browsers import Browsers
from scraper.engines.model import DEFAULT_ENGINES, Engine
from scraper.engines.registry import ENGINES
from scraper.search import engine_query
from scraper.search import searcher as searcher_module
from scraper.search.searcher import Searcher
from scraper.settings import Settings
from scraper.store.search_cache import SearchCache
from scraper.workers import WorkerPool
from tests.scraper.store.memory_search_cache import MemorySearchCache
from tests.site.engine_server import EngineSite, running_engines

PATIENCE_S = 60.0


@pytest.fixture
def engines_have_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the deadline of an engine.

    Its ten seconds include a browser start and the computation of a challenge.
    A loaded machine may need more.
    """
    monkeypatch.setattr(searcher_module, "ENGINE_DEADLINE_S", PATIENCE_S)
    monkeypatch.setattr(engine_query, "BLOCK_PAGE_LIMIT_S", PATIENCE_S)
    monkeypatch.setattr(engine_query, "PARSE_LIMIT_S", PATIENCE_S)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _running() -> AsyncIterator[EngineSite]:
    async with running_engines() as running:
        yield running


@pytest.fixture
def engine_site(_running: EngineSite) -> EngineSite:
    """Return the engines on loopback, reset to normal answers."""
    _running.reset()
    return _running


@pytest.fixture(scope="session")
def engine_settings(_running: EngineSite) -> Settings:
    """Return settings that map the engines' hosts to loopback."""
    return Settings(test_hosts=_running.test_hosts, test_key_pin=_running.key_pin)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine_browsers(engine_settings: Settings) -> AsyncIterator[Browsers]:
    """Start browsers that reach the engines on loopback."""
    async with Browsers(engine_settings.browser_settings()) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def workers() -> AsyncIterator[WorkerPool]:
    """Start a pool of one worker process."""
    async with WorkerPool(1) as running:
        yield running


class MakeSearcher(Protocol):
    """Create a searcher without pauses between requests."""

    def __call__(self, searches: SearchCache | None = None, **engines: Engine) -> Searcher: ...


@pytest.fixture
def make_searcher(engine_browsers: Browsers, engine_settings: Settings, workers: WorkerPool) -> MakeSearcher:
    def make(searches: SearchCache | None = None, **engines: Engine) -> Searcher:
        hurried = {name: dataclasses.replace(engine, spacing_s=0.0) for name, engine in {**ENGINES, **engines}.items()}
        store = MemorySearchCache() if searches is None else searches
        return Searcher(
            engine_browsers, workers, store, engine_settings, engines=hurried, default_engines=DEFAULT_ENGINES
        )

    return make


@pytest.fixture
def searcher(make_searcher: MakeSearcher, engine_site: EngineSite) -> Searcher:
    """Return a searcher that has sent no request."""
    return make_searcher()


@pytest.fixture
def caller(request: pytest.FixtureRequest) -> str:
    """Return a caller name unique to the test, because cookies are stored by caller."""
    return str(request.node.name)
