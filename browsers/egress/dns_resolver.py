"""Resolve host names in threads, with a cache and one shared lookup for concurrent callers."""

import asyncio
import ipaddress
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future

from cachetools import TLRUCache

from browsers.egress.ip_rules import FAKE_DNS

LOOKUP_LIMIT_S = 10.0
"""Seconds for a lookup. Systems try a second name server after 5 s."""
MAX_LOOKUPS = 64
"""Maximum of simultaneous lookups.

The default executor has 6 threads on two cores: a few silent name servers would block all other work. A lookup without
an answer occupies its thread for up to 30 s, three times as long as the visit: a list with many such names filled 16
threads, and existing names were not resolved in time.
"""
_RETRY_PAUSES_S = (0.1, 0.3, 0.9)
"""Seconds before a name is looked up again after a temporary failure. Where one lookup in three fails, 1 name in 81 is
still not found; a failed name is cached for `FAILED_TTL_S` and then looked up again."""
MISSING_PAUSES_S = (0.1, 0.1)
"""Seconds before a name that was not found is looked up again: one of several name servers may not know it. Where one
answer in three was wrong, a job lost 19 of 60 hosts without the repetitions."""
_SOON_S = 1.0
"""Seconds. Only a lookup that fails earlier is repeated; a later failure means that the name server is silent."""
_FOUND_TTL_S = 60.0
"""Seconds for which the addresses of a name are cached."""
FAILED_TTL_S = 5.0
"""Seconds for which a failed lookup is cached."""
MAX_CACHED_NAMES = 4096

WELL_KNOWN_HOSTS = ("example.com", "www.iana.org", "www.wikipedia.org", "www.python.org")
"""Names whose addresses are always public. Other answers show that this machine's DNS is not trustworthy."""


class DnsResolver:
    """Resolve names with the operating system. Each call may block and runs in its own thread."""

    def resolve(self, host: str) -> Sequence[str]:
        """Return all addresses of the name, in the system's order. Raises OSError if there is no such name."""
        answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class CachingResolver:
    """Look names up and cache the answers. The caller checks the addresses at each use."""

    def __init__(
        self, names: DnsResolver | None = None, *, limit_s: float = LOOKUP_LIMIT_S, ttl_s: float = _FOUND_TTL_S
    ) -> None:
        """Look names up with `names`, by default the system; times are in seconds."""
        self._names = names or DnsResolver()
        self._limit_s = limit_s
        self._ttl_s = ttl_s
        self._cache: TLRUCache[str, tuple[str, ...] | OSError] = TLRUCache(
            MAX_CACHED_NAMES, ttu=self._expires_at, timer=time.monotonic
        )
        self._lookups: dict[str, asyncio.Task[tuple[str, ...]]] = {}
        self._slots = asyncio.Semaphore(MAX_LOOKUPS)

    async def lookup(self, host: str, *, limit_s: float | None = None) -> tuple[str, ...]:
        """Return all addresses, cached. Raises OSError, or TimeoutError after `limit_s`; a later answer is cached."""
        cached = self._cache.get(host)
        if isinstance(cached, OSError):
            # A copy: an exception that is raised twice accumulates tracebacks.
            raise type(cached)(*cached.args)
        if cached is not None:
            return cached
        task = self._lookups.get(host)
        if task is None:
            task = self._lookups[host] = asyncio.get_running_loop().create_task(self._resolve(host))
            task.add_done_callback(lambda done: self._store(host, done))
        async with asyncio.timeout(self._limit_s if limit_s is None else limit_s):
            return await asyncio.shield(task)

    async def lookup_now(self, host: str, *, limit_s: float) -> tuple[str, ...]:
        """Return all addresses of the name without cache and queue. Raises OSError, or TimeoutError after `limit_s`."""
        async with asyncio.timeout(limit_s):
            return await self._resolve_in_own_thread(host)

    def close(self) -> None:
        """Cancel all lookups. Threads that hang in the system's resolver do not delay the exit."""
        for task in list(self._lookups.values()):
            task.cancel()

    async def _resolve(self, host: str) -> tuple[str, ...]:
        async with self._slots:
            return await self._resolve_in_own_thread(host)

    async def _resolve_in_own_thread(self, host: str) -> tuple[str, ...]:
        answer: Future[tuple[str, ...]] = Future()
        # A caller that gives up does not cancel it from now on.
        answer.set_running_or_notify_cancel()

        def resolve() -> None:
            try:
                answer.set_result(tuple(self._resolve_patiently(host)))
            except BaseException as error:  # the waiting caller gets every kind of error
                answer.set_exception(error)

        # One thread each: pool threads are joined at exit, and getaddrinfo can hang for 30 s.
        threading.Thread(target=resolve, daemon=True).start()
        return await asyncio.wrap_future(answer)

    def _resolve_patiently(self, host: str) -> Sequence[str]:
        pauses = {socket.EAI_AGAIN: iter(_RETRY_PAUSES_S), socket.EAI_NONAME: iter(MISSING_PAUSES_S)}
        while True:
            began = time.monotonic()
            try:
                return self._names.resolve(host)
            except socket.gaierror as error:
                pause_s = next(pauses.get(error.errno or 0, iter(())), None)
                if pause_s is None or time.monotonic() - began > _SOON_S:
                    raise
            time.sleep(pause_s)

    def _store(self, host: str, done: asyncio.Task[tuple[str, ...]]) -> None:
        self._lookups.pop(host, None)
        error = None if done.cancelled() else done.exception()
        if isinstance(error, OSError):
            self._cache[host] = error
        elif error is None and not done.cancelled():
            self._cache[host] = done.result()

    def _expires_at(self, _: str, answer: tuple[str, ...] | OSError, now: float) -> float:
        return now + (FAILED_TTL_S if isinstance(answer, OSError) else self._ttl_s)


async def is_fake_dns_suspected(names: DnsResolver | None = None) -> bool:
    """Return True if this machine's DNS answers well-known names from 198.18.0.0/15.

    Some VPNs and tunnels do this. Every site is then refused as private, unless the operator sets
    SEARCH_MCP_ALLOW_NETS=198.18.0.0/15 and so trusts the tunnel to separate private hosts.
    """
    resolver = CachingResolver(names)
    answers = await asyncio.gather(*(resolver.lookup(name) for name in WELL_KNOWN_HOSTS), return_exceptions=True)
    resolver.close()
    found = [
        [ipaddress.ip_address(address) in FAKE_DNS for address in answer if ":" not in address]
        for answer in answers
        if isinstance(answer, tuple) and answer
    ]
    # Every name has an IPv4 address, and all of these are made up.
    return len(found) > 0 and all(len(are_fake) > 0 and all(are_fake) for are_fake in found)
