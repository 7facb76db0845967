"""Load and parse a result page of an engine; wait while block pages clear, and refuse consent forms."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lxml import html

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.model import Mode, Request, Snapshot
from scraper.call_context import Deadline
from scraper.engines.model import Engine, EngineOutcome, EngineResponse, HomePageForm, SearchQuery
from scraper.engines.request_builder import engine_profile
from scraper.reading.visit_outcome import parse_retry_after_s
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


class EnginePages:
    """Load and parse result pages."""

    def __init__(self, browsers: Browsers, workers: WorkerPool) -> None:
        """Load pages with the browsers and parse them in the workers."""
        self._browsers = browsers
        self._workers = workers

    async def read(self, request: EnginePageRequest, page: Request) -> EngineResponse:
        """Return the parsed response; failures are outcomes, not exceptions."""
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

    async def read_through_home_page(self, request: EnginePageRequest, form: HomePageForm) -> EngineResponse | None:
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
        return None if results_page is None else await self.read(request, results_page)

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
