"""Data written by an earlier version of the program can be read.

Revision 999d7b1, before classes and fields were renamed, wrote the files in `version_1`, except `records.sqlite`:
revision 6e797f1d wrote its crawl, versions of a page and watched page, 47d8ed3b its login profile and tasks, and
608169e1 its recipe.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from browsers.login_state import LoginState
from scraper.model import Heading, Link
from scraper.reading.fields import StoredRecipes
from scraper.server.tasks import TaskStore
from scraper.settings import Settings
from scraper.store.factory import Store, open_store
from scraper.store.index_model import IndexDocument
from scraper.store.login_profiles import LoginProfiles, ProfileInfo
from scraper.store.protocols import CacheScope, PageEntry
from scraper.store.record_logs import RecordLogs
from scraper.store.sqlite.record_logs import open_record_logs
from tests.scraper.cli.in_process import command_output
from tests.scraper.facts.fields.test_extraction_recipes import LAMP, LAMP_VALUES, by_recipe
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


@pytest.fixture
async def records(tmp_path: Path) -> AsyncIterator[RecordLogs]:
    """Open the record logs of the earlier versions."""
    unpack_records(tmp_path)
    opened = open_record_logs(tmp_path)
    yield opened
    await opened.close()


def unpack_records(folder: Path) -> None:
    (folder / "records.sqlite").write_bytes(gzip.decompress((FILES / "records.sqlite.gz").read_bytes()))


async def test_a_login_profile_of_an_earlier_version_is_used_and_replaced(records: RecordLogs, tmp_path: Path) -> None:
    (tmp_path / "profile.key").write_bytes((FILES / "profile.key").read_bytes())
    profiles = LoginProfiles(records, tmp_path, None)
    info = ProfileInfo("shop", ("shop.example",), 1_795_859_616.333)
    assert await profiles.list_all("anna") == [info]
    found = await profiles.load("anna", "shop")
    assert found is not None and found.info == info
    cookie = {
        "name": "session", "value": "a1b2c3", "domain": "shop.example", "path": "/", "secure": True, "httpOnly": True,
        "sameSite": "Lax", "expires": 4_102_444_800,
    }  # fmt: skip
    assert found.state == LoginState((cookie,), {"https://shop.example": {"theme": "dark"}})
    await profiles.save("anna", "shop", info.hosts, LoginState((cookie,)))
    replaced = await profiles.load("anna", "shop")
    assert replaced is not None and not replaced.state.storage


async def test_tasks_of_an_earlier_version_are_continued(records: RecordLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_795_859_620.0)
    tasks = TaskStore(records)
    done = await tasks.read("anna", "6b0aa4a0--5MGVy0R-xBl7UlxAcW0oQ")
    assert done is not None and done.state.is_final and done.state.message == "done"
    assert done.state.result == {"content": [{"type": "text", "text": "Read."}]}
    waiting = await tasks.read("anna", "6b0aa4a0-1kMuxwZmJTAUUk3dRMqpig")
    assert waiting is not None and waiting.state.status == "working"
    assert (waiting.state.tool, waiting.state.arguments) == ("fetch", {"url": "https://shop.example/"})
    assert await tasks.replace("anna", waiting, replace(waiting.state, attempts=2))
    again = await tasks.read("anna", waiting.state.id)
    assert again is not None and again.state.attempts == 2


async def test_a_recipe_of_an_earlier_version_reads_a_page(records: RecordLogs) -> None:
    recipe = await StoredRecipes(records).load("anna", '{"id":"637c2bffc1d6"}')
    assert by_recipe(LAMP, recipe).values == LAMP_VALUES


def test_a_page_that_an_earlier_version_watched_is_listed(tmp_path: Path) -> None:
    unpack_records(tmp_path)
    listed = command_output("watch", "list", "--json", env={"SEARCH_MCP_DATA": str(tmp_path)})
    (page,) = json.loads(listed.out)
    assert (page["url"], page["every_s"], page["status"]) == ("https://example.com/prices", 21_600, "new")


async def test_a_database_of_an_earlier_version_is_read(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    connection = await asyncpg.connect(url)
    await connection.execute(gzip.decompress((FILES / "postgres.sql.gz").read_bytes()).decode())
    await connection.close()
    async with store_of(url, tmp_path) as store:
        await store.wait_connected()
        await check_stored_data(store)
