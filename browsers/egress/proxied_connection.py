"""One connection of a browser through its gate: greeted, judged, joined to its site, and closed once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from typing import Protocol

from browsers.egress import http_proxy_request, socks5, upstream_handshake
from browsers.egress.connectors import FirstRequest, OpenConnection
from browsers.egress.relay import Relay
from browsers.egress.traffic_log import ConnectionDeniedError, Failure, FailureKind, TrafficLog

log = logging.getLogger(__name__)

HEARD_AT_ONCE = 4096
"""A SOCKS5 greeting and request are at most 519 bytes long."""
HEARD_EARLY = 64 * 1024
"""What may be said before the connection stands."""


class ConnectionOwner(Protocol):
    """What a passage needs of its gate."""

    @property
    def ledger(self) -> TrafficLog:
        """Of the visit that is going on."""
        ...

    @property
    def idle_s(self) -> float:
        """How long nobody may say anything."""
        ...

    @property
    def buffer(self) -> memoryview:
        """For all links of the loop."""
        ...

    async def connect(self, host: str, port: int) -> OpenConnection:
        """A connection to a judged address; raises Denied."""
        ...

    def overflow(self) -> None:
        """The visit's bytes are used up."""
        ...

    def forget(self, passage: ProxiedConnection) -> None:
        """It is closed."""
        ...


class ProxiedConnection:
    """Owns the browser's socket, and with the link, the site's."""

    def __init__(self, warden: ConnectionOwner, near: socket.socket) -> None:
        self.host = ""
        self.port = 0
        self._warden = warden
        self._near = near
        self._loop = asyncio.get_running_loop()
        self._heard = b""
        self._greeted = False
        self._closed = False
        self._last_byte_at = time.monotonic()
        self._link: Relay | None = None
        self._opening: asyncio.Task[None] | None = None
        self._loop.add_reader(near.fileno(), self._hear)

    @property
    def idle_since(self) -> float | None:
        """When the last byte passed; None while it is being opened, which has limits of its own."""
        if self._link is not None:
            return self._link.last_byte_at
        return self._last_byte_at if self._opening is None else None

    @property
    def unanswered(self) -> bool:
        """Whether the site was reached and never said a byte."""
        return self._link is not None and self._link.up.moved and not self._link.down.moved

    def close(self) -> None:
        """Close everything now, whatever state it is in."""
        if self._closed:
            return
        self._closed = True
        if self._opening is not None:
            self._opening.cancel()
        if self._link is not None:
            self._link.close()
        else:
            self._loop.remove_reader(self._near.fileno())
            self._near.close()
        self._warden.forget(self)

    async def closed(self) -> None:
        """Wait until nothing of it runs any more."""
        if self._opening is not None:
            await asyncio.wait([self._opening])

    def _hear(self) -> None:
        """Take in the greeting, the request, and what comes too early; notice when the browser gives up."""
        try:
            data = self._near.recv(HEARD_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._heard += data
        if self._opening is not None:
            if len(self._heard) > HEARD_EARLY:
                self._loop.remove_reader(self._near.fileno())
            return
        try:
            self._understand()
        except socks5.SocksProtocolError as garbage:
            self._say(garbage.answer)
            self.close()

    def _understand(self) -> None:
        if not self._greeted:
            end = socks5.greeting(self._heard)
            if end is None:
                return
            self._greeted = True
            self._heard = self._heard[end:]
            self._say(socks5.GREETED)
        wanted = socks5.request(self._heard)
        if wanted is None:
            return
        self.host, self.port, end = wanted
        self._heard = self._heard[end:]
        self._opening = self._loop.create_task(self._open())
        self._opening.add_done_callback(self._after_opening)

    async def _open(self) -> None:
        # Of the visit that asked for it, although another may have begun when the answer comes.
        ledger = self._warden.ledger
        try:
            opened = await self._warden.connect(self.host, self.port)
        except ConnectionDeniedError as denied:
            ledger.record(denied.failure)
            self._say(socks5.reply(denied.failure.kind))
            self.close()
            return
        ledger.clear(self.host, self.port)
        try:
            self._say(socks5.succeeded())
            if opened.first_request is None:
                self._join(opened.sock, opened.early)
            else:
                await self._ask_proxy(opened.sock, opened.first_request, ledger)
        finally:
            if self._link is None:
                opened.sock.close()

    def _after_opening(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Unforeseen: say so, and let nothing through.
            log.error("egress failed error=%s", type(error).__name__, exc_info=error)
            self._warden.ledger.record(Failure(FailureKind.INTERNAL, self.host, self.port))
        if self._link is None:
            if not self._closed and error is not None:
                self._say(socks5.reply(FailureKind.INTERNAL))
            self.close()

    def _join(self, far: socket.socket, early: bytes) -> None:
        link = self._linked(far)
        link.up.start(self._heard)
        link.down.start(early)
        self._heard = b""

    def _linked(self, far: socket.socket, up_left: int | None = None) -> Relay:
        self._link = Relay(
            self._near,
            far,
            meter=self._warden,
            buffer=self._warden.buffer,
            on_close=self.close,
            up_left=up_left,
        )
        return self._link

    async def _ask_proxy(self, far: socket.socket, how: FirstRequest, ledger: TrafficLog) -> None:
        """Rewrite the first request for the operator's HTTP proxy, or ask it for a tunnel where needed."""
        self._loop.remove_reader(self._near.fileno())
        try:
            async with asyncio.timeout(self._warden.idle_s):
                head = await self._first_head()
                if http_proxy_request.wants_upgrade(head):
                    early = await upstream_handshake.http_connect(
                        far, f"{how.authority}:80", how.authorization
                    )
                    self._heard = head + self._heard
                    self._join(far, early)
                    return
                request = http_proxy_request.rewritten(head, how.authority, how.authorization)
                await self._loop.sock_sendall(far, request.head)
        except upstream_handshake.HandshakeRejectedError as no:
            ledger.record(Failure(no.kind, self.host, self.port, no.detail))
            return
        except (OSError, ValueError):
            return
        ledger.up_bytes += len(head)
        link = self._linked(far, request.body_bytes)
        link.up.start(self._heard)
        self._loop.add_reader(far.fileno(), self._first_answer, far, link, ledger)

    async def _first_head(self) -> bytes:
        while (end := self._heard.find(b"\r\n\r\n")) < 0:
            if len(self._heard) > http_proxy_request.HEAD_BYTES:
                raise ValueError("a head without end")
            more = await self._loop.sock_recv(self._near, 65536)
            if not more:
                raise ConnectionResetError("closed")
            self._heard += more
        head, self._heard = self._heard[: end + 4], self._heard[end + 4 :]
        return head

    def _first_answer(self, far: socket.socket, link: Relay, ledger: TrafficLog) -> None:
        """Look whether the proxy refuses us; what it says then is not the page."""
        try:
            first = far.recv(16, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            first = b""
        if not first or http_proxy_request.says_proxy_authentication(first):
            if first:
                ledger.record(
                    Failure(FailureKind.PROXY_FAILED, self.host, self.port, upstream_handshake.REJECTED)
                )
            link.close()
            return
        link.down.start()

    def _say(self, data: bytes) -> None:
        """A few bytes into an empty buffer; a peer that is gone is noticed by reading."""
        with contextlib.suppress(OSError):
            self._near.send(data)
