"""Ten servers that request one page at the same time visit it once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
import pytest_asyncio

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.model import Request
from scraper import errors
from scraper.coordination import valkey_client
from scraper.coordination.state import WorkClaim, WorkCompleted
from scraper.coordination.valkey_state import ValkeyState, _ValkeyClaims
from scraper.model import REFRESH, CachePolicy, ReadRequest, Reuse
from scraper.reading.fetcher import Fetcher
from scraper.reading.fields import StructuredReader
from scraper.reading.response_reader import VisitResult
from scraper.reading.visit_outcome import VisitJob
from scraper.reading.visitor import PageVisitor
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.workers import WorkerPool
from tests.scraper.coordination.redis_server import RedisServer, redis_server
from tests.scraper.process import until
from tests.scraper.reading.fakes import CountingPages, ScriptedBrowsers, ScriptedWorkers
from tests.scraper.reading.test_structured import LD, Here, Visitor

URL = "http://example.org/page"
PATIENCE_S = 60.0


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def redis(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the timeouts: a machine that stalls for a second must not count as an unreachable service."""
    monkeypatch.setattr(valkey_client, "COMMAND_S", PATIENCE_S)
    monkeypatch.setattr(valkey_client, "CONNECT_S", PATIENCE_S)


class Counted:
    """The claims of a server; records which servers of a fleet have requested a claim."""

    def __init__(self, claims: _ValkeyClaims, asked: defaultdict[str, set[int]]) -> None:
        self._claims = claims
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._claims, name)

    async def begin(self, key: str, *, waited: bool) -> WorkClaim | WorkCompleted | None:
        """Request a claim and record the request."""
        said = await self._claims.begin(key, waited=waited)
        self._asked[key].add(id(self))
        return said


@dataclass(slots=True)
class Fleet:
    """Servers with common fake browsers, each with its own cache."""

    url: str
    stack: AsyncExitStack
    client: ScriptedBrowsers = field(default_factory=ScriptedBrowsers)
    asked: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    async def shared(self) -> ValkeyState:
        """Return a new client of the shared state."""
        shared = ValkeyState(self.url)
        self.stack.push_async_callback(shared.close)
        await shared.wait_connected(PATIENCE_S)
        shared.claims = cast(_ValkeyClaims, Counted(shared.claims, self.asked))
        return shared

    async def all_have_asked(self, servers: int) -> None:
        """Wait until `servers` servers have requested a claim to the same page."""
        await until(lambda: any(len(who) >= servers for who in self.asked.values()))

    async def server(self, **chosen: Any) -> Fetcher:
        """Add a server."""
        shared = await self.shared()
        fetcher = Fetcher(
            cast(Browsers, self.client),
            cast(WorkerPool, ScriptedWorkers()),
            cast(PageStore, CountingPages()),
            Settings(**chosen),
            shared=shared,
        )
        self.stack.push_async_callback(fetcher.close)
        return fetcher

    async def servers(self, count: int) -> list[Fetcher]:
        """Add `count` servers."""
        return [await self.server() for _ in range(count)]

    async def structured_readers(self, visitor: Visitor, count: int) -> list[StructuredReader]:
        """Return the readers of structured data of `count` servers."""
        readers = []
        for _ in range(count):
            shared = await self.shared()
            readers.append(StructuredReader(cast(PageVisitor, visitor), cast(WorkerPool, Here()), Settings(), shared))
            self.stack.push_async_callback(readers[-1].close)
        return readers


@pytest.fixture
async def fleet(redis: RedisServer) -> AsyncIterator[Fleet]:
    await redis.ask("FLUSHALL")
    async with AsyncExitStack() as stack:
        yield Fleet(redis.url, stack)


def held_for(fleet: Fleet, servers: int) -> Callable[[Request], Awaitable[None]]:
    """Return a hook that delays a page until `servers` servers have requested it."""

    async def wait(request: Request) -> None:
        if not request.url.endswith("/robots.txt"):
            await fleet.all_have_asked(servers)

    return wait


