"""Servers of stand-in tools, shared by the tests that do not end them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest_asyncio

from tests.scraper.process import Program, serving

STAND_IN = ("-m", "tests.scraper.server.stand_in")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[Program]:
    """A server over HTTP, open to everyone on loopback."""
    async with serving(*STAND_IN, "http") as program:
        yield program


@pytest_asyncio.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """A plain HTTP client, for what the SDK's client does not do."""
    async with aiohttp.ClientSession() as session:
        yield session
