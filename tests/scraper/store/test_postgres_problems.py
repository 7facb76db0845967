"""A database that cannot be used is reported and not changed: wrong URL, tables, encoding or certificate."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import certifi
import pytest

from scraper.coordination.state import Cooldown
from scraper.settings import Settings
from scraper.store.factory import find_database_problem
from scraper.store.index_model import IndexDocument, IndexFaultError
from scraper.store.protocols import CacheScope
from tests.ports import free_port
from tests.scraper.store.conftest import PATIENCE_S, entry, shared_pages, text_of
from tests.scraper.store.patience import NONE, answer, has_problem, nothing_waits, store_of, until
from tests.scraper.store.postgres_server import PASSWORD, PostgresServer
from tests.site.certificate import server_context

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("sslmode=verify-fully", "cannot be used: `sslmode` parameter must be one of"),
        ("sslmode=verify-full&sslrootcert=/nowhere/root.crt", "names (sslrootcert, sslcert, sslkey) is not there"),
    ],
)
async def test_an_unusable_url_is_reported_and_pages_stay_queued(asked: str, said: str) -> None:
    async with shared_pages(f"postgresql://keeper:{PASSWORD}@127.0.0.1:{free_port()}/pages?{asked}") as pages:
        pages.put(entry("https://example.org/1"))
        await pages.flush()
        stats = await pages.stats()
        assert not stats.usable and (stats.waiting, stats.lost) == (1, 0)
        assert said in str(stats.problem) and PASSWORD not in str(stats.problem)


async def test_tables_of_a_version_that_never_was_are_left_alone(postgres: PostgresServer) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        pages.put(entry("https://example.org/1"))
        await until(lambda: nothing_waits(pages))
    await postgres.say("UPDATE search_mcp.about SET version = 0", url)
    async with shared_pages(url) as pages:
        assert await text_of(pages, "https://example.org/1") is None
        assert "has tables of version 0" in str((await pages.stats()).problem)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (lambda server: server.url(password="wrong"), "does not take the user keeper"),
        (lambda server: server.url("nowhere"), "there is no database nowhere"),
        (lambda server: server.url(port=free_port()), "no PostgreSQL answers at 127.0.0.1"),
        (lambda server: server.url() + "?sslmode=require", "does not speak TLS, which its URL asks for"),
        (lambda server: server.url() + "?nonsense=1", "unrecognized configuration parameter"),
    ],
)
async def test_a_problem_is_reported_without_the_password(
    postgres: PostgresServer,
    tmp_path: Path,
    where: Callable[[PostgresServer], str],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = where(postgres)
    async with asyncio.timeout(PATIENCE_S), store_of(url, tmp_path) as store:
        store.pages.put(entry())
        assert await text_of(store.pages, "https://example.org/other") is None
        assert store.problem is not None and said in store.problem
        store.searches.put("key", answer(), scope=CacheScope())
        assert await store.searches.get("key", scope=CacheScope(), max_age_s=60) is None
        store.searches.set_cooldown("bing", "direct", Cooldown("captcha", until=1.0))
        assert await store.searches.get_cooldown("bing", "direct") == Cooldown("captcha", until=1.0)
        with pytest.raises(IndexFaultError, match="not available"):
            await store.indexes.create("kept", principal="local", backend="sqlite")
        await store.indexes.add("default", IndexDocument("a", "mill"), principal="local")
        assert (await store.indexes.search("default", "mill", principal="local", limit=1)).total == 1
    fault = await find_database_problem(Settings(database_url=url, data_dir=tmp_path))
    assert fault is not None and said in fault
    for secret in (PASSWORD, "wrong"):
        assert secret not in fault and not any(secret in line for line in caplog.messages)


async def test_a_problem_is_reported_at_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = f"postgresql://keeper:{PASSWORD}@127.0.0.1:{free_port()}/pages"
    async with store_of(url, tmp_path) as store:
        await until(lambda: has_problem(store))
    assert any("no PostgreSQL answers" in line for line in caplog.messages)


async def test_tables_of_a_newer_version_are_left_alone(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        pages.put(entry(text="precious"))
        await until(lambda: nothing_waits(pages))
    await postgres.say("UPDATE search_mcp.about SET version = 99", url)
    async with shared_pages(url) as pages:
        pages.put(entry(text="overwritten"))
        await pages.flush()
        stats = await pages.stats()
        assert not stats.usable and "newer version of search-mcp" in str(stats.problem)
    await postgres.say("UPDATE search_mcp.about SET version = 1", url)
    async with shared_pages(url) as pages:
        assert await text_of(pages) == "precious"


@pytest.mark.parametrize("made", ["CREATE TABLE search_mcp.other (x int)", "CREATE TABLE search_mcp.about (x int)"])
async def test_a_schema_of_another_program_is_left_alone(postgres: PostgresServer, made: str) -> None:
    url = await postgres.database()
    await postgres.say("CREATE SCHEMA search_mcp", url)
    await postgres.say(made, url)
    async with shared_pages(url) as pages:
        pages.put(entry())
        await pages.flush()
        assert "of another program" in str((await pages.stats()).problem)
    assert len(await postgres.say("SELECT 1 FROM pg_tables WHERE schemaname = 'search_mcp'", url)) == 1


async def test_tables_dropped_in_use_are_made_anew(postgres: PostgresServer) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        pages.put(entry(text="before"))
        assert await text_of(pages) == "before"
        await postgres.say("DROP SCHEMA search_mcp CASCADE", url)
        assert await text_of(pages) is None
        pages.put(entry(text="after"))
        await until(lambda: nothing_waits(pages))
        assert await text_of(pages) == "after"
        assert len((await pages.search("after", principal="local", allowed=NONE, limit=5)).hits) == 1


async def test_missing_tables_are_reported_with_a_remedy(postgres: PostgresServer) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        pages.put(entry(text="before"))
        await pages.flush()
        await postgres.say("DROP TABLE search_mcp.words", url)
        assert not (await pages.search("before", principal="local", allowed=NONE, limit=5)).usable
        pages.put(entry(text="after"))
        await pages.flush()
        stats = await pages.stats()
    assert (stats.waiting, stats.lost) == (1, 0)
    assert "lacks some of the tables: restore them, or let all be made anew" in str(stats.problem)


async def test_an_unsuitable_encoding_is_reported_and_pages_stay_queued(postgres: PostgresServer) -> None:
    await postgres.say("DROP DATABASE IF EXISTS latin")
    await postgres.say("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    async with shared_pages(postgres.url("latin")) as pages:
        pages.put(entry("https://example.org/1", text="\u6f22"))
        await pages.flush()
        stats = await pages.stats()
        assert (stats.usable, stats.waiting, stats.lost) == (False, 1, 0)
        assert "is in LATIN1, which cannot hold every page's text; UTF8 is needed" in str(stats.problem)


@asynccontextmanager
async def door_of_a_database(
    answer: bytes, meet: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> AsyncIterator[str]:
    """Run a fake PostgreSQL server: answer the TLS request with `answer`, then call `meet`; yield its URL."""

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            await reader.readexactly(8)
            writer.write(answer)
            await meet(reader, writer)
        writer.close()

    server = await asyncio.start_server(met, "127.0.0.1", 0)
    try:
        yield f"postgresql://keeper:{PASSWORD}@127.0.0.1:{server.sockets[0].getsockname()[1]}/pages"
    finally:
        server.close()


async def test_an_untrusted_certificate_is_reported_and_pages_stay_queued() -> None:
    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await writer.start_tls(server_context(["database.example"]))

    async with door_of_a_database(b"S", meet) as url:
        vouched = url + f"?sslmode=verify-full&sslrootcert={certifi.where()}"
        async with shared_pages(vouched) as pages:
            pages.put(entry("https://example.org/1"))
            await pages.flush()
            stats = await pages.stats()
            assert (stats.usable, stats.waiting, stats.lost) == (False, 1, 0)
            assert "cannot be trusted: self-signed certificate" in str(stats.problem)


async def test_a_connection_sends_no_parameters_that_poolers_reject() -> None:
    names: set[bytes] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = int.from_bytes(await reader.readexactly(4), "big")
        message = await reader.readexactly(length - 4)
        names.update(message[4:].rstrip(b"\0").split(b"\0")[::2])

    async with door_of_a_database(b"N", meet) as url, shared_pages(url) as pages:
        assert await text_of(pages) is None
    assert names == {b"user", b"database", b"client_encoding", b"application_name"}
