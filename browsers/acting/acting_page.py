"""Control the page of a session: load URLs, wait until it is idle, and take its outline."""

from __future__ import annotations

import asyncio
import contextlib
import time
from html import escape
from urllib.parse import urlsplit

from browsers import errors
from browsers.acting.dom_snapshot import STYLES, ProcessSnapshot
from browsers.acting.element_objects import ElementGoneError
from browsers.acting.element_scripts import HIDE_FROM_PICTURE, SHOW_AGAIN
from browsers.acting.elements import PageElement
from browsers.acting.frame_processes import FrameProcess, FrameProcesses
from browsers.acting.input import InputDevices
from browsers.acting.login_restorer import LoginRestorer, asks_to_sign_in
from browsers.acting.outline import Outline, OutlineLine, build_outline
from browsers.acting.popups import PopupHandler
from browsers.acting.request_guard import ActingMode, AskUser, RequestGuard
from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import BrowsersError, PageCrashedError
from browsers.login_state import REDACTED, Login
from browsers.model import Screenshot, ScreenshotRequest, ThirdParties
from browsers.navigation.consent import refuse_consent
from browsers.navigation.error_mapping import map_net_error
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness import ISOLATED_WORLD, ReadinessWaiter
from browsers.navigation.screenshot import WINDOW_HEIGHT, WINDOW_WIDTH, take_screenshots, window_metrics
from browsers.navigation.tab import Tab
from browsers.scripts import ACTING_PAGES, READINESS_PROBE
from browsers.text_quoting import clean_text, quote

MAX_TRAFFIC_BYTES = 256 * 1024 * 1024
"""Network bytes of one session, in each direction."""
SNAPSHOT_LIMIT_S = 15.0
"""Seconds for the DOM snapshot of one process."""
SETTLE_S = 3.0
"""Seconds until a page that is still busy after a step is used as it is."""
OPEN_SETTLE_S = 8.0
"""Seconds, as `SETTLE_S`, after a document was loaded."""
QUIET_S, QUIET_WITH_DATA_S = 0.08, 0.15
"""Seconds without activity before a page is idle; the second value applies if it fetches data."""
_PREPARE_LIMIT_S = 5.0
RECENT_S = 0.1
"""Seconds for which an outline is used to find the target of the next step."""
STILL_S = 0.05
"""Seconds between two outlines with an element in one place, after which it counts as still: three frames."""
_MAX_HOSTS = 3
_UNAUTHORIZED = 401

_PERMISSIONS = ("notifications", "geolocation", "camera", "microphone", "clipboard-read")
"""Permissions for which the full browser asks. The question would stay open, so they are denied."""

Window = tuple[int, int]
WINDOW_SIZE: Window = (WINDOW_WIDTH, WINDOW_HEIGHT)


