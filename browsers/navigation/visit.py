"""One visit: read the response, decide if it suffices, and render the page only if not.

Nothing is requested twice: the response that was read is also the one that is rendered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from browsers import errors
from browsers.cdp.session import CommandFailedError
from browsers.http.charset import decode
from browsers.http.urls import strip_credentials
from browsers.model import Mode, Request, Snapshot, Tier, Timing
from browsers.navigation.capture import capture_dom
from browsers.navigation.lazy_content import reveal_lazy_content
from browsers.navigation.navigation import Navigation
from browsers.navigation.page_patterns import PagePatterns
from browsers.navigation.rendered_page import RenderedPage
from browsers.navigation.response import PausedResponse, ResponseBody, is_text_type, read_body, sniff_media_type
from browsers.navigation.tab import Tab

Enough = Callable[[Snapshot], Awaitable[bool]]

PREPARE_LIMIT_S = 5.0
BODY_LIMIT_S = 20.0
"""Seconds. A longer body is read as far as it came."""
CAPTURE_LIMIT_S = 3.0
CAPTURE_RESERVE_S = 2.0
"""Seconds reserved before the deadline, to capture a page that never becomes ready."""
MIN_SETTLE_S = 0.5
LAZY_LIMIT_S = 6.0


class Visit:
    """One visit in one tab."""

    def __init__(
        self,
        tab: Tab,
        request: Request,
        tier: Tier,
        *,
        started_at: float,
        deadline_at: float,
        expects_page: bool,
        patterns: PagePatterns | None = None,
    ) -> None:
        """Set up the visit.

        `expects_page` prepares the tab for rendering before the navigation. `patterns` are those of the page's batch.
        """
        self._tab = tab
        self._session = tab.session
        self._request = request
        self._tier = tier
        self._started_at = started_at
        self._deadline_at = deadline_at
        self._expects_page = expects_page
        self._patterns = patterns
        self._timing = Timing(queued_s=time.monotonic() - started_at)
        self._navigation = Navigation(tab, request)
        self._page: RenderedPage | None = None
        self._preparing: asyncio.Future[object] | None = None
        self._peeked: Snapshot | None = None

    @property
    def prepared(self) -> bool:
        """True if the tab was prepared for rendering. Its events would make every later peek slower."""
        return self._page is not None

    @property
    def leaves_unclean_tab(self) -> bool:
        """True if the tab cannot be reused: its clock is stopped for good, or its page hung."""
        page = self._page
        # Prepared late: its first milliseconds were not observed.
        if self._request.batch is not None and not self._expects_page:
            return self._tab.committed
        return page is not None and (page.readiness.time.is_taken or page.readiness.loops_ended > 0 or page.dialogs > 0)

    async def run(self, enough: Enough | None, may_render: Callable[[], Awaitable[None]]) -> Snapshot:
        """Make the visit. `may_render` is awaited before the page is rendered, to take a render slot.

        Raises BrowsersError, a typed error with the URL.
        """
        limit = asyncio.timeout_at(self._loop_deadline())
        try:
            async with limit:
                return await self._go(enough, may_render)
        except (TimeoutError, errors.PageCrashedError) as error:
            if self._peeked is not None:
                return self._as_peeked()
            if isinstance(error, errors.PageCrashedError):
                raise
            if limit.expired():
                raise self._navigation.deadline_error(self._elapsed()) from None
            raise errors.PageCrashedError("The page's renderer does not answer.", url=self._request.url) from error
        except CommandFailedError as error:
            raise errors.ConnectionClosedError(f"The visit broke off: {error}", url=self._request.url) from error

    async def _go(self, enough: Enough | None, may_render: Callable[[], Awaitable[None]]) -> Snapshot:
        if self._expects_page:
            self._page = self._create_page()
        self._navigation.begin()
        response = await self._navigation.response()
        self._timing = replace(self._timing, response_s=self._elapsed())
        mode = self._request.mode
        # An undeclared content type may be any file, so the body is read first.
        is_declared = response.is_page and response.media_type
        if mode is Mode.RENDER and is_declared and not _asks_for_password(response):
            await may_render()
            return await self._render(response, ResponseBody())
        body = await self._read(response)
        self._tab.cached.add(response.url, len(body.data))
        peeked = self._peeked = self._peek_snapshot(response, body)
        if not await self._needs_rendering(peeked, response, enough):
            self._navigation.abort(response)
            return replace(peeked, timing=self._timed())
        await may_render()
        return await self._render(response, body)

    async def _read(self, response: PausedResponse) -> ResponseBody:
        left_s = self._deadline_at - time.monotonic() - CAPTURE_RESERVE_S
        limit_s, cap_bytes = max(MIN_SETTLE_S, min(BODY_LIMIT_S, left_s)), self._request.limits.body_bytes
        try:
            body = await read_body(self._session, response, cap_bytes, limit_s, cut=self._tab.listener.drop_connections)
        except TimeoutError:
            raise self._navigation.deadline_error(self._elapsed()) from None
        return replace(body, truncated=True) if self._navigation.is_incomplete(response, body) else body

    async def _needs_rendering(self, peeked: Snapshot, response: PausedResponse, enough: Enough | None) -> bool:
        mode, limits = self._request.mode, self._request.limits
        renderable = peeked.is_html and response.is_page and not _asks_for_password(response)
        too_big = peeked.truncated or len(peeked.body) > limits.render_bytes
        if mode is Mode.PEEK or not renderable or too_big:
            return False
        if mode is Mode.AUTO and enough is not None and await enough(peeked):
            return False
        self._timing = replace(self._timing, judged_s=self._elapsed())
        return True

    def _peek_snapshot(self, response: PausedResponse, body: ResponseBody) -> Snapshot:
        media_type = response.media_type or sniff_media_type(body.data)
        text = decode(body.data, response.content_type) if is_text_type(media_type) else ""
        return Snapshot(
            url=strip_credentials(response.url),
            requested_url=self._request.url,
            status=response.status,
            headers=response.headers,
            media_type=media_type,
            body=body.data,
            html=text,
            hops=tuple(self._navigation.hops),
            truncated=body.truncated or self._navigation.too_large,
            tier=self._tier,
        )

    async def _render(self, response: PausedResponse, body: ResponseBody) -> Snapshot:
        self._tab.mark_committed()
        if self._page is not None:
            await self._prepared()
        # Commands sent from here on are answered after the commit.
        page = self._page = self._page or self._create_page()
        page.response = response
        without_interception = self._can_skip_interception()
        await self._navigation.commit(response, body, page.on_navigated, without_interception=without_interception)
        await self._prepared()
        limits = self._request.limits
        left = self._deadline_at - time.monotonic() - CAPTURE_RESERVE_S
        settle_s = max(MIN_SETTLE_S, min(limits.settle_s, left))
        complete = await page.wait_until_ready(settle_s)
        if page.failed_to_commit:
            raise self._navigation.explain_error(page.failed_to_commit)
        if complete and page.readiness.loops_ended == 0:
            limit_s = max(0.0, min(LAZY_LIMIT_S, left - settle_s / 2))
            await reveal_lazy_content(self._session, page.readiness, limit_s)
        self._timing = replace(self._timing, settled_s=self._elapsed())
        return await self._captured(page, body, complete=complete and not page.is_cut_off)

    def _can_skip_interception(self) -> bool:
        """Return True if the page may navigate without interception.

        Its tab must not be shared, and its requests must need no change.
        """
        request = self._request
        plain = request.method == "GET" and not request.headers
        return self._tier is Tier.LIGHT and request.site_profile is None and plain

    def _create_page(self) -> RenderedPage:
        """Create the page and send its commands before the navigation or commit that follows."""
        page = RenderedPage(self._tab, self._request, self._tier, self._patterns)
        self._navigation.on_next_document(page.on_document)
        self._preparing = asyncio.ensure_future(page.prepare())
        # Mark the error as retrieved in case the visit ends before it renders.
        self._preparing.add_done_callback(lambda future: future.cancelled() or future.exception())
        return page

    async def _prepared(self) -> None:
        assert self._preparing is not None
        try:
            async with asyncio.timeout(PREPARE_LIMIT_S):
                await self._preparing
        except TimeoutError:
            raise errors.PageCrashedError("The page's renderer does not answer.", url=self._request.url) from None

    async def _captured(self, page: RenderedPage, body: ResponseBody, *, complete: bool) -> Snapshot:
        taken = await capture_dom(self._session, page.readiness, page.frame_sessions, limit_s=CAPTURE_LIMIT_S)
        response = page.response
        assert response is not None
        return Snapshot(
            url=strip_credentials(taken.url if taken.url.startswith(("http:", "https:")) else response.url),
            requested_url=self._request.url,
            status=response.status,
            headers=response.headers,
            media_type=response.media_type if response.is_page and response.media_type else "text/html",
            body=body.data,
            html=taken.html,
            frames=taken.frames,
            rendered=True,
            hops=tuple(self._navigation.hops),
            timing=self._timed(captured_s=self._elapsed()),
            truncated=self._navigation.too_large or page.stopped_for_size,
            complete=complete,
            json_responses=await page.json_responses(),
            tier=self._tier,
        )

    def _as_peeked(self) -> Snapshot:
        """Return the unrendered response after rendering failed."""
        assert self._peeked is not None
        return replace(self._peeked, complete=False, timing=self._timed())

    def _loop_deadline(self) -> float:
        return asyncio.get_running_loop().time() + max(0.0, self._deadline_at - time.monotonic())

    def _elapsed(self) -> float:
        return time.monotonic() - self._started_at

    def _timed(self, captured_s: float = 0.0) -> Timing:
        return replace(self._timing, captured_s=captured_s, total_s=self._elapsed())


def _asks_for_password(response: PausedResponse) -> bool:
    """Return True if rendering would open a login dialog. The full browser cancels it and shows no page."""
    return response.status == 401 and "www-authenticate" in response.headers
