"""The same page wanted by several servers at once is visited by one of them; the others get what it found."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from scraper import errors
from scraper.coordination.protocols import WorkClaim, WorkClaims, WorkCompleted
from scraper.model import StructuredData
from scraper.settings import Settings
from scraper.store.serialization import dump_reading, dump_structured, load_reading, load_structured

T = TypeVar("T")

log = logging.getLogger(__name__)

FIRST_LOOK_S = 0.03
LAST_LOOK_S = 0.25
"""Between two looks whether the other server is done: a page as served takes 30 to 100 ms, a rendered one
seconds."""

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
"""Errors that another server would get too, by their name on the wire; other errors are not exchanged."""
_ERROR_NAMES = {kind: name for name, kind in _PAGE_ERRORS.items()}


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How what was found travels between servers."""

    dump: Callable[[T], bytes]
    load: Callable[[bytes], T]
    """ValueError where another version wrote it."""
    found_before: Callable[[T], T]
    """As it is given to one who asked when it had landed already."""


READINGS = Codec(dump_reading, load_reading, lambda reading: replace(reading, cached=True))
STRUCTURED: Codec[StructuredData] = Codec(dump_structured, load_structured, lambda found: found)


class DistributedSingleFlight(Generic[T]):
    """Work under way on any server, by what is worked on."""

    def __init__(
        self, form: Codec[T], claims: WorkClaims | None = None, settings: Settings | None = None
    ) -> None:
        """`claims`: None where there is no other server."""
        self._form = form
        self._claims = claims
        self._way = _way_of(settings or Settings())

    async def join(self, job: Hashable, work: Callable[[], Awaitable[T]], *, anew: bool) -> T:
        """What the flight under way for a job brings, or `work` itself.

        `anew`: a flight that has landed already does not count; one that failed in a way that may pass counts
        for nobody who comes later. Whoever waits does so until cancelled.

        Raises:
            ScraperError: of `work`, here or there.
        """
        if self._claims is None:
            return await work()
        key, waited, look_s = _key(self._way, job), False, FIRST_LOOK_S
        while True:
            got = await self._claims.begin(key, waited=waited or not anew)
            if isinstance(got, WorkClaim):
                return await self._flown(self._claims, got, work)
            if isinstance(got, WorkCompleted):
                try:
                    found = self._loaded(got.value)
                except errors.ScraperError as error:
                    if waited or not error.retryable:
                        raise
                    anew = True
                    continue
                if found is not None:
                    return found if waited else self._form.found_before(found)
            waited = True
            await asyncio.sleep(look_s * random.uniform(0.7, 1.3))
            look_s = min(2 * look_s, LAST_LOOK_S)

    async def _flown(self, claims: WorkClaims, claim: WorkClaim, work: Callable[[], Awaitable[T]]) -> T:
        try:
            found = await work()
        except errors.ScraperError as error:
            if type(error) in _ERROR_NAMES:
                claims.land(claim, _dumped_error(error))
            raise
        else:
            claims.land(claim, _RESULT + self._form.dump(found))
            return found
        finally:
            # Without effect where it has landed.
            claims.give_up(claim)

    def _loaded(self, value: bytes) -> T | None:
        """What another server found; None where it cannot be understood, as that of another version.

        Raises:
            ScraperError: what it failed with.
        """
        kind, text = value[:1], value[1:]
        try:
            if kind == _RESULT:
                return self._form.load(text)
            error = _loaded_error(json.loads(text))
        except (ValueError, KeyError, TypeError) as fault:
            log.warning("what another server read cannot be understood: %s", fault)
            return None
        raise error


def _key(way: str, job: Hashable) -> str:
    """What names a piece of work on every server; nobody can tell from it what is read."""
    return hashlib.sha256(f"{way} {job!r}".encode("utf-8", "replace")).hexdigest()


def _way_of(settings: Settings) -> str:
    """What tells servers apart that would read a page differently, or may not read the same ones."""
    hosts = [f"{name}={address}:{port}" for name, address, port in settings.test_hosts]
    proxy = urlsplit(settings.proxy).netloc.rpartition("@")[2] if settings.proxy else ""
    own = (proxy, settings.proxy_dns, settings.language, settings.tier, settings.robots, settings.document_mb)
    return repr((sorted((*settings.allow_nets, *hosts)), own))


def _dumped_error(error: errors.ScraperError) -> bytes:
    row = {
        "kind": _ERROR_NAMES[type(error)],
        "message": str(error),
        "target": error.target,
        "next_step": error.next_step,
        "status": getattr(error, "status", None),
        "reason": getattr(error, "reason", None),
        "retryable": error.retryable,
    }
    return _ERROR + json.dumps(row).encode()


def _loaded_error(row: dict[str, object]) -> errors.ScraperError:
    message, target, next_step = (str(row[name]) for name in ("message", "target", "next_step"))
    kind = _PAGE_ERRORS[str(row["kind"])]
    if kind is errors.HttpStatusError:
        return errors.HttpStatusError(
            message, status=int(str(row["status"])), target=target, next_step=next_step
        )
    if kind is errors.BlockedBySiteError:
        return errors.BlockedBySiteError(
            message, reason=str(row["reason"]), target=target, next_step=next_step
        )
    error = kind(message, target=target, next_step=next_step)
    error.retryable = bool(row["retryable"])
    return error
