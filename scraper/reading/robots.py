"""robots.txt (RFC 9309): fetch, cache and apply the rules of a site."""

import asyncio
import json
import logging
import re
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

import ada_url
from cachetools import LRUCache
from protego import Protego

from browsers import errors as browser_errors
from browsers.model import Mode, Request, Snapshot, VisitLimits
from scraper import errors, wishes
from scraper.caching import SingleFlight
from scraper.call_context import Deadline
from scraper.coordination.state import SharedBlobs
from scraper.reading.visit_outcome import map_browser_error
from scraper.urls import host_of
from scraper.wishes import USER_AGENT_NAME

log = logging.getLogger(__name__)

FetchFile = Callable[[Request, Deadline], Awaitable[Snapshot]]
"""Request a file within the rate limits of its host."""

MAX_CACHE_S = 86_400.0
"""Seconds. RFC 9309, 2.4: longest time to cache a reachable file."""
UNREACHABLE_RETRY_S = 300.0
_MAX_UNREACHABLE_S = 30 * MAX_CACHE_S
"""Seconds. RFC 9309, 2.3.1.4: after this time, an unreachable file counts as absent."""
_LIMIT_BYTES = 500 * 1024
"""Bytes. RFC 9309, 2.5: minimum size that parsers must read; further bytes are ignored here."""
_MAX_REDIRECTS = 5
"""Redirects. RFC 9309, 2.3.1.2: minimum that must be followed. A file after more redirects counts as absent."""
_MAX_CLOCK_SKEW_S = 300.0
"""Seconds. Largest difference between the clocks of servers."""
FETCH_TIMEOUT_S = 10.0
_FETCH_SHARE = 0.5
"""Upper bound of `FETCH_TIMEOUT_S` as a share of the call's time."""
_MIN_FAIR_TIMEOUT_S = 3.0
"""Seconds. After a shorter time limit, a timeout does not count as a failure of the site."""
MAX_FILES = 4_000
"""Cached files. More than the hosts that a long list reads at once, so that each file is requested once."""
MAX_CHARACTERS = 64_000_000

_GAP_LIMIT_S = 120.0
"""Seconds. A longer crawl-delay is reduced to this, because a caller waits for the page."""

_DISALLOW = re.compile(r"^[^\S\n]*dis+al+ow[^\S\n]*:([^#\n]*)", re.IGNORECASE | re.MULTILINE)
"""The pattern excludes line ends from spaces: 20,000 empty lines took a second, and a file may have half a million."""
_AGENT_FIELDS = frozenset({"user-agent", "useragent", "user agent"})
_OTHERS = "others"
_NO_INPUT = frozenset({("input", "disallowed")})


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """Permission of a robots.txt for one URL."""

    allowed: bool = True
    why: str = ""
    """The rule that forbids the URL, or the reason why the rules are unknown."""
    gap_s: float | None = None
    """Seconds between two visits, as requested by the site."""
    retry_after_s: float | None = None
    """Seconds until the file is requested again; None if the rules are known or will stay unknown."""
    is_unreachable: bool = False
    """True if the URL is forbidden because the file cannot be reached."""


@dataclass(frozen=True, slots=True)
class _File:
    """A robots.txt and the result of the last request for it."""

    text: str = ""
    fetched_at: float = 0.0
    """Seconds of the epoch at which `text` was received; 0 if it never was."""
    failed_since: float = 0.0
    """Seconds of the epoch since when the file is unreachable; 0 if it is reachable."""
    failure: str = ""
    expires_at: float = 0.0
    """Seconds of the epoch at which the file is requested again."""
    is_failure_temporary: bool = False
    """True if a retry may succeed; False if the host does not exist."""
    rules: "RobotsRules" = field(default_factory=lambda: RobotsRules(""), compare=False)
    """Parsed `text`, for a file in the cache."""
    host_error: errors.ScraperError | None = field(default=None, compare=False)
    """The last failure, if the other files of the host fail too."""


