"""State that several servers share through one Redis."""

from __future__ import annotations

import asyncio
import time

import pytest

from scraper.coordination import valkey_client, valkey_state
from scraper.coordination.state import Cooldown, Lease, RateLimit, RetryLater, ThrottleTerms, WorkClaim, WorkCompleted
from scraper.coordination.valkey_state import ValkeyState
from tests.scraper.coordination.conftest import Join
from tests.scraper.coordination.redis_server import RedisServer
from tests.scraper.coordination.waiting import granted, outcome, refused, until
from tests.scraper.store.memory_search_cache import MemorySearchCache

LONG_S = 200.0
"""Seconds. Nothing expires during a test."""
LASTING = """
    local lasting = 0
    for _, key in ipairs(redis.call('KEYS', '*')) do
        if redis.call('PTTL', key) < 0 then lasting = lasting + 1 end
    end
    return lasting
"""


async def test_a_limit_is_held_once_by_all(join: Join) -> None:
    servers = [await join() for _ in range(3)]
    limit = RateLimit("calls", burst=10, per_second=0.01)
    granted = [not await server.limits.take(limit, "ann") for _ in range(10) for server in servers]
    assert sum(granted) == 10


async def test_all_servers_together_keep_the_rate(join: Join) -> None:
    servers = [await join() for _ in range(3)]
    limit, until = RateLimit("calls", burst=5, per_second=100), time.monotonic() + 1.0

    async def hurried(server: ValkeyState) -> int:
        granted = 0
        while time.monotonic() < until:
            granted += not await server.limits.take(limit, "ann")
        return granted

    total = sum(await asyncio.gather(*map(hurried, servers)))
    # A slow machine requests fewer calls than the limit allows: only a total above the limit is a fault.
    assert total <= 5 + 100 * 1.2


async def test_all_servers_together_keep_the_limit_of_leases(join: Join) -> None:
    one, other = await join(), await join()
    terms = ThrottleTerms(at_once=1)
    lease = await one.leases.take("host", terms)
    assert isinstance(lease, Lease)
    assert isinstance(await other.leases.take("host", terms), RetryLater)
    one.leases.give_back(lease)
    await granted(other.leases, "host", terms)


async def test_a_cooldown_applies_to_all_servers(join: Join) -> None:
    one, other = await join(), await join()
    await one.leases.start_cooldown("host", 30)
    got = await refused(other.leases, "host", ThrottleTerms())
    assert got.is_cooldown and 20 < got.seconds <= 30


