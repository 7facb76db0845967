"""Any sequence of put, get and clear: the cache behaves like a dictionary."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scraper.store.protocols import CacheScope, PageStore
from scraper.store.sqlite import page_queries
from tests.scraper.store.conftest import entry, noise, opened, shared_pages, text_of
from tests.scraper.store.postgres_server import PostgresServer

KEYS = st.sampled_from(["https://a.example/", "https://b.example/", "https://c.example/?q=ä"])
METHODS = st.sampled_from(["http", "browser"])
OWNERS = st.sampled_from(["local", "other"])
TEXTS = st.text(alphabet="abc 学習\n\0", max_size=20)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, METHODS, OWNERS, TEXTS),
        st.tuples(st.just("get"), KEYS, METHODS, OWNERS, st.just("")),
        st.tuples(st.just("clear"), st.just(""), st.just(""), st.just(""), st.just("")),
        st.tuples(st.just("reopen"), st.just(""), st.just(""), st.just(""), st.just("")),
    ),
    max_size=15,
)


@given(STEPS)
def test_the_store_behaves_like_a_dictionary(steps: list[tuple[str, str, str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_played(lambda: opened(Path(folder)), steps))


@settings(max_examples=15, deadline=None)
@given(STEPS)
async def test_so_does_one_in_a_database(postgres: PostgresServer, steps: list[tuple[str, str, str, str, str]]) -> None:
    url = await postgres.database()
    await _played(lambda: shared_pages(url), steps)


async def _played(
    opening: Callable[[], AbstractAsyncContextManager[PageStore]], steps: list[tuple[str, str, str, str, str]]
) -> None:
    model: dict[tuple[str, str, str], str] = {}
    async with AsyncExitStack() as stack:
        pages = await stack.enter_async_context(opening())
        for step, key, method, owner, text in steps:
            if step == "put":
                pages.put(entry(key, text=text, method=method, scope=CacheScope(owner)))
                model[key, method, owner] = text
            elif step == "get":
                found = await text_of(pages, key, scope=CacheScope(owner), methods=(method,))
                assert found == model.get((key, method, owner))
            elif step == "clear":
                await pages.flush()
                assert await pages.clear() == len(model)
                model.clear()
            else:
                await stack.aclose()
                pages = await stack.enter_async_context(opening())
        assert sorted([kept.reading.document.text async for kept in pages.iter_entries()]) == sorted(model.values())


async def test_a_page_that_is_read_again_and_again_outlives_newer_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_queries, "TOUCH_AFTER_S", -1.0)
    async with opened(tmp_path, limit_bytes=1_000_000) as pages:
        pages.put(entry("https://example.org/loved", text="loved"))
        for number in range(150):
            pages.put(entry(f"https://example.org/{number}", text=noise(10_000 + 2 * number)))
            assert await text_of(pages, "https://example.org/loved") == "loved"
        assert await text_of(pages, "https://example.org/0") is None
