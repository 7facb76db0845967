"""Redis is stopped, full, slow, refuses, or is no Redis: a clear status, and no call fails or hangs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from scraper.coordination import valkey_client, valkey_state
from scraper.coordination.state import Cooldown, Lease, RateLimit, RetryLater, ThrottleTerms, WorkClaim
from scraper.coordination.valkey_state import ValkeyState
from tests.scraper.coordination.members import LIMIT, SECRET, answering, does_everything, member, said_of
from tests.scraper.coordination.redis_server import RedisServer, delayed, redis_server
from tests.scraper.coordination.waiting import SOON_S, refused, until
from tests.scraper.store.memory_search_cache import MemorySearchCache

pytestmark = pytest.mark.usefixtures("quick_retries")


async def until_there(together: ValkeyState) -> None:
    """Return when the service is there."""

    async def there() -> bool:
        return not together.status().away

    await until(there)


async def until_away(together: ValkeyState) -> None:
    """Call the state until it reports that the service is unreachable."""

    async def away() -> bool:
        await together.limits.take(RateLimit("asking", 1_000, 1_000), "x")
        return together.status().away

    await until(away)


async def test_a_restart_of_the_service_fails_no_call(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, member(redis.url) as one:
        await does_everything(one)
        await redis.stop()
        await until_away(one)
        assert "cannot be reached" in said_of(one)
        await does_everything(one)
        await redis.start()
        await until_there(one)
        await does_everything(one)


async def test_without_the_service_each_server_keeps_its_share(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, contextlib.AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(member(redis.url)) for _ in range(5)]
        for server in servers:
            await server.register()
        assert {server.status().servers for server in servers} == {5}
        await redis.stop()
        for server in servers:
            await until_away(server)
        granted = [not await server.limits.take(LIMIT, "ann") for _ in range(10) for server in servers]
        assert sum(granted) == LIMIT.burst
        terms = ThrottleTerms(at_once=10)
        leases = [await server.leases.take("host", terms) for _ in range(10) for server in servers]
        assert sum(isinstance(lease, Lease) for lease in leases) == 10
        assert isinstance(await servers[0].leases.take("slow host", ThrottleTerms(gap_s=1)), Lease)
        wait = await servers[0].leases.take("slow host", ThrottleTerms(gap_s=1))
        assert isinstance(wait, RetryLater) and 4 < wait.seconds <= 5


async def test_a_loss_of_the_service_allows_no_new_burst(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, member(redis.url) as one:
        while not await one.limits.take(LIMIT, "spent"):
            pass
        await redis.stop()
        await until_away(one)
        assert await one.limits.take(LIMIT, "spent") > 0
        assert await one.limits.take(LIMIT, "unspent") == 0


async def test_a_server_that_never_saw_another_assumes_one() -> None:
    async with member("redis://127.0.0.1:1/0") as one:
        assert one.status().servers == valkey_client.ASSUMED_SERVERS
        granted = [not await one.limits.take(LIMIT, "ann") for _ in range(10)]
        assert sum(granted) == LIMIT.burst // valkey_client.ASSUMED_SERVERS


async def test_local_leases_and_cooldowns_are_published_on_reconnection(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, member(redis.url) as one, member(redis.url) as other:
        before = await one.leases.take("host", ThrottleTerms(at_once=2))
        cooldowns = one.cooldowns(MemorySearchCache())
        await redis.stop()
        await until_away(one)
        await one.leases.start_cooldown("tired host", 60)
        cooldowns.set_cooldown("bing", "direct", Cooldown("captcha", 1, 0, time.time() + 60))
        during = await one.leases.take("other host", ThrottleTerms(at_once=1))
        assert isinstance(before, Lease) and isinstance(during, Lease)
        await redis.start()
        await until_there(one)
        await until_away_and_there(other)
        assert (await refused(other.leases, "tired host", ThrottleTerms())).is_cooldown
        for host in ("host", "other host"):
            await refused(other.leases, host, ThrottleTerms(at_once=1))
        await until(lambda: other.cooldowns(MemorySearchCache()).get_cooldown("bing", "direct"))


async def until_away_and_there(together: ValkeyState) -> None:
    """Return when a service that was restarted is there, whether or not it was missed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.5):
            await until_away(together)
    await until_there(together)


