"""The seam to a tab: commands out, events in, nothing that hangs when a renderer or a browser dies.

Transport: Playwright's public browser session. Contexts made through it are unknown to Playwright, which lets
go of their targets; attaching without flattening then gives a private session whose messages travel inside
`Target.sendMessageToTarget` (docs/decisions/001-transport.md). `Runtime.enable` is never sent: pages can see
it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from browsers import errors

__all__ = ["COMMAND_LIMIT_S", "CommandFailed", "Connection", "Event", "Handler", "Session"]

Event = dict[str, Any]
Handler = Callable[[Event], None]

COMMAND_LIMIT_S = 10.0
"""No command is waited for longer: a renderer that is busy or half dead answers none."""


class CommandFailed(Exception):
    """The browser answered a command with an error: the frame, the context or the request is gone."""


class BrowserSession(Protocol):
    """The part of Playwright's CDPSession that is used."""

    def send(self, method: str, params: dict[str, Any] | None = None) -> Awaitable[dict[str, Any]]: ...

    def on(self, event: Any, f: Any) -> Any: ...


class Session:
    """Commands to and events from one target."""

    def __init__(self, connection: Connection, session_id: str, parent: Session | None = None) -> None:
        self.id = session_id
        self._connection = connection
        self._parent = parent
        self._pending: dict[int, asyncio.Future[Event]] = {}
        self._handlers: dict[str, Handler] = {}
        self._children: dict[str, Session] = {}
        self._dead: errors.BrowsersError | None = None

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of every such event; one handler an event."""
        self._handlers[event] = handler

    def off(self) -> None:
        """Forget every handler."""
        self._handlers.clear()

    def start(self, method: str, **params: Any) -> asyncio.Future[Event]:
        """Send a command and return the future of its answer.

        The future fails with CommandFailed, PageCrashed or BrowserGone.
        """
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        if self._dead is not None:
            future.set_exception(self._dead)
            return future
        number = self._connection.next_number()
        self._pending[number] = future
        future.add_done_callback(lambda _: self._pending.pop(number, None))
        message = json.dumps({"id": number, "method": method, "params": params}, separators=(",", ":"))
        self._transmit(message)
        return future

    async def send(self, method: str, *, limit_s: float = COMMAND_LIMIT_S, **params: Any) -> Event:
        """Send a command and wait for its answer.

        Raises:
            CommandFailed: the browser refused it.
            TimeoutError: no answer within `limit_s`.
            PageCrashed, BrowserGone: nobody is left to answer.
        """
        async with asyncio.timeout(limit_s):
            return await self.start(method, **params)

    def post(self, method: str, **params: Any) -> None:
        """Send a command whose answer does not matter."""
        self.start(method, **params).add_done_callback(_ignore_failure)

    def child(self, session_id: str) -> Session:
        """The session of a target that was attached through this one (a frame in a process of its own)."""
        session = self._children[session_id] = Session(self._connection, session_id, parent=self)
        return session

    def fail(self, error: errors.BrowsersError) -> None:
        """Nobody is left behind this session: every pending and later command fails with `error`."""
        if self._dead is not None:
            return
        self._dead = error
        for future in list(self._pending.values()):
            if not future.done():
                future.set_exception(error)
                future.add_done_callback(_ignore_failure)
        for child in self._children.values():
            child.fail(error)

    def receive(self, message: str) -> None:
        """Take in one message of the target."""
        data = json.loads(message)
        number = data.get("id")
        if number is None:
            self._dispatch(data["method"], data.get("params", {}))
            return
        future = self._pending.get(number)
        if future is None or future.done():
            return
        if "error" in data:
            future.set_exception(CommandFailed(data["error"].get("message", "unknown")))
        else:
            future.set_result(data.get("result", {}))

    def _dispatch(self, method: str, params: Event) -> None:
        if method == "Target.receivedMessageFromTarget":
            child = self._children.get(params["sessionId"])
            if child is not None:
                child.receive(params["message"])
            return
        if method == "Target.detachedFromTarget":
            gone = self._children.pop(params["sessionId"], None)
            if gone is not None:
                gone.fail(errors.PageCrashed("A frame's process is gone."))
        elif method == "Inspector.targetCrashed":
            self.fail(errors.PageCrashed("The page's renderer died."))
        handler = self._handlers.get(method)
        if handler is not None:
            handler(params)

    def _transmit(self, message: str) -> None:
        if self._parent is None:
            self._connection.transmit(self, message)
        else:
            self._parent.post("Target.sendMessageToTarget", sessionId=self.id, message=message)


class Connection:
    """One browser: makes contexts and tabs, and carries their messages."""

    def __init__(self, transport: BrowserSession) -> None:
        self._transport = transport
        self._sessions: dict[str, Session] = {}
        self._sending: set[asyncio.Future[Any]] = set()
        self._number = 0
        self._gone: errors.BrowserGone | None = None
        self.closed = asyncio.Event()
        transport.on("Target.receivedMessageFromTarget", self._on_message)
        transport.on("Target.detachedFromTarget", self._on_detached)
        transport.on("close", lambda *_: self.lost())

    def next_number(self) -> int:
        """A number that no other command of this browser has."""
        self._number += 1
        return self._number

    async def call(self, method: str, *, limit_s: float = COMMAND_LIMIT_S, **params: Any) -> Event:
        """Send a command to the browser itself.

        Raises:
            CommandFailed, TimeoutError, BrowserGone
        """
        if self._gone is not None:
            raise self._gone
        try:
            async with asyncio.timeout(limit_s):
                return await self._transport.send(method, params)
        except TimeoutError:
            raise
        except Exception as error:  # Playwright's Error is not importable without loading its whole API
            raise self._translated(error) from error

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
        target = await self.call(
            "Target.createTarget", url="about:blank", browserContextId=context_id, limit_s=limit_s
        )
        attached = await self.call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=False, limit_s=limit_s
        )
        session = Session(self, attached["sessionId"])
        self._sessions[session.id] = session
        return target["targetId"], session

    def forget(self, session: Session) -> None:
        """Nothing more is wanted of this session."""
        self._sessions.pop(session.id, None)
        session.fail(errors.BrowserGone("The tab was closed."))

    def lost(self) -> None:
        """The browser or its driver is gone: everything pending fails now."""
        if self._gone is not None:
            return
        self._gone = errors.BrowserGone("The browser died.")
        for session in list(self._sessions.values()):
            session.fail(self._gone)
        self._sessions.clear()
        self.closed.set()

    def transmit(self, session: Session, message: str) -> None:
        """Carry one message to a target."""
        sent = asyncio.ensure_future(
            self._transport.send("Target.sendMessageToTarget", {"sessionId": session.id, "message": message})
        )
        self._sending.add(sent)
        sent.add_done_callback(lambda future: self._after_sending(session, future))

    def _after_sending(self, session: Session, sent: asyncio.Future[Any]) -> None:
        self._sending.discard(sent)
        if sent.cancelled():
            return
        error = sent.exception()
        if error is None:
            return
        translated = self._translated(error)
        session.fail(
            translated
            if isinstance(translated, errors.BrowsersError)
            else errors.PageCrashed("The page's target is gone.")
        )

    def _translated(self, error: BaseException) -> Exception:
        """A protocol error is an answer; anything else means that browser or driver are gone."""
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "Protocol error" in text and "closed" not in text.lower():
            return CommandFailed(text)
        self.lost()
        return self._gone or errors.BrowserGone("The browser died.")

    def _on_message(self, event: Event) -> None:
        session = self._sessions.get(event["sessionId"])
        if session is not None:
            session.receive(event["message"])

    def _on_detached(self, event: Event) -> None:
        session = self._sessions.pop(event.get("sessionId", ""), None)
        if session is not None:
            session.fail(errors.PageCrashed("The page's target is gone."))


def _ignore_failure(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