def slowly(seconds: float) -> Callable[[Request], Awaitable[None]]:
    async def wait(request: Request) -> None:
        await asyncio.sleep(seconds)

    return wait


async def test_ten_servers_visit_a_page_once_and_each_has_it(fleet: Fleet) -> None:
    fleet.client.before = held_for(fleet, 10)
    servers = await fleet.servers(10)
    readings = await asyncio.gather(*(server.fetch(ReadRequest(URL, deadline_s=PATIENCE_S)) for server in servers))
    assert len(fleet.client.requests) == 1
    assert {reading.document.text for reading in readings} == {"Served."}
    assert not any(reading.cached for reading in readings)


async def test_a_late_caller_gets_the_completed_reading(fleet: Fleet) -> None:
    one, other = await fleet.servers(2)
    await one.fetch(ReadRequest(URL))
    async with asyncio.timeout(PATIENCE_S):
        reading = await other.fetch(ReadRequest(URL))
    assert reading.cached and len(fleet.client.requests) == 1


async def test_a_refresh_loads_again(fleet: Fleet) -> None:
    one, other = await fleet.servers(2)
    await one.fetch(ReadRequest(URL))
    assert not (await other.fetch(ReadRequest(URL, cache=REFRESH))).cached
    assert not (await one.fetch(ReadRequest(URL, cache=REFRESH))).cached
    assert len(fleet.client.requests) == 3


async def test_a_call_without_reuse_does_not_wait_for_other_servers(fleet: Fleet) -> None:
    fleet.client.before = slowly(0.3)
    one, other = await fleet.servers(2)
    seen: list[str] = []
    first = asyncio.create_task(one.fetch(ReadRequest(URL)))
    async with asyncio.timeout(PATIENCE_S):
        while not fleet.client.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await other.fetch(
        ReadRequest(URL, cache=CachePolicy(reuse=Reuse.NONE)), on_visit=lambda visit: seen.append(visit.snapshot.url)
    )
    await first
    assert seen == [URL] and len(fleet.client.requests) == 2


async def test_a_page_that_is_not_there_is_not_there_for_all(fleet: Fleet) -> None:
    fleet.client = ScriptedBrowsers(status=404)
    fleet.client.before = held_for(fleet, 5)
    servers = await fleet.servers(5)
    found = await asyncio.gather(*(server.fetch(ReadRequest(URL)) for server in servers), return_exceptions=True)
    assert len(fleet.client.requests) == 1
    for error in found:
        assert isinstance(error, errors.HttpStatusError) and error.status == 404 and not error.retryable
        assert error.sentence() == cast(errors.HttpStatusError, found[0]).sentence()


async def test_a_retryable_error_is_shared_only_with_waiting_callers(fleet: Fleet) -> None:
    fleet.client = ScriptedBrowsers(status=429)
    fleet.client.before = held_for(fleet, 3)
    servers = await fleet.servers(3)
    found = await asyncio.gather(*(server.fetch(ReadRequest(URL)) for server in servers), return_exceptions=True)
    assert [type(error) for error in found] == [errors.HttpStatusError] * 3 and len(fleet.client.requests) == 1
    with pytest.raises(errors.HttpStatusError):
        await servers[0].fetch(ReadRequest(URL))
    assert len(fleet.client.requests) == 2
    fleet.client._more = {}
    async with asyncio.timeout(PATIENCE_S):
        assert not (await servers[1].fetch(ReadRequest(URL))).cached
    assert len(fleet.client.requests) == 3


async def test_a_permanent_error_is_shared_with_late_callers(fleet: Fleet) -> None:
    fleet.client = ScriptedBrowsers(status=404)
    one, other = await fleet.servers(2)
    for server in (one, other):
        with pytest.raises(errors.HttpStatusError):
            await server.fetch(ReadRequest(URL))
    assert len(fleet.client.requests) == 1


