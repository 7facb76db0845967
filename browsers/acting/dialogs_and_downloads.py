"""Answer dialogs, refuse file choosers and new windows, check the workers that pages share, and take downloads.

`Target.setAutoAttach` of a page attaches to its frames and its own workers, but not to its windows and shared workers:
their requests would be checked by nothing. The same command for the whole browser pauses each of them before its first
request, so it is enabled only while there are sessions. It is not used in the light tier, whose tabs sometimes stay
paused: there, `--block-new-web-contents`, which only the headless shell obeys, prevents windows, and shared workers are
not checked.
"""

import asyncio
import contextlib
import mimetypes
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from browsers.cdp.session import Connection, Event, Session
from browsers.navigation.tab import Tab
from browsers.text_quoting import clean_text, quote, truncate

_MAX_DIALOGS = 10
"""Dialogs of one step. The script of a page with more dialogs is ended."""
_MAX_NOTICES = 12
"""Sentences stored between two reports; further ones are dropped."""
_MAX_URL = 160
_MAX_MESSAGE = 200
_MAX_ANSWER = 80
OnWorker = Callable[[Session], None]
_CLOSE_AFTER_S = 0.3
"""Seconds until a window is closed that sent no request. Requests that wait when it is closed would be sent."""
_PAGE_SCHEMES = frozenset({"http", "https", "about", "blob", "data", "file", "javascript"})
_ACCEPTED = frozenset({"alert", "beforeunload"})


class PopupHandler:
    """Answer dialogs, by default `alert` and `beforeunload` only, refuse file choosers, and report refused windows."""

    def __init__(self) -> None:
        """Start without notices; `watch` handles the events of a page."""
        self.popup_url = ""
        """URL of the last window that the page tried to open in this step."""
        self.popups = 0
        self.accepts_dialogs = False
        """True if the last step that acted accepts `confirm` and `prompt` dialogs, which may come later."""
        self.answer = ""
        """Answer of the last step to `prompt` dialogs; empty to take the proposed one."""
        self.expects_file = False
        """True while a step has a file for the page."""
        self.file_field: tuple[Session, int] | None = None
        """Session and node id of the field for which the page asked for a file in this step."""
        self._notices: list[str] = []
        self._dialogs = 0

    def watch(self, session: Session) -> None:
        """Handle the events of one session: that of the page, or of a frame in another process."""
        session.on("Page.javascriptDialogOpening", lambda event: self._on_dialog(session, event))
        session.on("Page.fileChooserOpened", lambda event: self._on_chooser(session, event))
        session.post("Page.setInterceptFileChooserDialog", enabled=True)
        session.on("Page.windowOpen", self._on_window)
        session.on("Page.frameScheduledNavigation", self._on_navigation)

    def begin_step(self, *, acts: bool) -> None:
        """Reset the state of the last step. Its answer to dialogs holds until a step acts."""
        if acts:
            self.accepts_dialogs, self.answer = False, ""
        self.popup_url, self.popups = "", 0
        self.expects_file, self.file_field = False, None
        self._dialogs = 0

    def notice(self, sentence: str) -> None:
        """Store a sentence for the next report, unless it is stored already or there are `_MAX_NOTICES`."""
        if sentence not in self._notices and len(self._notices) < _MAX_NOTICES:
            self._notices.append(sentence)

    def take_notices(self) -> tuple[str, ...]:
        """Return the sentences stored since the last call, and clear them."""
        notices, self._notices = tuple(self._notices), []
        return notices

    def take_window(self) -> str:
        """Return the URL of the new window for loading it in this tab, and drop its notice."""
        url, self.popup_url = self.popup_url, ""
        sentence = _window_notice(url)
        self._notices = [notice for notice in self._notices if notice != sentence]
        return url

    def _on_dialog(self, session: Session, event: Event) -> None:
        kind = str(event["type"])
        accepted = kind in _ACCEPTED or self.accepts_dialogs
        answer = (self.answer or str(event.get("defaultPrompt", ""))) if kind == "prompt" and accepted else ""
        session.post("Page.handleJavaScriptDialog", accept=accepted, promptText=answer)
        message = quote(truncate(clean_text(str(event.get("message", ""))), _MAX_MESSAGE))
        with_answer = f" with {quote(truncate(clean_text(answer), _MAX_ANSWER))}" if answer else ""
        self.notice(f"{kind} dialog {message} was {'accepted' if accepted else 'dismissed'}{with_answer}")
        self._dialogs += 1
        if self._dialogs > _MAX_DIALOGS:
            session.post("Runtime.terminateExecution")
            self.notice(f"more than {_MAX_DIALOGS} dialogs: the page's script was ended")

    def _on_chooser(self, session: Session, event: Event) -> None:
        if (node := event.get("backendNodeId")) is not None:
            self.file_field = session, node
        if not self.expects_file:
            self.notice("refused: the page asked for a file; upload gives it one")

    def _on_window(self, event: Event) -> None:
        self.popup_url, self.popups = str(event["url"]), self.popups + 1
        self.notice(_window_notice(self.popup_url))

    def _on_navigation(self, event: Event) -> None:
        """Report a link for a program of the machine, which `acting.js` does not open."""
        url = str(event["url"])
        if urlsplit(url).scheme not in _PAGE_SCHEMES:
            self.notice(f"refused: a link for another program, {quote(truncate(clean_text(url), _MAX_URL))}")


