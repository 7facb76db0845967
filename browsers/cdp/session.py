"""The seam to a tab: commands out, events in, nothing that hangs when a renderer or a browser dies.

What carries the messages is a `CdpTransport`, of which there are two (docs/decisions/001-transport.md).
`Runtime.enable` is never sent: pages can see it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from browsers import errors

Event = dict[str, Any]
Message = dict[str, Any]
Handler = Callable[[Event], None]

COMMAND_LIMIT_S = 10.0
"""No command is waited for longer: a renderer that is busy or half dead answers none."""

NO_PAGE = "javascript:"
"""What a tab is opened with: an empty script, run in the empty document that every tab begins with.

`about:blank` would be a page, let in as any other; the next one then needs a frame of its own, and the tab
has a history of two. The first page of a tab takes over the empty document's frame with all that was done to
it, so nothing is (decision 005).
"""


class CommandFailedError(Exception):
    """The browser answered a command with an error: the frame, the context or the request is gone."""


class CdpTransport(Protocol):
    """Carries messages between a Connection and a browser.

    A session id of None is the browser itself.
    """

    flat: bool
    """Whether messages of a target carry its session id, or travel inside messages of the browser."""

    def bind(self, on_message: Callable[[str | None, Message], None], on_lost: Callable[[], None]) -> None:
        """Where messages go, and whom to tell when there will be no more."""

    def send(self, session_id: str | None, message: Message) -> None:
        """Send; never fails: a wire that broke says so through `on_lost`."""

    def close(self) -> None:
        """Let go of whatever carries the messages."""


class Session:
    """Commands to and events from one target, or from the browser itself."""

    def __init__(self, connection: Connection, session_id: str | None) -> None:
        self.id = session_id
        self._connection = connection
        self._pending: dict[int, asyncio.Future[Event]] = {}
        self._handlers: dict[str, Handler] = {}
        self._children: dict[str, Session] = {}
        self._dead: errors.BrowsersError | None = None
        self.ended = asyncio.Event()
        """Set when nobody is left to answer."""

    @property
    def alive(self) -> bool:
        """Whether anybody is left to answer."""
        return self._dead is None

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of every such event; one handler an event."""
        self._handlers[event] = handler

    def off(self) -> None:
        """Forget every handler."""
        self._handlers.clear()

    def start(self, method: str, /, **params: Any) -> asyncio.Future[Event]:
        """Send a command and return the future of its answer.

        The future fails with CommandFailed, PageCrashed or BrowserGone.
        """
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        if self._dead is not None:
            future.set_exception(self._dead)
            return future
        number = self._connection.next_number()
        self._pending[number] = future
        self._connection.transmit(self, {"id": number, "method": method, "params": params})
        return future

    async def send(self, method: str, /, *, limit_s: float = COMMAND_LIMIT_S, **params: Any) -> Event:
        """Send a command and wait for its answer.

        Raises:
            CommandFailed: the browser refused it.
            TimeoutError: no answer within `limit_s`.
            PageCrashed, BrowserGone: nobody is left to answer.
        """
        async with asyncio.timeout(limit_s):
            return await self.start(method, **params)

    def post(self, method: str, /, **params: Any) -> None:
        """Send a command whose answer does not matter."""
        self.start(method, **params).add_done_callback(_ignore_failure)

    def child(self, session_id: str) -> Session:
        """The session of a target that was attached through this one (a frame in a process of its own)."""
        session = self._children[session_id] = self._connection.adopt(session_id)
        return session

    def fail(self, error: errors.BrowsersError) -> None:
        """Nobody is left behind this session: every pending and later command fails with `error`."""
        if self._dead is not None:
            return
        self._dead = error
        self.ended.set()
        for future in list(self._pending.values()):
            if not future.done():
                future.set_exception(error)
                future.add_done_callback(_ignore_failure)
        self._pending.clear()
        for child in self._children.values():
            self._connection.forget(child, error)

    def receive(self, message: Message) -> None:
        """Take in one message of the target."""
        number = message.get("id")
        if number is None:
            self._dispatch(message["method"], message.get("params", {}))
            return
        future = self._pending.pop(number, None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(CommandFailedError(message["error"].get("message", "unknown")))
        else:
            future.set_result(message.get("result", {}))

    def _dispatch(self, method: str, params: Event) -> None:
        if method == "Target.detachedFromTarget":
            self._connection.detached(params.get("sessionId", ""))
        elif method == "Inspector.targetCrashed":
            self.fail(errors.PageCrashedError("The page's renderer died."))
        handler = self._handlers.get(method)
        if handler is not None:
            handler(params)


class Connection:
    """One browser: makes contexts and tabs, and tells their messages apart."""

    def __init__(self, wire: CdpTransport) -> None:
        self.closed = asyncio.Event()
        self.heard = 0
        """Messages of the browser and its tabs so far."""
        self._wire = wire
        self._browser = Session(self, None)
        self._sessions: dict[str | None, Session] = {None: self._browser}
        self._number = 0
        wire.bind(self._on_message, self.lost)

    def next_number(self) -> int:
        """A number that no other command of this browser has."""
        self._number += 1
        return self._number

    async def call(self, method: str, /, *, limit_s: float = COMMAND_LIMIT_S, **params: Any) -> Event:
        """Send a command to the browser itself.

        Raises:
            CommandFailed, TimeoutError, BrowserGone
        """
        return await self._browser.send(method, limit_s=limit_s, **params)

    def ask(self) -> None:
        """Make a living browser say something."""
        self._browser.post("Browser.getVersion")

    async def open_context(self, proxy_server: str) -> str:
        """A fresh, private browser context behind its own gate.

        `<-loopback>` takes back Chromium's rule that loopback goes past the proxy.
        """
        made = await self.call(
            "Target.createBrowserContext",
            disposeOnDetach=True,
            proxyServer=proxy_server,
            proxyBypassList="<-loopback>",
        )
        return str(made["browserContextId"])

    async def close_context(self, context_id: str, *, limit_s: float = 2.0) -> None:
        """Dispose of a context with all its tabs."""
        await self.call("Target.disposeBrowserContext", browserContextId=context_id, limit_s=limit_s)

    async def open_session(self, context_id: str, *, limit_s: float = 5.0) -> tuple[str, Session]:
        """A blank tab in the context: its target (which is also its main frame's id) and its session."""
        # Where Playwright is shown each tab, halted, it waits for the first page before it lets go.
        url = NO_PAGE if self.flat else "about:blank"
        target = await self.call("Target.createTarget", url=url, browserContextId=context_id, limit_s=limit_s)
        attached = await self.call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=self._wire.flat, limit_s=limit_s
        )
        return target["targetId"], self.adopt(attached["sessionId"])

    @property
    def flat(self) -> bool:
        """How targets are to be attached on this wire."""
        return self._wire.flat

    def adopt(self, session_id: str) -> Session:
        """Take messages of that session in."""
        session = self._sessions[session_id] = Session(self, session_id)
        return session

    def forget(self, session: Session, error: errors.BrowsersError | None = None) -> None:
        """Nothing more is wanted of this session."""
        self._sessions.pop(session.id, None)
        session.fail(error or errors.BrowserGoneError("The tab was closed."))

    def detached(self, session_id: str) -> None:
        """The browser let go of a session's target."""
        session = self._sessions.get(session_id)
        if session is not None:
            self.forget(session, errors.PageCrashedError("The page's target is gone."))

    def end_tabs(self) -> None:
        """The browser is about to be ended: who waits for a tab of it is told so, not that a site failed."""
        for session in list(self._sessions.values()):
            if session is not self._browser:
                self.forget(session, errors.BrowserGoneError("The browser was ended."))

    def lost(self) -> None:
        """The browser or its driver is gone: everything pending fails now."""
        if self.closed.is_set():
            return
        self.closed.set()
        gone = errors.BrowserGoneError("The browser died.")
        for session in list(self._sessions.values()):
            session.fail(gone)
        self._sessions.clear()

    def close(self) -> None:
        """The end, wanted: what is pending fails, and the wire is let go."""
        self.lost()
        self._wire.close()

    def transmit(self, session: Session, message: Message) -> None:
        """Carry one message to a target."""
        self._wire.send(session.id, message)

    def _on_message(self, session_id: str | None, message: Message) -> None:
        self.heard += 1
        session = self._sessions.get(session_id)
        if session is not None:
            session.receive(message)


def _ignore_failure(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