async def test_leases_outlive_a_long_page_and_not_a_dead_server(
    join: Join, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey_client, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(valkey_state, "LEASE_S", LONG_S)
    one, other = await join(), await join()
    terms = ThrottleTerms(at_once=1)
    assert isinstance(await one.leases.take("host", terms), Lease)
    for _ in range(3):
        await _prolonged(redis, "search-mcp:held:{host}")
        assert isinstance(await other.leases.take("host", terms), RetryLater)
    monkeypatch.setattr(valkey_state, "LEASE_S", 0.3)
    await _cut_short(redis, "search-mcp:held:{host}")
    await _die(one)
    await granted(other.leases, "host", terms)


async def test_servers_are_counted_and_missed(join: Join) -> None:
    one, other = await join(), await join()
    await other.register()
    assert other.status().servers == 2
    await one.close()

    async def alone() -> bool:
        await other.register()
        return other.status().servers == 1

    await until(alone)


class TestClaims:
    async def test_one_server_does_the_work_and_others_get_the_result(self, join: Join) -> None:
        servers = [await join() for _ in range(10)]
        begun = [await server.claims.begin("page", waited=False) for server in servers]
        claims = [got for got in begun if isinstance(got, WorkClaim)]
        assert len(claims) == 1 and begun.count(None) == 9
        servers[begun.index(claims[0])].claims.complete(claims[0], b"text")
        got = [await outcome(server, waited=True) for server in servers]
        assert got == [WorkCompleted(b"text")] * 10

    async def test_a_refresh_discards_the_old_result(self, join: Join) -> None:
        one, other = await join(), await join()
        first = await one.claims.begin("page", waited=False)
        assert isinstance(first, WorkClaim)
        one.claims.complete(first, b"old")
        assert isinstance(await outcome(other, waited=False), WorkClaim)
        assert await one.claims.begin("page", waited=True) is None

    async def test_work_that_was_given_up_can_be_claimed(self, join: Join) -> None:
        one, other = await join(), await join()
        claim = await one.claims.begin("page", waited=False)
        assert isinstance(claim, WorkClaim)
        one.claims.give_up(claim)
        assert isinstance(await outcome(other, waited=True), WorkClaim)

    async def test_the_claim_of_a_dead_server_expires(
        self, join: Join, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(valkey_client, "HEARTBEAT_S", 0.1)
        monkeypatch.setattr(valkey_state, "CLAIM_S", LONG_S)
        one, other = await join(), await join()
        claim = await one.claims.begin("page", waited=False)
        assert isinstance(claim, WorkClaim)
        for _ in range(3):
            await _prolonged(redis, "search-mcp:claim:{page}")
        assert await other.claims.begin("page", waited=True) is None, "it still says that it lives"
        monkeypatch.setattr(valkey_state, "CLAIM_S", 0.3)
        await _cut_short(redis, "search-mcp:claim:{page}")
        await _die(one)
        monkeypatch.setattr(valkey_state, "CLAIM_S", LONG_S)
        got = await outcome(other, waited=True)
        assert isinstance(got, WorkClaim)
        one.claims.complete(claim, b"late")
        await one._valkey._send_batch()
        other.claims.complete(got, b"in time")
        assert await outcome(other, waited=True) == WorkCompleted(b"in time")


async def test_an_engine_that_walled_one_server_rests_for_all(join: Join) -> None:
    one, other = (await join()).cooldowns(MemorySearchCache()), (await join()).cooldowns(MemorySearchCache())
    assert await other.get_cooldown("bing", "direct") is None
    one.set_cooldown("bing", "direct", Cooldown("captcha", 2, 1, time.time() + 300))
    await until(lambda: other.get_cooldown("bing", "direct"))
    cooldown = await other.get_cooldown("bing", "direct")
    assert cooldown is not None
    assert (cooldown.reason, cooldown.step, cooldown.faults) == ("captcha", 2, 1)
    assert 290 < cooldown.until - time.time() <= 301
    assert await other.get_cooldown("bing", "another way out") is None
    other.set_cooldown("bing", "direct", None)

    async def forgotten() -> bool:
        return await one.get_cooldown("bing", "direct") is None

    await until(forgotten)


async def test_a_text_that_one_fetched_is_there_for_all(join: Join) -> None:
    one, other = await join(), await join()
    assert await other.blobs.get("robots:http://h.example") is None
    one.blobs.put("robots:http://h.example", b"\x00\xff", 60)
    await until(lambda: other.blobs.get("robots:http://h.example"))
    assert await other.blobs.get("robots:http://h.example") == b"\x00\xff"


async def test_every_key_runs_out(join: Join, redis: RedisServer) -> None:
    one = await join()
    await one.limits.take(RateLimit("calls", 2, 0.01), "ann")
    await one.leases.take("host", ThrottleTerms(at_once=2, gap_s=100))
    await one.leases.start_cooldown("host", 100)
    claim = await one.claims.begin("page", waited=False)
    assert isinstance(claim, WorkClaim)
    one.claims.complete(claim, b"text")
    one.cooldowns(MemorySearchCache()).set_cooldown("bing", "direct", Cooldown("captcha", until=time.time() + 100))
    one.blobs.put("text", b"text", 60)
    await until(lambda: one.blobs.get("text"))
    assert int((await redis.ask("DBSIZE")).removeprefix(":")) >= 7
    assert await redis.ask("EVAL", LASTING, "0") == ":0"


async def _prolonged(redis: RedisServer, key: str) -> None:
    """Return once the life of a key was made longer, which else grows shorter all the time."""
    least = LONG_S * 1_000

    async def grew() -> bool:
        nonlocal least
        left = await _left_ms(redis, key)
        least = min(least, left)
        return left > least

    await until(grew)


async def _cut_short(redis: RedisServer, key: str) -> None:
    """Return once a key lives no longer than a moment."""

    async def ends() -> bool:
        return await _left_ms(redis, key) <= 300

    await until(ends)


async def _left_ms(redis: RedisServer, key: str) -> int:
    return int((await redis.ask("PTTL", key)).removeprefix(":"))


async def _die(server: ValkeyState) -> None:
    """Stop a server abruptly, as in a crash."""
    for task in server._valkey._tasks:
        task.cancel()
    await asyncio.wait(server._valkey._tasks)
