"""The other end of the wall: a site and its reader in a process of their own, so that their CPU is not ours.

`python -m benchmarks.egress.proxy_peer` prints its port. A line `PORT MEGABYTES` on its input makes it
read so much from itself through the gate at PORT; it answers with the bytes that came.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.common.subprocess_module import apart

HOSTS = tuple(f"h{number}.example.com" for number in range(8))
IMAGES = 40
IMAGE_BYTES = 30_000
MEGABYTE = 1024 * 1024

_READ_LIMIT_S = 120.0
_NAME = HOSTS[0].encode()
_REQUEST = b"\x05\x01\x00\x03" + bytes((len(_NAME),)) + _NAME + b"\x00\x50"


@dataclass(frozen=True, slots=True)
class Peer:
    """The running peer."""

    port: int
    process: asyncio.subprocess.Process

    async def read_through(self, gate_port: int, megabytes: int) -> None:
        """Let it read so much through the gate."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{gate_port} {megabytes}\n".encode())
        came = int(await asyncio.wait_for(self.process.stdout.readline(), _READ_LIMIT_S))
        assert came >= megabytes * MEGABYTE, f"only {came} bytes came through"


@asynccontextmanager
async def wall_peer() -> AsyncIterator[Peer]:
    """Start it; it ends with the block."""
    async with apart("benchmarks.egress.proxy_peer") as (port, process):
        yield Peer(port, process)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    image = b"GIF89a" + os.urandom(IMAGE_BYTES)
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            kind, body = "image/gif", image
            if path.startswith("/page"):
                kind, body = "text/html", _page(path)
            elif path.startswith("/bulk"):
                kind, body = "text/plain", bytes(int(path.rpartition("/")[2]) * MEGABYTE)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode())
            writer.write(body)
            await writer.drain()
    writer.close()


def _page(path: str) -> bytes:
    """Return a page of images from all hosts with new URLs."""
    tags = (f"<img src='http://{HOSTS[n % len(HOSTS)]}/i{n}{path}'>" for n in range(IMAGES))
    return ("<!doctype html><title>page</title>" + "".join(tags)).encode()


def _read(gate_port: int, megabytes: int) -> int:
    came, buffer = 0, bytearray(MEGABYTE)
    wanted = megabytes * MEGABYTE
    with socket.create_connection(("127.0.0.1", gate_port), _READ_LIMIT_S) as sock:
        sock.sendall(b"\x05\x01\x00")
        sock.recv(2)
        sock.sendall(_REQUEST)
        sock.recv(10)
        sock.sendall(f"GET /bulk/{megabytes} HTTP/1.1\r\n\r\n".encode())
        while came < wanted:
            count = sock.recv_into(buffer)
            if not count:
                break
            came += count
    return came


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        gate_port, megabytes = map(int, line.split())
        print(await asyncio.to_thread(_read, gate_port, megabytes), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve())
