"""Books of what a page has asked the network for: what still holds it, and what never will."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter
from dataclasses import dataclass

from browsers.cdp.session import Event, Session

COUNTED = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
"""What content can come from. Images, media, fonts, pings and open streams never hold a page."""

DATA = frozenset({"XHR", "Fetch"})

ANALYTICS = re.compile(
    r"google-analytics|googletagmanager|doubleclick|/collect\b|analytics|hotjar|segment\.io|sentry|beacon"
    r"|/ping\b|telemetry",
    re.IGNORECASE,
)
"""Requests that go on for ever and bring no content."""

NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class InFlight:
    """One request that has not ended."""

    since: float
    is_data: bool
    path: str


class NetworkActivity:
    """Follows one tab's Network events; times are of `time.monotonic`, in seconds."""

    def __init__(self, session: Session) -> None:
        self.used_data = False
        """Whether the page has asked for data, or opened a web socket, at all."""
        self.last_at = time.monotonic()
        self.requests = 0
        """Counted requests so far."""
        self.streams = 0
        self.sockets = 0
        self.socket_frames = 0
        self.workers = 0
        """Web workers, whose messages come at a time of their own."""
        self.received_bytes = 0
        """Decoded bytes of everything, by which a compression bomb is known."""
        self.document_bytes = 0
        """Decoded bytes of documents alone."""
        self.data_shapes: set[str] = set()
        """Where data was asked for: addresses without their last part, numbers in them left out."""
        self._documents: set[str] = set()
        """Those that have not come to their end, or never will."""
        self._broken: set[str] = set()
        """Of these, those that never will."""
        self._live: dict[str, InFlight] = {}
        self._live_paths: Counter[str] = Counter()
        """How many of these are for each path: a page may start thousands at once."""
        self._asked: dict[str, int] = {}
        self._emptied = asyncio.Event()
        session.on("Network.requestWillBeSent", self._started)
        session.on("Network.loadingFinished", self._finished)
        session.on("Network.loadingFailed", self._failed)
        session.on("Network.dataReceived", self._received)
        session.on("Network.webSocketCreated", self._socket_opened)
        session.on("Network.webSocketFrameReceived", self._socket_spoke)

    async def quiet_or(self, limit_s: float) -> None:
        """Wait until the last counted request has ended, or for so long."""
        self._emptied.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._emptied.wait()

    def reset(self) -> None:
        """A new main document: what the last one waited for no longer counts."""
        self.used_data = False
        self.last_at = time.monotonic()
        self.streams = self.sockets = self.socket_frames = self.workers = 0
        self.data_shapes.clear()
        self._live.clear()
        self._live_paths.clear()
        self._asked.clear()

    def content_came(self) -> None:
        """After new content a repeated request may be the next part of it, not polling."""
        self._asked.clear()

    def in_flight(self) -> list[InFlight]:
        """Everything counted that has not ended."""
        return list(self._live.values())

    def is_polled(self, path: str) -> bool:
        """Asked for twice or more since the last new content."""
        return self._asked.get(path, 0) >= 2

    @property
    def polls(self) -> bool:
        """Whether the page polls at all."""
        return any(times >= 2 for times in self._asked.values())

    def is_unfinished(self, document: str) -> bool:
        """Whether a document began to come and its end did not."""
        return document in self._documents

    def is_broken(self, document: str) -> bool:
        """Whether a document broke off: no more of it will come."""
        return document in self._broken

    def _started(self, event: Event) -> None:
        kind, url = event.get("type"), event["request"]["url"]
        if kind == "EventSource":
            self.streams += 1
        if kind == "Document":
            self._documents.add(event["requestId"])
        if kind == "Script" and event["initiator"]["type"] == "other":
            self.workers += 1
        if kind not in COUNTED or ANALYTICS.search(url):
            return
        path = url.split("?", 1)[0]
        if kind in DATA:
            self.used_data = True
            self.data_shapes.add(NUMBER.sub("0", path.rpartition("/")[0]))
            # One burst to one path is a page that loads its parts at once: only a repeat after it is polling.
            if path not in self._live_paths:
                self._asked[path] = self._asked.get(path, 0) + 1
        self.last_at = time.monotonic()
        self.requests += 1
        # A redirect goes on under the name of what it redirects.
        self._leave(event["requestId"])
        self._live[event["requestId"]] = InFlight(self.last_at, kind in DATA, path)
        self._live_paths[path] += 1

    def _leave(self, request_id: str) -> bool:
        """Count it no longer; whether it was counted."""
        request = self._live.pop(request_id, None)
        if request is None:
            return False
        self._live_paths[request.path] -= 1
        if not self._live_paths[request.path]:
            del self._live_paths[request.path]
        return True

    def _finished(self, event: Event) -> None:
        self._documents.discard(event["requestId"])
        self._ended(event)

    def _failed(self, event: Event) -> None:
        if event["requestId"] in self._documents:
            self._broken.add(event["requestId"])
        self._ended(event)

    def _ended(self, event: Event) -> None:
        if self._leave(event["requestId"]):
            self.last_at = time.monotonic()
            if not self._live:
                self._emptied.set()

    def _received(self, event: Event) -> None:
        self.received_bytes += event["dataLength"]
        if event["requestId"] in self._documents:
            self.document_bytes += event["dataLength"]

    def _socket_opened(self, _: Event) -> None:
        self.used_data = True
        self.sockets += 1

    def _socket_spoke(self, _: Event) -> None:
        self.socket_frames += 1
