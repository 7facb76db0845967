"""Names to addresses, off the loop, asked once for all who wait, remembered for a minute."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from browsers.egress.ip_rules import FAKE_DNS

LOOKUP_LIMIT_S = 10.0
"""Systems ask a second name server after 5 s."""
LOOKUPS_AT_ONCE = 64
"""The default executor has 6 threads on two cores: a handful of silent names would stall everything else.
A silent name keeps its thread for up to 30 s, three times as long as the visit that asked: a list with many
of them filled 16, and names that exist were not found in time."""
FOUND_KEPT_S = 60.0
FAILED_KEPT_S = 5.0
NAMES_KEPT = 4096

WELL_KNOWN = ("example.com", "www.iana.org", "www.wikipedia.org", "www.python.org")
"""Names of old whose addresses are public wherever DNS is honest."""


class DnsResolver(Protocol):
    """Who is asked: may block, and is called in a thread of its own."""

    def addresses(self, host: str) -> Sequence[str]:
        """All addresses of the name; raises OSError when there is none."""
        ...


class SystemDnsResolver:
    """The operating system's resolver."""

    def addresses(self, host: str) -> Sequence[str]:
        """All addresses of the name, in the system's order of preference."""
        answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


@dataclass(frozen=True, slots=True)
class _Known:
    until: float
    found: tuple[str, ...]
    error: OSError | None


class CachingResolver:
    """Looks names up; what it remembers is only what was said, to be judged anew at each use."""

    def __init__(
        self,
        names: DnsResolver | None = None,
        *,
        limit_s: float = LOOKUP_LIMIT_S,
        kept_s: float = FOUND_KEPT_S,
    ) -> None:
        self._names = names or SystemDnsResolver()
        self._limit_s = limit_s
        self._kept_s = kept_s
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[tuple[str, ...]]] = {}
        self._slots = asyncio.Semaphore(LOOKUPS_AT_ONCE)

    async def lookup(self, host: str, *, limit_s: float | None = None) -> tuple[str, ...]:
        """All addresses of the name.

        Raises:
            OSError: there is no such name.
            TimeoutError: no answer in time; it may still come, and is then remembered.
        """
        known = self._known.get(host)
        if known is not None and known.until > time.monotonic():
            if known.error is not None:
                raise type(known.error)(
                    *known.error.args
                )  # an error that is raised twice piles up tracebacks
            return known.found
        task = self._asking.get(host)
        if task is None:
            task = self._asking[host] = asyncio.get_running_loop().create_task(self._ask(host))
            task.add_done_callback(lambda done: self._learn(host, done))
        async with asyncio.timeout(self._limit_s if limit_s is None else limit_s):
            return await asyncio.shield(task)

    def close(self) -> None:
        """Let go of what is being asked; threads that hang in the system's resolver hold up no exit."""
        for task in list(self._asking.values()):
            task.cancel()

    async def _ask(self, host: str) -> tuple[str, ...]:
        async with self._slots:
            answer: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
            # A thread each, because those of a pool are joined at exit, and getaddrinfo can hang for 30 s.
            threading.Thread(target=self._work, args=(host, answer), name="names", daemon=True).start()
            return tuple(await answer)

    def _work(self, host: str, answer: asyncio.Future[Sequence[str]]) -> None:
        found: Sequence[str] = ()
        problem: BaseException | None = None
        try:
            found = self._names.addresses(host)
        except BaseException as error:  # whatever it is, it belongs to whoever waits
            problem = error
        try:
            answer.get_loop().call_soon_threadsafe(_deliver, answer, found, problem)
        except RuntimeError:
            return  # the loop was closed meanwhile: nobody waits any more

    def _learn(self, host: str, done: asyncio.Task[tuple[str, ...]]) -> None:
        self._asking.pop(host, None)
        if done.cancelled():
            return
        error = done.exception()
        if error is not None and not isinstance(error, OSError):
            return
        now = time.monotonic()
        known = (
            _Known(now + self._kept_s, done.result(), None)
            if error is None
            else _Known(now + FAILED_KEPT_S, (), error)
        )
        self._known.pop(host, None)
        self._known[host] = known
        if len(self._known) > NAMES_KEPT:
            self._known.popitem(last=False)


def _deliver(
    answer: asyncio.Future[Sequence[str]], found: Sequence[str], problem: BaseException | None
) -> None:
    if answer.done():
        return
    if problem is None:
        answer.set_result(found)
    else:
        answer.set_exception(problem)


async def fake_dns_suspected(names: DnsResolver | None = None) -> bool:
    """Whether this machine's DNS answers well-known names from 198.18.0.0/15, as some VPNs and tunnels do.

    Then every site is refused as private, unless the operator sets SEARCH_MCP_ALLOW_NETS=198.18.0.0/15 and so
    trusts the tunnel to keep private hosts apart.
    """
    resolver = CachingResolver(names)
    answers = await asyncio.gather(*(resolver.lookup(name) for name in WELL_KNOWN), return_exceptions=True)
    resolver.close()
    found = [answer for answer in answers if isinstance(answer, tuple) and answer]
    return len(found) > 0 and all(_all_fake(answer) for answer in found)


def _all_fake(answer: tuple[str, ...]) -> bool:
    ipv4 = [address for address in answer if ":" not in address]
    return len(ipv4) > 0 and all(ipaddress.ip_address(address) in FAKE_DNS for address in ipv4)