async def test_a_shared_cooldown_stays_in_force_without_the_service(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, member(redis.url) as one, member(redis.url) as other:
        await one.leases.start_cooldown("tired host", 60)
        assert (await refused(other.leases, "tired host", ThrottleTerms())).is_cooldown
        await redis.stop()
        await until_away(other)
        got = await other.leases.take("tired host", ThrottleTerms())
        assert isinstance(got, RetryLater) and got.is_cooldown and got.seconds > 30


async def test_state_is_published_again_after_a_flush_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey_client, "HEARTBEAT_S", 0.1)
    async with redis_server(tmp_path) as redis, member(redis.url) as one, member(redis.url) as other:
        assert isinstance(await one.leases.take("host", ThrottleTerms(at_once=1)), Lease)
        claim = await one.claims.begin("page", waited=False)
        assert isinstance(claim, WorkClaim)
        await one.leases.start_cooldown("tired host", 60)
        one.cooldowns(MemorySearchCache()).set_cooldown("bing", "direct", Cooldown("captcha", 1, 0, time.time() + 60))
        told = ("held:{host}", "claim:{page}", "rests:{tired host}")
        await until_known(redis, *told)
        await until(lambda: other.cooldowns(MemorySearchCache()).get_cooldown("bing", "direct"))
        await redis.ask("FLUSHALL")
        assert (await refused(other.leases, "tired host", ThrottleTerms())).is_cooldown
        await until(lambda: other.cooldowns(MemorySearchCache()).get_cooldown("bing", "direct"))
        await until_known(redis, *told)
        assert isinstance(await other.leases.take("host", ThrottleTerms(at_once=1)), RetryLater)
        assert await other.claims.begin("page", waited=True) is None


async def until_known(redis: RedisServer, *keys: str) -> None:
    """Return once the service knows all of these."""
    words = [f"search-mcp:{key}" for key in keys]

    async def are_there() -> bool:
        return await redis.ask("EXISTS", *words) == f":{len(words)}"

    await until(are_there)


async def test_a_full_service_is_away_until_there_is_room(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, member(redis.url) as one:
        await does_everything(one)
        await redis.ask("CONFIG", "SET", "maxmemory", "1kb")
        await until_away(one)
        assert "is full" in said_of(one)
        await does_everything(one)
        await redis.ask("CONFIG", "SET", "maxmemory", "100mb")
        await until_there(one)
        await does_everything(one)


async def test_the_note_about_eviction_ends_with_the_policy(tmp_path: Path) -> None:
    options = ("--maxmemory", "50mb", "--maxmemory-policy")
    async with redis_server(tmp_path, *options, "allkeys-lru") as redis, member(redis.url) as one:
        assert "noeviction" in (one.status().note or "")
        await redis.stop()
        await until_away(one)
        redis.options = (*options, "noeviction")
        await redis.start()
        await until_there(one)
        assert "noeviction" not in (one.status().note or "")


async def test_a_slow_service_is_waited_for_and_named(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, delayed(redis.port, 0.1) as slow, member(slow.url) as one:
        assert not one.status().away
        await does_everything(one)
        status = one.status()
        assert status.slow and status.note is not None and "is slow" in status.note
        assert not status.away


async def test_on_a_line_of_200_ms_each_way_many_may_ask_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The usual limit of a command; the extra time for a slow connection suffices for any machine.
    monkeypatch.setattr(valkey_client, "COMMAND_S", 1.0)
    monkeypatch.setattr(valkey_client, "SLOWDOWN", SOON_S)
    # Each call needs a separate connection and logs in first.
    async with redis_server(tmp_path, password=SECRET) as redis, delayed(redis.port, 0.2) as slow:
        url = slow.url.replace("redis://", f"redis://:{SECRET}@")
        async with member(url) as one:
            await until_there(one)
            asked = [one.limits.take(LIMIT, f"caller {number}") for number in range(10)]
            assert await asyncio.gather(*asked) == [0.0] * 10
            assert one.status().slow and not one.status().away


async def test_a_service_that_does_not_answer_at_all_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_client, "CONNECT_S", 1.0)
    async with silent() as port:
        begun = time.monotonic()
        async with member(f"redis://127.0.0.1:{port}/0") as one:
            assert "does not answer in time" in said_of(one)
            await does_everything(one)
        assert time.monotonic() - begun < 3 * SOON_S


async def test_an_unresponsive_service_delays_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_client, "COMMAND_S", 0.3)
    async with redis_server(tmp_path) as redis, delayed(redis.port, 0.0) as way, member(way.url) as one:
        # Allow any time for a connection.
        monkeypatch.setattr(valkey_client, "CONNECT_S", 3_600)
        await does_everything(one)
        way.delay_s = 3_600
        await until_away(one)
        await does_everything(one)


