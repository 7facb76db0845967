"""Fixtures of coordination state: of one process, and shared by several servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from scraper.coordination import valkey_client
from scraper.coordination.state import SharedState
from scraper.coordination.valkey_state import ValkeyState
from tests.scraper.coordination.redis_server import RedisServer, redis_server
from tests.scraper.coordination.waiting import SOON_S

Join = Callable[[], Awaitable[ValkeyState]]
"""Adds a server that shares the state."""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the timeouts: a machine that stalls for a second must not count as an unreachable service."""
    monkeypatch.setattr(valkey_client, "COMMAND_S", SOON_S / 2)
    monkeypatch.setattr(valkey_client, "CONNECT_S", SOON_S / 2)


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between retries."""
    monkeypatch.setattr(valkey_client, "FIRST_RETRY_S", 0.05)
    monkeypatch.setattr(valkey_client, "LAST_RETRY_S", 0.2)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RedisServer]:
    """Start one Redis for all tests that do not break it."""
    async with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
async def join(redis: RedisServer) -> AsyncIterator[Join]:
    """Empty the Redis and return a function that adds servers."""
    await redis.ask("FLUSHALL")
    joined: list[ValkeyState] = []

    async def one() -> ValkeyState:
        together = ValkeyState(redis.url)
        joined.append(together)
        await together.wait_connected(SOON_S)
        assert together.status().problem is None
        return together

    yield one
    for together in joined:
        await together.close()


@pytest.fixture(params=["alone", "together"])
async def state(request: pytest.FixtureRequest, join: Join) -> SharedState:
    """Return an empty state of each kind."""
    return SharedState() if request.param == "alone" else await join()
