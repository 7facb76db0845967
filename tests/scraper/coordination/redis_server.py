"""A real redis-server on loopback, and a proxy that delays its connections."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.ports import free_port

START_S = 60.0


@dataclass(slots=True)
class RedisServer:
    """One server that can be stopped and started."""

    folder: Path
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    password: str = ""
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """URL in the form of SEARCH_MCP_SHARED_URL."""
        user = f"default:{self.password}@" if self.password else ""
        return f"redis://{user}127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        """Start it, and return when it answers."""
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            pytest.skip("no redis-server on this machine: apt-get install redis-server")
        secret = ("--requirepass", self.password) if self.password else ()
        self.process = await asyncio.create_subprocess_exec(
            program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
            "--save", "", "--appendonly", "no", "--daemonize", "no", *secret, *self.options,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        async with asyncio.timeout(START_S):
            while True:
                assert self.process.returncode is None, f"redis-server ended: {self.process.returncode}"
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    await writer.wait_closed()
                    return
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        """Kill the server; its data is lost."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
            self.process = None

    async def ask(self, *words: str) -> str:
        """Send one command and return the first line of its answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            commands = [("AUTH", self.password)] if self.password else []
            answer = b""
            for command in (*commands, words):
                parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in command]
                writer.write(f"*{len(parts)}\r\n{''.join(parts)}".encode())
                answer = await reader.readline()
            return answer.decode().strip()
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def redis_server(folder: Path, *options: str, password: str = "") -> AsyncIterator[RedisServer]:
    """Run a server; stop it when the block ends."""
    server = RedisServer(folder, options, password=password)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@dataclass(slots=True)
class Proxy:
    """A TCP proxy that delays all data."""

    to_port: int
    delay_s: float = 0.0
    port: int = 0

    @property
    def url(self) -> str:
        """URL of the Redis behind this proxy."""
        return f"redis://127.0.0.1:{self.port}/0"

    async def passed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection."""
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.to_port)
        await asyncio.gather(self._copied(reader, there_writer), self._copied(there_reader, writer))

    async def _copied(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await asyncio.sleep(self.delay_s)
                writer.write(data)
                await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def delayed(to_port: int, delay_s: float) -> AsyncIterator[Proxy]:
    """Run a proxy in front of a port that adds `delay_s` in each direction."""
    proxy = Proxy(to_port, delay_s)
    server = await asyncio.start_server(proxy.passed, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
