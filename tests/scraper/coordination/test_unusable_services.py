"""Tests for services that are no usable Valkey: each is named, and no secret is shown."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from scraper.coordination import open_shared_state
from scraper.settings import Settings, SettingsError
from tests.scraper.coordination.members import SECRET, answering, does_everything, member, said_of
from tests.scraper.coordination.redis_server import RedisServer, redis_server
from tests.site.certificate import server_context

pytestmark = pytest.mark.usefixtures("quick_retries")


async def test_a_wrong_password_is_named_and_not_shown(tmp_path: Path) -> None:
    async with redis_server(tmp_path, password="right") as redis:
        for user in ("", "somebody"):
            async with member(f"redis://{user}:{SECRET}@127.0.0.1:{redis.port}/0") as one:
                assert "refuses the user or the password of SEARCH_MCP_SHARED_URL" in said_of(one)
                await does_everything(one)
        async with member(f"redis://127.0.0.1:{redis.port}/0") as one:
            assert "refuses the user or the password" in said_of(one)
        async with member(redis.url) as one:
            assert not one.status().away


async def test_an_unneeded_password_is_reported(redis: RedisServer) -> None:
    async with member(f"redis://:{SECRET}@127.0.0.1:{redis.port}/0") as one:
        assert "refuses the user or the password" in said_of(one)


async def test_a_web_server_in_its_place_is_named() -> None:
    async with (
        answering(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as port,
        member(f"redis://127.0.0.1:{port}/0") as one,
    ):
        assert "answers, but not as Valkey or Redis do" in said_of(one)
        await does_everything(one)


async def test_an_untrusted_certificate_is_reported() -> None:
    server = await asyncio.start_server(
        lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=server_context(["state.example"])
    )
    async with server, member(f"rediss://127.0.0.1:{server.sockets[0].getsockname()[1]}/0") as one:
        assert "has a certificate that cannot be trusted" in said_of(one)


async def test_an_old_version_is_named() -> None:
    info = b"# Server\r\nredis_version:2.8.19\r\nrole:master\r\n"
    async with answering(b"$%d\r\n%s\r\n" % (len(info), info)) as port, member(f"redis://127.0.0.1:{port}/0") as one:
        assert "is version 2.8.19; 7.0 or newer is needed" in said_of(one)
        await does_everything(one)


async def test_a_replica_is_named(redis: RedisServer, tmp_path: Path) -> None:
    async with redis_server(tmp_path, "--replicaof", f"127.0.0.1 {redis.port}") as copy, member(copy.url) as one:
        assert "is a replica" in said_of(one)
        await does_everything(one)


async def test_a_database_that_is_not_there_is_named(redis: RedisServer) -> None:
    async with member(f"redis://127.0.0.1:{redis.port}/99") as one:
        assert "has no database of the number" in said_of(one)


async def test_a_service_that_evicts_is_used_and_named(tmp_path: Path) -> None:
    options = ("--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")
    async with redis_server(tmp_path, *options) as redis, member(redis.url) as one:
        status = one.status()
        assert not status.away and status.note is not None and "noeviction" in status.note


async def test_without_the_library_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scraper.coordination.valkey_state", None)
    with pytest.raises(SettingsError, match=r"pip install 'search-mcp\[shared\]'"):
        await open_shared_state(Settings(shared_url="redis://127.0.0.1:1"))
