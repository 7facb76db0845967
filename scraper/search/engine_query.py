"""Query one engine: wait for its turn, load and parse its result pages, try alternatives if it blocks.

Block pages that clear themselves are waited for, and consent forms are refused.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean

from lxml import html

from browsers import errors as browser_errors
from browsers.client import Browsers
from browsers.model import Mode, Request, Snapshot
from scraper.call_context import Deadline
from scraper.coordination.state import RateLimit, RateLimits
from scraper.engines.model import Engine, EngineOutcome, EngineResponse, EngineResult, HomePageForm, SearchQuery
from scraper.engines.request_builder import engine_profile
from scraper.reading.visit_outcome import parse_retry_after_s
from scraper.search.engine_throttle import MAX_PAUSE_S, CircuitBreakers, EngineThrottle
from scraper.search.fusion import extract_content_words
from scraper.text.terms import unique_terms
from scraper.urls import join_url
from scraper.words.matcher import WordPattern
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

BLOCK_PAGE_LIMIT_S = 15.0
"""Seconds to wait until a block page clears by itself. Measured: a second at the usual difficulty."""
READ_RESERVE_S = 0.4
PARSE_LIMIT_S = 3.0
_MAX_FIELDS = 60

_CLEARING_BLOCKS = (
    "#anubis_challenge, script[src*='.within.website/x/cmd/anubis'], altcha-widget, .captcha-wrap, "
    "script[src*='/altcha'], #challenge-error-text, #challenge-running, "
    "script[src*='/cdn-cgi/challenge-platform/h/']"
)
"""CSS selectors of block pages that clear by themselves; the browser evaluates them."""
_REFUSE_LABEL = WordPattern("{blocks.refuse}")

_REASONS = frozenset(
    {"captcha", "consent", "rate_limited", "refused", "off_topic", "layout_changed", "timeout", "unreachable"}
)
_BROWSER_FAILURES: Mapping[type[browser_errors.BrowsersError], str] = {
    browser_errors.NoNetworkError: "no_network",
    browser_errors.DeadlineExceededError: "timeout",
    browser_errors.ConnectTimeoutError: "timeout",
    browser_errors.BusyError: "busy",
    browser_errors.PageCrashedError: "browser_failed",
    browser_errors.BrowserGoneError: "browser_failed",
    browser_errors.NoBrowserError: "browser_failed",
}


@dataclass(frozen=True, slots=True)
class EnginePageRequest:
    """A query to one engine."""

    engine: Engine
    query: SearchQuery
    principal: str
    deadline: Deadline


def error_reason(response: EngineResponse) -> str:
    """Return the reason code of a block or an error; unknown details are mapped to a known code."""
    detail = response.detail
    if detail in _REASONS or detail in _BROWSER_FAILURES.values():
        return detail
    if response.outcome is EngineOutcome.BLOCKED:
        return "captcha"
    return "unreachable" if detail.startswith("http_") or detail == "unreadable" else "layout_changed"


def _adapt_request(request: EnginePageRequest, page: Request) -> Request:
    """Return the engine's request with the caller's principal and deadline, and with time for a block page to clear."""
    ready = request.engine.ready
    # Also ready without a block page, so that no visit waits for results that moved.
    wait = f"{ready}, html:not(:has({_CLEARING_BLOCKS}))" if ready else None
    left_s = request.deadline.left_s(reserve_s=READ_RESERVE_S)
    return replace(
        page,
        # Pages that are always rendered are parsed as served first: no visit waits for missing results.
        mode=Mode.AUTO if page.mode is Mode.RENDER else page.mode,
        principal=request.principal,
        site_profile=page.site_profile or engine_profile(request.engine.name),
        wait=page.wait or wait,
        deadline_s=max(0.1, min(page.deadline_s, left_s)),
        limits=replace(page.limits, readiness_s=BLOCK_PAGE_LIMIT_S),
    )


def build_consent_refusal(snapshot: Snapshot, page: Request) -> Request | None:
    """Return the request of the consent form's refusing button, or None without a form that uses POST and https."""
    if not snapshot.html.strip():
        return None
    for form in html.document_fromstring(snapshot.html).iter("form"):
        is_consent = "consent" in f"{form.get('action')} {form.get('id')} {snapshot.url}".lower()
        if is_consent and (buttons := _refusing_buttons(form)):
            url = join_url(snapshot.url, form.get("action") or "")
            if not url.startswith("https://") or (form.get("method") or "get").lower() != "post":
                return None
            return replace(page, url=url, method="POST", form=_form_fields(form, buttons), headers={})
    return None


def _refusing_buttons(form: html.HtmlElement) -> list[html.HtmlElement]:
    return [
        element
        for element in form.iter("button", "input")
        if (element.tag == "button" or element.get("type") in {"submit", "button"})
        and _REFUSE_LABEL.search(
            " ".join((element.text_content(), element.get("value") or "", element.get("aria-label") or ""))
        )
    ]


