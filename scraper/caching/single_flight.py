"""Single flight: concurrent callers of the same work share it, in one process or across servers."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from scraper import errors
from scraper.coordination.state import WorkClaim, WorkClaims, WorkCompleted
from scraper.model import Reading, StructuredData
from scraper.settings import Settings
from scraper.store.serialization import load, serialize_result

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
    own = (proxy, settings.proxy_dns, settings.language, settings.tier, settings.robots, settings.document_mb)
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
