"""The wire that needs nothing of the host: messages travel inside Playwright's own browser session.

Contexts made through it are unknown to Playwright, which lets go of their targets; attaching without
flattening then gives private sessions. Each message is packed twice and passes Playwright's driver.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from browsers.cdp.session import Message


class BrowserSession(Protocol):
    """The part of Playwright's CDPSession that is used."""

    def send(self, method: str, params: dict[str, Any] | None = None) -> Awaitable[dict[str, Any]]: ...

    def on(self, event: Any, f: Any) -> Any: ...


class PlaywrightTransport:
    """Messages by `Target.sendMessageToTarget` and `Target.receivedMessageFromTarget`."""

    flat = False

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._sending: set[asyncio.Future[Any]] = set()
        self._parents: dict[str, str] = {}
        self._on_message: Callable[[str | None, Message], None] = lambda *_: None
        self._on_lost: Callable[[], None] = lambda: None

    def bind(self, on_message: Callable[[str | None, Message], None], on_lost: Callable[[], None]) -> None:
        """See Wire."""
        self._on_message = on_message
        self._on_lost = on_lost
        self._session.on("Target.receivedMessageFromTarget", self._unpack)
        self._session.on(
            "Target.detachedFromTarget",
            lambda params: on_message(None, {"method": "Target.detachedFromTarget", "params": params}),
        )
        self._session.on("close", lambda *_: self.lost())

    def send(self, session_id: str | None, message: Message) -> None:
        """See Wire."""
        if session_id is None:
            self._start(message["id"], None, message["method"], message["params"])
            return
        packed = json.dumps(message, separators=(",", ":"))
        nested = {"sessionId": session_id, "message": packed}
        parent = self._parents.get(session_id)
        if parent is None:
            self._start(message["id"], session_id, "Target.sendMessageToTarget", nested)
        else:
            # Numbers are unique across sessions, and nobody waits for this one's own answer.
            self.send(
                parent, {"id": -message["id"], "method": "Target.sendMessageToTarget", "params": nested}
            )

    def close(self) -> None:
        """See Wire: the session ends with its browser."""

    def lost(self) -> None:
        """There will be no more messages."""
        self._on_lost()

    def _start(self, number: int, session_id: str | None, method: str, params: dict[str, Any]) -> None:
        sent = asyncio.ensure_future(self._session.send(method, params))
        self._sending.add(sent)
        sent.add_done_callback(lambda future: self._after(number, session_id, future))

    def _after(self, number: int, session_id: str | None, sent: asyncio.Future[Any]) -> None:
        self._sending.discard(sent)
        if sent.cancelled():
            return
        error = sent.exception()
        if error is None:
            if session_id is None:
                self._on_message(None, {"id": number, "result": sent.result()})
            return
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "Protocol error" not in text or "closed" in text.lower():
            self.lost()
        else:
            self._on_message(session_id, {"id": number, "error": {"message": text}})

    def _unpack(self, params: dict[str, Any], parent: str | None = None) -> None:
        session_id = params["sessionId"]
        if parent is not None:
            self._parents[session_id] = parent
        message = json.loads(params["message"])
        if message.get("method") == "Target.receivedMessageFromTarget":
            self._unpack(message["params"], session_id)
            return
        if message.get("method") == "Target.attachedToTarget":
            self._parents[message["params"]["sessionId"]] = session_id
        self._on_message(session_id, message)