class ActingPage:
    """One tab that is used over several steps."""

    def __init__(self, tab: Tab, mode: ActingMode, login: Login | None = None, ask: AskUser | None = None) -> None:
        """Use a blank tab, signed in with `login`. Call `prepare` before anything else.

        `ask` asks the person before the first write on a site.
        """
        self.dialogs = PopupHandler()
        self.guard = RequestGuard(mode, self.notice)
        self.guard.ask = ask
        self.devices = InputDevices(tab.session)
        self.outline: Outline | None = None
        """Latest outline of the current document."""
        self.has_new_document = False
        """True if the main document changed since the last outline that was shown."""
        self.status = 0
        self._tab = tab
        self._login = None if login is None else LoginRestorer(tab, login.state)
        self._session = tab.session
        self._known: dict[str, OutlineLine] = {}
        """Line of every reference that an outline of the current document contained."""
        self._looked_at = self._outlined_at = 0.0
        self._secrets: frozenset[str] = frozenset()
        self._secret_values: frozenset[str] = frozenset()
        """Values of fields for passwords, cards and codes of all documents."""
        self._had_banner_check = False
        self._pending_document = ""
        """Id of the request for a new main document that has no response yet."""
        self._readiness = ReadinessWaiter(tab.session, NetworkActivity(tab.session), tab.frame_id, keeps_real_time=True)
        self.processes = FrameProcesses(
            tab.session, tab.frame_id, flat=tab.connection.flat, on_frame=self._on_frame, on_worker=self.guard.watch
        )

    @property
    def is_alive(self) -> bool:
        """True if the renderer of the page and its browser are running."""
        return self._session.is_alive

    @property
    def has_recent_outline(self) -> bool:
        """True if the latest outline is of the current document, and was finished moments ago."""
        age_s = time.monotonic() - self._outlined_at
        return self.outline is not None and not self.has_new_document and age_s < RECENT_S

    @property
    def url(self) -> str:
        """URL of the document in the latest outline."""
        return self.outline.facts.url if self.outline is not None else ""

    async def prepare(self) -> None:
        """Enable the CDP domains of a session, and watch requests, dialogs and frames.

        Raises:
            CommandFailedError: Chromium refused a command.
            TimeoutError: Chromium did not answer in time.
        """
        session, connection = self._session, self._tab.connection
        session.on("Page.frameNavigated", self._on_navigated)
        session.on("Page.domContentEventFired", lambda _: self._readiness.on_dom_ready())
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.responseReceived", self._on_response)
        session.on("Network.loadingFailed", self._on_failed)
        self.guard.watch(session, self._tab.frame_id)
        self.dialogs.watch(session)
        self._tab.listener.begin_visit(MAX_TRAFFIC_BYTES)
        commands = [
            session.start("Network.enable", maxPostDataSize=0),
            session.start("Network.setBypassServiceWorker", bypass=True),
            session.start("Page.addScriptToEvaluateOnNewDocument", source=READINESS_PROBE, worldName=ISOLATED_WORLD),
            session.start("Page.addScriptToEvaluateOnNewDocument", source=ACTING_PAGES),
            session.start("Emulation.setDeviceMetricsOverride", **window_metrics()),
            # Without authenticators. The dialog for a passkey would take all later clicks.
            session.start("WebAuthn.enable"),
            # Otherwise a window in the background paints no frames.
            session.start("Emulation.setFocusEmulationEnabled", enabled=True),
        ]
        if not self._tab.sends_page_events:
            commands.append(session.start("Page.enable"))
        self.processes.attach()
        async with asyncio.timeout(_PREPARE_LIMIT_S):
            context = self._tab.context_id
            for name in _PERMISSIONS:
                denied: Event = {"permission": {"name": name}, "setting": "denied", "browserContextId": context}
                commands.append(asyncio.ensure_future(connection.call("Browser.setPermission", **denied)))
            await asyncio.gather(
                *commands, connection.call("Browser.setDownloadBehavior", behavior="deny", browserContextId=context)
            )
            if self._login is not None:
                await self._login.restore()

    async def rest(self) -> None:
        """Freeze scripts and pause network traffic until `wake` is called.

        A document that a step requested and that has no response yet continues to load: a pause would break it.
        """
        if self._pending_document:
            return
        self._tab.listener.pause()
        with contextlib.suppress(CommandFailedError, TimeoutError, BrowsersError):
            await self._session.send("Page.setWebLifecycleState", state="frozen", limit_s=1.0)

    async def wake(self) -> None:
        """Resume scripts and network traffic."""
        self._session.begin_visit()
        self._tab.listener.resume()
        with contextlib.suppress(CommandFailedError, TimeoutError, BrowsersError):
            await self._session.send("Page.setWebLifecycleState", state="active", limit_s=1.0)

    def notice(self, sentence: str) -> None:
        """Store a sentence for the next report, unless it is stored already or there are too many."""
        self.dialogs.notice(sentence)

    def take_notices(self) -> tuple[str, ...]:
        """Return the sentences stored since the last call, and clear them."""
        if hosts := list(self.guard.refused_frames):
            more = f" and {len(hosts) - _MAX_HOSTS} more" if len(hosts) > _MAX_HOSTS else ""
            self.notice(f"not loaded: frames of {', '.join(hosts[:_MAX_HOSTS])}{more}, no hosts of this session")
            self.guard.refused_frames.clear()
        return self.dialogs.take_notices()

    def begin_step(self, step: str, *, acts: bool) -> None:
        """Reset the state of the last step.

        `acts` is True if the step may cause requests of the page.
        """
        self.guard.begin_step()
        self.guard.step = step
        self.guard.is_touched |= acts
        self.dialogs.begin_step()

    async def open(self, url: str, *, limit_s: float) -> None:
        """Load a URL.

        Raises:
            BrowsersError: It cannot be loaded; the message has the reason.
        """
        self._tab.listener.filter_third_parties(ThirdParties.NO_TRACKERS, (urlsplit(url).hostname or "",))
        traffic = self._tab.listener.traffic
        try:
            answer = await self._session.send("Page.navigate", url=url, limit_s=limit_s)
        except TimeoutError:
            self._session.post("Page.stopLoading")
            raise errors.DeadlineExceededError(f"{url} did not answer within {limit_s:.0f} s.", url=url) from None
        if reason := answer.get("errorText"):
            if self.guard.refused_hosts:
                host = self.guard.refused_hosts[-1]
                raise errors.RefusedError(
                    f"{url} leads to {host}, which is no host of this session.",
                    url=url,
                    next_step="Open its URL if you want to go there.",
                )
            raise map_net_error(reason, url, url, traffic)
        await self.settle(min(OPEN_SETTLE_S, limit_s))

    async def has_expired_login(self) -> bool:
        """Return True if the session has a login and the site no longer accepts it.

        Signs are status 401, the loss of all session cookies, or one visible password field that is not for a new
        password.
        """
        if self._login is None:
            return False
        outline = self.outline or await self.look()
        return self.status == _UNAUTHORIZED or asks_to_sign_in(outline.root) or await self._login.has_lost_session()

    async def back(self) -> bool:
        """Go back to the previous page; return False if there is none."""
        history = await self._session.send("Page.getNavigationHistory")
        at = history["currentIndex"]
        if at < 1 or history["entries"][at - 1]["url"] in ("about:blank", "javascript:", ""):
            return False
        await self._session.send("Page.navigateToHistoryEntry", entryId=history["entries"][at - 1]["id"])
        await self.settle(OPEN_SETTLE_S)
        return True

    async def settle(self, limit_s: float = SETTLE_S) -> None:
        """Wait until the page is idle after a step, then refuse the consent banner of a new document."""
        await asyncio.sleep(0.02)
        self._readiness.restart()
        await self._readiness.wait_until_ready(
            limit_s, may_be_thin=False, may_skip=False, quiet_s=QUIET_S, quiet_with_data_s=QUIET_WITH_DATA_S
        )
        if not self._had_banner_check:
            await self.refuse_banners()

    async def refuse_banners(self) -> bool:
        """Refuse the consent banners that are on the page now, and report them. Return True if there was one."""
        self._had_banner_check = True
        _, *frames = self.processes.all()
        sessions = {frame.frame_id: frame.session for frame in frames}
        done = await refuse_consent(self._session, sessions, tuple(self.guard.unloaded))
        for sentence in done:
            self.notice(sentence)
        return bool(done)

    async def look(self) -> Outline:
        """Take snapshots of all processes of the page and return its current outline.

        Raises:
            CommandFailedError: Chromium refused the snapshot of the main process.
            PageCrashedError: The main process has ended.
            TimeoutError: A process did not answer within `SNAPSHOT_LIMIT_S`.
        """
        processes = self.processes.all()
        main = await self._capture(processes[0])
        assert main is not None
        captured = [ProcessSnapshot(main)]
        for process in processes[1:]:
            raw, owner = await asyncio.gather(self._capture(process), self.processes.owner(process))
            if raw is not None and owner is not None and process.parent is not None:
                captured.append(ProcessSnapshot(raw, process.prefix, f"{process.parent.prefix}e{owner}"))
        looked_at = time.monotonic()
        outline = await asyncio.to_thread(build_outline, captured, WINDOW_SIZE, self._secrets, self._secret_values)
        self._secrets, self._secret_values = outline.secrets, outline.secret_values
        self._looked_at = looked_at
        for line in outline.lines:
            for piece in line.pieces or (line,):
                before = self._known.get(piece.ref)
                piece.since = before.since if before is not None and before.box == piece.box else looked_at
                self._known[piece.ref] = piece
        self.outline = outline
        self._outlined_at = time.monotonic()
        return outline

    def find(self, ref: str) -> OutlineLine | None:
        """Return the line of a reference, or None if no outline of this document contained it."""
        return self._known.get(ref)

    def element(self, ref: str, label: str = "") -> PageElement:
        """Return the element of a reference; error messages call it `label`.

        Raises:
            ElementGoneError: No outline of this document contained it, or the process of its frame has ended.
        """
        prefix, _, node_id = ref.rpartition("e")
        process = self.processes.by_prefix(prefix)
        line = self._known.get(ref)
        if process is None or line is None:
            raise ElementGoneError(f"{label or ref} is gone")
        return PageElement(
            self.processes,
            process,
            self.devices,
            WINDOW_SIZE,
            node_id=int(node_id),
            frame_id=line.frame_id,
            label=label or ref,
            place=line.box[:2] if line.box is not None and self._looked_at - line.since >= STILL_S else None,
        )

    async def evaluate(self, expression: str, *, limit_s: float = 2.0) -> object:
        """Evaluate a JavaScript expression in an isolated world of the main frame and return its value.

        Raises:
            TimeoutError: The page does not answer within `limit_s`.
            CommandFailedError: The page is between two documents.
        """
        return await self._readiness.evaluate(expression, limit_s=limit_s)

    async def take_pictures(self, request: ScreenshotRequest) -> tuple[Screenshot, ...]:
        """Return the pictures of the page as it is now, without fields for passwords, cards and codes.

        Raises as `take_screenshots` and `look`.
        """
        await self.look()
        fields = [self.element(ref) for ref in sorted(self._secrets) if self.find(ref) is not None]
        hidden = [field for field in fields if await self._call(field, HIDE_FROM_PICTURE)]
        try:
            return await take_screenshots(self._session, self._readiness, request)
        finally:
            for field in hidden:
                await self._call(field, SHOW_AGAIN)

    def is_secret(self, ref: str) -> bool:
        """Return True for a field whose value is never shown in an outline, such as a password."""
        return ref in self._secrets

    def redact(self, text: str) -> str:
        """Return a text or HTML without the values of fields for passwords, cards and codes."""
        for value in self._secret_values:
            for form in (value, quote(clean_text(value))[1:-1], escape(value), escape(value, quote=False)):
                text = text.replace(form, REDACTED)
        return text

    @staticmethod
    async def _call(field: PageElement, function: str) -> bool:
        """Call a function with a field; return False if the field no longer exists."""
        try:
            await field.call(function)
        except ElementGoneError:
            return False
        return True

    async def _capture(self, process: FrameProcess) -> Event | None:
        try:
            return await process.session.send(
                "DOMSnapshot.captureSnapshot",
                computedStyles=list(STYLES),
                includePaintOrder=False,
                includeDOMRects=False,
                limit_s=SNAPSHOT_LIMIT_S,
            )
        except (CommandFailedError, PageCrashedError):
            if process is self.processes.main:
                raise
            return None

    def _on_frame(self, session: Session) -> None:
        """Watch requests and dialogs of a frame in another process before its first script runs."""
        session.post("Page.enable")
        session.post("Page.addScriptToEvaluateOnNewDocument", source=ACTING_PAGES)
        self.guard.watch(session)
        self.dialogs.watch(session)

    def _on_navigated(self, event: Event) -> None:
        frame = event["frame"]
        if frame["url"].startswith("http"):
            self._tab.origins.add(frame["securityOrigin"])
        self.processes.main.forget_world(frame["id"])
        if "parentId" in frame:
            return
        if self._login is not None:
            self._login.forget_origin(frame["securityOrigin"])
        self._tab.mark_committed()
        self._readiness.on_new_document(frame["loaderId"])
        self._known.clear()
        self._secrets = frozenset()
        self.guard.begin_document()
        self.has_new_document = True
        self._had_banner_check = False

    def _on_request(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._tab.frame_id:
            self._pending_document = event["requestId"]

    def _on_failed(self, event: Event) -> None:
        if event["requestId"] == self._pending_document:
            self._pending_document = ""

    def _on_response(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._tab.frame_id:
            self._pending_document = ""
            self.status = event["response"]["status"]
            if self.status >= 400:
                self.notice(f"the site answered with status {self.status}")
