"""Look up stored pages under the current settings and revalidate them (RFC 9110, section 13), and share loads.

Concurrent callers of the same work share it, in one process or across servers.
"""

import asyncio
import functools
import hashlib
import json
import logging
import random
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from cachetools import TTLCache

from browsers.model import Snapshot
from scraper import errors
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.coordination.state import WorkClaim, WorkClaims, WorkCompleted
from scraper.model import CachedPageSummary, CachePolicy, PageHits, Reading, Reuse, StructuredData
from scraper.settings import Settings
from scraper.store.protocols import CacheScope, PageEntry, PageStore
from scraper.store.serialization import load, serialize_result
from scraper.urls import request_key

log = logging.getLogger(__name__)


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R", Reading, StructuredData)

CANCEL_LIMIT_S = 3.0


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    callers: int = 0


class SingleFlight(Generic[K, T]):
    """Share work in flight between callers with the same key."""

    def __init__(self) -> None:
        """Start without work in flight."""
        self._flights: dict[K, _Flight[T]] = {}

    def __len__(self) -> int:
        """Return the number of keys in flight."""
        return len(self._flights)

    async def join(self, key: K, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the work in flight for `key`, or of `work` if there is none.

        The work is canceled when its last caller is canceled. Every caller gets its exception.
        """
        flight = self._flights.get(key) or self._start(key, work)
        flight.callers += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.callers -= 1
            if not flight.callers:
                await self._cancel(key, flight)

    async def close(self) -> None:
        """Cancel all work and the callers that wait for it."""
        for key, flight in list(self._flights.items()):
            await self._cancel(key, flight)

    def _start(self, key: K, work: Callable[[], Awaitable[T]]) -> _Flight[T]:
        flight = self._flights[key] = _Flight(asyncio.ensure_future(work()))
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        return flight

    def _forget(self, key: K, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _cancel(self, key: K, flight: _Flight[T]) -> None:
        """Remove the flight, so that no caller joins it, and wait until its task has ended."""
        self._forget(key, flight)
        if flight.task.done():
            return
        flight.task.cancel()
        await asyncio.wait({flight.task}, timeout=CANCEL_LIMIT_S)


_FIRST_POLL_S = 0.03
"""Seconds before the first poll for the result of another server. A page as served takes 30 to 100 ms."""
_LAST_POLL_S = 0.25
"""Maximum seconds between two polls. A rendered page takes seconds."""

_RESULT, _ERROR = b"R", b"E"
_PAGE_ERRORS: Mapping[str, type[errors.ScraperError]] = {
    "Unreachable": errors.NetworkError,
    "HostDown": errors.HostDownError,
    "HttpError": errors.HttpStatusError,
    "Walled": errors.BlockedBySiteError,
    "UnsupportedType": errors.UnsupportedTypeError,
    "TooLarge": errors.ContentTooLargeError,
    "Empty": errors.NoContentError,
    "Encrypted": errors.EncryptedDocumentError,
    "Malformed": errors.MalformedDocumentError,
    "OcrNeeded": errors.OcrNeededError,
}
"""Errors that other servers would get too, by their name in the exchange; other errors are not exchanged."""
_ERROR_NAMES = {kind: name for name, kind in _PAGE_ERRORS.items()}


def mark_reading_cached(reading: Reading) -> Reading:
    """Return the reading with `cached` set."""
    return replace(reading, cached=True)


class DistributedSingleFlight(Generic[R]):
    """Share work in flight between callers on all servers."""

    def __init__(self, kind: type[R], claims: WorkClaims | None = None, settings: Settings | None = None) -> None:
        """Create the service for results of a kind; `claims` is None if there are no other servers."""
        self._kind: type[R] = kind
        self._claims = claims
        self._settings_key = _settings_key(settings or Settings())

    async def join(self, key: Hashable, work: Callable[[], Awaitable[R]], is_refresh: bool) -> R:
        """Return the result of work in flight or just finished on another server, else of `work`.

        Servers compare the `repr` of the key. Callers wait until canceled. With `is_refresh`, a result from before this
        call is ignored. A retryable error from before this call is always ignored.

        Raises:
            ScraperError: Error of the work, here or on another server.
        """
        if self._claims is None:
            return await work()
        # A hash does not reveal what is read.
        name = hashlib.sha256(f"{self._settings_key} {key!r}".encode("utf-8", "replace")).hexdigest()
        has_waited, poll_s = False, _FIRST_POLL_S
        while True:
            answer = await self._claims.begin(name, waited=has_waited or not is_refresh)
            if isinstance(answer, WorkClaim):
                return await self._run(self._claims, answer, work)
            if isinstance(answer, WorkCompleted):
                try:
                    result = self._load_result(answer.value)
                except errors.ScraperError as error:
                    if has_waited or not error.retryable:
                        raise
                    is_refresh = True
                    continue
                if result is not None:
                    marks: dict[str, Any] = {"cached": True} if self._kind is Reading and not has_waited else {}
                    return replace(result, **marks)
            has_waited = True
            await asyncio.sleep(poll_s * random.uniform(0.7, 1.3))
            poll_s = min(2 * poll_s, _LAST_POLL_S)

    async def _run(self, claims: WorkClaims, claim: WorkClaim, work: Callable[[], Awaitable[R]]) -> R:
        try:
            result = await work()
        except errors.ScraperError as error:
            if type(error) in _ERROR_NAMES:
                claims.complete(claim, _dump_error(error))
            raise
        else:
            claims.complete(claim, _RESULT + serialize_result(result))
            return result
        finally:
            # Without effect if the work was completed.
            claims.give_up(claim)

    def _load_result(self, value: bytes) -> R | None:
        """Return the result of another server or raise its error; return None if another version wrote it."""
        kind, text = value[:1], value[1:]
        try:
            if kind == _RESULT:
                return load(self._kind, text)
            error = _load_error(json.loads(text))
        except (ValueError, KeyError, TypeError) as fault:
            log.warning("a result of another server cannot be read: %s", fault)
            return None
        raise error


def _settings_key(settings: Settings) -> str:
    """Return a key of the settings that affect readings. Servers share only results with the same key."""
    hosts = [f"{name}={address}:{port}" for name, address, port in settings.test_hosts]
    proxy = urlsplit(settings.proxy).netloc.rpartition("@")[2] if settings.proxy else ""
    own = (
        proxy,
        settings.proxy_dns,
        settings.language,
        settings.tier,
        settings.robots,
        settings.wishes,
        settings.markdown,
        settings.document_mb,
    )
    return repr((sorted((*settings.allow_nets, *hosts)), own))


def _dump_error(error: errors.ScraperError) -> bytes:
    row = {name: getattr(error, name, None) for name in ("target", "next_step", "status", "reason", "retryable")}
    return _ERROR + json.dumps({"kind": _ERROR_NAMES[type(error)], "message": str(error), **row}).encode()


def _load_error(row: dict[str, object]) -> errors.ScraperError:
    kind = _PAGE_ERRORS[str(row["kind"])]
    arguments: dict[str, Any] = {name: str(row[name]) for name in ("target", "next_step")}
    if kind is errors.HttpStatusError:
        arguments["status"] = int(str(row["status"]))
    if kind is errors.BlockedBySiteError:
        arguments["reason"] = str(row["reason"])
    error = kind(str(row["message"]), **arguments)
    error.retryable = bool(row["retryable"])
    return error


HOUR_S = 3_600.0
NOT_MODIFIED = 304
_MAX_VALIDATOR_CHARS = 500
"""Characters of an ETag or date. Longer ones are ignored: no server compares them."""
_REVALIDATION_AGE_S = 365 * 24 * HOUR_S
"""Seconds. An older page is not revalidated but read again."""


class PageCache:
    """Stored pages that the current settings allow to return."""

    def __init__(self, pages: PageStore, settings: Settings) -> None:
        """Use a page store under the operator's settings."""
        self.store = pages
        self._language = settings.language
        self._default_age_s = settings.cache_ttl_h * HOUR_S
        hosts = {f"{name}={address}:{port}" for name, address, port in settings.test_hosts}
        # A proxy that resolves names itself may reach hosts that would be refused here.
        proxies = {"proxy"} if settings.proxy else set()
        self._exceptions = frozenset(settings.allow_nets) | hosts | proxies
        """Exceptions from the address rules that the operator allows; stored with each page."""

    async def find(
        self, url: str, principal: str, *, methods: tuple[str, ...], max_age_s: float | None = None
    ) -> "StoreLookup[Reading]":
        """Look up the caller's page of a canonical URL, read by one of `methods`.

        A page older than `max_age_s` seconds (by default the operator's limit) is returned as `stale` if it has
        validators.
        """
        limit_s = self._default_age_s if max_age_s is None else max_age_s
        entry = await self.store.get(
            url,
            scope=self._scope(principal),
            methods=methods,
            max_age_s=max(limit_s, _REVALIDATION_AGE_S),
            allowed=self._exceptions,
        )
        if entry is None:
            return StoreLookup()
        if (datetime.now(UTC) - entry.reading.retrieved_at).total_seconds() <= limit_s:
            return StoreLookup(fresh=replace(entry.reading, cached=True))
        return StoreLookup(stale=entry.reading if build_conditions(entry.reading) else None)

    def put(self, url: str, principal: str, reading: Reading) -> None:
        """Store a reading of a canonical URL; returns at once."""
        self.store.put(PageEntry(self._scope(principal), url, reading, self._exceptions))

    async def search(self, query: str, *, principal: str = "local", limit: int = 10) -> PageHits:
        """Return the pages that match a query, best first."""
        return await self.store.search(query, principal=principal, allowed=self._exceptions, limit=limit)

    async def recent(
        self, *, principal: str = "local", limit: int = 50, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Return pages, newest first; with `before`, only those after the entry with this number in the list."""
        return await self.store.list_recent(principal=principal, allowed=self._exceptions, limit=limit, before=before)

    async def page(self, url: str, *, principal: str = "local") -> Reading | None:
        """Return the newest reading of a URL, or None."""
        entry = await self.store.find(url, principal=principal, allowed=self._exceptions)
        return None if entry is None else entry.reading

    def _scope(self, principal: str) -> CacheScope:
        return CacheScope(principal=principal, language=self._language)


def add_validators(reading: Reading, headers: Mapping[str, str]) -> Reading:
    """Return the reading with the validators of its response; header names are in lower case."""
    etag, modified = _parse_validator(headers.get("etag")), _parse_validator(headers.get("last-modified"))
    if not (etag or modified):
        return reading
    return replace(reading, etag=etag or reading.etag, last_modified=modified or reading.last_modified)


def build_conditions(stale: Reading) -> tuple[tuple[str, str], ...]:
    """Return the request headers that revalidate a reading; empty if it has no validators."""
    headers = (("If-None-Match", stale.etag), ("If-Modified-Since", stale.last_modified))
    return tuple((name, value) for name, value in headers if value)


def revalidate(stale: Reading, snapshot: Snapshot) -> Reading | None:
    """Return the reading as of now if the site answered that it has not changed, else None."""
    # A redirect may have led to another page, which is unchanged for itself only.
    if snapshot.status != NOT_MODIFIED or request_key(stale.url) != request_key(snapshot.url):
        return None
    # RFC 9111, 4.3.4: the headers of the response update those of the stored one.
    return replace(add_validators(stale, snapshot.headers), retrieved_at=datetime.now(UTC))


def _parse_validator(value: str | None) -> str | None:
    return value if value and len(value) <= _MAX_VALIDATOR_CHARS and value.isprintable() else None


MEMORY_TTL_S = 900.0
"""Seconds for which a result stays in memory. Callers page through texts that must not be on disk."""
MAX_RESULTS = 32
MAX_CHARACTERS = 20_000_000
"""Characters of all results in memory; a longer result is stored alone."""


@dataclass(frozen=True, slots=True)
class StoreLookup(Generic[T]):
    """Outcome of a look-up in the store: a fresh result, or a stale one to revalidate, or neither."""

    fresh: T | None = None
    stale: T | None = None


@dataclass(frozen=True, slots=True)
class LoadRequest(Generic[T]):
    """Request for a result: its keys, and the functions that look it up in the store or load it."""

    key: Hashable
    """Loads with equal keys are shared. Other servers compare its `repr`."""
    run: Callable[[T | None], Awaitable[T]]
    """Load the result. The argument is a stale one to revalidate, or None."""
    find: Callable[[], Awaitable[StoreLookup[T]]] | None = None
    """Look up the result in the store; None without a store."""
    memory_key: Hashable | None = None
    """Key in the memory cache; None if the result must not be stored there."""
    is_private: bool = False
    """True if the result must not be sent to other servers."""
    label: str = ""
    """Name of the result in progress messages, for example its host."""


class MemoryCache(Generic[T]):
    """Cache of recent results in memory."""

    def __init__(self, size_of: Callable[[T], int]) -> None:
        """Create an empty cache; `size_of` returns the characters of a result."""
        self._results: TTLCache[Hashable, T] = TTLCache(
            MAX_CHARACTERS, MEMORY_TTL_S, getsizeof=lambda result: min(size_of(result), MAX_CHARACTERS)
        )

    def get(self, key: Hashable | None) -> T | None:
        """Return a result that has not expired, or None."""
        return self._results.get(key)

    def put(self, key: Hashable, result: T) -> None:
        """Store a result; evict the least recently used ones above the limits."""
        self._results[key] = result
        while len(self._results) > MAX_RESULTS:
            self._results.popitem()

    def remove(self, key: Hashable) -> None:
        """Remove a result if it is stored."""
        self._results.pop(key, None)


class ReadThrough(Generic[T]):
    """Return results from memory, the store, other servers or a new load."""

    def __init__(
        self,
        mark_cached: Callable[[T], T],
        *,
        memory: MemoryCache[T] | None = None,
        join_others: Callable[[Hashable, Callable[[], Awaitable[T]], bool], Awaitable[T]] | None = None,
    ) -> None:
        """Create the service; `mark_cached` returns a copy of a result that is marked as cached.

        `join_others` shares loads with other servers, as `DistributedSingleFlight.join` does.
        """
        self._mark_cached = mark_cached
        self._memory = memory
        self._join_others = join_others
        self._flights: SingleFlight[Hashable, T] = SingleFlight()

    @property
    def in_flight(self) -> int:
        """Number of loads in flight."""
        return len(self._flights)

    async def close(self) -> None:
        """Cancel the loads in flight."""
        await self._flights.close()

    async def read(
        self,
        load: LoadRequest[T],
        policy: CachePolicy,
        *,
        deadline: Deadline | None = None,
        progress: ProgressCallback | None = None,
    ) -> T:
        """Return the result that the policy allows.

        A load ends at the deadline of its last caller, or when the last one is canceled. Only the first caller of a
        load receives the progress that the load itself reports.

        Raises:
            TimeoutError: The load did not end before the deadline.
            ScraperError: Error of the load, here or on another server.
        """
        if policy.reuse is Reuse.IN_MEMORY and self._memory is not None:
            cached = self._memory.get(load.memory_key)
            if cached is not None:
                return self._mark_cached(cached)
        stored: StoreLookup[T] = StoreLookup()
        if load.find is not None and policy.reads_store:
            stored = await load.find()
        if stored.fresh is not None:
            self._hold_in_memory(load, stored.fresh)
            return stored.fresh
        report = progress or ignore_progress
        report(0, 1, f"reading {load.label}")
        run: Callable[[], Awaitable[T]] = functools.partial(load.run, stored.stale)
        if self._join_others is not None and not load.is_private and policy.reuse is not Reuse.NONE:
            run = functools.partial(self._join_others, load.key, run, policy.is_refresh)
        async with asyncio.timeout(None if deadline is None else deadline.left_s()):
            result = await self._flights.join(load.key, run)
        report(1, 1, f"read {load.label}")
        self._hold_in_memory(load, result)
        return result

    def _hold_in_memory(self, load: LoadRequest[T], result: T) -> None:
        if self._memory is not None and load.memory_key is not None:
            self._memory.put(load.memory_key, result)
