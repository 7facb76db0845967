"""A restored backup has all data; `docs/store.md` describes how to make one while servers run."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import asyncpg
import pytest

from scraper.settings import Settings
from scraper.store.factory import open_store
from tests.scraper.store.patience import store_of
from tests.scraper.store.postgres_server import PostgresServer
from tests.scraper.store.test_compatibility import FILES, check_stored_data


async def test_files_are_copied_while_the_store_is_open(tmp_path: Path) -> None:
    live, backup = tmp_path / "live", tmp_path / "backup"
    live.mkdir()
    backup.mkdir()
    for packed in FILES.glob("*.sqlite.gz"):
        (live / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    store = open_store(Settings(data_dir=live))
    try:
        for path in live.glob("*.sqlite"):
            with sqlite3.connect(path) as source, sqlite3.connect(backup / path.name) as target:
                source.backup(target)  # as `.backup` of the program sqlite3 does
        await check_stored_data(store)
    finally:
        await store.close()
    restored = open_store(Settings(data_dir=backup))
    try:
        await check_stored_data(restored)
    finally:
        await restored.close()


async def test_a_database_is_dumped_and_restored(postgres: PostgresServer, tmp_path: Path) -> None:
    folders = (*Path("/usr/lib/postgresql").glob("*/bin"), *os.environ["PATH"].split(os.pathsep))
    path = os.pathsep.join(str(folder) for folder in folders)
    dump, psql = shutil.which("pg_dump", path=path), shutil.which("psql", path=path)
    if dump is None or psql is None:
        pytest.skip("pg_dump and psql are not installed")
    old, new = await postgres.database(), await postgres.database()
    connection = await asyncpg.connect(old)
    await connection.execute(gzip.decompress((FILES / "postgres.sql.gz").read_bytes()).decode())
    await connection.close()
    file = tmp_path / "search-mcp.sql"
    async with store_of(old, tmp_path / "old") as store:
        await store.wait_connected()
        _run(dump, "--schema", "search_mcp", "--file", str(file), old)
    _run(psql, "--quiet", "--set", "ON_ERROR_STOP=1", "--file", str(file), new)
    async with store_of(new, tmp_path / "new") as restored:
        await restored.wait_connected()
        await check_stored_data(restored)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=60)
