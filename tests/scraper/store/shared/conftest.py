"""Short-lived state of each kind: of one process, and of servers that share it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from scraper.store.shared import valkey
from scraper.store.shared.alone import Alone
from scraper.store.shared.protocols import Shared
from scraper.store.shared.together import Together

from .redis_server import RedisServer, redis_server
from .waiting import SOON_S

Join = Callable[[], Awaitable[Together]]
"""One more server that shares the state."""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for a second is no service that is away."""
    monkeypatch.setattr(valkey, "COMMAND_S", SOON_S / 2)
    monkeypatch.setattr(valkey, "GREETING_S", SOON_S / 2)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RedisServer]:
    """One Redis for all tests that do not break it."""
    async with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
async def join(redis: RedisServer) -> AsyncIterator[Join]:
    """Servers that share an empty Redis."""
    await redis.ask("FLUSHALL")
    joined: list[Together] = []

    async def one() -> Together:
        together = Together(redis.url)
        joined.append(together)
        await together.met(SOON_S)
        assert together.status().problem is None
        return together

    yield one
    for together in joined:
        await together.close()


@pytest.fixture(params=["alone", "together"])
async def state(request: pytest.FixtureRequest, join: Join) -> Shared:
    """The state of each kind, empty."""
    return Alone() if request.param == "alone" else await join()
