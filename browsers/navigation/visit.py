"""The one navigation: peek at the response, judge it, and only where that is not enough render it.

Nothing is requested twice: what is rendered is the very response that was peeked at.
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
from browsers.navigation.rendering import RenderedPage
from browsers.navigation.response import (
    PausedResponse,
    ResponseBody,
    is_text_type,
    read_body,
    sniff_media_type,
)
from browsers.navigation.tab import Tab

Enough = Callable[[Snapshot], Awaitable[bool]]

PREPARE_LIMIT_S = 5.0
BODY_LIMIT_S = 20.0
"""A body that has not ended by then is read as far as it came."""
CAPTURE_LIMIT_S = 3.0
CAPTURE_RESERVE_S = 2.0
"""Kept back from the deadline, so that a page that never settles can still be read."""
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
        habits: PagePatterns | None = None,
    ) -> None:
        """`expects_page`: it will be rendered, so the tab is made ready for that before the navigation.

        `habits`: of the pages of its series.
        """
        self._tab = tab
        self._session = tab.session
        self._request = request
        self._tier = tier
        self._started_at = started_at
        self._deadline_at = deadline_at
        self._expects_page = expects_page
        self._habits = habits
        self._timing = Timing(queued_s=time.monotonic() - started_at)
        self._navigation = Navigation(tab, request)
        self._page: RenderedPage | None = None
        self._preparing: asyncio.Future[object] | None = None
        self._peeked: Snapshot | None = None

    @property
    def prepared(self) -> bool:
        """Whether the tab was made ready to render: its events would make every later peek dearer."""
        return self._page is not None

    @property
    def leaves_doubt(self) -> bool:
        """Whether its page can make way for no other: the clock stands still for good, or it got stuck."""
        page = self._page
        # Prepared late, its first milliseconds went unseen.
        if self._request.batch is not None and not self._expects_page:
            return self._tab.committed
        return page is not None and (
            page.settling.time.taken or page.settling.loops_ended > 0 or page.dialogs > 0
        )

    async def run(self, enough: Enough | None, may_render: Callable[[], Awaitable[None]]) -> Snapshot:
        """Make the visit; `may_render` is awaited before the page is rendered (it takes a render slot).

        Raises:
            BrowsersError: typed, with the URL.
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
                raise self._navigation.out_of_time(self._elapsed()) from None
            raise errors.PageCrashedError(
                "The page's renderer does not answer.", url=self._request.url
            ) from error
        except CommandFailedError as error:
            raise errors.ConnectionClosedError(
                f"The visit broke off: {error}", url=self._request.url
            ) from error

    async def _go(self, enough: Enough | None, may_render: Callable[[], Awaitable[None]]) -> Snapshot:
        if self._expects_page:
            self._page = self._begun_page()
        self._navigation.begin()
        response = await self._navigation.response()
        self._timing = replace(self._timing, response_s=self._elapsed())
        mode = self._request.mode
        # What is not declared may be any file: it is looked at first.
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
            body = await read_body(
                self._session, response, cap_bytes, limit_s, cut=self._tab.gate.drop_connections
            )
        except TimeoutError:
            raise self._navigation.out_of_time(self._elapsed()) from None
        return replace(body, truncated=True) if self._navigation.fell_short(response, body) else body

    async def _needs_rendering(
        self, peeked: Snapshot, response: PausedResponse, enough: Enough | None
    ) -> bool:
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
        self._tab.let_page_in()
        if self._page is not None:
            await self._prepared()
        # What is sent to the tab from here on is answered after the commit.
        page = self._page = self._page or self._begun_page()
        page.response = response
        unwatched = self._may_go_unwatched()
        await self._navigation.let_in(response, body, page.on_navigated, unwatched=unwatched)
        await self._prepared()
        limits = self._request.limits
        left = self._deadline_at - time.monotonic() - CAPTURE_RESERVE_S
        settle_s = max(MIN_SETTLE_S, min(limits.settle_s, left))
        complete = await page.settle(settle_s)
        if page.failed_to_commit:
            raise self._navigation.explained(page.failed_to_commit)
        if complete and page.settling.loops_ended == 0:
            limit_s = max(0.0, min(LAZY_LIMIT_S, left - settle_s / 2))
            await reveal_lazy_content(self._session, page.settling, limit_s)
        self._timing = replace(self._timing, settled_s=self._elapsed())
        return await self._captured(page, body, complete=complete and not page.is_cut_off)

    def _may_go_unwatched(self) -> bool:
        """Whether its page may move on unheld: in a tab for it alone, with nothing added to requests."""
        request = self._request
        plain = request.method == "GET" and not request.headers
        return self._tier is Tier.LIGHT and request.site_profile is None and plain

    def _begun_page(self) -> RenderedPage:
        """Its commands are on their way, before the navigation or the commit that is asked for next."""
        page = RenderedPage(self._tab, self._request, self._tier, self._habits)
        self._navigation.lead_to(page.on_document)
        self._preparing = asyncio.ensure_future(page.prepare())
        # A visit that ends before it renders leaves their failure to nobody.
        self._preparing.add_done_callback(lambda future: future.cancelled() or future.exception())
        return page

    async def _prepared(self) -> None:
        assert self._preparing is not None
        try:
            async with asyncio.timeout(PREPARE_LIMIT_S):
                await self._preparing
        except TimeoutError:
            raise errors.PageCrashedError(
                "The page's renderer does not answer.", url=self._request.url
            ) from None

    async def _captured(self, page: RenderedPage, body: ResponseBody, *, complete: bool) -> Snapshot:
        taken = await capture_dom(self._session, page.settling, page.frame_sessions, limit_s=CAPTURE_LIMIT_S)
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
        """What was served, where rendering it failed."""
        assert self._peeked is not None
        return replace(self._peeked, complete=False, timing=self._timed())

    def _loop_deadline(self) -> float:
        return asyncio.get_running_loop().time() + max(0.0, self._deadline_at - time.monotonic())

    def _elapsed(self) -> float:
        return time.monotonic() - self._started_at

    def _timed(self, captured_s: float = 0.0) -> Timing:
        return replace(self._timing, captured_s=captured_s, total_s=self._elapsed())


def _asks_for_password(response: PausedResponse) -> bool:
    """Whether rendering would open a dialog; the full browser cancels it and shows nothing of the page."""
    return response.status == 401 and "www-authenticate" in response.headers
