"""SOCKS5 listener of one browser context, and the connections through it."""

import asyncio
import contextlib
import errno
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from browsers.egress import proxy_protocols
from browsers.egress.dns_resolver import LOOKUP_LIMIT_S
from browsers.egress.relay import Relay
from browsers.egress.tcp_dialer import CONNECT_LIMIT_S, STAGGER_S, ConnectFunction, FirstRequestRewrite, OpenConnection
from browsers.egress.third_parties import ThirdPartyFilter, ThirdPartyPolicy
from browsers.egress.traffic_log import ConnectionDeniedError, ConnectionFailure, FailureKind, TrafficLog
from browsers.model import ThirdParties

log = logging.getLogger(__name__)

LISTEN_HOST = "127.0.0.1"
LISTEN_BACKLOG = 256
_OUT_OF_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_ACCEPT_PAUSE_S = 0.5
"""Seconds without accepting connections after the process ran out of descriptors."""
_MAX_READ_BYTES = 4096
"""Bytes of one read during the handshake. A SOCKS5 greeting and request are at most 519 bytes long."""
_MAX_REFUSED_HOSTS = 256
"""Maximum of refused hosts that are counted for one page."""
_MAX_EARLY_BYTES = 64 * 1024
"""Bytes read from the browser before its connection is open; the rest waits in the socket."""
_STATUS_LINE_BYTES = 16


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Limits of every listener."""

    lookup_s: float = LOOKUP_LIMIT_S
    connect_s: float = CONNECT_LIMIT_S
    stagger_s: float = STAGGER_S
    idle_s: float = 60.0
    """Seconds without a byte in either direction. Longer than any visit: the visit's deadline ends slow sites. This
    limit only frees connections that a prepared tab does not use."""
    connections: int = 256
    """Simultaneous connections of one listener. A page of 90 hosts had 90."""


class ProxyListener:
    """A SOCKS5 listener on this machine's loopback interface.

    Other programs on this machine can connect to the port while it is open. The same policy and limits apply to them:
    the public web, within the limits of the visit.
    """

    def __init__(
        self,
        listener: socket.socket,
        limits: ProxyLimits,
        connect: ConnectFunction,
        buffer: memoryview,
        on_close: "Callable[[ProxyListener], None]",
        third_parties: ThirdPartyPolicy,
    ) -> None:
        """Accept connections on a listening socket and open them with `connect`; the event loop shares one `buffer`."""
        self._third_parties = third_parties
        self.port: int = listener.getsockname()[1]
        self.proxy_server = f"socks5://{LISTEN_HOST}:{self.port}"
        self.traffic = TrafficLog(0)
        """Log of the visit in progress."""
        self.idle_s = limits.idle_s
        self.buffer = buffer
        self.is_paused = False
        """True if no bytes are relayed until `resume`."""
        self._is_visit_running = False
        self._filter: ThirdPartyFilter | None = None
        self._listener = listener
        self._limits = limits
        self._connect = connect
        self._on_close = on_close
        self.connections: set[ProxiedConnection] = set()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(listener.fileno(), self._accept)

    def begin_visit(self, wire_bytes: int) -> TrafficLog:
        """Allow connections for a visit, limited to `wire_bytes` in each direction, and return its traffic log."""
        self.traffic = TrafficLog(wire_bytes)
        self._is_visit_running = True
        self.is_paused = False
        self._filter = None
        return self.traffic

    def filter_third_parties(self, allowed: ThirdParties, page_hosts: tuple[str, ...]) -> None:
        """Refuse third parties of the page from now on, until the next visit begins."""
        self._filter = self._third_parties.make_filter(allowed, page_hosts)

    def end_visit(self) -> None:
        """Abort every connection, and refuse all traffic until the next visit begins."""
        self._is_visit_running = False
        self.drop_connections()

    def pause(self) -> None:
        """Stop all traffic until `resume`. Connections stay open, so that requests continue then."""
        self.is_paused = True
        for connection in self.connections:
            if connection.relay is not None:
                connection.relay.pause()

    def resume(self) -> None:
        """Allow the traffic of the paused visit again, within its limits."""
        self.is_paused = False
        for connection in list(self.connections):
            if connection.relay is not None:
                connection.relay.resume()

    def drop_connections(self) -> None:
        """Abort every connection, and every attempt to open one."""
        for connection in list(self.connections):
            connection.close()

    async def close(self) -> None:
        """Stop listening and abort every connection. The port is free when this returns."""
        if self._listener.fileno() < 0:
            return
        self._loop.remove_reader(self._listener.fileno())
        self._listener.close()
        if self._timer is not None:
            self._timer.cancel()
        opening = [connection.opening for connection in self.connections if connection.opening is not None]
        self.drop_connections()
        self._on_close(self)
        if opening:
            await asyncio.wait(opening)

    async def connect(self, host: str, port: int) -> OpenConnection:
        """Connect for the visit in progress. Raises ConnectionDeniedError without one, at its limit, or if refused."""
        if not self._is_visit_running:
            raise ConnectionDeniedError(FailureKind.NOT_ALLOWED, host, port, "no visit has begun")
        if self.traffic.too_large:
            raise ConnectionDeniedError(FailureKind.TOO_LARGE, host, port)
        if self._filter is not None and self._filter.refuses(host):
            if len(self.traffic.refused_hosts) < _MAX_REFUSED_HOSTS:
                self.traffic.refused_hosts.add(host)
            raise ConnectionDeniedError(FailureKind.THIRD_PARTY, host, port)
        return await self._connect(host, port)

    def count_bytes(self, data: memoryview, is_upload: bool) -> bool:
        """Count relayed bytes. Above the visit's limit, end all its traffic and return False."""
        traffic = self.traffic
        if is_upload:
            traffic.up_bytes += len(data)
        else:
            traffic.down_bytes += len(data)
            traffic.down_end = (traffic.down_end + bytes(data[-4:]))[-4:]
        if max(traffic.up_bytes, traffic.down_bytes) <= traffic.limit_bytes:
            return True
        traffic.too_large = True
        self.drop_connections()
        return False

    def forget(self, connection: "ProxiedConnection") -> None:
        """Remove a closed connection."""
        self.connections.discard(connection)

    def _accept(self) -> None:
        for _ in range(LISTEN_BACKLOG):
            try:
                near, peer = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_DESCRIPTORS:
                    self._pause_accepting()
                return
            self._add_connection(near, peer[0])

    def _add_connection(self, near: socket.socket, peer: str) -> None:
        if not peer.startswith("127."):
            near.close()
            return
        if len(self.connections) >= self._limits.connections:
            self.traffic.record(ConnectionFailure(FailureKind.TOO_MANY_CONNECTIONS, "", 0))
            near.close()
            return
        near.setblocking(False)
        self.traffic.connections += 1
        self.connections.add(ProxiedConnection(self, near))
        if self._timer is None:
            self._timer = self._loop.call_later(self.idle_s / 2, self._close_idle)

    def _pause_accepting(self) -> None:
        """Wait for free descriptors. A listener that cannot accept is always readable and would busy-loop."""

        def resume() -> None:
            if self._listener.fileno() >= 0:
                self._loop.add_reader(self._listener.fileno(), self._accept)

        log.error("egress out of file descriptors")
        self._loop.remove_reader(self._listener.fileno())
        self._loop.call_later(_ACCEPT_PAUSE_S, resume)

    def _close_idle(self) -> None:
        self._timer = None
        oldest = time.monotonic() - self.idle_s
        for connection in list(self.connections):
            since = connection.idle_since
            if since is not None and since < oldest:
                relay = connection.relay
                if relay is not None and relay.up.has_moved and not relay.down.has_moved:
                    self.traffic.record(ConnectionFailure(FailureKind.IDLE, connection.host, connection.port))
                connection.close()
        if self.connections:
            self._timer = self._loop.call_later(self.idle_s / 2, self._close_idle)