async def test_a_fault_of_one_server_is_not_that_of_another(fleet: Fleet) -> None:
    broken = True

    async def once(request: Request) -> None:
        nonlocal broken
        await asyncio.sleep(0.1)
        if broken:
            broken = False
            raise browser_errors.NoBrowserError("No browser here.")

    fleet.client.before = once
    servers = await fleet.servers(3)
    found = await asyncio.gather(*(server.fetch(ReadRequest(URL)) for server in servers), return_exceptions=True)
    assert sum(isinstance(one, errors.BrowserFailedError) for one in found) == 1
    assert sum(not isinstance(one, BaseException) for one in found) == 2
    assert len(fleet.client.requests) == 2


async def test_another_server_reads_after_a_canceled_one(fleet: Fleet) -> None:
    fleet.client.before = slowly(3_600)
    one, other = await fleet.servers(2)
    first = asyncio.create_task(one.fetch(ReadRequest(URL)))
    async with asyncio.timeout(PATIENCE_S):
        while not fleet.client.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    second = asyncio.create_task(other.fetch(ReadRequest(URL)))
    await asyncio.sleep(0.1)
    fleet.client.before = slowly(0)
    first.cancel()
    async with asyncio.timeout(PATIENCE_S):
        assert (await second).document.text == "Served."
    assert len(fleet.client.requests) == 2


async def test_servers_with_other_settings_do_not_share(fleet: Fleet) -> None:
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"allow_nets": ("10.0.0.0/8",)},
        {"language": "de"},
        {"tier": "full"},
        {"robots": "warn"},
        {"proxy": "http://proxy.example:3128"},
    )
    for chosen in ways:
        await (await fleet.server(**chosen)).fetch(ReadRequest(URL))
    await (await fleet.server()).fetch(ReadRequest(URL, principal="another caller"))
    assert [request.url for request in fleet.client.requests].count(URL) == len(ways) + 1


async def test_without_the_service_each_reads_for_itself(fleet: Fleet, redis: RedisServer) -> None:
    servers = await fleet.servers(2)
    await redis.stop()
    try:
        async with asyncio.timeout(PATIENCE_S):
            for server in servers:
                assert (await server.fetch(ReadRequest(URL))).document.text == "Served."
    finally:
        await redis.start()
    assert len(fleet.client.requests) == 2


class SlowVisitor(Visitor):
    """A visitor that awaits `wanted` before each visit."""

    wanted: Callable[[], Awaitable[None]] | None = None

    async def visit(self, job: VisitJob, *told: Any) -> VisitResult:
        if self.wanted is not None:
            await self.wanted()
        return await super().visit(job, *told)


async def test_concurrent_loads_of_structured_data_are_shared(fleet: Fleet) -> None:
    visitor = SlowVisitor(LD)
    visitor.wanted = lambda: fleet.all_have_asked(5)
    readers = await fleet.structured_readers(visitor, 5)
    found = await asyncio.gather(*(reader.extract(URL, deadline_s=PATIENCE_S) for reader in readers))
    assert len(visitor.jobs) == 1
    assert found[0].json_ld == ({"@type": "Product", "name": "Kettle"},)
    assert all(one == found[0] for one in found)
    assert await readers[1].extract(URL) == found[0]
    assert len(visitor.jobs) == 2


async def test_a_page_without_structure_is_none_for_all(fleet: Fleet) -> None:
    visitor = SlowVisitor("", media_type="text/plain", body=b"Text.", rendered=False)
    visitor.wanted = lambda: fleet.all_have_asked(3)
    readers = await fleet.structured_readers(visitor, 3)
    found = await asyncio.gather(
        *(reader.extract(URL, deadline_s=PATIENCE_S) for reader in readers), return_exceptions=True
    )
    assert len(visitor.jobs) == 1
    assert {str(one) for one in found} == {"shop.example sent a file of type text/plain, not a page."}
    assert all(isinstance(one, errors.UnsupportedTypeError) for one in found)
