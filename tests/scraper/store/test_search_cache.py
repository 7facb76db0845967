"""Search answers are stored unchanged and by principal; a damaged file is a cache miss."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scraper.coordination.state import Cooldown
from scraper.engines.model import SearchAnswer, SearchResult
from scraper.store.postgres.database import PostgresPool
from scraper.store.postgres.stores import PostgresSearchCache
from scraper.store.protocols import CacheScope
from scraper.store.search_cache import FILE_NAME, SearchCache, open_search_cache
from tests.scraper.store.memory_search_cache import MemorySearchCache

HERE = CacheScope()


def answer(age: timedelta = timedelta()) -> SearchAnswer:
    now = datetime.now(UTC)
    full = SearchResult(
        "Title 天気", "https://a.example/", "Snippet", ("mojeek", "bing"), 0.0325, now, "Paper", ("https://b.example/",)
    )
    return SearchAnswer(
        "query",
        (full, SearchResult("Bare", "https://c.example/", "", ("bing",), 0.0164)),
        ("mojeek", "bing", "brave"),
        {"brave": "captcha"},
        "Try others.",
        retrieved_at=now - age,
        warnings=("A warning.",),
    )


@pytest.fixture(params=["sqlite", "memory", "postgres"])
async def searches(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SearchCache]:
    if request.param != "postgres":
        yield open_search_cache(tmp_path) if request.param == "sqlite" else MemorySearchCache()
        return
    server = PostgresPool(await request.getfixturevalue("postgres").database())
    yield PostgresSearchCache(server)
    await server.disconnect()


async def test_an_answer_is_stored_unchanged(searches: SearchCache) -> None:
    kept = answer()
    searches.put("key", kept, scope=HERE)
    assert await searches.get("key", scope=HERE, max_age_s=60) == kept
    await searches.close()


async def test_an_answer_is_returned_only_for_its_scope(searches: SearchCache) -> None:
    searches.put("key", answer(), scope=HERE)
    assert await searches.get("key", scope=CacheScope(principal="another"), max_age_s=60) is None
    assert await searches.get("key", scope=CacheScope(language="de"), max_age_s=60) is None
    assert await searches.get("other", scope=HERE, max_age_s=60) is None
    await searches.close()


async def test_an_old_answer_is_a_miss(searches: SearchCache) -> None:
    searches.put("key", answer(timedelta(minutes=10)), scope=HERE)
    assert await searches.get("key", scope=HERE, max_age_s=540) is None
    assert await searches.get("key", scope=HERE, max_age_s=660) is not None
    assert await searches.get("key", scope=HERE, max_age_s=0) is None
    await searches.close()


async def test_a_newer_answer_replaces_the_older(searches: SearchCache) -> None:
    searches.put("key", answer(timedelta(minutes=10)), scope=HERE)
    newer = replace(answer(), query="newer")
    searches.put("key", newer, scope=HERE)
    found = await searches.get("key", scope=HERE, max_age_s=6_000)
    assert found is not None and found.query == "newer"
    await searches.close()


async def test_a_cooldown_is_stored_until_it_is_deleted(searches: SearchCache) -> None:
    assert await searches.get_cooldown("bing", "direct") is None
    searches.set_cooldown("bing", "direct", Cooldown("captcha", 1, 0, 5.5))
    searches.set_cooldown("bing", "direct", Cooldown("rate_limited", 2, 1, 7.25))
    assert await searches.get_cooldown("bing", "direct") == Cooldown("rate_limited", 2, 1, 7.25)
    assert await searches.get_cooldown("bing", "proxy") is None
    searches.set_cooldown("bing", "direct", None)
    assert await searches.get_cooldown("bing", "direct") is None
    await searches.close()


async def test_half_a_surrogate_pair_in_a_title_is_replaced(tmp_path: Path) -> None:
    searches = open_search_cache(tmp_path)
    broken = replace(answer(), results=(SearchResult("Half \ud83d", "https://a.example/", "", ("bing",), 0.1),))
    searches.put("key", broken, scope=HERE)
    found = await searches.get("key", scope=HERE, max_age_s=60)
    assert found is not None and found.results[0].title == "Half ?"
    await searches.close()


async def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"SQLite format 3\x00" + b"\xff" * 5_000)
    searches = open_search_cache(tmp_path)
    assert await searches.get("key", scope=HERE, max_age_s=60) is None
    searches.put("key", answer(), scope=HERE)
    assert await searches.get("key", scope=HERE, max_age_s=60) is not None
    await searches.close()


async def test_answers_are_not_stored_without_a_cache(tmp_path: Path) -> None:
    searches = open_search_cache(tmp_path, keeps_answers=False)
    searches.put("key", answer(), scope=HERE)
    assert await searches.get("key", scope=HERE, max_age_s=60) is None
    await searches.close()
