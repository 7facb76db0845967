"""Navigate the main frame of a tab: each response is paused, then continued, committed or aborted."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from urllib.parse import urlencode

from browsers import errors
from browsers.cdp.session import CommandFailedError, Event
from browsers.model import RedirectHop, Request, has_credentials, strip_credentials
from browsers.navigation import error_mapping
from browsers.navigation.response import (
    TRANSFER_HEADERS,
    PausedResponse,
    ResponseBody,
    parse_content_length,
    resolve_location,
)
from browsers.navigation.tab import Tab

_HEADER_ORDER = {
    name: place
    for place, name in enumerate(
        "cache-control sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform origin content-type upgrade-insecure-requests "
        "user-agent accept-language accept".split()
    )
}
"""Order in which Chrome passes on the headers of a document (156); others follow. Changed requests must keep it."""


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
        declared = None if "transfer-encoding" in response.headers else parse_content_length(response.headers)
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
            headers_to_send = (header for header in response.raw_headers if header[0].lower() not in TRANSFER_HEADERS)
            headers = [{"name": name, "value": value} for name, value in headers_to_send]
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
        error = error_mapping.map_net_error(net_error, self._request.url, last_url, self._traffic)
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
        ordered = sorted(headers.items(), key=lambda header: _HEADER_ORDER.get(header[0].lower(), len(_HEADER_ORDER)))
        command["headers"] = [{"name": name, "value": value} for name, value in ordered]
        self._session.post("Fetch.continueRequest", **command)

    def _continue_request(self, request_id: str) -> None:
        self._session.post("Fetch.continueRequest", requestId=request_id)
