"""The way of a tab's main frame to its page: each response on it is held, then let on, let in or ended."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from urllib.parse import urlencode

from browsers import errors
from browsers.cdp.session import CommandFailedError, Event
from browsers.http.urls import has_credentials, resolve_location, strip_credentials
from browsers.model import RedirectHop, Request
from browsers.navigation import error_mapping
from browsers.navigation.response import NOT_PASSED_ON, PausedResponse, ResponseBody, parse_content_length
from browsers.navigation.tab import Tab


class Navigation:
    """One navigation: redirects are followed and told, the first response that is none is held."""

    def __init__(self, tab: Tab, request: Request) -> None:
        """From here on what goes over the wire counts against the request's limits."""
        self.hops: list[RedirectHop] = []
        """The redirects on the way, first to last."""
        self._tab = tab
        self._session = tab.session
        self._request = request
        self._ledger = tab.gate.begin_visit(request.limits.wire_bytes)
        self._held: asyncio.Future[PausedResponse] = asyncio.get_running_loop().create_future()
        # A navigation that ends otherwise leaves its last redirect's error to nobody.
        self._held.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._answer: asyncio.Future[Event] | None = None
        self._emptying: asyncio.Task[None] | None = None
        self._on_next: Callable[[PausedResponse], None] | None = None

    @property
    def too_large(self) -> bool:
        """Whether it was cut off for all that went over the wire."""
        return self._ledger.too_large

    def lead_to(self, on_document: Callable[[PausedResponse], None]) -> None:
        """Whom to tell of every main document that comes after the first."""
        self._on_next = on_document

    def begin(self) -> None:
        """Send the tab on its way; `response` waits for what comes of it."""
        self._session.on("Fetch.requestPaused", self._on_paused)
        self._answer = self._session.start("Page.navigate", url=self._request.url)

    async def response(self) -> PausedResponse:
        """The response that is not a redirect, held before anything of it is shown.

        Raises:
            BrowsersError: there is none; says why.
        """
        answer = self._begun()
        await asyncio.wait([self._held, answer], return_when=asyncio.FIRST_COMPLETED)  # type: ignore[type-var]
        if self._held.done():
            return self._held.result()
        raise self.explained(answer.result().get("errorText", "net::ERR_ABORTED"))

    def fell_short(self, response: PausedResponse, body: ResponseBody) -> bool:
        """Whether less came over the wire than the body was said to be.

        Of a compressed body whose connection breaks off the browser gives what came, and calls that its end.
        """
        declared = None if "transfer-encoding" in response.headers else parse_content_length(response.headers)
        if declared is None or not body.streamed:
            return False
        # Some sites tell the length before compression, which browsers let pass where it is just that.
        return self._ledger.down_bytes < declared and len(body.data) != declared

    async def let_in(
        self,
        response: PausedResponse,
        body: ResponseBody,
        on_answer: Callable[[asyncio.Future[Event]], None],
        *,
        unwatched: bool = False,
    ) -> None:
        """Let a held response become the page; `on_answer` is told of its commit, or why there is none.

        `unwatched`: nothing that comes after it is held, which spares every request of the page a detour.

        Raises:
            BrowsersError: what other visits left in the tab is still there.
        """
        if self._tab.cached.of_others:
            # A page may ask for any address.
            await self._empty_cache()
        self._let_on(response, body, unwatched)
        self._begun().add_done_callback(on_answer)

    def _let_on(self, response: PausedResponse, body: ResponseBody, unwatched: bool) -> None:
        if body.streamed:
            headers = [
                {"name": name, "value": value}
                for name, value in response.raw_headers
                if name.lower() not in NOT_PASSED_ON
            ]
            self._session.post(
                "Fetch.fulfillRequest",
                requestId=response.request_id,
                responseCode=response.status,
                responseHeaders=headers,
                body=base64.b64encode(body.data).decode(),
            )
        elif not unwatched:
            self._go_on(response.request_id)
        if unwatched:
            # This lets go on what is held. After another word for it the page would be made with the detour.
            self._session.post("Fetch.disable")

    def abort(self, response: PausedResponse) -> None:
        """End before anything commits: the tab stays blank, and sees to that by itself."""
        self._tab.leave(response.request_id, self._begun())

    def explained(self, net_error: str, *, at: str | None = None) -> errors.BrowsersError:
        """What a net error means, as far as the wall can tell; `at`: where, when not where it went last."""
        last_url = at or (self.hops[-1].location if self.hops else self._request.url)
        error = error_mapping.map_net_error(net_error, self._request.url, last_url, self._ledger)
        error.redirected = bool(self.hops)
        return error

    def out_of_time(self, after_s: float) -> errors.DeadlineExceededError:
        """The error of a site that was not done when the time was up."""
        got = self._ledger.down_bytes
        what = f"sent only {got} bytes" if got else "did not answer"
        return errors.DeadlineExceededError(
            f"{self._request.url} {what} within {after_s:.0f} s.", url=self._request.url
        )

    def _begun(self) -> asyncio.Future[Event]:
        assert self._answer is not None
        return self._answer

    def _on_paused(self, event: Event) -> None:
        if event.get("frameId") != self._tab.frame_id:
            self._go_on(event["requestId"])
        elif "responseStatusCode" not in event and "responseErrorReason" not in event:
            self._send_shaped(event)
        elif "responseStatusCode" not in event:
            # The exact reason comes with the answer of Page.navigate; here it is only "Failed".
            self._go_on(event["requestId"])
        else:
            self._on_response(PausedResponse.of(event))

    def _on_response(self, response: PausedResponse) -> None:
        self._tab.saw_password |= has_credentials(response.url)
        if response.location is not None:
            self._on_redirect(response, response.location)
        elif not self._held.done():
            self._held.set_result(response)
        elif self._on_next is not None:
            self._on_next(response)

    def _on_redirect(self, response: PausedResponse, location: str) -> None:
        target = resolve_location(response.url, location)
        self.hops.append(
            RedirectHop(strip_credentials(response.url), response.status, strip_credentials(target))
        )
        if not target.lower().startswith(("http:", "https:")):
            # For some of them Chromium would ask the system for a program.
            self._end_at(response, self.explained("net::ERR_UNSAFE_REDIRECT", at=response.url))
        elif len(self.hops) > self._request.limits.hops:
            self._end_at(response, self._too_many_redirects())
        else:
            self._follow(response, target)

    def _end_at(self, response: PausedResponse, error: errors.BrowsersError) -> None:
        self._fail(response)
        if not self._held.done():
            self._held.set_exception(error)

    def _too_many_redirects(self) -> errors.TooManyRedirectsError:
        url, most = self._request.url, self._request.limits.hops
        return errors.TooManyRedirectsError(f"{url} redirects more than {most} times.", url=url)

    def _follow(self, response: PausedResponse, location: str) -> None:
        cached = self._tab.cached
        cached.add(response.url)
        if location in cached:
            self._emptying = asyncio.ensure_future(self._follow_afresh(response))
        else:
            self._go_on(response.request_id)

    async def _follow_afresh(self, response: PausedResponse) -> None:
        try:
            await self._empty_cache()
        except errors.BrowsersError as error:
            self._end_at(response, error)
        else:
            self._go_on(response.request_id)

    async def _empty_cache(self) -> None:
        """Raises BrowserGone where that cannot be done: what is held must not go on then."""
        try:
            await self._tab.empty_cache()
        except (CommandFailedError, TimeoutError) as error:
            raise errors.BrowserGoneError(
                "The browser did not empty its cache.", url=self._request.url
            ) from error

    def _send_shaped(self, event: Event) -> None:
        """The request itself, paused because it is a form or carries headers of its own."""
        headers = dict(event["request"]["headers"]) | dict(self._request.headers)
        command: Event = {"requestId": event["requestId"]}
        # A page that moves on by itself asks for the next one as it likes.
        if self._request.method == "POST" and not self.hops and not self._held.done():
            body = urlencode(dict(self._request.form or {})).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            command |= {"method": "POST", "postData": base64.b64encode(body).decode()}
        command["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
        self._session.post("Fetch.continueRequest", **command)

    def _go_on(self, request_id: str) -> None:
        self._session.post("Fetch.continueRequest", requestId=request_id)

    def _fail(self, response: PausedResponse) -> None:
        self._session.post("Fetch.failRequest", requestId=response.request_id, errorReason="Aborted")
