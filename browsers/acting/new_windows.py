"""Close the windows that pages of sessions open, and check the workers that they share, before a request is sent.

`Target.setAutoAttach` of a page attaches to its frames and its own workers, but not to its windows and shared workers:
their requests would be checked by nothing. That of the browser pauses each of them before its first request, so it is
enabled only while there are sessions. It is not used in the light tier, whose tabs sometimes stay paused: there,
`--block-new-web-contents`, which only the headless shell obeys, prevents windows, and shared workers are not checked.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from browsers.cdp.session import Connection, Event, Session
from browsers.navigation.tab import Tab

OnWorker = Callable[[Session], None]
CLOSE_AFTER_S = 0.3
"""Seconds until a window is closed that sent no request. Requests that wait when it is closed would be sent."""


class NewWindowBlocker:
    """Close the new windows of some tabs of one browser, and check their shared workers."""

    def __init__(self, connection: Connection) -> None:
        """Use the connection of a browser; nothing is paused until the first `block`."""
        self._connection = connection
        self._tabs: dict[str, tuple[Tab, OnWorker]] = {}
        """Tabs by browser context. Each has a context of its own, so another page there is a window of its page."""

    @contextlib.asynccontextmanager
    async def block(self, tab: Tab, on_worker: OnWorker) -> AsyncIterator[None]:
        """Close each window that a page of this tab opens while the block runs.

        `on_worker` gets the session of each shared worker and service worker before it runs.

        Raises:
            CommandFailedError: Chromium refused the command.
            TimeoutError: Chromium did not answer.
            BrowserGoneError: The browser has ended.
        """
        self._tabs[tab.context_id] = tab, on_worker
        try:
            self._connection.on("Target.attachedToTarget", self._on_attached)
            await self._connection.call("Target.setAutoAttach", **self._parameters(pauses=True))
            yield
        finally:
            del self._tabs[tab.context_id]
            if not self._tabs:
                self._connection.post("Target.setAutoAttach", **self._parameters(pauses=False))

    def _parameters(self, *, pauses: bool) -> Event:
        return {
            "autoAttach": pauses,
            "waitForDebuggerOnStart": pauses,
            "flatten": self._connection.flat,
            "filter": [{"type": kind} for kind in ("page", "shared_worker", "service_worker")],
        }

    def _on_attached(self, event: Event) -> None:
        if not event["waitingForDebugger"]:
            return  # It exists already, or was attached by a command.
        target = event["targetInfo"]
        session = self._connection.add_session(event["sessionId"])
        tab, on_worker = self._tabs.get(target.get("browserContextId", ""), (None, None))
        if tab is None or on_worker is None or target["targetId"] == tab.frame_id:
            session.post("Runtime.runIfWaitingForDebugger")
            # Without a detachment, after which the tab might not run. Its messages concern another session.
            self._connection.mute(session)
            self._connection.forget(session)
        elif target["type"] != "page":
            on_worker(session)
            session.post("Runtime.runIfWaitingForDebugger")
        else:
            self._close(target["targetId"], session)

    def _close(self, target_id: str, session: Session) -> None:
        """Close a new window; the page that opened it waits until the window runs."""

        def close() -> None:
            self._connection.post("Target.closeTarget", targetId=target_id)

        def refuse(paused: Event) -> None:
            session.post("Fetch.failRequest", requestId=paused["requestId"], errorReason="Aborted")
            close()

        session.on("Fetch.requestPaused", refuse)
        session.post("Fetch.enable")
        session.post("Runtime.runIfWaitingForDebugger")
        asyncio.get_running_loop().call_later(CLOSE_AFTER_S, close)