class RobotsFiles:
    """Cache robots.txt files in memory, and share them with other servers."""

    def __init__(self, fetch_file: FetchFile, blobs: SharedBlobs | None, *, obeys_wishes: bool = False) -> None:
        """Create the cache; `blobs` stores files for all servers, or is None if there are no others."""
        self._obeys_wishes = obeys_wishes
        self._fetch_file = fetch_file
        self._blobs = blobs
        self._files: LRUCache[str, _File] = LRUCache(MAX_CHARACTERS, getsizeof=lambda file: len(file.text))
        self._flights: SingleFlight[str, _File] = SingleFlight()

    async def close(self) -> None:
        """Cancel the requests in flight."""
        await self._flights.close()

    def gap_s(self, url: str) -> float | None:
        """Return the crawl-delay for a canonical URL in seconds, 0 without one; None if not known yet."""
        file = self._files.get(ada_url.URL(url).origin)
        return None if file is None else file.rules.gap_s or 0.0

    async def decide(self, url: str, principal: str, deadline: Deadline) -> RobotsDecision:
        """Return the permission of the site's robots.txt for a canonical URL.

        Raises:
            ScraperError: The file could not be requested, for a reason on this side.
        """
        file = await self._get(ada_url.URL(url).origin, principal, deadline)
        host = host_of(url)
        if (decision := _decide_without_rules(file, host, time.time())) is not None:
            return decision
        rule = file.rules.find_disallow_rule(url)
        why = "" if rule is None else name_rule(host, rule)
        return RobotsDecision(rule is None, why, file.rules.gap_s)

    def known_text(self, origin: str) -> str:
        """Return the text of a cached file; empty if it is not known."""
        file = self._files.get(origin)
        return "" if file is None else file.text

    async def load_rules(self, origin: str, principal: str, deadline: Deadline) -> "RobotsRules":
        """Return the rules of the robots.txt of an origin, none if everything is allowed.

        Raises:
            RobotsUnreachableError: The file cannot be reached, so everything is forbidden.
            NetworkError: The host cannot be reached.
            ScraperError: The file could not be requested, for a reason on this side.
        """
        file = await self._get(origin, principal, deadline)
        decision = _decide_without_rules(file, host_of(origin), time.time())
        if decision is None:
            return file.rules
        if decision.allowed:
            return RobotsRules("")
        if file.host_error is not None:
            # The next call tries the host again, as it does for a page.
            self._files.pop(origin, None)
            raise file.host_error.with_traceback(None)
        raise disallowed_error(decision, f"{origin}/robots.txt", is_crawl=True)

    async def _get(self, origin: str, principal: str, deadline: Deadline) -> _File:
        file = self._files.get(origin)
        if file is None or file.expires_at <= time.time():
            file = await self._flights.join(origin, lambda: self._load(origin, principal, deadline))
        return file

    async def _load(self, origin: str, principal: str, deadline: Deadline) -> _File:
        """Return the file from this server's cache, another server's, or its site."""
        file, blob_key = self._files.get(origin, _File()), f"robots:{origin}"
        blob = None if self._blobs is None else _load_file(await self._blobs.get(blob_key))
        # The age of a file from a server with another clock is not known.
        if blob is not None and blob.expires_at <= time.time() + MAX_CACHE_S + _MAX_CLOCK_SKEW_S:
            file = max(file, blob, key=lambda one: one.expires_at)
        if file.expires_at <= time.time():
            file = await self._fetch(origin, principal, deadline, file)
            row = [file.text, file.fetched_at, file.failed_since, file.failure, file.expires_at]
            if self._blobs is not None:
                data = zlib.compress(json.dumps([*row, file.is_failure_temporary]).encode(), 1)
                self._blobs.put(blob_key, data, _MAX_UNREACHABLE_S if file.fetched_at else MAX_CACHE_S)
        # The longest files take a second to parse; other pages are read meanwhile.
        file = replace(file, rules=await asyncio.to_thread(RobotsRules, file.text, obeys_wishes=self._obeys_wishes))
        self._files[origin] = file
        while len(self._files) > MAX_FILES:
            self._files.popitem()
        return file

    async def _fetch(self, origin: str, principal: str, deadline: Deadline, before: _File) -> _File:
        request = Request(
            f"{origin}/robots.txt",
            mode=Mode.PEEK,
            principal=principal,
            deadline_s=min(FETCH_TIMEOUT_S, deadline.left_s() * _FETCH_SHARE),
            limits=VisitLimits(body_bytes=_LIMIT_BYTES, hops=_MAX_REDIRECTS),
        )
        try:
            snapshot = await self._fetch_file(request, deadline)
        except browser_errors.TooManyRedirectsError:
            return _fetched_file("")
        except browser_errors.RefusedError:
            # The file redirects to a forbidden address: like an absent file. If the site itself is at such an address,
            # the visit of the page fails with that error.
            return replace(_fetched_file(""), expires_at=time.time() + UNREACHABLE_RETRY_S)
        except browser_errors.NoNetworkError as error:
            # Without a network, nothing is known about the file.
            raise map_browser_error(error, request.url) from error
        except (browser_errors.UnreachableError, browser_errors.TooLargeError) as error:
            failed = _failed_file(before, str(error), is_temporary=error.retryable)
            mapped = map_browser_error(error, origin)
            is_host = isinstance(mapped, errors.HostDownError) or isinstance(error, browser_errors.TlsFailedError)
            return replace(failed, host_error=mapped if is_host else None)
        except browser_errors.DeadlineExceededError as error:
            if request.deadline_s < _MIN_FAIR_TIMEOUT_S:
                raise map_browser_error(error, request.url) from error
            return _failed_file(before, str(error), is_temporary=True)
        except browser_errors.BrowsersError as error:
            raise map_browser_error(error, request.url) from error
        if snapshot.status >= 500:
            return _failed_file(before, f"The server answered {snapshot.status}.", is_temporary=True)
        if 200 <= snapshot.status < 300:
            text = snapshot.body[:_LIMIT_BYTES].decode("utf-8", "replace")
            return _fetched_file(text)
        return _fetched_file("")


