"""The site that serves the hostile pages, each under a host name of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from types import TracebackType
from urllib.parse import parse_qsl, quote, urlsplit

from tests.hostile.target import Vector

IDLE_S = 60.0
ABSENT = Vector("absent", status=404)


class HostileSite:
    """Serves `/v/NAME` with a registered response, `/hopN?to=URL` as N redirects, and `/sw.js?to=URL`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Vector] = {}
        self.served: set[str] = set()
        self.port = 0
        self.scheme = "http" if tls is None else "https"
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> HostileSite:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.get_running_loop().create_task(self._serve_connection(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
                while True:
                    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), IDLE_S)
                    writer.write(_response(self._answer(head.split(b" ", 2)[1].decode())))
                    await writer.drain()
        finally:
            writer.close()

    def _answer(self, target: str) -> Vector:
        url = urlsplit(target)
        to = dict(parse_qsl(url.query)).get("to", "")
        if url.path.startswith("/v/"):
            name = url.path.removeprefix("/v/")
            self.served.add(name)
            return self.pages.get(name, ABSENT)
        if url.path.startswith("/hop"):
            left = int(url.path.removeprefix("/hop"))
            return Vector.redirect(to if left == 1 else f"/hop{left - 1}?to={quote(to)}")
        return _service_worker(to) if url.path == "/sw.js" else ABSENT


def _service_worker(to: str) -> Vector:
    fetch = f"fetch('{to}',{{mode:'no-cors'}})"
    return Vector(
        f"self.addEventListener('install',e=>{{{fetch}}});{fetch}",
        {"Content-Type": "text/javascript", "Service-Worker-Allowed": "/"},
    )


def _response(vector: Vector) -> bytes:
    body = vector.body.encode()
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **vector.headers}
    # Non-ASCII characters in the target of a redirect are sent unchanged: the browser interprets them.
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {vector.status} X\r\n{lines}\r\n".encode() + body
