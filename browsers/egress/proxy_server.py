"""The wall: one gate for each browser context, a SOCKS5 listener through which all of its traffic goes."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from dataclasses import dataclass

from browsers.egress import ip_rules
from browsers.egress.connectors import Connector, DirectConnector, OpenConnection
from browsers.egress.dialer import CONNECT_LIMIT_S, STAGGER_S, Dialer
from browsers.egress.dns_resolver import LOOKUP_LIMIT_S, CachingResolver, DnsResolver
from browsers.egress.proxied_connection import ProxiedConnection
from browsers.egress.relay import BUFFER_BYTES
from browsers.egress.target_policy import TargetPolicy
from browsers.egress.test_hosts import TestHosts
from browsers.egress.traffic_log import ConnectionDeniedError, Failure, FailureKind, TrafficLog
from browsers.egress.upstream_proxy import Upstream, parse_proxy
from browsers.settings import BrowserSettings

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
BACKLOG = 256
OUT_OF_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
BREATH_S = 0.5
"""How long nobody is let in after the process ran out of descriptors."""


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Bounds of every gate."""

    lookup_s: float = LOOKUP_LIMIT_S
    connect_s: float = CONNECT_LIMIT_S
    stagger_s: float = STAGGER_S
    idle_s: float = 60.0
    """No byte in either direction. Longer than any visit: a slow site is cut off by the visit's deadline, and
    this only takes back what a tab that is kept warm does not use."""
    connections: int = 256
    """Of one gate at a time. A page of 90 hosts had 90."""


