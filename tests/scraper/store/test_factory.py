"""The configured backend is opened, and other backends are not even imported."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from scraper.settings import Settings
from scraper.settings.files import install_command
from scraper.store.factory import find_database_problem, open_store
from scraper.store.protocols import NullPageStore
from scraper.store.sqlite.pages import SqlitePageStore

URL = "postgresql://u:not-to-be-told@127.0.0.1:1/pages"


async def _said(program: str) -> str:
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await running.communicate()
    return out.decode().strip()


async def test_files_are_the_default(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path))
    assert isinstance(store.pages, SqlitePageStore) and store.server is None and store.problem is None
    await store.close()
    assert await find_database_problem(Settings(data_dir=tmp_path)) is None


async def test_a_database_stores_no_pages_without_a_cache(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path, cache_mb=0, database_url=URL))
    assert isinstance(store.pages, NullPageStore)
    await store.close()


async def test_a_server_with_files_loads_no_database_library_and_no_extractor() -> None:
    libraries = "asyncpg numpy bs4 markdownify scraper.extract.reader scraper.facts.fields.extraction"
    loaded = "print(set(sys.argv[1:]) & set(sys.modules) or None)"
    assert (
        await _said(f"import scraper.cli.main, scraper.services, sys; sys.argv[1:] = '{libraries}'.split(); {loaded}")
        == "None"
    )


async def test_without_the_library_the_command_that_installs_it_is_said() -> None:
    said = await _said(
        "import sys; sys.modules['asyncpg'] = None\n"
        "from scraper.settings import Settings, SettingsError\n"
        "from scraper.store.factory import open_store\n"
        f"try: open_store(Settings(database_url={URL!r}))\n"
        "except SettingsError as error: print(error)"
    )
    assert said == f"SEARCH_MCP_DATABASE_URL needs asyncpg. Run: {install_command('shared')}"
