"""Servers of stand-in tools, shared by the tests that do not end them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from tests.scraper.process import Program, serving

STAND_IN = ("-m", "tests.scraper.server.stand_in")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[Program]:
    """Start a server over HTTP without tokens on loopback."""
    async with serving(*STAND_IN, "http") as program:
        yield program


@pytest.fixture
def word(tmp_path: Path) -> Path:
    """Return the path of a file whose creation ends a `slow` call."""
    return tmp_path / "word"


@pytest_asyncio.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """Open a plain HTTP client, for requests that the SDK's client cannot send."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture(scope="session", autouse=True)
def _loopback_without_a_proxy() -> Iterator[None]:
    """Disable the developer's proxy, which the SDK's client would use for loopback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1,localhost")
        yield
