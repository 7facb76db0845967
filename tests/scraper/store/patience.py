"""Helpers that poll a database until a condition holds, and open a store on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from scraper.engines.model import SearchAnswer
from scraper.settings import Settings
from scraper.store.factory import Store, open_store
from scraper.store.protocols import PageStore
from tests.scraper.store.conftest import PATIENCE_S, text_of

NONE: frozenset[str] = frozenset()


async def until(happens: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await happens():  # noqa: ASYNC110 - the database sends no event
            await asyncio.sleep(0.05)


async def nothing_waits(pages: PageStore) -> bool:
    await pages.flush()
    return (await pages.stats()).waiting == 0


@asynccontextmanager
async def store_of(url: str, tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(Settings(database_url=url, data_dir=tmp_path))
    try:
        yield store
    finally:
        await store.close()


def answer() -> SearchAnswer:
    return SearchAnswer("query", (), ("bing",), {}, "", retrieved_at=datetime.now(UTC))


async def is_there(pages: PageStore, key: str) -> bool:
    return await text_of(pages, key) is not None


async def has_problem(store: Store) -> bool:
    return store.problem is not None