def _window_notice(url: str) -> str:
    return f"refused: a new window of {quote(truncate(clean_text(url), _MAX_URL))}"


class NewWindowBlocker:
    """Close the new windows of some tabs of one browser, and check their shared workers."""

    def __init__(self, connection: Connection) -> None:
        """Use the connection of a browser, once for each browser; nothing is paused until the first `block`."""
        self._connection = connection
        self._tabs: dict[str, tuple[Tab, OnWorker]] = {}
        """Tabs by browser context. Each has a context of its own, so another page there is a window of its page."""
        # As long as the browser runs: a tab that is opened while the last block ends is paused, too.
        connection.browser.on("Target.attachedToTarget", self._on_attached)

    @contextlib.asynccontextmanager
    async def block(self, tab: Tab, on_worker: OnWorker) -> AsyncIterator[None]:
        """Close each window that a page of this tab opens while the block runs.

        `on_worker` gets the session of each shared worker and service worker before it runs. Raises CommandFailedError
        if Chromium refused the command, TimeoutError if Chromium did not answer, and BrowserGoneError if the browser
        has ended.
        """
        self._tabs[tab.context_id] = tab, on_worker
        try:
            await self._connection.browser.send("Target.setAutoAttach", **self._parameters(pauses=True))
            yield
        finally:
            del self._tabs[tab.context_id]
            if not self._tabs:
                self._connection.browser.post("Target.setAutoAttach", **self._parameters(pauses=False))

    def _parameters(self, *, pauses: bool) -> Event:
        kinds = [{"type": kind} for kind in ("page", "shared_worker", "service_worker")]
        states = {"autoAttach": pauses, "waitForDebuggerOnStart": pauses}
        return {**states, "flatten": self._connection.flat, "filter": kinds}

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
        close = partial(self._connection.browser.post, "Target.closeTarget", targetId=target_id)

        def refuse(paused: Event) -> None:
            session.post("Fetch.failRequest", requestId=paused["requestId"], errorReason="Aborted")
            close()

        session.on("Fetch.requestPaused", refuse)
        session.post("Fetch.enable")
        session.post("Runtime.runIfWaitingForDebugger")
        asyncio.get_running_loop().call_later(_CLOSE_AFTER_S, close)


_MAX_FILES = 3
"""Files of one step. Further ones are refused."""
_MAX_BYTES = 10_000_000
"""Bytes of one file."""
_WAIT_S = 3.0
"""Seconds for which a step waits for the ends of its downloads."""
_MAX_NAME = 80
_RUNNING = "inProgress"


