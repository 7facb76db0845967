"""A socket to one of several judged addresses: whichever answers first, without flooding a host."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import OrderedDict

from browsers.egress.target_policy import Target
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind

CONNECT_LIMIT_S = 10.0
STAGGER_S = 0.25
"""RFC 8305's "connection attempt delay". A dead IPv6 route then costs 257 ms once for each host."""
DIALS_PER_HOST = 32
HOSTS_REMEMBERED = 4096

NEVER_OURS = ("240.0.0.1", "3fff::1")
"""Addresses that no machine has. Where binding to one succeeds, binding proves nothing (ip_nonlocal_bind)."""


class _Slots:
    """So many dials of one host at once; known only while there are any."""

    __slots__ = ("_free", "_host", "_known", "_users")

    def __init__(self, host: str, known: dict[str, _Slots]) -> None:
        self._free = asyncio.Semaphore(DIALS_PER_HOST)
        self._host = host
        self._known = known
        self._users = 0

    async def __aenter__(self) -> None:
        self._users += 1
        try:
            await self._free.acquire()
        except BaseException:
            self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._free.release()
        self._leave()

    def _leave(self) -> None:
        self._users -= 1
        if not self._users:
            del self._known[self._host]


class Dialer:
    """Connects to judged addresses; remembers which family worked for a host."""

    def __init__(self, *, limit_s: float = CONNECT_LIMIT_S, stagger_s: float = STAGGER_S) -> None:
        self._limit_s = limit_s
        self._stagger_s = stagger_s
        self._slots: dict[str, _Slots] = {}
        self._ipv6_worked: OrderedDict[str, bool] = OrderedDict()
        self._binding_proves = not any(_can_bind(address) for address in NEVER_OURS)

    async def connect(self, host: str, port: int, targets: list[Target]) -> socket.socket:
        """A connected non-blocking socket.

        Raises:
            Denied: none of the targets answered, or one is this machine itself.
        """
        try:
            if any(self._is_own(target) for target in targets):
                raise _OwnAddress
            async with asyncio.timeout(self._limit_s), self._slot(host):
                if len(targets) == 1:
                    return await self._dial(targets[0])
                return await self._race(host, targets)
        except TimeoutError:
            raise ConnectionDeniedError(FailureKind.CONNECT_TIMEOUT, host, port) from None
        except ConnectionRefusedError:
            raise ConnectionDeniedError(FailureKind.CONNECTION_REFUSED, host, port) from None
        except _OwnAddress:
            raise ConnectionDeniedError(
                FailureKind.BLOCKED_ADDRESS, host, port, "an address of this machine itself"
            ) from None
        except OSError as error:
            # A kernel that gave up by itself says ETIMEDOUT, which Python has as TimeoutError.
            raise ConnectionDeniedError(FailureKind.HOST_UNREACHABLE, host, port, _name_of(error)) from None

    def _slot(self, host: str) -> _Slots:
        slots = self._slots.get(host)
        if slots is None:
            slots = self._slots[host] = _Slots(host, self._slots)
        return slots

    def _is_own(self, target: Target) -> bool:
        return self._binding_proves and not target.may_be_own and _can_bind(target.address)

    async def _dial(self, target: Target) -> socket.socket:
        sock = socket.socket(socket.AF_INET6 if target.is_ipv6 else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(sock, (target.address, target.port))
            if not target.may_be_own and sock.getsockname()[0] == sock.getpeername()[0]:
                raise _OwnAddress
        except BaseException:
            sock.close()
            raise
        return sock

    async def _race(self, host: str, targets: list[Target]) -> socket.socket:
        """Start the next when the last has failed, or after the stagger; the first to connect wins."""
        waiting = self._preferred_first(host, targets)
        running: dict[asyncio.Task[socket.socket], Target] = {}
        problem: OSError = OSError(errno.EHOSTUNREACH, "no address")
        try:
            while waiting or running:
                if waiting:
                    target = waiting.pop(0)
                    running[asyncio.create_task(self._dial(target))] = target
                done, _ = await asyncio.wait(
                    running,
                    timeout=self._stagger_s if waiting else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    target = running.pop(task)
                    error = task.exception()
                    if error is None:
                        self._remember(host, target)
                        return task.result()
                    if not isinstance(error, OSError):
                        raise error
                    problem = error
            raise problem
        finally:
            for task in running:
                task.cancel()
                task.add_done_callback(_close_late_winner)

    def _preferred_first(self, host: str, targets: list[Target]) -> list[Target]:
        prefers_ipv6 = self._ipv6_worked.get(host)
        if prefers_ipv6 is None:
            return list(targets)
        return sorted(targets, key=lambda target: target.is_ipv6 is not prefers_ipv6)

    def _remember(self, host: str, target: Target) -> None:
        self._ipv6_worked.pop(host, None)
        self._ipv6_worked[host] = target.is_ipv6
        if len(self._ipv6_worked) > HOSTS_REMEMBERED:
            self._ipv6_worked.popitem(last=False)


class _OwnAddress(Exception):
    """The peer is this machine."""


def _can_bind(address: str) -> bool:
    """Whether the address is one of this machine's.

    Comparing both ends of a connection is not enough: to a second address of an interface, Linux connects
    from the first. 5 us.
    """
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


def _name_of(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, type(error).__name__)