def _form_fields(form: html.HtmlElement, buttons: list[html.HtmlElement]) -> dict[str, str]:
    """Return the hidden and text fields of a form, and the first of `buttons` that has a name."""
    fields = {
        element.get("name", ""): element.get("value") or ""
        for element in list(form.iter("input"))[:_MAX_FIELDS]
        if element.get("name") and element.get("type", "text") in {"hidden", "text"}
    }
    named = [button for button in buttons if button.get("name")]
    return fields | {button.get("name", ""): button.get("value") or "" for button in named[:1]}


_ALTERNATIVE_PAUSE_S = 1.0
"""Seconds between a block page and the next attempt at another host of the engine, as a person would wait."""
_PAGE_S = 1.0
"""Seconds. Minimum time in which a later result page can arrive."""
_MAX_PAGES = 3
_ONE_PAGE_ROWS = 10
"""Rows for which no second page is requested, even if the first has fewer."""
_FAIR_S = 5.0
"""Seconds. A timeout after less time is not caused by the engine: the query waited for others or was urgent."""
_LOCAL_ERRORS = frozenset({"busy", "browser_failed", "layout_changed", "no_network"})
"""Errors that are not caused by the engine."""

_MIN_QUERY_WORDS = 3
"""Words. Decoys cannot be detected for shorter queries. Measured on 8 decoy pages and 169 genuine pages of ten engines:
all 8 are detected, and one genuine page (in Japanese) is taken for a decoy."""
_MIN_ROWS = 3
"""Rows. Decoys cannot be detected on shorter pages."""
_MEAN_COVERAGE = 0.45
"""Share of the query's words that rows contain on average. Pages with less may be decoys, which have .22 to .35."""
_HALF_COVERED = 0.3
"""Maximum share of rows of a decoy page that contain half of the words."""
_FIRST_WORD_ONLY = 0.5
"""Minimum share of rows of a decoy page that contain the first word, and at most a third of the words.

Weak but genuine pages have few.
"""


@dataclass(frozen=True, slots=True)
class EngineQueryResult:
    """Outcome of a query to one engine."""

    engine: Engine
    results: tuple[EngineResult, ...] = ()
    error: str | None = None
    """Reason code. There may be results too, if the layout changed or a later page was blocked."""
    cooldown_s: float = 0.0
    """Seconds left of the cooldown for which the engine was not queried."""
    is_relaxed: bool = False
    """True if the results are for a less exact query."""
    expected_wait_s: float = 0.0
    """Minimum seconds that a new query would wait."""
    was_urgent: bool = False
    """True if the engine had little time, so that a timeout is not caused by it."""
    pause_s: float = 0.0
    """Seconds without requests that the engine asked for when it refused."""


