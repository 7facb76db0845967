"""Close the windows that pages of sessions open, before a request of them is sent.

`Target.setAutoAttach` of a page attaches to its frames, but not to its windows: their requests would be checked by
nothing. That of the browser pauses each new tab before its first request, so it is enabled only while there are
sessions. The light tier needs none of this: `--block-new-web-contents`, which only the headless shell obeys, prevents
all windows.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from browsers.cdp.session import Connection, Event
from browsers.errors import BrowsersError
from browsers.navigation.tab import Tab

CLOSE_AFTER_S = 0.3
"""Seconds until a window is closed that sent no request. Requests that wait when it is closed would be sent."""


class NewWindowBlocker:
    """Close the new windows of some tabs of one browser."""

    def __init__(self, connection: Connection) -> None:
        """Use the connection of a browser; nothing is paused until the first `block`."""
        self._connection = connection
        self._tabs: dict[str, Tab] = {}
        """Tabs by browser context. Each has a context of its own, so another target there is a window of its page."""

    @contextlib.asynccontextmanager
    async def block(self, tab: Tab) -> AsyncIterator[None]:
        """Close each window that a page of this tab opens while the block runs.

        Raises:
            CommandFailedError: Chromium refused the command.
            TimeoutError: Chromium did not answer.
            BrowserGoneError: The browser has ended.
        """
        self._tabs[tab.context_id] = tab
        try:
            self._connection.on("Target.attachedToTarget", self._on_attached)
            await self._connection.call("Target.setAutoAttach", **self._parameters(pauses=True))
            yield
        finally:
            del self._tabs[tab.context_id]
            if not self._tabs:
                with contextlib.suppress(BrowsersError):
                    self._connection.post("Target.setAutoAttach", **self._parameters(pauses=False))

    def _parameters(self, *, pauses: bool) -> Event:
        only_tabs = [{"type": "page"}]
        return {
            "autoAttach": pauses,
            "waitForDebuggerOnStart": pauses,
            "flatten": self._connection.flat,
            "filter": only_tabs,
        }

    def _on_attached(self, event: Event) -> None:
        """Close a new window, or let the new tab of a visit run."""
        if not event["waitingForDebugger"]:
            return  # A tab that exists already, or was attached by a command.
        target = event["targetInfo"]
        session = self._connection.add_session(event["sessionId"])
        tab = self._tabs.get(target.get("browserContextId", ""))
        if tab is None or target["targetId"] == tab.frame_id:
            session.post("Runtime.runIfWaitingForDebugger")
            # Without a detachment, after which the tab might not run. Its messages concern another session.
            self._connection.mute(session)
            self._connection.forget(session)
            return

        def close() -> None:
            self._connection.post("Target.closeTarget", targetId=target["targetId"])

        def refuse(paused: Event) -> None:
            session.post("Fetch.failRequest", requestId=paused["requestId"], errorReason="Aborted")
            close()

        session.on("Fetch.requestPaused", refuse)
        session.post("Fetch.enable")
        # The page that opened the window waits until the window runs.
        session.post("Runtime.runIfWaitingForDebugger")
        asyncio.get_running_loop().call_later(CLOSE_AFTER_S, close)