class EgressProxy:
    """Owner of the resolver, the judgement and the way out; one for all browsers.

    `names` is asked for addresses instead of the system; `limits` are for tests.
    """

    def __init__(
        self,
        settings: BrowserSettings,
        *,
        names: DnsResolver | None = None,
        limits: ProxyLimits | None = None,
    ) -> None:
        """Raises ValueError for a proxy, network or test host that cannot be, and shows how to write it."""
        self._limits = limits or ProxyLimits()
        self._resolver = CachingResolver(names, limit_s=self._limits.lookup_s)
        self._connector = _connector(settings, self._resolver, self._limits)
        self._buffer = memoryview(bytearray(BUFFER_BYTES))
        self._gates: set[ProxyListener] = set()

    async def open_gate(self) -> ProxyListener:
        """A gate of its own for one browser context; lets nothing through before its first `begin`."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setblocking(False)
            # Inherited by what it accepts: a relay that waits for more to send would hold answers back.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listener.bind((HOST, 0))
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        gate = ProxyListener(self, listener, self._limits, self._connector, self._buffer)
        self._gates.add(gate)
        return gate

    async def close(self) -> None:
        """Close every gate."""
        for gate in list(self._gates):
            await gate.close()
        self._resolver.close()

    def forget(self, gate: ProxyListener) -> None:
        """It is closed."""
        self._gates.discard(gate)


class ProxyListener:
    """A SOCKS5 listener on this machine's loopback.

    Whoever runs programs on this machine can connect to the port while it is open. What they get is the same
    rule as the browser's: the public web, within the visit's bounds.
    """

    def __init__(
        self,
        egress: EgressProxy,
        listener: socket.socket,
        limits: ProxyLimits,
        connector: Connector,
        buffer: memoryview,
    ) -> None:
        self.port: int = listener.getsockname()[1]
        self.proxy_server = f"socks5://{HOST}:{self.port}"
        self.ledger = TrafficLog(0)
        self.idle_s = limits.idle_s
        self.buffer = buffer
        self._begun = False
        self._egress = egress
        self._listener = listener
        self._limits = limits
        self._connector = connector
        self._passages: set[ProxiedConnection] = set()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(listener.fileno(), self._accept)

    def begin(self, wire_bytes: int) -> TrafficLog:
        """Begin a visit: so many bytes may come down, and as many go up; the ledger tells what happens."""
        self.ledger = TrafficLog(wire_bytes)
        self._begun = True
        return self.ledger

    def rest(self) -> None:
        """Between two visits nothing comes in or goes out."""
        self._begun = False
        self.drop_connections()

    def drop_connections(self) -> None:
        """Abort every connection, and every attempt to make one."""
        for passage in list(self._passages):
            passage.close()

    async def close(self) -> None:
        """Stop listening and abort every connection; the port is free when this returns."""
        if self._listener.fileno() < 0:
            return
        self._loop.remove_reader(self._listener.fileno())
        self._listener.close()
        if self._timer is not None:
            self._timer.cancel()
        leaving = list(self._passages)
        self.drop_connections()
        self._egress.forget(self)
        for passage in leaving:
            await passage.closed()

    async def connect(self, host: str, port: int) -> OpenConnection:
        """A connection to a judged address.

        Raises:
            Denied: no visit has begun, its bytes are used up, or the judgement or the network said no.
        """
        if not self._begun:
            raise ConnectionDeniedError(FailureKind.NOT_ALLOWED, host, port, "no visit has begun")
        if self.ledger.too_large:
            raise ConnectionDeniedError(FailureKind.TOO_LARGE, host, port)
        return await self._connector.connect(host, port)

    def overflow(self) -> None:
        """The visit's bytes are used up: nothing more comes in or goes out."""
        self.ledger.too_large = True
        self.drop_connections()

    def forget(self, passage: ProxiedConnection) -> None:
        """It is closed."""
        self._passages.discard(passage)

    def _accept(self) -> None:
        for _ in range(BACKLOG):
            try:
                near, peer = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in OUT_OF_DESCRIPTORS:
                    self._pause()
                return
            self._admit(near, peer[0])

    def _admit(self, near: socket.socket, peer: str) -> None:
        if not peer.startswith("127."):
            near.close()
            return
        if len(self._passages) >= self._limits.connections:
            self.ledger.record(Failure(FailureKind.TOO_MANY_CONNECTIONS, "", 0))
            near.close()
            return
        near.setblocking(False)
        self.ledger.connections += 1
        self._passages.add(ProxiedConnection(self, near))
        if self._timer is None:
            self._timer = self._loop.call_later(self.idle_s / 2, self._sweep)

    def _pause(self) -> None:
        """Out of descriptors: a listener that cannot accept is always ready, and would spin."""
        log.error("egress out of file descriptors")
        self._loop.remove_reader(self._listener.fileno())
        self._loop.call_later(BREATH_S, self._resume)

    def _resume(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.add_reader(self._listener.fileno(), self._accept)

    def _sweep(self) -> None:
        """Close what has been silent for too long."""
        self._timer = None
        oldest = time.monotonic() - self.idle_s
        for passage in list(self._passages):
            since = passage.idle_since
            if since is not None and since < oldest:
                if passage.unanswered:
                    self.ledger.record(Failure(FailureKind.IDLE, passage.host, passage.port))
                passage.close()
        if self._passages:
            self._timer = self._loop.call_later(self.idle_s / 2, self._sweep)


def _connector(settings: BrowserSettings, resolver: CachingResolver, limits: ProxyLimits) -> Connector:
    judgement = TargetPolicy(
        resolver, ip_rules.parse_networks(settings.allow_nets), TestHosts(settings.test_hosts)
    )
    dialer = Dialer(limit_s=limits.connect_s, stagger_s=limits.stagger_s)
    if settings.proxy is None:
        return DirectConnector(judgement, dialer)
    if settings.proxy_dns not in ("remote", "local"):
        raise ValueError(f"SEARCH_MCP_PROXY_DNS is {settings.proxy_dns!r}; it can be remote or local.")
    proxy = parse_proxy(settings.proxy)
    log.info("upstream proxy %s dns=%s", proxy, settings.proxy_dns)
    return Upstream(proxy, judgement, resolver, dialer, local_dns=settings.proxy_dns == "local")
