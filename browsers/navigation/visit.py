"""One visit: read the response, and render that same response only if it does not suffice.

Each response of the main frame is paused, then continued, committed or aborted (`Navigation`).
"""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit

from browsers import errors
from browsers.cdp.session import CommandFailedError, Event
from browsers.http.charset import decode
from browsers.model import Mode, RedirectHop, Request, Snapshot, Tier, Timing, has_credentials, strip_credentials
from browsers.navigation.capture import capture_dom, take_screenshots
from browsers.navigation.consent import refuse_consent
from browsers.navigation.error_mapping import map_net_error
from browsers.navigation.lazy_content import reveal_lazy_content
from browsers.navigation.page_observer import MAX_DIALOGS, PageObserver
from browsers.navigation.readiness import MAX_READINESS_FACTOR
from browsers.navigation.readiness_rules import PagePatterns
from browsers.navigation.response import (
    TRANSFER_HEADERS,
    PausedResponse,
    ResponseBody,
    is_text_type,
    parse_content_length,
    read_body,
    resolve_location,
    sniff_media_type,
)
from browsers.navigation.tab import Tab
from browsers.request_signing import order_headers
from browsers.slot_scaling import measure_slowdown


class Navigation:
    """Navigate once: follow and record redirects, and hold the first response that is not a redirect."""

    def __init__(self, tab: Tab, request: Request) -> None:
        """Prepare the navigation, and start to count network bytes against the request's limits."""
        self.hops: list[RedirectHop] = []
        self._tab = tab
        self._session = tab.session
        self._request = request
        self._traffic = tab.listener.begin_visit(request.limits.wire_bytes)
        self._response: asyncio.Future[PausedResponse] = asyncio.get_running_loop().create_future()
        # Mark the error of a last redirect as retrieved, in case the navigation ends otherwise.
        self._response.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._result: asyncio.Future[Event]
        self._cache_task: asyncio.Task[None] | None = None
        self.on_next_document: Callable[[PausedResponse], None] | None = None
        """Handler of every main document after the first."""

    @property
    def too_large(self) -> bool:
        """True if the navigation was cut off at its limit of network bytes."""
        return self._traffic.too_large

    def begin(self) -> None:
        """Start the navigation. `response` waits for the result."""
        self._session.on("Fetch.requestPaused", self._on_paused)
        self._result = self._session.start("Page.navigate", url=self._request.url)

    async def response(self) -> PausedResponse:
        """Return the first response that is not a redirect, paused. Raises BrowsersError if none comes."""
        pending = [self._response, self._result]
        await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)  # type: ignore[type-var]
        if self._response.done():
            return self._response.result()
        raise self.explain_error(self._result.result().get("errorText", "net::ERR_ABORTED"))

    def is_incomplete(self, response: PausedResponse, body: ResponseBody) -> bool:
        """Return True if fewer bytes arrived than declared: the browser reports the end of a broken compressed body."""
        if "transfer-encoding" in response.headers:
            # Each body in chunks has this end (RFC 9112, 7.1). Inside of TLS, it cannot be seen.
            return response.url.startswith("http:") and self._traffic.down_end not in (b"", b"\r\n\r\n")
        declared = parse_content_length(response.headers)
        if declared is None or not body.streamed:
            return False
        # Some sites declare the length before compression. Browsers accept it if it matches exactly.
        return self._traffic.down_bytes < declared and len(body.data) != declared

    async def commit(
        self,
        response: PausedResponse,
        body: ResponseBody,
        on_answer: Callable[[asyncio.Future[Event]], None],
        *,
        without_interception: bool = False,
    ) -> None:
        """Commit a paused response as the page. `on_answer` receives the result of the commit.

        With `without_interception` no later request is paused, which saves a round trip for each request of the page.
        Raises BrowsersError if data of other visits could not be removed from the tab.
        """
        if self._tab.cached.has_other_visits:
            # The page may request any URL.
            await self._empty_cache()

        if body.streamed:
            written = (header for header in response.raw_headers if header[0].lower() not in TRANSFER_HEADERS)
            headers = [{"name": name, "value": value} for name, value in written]
            self._session.post(
                "Fetch.fulfillRequest",
                requestId=response.request_id,
                responseCode=response.status,
                responseHeaders=headers,
                body=base64.b64encode(body.data).decode(),
            )
        elif not without_interception:
            self._continue_request(response.request_id)
        if without_interception:
            # This continues the paused request. A separate command would make the page with the round trip.
            self._session.post("Fetch.disable")
        self._result.add_done_callback(on_answer)

    def abort(self, response: PausedResponse) -> None:
        """Abort before anything commits. The tab stays blank and finishes the abort itself."""
        self._tab.defer_abort(response.request_id, self._result)

    def explain_error(self, net_error: str, *, at: str | None = None) -> errors.BrowsersError:
        """Convert a net error of the URL `at`, by default the last one, with the details of the traffic log."""
        last_url = at or (self.hops[-1].location if self.hops else self._request.url)
        error = map_net_error(net_error, self._request.url, last_url, self._traffic)
        error.redirected = bool(self.hops)
        return error

    def deadline_error(self, after_s: float) -> errors.DeadlineExceededError:
        """Return the error of a site that did not finish in time."""
        received = self._traffic.down_bytes
        what = f"sent only {received} bytes" if received else "did not answer"
        return errors.DeadlineExceededError(
            f"{self._request.url} {what} within {after_s:.0f} s.", url=self._request.url
        )

    def _on_paused(self, event: Event) -> None:
        if event.get("frameId") != self._tab.frame_id:
            self._continue_request(event["requestId"])
        elif "responseStatusCode" not in event and "responseErrorReason" not in event:
            self._send_custom_request(event)
        elif "responseStatusCode" not in event:
            # The exact reason comes with the result of Page.navigate; this event only says "Failed".
            self._continue_request(event["requestId"])
        else:
            self._on_response(PausedResponse.of(event))

    def _on_response(self, response: PausedResponse) -> None:
        self._tab.saw_credentials |= has_credentials(response.url)
        if response.location is not None:
            self._on_redirect(response, response.location)
        elif not self._response.done():
            self._response.set_result(response)
        elif self.on_next_document is not None:
            self.on_next_document(response)

    def _on_redirect(self, response: PausedResponse, location: str) -> None:
        target = resolve_location(response.url, location)
        self.hops.append(RedirectHop(strip_credentials(response.url), response.status, strip_credentials(target)))
        if not target.lower().startswith(("http:", "https:")):
            # For some schemes Chromium would look for an external program.
            self._end_with(response, self.explain_error("net::ERR_UNSAFE_REDIRECT", at=response.url))
        elif len(self.hops) > (max_hops := self._request.limits.hops):
            url = self._request.url
            message = f"{url} redirects more than {max_hops} times."
            self._end_with(response, errors.TooManyRedirectsError(message, url=url))
        else:
            self._tab.cached.add(response.url)
            if target in self._tab.cached:
                self._cache_task = asyncio.ensure_future(self._follow_with_empty_cache(response))
            else:
                self._continue_request(response.request_id)

    def _end_with(self, response: PausedResponse, error: errors.BrowsersError) -> None:
        self._session.post("Fetch.failRequest", requestId=response.request_id, errorReason="Aborted")
        if not self._response.done():
            self._response.set_exception(error)

    async def _follow_with_empty_cache(self, response: PausedResponse) -> None:
        try:
            await self._empty_cache()
        except errors.BrowsersError as error:
            self._end_with(response, error)
        else:
            self._continue_request(response.request_id)

    async def _empty_cache(self) -> None:
        """Empty the cache. Raises BrowserGoneError if it failed. The paused response must then not continue."""
        try:
            await self._tab.empty_cache()
        except (CommandFailedError, TimeoutError) as error:
            raise errors.BrowserGoneError("The browser did not empty its cache.", url=self._request.url) from error

    def _send_custom_request(self, event: Event) -> None:
        headers = dict(event["request"]["headers"]) | dict(self._request.headers)
        command: Event = {"requestId": event["requestId"]}
        # A later navigation of the page itself uses its own method.
        if self._request.method == "POST" and not self.hops and not self._response.done():
            body = urlencode(dict(self._request.form or {})).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            command |= {"method": "POST", "postData": base64.b64encode(body).decode()}
        if (signer := self._request.signer) is not None:
            headers |= signer.headers(event["request"]["url"], command.get("method", event["request"]["method"]))
        self._session.post("Fetch.continueRequest", **command, headers=order_headers(headers))

    def _continue_request(self, request_id: str) -> None:
        self._session.post("Fetch.continueRequest", requestId=request_id)


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
        is_plain = request.method == "GET" and not (request.headers or request.signer)
        without_interception = self.tier is Tier.LIGHT and request.site_profile is None and is_plain
        page_hosts = (urlsplit(url).hostname or "" for url in (request.url, response.url))
        self.tab.listener.filter_third_parties(request.third_parties, tuple(page_hosts))
        await self._navigation.commit(response, body, page.on_navigated, without_interception=without_interception)
        await self._wait_prepared()
        left_s = self.deadline_at - time.monotonic() - CAPTURE_RESERVE_S
        slow_s = request.limits.readiness_s * min(measure_slowdown(), MAX_READINESS_FACTOR)
        readiness_s = max(MIN_READINESS_S, min(slow_s, left_s))
        complete = await page.wait_until_ready(readiness_s)
        if not page.readiness.answer_s:
            raise self._busy_error()
        if page.failed_to_commit:
            raise self._navigation.explain_error(page.failed_to_commit)
        consent: tuple[str, ...] = ()
        self._timing = replace(self._timing, settled_s=self._elapsed())
        if request.picture is not None or request.refuses_consent:
            consent = await refuse_consent(self.tab.session, page.frame_sessions)
        if consent and request.refuses_consent:
            # The content may come only now, or with a reload.
            page.readiness.restart()
            complete = await page.wait_until_ready(readiness_s)
        # Before the capture, which opens parts of the page and marks others.
        picture, session = request.picture, self.tab.session
        pictures = await take_screenshots(session, page.readiness, picture) if picture is not None else ()
        if picture is not None:
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
        limit_s = min(CAPTURE_LIMIT_S * measure_slowdown(), page.readiness.answer_s)
        try:
            dom = await capture_dom(self.tab.session, page.readiness, page.frame_sessions, limit_s=limit_s)
        except TimeoutError:
            raise self._busy_error() from None
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

    def _busy_error(self) -> errors.PageLimitError:
        self.tab.session.post("Page.crash")
        return errors.PageLimitError("The page does not answer in time.", limit="time")

    def _elapsed(self) -> float:
        return time.monotonic() - self.started_at

    def _end_timing(self, captured_s: float = 0.0) -> Timing:
        return replace(self._timing, captured_s=captured_s, total_s=self._elapsed())


def _asks_for_password(response: PausedResponse) -> bool:
    """Return True if rendering would open a login dialog. The full browser cancels it and shows no page."""
    return response.status == 401 and "www-authenticate" in response.headers
