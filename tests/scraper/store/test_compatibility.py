"""Data written by an earlier version of the program can be read.

The files in `version_1` were written by revision 999d7b1, before classes and fields were renamed.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import asyncpg

from scraper.model import Heading, Link
from scraper.settings import Settings
from scraper.store.factory import Store, open_store
from scraper.store.indexes.model import IndexDocument
from scraper.store.protocols import CacheScope, PageEntry
from tests.scraper.store.conftest import DAY_S
from tests.scraper.store.patience import store_of
from tests.scraper.store.postgres_server import PostgresServer

FILES = Path(__file__).parent / "version_1"
URL = "https://example.org/mill"
SCOPE = CacheScope("anna", "bank", "de")
ALLOWED = frozenset({"10.0.0.0/8"})
LONG_S = 10_000 * DAY_S


async def check_stored_data(store: Store) -> None:
    """Check the data of version 1, and that the store accepts more."""
    found = await store.pages.get(URL, scope=SCOPE, methods=("http",), max_age_s=LONG_S, allowed=ALLOWED)
    assert found is not None
    document = found.reading.document
    assert (document.title, document.text) == ("The mill", "A windmill by the sea.")
    assert document.links == (Link("https://example.org/next", "next"),)
    assert document.outline == (Heading(1, "The mill", 0),)
    assert found.allowances == ALLOWED and found.scope == SCOPE
    hits = await store.pages.search("windmill", principal="anna", allowed=ALLOWED, limit=5)
    assert [hit.url for hit in hits.hits] == [URL]
    entries: list[PageEntry] = [entry async for entry in store.pages.iter_entries()]
    assert entries == [found]
    answer = await store.searches.get("mill", scope=CacheScope("anna"), max_age_s=LONG_S)
    assert answer is not None and answer.errors == {"duckduckgo": "captcha"}
    assert [(result.title, result.url, result.score) for result in answer.results] == [("The mill", URL, 1.5)]
    cooldown = await store.searches.get_cooldown("duckduckgo", "direct")
    assert cooldown is not None
    assert (cooldown.reason, cooldown.step, cooldown.faults) == ("captcha", 2, 1)
    (hit,) = (await store.indexes.search("notes", "grind", principal="anna", limit=5)).hits
    assert (hit.doc_id, hit.metadata) == ("one", {"year": 2026})
    added = await store.indexes.add("notes", IndexDocument("two", "More grain"), principal="anna")
    assert not added.replaced


async def test_files_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    for packed in FILES.glob("*.sqlite.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    store = open_store(Settings(data_dir=tmp_path))
    try:
        await check_stored_data(store)
    finally:
        await store.close()
    assert not list(tmp_path.glob("*.corrupt-*"))


async def test_a_database_of_an_earlier_version_is_read(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    connection = await asyncpg.connect(url)
    await connection.execute(gzip.decompress((FILES / "postgres.sql.gz").read_bytes()).decode())
    await connection.close()
    async with store_of(url, tmp_path) as store:
        await store.wait_connected()
        await check_stored_data(store)
