"""The operator's own proxy, behind the wall: told only of what was judged; only we know its password."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import enum
import ipaddress
import socket
import time
import urllib.parse
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from browsers.egress import ip_rules, upstream_handshake
from browsers.egress.connectors import FirstRequest, OpenConnection
from browsers.egress.dialer import Dialer
from browsers.egress.dns_resolver import CachingResolver
from browsers.egress.target_policy import LOOPBACK, Target, TargetPolicy
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind

HANDSHAKE_LIMIT_S = 10.0
ADVICE_LIMIT_S = 1.0
"""Our own resolver only advises where the proxy resolves: it is not waited for long."""
SILENCE_S = 60.0
"""After a name server kept silent, it is not asked for advice for so long."""
HTTP_PORT = 80
EXAMPLES = "http://user:password@proxy.example:3128 or socks5://proxy.example:1080"


class Scheme(enum.StrEnum):
    """What an upstream proxy speaks."""

    HTTP = "http"
    SOCKS5 = "socks5"
    SOCKS5H = "socks5h"
    """SOCKS5, and names are never looked up here, not even to refuse private ones (curl's word for it)."""


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """Where the upstream proxy is, and who we are to it."""

    scheme: Scheme
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def authorization(self) -> str | None:
        """The value of a Proxy-Authorization header (RFC 7617)."""
        if not self.user:
            return None
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def parse_proxy(url: str) -> ProxyAddress:
    """Raises ValueError with a message that shows how to write it and never holds the password."""
    try:
        parts = urllib.parse.urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _wrong("is not a URL") from None
    if parts.scheme not in list(Scheme):
        raise _wrong("must start with http://, socks5:// or socks5h://")
    try:
        ip_rules.literal(ip_rules.normal_host(host))
    except ValueError:
        raise _wrong("has no host, or one that cannot be") from None
    if not port:
        raise _wrong("has no port")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _wrong("has something after the port")
    user = urllib.parse.unquote(parts.username or "")
    password = urllib.parse.unquote(parts.password or "")
    if max(len(user.encode()), len(password.encode())) > 255:
        raise _wrong("has a user or password of more than 255 bytes")
    return ProxyAddress(Scheme(parts.scheme), host, port, user, password)


class Upstream:
    """Connects through the operator's proxy.

    Names are judged as names and, where our own resolver knows them, by their addresses; the last word on the
    address is the proxy's. With `local_dns` the proxy is given a judged address.
    """

    def __init__(
        self,
        proxy: ProxyAddress,
        judgement: TargetPolicy,
        resolver: CachingResolver,
        dialer: Dialer,
        *,
        local_dns: bool = False,
    ) -> None:
        self._proxy = proxy
        self._judgement = judgement
        self._resolver = resolver
        self._dialer = dialer
        self._local_dns = local_dns
        self._silent_until = 0.0

    async def connect(self, host: str, port: int) -> OpenConnection:
        """A connection through the proxy.

        Raises:
            Denied: the judgement, the proxy, or the site behind it said no.
        """
        destination, at = await self._destination(host, port)
        sock = await self._dial(host, port)
        try:
            if self._speaks_absolute_form(port):
                request = FirstRequest(ip_rules.bracketed(destination), self._proxy.authorization)
                return OpenConnection(sock, first_request=request)
            async with _denying(host, port):
                return OpenConnection(sock, await self._shake_hands(sock, destination, at))
        except BaseException:
            sock.close()
            raise

    def _speaks_absolute_form(self, port: int) -> bool:
        # Of an address in the request line, a proxy makes the Host: only CONNECT keeps the name.
        return self._proxy.scheme is Scheme.HTTP and port == HTTP_PORT and not self._local_dns

    async def _shake_hands(self, sock: socket.socket, destination: str, port: int) -> bytes:
        if self._proxy.scheme is Scheme.HTTP:
            authority = f"{ip_rules.bracketed(destination)}:{port}"
            return await upstream_handshake.http_connect(sock, authority, self._proxy.authorization)
        await upstream_handshake.socks5_connect(
            sock, destination, port, self._proxy.user, self._proxy.password
        )
        return b""

    async def _destination(self, host: str, port: int) -> tuple[str, int]:
        """What the proxy is asked for."""
        if self._local_dns:
            targets = await self._judgement.targets(host, port)
            # Any proxy can reach IPv4; not every one has IPv6.
            target = min(targets, key=lambda target: target.is_ipv6)
            return target.address, target.port
        name = ip_rules.normal_host(host)
        self._judgement.named(host, port)
        literal = ip_rules.literal(name)
        if literal is not None:
            return str(ip_rules.unwrapped(literal)), port
        if not await self._advised(host, port) and "." not in name:
            raise ConnectionDeniedError(
                FailureKind.BLOCKED_ADDRESS, host, port, "a name without a dot is a local network's"
            )
        return name, port

    async def _advised(self, host: str, port: int) -> bool:
        """Whether our own resolver knows the name, and only public addresses of it."""
        now = time.monotonic()
        if self._proxy.scheme is Scheme.SOCKS5H or now < self._silent_until:
            return False
        known = await self._judgement.public_or_unknown(host, port, limit_s=ADVICE_LIMIT_S)
        if not known and time.monotonic() - now >= ADVICE_LIMIT_S:
            self._silent_until = time.monotonic() + SILENCE_S
        return known

    async def _dial(self, host: str, port: int) -> socket.socket:
        try:
            return await self._dialer.connect(self._proxy.host, self._proxy.port, await self._targets())
        except (ConnectionDeniedError, OSError):
            raise ConnectionDeniedError(FailureKind.PROXY_FAILED, host, port, "it does not answer") from None

    async def _targets(self) -> list[Target]:
        """The proxy's own addresses: the operator named it, so it may be private; but only it."""
        name = ip_rules.normal_host(self._proxy.host)
        literal = ip_rules.literal(name)
        if literal is not None:
            found = [literal]
        elif ip_rules.is_loopback_name(name):
            found = list(LOOPBACK)
        else:
            found = [ipaddress.ip_address(text) for text in await self._resolver.lookup(name)]
        return [Target(address, str(address), self._proxy.port, may_be_own=True) for address in found]


@contextlib.asynccontextmanager
async def _denying(host: str, port: int) -> AsyncIterator[None]:
    """Whatever goes wrong with the proxy, said of the site that was wanted."""
    try:
        async with asyncio.timeout(HANDSHAKE_LIMIT_S):
            yield
    except TimeoutError:
        raise ConnectionDeniedError(
            FailureKind.CONNECT_TIMEOUT, host, port, "the upstream proxy kept silent"
        ) from None
    except upstream_handshake.HandshakeRejectedError as no:
        raise ConnectionDeniedError(no.kind, host, port, no.detail) from None
    except OSError:
        raise ConnectionDeniedError(
            FailureKind.PROXY_FAILED, host, port, "it closed the connection"
        ) from None


def _wrong(what: str) -> ValueError:
    return ValueError(f"SEARCH_MCP_PROXY {what}. Write it as {EXAMPLES}.")
