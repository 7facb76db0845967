"""Send commands to browsers and tabs and receive events. Every wait ends when a renderer or browser crashes.

A `CdpTransport` carries the messages. There are two (docs/decisions/001-transport.md). `Runtime.enable` is never sent,
because pages can detect it.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from browsers import errors

Event = dict[str, Any]
Message = dict[str, Any]
EventHandler = Callable[[Event], None]
MakeError = Callable[[], errors.BrowsersError]
"""Creates an error. Each command gets its own instance, because a raised exception holds its traceback."""

_COMMAND_LIMIT_S = 10.0
"""Seconds to wait for the answer to a command. A busy or crashed renderer does not answer."""

MAX_EVENTS = 50_000
"""Maximum number of events of one visit. A page with 3,000 requests causes 15,000."""
MAX_EVENT_BYTES = 64_000_000
"""Maximum bytes of all events of one visit. Events contain frames of web sockets and long URLs."""

_KILL_REPORT_S = 5.0
"""Seconds after a kill in which a crash report of the browser belongs to it."""

_NO_PAGE = "javascript:"
"""URL of a new tab: an empty script, run in the initial empty document.

Chromium would commit `about:blank` like any page. The next page would then need a frame of its own, and the tab's
history would have two entries. With this URL the first page reuses the empty document's frame, and the history has one
entry (decision 005). It needs the flat transport; with the other one a new tab has `about:blank`.
"""


class CommandFailedError(Exception):
    """The browser answered a command with an error, usually because the frame, context or request no longer exists."""


class CdpTransport(Protocol):
    """Carry messages between a Connection and a browser. The session id None means the browser itself."""

    flat: bool
    """True if messages of a target carry its session id, False if they are nested in browser messages."""

    def bind(self, on_message: Callable[[str | None, Message, int], None], on_lost: Callable[[], None]) -> None:
        """Set the handlers of messages, which get the bytes of each, and of the end of the connection."""

    def send(self, session_id: str | None, message: Message) -> None:
        """Send a message. This never fails: a broken transport calls `on_lost`."""

    def mute(self, session_id: str) -> None:
        """Discard all further messages of a session, unread if possible."""

    def close(self) -> None:
        """Close the transport."""


class Session:
    """Send commands to one target, or to the browser itself, and receive its events."""

    def __init__(self, connection: "Connection", session_id: str | None) -> None:
        """Use one session of the connection; the id None means the browser itself."""
        self.id = session_id
        self._connection = connection
        self._pending: dict[int, asyncio.Future[Event]] = {}
        self._handlers: dict[str, tuple[EventHandler, ...]] = {}
        self._children: dict[str, Session] = {}
        self._parent: Session | None = None
        self._events = self._event_bytes = 0
        """Events of the current visit and their bytes, those of frames included."""
        self._make_end_error: MakeError | None = None
        """Creates the error of each command after the end of the target."""
        self.ended = asyncio.Event()
        """Set when the target no longer exists."""

    @property
    def is_alive(self) -> bool:
        """True if the target still exists."""
        return self._make_end_error is None

    def on(self, event: str, handler: EventHandler) -> None:
        """Call `handler` with the parameters of each event of this name, after its earlier handlers."""
        self._handlers[event] = (*self._handlers.get(event, ()), handler)

    def remove_handler(self, event: str, handler: EventHandler) -> None:
        """Remove one handler of an event; its other handlers remain."""
        self._handlers[event] = tuple(other for other in self._handlers.get(event, ()) if other != handler)

    def remove_handlers(self) -> None:
        """Remove all event handlers."""
        self._handlers.clear()

    def start(self, method: str, /, **params: Any) -> asyncio.Future[Event]:
        """Send a command and return the future of its answer, which fails as `send` but for TimeoutError."""
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        if self._make_end_error is not None:
            future.set_exception(self._make_end_error())
            return future
        number = next(self._connection.numbers)
        self._pending[number] = future
        self._connection.transport.send(self.id, {"id": number, "method": method, "params": params})
        return future

    async def send(self, method: str, /, *, limit_s: float = _COMMAND_LIMIT_S, **params: Any) -> Event:
        """Send a command. Raises CommandFailedError, TimeoutError, PageCrashedError or BrowserGoneError."""
        async with asyncio.timeout(limit_s):
            return await self.start(method, **params)

    def post(self, method: str, /, **params: Any) -> None:
        """Send a command and ignore its answer."""
        self.start(method, **params).add_done_callback(_ignore_failure)

    def child(self, session_id: str) -> "Session":
        """Return the session of a target attached through this one: a frame with its own process."""
        session = self._children[session_id] = self._connection.add_session(session_id)
        session._parent = self
        return session

    def begin_visit(self) -> None:
        """Reset the counts of events and bytes, which are limited for each visit."""
        self._events = self._event_bytes = 0

    def fail(self, make_error: MakeError) -> None:
        """Fail every pending and later command, each with an error of its own: the target no longer exists."""
        if self._make_end_error is not None:
            return
        self._make_end_error = make_error
        self.ended.set()
        for future in list(self._pending.values()):
            if not future.done():
                future.set_exception(make_error())
                future.add_done_callback(_ignore_failure)
        self._pending.clear()
        for child in self._children.values():
            self._connection.forget(child, make_error)

    def receive(self, message: Message, size: int = 0) -> None:
        """Handle one message of `size` bytes from the target."""
        number = message.get("id")
        if number is None:
            (self._parent or self)._count_event(size)
            self._dispatch(message["method"], message.get("params", {}))
            return
        future = self._pending.pop(number, None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(CommandFailedError(message["error"].get("message", "unknown")))
        else:
            future.set_result(message.get("result", {}))

    def _count_event(self, size: int) -> None:
        """Count an event. End the page that exceeds a limit: all pages share the time to read events."""
        self._events += 1
        self._event_bytes += size
        is_within = self._events <= MAX_EVENTS and self._event_bytes <= MAX_EVENT_BYTES
        if self.id is None or not self.is_alive or is_within:
            return
        self.post("Page.crash")
        for session in (self, *self._children.values()):
            self._connection.mute(session)
        message = "The page sent too many messages to the browser and was ended."
        self.fail(partial(errors.PageLimitError, message, limit="messages to the browser"))

    def _dispatch(self, method: str, params: Event) -> None:
        if method == "Target.detachedFromTarget":
            self._connection.on_detached(params.get("sessionId", ""))
            self._children.pop(params.get("sessionId", ""), None)
        elif method == "Inspector.targetCrashed" and self.is_alive:
            self.fail(self._connection.explain_crash())
        for handler in self._handlers.get(method, ()):
            handler(params)


class Connection:
    """Connection to one browser: create contexts and tabs, and route their messages to sessions."""

    def __init__(self, transport: CdpTransport) -> None:
        """Route messages over the transport."""
        self.closed = asyncio.Event()
        self.message_count = 0
        """Messages received from the browser and its tabs."""
        self.flat = transport.flat
        """True if targets are attached with flattening."""
        self.transport = transport
        self.browser = Session(self, None)
        self._sessions: dict[str | None, Session] = {None: self.browser}
        self._kills: deque[float] = deque()
        """Times of kills that the browser has not reported yet."""
        self.numbers = itertools.count(1)
        """Command ids, unique for this browser."""
        transport.bind(self._on_message, self.lost)

    def expect_crash(self) -> None:
        """Record that a renderer is about to be killed because of its memory. Any thread may call this."""
        self._kills.append(time.monotonic())

    def explain_crash(self) -> MakeError:
        """Return what creates the error of a renderer that died: PageLimitError if it was killed for its memory."""
        while self._kills:
            # The browser reports the end of a killed process within milliseconds.
            if time.monotonic() - self._kills.popleft() < _KILL_REPORT_S:
                return partial(errors.PageLimitError, "The page used too much memory and was ended.")
        return partial(errors.PageCrashedError, "The page's renderer died.")

    async def open_context(self, proxy_server: str) -> str:
        """Create a context behind its own proxy listener, without Chromium's bypass for loopback; return its id."""
        context = await self.browser.send(
            "Target.createBrowserContext", disposeOnDetach=True, proxyServer=proxy_server, proxyBypassList="<-loopback>"
        )
        return str(context["browserContextId"])

    async def close_context(self, context_id: str, *, limit_s: float = 2.0) -> None:
        """Close a context with all its tabs. Raises what `Session.send` raises."""
        await self.browser.send("Target.disposeBrowserContext", browserContextId=context_id, limit_s=limit_s)

    async def open_session(self, context_id: str, *, limit_s: float = 5.0) -> tuple[str, Session]:
        """Open a blank tab and return its target id, which is also its main frame's id, and its session."""
        # If Playwright sees each tab paused, it waits for the first page before it detaches.
        url = _NO_PAGE if self.flat else "about:blank"
        target = await self.browser.send("Target.createTarget", url=url, browserContextId=context_id, limit_s=limit_s)
        attached = await self.browser.send(
            "Target.attachToTarget", targetId=target["targetId"], flatten=self.flat, limit_s=limit_s
        )
        return target["targetId"], self.add_session(attached["sessionId"])

    def add_session(self, session_id: str) -> Session:
        """Create the session of an attached target."""
        session = self._sessions[session_id] = Session(self, session_id)
        return session

    def forget(self, session: Session, make_error: MakeError | None = None) -> None:
        """Remove a session and fail its commands, by default with BrowserGoneError."""
        self._sessions.pop(session.id, None)
        session.fail(make_error or partial(errors.BrowserGoneError, "The tab was closed."))

    def on_detached(self, session_id: str) -> None:
        """Handle the detachment of a session's target."""
        if session := self._sessions.get(session_id):
            self.forget(session, partial(errors.PageCrashedError, "The page's target is gone."))

    def fail_tabs(self) -> None:
        """Fail all tabs before the browser closes, so that visits report BrowserGoneError and no error of the site."""
        for session in list(self._sessions.values()):
            if session is not self.browser:
                self.forget(session, partial(errors.BrowserGoneError, "The browser was ended."))

    def lost(self) -> None:
        """Fail all pending commands, because the browser or its driver has ended."""
        if self.closed.is_set():
            return
        self.closed.set()
        make_error = partial(errors.BrowserGoneError, "The browser died.")
        for session in list(self._sessions.values()):
            session.fail(make_error)
        self._sessions.clear()

    def close(self) -> None:
        """Close the connection and fail all pending commands."""
        self.lost()
        self.transport.close()

    def mute(self, session: Session) -> None:
        """Discard all further messages of a session."""
        if session.id is not None:
            self.transport.mute(session.id)

    def _on_message(self, session_id: str | None, message: Message, size: int = 0) -> None:
        self.message_count += 1
        if session := self._sessions.get(session_id):
            session.receive(message, size)


def _ignore_failure(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
