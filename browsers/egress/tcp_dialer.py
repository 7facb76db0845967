"""Connect to a host by the first of its checked addresses that answers ("happy eyeballs", RFC 8305)."""

import asyncio
import contextlib
import errno
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from cachetools import LRUCache

from browsers.egress import ip_rules
from browsers.egress.dns_resolver import WELL_KNOWN_HOSTS, CachingResolver
from browsers.egress.target_policy import Target
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
    """Connect, and after a failure report NO_NETWORK if no well-known name is found, checked each `CHECK_AGE_S`."""

    def __init__(self, connect: "ConnectFunction", resolver: CachingResolver, *, has_private_networks: bool) -> None:
        """Connect with `connect`. With `has_private_networks`, a recent connection also proves that there is one."""
        self._connect = connect
        self._resolver = resolver
        self._has_private_networks = has_private_networks
        self._connected_at = 0.0
        self._lock = asyncio.Lock()
        self._checked_at = 0.0
        self._is_down = False

    async def connect(self, host: str, port: int) -> "OpenConnection":
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
        has_connected = self._has_private_networks and time.monotonic() - self._connected_at < _RECENT_S
        is_missing = kind is FailureKind.NAME_NOT_RESOLVED and not _may_exist(host)
        if kind not in _MAYBE_NO_NETWORK or is_missing or has_connected:
            return False
        async with self._lock:
            if self._checked_at == 0.0 or time.monotonic() - self._checked_at > CHECK_AGE_S:
                self._is_down = not _has_route() or not await self._resolves_any_name()
                self._checked_at = time.monotonic()
        return self._is_down

    async def _resolves_any_name(self) -> bool:
        now = self._resolver.lookup_now
        lookups = {asyncio.create_task(now(name, limit_s=_LOOKUP_LIMIT_S)) for name in WELL_KNOWN_HOSTS}
        try:
            for lookup in asyncio.as_completed(lookups):
                with contextlib.suppress(OSError):
                    if await lookup:
                        return True
            return False
        finally:
            for task in lookups:
                task.cancel()
                task.add_done_callback(lambda done: done.cancelled() or done.exception())


def _may_exist(host: str) -> bool:
    try:
        ip_rules.parse_address(host)
    except ValueError:
        return False
    return not host.endswith(_NEVER_RESOLVED)


def _has_route() -> bool:
    for family, address in _ROUTES:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return True
    return False


CONNECT_LIMIT_S = 10.0
"""Seconds to connect to a host, with all of its addresses."""
STAGGER_S = 0.25
"""Seconds before the next address is tried: RFC 8305's "connection attempt delay". A dead IPv6 route then costs 257 ms
once for each host."""
DIALS_PER_HOST = 32
"""Simultaneous calls of `connect` to one host; further ones wait."""
_HOSTS_REMEMBERED = 4096
"""Hosts whose working address family is in memory."""

_UNASSIGNABLE_ADDRESSES = ("240.0.0.1", "3fff::1")
"""Addresses that no machine has. If a bind to one works (ip_nonlocal_bind), a bind proves nothing."""


@dataclass(frozen=True, slots=True)
class FirstRequestRewrite:
    """Values to rewrite the first request on a connection to an HTTP proxy."""

    authority: str
    authorization: str | None


@dataclass(frozen=True, slots=True)
class OpenConnection:
    """A connected socket, bytes already received from it, and how to rewrite the first request."""

    sock: socket.socket
    early: bytes = b""
    first_request: FirstRequestRewrite | None = None


ConnectFunction = Callable[[str, int], Awaitable[OpenConnection]]
"""Open a connection to host and port: directly, or through the operator's proxy. Raises ConnectionDeniedError."""


class Dialer:
    """Connect to checked addresses, and remember the address family that worked for a host."""

    def __init__(self, *, limit_s: float = CONNECT_LIMIT_S, stagger_s: float = STAGGER_S) -> None:
        """Set the time limit for all addresses of a host together, and the delay before the next one, in seconds."""
        self._limit_s = limit_s
        self._stagger_s = stagger_s
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """Slots of the hosts that are being dialed."""
        self._ipv6_worked: LRUCache[str, bool] = LRUCache(_HOSTS_REMEMBERED)
        self._binding_proves = not any(_can_bind(address) for address in _UNASSIGNABLE_ADDRESSES)

    async def connect(self, host: str, port: int, targets: list[Target]) -> socket.socket:
        """Return a socket connected to the first target that answers. Raises ConnectionDeniedError."""
        try:
            if self._binding_proves and any(not t.may_be_own and _can_bind(t.address) for t in targets):
                raise _OwnAddressError
            slots = self._slots.setdefault(host, asyncio.Semaphore(DIALS_PER_HOST))
            async with asyncio.timeout(self._limit_s), slots:
                if len(targets) == 1:
                    return await self._dial(targets[0])
                return await self._race(host, targets)
        except TimeoutError:
            raise ConnectionDeniedError(FailureKind.CONNECT_TIMEOUT, host, port) from None
        except ConnectionRefusedError:
            raise ConnectionDeniedError(FailureKind.CONNECTION_REFUSED, host, port) from None
        except _OwnAddressError:
            detail = "an address of this machine itself"
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, detail) from None
        except OSError as error:
            # A kernel that gave up reports ETIMEDOUT, which Python raises as TimeoutError.
            name = errno.errorcode.get(error.errno or 0, type(error).__name__)
            raise ConnectionDeniedError(FailureKind.HOST_UNREACHABLE, host, port, name) from None

    async def _dial(self, target: Target) -> socket.socket:
        sock = socket.socket(socket.AF_INET6 if target.is_ipv6 else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(sock, (target.address, target.port))
            if not target.may_be_own and sock.getsockname()[0] == sock.getpeername()[0]:
                raise _OwnAddressError
        except BaseException:
            sock.close()
            raise
        return sock

    async def _race(self, host: str, targets: list[Target]) -> socket.socket:
        """Start the next attempt when one has failed or after the stagger. The first to connect wins."""
        family = self._ipv6_worked.get(host)
        pending = sorted(targets, key=lambda target: family is not None and target.is_ipv6 is not family)
        running: dict[asyncio.Task[socket.socket], Target] = {}
        problem: OSError = OSError(errno.EHOSTUNREACH, "no address")
        try:
            while pending or running:
                if pending:
                    target = pending.pop(0)
                    running[asyncio.create_task(self._dial(target))] = target
                done, _ = await asyncio.wait(
                    running, timeout=self._stagger_s if pending else None, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    target = running.pop(task)
                    error = task.exception()
                    if error is None:
                        self._ipv6_worked[host] = target.is_ipv6
                        return task.result()
                    if not isinstance(error, OSError):
                        raise error
                    problem = error
            raise problem
        finally:
            for task in running:
                task.cancel()
                task.add_done_callback(_close_late_winner)


class _OwnAddressError(Exception):
    """The peer is this machine."""


def _can_bind(address: str) -> bool:
    """Return True if the address belongs to this machine, which may connect to it from another one. Takes 5 us."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _close_late_winner(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()
