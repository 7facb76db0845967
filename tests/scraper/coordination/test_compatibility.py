"""Keys that an earlier version of the program wrote to Valkey can be read, so that servers are upgraded one by one.

The keys in `version_1` were written by revision 999d7b1, before classes and fields were renamed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
import zlib
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from redis.asyncio import Redis

from scraper import errors
from scraper.caching import DistributedSingleFlight
from scraper.call_context import Deadline
from scraper.coordination import valkey_client
from scraper.coordination.state import RateLimit, RetryLater, ThrottleTerms, WorkClaims, WorkCompleted
from scraper.model import Link, Reading, StructuredData
from scraper.reading.robots import RobotsFiles
from tests.scraper.coordination.conftest import Join
from tests.scraper.coordination.redis_server import RedisServer
from tests.scraper.store.memory_search_cache import MemorySearchCache

KEYS = Path(__file__).parent / "version_1" / "valkey.json"
URL = "https://example.org/mill"
HOUR_MS = 3_600_000


async def restore_keys(redis: RedisServer) -> None:
    """Write the keys as if the earlier version had written them just now."""
    recorded = json.loads(KEYS.read_text())
    shift_ms = time.time() * 1_000 - recorded["now_ms"]
    client = Redis.from_url(redis.url)
    for item in recorded["keys"]:
        key, value = item["key"], item["value"]
        match item["type"]:
            case "zset":
                await client.zadd(key, {member: score + shift_ms for member, score in value})
            case "hash":
                await client.hset(key, mapping={**value, "until": round(int(value["until"]) + shift_ms)})
            case "string":
                data = base64.b64decode(value)
                if ":limit:" in key:
                    data = f"{float(data) + shift_ms:.3f}".encode()
                if ":text:" in key:
                    text, fetched_at, failed_since, failure, expires_at, *more = json.loads(zlib.decompress(data))
                    times = (fetched_at + shift_ms / 1_000, failed_since, failure, expires_at + shift_ms / 1_000)
                    data = zlib.compress(json.dumps([text, *times, *more]).encode())
                await client.set(key, data)
        await client.pexpire(key, HOUR_MS)
    await client.aclose()


async def test_throttling_of_an_earlier_version_is_in_force(
    redis: RedisServer, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey_client, "HEARTBEAT_S", 0.05)
    await restore_keys(redis)
    one = await join()
    assert 0 < await one.limits.take(RateLimit("calls", burst=3, per_second=1 / 3_600), "anna") <= 3_600
    assert not await one.limits.take(RateLimit("calls", burst=3, per_second=1 / 3_600), "berta")
    full = await one.leases.take("full.example", ThrottleTerms(at_once=2))
    assert isinstance(full, RetryLater) and not full.known
    gap = await one.leases.take("gap.example", ThrottleTerms(gap_s=3_600))
    assert isinstance(gap, RetryLater) and gap.seconds > 60
    cooling = await one.leases.take("tired.example", ThrottleTerms())
    assert isinstance(cooling, RetryLater) and cooling.is_cooldown
    cooldown = await one.cooldowns(MemorySearchCache()).get_cooldown("bing", "direct")
    assert cooldown is not None
    assert (cooldown.reason, cooldown.step, cooldown.faults) == ("captcha", 2, 1)
    assert cooldown.until == pytest.approx(time.time() + 3_600, abs=600)
    async with asyncio.timeout(30):
        while one.status().servers != 2:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_work_of_an_earlier_version_is_shared(redis: RedisServer, join: Join) -> None:
    await restore_keys(redis)
    one = await join()
    assert await one.claims.begin("taken", waited=True) is None

    async def claims_of(key: str) -> Any:
        completed = await one.claims.begin(key, waited=True)
        assert isinstance(completed, WorkCompleted)
        claims = mock.create_autospec(WorkClaims, instance=True)
        claims.begin.return_value = completed
        return claims

    async def work() -> Any:
        raise AssertionError("the result of the other server is not used")

    reading = await DistributedSingleFlight(Reading, await claims_of("reading")).join("x", work, is_refresh=False)
    assert (reading.url, reading.document.title, reading.etag, reading.cached) == (URL, "The mill", '"1"', True)
    assert reading.document.links == (Link("https://example.org/next", "next"),)
    data = await DistributedSingleFlight(StructuredData, await claims_of("structured")).join(
        "x", work, is_refresh=False
    )
    assert data.json_ld == ({"@type": "Product", "name": "Mill"},)
    with pytest.raises(errors.BlockedBySiteError, match="The site blocks it") as blocked:
        await DistributedSingleFlight(Reading, await claims_of("blocked")).join("x", work, is_refresh=False)
    assert (blocked.value.reason, blocked.value.target, blocked.value.next_step) == ("captcha", URL, "Try later.")


async def test_a_robots_file_of_an_earlier_version_is_read(redis: RedisServer, join: Join) -> None:
    await restore_keys(redis)
    one = await join()

    async def fetch(*_: Any, **__: Any) -> Any:
        raise AssertionError("the stored file is not used")

    files = RobotsFiles(fetch, one.blobs)
    assert not (await files.decide("https://example.org/private/page", "local", Deadline.within(5))).allowed
    assert (await files.decide("https://example.org/open", "local", Deadline.within(5))).allowed
