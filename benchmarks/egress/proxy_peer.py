"""Site and client of the egress proxy in a separate process, so that their CPU is not counted.

`python -m benchmarks.egress.proxy_peer` prints its port. A line `PORT MEGABYTES` on its stdin lets it read that
much from itself through the proxy listener at PORT. It prints the number of received bytes.
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

from benchmarks.common.subprocess_module import run_module

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

    async def read_through(self, listener_port: int, megabytes: int) -> None:
        """Let the peer read this many megabytes through the proxy."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{listener_port} {megabytes}\n".encode())
        received = int(await asyncio.wait_for(self.process.stdout.readline(), _READ_LIMIT_S))
        assert received >= megabytes * MEGABYTE, f"received only {received} bytes"


@asynccontextmanager
async def proxy_peer() -> AsyncIterator[Peer]:
    """Run the peer; stop it on exit."""
    async with run_module("benchmarks.egress.proxy_peer") as (port, process):
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


def _read(listener_port: int, megabytes: int) -> int:
    received, buffer = 0, bytearray(MEGABYTE)
    expected = megabytes * MEGABYTE
    with socket.create_connection(("127.0.0.1", listener_port), _READ_LIMIT_S) as sock:
        sock.sendall(b"\x05\x01\x00")
        sock.recv(2)
        sock.sendall(_REQUEST)
        sock.recv(10)
        sock.sendall(f"GET /bulk/{megabytes} HTTP/1.1\r\n\r\n".encode())
        while received < expected:
            count = sock.recv_into(buffer)
            if not count:
                break
            received += count
    return received


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        listener_port, megabytes = map(int, line.split())
        print(await asyncio.to_thread(_read, listener_port, megabytes), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve())
