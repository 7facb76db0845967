"""Connect to hosts, and distinguish an unreachable host from a machine without network."""

from __future__ import annotations

import asyncio
import socket
import time

from browsers.egress import ip_rules
from browsers.egress.dns_resolver import WELL_KNOWN_HOSTS, CachingResolver
from browsers.egress.tcp_dialer import ConnectFunction, OpenConnection
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind

CHECK_AGE_S = 5.0
"""Seconds for which the result of a check is used again."""
_LOOKUP_LIMIT_S = 3.0
"""Seconds for the lookups of one check, which run at the same time."""
_RECENT_S = 60.0
"""Seconds after a connection in which a machine with private networks counts as connected."""

_NEVER_RESOLVED = (".example", ".invalid", ".test")
"""Reserved top-level domains (RFC 2606). These names never exist, so a failed lookup does not mean a failed network."""
_ROUTES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Documentation addresses (RFC 5737, RFC 3849): the default route leads to them. No packet is sent."""
_MAYBE_NO_NETWORK = frozenset(
    {
        FailureKind.NAME_NOT_RESOLVED,
        FailureKind.NAME_LOOKUP_TIMEOUT,
        FailureKind.HOST_UNREACHABLE,
        FailureKind.CONNECT_TIMEOUT,
    }
)


class NetworkCheckingConnector:
    """Connect to hosts, and report NO_NETWORK for a failed connection if this machine reaches no host at all.

    It looks well-known names up only after a failure, at most once in `CHECK_AGE_S`.
    """

    def __init__(self, connect: ConnectFunction, resolver: CachingResolver, *, has_private_networks: bool) -> None:
        """Connect with `connect`.

        With `has_private_networks`, a recent connection also shows that there is a network: such a machine may be
        unable to resolve public names.
        """
        self._connect = connect
        self._resolver = resolver
        self._has_private_networks = has_private_networks
        self._connected_at = 0.0
        self._lock = asyncio.Lock()
        self._checked_at = 0.0
        self._is_down = False

    async def connect(self, host: str, port: int) -> OpenConnection:
        """Connect to the host. Raises ConnectionDeniedError, with NO_NETWORK if this machine reaches no host."""
        try:
            opened = await self._connect(host, port)
        except ConnectionDeniedError as denied:
            if await self._is_caused_by_network(denied.failure.kind, ip_rules.normalize_host(host)):
                raise ConnectionDeniedError(FailureKind.NO_NETWORK, host, port) from None
            raise
        self._connected_at = time.monotonic()
        return opened

    async def _is_caused_by_network(self, kind: FailureKind, host: str) -> bool:
        if kind not in _MAYBE_NO_NETWORK:
            return False
        if kind is FailureKind.NAME_NOT_RESOLVED and not _may_exist(host):
            return False
        if self._has_private_networks and time.monotonic() - self._connected_at < _RECENT_S:
            return False
        async with self._lock:
            if self._checked_at == 0.0 or time.monotonic() - self._checked_at > CHECK_AGE_S:
                self._is_down = not _has_route() or not await self._resolves_any_name()
                self._checked_at = time.monotonic()
        return self._is_down

    async def _resolves_any_name(self) -> bool:
        lookups = {asyncio.create_task(self._resolves(name)) for name in WELL_KNOWN_HOSTS}
        try:
            for lookup in asyncio.as_completed(lookups):
                if await lookup:
                    return True
            return False
        finally:
            for task in lookups:
                task.cancel()

    async def _resolves(self, name: str) -> bool:
        try:
            return len(await self._resolver.lookup_now(name, limit_s=_LOOKUP_LIMIT_S)) > 0
        except OSError:
            return False


def _may_exist(host: str) -> bool:
    try:
        ip_rules.parse_address(host)
    except ValueError:
        return False
    return not host.endswith(_NEVER_RESOLVED)


def _has_route() -> bool:
    """Return True if the system has a route to the internet in one of the address families."""
    for family, address in _ROUTES:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))
        except OSError:
            continue
        return True
    return False
