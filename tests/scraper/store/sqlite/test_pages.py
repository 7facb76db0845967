"""Reads from the page cache: content, scope and maximum age."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from scraper.store import base_page_store
from scraper.store.protocols import CacheScope, NullPageStore, PageStore
from scraper.store.sqlite.pages import BATCH, FILE_NAME
from tests.scraper.store.conftest import DAY_S, PATIENCE_S, entry, noise, opened, text_of

PRIVATE_NET = frozenset({"10.0.0.0/8"})


async def test_a_page_comes_back_as_it_was_put(pages: PageStore) -> None:
    put = entry(text="Grüße 漢字")
    pages.put(put)
    assert await pages.get(put.key, scope=put.scope, methods=("http",), max_age_s=DAY_S, allowed=frozenset()) == put


async def test_pages_outlive_the_process_that_put_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as first:
        first.put(entry(text="kept"))
    async with opened(tmp_path) as second:
        assert await text_of(second) == "kept"


async def test_two_processes_share_one_cache(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        one.put(entry(text="shared"))
        await one.stats()
        assert await text_of(other) == "shared"


async def test_the_caller_says_how_old_a_page_may_be(pages: PageStore) -> None:
    pages.put(entry(age_s=3_600))
    assert await text_of(pages, max_age_s=3_700) == "text"
    assert await text_of(pages, max_age_s=3_500) is None
    assert await text_of(pages, max_age_s=0) is None


async def test_a_page_from_the_future_is_not_trusted(pages: PageStore) -> None:
    pages.put(entry(age_s=-7_200))
    assert await text_of(pages) is None


async def test_putting_again_replaces(pages: PageStore) -> None:
    pages.put(entry(text="old", age_s=10))
    pages.put(entry(text="new"))
    assert await text_of(pages) == "new"
    assert (await pages.stats()).pages == 1


async def test_a_page_is_returned_only_for_its_scope(pages: PageStore) -> None:
    pages.put(entry(scope=CacheScope("anna", "bank", "de")))
    assert await text_of(pages, scope=CacheScope("anna", "bank", "de")) == "text"
    for other in (CacheScope("bert", "bank", "de"), CacheScope("anna", "", "de"), CacheScope("anna", "bank", "en-US")):
        assert await text_of(pages, scope=other) is None


async def test_a_page_is_found_by_the_way_it_was_read(pages: PageStore) -> None:
    pages.put(entry(text="as served", method="http", age_s=5))
    assert await text_of(pages, methods=("browser",)) is None
    pages.put(entry(text="rendered", method="browser"))
    assert await text_of(pages, methods=("browser",)) == "rendered"
    assert await text_of(pages, methods=("http",)) == "as served"


async def test_of_two_readings_the_newer_is_given(pages: PageStore) -> None:
    pages.put(entry(text="rendered", method="browser", age_s=50))
    pages.put(entry(text="as served", method="http", age_s=10))
    assert await text_of(pages) == "as served"


async def test_a_page_read_under_an_exception_is_refused_once_that_is_taken_back(pages: PageStore) -> None:
    pages.put(entry(allowances=PRIVATE_NET))
    assert await text_of(pages, allowed=PRIVATE_NET | {"192.168.0.0/16"}) == "text"
    assert await text_of(pages, allowed=frozenset({"192.168.0.0/16"})) is None
    assert await text_of(pages) is None


async def test_an_older_page_with_valid_allowances_is_returned(pages: PageStore) -> None:
    pages.put(entry(text="public", method="http", age_s=50))
    pages.put(entry(text="private", method="browser", allowances=PRIVATE_NET))
    assert await text_of(pages) == "public"


async def test_the_pages_not_used_for_longest_go_when_the_cache_is_full(tmp_path: Path) -> None:
    async with opened(tmp_path, limit_bytes=1_000_000) as pages:
        for number in range(200):
            pages.put(entry(f"https://example.org/{number}", text=noise(10_000 + 2 * number), age_s=1_000 - number))
        assert (await pages.stats()).bytes <= 1_000_000
        assert await text_of(pages, "https://example.org/199") is not None
        assert await text_of(pages, "https://example.org/0") is None


async def test_a_page_larger_than_the_cache_is_not_kept(tmp_path: Path) -> None:
    async with opened(tmp_path, limit_bytes=1_000_000) as pages:
        pages.put(entry(text="x" * 1_000_001))
        assert await text_of(pages) is None


async def test_hits_and_misses_are_counted(pages: PageStore) -> None:
    await text_of(pages)
    pages.put(entry())
    await text_of(pages)
    stats = await pages.stats()
    assert (stats.hits, stats.misses, stats.written, stats.lost) == (1, 1, 1, 0)
    assert stats.usable and stats.problem is None and stats.bytes > 0


async def test_the_cache_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    async with opened(tmp_path / "new" / "folder") as pages:
        await pages.stats()
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o077 == 0


async def test_an_operator_can_keep_no_cache() -> None:
    pages = NullPageStore()
    pages.put(entry())
    found = await pages.get(
        "https://example.org/", scope=CacheScope(), methods=("http",), max_age_s=1, allowed=PRIVATE_NET
    )
    assert found is None
    assert not (await pages.stats()).usable
    await pages.close()


async def test_a_read_flushes_the_batch(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages, asyncio.timeout(PATIENCE_S):
        for number in range(3):
            pages.put(entry(f"https://example.org/{number}"))
        assert (await pages.stats()).pages == 3
        pages.put(entry("https://example.org/3"))
        assert await text_of(pages, "https://example.org/3") == "text"


async def test_a_full_batch_is_written_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages, opened(tmp_path) as others, asyncio.timeout(PATIENCE_S):
        for number in range(BATCH):
            pages.put(entry(f"https://example.org/{number}"))
        while (await others.stats()).pages < BATCH:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_page_is_written_without_a_flush(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages, opened(tmp_path) as others, asyncio.timeout(PATIENCE_S):
        pages.put(entry())
        while await text_of(others) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_queued_pages_are_counted_while_the_file_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as pages:
        await pages.stats()
        other = apsw.Connection(str(tmp_path / FILE_NAME))
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(base_page_store, "GET_LIMIT_S", 0.2)
        pages.put(entry())
        assert (await pages.stats()).waiting == 1
        other.execute("ROLLBACK")
        other.close()
        monkeypatch.setattr(base_page_store, "GET_LIMIT_S", PATIENCE_S)
        stats = await pages.stats()
        assert (stats.waiting, stats.pages, stats.lost) == (0, 1, 0)


@pytest.mark.parametrize("exists", [False, True])
async def test_files_are_private_in_a_public_folder(tmp_path: Path, exists: bool) -> None:
    tmp_path.chmod(0o755)
    if exists:
        (tmp_path / FILE_NAME).touch(0o644)
    async with opened(tmp_path) as pages:
        pages.put(entry())
        await pages.flush()
        files = [path for path in tmp_path.iterdir() if path.name.startswith(FILE_NAME)]
        assert len(files) >= 3 and {path.stat().st_mode & 0o777 for path in files} == {0o600}
