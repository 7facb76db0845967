"""What robots.txt lets be read: fetched over the one door, kept as RFC 9309 says, shared between servers."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass, field, replace

import ada_url

from browsers import errors as door_errors
from browsers.model import Mode, Request, Snapshot, VisitLimits
from scraper import errors
from scraper.caching.single_flight import SingleFlight
from scraper.coordination.protocols import SharedBlobs
from scraper.deadline import Deadline
from scraper.reading.politeness.host_throttle import HostThrottle
from scraper.reading.politeness.robots_rules import RobotsRules, rules_of
from scraper.reading.visiting.browser_protocol import BrowserClient
from scraper.reading.visiting.error_mapping import translated
from scraper.urls import host_of

log = logging.getLogger(__name__)

DAY_S = 86_400.0
"""RFC 9309, 2.4: no longer, unless the file cannot be reached."""
UNREACHABLE_S = 300.0
"""Before an unreachable file is asked for again."""
GIVEN_UP_S = 30 * DAY_S
"""RFC 9309, 2.3.1.4: unreachable for so long, a file may be taken for one that is not there."""
LIMIT_BYTES = 500 * 1024
"""RFC 9309, 2.5: what must be parsed at least; we parse no more."""
HOPS = 5
"""RFC 9309, 2.3.1.2: redirects that are followed at least."""
CLOCKS_S = 300.0
"""So far the clocks of servers may differ."""
FETCH_S = 10.0
FETCH_SHARE = 0.5
"""Of the call's time."""
FAIR_S = 3.0
"""A site that had less time than this did not fail: the caller is in a hurry."""
HOSTS_KEPT = 4_000
"""More than a long list has under work at once: each of its hosts is asked once."""
TEXT_KEPT = 64_000_000
"""Characters of all their files."""


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """What a site's robots.txt says of one URL."""

    allowed: bool = True
    why: str = ""
    """The rule that forbids it, or why there is no saying."""
    gap_s: float | None = None
    """The pause between two visits that the site asks for."""
    again_s: float | None = None
    """There is no saying now, but may be after so long."""


@dataclass(frozen=True, slots=True)
class _File:
    """One site's robots.txt as it was found."""

    text: str = ""
    fetched_at: float = 0.0
    """Seconds of the epoch: when `text` was last seen; 0: never."""
    failed_since: float = 0.0
    """Since when it cannot be reached; 0: it can be."""
    failure: str = ""
    ask_again_at: float = 0.0
    may_pass: bool = False
    """Whether the failure is one that passes; a host that does not exist stays away."""
    rules: RobotsRules | None = field(default=None, compare=False)


class Robots:
    """Asks sites what they let be read."""

    def __init__(self, door: BrowserClient, politeness: HostThrottle, texts: SharedBlobs | None) -> None:
        self._door = door
        self._politeness = politeness
        self._texts = texts
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._characters = 0
        self._flights: SingleFlight[str, _File] = SingleFlight()

    async def close(self) -> None:
        """End what is being fetched."""
        await self._flights.close()

    def gap_s(self, url: str) -> float | None:
        """The pause that the site of a canonical URL asks for, 0 for none; None: it was not asked yet."""
        file = self._files.get(ada_url.URL(url).origin)
        if file is None or file.rules is None:
            return None
        return file.rules.gap_s or 0.0

    async def said(self, url: str, principal: str, deadline: Deadline) -> RobotsDecision:
        """What the site of a canonical URL says of it.

        Raises:
            ScraperError: we could not ask, by no fault of the site.
        """
        origin: str = ada_url.URL(url).origin
        now = time.time()
        file = self._files.get(origin)
        if file is None or file.ask_again_at <= now:
            file = await self._flights.join(origin, lambda: self._found(origin, principal, deadline))
        if origin in self._files:
            self._files.move_to_end(origin)
        return _said(file, url, now)

    async def _found(self, origin: str, principal: str, deadline: Deadline) -> _File:
        """As this server or another has it, or as the site gives it now."""
        file = self._files.get(origin, _File())
        kept = None if self._texts is None else _loaded(await self._texts.get(_key(origin)))
        # How old a file is that a server with another clock has kept is not known.
        if kept is not None and kept.ask_again_at <= time.time() + DAY_S + CLOCKS_S:
            file = max(file, kept, key=lambda one: one.ask_again_at)
        if file.ask_again_at <= time.time():
            file = await self._fetched(origin, principal, deadline, file)
            if self._texts is not None:
                self._texts.put(_key(origin), _dumped(file), GIVEN_UP_S if file.fetched_at else DAY_S)
        # The longest files take a second, in which other pages go on.
        rules = await asyncio.to_thread(rules_of, file.text)
        file = replace(file, rules=rules)
        self._keep(origin, file)
        return file

    def _keep(self, origin: str, file: _File) -> None:
        before = self._files.pop(origin, None)
        self._files[origin] = file
        self._characters += len(file.text) - (0 if before is None else len(before.text))
        while len(self._files) > HOSTS_KEPT or (self._characters > TEXT_KEPT and len(self._files) > 1):
            _, gone = self._files.popitem(last=False)
            self._characters -= len(gone.text)

    async def _fetched(self, origin: str, principal: str, deadline: Deadline, before: _File) -> _File:
        request = Request(
            f"{origin}/robots.txt",
            mode=Mode.PEEK,
            principal=principal,
            deadline_s=min(FETCH_S, deadline.left_s() * FETCH_SHARE),
            limits=VisitLimits(body_bytes=LIMIT_BYTES, hops=HOPS),
        )
        try:
            # A page of the site as far as its number goes; the pause between pages is kept from it.
            async with self._politeness.turn(host_of(origin), principal, deadline, gap_s=0.0):
                snapshot = await self._door.visit(request)
        except door_errors.TooManyRedirectsError:
            return _seen("")
        except door_errors.RefusedError:
            # It leads to where nobody goes, as one that is not there. Where the site itself is such a place,
            # the visit of the page says so.
            return replace(_seen(""), ask_again_at=time.time() + UNREACHABLE_S)
        except (door_errors.UnreachableError, door_errors.TooLargeError) as error:
            return _failed(before, str(error), may_pass=error.retryable)
        except door_errors.DeadlineExceededError as error:
            if request.deadline_s < FAIR_S:
                raise translated(error, request.url) from error
            return _failed(before, str(error), may_pass=True)
        except door_errors.BrowsersError as error:
            raise translated(error, request.url) from error
        await self._politeness.heard(snapshot)
        return _judged(snapshot, before)


