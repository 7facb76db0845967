"""Searches of sources in a real browser, over TLS: categories, identity, refusals, limits of a day."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from aiohttp import web

from browsers import Browsers
from scraper.engines.model import DEFAULT_ENGINES, SearchQuery
from scraper.engines.registry import ENGINES
from scraper.engines.sources import SOURCES
from scraper.model import REFRESH
from scraper.search import searcher as searcher_module
from scraper.search.argument_validation import SearchRequest
from scraper.search.searcher import Searcher
from scraper.settings import Settings
from scraper.workers import WorkerPool
from tests.scraper.engines.sources.answers import BODIES as MADE
from tests.scraper.engines.sources.recorded_answers import RECORDED, ROWS
from tests.scraper.process import output_of
from tests.scraper.store.memory_search_cache import MemorySearchCache
from tests.site.certificate import server_identity

pytestmark = pytest.mark.browser

NOW = datetime(2026, 5, 1, tzinfo=UTC)

HOSTS = {
    urlsplit(source.build_request(SearchQuery("a"), NOW).url).hostname or "": name for name, source in SOURCES.items()
}


_DOWN = 0
"""Status of a source that closes the connection without an answer."""
BODIES = {name: MADE.get(name) or RECORDED[name] for name in SOURCES}


@dataclass
class Apis:
    """The APIs of all sources on loopback."""

    port: int = 0
    key_pin: str = ""
    statuses: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def apis() -> AsyncIterator[Apis]:
    site = Apis()
    context, site.key_pin = server_identity(tuple(HOSTS))

    async def answer(request: web.Request) -> web.Response:
        name = HOSTS[request.host.partition(":")[0]]
        site.requests[name] += 1
        site.agents[name] = request.headers["User-Agent"]
        kind = {"arxiv": "application/atom+xml", "dblp": "text/xml", "youtube": "text/html"}.get(
            name, "application/json"
        )
        status, body = site.statuses.get(name, 200), site.bodies.get(name, BODIES[name])
        if status == _DOWN:
            assert request.transport is not None
            request.transport.abort()
        return web.Response(text=body, content_type=kind, status=status, headers=site.headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    site.port = runner.addresses[0][1]
    yield site
    await runner.cleanup()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def services(apis: Apis) -> AsyncIterator[tuple[Settings, Browsers, WorkerPool]]:
    """Start a browser that finds the APIs."""
    hosts = tuple((host, "127.0.0.1", apis.port) for host in HOSTS)
    settings = Settings(test_hosts=hosts, test_key_pin=apis.key_pin, contact="me@example.org")
    async with Browsers(settings.browser_settings()) as browsers, WorkerPool(1) as workers:
        yield settings, browsers, workers


@pytest_asyncio.fixture(loop_scope="session")
async def searcher(
    apis: Apis, services: tuple[Settings, Browsers, WorkerPool], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Searcher]:
    monkeypatch.setattr(searcher_module, "ENGINE_DEADLINE_S", 60.0)
    for changes in (apis.statuses, apis.bodies, apis.headers, apis.requests):
        changes.clear()
    settings, browsers, workers = services
    made = Searcher(
        browsers,
        workers,
        MemorySearchCache(),
        settings,
        engines=ENGINES,
        default_engines=DEFAULT_ENGINES,
        sources=SOURCES,
    )
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("category", "sources"),
    [
        ("code", {"github", "gitlab", "codeberg"}),
        ("package", {"crates", "rubygems", "packagist", "dockerhub", "ecosystems"}),
        ("question", {"stackexchange"}),
        ("encyclopedia", {"wikipedia", "wikidata"}),
        ("book", {"openlibrary"}),
        ("video", {"youtube"}),
    ],
)
async def test_a_category_asks_its_sources_only(
    searcher: Searcher, apis: Apis, category: str, sources: set[str]
) -> None:
    answer = await searcher.search(SearchRequest("tides", category=category))
    assert answer.errors == {} and set(answer.engines) == sources == set(apis.requests)
    assert answer.results and all(set(row.engines) <= sources for row in answer.results)


async def test_papers_of_sources_are_merged_with_their_facts(searcher: Searcher) -> None:
    names = ["arxiv", "crossref", "europepmc", "semanticscholar", "openalex"]
    answer = await searcher.search(SearchRequest("tides", category="paper", engines=names, max_results=20))
    assert answer.errors == {}
    # The preprint, and the published paper.
    assert [set(row.engines) for row in answer.results] == [
        {"crossref", "europepmc", "openalex"},
        {"arxiv", "semanticscholar"},
    ]
    facts = dict(answer.results[0].facts)
    assert facts["doi"] == "10.1/tide" and facts["cited_by"] == 7


@pytest.mark.parametrize("name", ROWS)
async def test_a_recorded_answer_is_read(searcher: Searcher, apis: Apis, name: str) -> None:
    apis.bodies.update({name: RECORDED[name]})
    answer = await searcher.search(SearchRequest("tides", engines=[name]))
    assert answer.errors == {} and len(answer.results) == len(ROWS[name])
    for result, row in zip(answer.results, ROWS[name], strict=True):
        assert (result.title, result.url, result.source) == (row["title"], row["url"], row.get("source"))
        assert (str(result.date.date()) if result.date else None) == row.get("date")
        assert dict(result.facts) == row.get("facts", {})
        assert result.snippet.startswith(row["snippet"]) if "snippet" in row else not result.snippet


async def test_a_recorded_refusal_with_status_200_names_the_next_sources(searcher: Searcher, apis: Apis) -> None:
    apis.bodies.update({"wikidata": RECORDED["wikidata-maxlag"]})
    answer = await searcher.search(SearchRequest("tides", engines=["wikidata"]))
    assert dict(answer.errors) == {"wikidata": "rate_limited"} and not answer.results
    assert answer.hint is not None and '"wikipedia"' in answer.hint


async def test_a_refusal_is_reported_and_names_the_next_source(searcher: Searcher, apis: Apis) -> None:
    apis.statuses.update({"openlibrary": 429})
    answer = await searcher.search(SearchRequest("tides", category="book"))
    assert dict(answer.errors) == {"openlibrary": "rate_limited"} and not answer.results
    assert answer.hint is not None and '"internetarchive"' in answer.hint


@pytest.mark.parametrize(("headers", "least_s", "most_s"), [({}, 30, 60), ({"Retry-After": "900"}, 870, 900)])
async def test_a_source_that_refuses_has_the_pause_that_it_asks_for(
    searcher: Searcher, apis: Apis, headers: dict[str, str], least_s: float, most_s: float
) -> None:
    apis.statuses.update({"openlibrary": 429})
    apis.headers.update(headers)
    for _ in range(2):
        answer = await searcher.search(SearchRequest("tides", engines=["openlibrary"], cache=REFRESH))
        assert dict(answer.errors) == {"openlibrary": "rate_limited"}
    cooldown = await searcher._runner._find_cooldown(SOURCES["openlibrary"])
    assert apis.requests["openlibrary"] == 1
    assert cooldown is not None and least_s < cooldown.cooldown_s <= most_s


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (_DOWN, "", "unreachable"),
        (200, "<html><body>Sorry</body></html>", "layout_changed"),
        (200, '{"docs": [' + '{"title": "tide"},' * 3_000_000, "layout_changed"),
    ],
    ids=["down", "HTML", "50 MB"],
)
async def test_a_broken_source_is_an_error_beside_the_results_of_others(
    searcher: Searcher, apis: Apis, status: int, body: str, error: str
) -> None:
    apis.statuses.update({"openlibrary": status})
    apis.bodies.update({"openlibrary": body})
    names = ["openlibrary", "internetarchive"]
    answer = await searcher.search(SearchRequest("tides", engines=names))
    assert dict(answer.errors) == {"openlibrary": error}
    assert [row.engines for row in answer.results] == [("internetarchive",)]


async def test_sources_get_the_name_of_the_client_only_if_they_ask(searcher: Searcher, apis: Apis) -> None:
    await searcher.search(SearchRequest("tides", engines=["crates", "hackernews"]))
    assert apis.agents["crates"] == "search-mcp (me@example.org)"
    assert "Mozilla" in apis.agents["hackernews"]


async def test_the_limit_of_a_day_is_kept(searcher: Searcher, apis: Apis, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = replace(SOURCES["stackexchange"], per_day=2, spacing_s=0.0)
    monkeypatch.setitem(searcher._engines, "stackexchange", limited)
    errors = []
    for _ in range(4):
        answer = await searcher.search(SearchRequest("tides", engines=["stackexchange"], cache=REFRESH))
        errors.append(dict(answer.errors).get("stackexchange"))
    assert errors == [None, None, "rate_limited", "rate_limited"]
    assert apis.requests["stackexchange"] == 2


@pytest.mark.full_size
async def test_doctor_asks_every_engine_and_source_once(apis: Apis, tmp_path: Path) -> None:
    apis.requests.clear()
    apis.statuses.clear()
    apis.statuses.update({"gdelt": 429, "lemmy": 500})
    env = {
        "SEARCH_MCP_TEST_HOSTS": ",".join(f"{host}=127.0.0.1:{apis.port}" for host in HOSTS),
        "SEARCH_MCP_TEST_KEY_PIN": apis.key_pin,
        "SEARCH_MCP_DATA": str(tmp_path),
    }
    output = await output_of("-m", "scraper.cli.main", "doctor", "--live", "--json", env=env)
    report = json.loads(output.out)
    states = {row["name"]: row["state"] for row in report["engines"]}
    assert output.code == 1 and list(states) == [*ENGINES, *SOURCES]
    assert states.pop("gdelt") == "blocked the request"
    assert {name for name, state in states.items() if state == "answered"} == set(SOURCES) - {"gdelt", "lemmy"}
    assert report["answered"] == len(SOURCES) - 2
    assert all(count <= 2 for count in apis.requests.values())
