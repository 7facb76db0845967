"""Limits per host: gaps, concurrency and cooldowns; and the error if there is no turn in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, cast

import pytest

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.model import Request
from scraper import errors
from scraper.call_context import Deadline
from scraper.coordination.state import Leases
from scraper.model import ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.reading.politeness import COOLDOWN_LIMIT_S, HostThrottle
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.workers import WorkerPool
from tests.scraper.reading.fakes import CountingPages, ScriptedBrowsers, ScriptedWorkers
from tests.scraper.soon import soon

HOST = "example.org"


def fetcher(client: ScriptedBrowsers, **chosen: Any) -> Fetcher:
    """Return a fetcher over fake browsers."""
    return Fetcher(
        cast(Browsers, client),
        cast(WorkerPool, ScriptedWorkers()),
        cast(PageStore, CountingPages()),
        Settings(cache_mb=0, **chosen),
    )


def url(number: int, host: str = HOST) -> str:
    return f"http://{host}/{number}"


class Counted:
    """Delay the pages of fake browsers and count how many of each host are open at once."""

    def __init__(self, client: ScriptedBrowsers, seconds: float = 0.02) -> None:
        self.most = 0
        self.starts: list[float] = []
        self._open: dict[str, int] = {}
        self._seconds = seconds
        client.before = self.before

    async def before(self, request: Request) -> None:
        host = request.url.split("/")[2]
        self.starts.append(time.monotonic())
        self._open[host] = self._open.get(host, 0) + 1
        self.most = max(self.most, self._open[host])
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._open[host] -= 1


class TestPagesAtOnce:
    async def test_concurrent_pages_of_a_host_are_limited_and_all_are_read(self) -> None:
        client = ScriptedBrowsers()
        counted, reads = Counted(client), fetcher(client, host_pages=2)
        async with asyncio.timeout(30):
            readings = await asyncio.gather(*(reads.fetch(ReadRequest(url(number))) for number in range(20)))
        assert counted.most == 2 and len({reading.url for reading in readings}) == 20

    async def test_other_hosts_do_not_wait(self) -> None:
        client = ScriptedBrowsers()
        reads = fetcher(client, host_pages=1)
        held = asyncio.Event()

        async def hold(request: Request) -> None:
            if HOST in request.url:
                await held.wait()

        client.before = hold
        slow = asyncio.create_task(reads.fetch(ReadRequest(url(1))))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await reads.fetch(ReadRequest(url(1, "other.example")))
        held.set()
        await slow

    async def test_a_caller_with_many_pages_does_not_block_one_with_one(self) -> None:
        client = ScriptedBrowsers()
        Counted(client)
        reads, order = fetcher(client, host_pages=1), list[str]()

        async def read(number: int, principal: str) -> None:
            await reads.fetch(ReadRequest(url(number), principal=principal))
            order.append(principal)

        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(read(number, "many"))
            group.create_task(read(100, "one"))
        assert order.index("one") <= 4

    async def test_a_failed_or_cancelled_page_releases_its_slot(self) -> None:
        client = ScriptedBrowsers(status=500)
        reads = fetcher(client, host_pages=1)
        with pytest.raises(errors.HttpStatusError):
            await reads.fetch(ReadRequest(url(1), deadline_s=5))

        async def for_ever(request: Request) -> None:
            await asyncio.Event().wait()

        client.before = for_ever
        task = asyncio.create_task(reads.fetch(ReadRequest(url(2))))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait({task})
        client.before = ScriptedBrowsers().before
        async with asyncio.timeout(60):
            with pytest.raises(errors.HttpStatusError):
                await reads.fetch(ReadRequest(url(3), deadline_s=5))

    async def test_a_visit_without_a_slot_before_the_deadline_is_refused(self) -> None:
        client, held = ScriptedBrowsers(), asyncio.Event()

        async def hold(request: Request) -> None:
            await held.wait()

        client.before = hold
        reads = fetcher(client, host_pages=1)
        slow = asyncio.create_task(reads.fetch(ReadRequest(url(1))))
        await asyncio.sleep(0.02)
        with pytest.raises(errors.HostBusyError, match="limit of concurrent requests") as refused:
            await reads.fetch(ReadRequest(url(2), deadline_s=1.5))
        assert refused.value.retryable and refused.value.retry_after_s >= 1
        held.set()
        await slow

    async def test_a_full_queue_refuses_visits(self) -> None:
        client, held = ScriptedBrowsers(), asyncio.Event()

        async def hold(request: Request) -> None:
            await held.wait()

        client.before = hold
        reads = fetcher(client, host_pages=1, queue_limit=3)
        tasks = [asyncio.create_task(reads.fetch(ReadRequest(url(number)))) for number in range(4)]
        await asyncio.sleep(0.05)
        with pytest.raises(errors.HostBusyError):
            await reads.fetch(ReadRequest(url(9)))
        patient = asyncio.create_task(reads.fetch(ReadRequest(url(10), principal="another caller")))
        await asyncio.sleep(0.05)
        assert not patient.done()
        held.set()
        async with asyncio.timeout(60):
            await asyncio.gather(*tasks, patient)

    async def test_a_refused_visit_leaves_no_queue(self) -> None:
        polite = HostThrottle(Leases(), Settings(host_pages=1, queue_limit=1))
        deadline = Deadline.within(60)

        async def wait() -> None:
            async with polite.turn(HOST, "local", deadline):
                pass

        async with polite.turn(HOST, "local", deadline), polite.turn("other.example", "local", deadline):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0.01)
            with pytest.raises(errors.HostBusyError):
                async with polite.turn("other.example", "local", deadline):
                    pass
            assert list(polite._queues) == [HOST]
        await waiting
        assert not polite._queues


class TestTheGap:
    async def test_visits_to_one_host_observe_the_gap(self) -> None:
        client = ScriptedBrowsers()
        counted, reads = Counted(client, 0), fetcher(client, host_gap_s=0.15)
        begun = time.monotonic()
        async with asyncio.timeout(30):
            await asyncio.gather(*(reads.fetch(ReadRequest(url(number))) for number in range(4)))
        # On a slow machine two visits may be closer together, if the first of them came late.
        since = [start - begun for start in counted.starts]
        assert all(passed >= 0.15 * number - 0.01 for number, passed in enumerate(since)), since

    async def test_a_gap_beyond_the_deadline_is_refused_at_once(self) -> None:
        reads = fetcher(ScriptedBrowsers(), host_gap_s=60)
        await reads.fetch(ReadRequest(url(1)))
        begun = time.monotonic()
        with pytest.raises(errors.HostBusyError, match=r"Requests to example\.org are 60 s apart") as refused:
            await reads.fetch(ReadRequest(url(2), deadline_s=20))
        assert time.monotonic() - begun < 5 and 50 < refused.value.retry_after_s <= 60
        assert "Try again in" in refused.value.sentence()

    async def test_a_visit_too_far_back_in_the_queue_is_refused_at_once(self) -> None:
        reads = fetcher(ScriptedBrowsers(), host_gap_s=5)
        await reads.fetch(ReadRequest(url(0)))
        tasks = [asyncio.create_task(reads.fetch(ReadRequest(url(number), deadline_s=30))) for number in range(1, 8)]
        done, waiting = await asyncio.wait(tasks, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            assert isinstance(task.exception(), errors.HostBusyError)
        assert 1 <= len(done) <= 4
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)

    async def test_a_retry_without_a_slot_returns_the_first_response(self) -> None:
        client = ScriptedBrowsers(status=503)
        with pytest.raises(errors.HttpStatusError):
            await fetcher(client, host_gap_s=60).fetch(ReadRequest(url(1), deadline_s=10))
        assert len(client.requests) == 1


class TestRetryAfter:
    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_host_with_retry_after_is_not_visited(self, status: int) -> None:
        client = ScriptedBrowsers(status=status, headers={"retry-after": "60"})
        reads = fetcher(client)
        with pytest.raises(errors.ScraperError, match=str(status)):
            await reads.fetch(ReadRequest(url(1), deadline_s=5))
        begun = time.monotonic()
        with pytest.raises(errors.HostBusyError, match="has requested a pause") as refused:
            await reads.fetch(ReadRequest(url(2), deadline_s=600))
        assert time.monotonic() - begun < 10
        assert 50 < refused.value.retry_after_s <= 60 and len(client.requests) == 1
        with pytest.raises(errors.ScraperError, match=str(status)):
            await reads.fetch(ReadRequest(url(2, "other.example"), deadline_s=5))

    async def test_a_short_pause_is_waited_for(self) -> None:
        client = ScriptedBrowsers(status=429, headers={"retry-after": "1"})
        begun = time.monotonic()
        with pytest.raises(errors.HttpStatusError):
            await fetcher(client).fetch(ReadRequest(url(1), deadline_s=20))
        assert time.monotonic() - begun >= 1 and len(client.requests) == 2

    async def test_retry_after_may_be_a_date_and_is_limited(self) -> None:
        later = datetime.now(UTC) + timedelta(days=30)
        client = ScriptedBrowsers(status=503, headers={"retry-after": format_datetime(later, usegmt=True)})
        reads = fetcher(client)
        with pytest.raises(errors.HttpStatusError):
            await reads.fetch(ReadRequest(url(1), deadline_s=5))
        with pytest.raises(errors.HostBusyError) as refused:
            await reads.fetch(ReadRequest(url(2), deadline_s=5))
        assert COOLDOWN_LIMIT_S - 60 < refused.value.retry_after_s <= COOLDOWN_LIMIT_S

    @pytest.mark.parametrize(
        ("status", "value"),
        [
            (200, "60"),
            (404, "60"),
            (429, "soon"),
            (429, "-5"),
            # Dates outside the range of `datetime`.
            (429, "Fri, 31 Dec 9999 23:59:59 -0500"),
            (429, "Wed, 21 Oct 99999999999999999999 07:28:00 GMT"),
            (429, "Wed, 21 Oct 2026 07:28:00 +99999999999999"),
        ],
    )
    async def test_a_response_without_retry_after_starts_no_cooldown(self, status: int, value: str) -> None:
        client = ScriptedBrowsers(status=status, headers={"retry-after": value})
        reads = fetcher(client)
        for number in range(2):
            try:
                await reads.fetch(ReadRequest(url(number), deadline_s=5))
            except errors.HttpStatusError as error:
                assert error.status == status
        assert len(client.requests) == 2

    @pytest.mark.parametrize(
        "fault",
        [
            browser_errors.PageCrashedError("It crashed."),
            browser_errors.BlockedAddressError("It leads to a host that is not public."),
        ],
    )
    async def test_retry_after_applies_even_if_rendering_failed(self, fault: browser_errors.BrowsersError) -> None:
        async def fail(request: Request) -> None:
            raise fault

        client = ScriptedBrowsers("<p>CAPTCHA</p>", status=503, headers={"retry-after": "60"})
        client.while_rendering = fail
        reads = fetcher(client)
        with pytest.raises(errors.ScraperError):
            await reads.fetch(ReadRequest(url(1), deadline_s=5))
        asked = len(client.requests)
        with pytest.raises(errors.HostBusyError, match="has requested a pause"):
            await reads.fetch(ReadRequest(url(2), deadline_s=5))
        assert len(client.requests) == asked

    async def test_cached_pages_are_returned_during_a_cooldown(self) -> None:
        client = ScriptedBrowsers()
        reads = Fetcher(
            cast(Browsers, client), cast(WorkerPool, ScriptedWorkers()), cast(PageStore, CountingPages()), Settings()
        )
        await reads.fetch(ReadRequest(url(1)))
        client._more = {"status": 429, "headers": {"retry-after": "60"}}
        with pytest.raises(errors.ScraperError):
            await reads.fetch(ReadRequest(url(2), deadline_s=5))
        assert (await reads.fetch(ReadRequest(url(1)))).cached


class TestManyServers:
    @pytest.fixture
    async def polite(self) -> AsyncIterator[list[HostThrottle]]:
        """Return the throttles of several servers that share one state."""
        leases = Leases()
        yield [HostThrottle(leases, Settings(host_pages=3)) for _ in range(4)]

    async def test_the_queue_limit_is_for_all_hosts(self, polite: list[HostThrottle]) -> None:
        async with AsyncExitStack() as stack:
            for one in polite[:3]:
                await stack.enter_async_context(one.turn(HOST, "local", Deadline.within(5)))
            with pytest.raises(errors.HostBusyError):
                await stack.enter_async_context(polite[3].turn(HOST, "local", Deadline.within(0.2)))


async def test_a_turn_without_limits_is_cheap() -> None:
    polite = HostThrottle(Leases(), Settings())
    deadline = Deadline.within(60)
    with soon():  # measured: 12 us for each; a page costs ten thousand
        for _ in range(2_000):
            async with polite.turn(HOST, "local", deadline):
                pass