@dataclass(frozen=True, slots=True)
class DownloadedFile:
    """A file that a page downloaded."""

    data: bytes = field(repr=False)
    media_type: str


class Downloads:
    """Downloads of one tab. Chromium writes them to a folder of their own, from which each is taken and deleted."""

    def __init__(self, tab: Tab, notice: Callable[[str], None]) -> None:
        """Report by `notice`. Call `accept` first; `watch` handles the events of the page and its frames."""
        self._tab = tab
        self._notice = notice
        self._folder = Path()
        self._names: dict[str, str] = {}
        """Quoted names of the files of this step, by their ids, which are their names in the folder."""
        self._states: dict[str, str] = {}
        self._changed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def accept(self, parent: Path) -> AsyncIterator[None]:
        """Accept downloads to a new folder in `parent` during the block. Raises CommandFailedError or TimeoutError."""
        self._folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=parent))
        behavior: Event = {"behavior": "allowAndName", "downloadPath": str(self._folder)}
        try:
            context_id = self._tab.context_id
            await self._tab.connection.browser.send(
                "Browser.setDownloadBehavior", browserContextId=context_id, **behavior
            )
            yield
        finally:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def watch(self, session: Session) -> None:
        """Handle the downloads of one session: that of the page, or of a frame in another process."""
        session.on("Page.downloadWillBegin", self._on_begin)
        session.on("Page.downloadProgress", self._on_progress)

    def begin_step(self) -> None:
        """Forget the downloads of the last step, and cancel those that still run."""
        for identifier in self._running():
            self._cancel(identifier)
        self._names.clear()
        self._states.clear()
        self._changed.clear()

    async def has_begun(self, limit_s: float) -> bool:
        """Return True if a download begins in this step within `limit_s`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), limit_s)
        return bool(self._names)

    async def take(self) -> tuple[DownloadedFile, ...]:
        """Wait for the downloads of this step, and return and report those that are complete."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAIT_S):
                while self._running():
                    self._changed.clear()
                    await self._changed.wait()
        files = []
        for identifier, name in self._names.items():
            if self._states[identifier] == "completed":
                path = self._folder / Path(identifier).name
                data = await asyncio.to_thread(path.read_bytes)
                await asyncio.to_thread(path.unlink)
                kind = mimetypes.guess_type(name[1:-1])[0] or "application/octet-stream"
                files.append(DownloadedFile(data, kind))
                self._notice(f"download {name} ({len(data):,} bytes)")
            elif self._states[identifier] == _RUNNING:
                self._notice(f"a download of {name} did not end within {_WAIT_S:.0f} s")
        return tuple(files)

    def _running(self) -> list[str]:
        return [identifier for identifier, state in self._states.items() if state == _RUNNING]

    def _on_begin(self, event: Event) -> None:
        identifier = str(event["guid"])
        if identifier in self._names:
            return
        name = quote(truncate(clean_text(str(event.get("suggestedFilename", ""))), _MAX_NAME))
        if len(self._names) < _MAX_FILES:
            self._names[identifier], self._states[identifier] = name, _RUNNING
            self._changed.set()
        else:
            self._cancel(identifier)
            self._notice(f"refused: a download of {name}, after {_MAX_FILES} of this step")

    def _on_progress(self, event: Event) -> None:
        identifier = event["guid"]
        if self._states.get(identifier) != _RUNNING:
            return
        self._states[identifier] = event["state"]
        if max(event["receivedBytes"], event["totalBytes"]) > _MAX_BYTES:
            self._cancel(identifier)
            self._states[identifier] = "canceled"
            self._notice(f"refused: a download of {self._names[identifier]}, over {_MAX_BYTES:,} bytes")
        self._changed.set()

    def _cancel(self, identifier: str) -> None:
        self._tab.connection.browser.post(
            "Browser.cancelDownload", guid=identifier, browserContextId=self._tab.context_id
        )
