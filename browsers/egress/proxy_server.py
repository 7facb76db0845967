"""Egress proxy for all browsers: owns the resolver and the connector, and opens the listeners."""

from __future__ import annotations

import logging
import socket

from browsers.egress import ip_rules
from browsers.egress.dns_resolver import CachingResolver, DnsResolver
from browsers.egress.proxy_listener import LISTEN_BACKLOG, LISTEN_HOST, ProxyLimits, ProxyListener
from browsers.egress.relay import BUFFER_BYTES
from browsers.egress.target_policy import TargetPolicy, TestHosts
from browsers.egress.tcp_dialer import ConnectFunction, Dialer, NetworkCheckingConnector, OpenConnection
from browsers.egress.third_parties import ThirdPartyPolicy
from browsers.egress.upstream_proxy import UpstreamConnector, parse_proxy
from browsers.settings import BrowserSettings

log = logging.getLogger(__name__)


class EgressProxy:
    """Open a SOCKS5 listener for each browser context; all share one resolver, target policy and connector."""

    def __init__(
        self, settings: BrowserSettings, *, names: DnsResolver | None = None, limits: ProxyLimits | None = None
    ) -> None:
        """Set up the proxy. `names` replaces the system's resolver; `limits` are for tests.

        Raises ValueError if a proxy, network or test host is invalid, and FilterListError if a filter list is. The
        message shows the format.
        """
        self._limits = limits or ProxyLimits()
        self._resolver = CachingResolver(names, limit_s=self._limits.lookup_s)
        self._connect = _create_connect(settings, self._resolver, self._limits)
        self._buffer = memoryview(bytearray(BUFFER_BYTES))
        self._listeners: set[ProxyListener] = set()
        self._third_parties = ThirdPartyPolicy(settings)

    async def open_listener(self) -> ProxyListener:
        """Open a listener for one browser context. It refuses all traffic before its first visit begins."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setblocking(False)
            # Accepted sockets inherit it: Nagle's algorithm would delay small responses.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listener.bind((LISTEN_HOST, 0))
            listener.listen(LISTEN_BACKLOG)
        except BaseException:
            listener.close()
            raise
        opened = ProxyListener(
            listener,
            self._limits,
            self._connect,
            self._buffer,
            on_close=self._listeners.discard,
            third_parties=self._third_parties,
        )
        self._listeners.add(opened)
        return opened

    async def close(self) -> None:
        """Close every listener."""
        for listener in list(self._listeners):
            await listener.close()
        self._resolver.close()


def _create_connect(settings: BrowserSettings, resolver: CachingResolver, limits: ProxyLimits) -> ConnectFunction:
    policy = TargetPolicy(resolver, ip_rules.parse_networks(settings.allow_nets), TestHosts(settings.test_hosts))
    dialer = Dialer(limit_s=limits.connect_s, stagger_s=limits.stagger_s)
    if settings.proxy is not None:
        if settings.proxy_dns not in ("remote", "local"):
            raise ValueError(f"SEARCH_MCP_PROXY_DNS is {settings.proxy_dns!r}; it can be remote or local.")
        proxy = parse_proxy(settings.proxy)
        log.info("upstream proxy %s dns=%s", proxy, settings.proxy_dns)
        return UpstreamConnector(proxy, policy, resolver, dialer, local_dns=settings.proxy_dns == "local").connect

    async def connect_directly(host: str, port: int) -> OpenConnection:
        return OpenConnection(await dialer.connect(host, port, await policy.find_targets(host, port)))

    if settings.test_hosts:
        # Their names resolve without any network.
        return connect_directly
    return NetworkCheckingConnector(connect_directly, resolver, has_private_networks=bool(settings.allow_nets)).connect