async def test_the_log_says_in_a_sentence_that_it_is_away_and_that_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger=valkey_client.log.name)
    async with redis_server(tmp_path) as redis, member(redis.url) as one:
        await redis.stop()
        await until_away(one)
        await does_everything(one)
        await redis.start()
        await until_there(one)
    place = f"The shared state at 127.0.0.1:{redis.port}"
    there, away, *_, back = (record.getMessage() for record in caplog.records)
    assert there == back == f"shared state usable: {place}"
    assert away == f"continuing without the shared state: {place} cannot be reached, or closed the connection."


async def test_a_service_that_is_away_is_tried_again_after_a_pause_each_time() -> None:
    tries = 0

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal tries
        tries += 1
        writer.close()

    async def tried_often() -> bool:
        return tries >= 6

    service = await asyncio.start_server(refuse, "127.0.0.1", 0)
    began = time.monotonic()
    try:
        async with member(f"redis://127.0.0.1:{service.sockets[0].getsockname()[1]}/0") as one:
            await until(tried_often)
            assert one.status().away
    finally:
        service.close()
    # Half of 50, 100, 200, 200 and 200 ms at the least.
    assert time.monotonic() - began > 0.35


async def test_scripts_that_the_service_has_forgotten_are_sent_again(redis: RedisServer) -> None:
    async with member(redis.url) as one:
        await redis.ask("SCRIPT", "FLUSH")
        assert not await one.limits.take(LIMIT, "after the flush")
        await redis.ask("SCRIPT", "FLUSH")
        await one.leases.start_cooldown("host after the flush", 60)
        assert (await refused(one.leases, "host after the flush", ThrottleTerms())).is_cooldown


async def test_a_call_that_is_cancelled_does_not_go_on(redis: RedisServer) -> None:
    async with member(redis.url) as one:

        async def asked() -> None:
            await one.limits.take(RateLimit("cancelled", 1_000, 1_000), "x")
            await asyncio.Event().wait()

        for steps in (*range(12), *range(12)):
            task = asyncio.create_task(asked())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task}, timeout=SOON_S)
            assert task.cancelled()
        assert not one.status().away


@pytest.mark.parametrize("kind", ["held", "claim"])
async def test_a_grant_to_a_canceled_call_is_withdrawn(
    redis: RedisServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than the waits below, so that nothing expires.
    monkeypatch.setattr(valkey_state, "LEASE_S", 60.0)
    monkeypatch.setattr(valkey_state, "CLAIM_S", 60.0)
    async with member(redis.url) as one:
        await until_there(one)
        for steps in (*range(12), *range(12)):
            name = f"cancelled-{kind}-{steps}"
            asked: Coroutine[Any, Any, object] = (
                one.leases.take(name, ThrottleTerms(1)) if kind == "held" else one.claims.begin(name, waited=True)
            )
            task = asyncio.create_task(asked)
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task}, timeout=SOON_S)
            if not task.cancelled() and isinstance(got := task.result(), Lease):
                one.leases.give_back(got)
            elif not task.cancelled() and isinstance(got, WorkClaim):
                one.claims.give_up(got)

            async def is_free(name: str = name) -> bool:
                return await redis.ask("EXISTS", f"search-mcp:{kind}:{{{name}}}") == ":0"

            await until(is_free)


@contextlib.asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """Run a server that accepts connections and never answers."""
    async with answering(b"") as port:
        yield port
