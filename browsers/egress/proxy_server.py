"""Egress proxy for all browsers: open its listeners, and connect directly or through the operator's upstream proxy."""

import asyncio
import base64
import enum
import ipaddress
import logging
import socket
import time
import urllib.parse
from dataclasses import dataclass, field

from browsers.egress import ip_rules, proxy_protocols
from browsers.egress.dns_resolver import CachingResolver, DnsResolver
from browsers.egress.proxy_listener import LISTEN_BACKLOG, LISTEN_HOST, ProxyLimits, ProxyListener
from browsers.egress.relay import BUFFER_BYTES
from browsers.egress.target_policy import LOOPBACK_ADDRESSES, Target, TargetPolicy, TestHosts
from browsers.egress.tcp_dialer import (
    ConnectFunction,
    Dialer,
    FirstRequestRewrite,
    NetworkCheckingConnector,
    OpenConnection,
)
from browsers.egress.third_parties import ThirdPartyPolicy
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind
from browsers.settings import BrowserSettings

_HANDSHAKE_LIMIT_S = 10.0
LOCAL_LOOKUP_LIMIT_S = 1.0
"""Seconds for a local lookup if the proxy resolves names: the lookup is then only an additional check."""
_LOOKUP_COOLDOWN_S = 60.0
"""Seconds without local lookups after the name server did not answer in time."""
_HTTP_PORT = 80
_EXAMPLES = "http://user:password@proxy.example:3128 or socks5://proxy.example:1080"


class Scheme(enum.StrEnum):
    """Protocol of an upstream proxy."""

    HTTP = "http"
    SOCKS5 = "socks5"
    SOCKS5H = "socks5h"
    """SOCKS5 without any local lookup, not even to refuse private names (curl's name for it)."""


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """Address of the upstream proxy and the credentials for it."""

    scheme: Scheme
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def authorization(self) -> str | None:
        """Value of the Proxy-Authorization header (RFC 7617), or None without a user."""
        if not self.user:
            return None
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def parse_proxy(url: str) -> ProxyAddress:
    """Parse a proxy URL. Raises ValueError, with the format and without the password, if it is invalid."""
    try:
        parts = urllib.parse.urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _proxy_error("is not a URL") from None
    if parts.scheme not in list(Scheme):
        raise _proxy_error("must start with http://, socks5:// or socks5h://")
    try:
        ip_rules.parse_address(ip_rules.normalize_host(host))
    except ValueError:
        raise _proxy_error("has no host, or an invalid one") from None
    if not port:
        raise _proxy_error("has no port")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _proxy_error("has something after the port")
    user = urllib.parse.unquote(parts.username or "")
    password = urllib.parse.unquote(parts.password or "")
    if max(len(user.encode()), len(password.encode())) > 255:
        raise _proxy_error("has a user or password of more than 255 bytes")
    return ProxyAddress(Scheme(parts.scheme), host, port, user, password)


@dataclass
class UpstreamConnector:
    """Connect through the operator's proxy after checks by the policy; with `local_dns` to a checked address."""

    proxy: ProxyAddress
    policy: TargetPolicy
    resolver: CachingResolver
    dialer: Dialer
    local_dns: bool = False
    """True to resolve names on this machine."""
    _cooldown_until: float = 0.0

    async def connect(self, host: str, port: int) -> OpenConnection:
        """Connect through the proxy. Raises ConnectionDeniedError if policy, proxy or site refuse."""
        destination, target_port = await self._destination(host, port)
        try:
            sock = await self.dialer.connect(self.proxy.host, self.proxy.port, await self._proxy_targets())
        except (ConnectionDeniedError, OSError):
            raise ConnectionDeniedError(FailureKind.PROXY_SILENT, host, port) from None
        try:
            # A proxy builds the Host header from the request line, so an address there would lose the name.
            if self.proxy.scheme is Scheme.HTTP and port == _HTTP_PORT and not self.local_dns:
                request = FirstRequestRewrite(ip_rules.bracket_host(destination), self.proxy.authorization)
                return OpenConnection(sock, first_request=request)
            async with asyncio.timeout(_HANDSHAKE_LIMIT_S):
                return OpenConnection(sock, await self._handshake(sock, destination, target_port))
        except BaseException as error:
            sock.close()
            if isinstance(error, proxy_protocols.HandshakeRejectedError):
                raise ConnectionDeniedError(error.kind, host, port, error.detail) from None
            if isinstance(error, TimeoutError):
                detail = "the upstream proxy did not answer"
                raise ConnectionDeniedError(FailureKind.CONNECT_TIMEOUT, host, port, detail) from None
            if isinstance(error, OSError):
                raise ConnectionDeniedError(FailureKind.PROXY_FAILED, host, port, "it closed the connection") from None
            raise

    async def _handshake(self, sock: socket.socket, destination: str, port: int) -> bytes:
        if self.proxy.scheme is Scheme.HTTP:
            authority = f"{ip_rules.bracket_host(destination)}:{port}"
            return await proxy_protocols.http_connect(sock, authority, self.proxy.authorization)
        await proxy_protocols.socks5_connect(sock, destination, port, self.proxy.user, self.proxy.password)
        return b""

    async def _destination(self, host: str, port: int) -> tuple[str, int]:
        if self.local_dns:
            targets = await self.policy.find_targets(host, port)
            # Every proxy can reach IPv4, but not every proxy has IPv6.
            target = min(targets, key=lambda target: target.is_ipv6)
            return target.address, target.port
        name = ip_rules.normalize_host(host)
        self.policy.check_name(host, port)
        literal = ip_rules.parse_address(name)
        if literal is not None:
            return str(ip_rules.unmap_ipv4(literal)), port
        if not await self._is_known_public(host, port) and "." not in name:
            detail = "a name without a dot is a local network's"
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, detail)
        return name, port

    async def _is_known_public(self, host: str, port: int) -> bool:
        now = time.monotonic()
        if self.proxy.scheme is Scheme.SOCKS5H or now < self._cooldown_until:
            return False
        known = await self.policy.is_known_public(host, port, limit_s=LOCAL_LOOKUP_LIMIT_S)
        if not known and time.monotonic() - now >= LOCAL_LOOKUP_LIMIT_S:
            self._cooldown_until = time.monotonic() + _LOOKUP_COOLDOWN_S
        return known

    async def _proxy_targets(self) -> list[Target]:
        """Return the proxy's own addresses. They may be private, because the operator configured them."""
        name = ip_rules.normalize_host(self.proxy.host)
        literal = ip_rules.parse_address(name)
        if literal is not None:
            found = [literal]
        elif ip_rules.is_loopback_name(name):
            found = list(LOOPBACK_ADDRESSES)
        else:
            found = [ipaddress.ip_address(text) for text in await self.resolver.lookup(name)]
        return [Target(str(address), self.proxy.port, may_be_own=True) for address in found]


def _proxy_error(problem: str) -> ValueError:
    return ValueError(f"SEARCH_MCP_PROXY {problem}. Write it as {_EXAMPLES}.")


log = logging.getLogger(__name__)


class EgressProxy:
    """Open a SOCKS5 listener for each browser context; all share one resolver, target policy and connector."""

    def __init__(
        self, settings: BrowserSettings, *, names: DnsResolver | None = None, limits: ProxyLimits | None = None
    ) -> None:
        """Set up the proxy; `names` and `limits` are for tests. Raises ValueError, FilterListError with the format."""
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