class ProxiedConnection:
    """Handshake, policy check and relay of one connection, which owns the sockets of browser and site."""

    def __init__(self, listener: ProxyListener, near: socket.socket) -> None:
        """Serve the connection `near` of the listener's browser."""
        self.host = ""
        self.port = 0
        self._listener = listener
        self._near = near
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._is_greeted = False
        self._is_closed = False
        self._last_byte_at = time.monotonic()
        self.relay: Relay | None = None
        self.opening: asyncio.Task[None] | None = None
        self._loop.add_reader(near.fileno(), self._receive)

    @property
    def idle_since(self) -> float | None:
        """Time of the last byte, or None while it is being opened, which has limits of its own, or paused."""
        if self.relay is not None:
            return None if self.relay.is_paused else self.relay.last_byte_at
        return self._last_byte_at if self.opening is None else None

    def close(self) -> None:
        """Close both sockets now, in any state."""
        if self._is_closed:
            return
        self._is_closed = True
        if self.opening is not None:
            self.opening.cancel()
        if self.relay is not None:
            self.relay.close()
        else:
            self._loop.remove_reader(self._near.fileno())
            self._near.close()
        self._listener.forget(self)

    def _receive(self) -> None:
        """Receive the handshake and early data, and notice when the browser gives up."""
        try:
            data = self._near.recv(_MAX_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._received += data
        if self.opening is not None:
            if len(self._received) > _MAX_EARLY_BYTES:
                self._loop.remove_reader(self._near.fileno())
            return
        try:
            self._handle_handshake()
        except proxy_protocols.Socks5Error as error:
            self._send(error.reply)
            self.close()

    def _handle_handshake(self) -> None:
        if not self._is_greeted:
            end = proxy_protocols.parse_socks5_greeting(self._received)
            if end is None:
                return
            self._is_greeted = True
            self._received = self._received[end:]
            self._send(proxy_protocols.METHOD_ACCEPTED)
        request = proxy_protocols.parse_socks5_request(self._received)
        if request is None:
            return
        self.host, self.port, end = request
        self._received = self._received[end:]
        self.opening = self._loop.create_task(self._serve())

    async def _serve(self) -> None:
        """Open the connection and relay its bytes, or close it."""
        try:
            await self._open()
        except Exception as error:
            # Unexpected: report it and let nothing through.
            log.error("egress failed error=%s", type(error).__name__, exc_info=error)
            self._listener.traffic.record(ConnectionFailure(FailureKind.INTERNAL, self.host, self.port))
            if self.relay is None:
                self._send(proxy_protocols.build_socks5_refusal(FailureKind.INTERNAL))
        finally:
            if self.relay is None:
                self.close()

    async def _open(self) -> None:
        # The log of the visit that requested it: another visit may have begun when the answer comes.
        traffic = self._listener.traffic
        try:
            opened = await self._listener.connect(self.host, self.port)
        except ConnectionDeniedError as denied:
            traffic.record(denied.failure)
            self._send(proxy_protocols.build_socks5_refusal(denied.failure.kind))
            return
        traffic.clear(self.host, self.port)
        try:
            self._send(proxy_protocols.CONNECTED)
            if opened.first_request is None:
                self._join(opened.sock, opened.early)
            else:
                await self._send_first_request(opened.sock, opened.first_request, traffic)
        finally:
            if self.relay is None:
                opened.sock.close()

    def _join(self, far: socket.socket, early: bytes) -> None:
        relay = self._create_relay(far)
        relay.up.start(self._received)
        relay.down.start(early)
        self._received = b""

    def _create_relay(self, far: socket.socket) -> Relay:
        listener = self._listener
        self.relay = Relay(
            self._near, far, count_bytes=listener.count_bytes, buffer=listener.buffer, on_close=self.close
        )
        if listener.is_paused:
            self.relay.pause()
        return self.relay

    async def _send_first_request(self, far: socket.socket, first: FirstRequestRewrite, traffic: TrafficLog) -> None:
        """Rewrite the first request for the upstream HTTP proxy, or open a tunnel for an upgrade request.

        Close if the proxy rejects the credentials, so that its response is not taken for the page.
        """
        self._loop.remove_reader(self._near.fileno())
        try:
            async with asyncio.timeout(self._listener.idle_s):
                while (end := self._received.find(b"\r\n\r\n")) < 0:
                    if len(self._received) > proxy_protocols.MAX_HEAD_BYTES:
                        raise ValueError("a head without end")
                    self._received += await proxy_protocols.receive(self._near)
                head, self._received = self._received[: end + 4], self._received[end + 4 :]
                if proxy_protocols.is_upgrade_request(head):
                    early = await proxy_protocols.http_connect(far, f"{first.authority}:80", first.authorization)
                    self._received = head + self._received
                    self._join(far, early)
                    return
                request, body_bytes = proxy_protocols.rewrite_request_head(head, first.authority, first.authorization)
                await self._loop.sock_sendall(far, request)
        except proxy_protocols.HandshakeRejectedError as error:
            traffic.record(ConnectionFailure(error.kind, self.host, self.port, error.detail))
            return
        except (OSError, ValueError):
            return
        traffic.up_bytes += len(head)
        relay = self._create_relay(far)
        relay.up.left = body_bytes
        relay.up.start(self._received)
        try:
            response = await proxy_protocols.receive(far, _STATUS_LINE_BYTES)
        except OSError:
            relay.close()
            return
        if proxy_protocols.is_proxy_auth_required(response):
            detail = proxy_protocols.CREDENTIALS_REJECTED
            traffic.record(ConnectionFailure(FailureKind.PROXY_FAILED, self.host, self.port, detail))
            relay.close()
        else:
            relay.down.start(response)

    def _send(self, data: bytes) -> None:
        """Send a few bytes into an empty buffer. A closed peer is noticed by the next read."""
        with contextlib.suppress(OSError):
            self._near.send(data)
