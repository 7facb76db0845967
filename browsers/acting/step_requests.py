"""Tell the requests of the current step from those that ran before it: only the former delay its answer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter

from browsers.cdp.session import Event, Session
from browsers.navigation.network_activity import DATA, InFlight, NetworkActivity, is_worker_script
from browsers.navigation.readiness_rules import CODE_HOLDS_S


class StepRequests(NetworkActivity):
    """Requests of the page of a browsing session, with its frames and workers.

    A step awaits the requests that begin after it. The first step of a call also awaits those of the call before, so
    that it shows their answers. Other requests, such as long polls, run on without a delay.
    """

    data_holds_s = 1.2
    """Seconds for which a request for data delays a new page: it may be a long poll. A bare page is awaited longer."""

    def __init__(self, session: Session) -> None:
        """Observe the tab of the session; `watch` adds its frames and workers."""
        self._pushed = asyncio.Event()
        """Cleared while this step awaits a message over a web socket or an event stream, or the answer to a poll."""
        self._pushed.set()
        self._is_first_step = True
        self._is_acting = self._has_new_content = False
        self._caused: set[str] = set()
        """Ids of the requests in progress that began while a step acted on this document."""
        self._earlier: dict[str, str] = {}
        """Paths of the requests in progress that began before this step, by id."""
        self._answered: Counter[str] = Counter()
        """Answers in this step to such requests, by path. After each, the next round of a long poll may begin."""
        self._rounds: dict[str, str] = {}
        """Paths of the requests of this step that may be such rounds, or caused by the step, by id."""
        self._endless: set[str] = set()
        """Ids of what may have no end: scripts of workers, and of frames whose scripts have requested a document."""
        self._sessions: dict[str, Session] = {}
        """Sessions of the requests in progress of frames and workers, which may end without an event."""
        self._tab = session
        super().__init__(session)

    def watch(self, session: Session) -> None:
        """Observe the tab, or also a frame or worker that has a session of its own."""
        super().watch(session)
        session.on("Network.responseReceived", self._on_response)
        session.on("Page.frameRequestedNavigation", self._on_navigation)
        session.on("Page.frameStoppedLoading", lambda event: self._on_end({"requestId": event["frameId"]}))
        session.on("Network.webSocketFrameSent", lambda _: self._await_push())
        session.on("Network.eventSourceMessageReceived", lambda _: self._pushed.set())
        if session is not self._tab:
            session.on("Network.requestWillBeSent", lambda event: self._sessions.update({event["requestId"]: session}))
            session.post("Network.enable", maxPostDataSize=0)

    def begin_call(self) -> None:
        """Let the next step also await the requests of the call before."""
        self._is_first_step, self._is_acting = True, False
        self._answered.clear()

    def begin_step(self, *, is_acting: bool) -> None:
        """Await from now on only the requests that begin in this step, which acts on the page or not."""
        for request_id, request in list(self._live.items()):
            if not self._is_first_step or request_id in self._earlier or request_id in self._rounds:
                self._discard(request_id)
            self._earlier[request_id] = request.path
        if not self._is_first_step:
            self._answered.clear()
        self.on_content()
        self.holds_all, self._is_acting = True, is_acting
        self._is_first_step = self._has_new_content = False
        self._pushed.set()
        self._rounds.clear()

    def reset(self) -> None:
        """Reset for a new main document. Its requests delay it as they do in a visit."""
        super().reset()
        self.holds_all = self._is_acting = False
        self._pushed.set()
        for state in (self._caused, self._earlier, self._answered, self._rounds, self._endless, self._sessions):
            state.clear()

    def on_content(self) -> None:
        """Record that new content has come."""
        super().on_content()
        self._has_new_content = True

    @property
    def awaits_push(self) -> bool:
        """True if the answer to this step may still come over a web socket, over an event stream or by a long poll."""
        return not self._pushed.is_set()

    async def wait_for_push(self, limit_s: float) -> None:
        """Wait for a message that may be the answer to this step, but at most `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._pushed.wait()

    def in_flight(self) -> list[InFlight]:
        """Return the counted requests in progress that are awaited."""
        for request_id in [key for key, session in self._sessions.items() if not session.is_alive]:
            self._on_end({"requestId": request_id})
        return [request for request_id, request in self._live.items() if not self._is_ignored(request_id, request)]

    def _is_ignored(self, request_id: str, request: InFlight) -> bool:
        if request_id in self._endless:
            return time.monotonic() - request.since > CODE_HOLDS_S
        return self._has_new_content and request_id in self._rounds

    @property
    def unanswered(self) -> int:
        """Number of the requests in progress of this step, and of those that earlier steps caused."""
        own = {request_id for request_id, request in self._live.items() if not self.is_polled(request.path)}
        return len((own | self._caused & self._earlier.keys()) - self._endless)

    def _on_request(self, event: Event) -> None:
        request_id, path = event["requestId"], event["request"]["url"].split("?", 1)[0]
        if event.get("type") == "Document":
            self._on_end({"requestId": event.get("frameId")})
        is_redirect = request_id in self._earlier
        if self._answered[path] and not is_redirect:
            self._answered[path] -= 1
            # While a step acts, it may also have caused a request to the same path: it is awaited until content comes.
            (self._rounds if self._is_acting else self._earlier)[request_id] = path
        if request_id in self._earlier and request_id not in self._live:
            return
        super()._on_request(event)
        if is_worker_script(event):
            self._endless.add(request_id)
        if self._is_acting and request_id in self._live and not is_redirect:
            self._caused.add(request_id)
            if event.get("type") in DATA and (self.streams or self._earlier):
                self._await_push()

    def _on_navigation(self, event: Event) -> None:
        """Count a document before its request: the browser sends it, and may report it after later samples."""
        if event["disposition"] == "currentTab":
            super()._on_request({"requestId": event["frameId"], "type": "Document", "request": {"url": event["url"]}})
            self._endless.add(event["frameId"])

    def _on_response(self, event: Event) -> None:
        request_id = event["requestId"]
        if path := self._earlier.get(request_id) or self._rounds.get(request_id):
            self._answered[path] += 1
            self._pushed.set()

    def _on_end(self, event: Event) -> None:
        request_id = event["requestId"]
        for requests in (self._earlier, self._rounds, self._sessions):
            requests.pop(request_id, None)
        for ids in (self._caused, self._endless):
            ids.discard(request_id)
        super()._on_end(event)

    def _on_socket_frame(self, event: Event) -> None:
        super()._on_socket_frame(event)
        self._pushed.set()

    def _await_push(self) -> None:
        if self._is_acting:
            self._pushed.clear()