def _judged(snapshot: Snapshot, before: _File) -> _File:
    status = snapshot.status
    if status >= 500:
        return _failed(before, f"The server answered {status}.", may_pass=True)
    if 200 <= status < 300:
        return _seen(snapshot.body[:LIMIT_BYTES].decode("utf-8", "replace").removeprefix("\ufeff"))
    return _seen("")


def _seen(text: str) -> _File:
    now = time.time()
    return _File(text, fetched_at=now, ask_again_at=now + DAY_S)


def _failed(before: _File, why: str, *, may_pass: bool) -> _File:
    """The file as it was known; what cannot be reached does not change what was said."""
    now = time.time()
    return replace(
        before,
        failed_since=before.failed_since or now,
        failure=why,
        ask_again_at=now + UNREACHABLE_S,
        may_pass=may_pass,
        rules=None,
    )


def _said(file: _File, url: str, now: float) -> RobotsDecision:
    host = host_of(url)
    never_seen = not file.fetched_at
    if file.failed_since and now - (file.fetched_at or file.failed_since) > GIVEN_UP_S:
        return RobotsDecision()
    if file.failed_since and never_seen:
        why = f"The robots.txt of {host} cannot be reached, which means no. {file.failure}"
        return RobotsDecision(
            False, why, again_s=max(1.0, file.ask_again_at - now) if file.may_pass else None
        )
    rules = file.rules or rules_of(file.text)
    rule = rules.forbidding(url)
    if rule is None:
        return RobotsDecision(gap_s=rules.gap_s)
    return RobotsDecision(
        False, f"The robots.txt of {host} does not let it be read (Disallow: {rule}).", rules.gap_s
    )


def refused(said: RobotsDecision, url: str) -> errors.RobotsDisallowedError:
    """What a caller is told where robots.txt is obeyed."""
    again = "" if said.again_s is None else f"try again in {said.again_s:.0f} s, or "
    return errors.RobotsDisallowedError(
        said.why,
        target=url,
        next_step=f"This server obeys robots.txt (SEARCH_MCP_ROBOTS=obey): {again}look for another source.",
        retry_after_s=said.again_s,
    )


def _key(origin: str) -> str:
    return f"robots:{origin}"


def _dumped(file: _File) -> bytes:
    row = [file.text, file.fetched_at, file.failed_since, file.failure, file.ask_again_at, file.may_pass]
    return zlib.compress(json.dumps(row).encode(), 1)


def _loaded(data: bytes | None) -> _File | None:
    if data is None:
        return None
    try:
        # Another version may have kept more of it, or less.
        text, fetched_at, failed_since, failure, ask_again_at, *more = json.loads(zlib.decompress(data))
        times = float(fetched_at), float(failed_since)
        return _File(str(text), *times, str(failure), float(ask_again_at), bool(more and more[0]))
    except (ValueError, TypeError, zlib.error) as error:
        log.warning("a kept robots.txt cannot be read: %s", error)
        return None