class EngineQueryRunner:
    """Query engines. Failures are results, not exceptions."""

    def __init__(
        self,
        browsers: Browsers,
        workers: WorkerPool,
        breakers: CircuitBreakers,
        throttle: EngineThrottle,
        limits: RateLimits,
    ) -> None:
        """Query through the browsers with circuit breakers, a throttle, and daily limits."""
        self._limits = limits
        self._browsers = browsers
        self._workers = workers
        self._breakers = breakers
        self._throttle = throttle

    async def run(
        self, engine: Engine, query: SearchQuery, *, rows: int, principal: str, deadline_s: float
    ) -> EngineQueryResult:
        """Query one engine for about `rows` results; return within `deadline_s`."""
        wait_s = self._throttle.minimum_wait_s(engine.name, engine.spacing_s)
        if wait_s >= deadline_s:
            # No turn comes in time. Waiting would end in the same error.
            busy = EngineQueryResult(engine, error="busy", expected_wait_s=wait_s)
            return await self._find_cooldown(engine) or busy
        request = EnginePageRequest(engine, query, principal, Deadline.within(deadline_s))
        error, time_s = "busy", 0.0
        try:
            async with asyncio.timeout(deadline_s):
                async with self._throttle.turn(engine.name, engine.spacing_s):
                    # Checked in the turn: the query before may have started a cooldown.
                    cooldown = await self._find_cooldown(engine)
                    if cooldown is not None:
                        return cooldown
                    if engine.per_day:
                        limit = RateLimit(f"source-{engine.name}", engine.per_day, engine.per_day / 86_400)
                        if (rest_s := await self._limits.take(limit, self._throttle.route)) > 0:
                            return EngineQueryResult(engine, error="rate_limited", cooldown_s=rest_s)
                    await self._throttle.pause(engine.name)
                    error, time_s = "timeout", request.deadline.left_s()
                    result = await self._query(request, rows)
        except TimeoutError:
            wait_s = self._throttle.minimum_wait_s(engine.name, engine.spacing_s)
            result = EngineQueryResult(engine, error=error, expected_wait_s=wait_s)
        if time_s < _FAIR_S and result.error == "timeout":
            result = replace(result, was_urgent=True)
        await self._note(result)
        return result

    async def _find_cooldown(self, engine: Engine) -> EngineQueryResult | None:
        cooldown = await self._breakers.find_cooldown(engine.name)
        return None if cooldown is None else EngineQueryResult(engine, error=cooldown[0], cooldown_s=cooldown[1])

    async def _note(self, result: EngineQueryResult) -> None:
        fields = {"engine": result.engine.name, "rows": len(result.results), "error": result.error or "-"}
        log.info("engine", extra={"fields": fields})
        if result.was_urgent:
            return
        if result.error is None or result.error not in _LOCAL_ERRORS or result.results:
            error = None if result.error in _LOCAL_ERRORS else result.error
            await self._breakers.note_outcome(result.engine.name, error, result.pause_s)

    async def _query(self, request: EnginePageRequest, rows: int) -> EngineQueryResult:
        engine = request.engine
        response = await self._first_page(request)
        if (
            _is_decoy(request, response)
            and self._browsers.forget(request.principal, engine_profile(engine.name))
            and await _pause_if_time(request)
        ):
            # The engine recognizes callers that it takes for robots by their cookies.
            response = await self._read(request, engine.build_request(request.query, datetime.now(UTC)))
        if response.outcome is EngineOutcome.NONE:
            return EngineQueryResult(engine)
        if response.outcome is not EngineOutcome.OK:
            return EngineQueryResult(engine, error=error_reason(response), pause_s=response.pause_s)
        if _is_decoy(request, response):
            return EngineQueryResult(engine, error="off_topic")
        results, error = await self._later_pages(request, response, rows)
        error = "layout_changed" if response.layout_changed else error
        return EngineQueryResult(engine, results, error, is_relaxed=response.loosened)

    async def _first_page(self, request: EnginePageRequest) -> EngineResponse:
        """Request result page 1, then the alternatives, until one has results or states that there are none.

        If none does, return a block rather than a later error.
        """
        engine, now = request.engine, datetime.now(UTC)
        response = await self._read(request, engine.build_request(request.query, now))
        for alternative in engine.fallbacks:
            is_answer = response.outcome in {EngineOutcome.OK, EngineOutcome.NONE}
            is_ours = error_reason(response) in {"busy", "browser_failed"}
            if is_answer or is_ours or not await _pause_if_time(request):
                break
            other = await self._read(request, alternative(request.query, now))
            if other.outcome is not EngineOutcome.ERROR or response.outcome is EngineOutcome.ERROR:
                response = other
        is_unknown = response.outcome is EngineOutcome.ERROR and error_reason(response) == "layout_changed"
        if engine.home_page_form is None or not is_unknown or not await _pause_if_time(request):
            return response
        return await self._load_through_home_page(request, engine.home_page_form) or response

    async def _later_pages(
        self, request: EnginePageRequest, first: EngineResponse, rows: int
    ) -> tuple[tuple[EngineResult, ...], str | None]:
        """Return the results of as many pages as needed, and the error if a later page was blocked."""
        results, following = list(first.results), first.next
        if rows <= _ONE_PAGE_ROWS:
            return first.results, None
        for _ in range(_MAX_PAGES - 1):
            if following is None or len(results) >= rows or not _has_time(request, request.engine.spacing_s):
                break
            try:
                async with asyncio.timeout(request.deadline.left_s(reserve_s=READ_RESERVE_S / 2)):
                    await self._throttle.pause(request.engine.name)
                    response = await self._read(request, following)
            except TimeoutError:
                break
            if response.outcome is not EngineOutcome.OK:
                return tuple(results), error_reason(response) if response.outcome is EngineOutcome.BLOCKED else None
            known = {row.url for row in results}
            new = [row for row in response.results if row.url not in known]
            results += [replace(row, rank=rank) for rank, row in enumerate(new, len(results) + 1)]
            following = response.next if new else None
        return tuple(results), None

    async def _read(self, request: EnginePageRequest, page: Request) -> EngineResponse:
        spacing_s = request.engine.spacing_s
        try:
            response = await self._load(request, page)
            spacing_s = max(spacing_s, min(response.pause_s, MAX_PAUSE_S))
            return response
        finally:
            self._throttle.note_request(request.engine.name, spacing_s)

    async def _load(self, request: EnginePageRequest, page: Request) -> EngineResponse:
        """Load and parse a result page, also behind a block page that clears itself or a consent form."""
        snapshot, response = await self._visit(request, page)
        if response.clears_itself and snapshot is not None and snapshot.complete and request.engine.ready:
            # Unknown block pages that clear themselves: wait for the results alone.
            _, response = await self._visit(request, replace(page, wait=request.engine.ready))
        if snapshot is None or response.outcome is not EngineOutcome.BLOCKED or error_reason(response) != "consent":
            return response
        refusal = build_consent_refusal(snapshot, page)
        if refusal is None:
            return response
        _, response = await self._visit(request, refusal)
        if response.outcome is EngineOutcome.ERROR:
            # The form may lead anywhere. It set the cookie that matters.
            _, response = await self._visit(request, page)
        return response

    async def _load_through_home_page(self, request: EnginePageRequest, form: HomePageForm) -> EngineResponse | None:
        """Submit the search form of the engine's home page; return None if it cannot be loaded or has no such form."""
        now = datetime.now(UTC)

        async def fill_form(snapshot: Snapshot) -> Request | None:
            return await self._workers.run(
                form.build_request,
                snapshot,
                request.query,
                now,
                limit_s=PARSE_LIMIT_S,
                deadline_s=max(0.1, request.deadline.left_s()),
            )

        async def is_enough(snapshot: Snapshot) -> bool:
            return await fill_form(snapshot) is not None

        try:
            home_page = _adapt_request(request, form.page(request.query, now))
            results_page = await fill_form(await self._browsers.visit(home_page, is_enough))
        except (browser_errors.BrowsersError, WorkerFailedError):
            return None
        return None if results_page is None else await self._load(request, results_page)

    async def _visit(self, request: EnginePageRequest, page: Request) -> tuple[Snapshot | None, EngineResponse]:
        served: EngineResponse | None = None

        async def is_enough(snapshot: Snapshot) -> bool:
            """Return True if rendering cannot add anything to the page as served."""
            nonlocal served
            served = await self._parse(request, snapshot)
            if served.outcome is EngineOutcome.BLOCKED:
                return not served.clears_itself
            is_complete = served.outcome is EngineOutcome.OK and page.mode is not Mode.RENDER
            return is_complete or served.outcome is EngineOutcome.NONE

        try:
            snapshot = await self._browsers.visit(_adapt_request(request, page), is_enough)
        except browser_errors.BrowsersError as error:
            reason = _BROWSER_FAILURES.get(type(error), "unreachable")
            return None, EngineResponse(EngineOutcome.ERROR, detail=reason)
        if snapshot.rendered or served is None:
            served = await self._parse(request, snapshot)
        return snapshot, served

    async def _parse(self, request: EnginePageRequest, snapshot: Snapshot) -> EngineResponse:
        now, left_s = datetime.now(UTC), max(0.1, request.deadline.left_s())
        try:
            response = await self._workers.run(
                request.engine.parse, snapshot, now, limit_s=PARSE_LIMIT_S, deadline_s=left_s
            )
            return replace(response, pause_s=max(response.pause_s, parse_retry_after_s(snapshot) or 0.0))
        except WorkerFailedError as error:
            log.warning("a page of %s could not be parsed: %s", request.engine.name, error)
            return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")


