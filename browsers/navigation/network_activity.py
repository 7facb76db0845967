"""Track a page's network requests: which still delay its readiness, and which never end."""

import asyncio
import contextlib
import math
import re
import time
from collections import Counter
from typing import NamedTuple

from browsers.cdp.session import Event, Session

_COUNTED_TYPES = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
"""Request types that can bring content. Images, media, fonts, pings and open streams never delay a page."""

DATA = frozenset({"XHR", "Fetch"})

_ANALYTICS = re.compile(
    r"google-analytics|googletagmanager|doubleclick|/collect\b|analytics|hotjar|segment\.io|sentry|beacon"
    r"|/ping\b|telemetry",
    re.IGNORECASE,
)
"""Matches URLs of analytics, whose requests bring no content and may never end. They are not counted."""

_POLLED_FROM = 3
"""Requests to one path, one after the other, from which on it is polled. A change and the new state are two."""

NUMBER = re.compile(r"\d+")


def is_worker_script(event: Event) -> bool:
    """Return True if `Network.requestWillBeSent` is about the script of a worker."""
    return event.get("type") == "Script" and event["initiator"]["type"] == "other"


class InFlight(NamedTuple):
    """One request in progress."""

    since: float
    """Monotonic time of its start, or of its last redirect."""
    is_data: bool
    path: str
    """URL without its query."""


class NetworkActivity:
    """Track the Network events of one tab. Times are from `time.monotonic`, in seconds."""

    data_holds_s = math.inf
    """Seconds after which a request for data no longer delays a page, if less than the limit of all pages."""

    def __init__(self, session: Session) -> None:
        """Observe the tab of the session."""
        self.used_data = False
        """True if the page has requested data or opened a web socket."""
        self.last_at = time.monotonic()
        self.requests = 0
        self.streams = 0
        self.sockets = 0
        self.socket_frames = 0
        self.workers = 0
        """Number of web workers. Their messages come at any time."""
        self.received_bytes = 0
        """Decoded bytes of all responses, to detect compression bombs."""
        self.document_bytes = 0
        """Decoded bytes of documents only."""
        self.data_shapes: set[str] = set()
        """URLs of data requests, without their last part and with numbers replaced."""
        self._documents: set[str] = set()
        self._broken: set[str] = set()
        self._live: dict[str, InFlight] = {}
        self._live_paths: Counter[str] = Counter()
        """Running requests by path: a page may start thousands at once."""
        self._requested: Counter[str] = Counter()
        """Data requests by path since the last new content. A burst of requests counts as one."""
        self._idle = asyncio.Event()
        self.holds_all = False
        """True if a request for content delays the page as long as it runs, of any type."""
        self.watch(session)

    def watch(self, session: Session) -> None:
        """Observe the requests of a session: the tab, or a frame or worker with a session of its own."""
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.loadingFinished", self._on_finished)
        session.on("Network.loadingFailed", self._on_failed)
        session.on("Network.dataReceived", self._on_data)
        session.on("Network.webSocketCreated", self._on_socket)
        session.on("Network.webSocketFrameReceived", self._on_socket_frame)

    async def wait_idle(self, limit_s: float) -> None:
        """Wait until the last counted request, which may still have to start, ends, but at most `limit_s`."""
        self._idle.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._idle.wait()

    def reset(self) -> None:
        """Reset for a new main document. The totals of requests and bytes remain."""
        self.used_data = False
        self.last_at = time.monotonic()
        self.streams = self.sockets = self.socket_frames = self.workers = 0
        self.data_shapes.clear()
        self._live.clear()
        self._live_paths.clear()
        self._requested.clear()

    def on_content(self) -> None:
        """Reset the polling counts: after new content a repeated request may load the next part of it."""
        self._requested.clear()

    def in_flight(self) -> list[InFlight]:
        """Return all counted requests in progress."""
        return list(self._live.values())

    def is_polled(self, path: str) -> bool:
        """Return True if the path was requested several times since the last new content."""
        return self._requested[path] >= _POLLED_FROM

    @property
    def polls(self) -> bool:
        """True if the page polls any path."""
        return any(times >= _POLLED_FROM for times in self._requested.values())

    @property
    def has_push_source(self) -> bool:
        """True if messages may come at any time: over streams, web sockets or from workers."""
        return bool(self.streams or self.sockets or self.workers)

    def is_unfinished(self, document: str) -> bool:
        """Return True if the document began to load and has not ended."""
        return document in self._documents

    def is_broken(self, document: str) -> bool:
        """Return True if the document's connection broke, so that no more of it will come."""
        return document in self._broken

    def _on_request(self, event: Event) -> None:
        kind, url = event.get("type"), event["request"]["url"]
        if kind == "EventSource":
            self.streams += 1
        if kind == "Document":
            self._documents.add(event["requestId"])
        self.workers += is_worker_script(event)
        if kind not in _COUNTED_TYPES or _ANALYTICS.search(url):
            return
        path = url.split("?", 1)[0]
        if kind in DATA:
            self.used_data = True
            self.data_shapes.add(NUMBER.sub("0", path.rpartition("/")[0]))
            # Requests to one path in a burst load parts of a page. Only a repeat after them is polling.
            if path not in self._live_paths:
                self._requested[path] += 1
        self.last_at = time.monotonic()
        self.requests += 1
        # A redirect keeps the id of the request.
        self._discard(event["requestId"])
        self._live[event["requestId"]] = InFlight(self.last_at, kind in DATA, path)
        self._live_paths[path] += 1

    def _discard(self, request_id: str) -> bool:
        request = self._live.pop(request_id, None)
        if request is None:
            return False
        self._live_paths[request.path] -= 1
        if not self._live_paths[request.path]:
            del self._live_paths[request.path]
        return True

    def _on_finished(self, event: Event) -> None:
        self._documents.discard(event["requestId"])
        self._on_end(event)

    def _on_failed(self, event: Event) -> None:
        if event["requestId"] in self._documents:
            self._broken.add(event["requestId"])
        self._on_end(event)

    def _on_end(self, event: Event) -> None:
        if self._discard(event["requestId"]):
            self.last_at = time.monotonic()
            if not self._live:
                self._idle.set()

    def _on_data(self, event: Event) -> None:
        self.received_bytes += event["dataLength"]
        if event["requestId"] in self._documents:
            self.document_bytes += event["dataLength"]

    def _on_socket(self, _: Event) -> None:
        self.used_data = True
        self.sockets += 1

    def _on_socket_frame(self, _: Event) -> None:
        self.socket_frames += 1
