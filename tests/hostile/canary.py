"""A listener on every address of this machine, TCP and UDP, that reports connections."""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType

LISTEN_S = 3.0
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n"
    b"Access-Control-Allow-Private-Network: true\r\nConnection: close\r\nContent-Length: 13\r\n\r\n"
    b"CANARY-SECRET"
)


class Canary:
    """One canary for each page, so that pages can attack at the same time."""

    def __init__(self) -> None:
        self.contacts: list[str] = []
        self.port = 0
        self.udp_port = 0
        self._server: asyncio.Server | None = None
        self._udp: asyncio.DatagramTransport | None = None
        self._talks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Canary:
        tcp, udp = _bind(socket.SOCK_STREAM), _bind(socket.SOCK_DGRAM)
        self.port, self.udp_port = tcp.getsockname()[1], udp.getsockname()[1]
        self._server = await asyncio.start_server(self._accept, sock=tcp)
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _DatagramRecorder(self.contacts), sock=udp)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None and self._udp is not None
        self._server.close()
        self._udp.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.contacts.append("tcp")
        talk = asyncio.get_running_loop().create_task(_serve_connection(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)


class _DatagramRecorder(asyncio.DatagramProtocol):
    def __init__(self, contacts: list[str]) -> None:
        self._contacts = contacts

    def datagram_received(self, data: bytes, address: object) -> None:
        self._contacts.append("udp")


async def _serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer any data like a request: some pages continue only after a response."""
    try:
        async with asyncio.timeout(LISTEN_S):
            await reader.read(4096)
            writer.write(ANSWER)
            await writer.drain()
    except (OSError, TimeoutError):
        pass
    finally:
        writer.close()


def _bind(kind: socket.SocketKind) -> socket.socket:
    """Open a socket on every address, of both families if available."""
    if socket.has_dualstack_ipv6():
        sock = socket.socket(socket.AF_INET6, kind)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind(("::", 0))
        return sock
    sock = socket.socket(socket.AF_INET, kind)
    sock.bind(("0.0.0.0", 0))
    return sock