def are_decoys(query: str, results: Sequence[EngineResult]) -> bool:
    """Return True if the results match the first word of the query and little else of it.

    Some engines send such well-formed pages to callers that they consider robots.
    """
    query_words = extract_content_words(query)
    if len(query_words) < _MIN_QUERY_WORDS or len(results) < _MIN_ROWS:
        return False
    # Words also count as prefixes: TopCV covers `top`.
    texts = [unique_terms(f"{row.title} {row.snippet} {row.url}") for row in results]
    covered = [[any(one.startswith(word) for one in text) for word in query_words] for text in texts]
    shares = [fmean(words) for words in covered]
    first_only = [words[0] and share <= 1 / 3 for words, share in zip(covered, shares, strict=True)]
    return (
        fmean(shares) < _MEAN_COVERAGE
        and fmean(share >= 0.5 for share in shares) <= _HALF_COVERED
        and fmean(first_only) >= _FIRST_WORD_ONLY
    )


def _is_decoy(request: EnginePageRequest, response: EngineResponse) -> bool:
    if request.engine.is_source:
        return False  # A source that finds weak results says the truth.
    return response.outcome is EngineOutcome.OK and are_decoys(request.query.text, response.results)


async def _pause_if_time(request: EnginePageRequest) -> bool:
    """Wait as a person would before another attempt, or return False if there is no time for it."""
    has_time = _has_time(request, _ALTERNATIVE_PAUSE_S)
    if has_time:
        await asyncio.sleep(_ALTERNATIVE_PAUSE_S)
    return has_time


def _has_time(request: EnginePageRequest, pause_s: float) -> bool:
    return request.deadline.left_s() > pause_s + _PAGE_S