def _fetched_file(text: str) -> _File:
    now = time.time()
    return _File(text, fetched_at=now, expires_at=now + MAX_CACHE_S)


def _failed_file(before: _File, failure: str, *, is_temporary: bool) -> _File:
    """Return the file with a failure recorded; its last rules stay valid while it is unreachable."""
    now = time.time()
    return replace(
        before,
        failed_since=before.failed_since or now,
        failure=failure,
        expires_at=now + UNREACHABLE_RETRY_S,
        is_failure_temporary=is_temporary,
        host_error=None,
    )


def name_rule(host: str, rule: str) -> str:
    """Return the sentence about a URL of a host that a rule of robots.txt forbids."""
    return f"The robots.txt of {host} forbids reading it (Disallow: {rule})."


def _decide_without_rules(file: _File, host: str, now: float) -> RobotsDecision | None:
    """Return the permission of a file that was never reached or not for a month; None if its rules hold."""
    if file.failed_since and now - (file.fetched_at or file.failed_since) > _MAX_UNREACHABLE_S:
        return RobotsDecision()
    if file.failed_since and not file.fetched_at:
        why = f"The robots.txt of {host} cannot be reached, so it may not be read. {file.failure}"
        retry_after_s = max(1.0, file.expires_at - now) if file.is_failure_temporary else None
        return RobotsDecision(False, why, retry_after_s=retry_after_s, is_unreachable=True)
    return None


