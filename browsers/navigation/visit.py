"""One visit: read the response, and render that same response only if it does not suffice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from browsers import errors
from browsers.cdp.session import CommandFailedError
from browsers.http.charset import decode
from browsers.model import Mode, Request, Screenshot, Snapshot, Tier, Timing, strip_credentials
from browsers.navigation.capture import capture_dom, take_screenshots
from browsers.navigation.consent import refuse_consent
from browsers.navigation.lazy_content import reveal_lazy_content
from browsers.navigation.navigation import Navigation
from browsers.navigation.page_observer import MAX_DIALOGS, PageObserver
from browsers.navigation.readiness_rules import PagePatterns
from browsers.navigation.response import PausedResponse, ResponseBody, is_text_type, read_body, sniff_media_type
from browsers.navigation.tab import Tab
from browsers.slot_scaling import measure_slowdown

IsSufficient = Callable[[Snapshot], Awaitable[bool]]
"""Return True if the response suffices, so that the page is not rendered."""

PREPARE_LIMIT_S = 5.0
BODY_LIMIT_S = 20.0
"""Seconds. A longer body is read as far as it came."""
CAPTURE_LIMIT_S = 3.0
"""Seconds to capture a page on an idle machine."""
CAPTURE_RESERVE_S = 2.0
"""Seconds reserved before the deadline, to capture a page that never becomes ready."""
MIN_READINESS_S = 0.5
MAX_READINESS_FACTOR = 2.0
"""Factor by which a page may take longer to settle on a busy machine."""
LAZY_LIMIT_S = 6.0
"""Seconds to load lazy content."""


@dataclass
class Visit:
    """Execute one visit in one tab."""

    tab: Tab
    request: Request
    tier: Tier
    started_at: float
    deadline_at: float
    expects_page: bool
    """True to prepare the tab for rendering before the navigation."""
    patterns: PagePatterns | None = None

    def __post_init__(self) -> None:
        """Record the time in the queue, and prepare the navigation."""
        self._timing = Timing(queued_s=self._elapsed())
        self._navigation = Navigation(self.tab, self.request)
        self._page: PageObserver | None = None
        self._preparing: asyncio.Future[object] | None = None
        self._peeked: Snapshot | None = None

    @property
    def prepared(self) -> bool:
        """True if the tab was prepared for rendering. Its events would make every later peek slower."""
        return self._page is not None

    @property
    def leaves_unclean_tab(self) -> bool:
        """True if the tab cannot be reused.

        Reasons are virtual time, a page that hung or opened dialogs, refused consent, and the window size of a picture.
        A tab of a batch cannot be reused either if it was not prepared before the navigation.
        """
        page = self._page
        # Prepared late: its first milliseconds were not observed.
        is_late = self.request.batch is not None and not self.expects_page
        if is_late or self.request.refuses_consent or self.request.picture is not None:
            return self.tab.committed
        return page is not None and (page.readiness.time.is_taken or page.readiness.loops_ended > 0 or page.dialogs > 0)

    async def run(self, enough: IsSufficient | None, take_render_slot: Callable[[], Awaitable[None]]) -> Snapshot:
        """Make the visit. `take_render_slot` is awaited before the page is rendered.

        If the page crashes or the time ends after the response was read, return the unrendered response. Raises
        BrowsersError if there is no result.
        """
        limit = asyncio.timeout_at(asyncio.get_running_loop().time() + max(0.0, self.deadline_at - time.monotonic()))
        try:
            async with limit:
                return await self._visit(enough, take_render_slot)
        except (TimeoutError, errors.PageCrashedError) as error:
            if self._peeked is not None:
                return self._unrendered(error.limit if isinstance(error, errors.PageLimitError) else "")
            if isinstance(error, errors.PageCrashedError):
                raise
            if limit.expired():
                raise self._navigation.deadline_error(self._elapsed()) from None
            raise errors.PageCrashedError("The page's renderer does not answer.", url=self.request.url) from error
        except CommandFailedError as error:
            if self._page is not None and self._page.dialogs > MAX_DIALOGS:
                # Ending the scripts of the page also ended a script of this visit.
                if self._peeked is not None:
                    return self._unrendered("dialogs")
                raise errors.PageLimitError("The page opened dialogs without end.", limit="dialogs") from error
            raise errors.ConnectionClosedError(f"The visit was interrupted: {error}", url=self.request.url) from error

    def _unrendered(self, exceeded_limit: str) -> Snapshot:
        assert self._peeked is not None
        return replace(self._peeked, complete=False, exceeded_limit=exceeded_limit, timing=self._end_timing())

    async def _visit(self, enough: IsSufficient | None, take_render_slot: Callable[[], Awaitable[None]]) -> Snapshot:
        if self.expects_page:
            self._page = self._create_page()
        self._navigation.begin()
        response = await self._navigation.response()
        self._timing = replace(self._timing, response_s=self._elapsed())
        mode = self.request.mode
        # An undeclared content type may be any file, so the body is read first.
        is_declared = response.is_page and response.media_type
        if mode is Mode.RENDER and is_declared and not _asks_for_password(response):
            await take_render_slot()
            return await self._render(response, ResponseBody())
        body = await self._read(response)
        self.tab.cached.add(response.url, len(body.data))
        peeked = self._peeked = self._peek_snapshot(response, body)
        if not await self._needs_rendering(peeked, response, enough):
            self._navigation.abort(response)
            return replace(peeked, timing=self._end_timing())
        await take_render_slot()
        return await self._render(response, body)

    async def _read(self, response: PausedResponse) -> ResponseBody:
        left_s = self.deadline_at - time.monotonic() - CAPTURE_RESERVE_S
        limit_s, cap_bytes = max(MIN_READINESS_S, min(BODY_LIMIT_S, left_s)), self.request.limits.body_bytes
        try:
            cut = self.tab.listener.drop_connections
            body = await read_body(self.tab.session, response, cap_bytes, limit_s, cut)
        except TimeoutError:
            raise self._navigation.deadline_error(self._elapsed()) from None
        return replace(body, truncated=True) if self._navigation.is_incomplete(response, body) else body

    async def _needs_rendering(self, peeked: Snapshot, response: PausedResponse, enough: IsSufficient | None) -> bool:
        mode, limits = self.request.mode, self.request.limits
        renderable = peeked.is_html and response.is_page and not _asks_for_password(response)
        too_big = peeked.truncated or len(peeked.body) > limits.render_bytes
        if mode is Mode.PEEK or not renderable or too_big:
            return False
        if mode is Mode.AUTO and enough is not None and await enough(peeked):
            return False
        self._timing = replace(self._timing, judged_s=self._elapsed())
        return True

    def _peek_snapshot(self, response: PausedResponse, body: ResponseBody) -> Snapshot:
        # The type of a file without a known one says nothing of its content.
        is_known = response.media_type not in ("", "application/octet-stream")
        media_type = response.media_type if is_known else sniff_media_type(body.data)
        text = decode(body.data, response.content_type) if is_text_type(media_type) else ""
        return Snapshot(
            url=strip_credentials(response.url),
            requested_url=self.request.url,
            status=response.status,
            headers=response.headers,
            media_type=media_type,
            body=body.data,
            html=text,
            hops=tuple(self._navigation.hops),
            truncated=body.truncated or self._navigation.too_large,
            tier=self.tier,
        )

    async def _render(self, response: PausedResponse, body: ResponseBody) -> Snapshot:
        self.tab.mark_committed()
        if self._page is not None:
            await self._wait_prepared()
        # Commands sent from here on are answered after the commit.
        page = self._page = self._page or self._create_page()
        page.response = response
        request = self.request
        # The tab must not be shared, and the requests of the page must need no change.
        is_plain = request.method == "GET" and not request.headers
        without_interception = self.tier is Tier.LIGHT and request.site_profile is None and is_plain
        page_hosts = (urlsplit(url).hostname or "" for url in (request.url, response.url))
        self.tab.listener.filter_third_parties(request.third_parties, tuple(page_hosts))
        await self._navigation.commit(response, body, page.on_navigated, without_interception=without_interception)
        await self._wait_prepared()
        left_s = self.deadline_at - time.monotonic() - CAPTURE_RESERVE_S
        slow_s = request.limits.readiness_s * min(measure_slowdown(), MAX_READINESS_FACTOR)
        readiness_s = max(MIN_READINESS_S, min(slow_s, left_s))
        complete = await page.wait_until_ready(readiness_s)
        if page.failed_to_commit:
            raise self._navigation.explain_error(page.failed_to_commit)
        pictures: tuple[Screenshot, ...] = ()
        consent: tuple[str, ...] = ()
        self._timing = replace(self._timing, settled_s=self._elapsed())
        if request.picture is not None or request.refuses_consent:
            consent = await refuse_consent(self.tab.session, page.frame_sessions)
        if consent and request.refuses_consent:
            # The content may come only now, or with a reload.
            page.readiness.restart()
            complete = await page.wait_until_ready(readiness_s)
        if request.picture is not None:
            # Before the capture, which opens parts of the page and marks others.
            pictures = await take_screenshots(self.tab.session, page.readiness, request.picture)
            self._timing = replace(self._timing, pictured_s=self._elapsed())
        elif complete and page.readiness.loops_ended == 0:
            limit_s = max(0.0, min(LAZY_LIMIT_S, left_s - readiness_s / 2))
            complete = await reveal_lazy_content(self.tab.session, page.readiness, limit_s)
            self._timing = replace(self._timing, settled_s=self._elapsed())
        snapshot = await self._capture(page, body, complete=complete and not page.is_unfinished)
        return replace(snapshot, pictures=pictures, consent=consent)

    def _create_page(self) -> PageObserver:
        """Create the page and send its commands. Call this before the navigation or commit."""
        page = PageObserver(self.tab, self.request, self.tier, self.patterns)
        self._navigation.on_next_document = page.on_document
        self._preparing = asyncio.ensure_future(page.prepare())
        # Mark the error as retrieved in case the visit ends before it renders.
        self._preparing.add_done_callback(lambda future: future.cancelled() or future.exception())
        return page

    async def _wait_prepared(self) -> None:
        assert self._preparing is not None
        try:
            async with asyncio.timeout(PREPARE_LIMIT_S * measure_slowdown()):
                await self._preparing
        except TimeoutError:
            raise errors.PageCrashedError("The page's renderer does not answer.", url=self.request.url) from None

    async def _capture(self, page: PageObserver, body: ResponseBody, *, complete: bool) -> Snapshot:
        limit_s = CAPTURE_LIMIT_S * measure_slowdown()
        dom = await capture_dom(self.tab.session, page.readiness, page.frame_sessions, limit_s=limit_s)
        page.on_committed(dom.loader_id)
        response = page.response
        assert response is not None
        return Snapshot(
            url=strip_credentials(dom.url if dom.url.startswith(("http:", "https:")) else response.url),
            requested_url=self.request.url,
            status=response.status,
            headers=response.headers,
            media_type=response.media_type if response.is_page and response.media_type else "text/html",
            body=body.data,
            html=dom.html,
            frames=dom.frames,
            rendered=True,
            hops=tuple(self._navigation.hops),
            timing=self._end_timing(captured_s=self._elapsed()),
            truncated=self._navigation.too_large or page.stopped_for_size,
            complete=complete,
            json_responses=await page.json_responses(),
            refused_hosts=len(self.tab.listener.traffic.refused_hosts),
            tier=self.tier,
        )

    def _elapsed(self) -> float:
        return time.monotonic() - self.started_at

    def _end_timing(self, captured_s: float = 0.0) -> Timing:
        return replace(self._timing, captured_s=captured_s, total_s=self._elapsed())


def _asks_for_password(response: PausedResponse) -> bool:
    """Return True if rendering would open a login dialog. The full browser cancels it and shows no page."""
    return response.status == 401 and "www-authenticate" in response.headers