def disallowed_error(decision: RobotsDecision, url: str, *, is_crawl: bool = False) -> errors.RobotsDisallowedError:
    """Return the error for a URL that robots.txt forbids; `is_crawl` is True for the start of a map or crawl."""
    wait_s = decision.retry_after_s
    again = "" if wait_s is None else f"try again in {wait_s:.0f} s, or "
    policy, other = "This server obeys robots.txt (SEARCH_MCP_ROBOTS=obey)", "look for another source."
    if is_crawl:
        policy = "`map` and `crawl` always obey robots.txt"
        other = "read single pages with `fetch`."
        if not decision.is_unreachable:
            other = f"begin at another page of the site, or {other}"
    error_class = errors.RobotsUnreachableError if decision.is_unreachable else errors.RobotsDisallowedError
    return error_class(decision.why, target=url, next_step=f"{policy}: {again}{other}", retry_after_s=wait_s)


def _load_file(data: bytes | None) -> _File | None:
    if data is None:
        return None
    try:
        # Another version may store more fields, or fewer.
        text, fetched_at, failed_since, failure, expires_at, *more = json.loads(zlib.decompress(data))
        times = float(fetched_at), float(failed_since)
        return _File(str(text), *times, str(failure), float(expires_at), bool(more and more[0]))
    except (ValueError, TypeError, zlib.error) as error:
        log.warning("a shared robots.txt cannot be read: %s", error)
        return None


class RobotsRules:
    """Rules of one robots.txt that apply to this program."""

    def __init__(self, text: str, *, obeys_wishes: bool = False) -> None:
        """Parse the text of a robots.txt, which may begin with a byte order mark.

        With `obeys_wishes`, `allows` is False too for URLs that AI may not use.
        """
        self.text = text
        self._obeys_wishes = obeys_wishes
        text = text.removeprefix("\ufeff")
        values: set[str] = {value.strip() for value in _DISALLOW.findall("\n".join(text.splitlines()))}
        # Computed here, in a thread: 25,000 rules take a tenth of a second.
        self._values = sorted(values, key=len, reverse=True)
        # Give other agents one name: the parser stores 25,000 rules once for each of 18,000 names above them.
        lines = text.splitlines()
        agents = [_parse_agent(line) for line in lines]
        ours = USER_AGENT_NAME if USER_AGENT_NAME in agents else "*"
        self._parser = Protego.parse(
            "\n".join(
                line if not name else f"User-agent: {name if name == ours else _OTHERS}"
                for line, name in zip(lines, agents, strict=True)
            )
        )
        delay_s = self._parser.crawl_delay(USER_AGENT_NAME)
        self.gap_s = None if delay_s is None else min(delay_s, _GAP_LIMIT_S)

    def allows(self, url: str) -> bool:
        """Return True if the file allows this program to load the URL."""
        is_wished = not self._obeys_wishes or _NO_INPUT.isdisjoint(
            (wish.use, wish.value) for wish in wishes.from_robots(self.text, url)
        )
        return is_wished and bool(self._parser.can_fetch(url, USER_AGENT_NAME))

    def find_disallow_rule(self, url: str) -> str | None:
        """Return the rule that forbids a URL, or None if it is allowed; `/` if the rule is not found."""
        if self._parser.can_fetch(url, USER_AGENT_NAME):
            return None
        # The parser does not name the rule. It is the longest that matches.
        path = unquote(ada_url.URL(url).pathname + ada_url.URL(url).search)
        return next((value for value in self._values if value and wishes.matches_path(unquote(value), path)), "/")


def _parse_agent(line: str) -> str | None:
    """Return the agent named by a line, in the same way as the parser, or None."""
    line = line.partition("#")[0].strip()
    field, colon, value = line.partition(":")
    if field.strip().lower() not in _AGENT_FIELDS:
        parts = line.split()
        count = next((n for n in (1, 2) if " ".join(parts[:n]).lower() in _AGENT_FIELDS), 0)
        # "User-agent a: b" is an unknown field.
        if not count or (colon and not value[:1].strip()):
            return None
        value = " ".join(parts[count:])
    # The product token ends at its version (RFC 9309, 2.2.1).
    name = value.strip().lower().partition("/")[0].rstrip()
    return name if name in {"", "*"} else name.replace("*", "") or _OTHERS
