"""Control the page of a session: load URLs, wait until it is idle, refuse banners, and take pictures."""

import asyncio
import contextlib
from urllib.parse import urlsplit

from cachetools import LRUCache

from browsers import errors
from browsers.acting.dialogs_and_downloads import Downloads, PopupHandler
from browsers.acting.elements import PageElement
from browsers.acting.frame_processes import ElementGoneError, FrameProcess, FrameProcesses
from browsers.acting.input import InputDevices
from browsers.acting.logins import LoginRestorer, asks_to_sign_in
from browsers.acting.page_outlines import PageOutlines
from browsers.acting.page_requests import ActingMode, RequestGuard, StepRequests
from browsers.acting.page_tools import PageTools, PageToolsMode
from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import BrowsersError
from browsers.login_state import Login
from browsers.model import Screenshot, ScreenshotRequest, ThirdParties
from browsers.navigation.capture import take_screenshots, window_metrics
from browsers.navigation.consent import refuse_consent
from browsers.navigation.error_mapping import map_net_error
from browsers.navigation.readiness import ISOLATED_WORLD, ReadinessWaiter
from browsers.navigation.tab import Tab
from browsers.scripts import ACTING_PAGES, READINESS_PROBE
from browsers.text_quoting import join_first

MAX_TRAFFIC_BYTES = 256 * 1024 * 1024
"""Network bytes of one session, in each direction."""
_IDLE_LIMIT_S = 3.0
"""Seconds until a page that is still busy after a step is used as it is."""
_PUSH_LIMIT_S = 1.5
"""Seconds to wait for an answer over a web socket or an event stream, if nothing else has changed."""
_OPEN_IDLE_LIMIT_S = 8.0
"""Seconds, as `_IDLE_LIMIT_S`, after a document was loaded."""
_MOVE_LIMIT_S = 3.0
"""Seconds of a delayed move to another URL that belongs to the opening of a page."""
_DOWNLOAD_BEGINS_S = 0.5
"""Seconds until the download begins that aborts a navigation."""
_QUIET_S = (0.08, 0.15)
"""Seconds without activity before a page is idle; the second value applies if it fetches data."""
_PREPARE_LIMIT_S = 5.0
_MAX_HOSTS = 3
_MAX_PAGE_HOSTS = 20
_UNAUTHORIZED = 401

_PERMISSIONS = ("notifications", "geolocation", "camera", "microphone", "clipboard-read")
"""Permissions for which the full browser asks. The question would stay open, so they are denied."""


class ActingPage:
    """One tab that is used over several steps."""

    def __init__(
        self, tab: Tab, mode: ActingMode, login: Login | None = None, page_tools: PageToolsMode = PageToolsMode.OFF
    ) -> None:
        """Use a blank tab, signed in with `login`. Call `prepare` first."""
        self.tools = PageTools(page_tools)
        self.dialogs = PopupHandler()
        self.downloads = Downloads(tab, self.notice)
        self.guard = RequestGuard(mode, self.notice, offers_tools=page_tools is not PageToolsMode.OFF)
        self.devices = InputDevices(tab.session)
        self.has_new_document = False
        """True if the main document changed since the last outline that was shown."""
        self.status = 0
        self.is_pdf = False
        """True if the main document is a PDF, which Chromium shows in frames of its own."""
        self.is_idle = True
        """False if the page was still busy at the end of the last wait."""
        self._tab = tab
        self._login = None if login is None else LoginRestorer(tab, login.state)
        self.session = tab.session
        self._had_banner_check = self._moves_soon = False
        self._page_hosts: LRUCache[str, None] = LRUCache(_MAX_PAGE_HOSTS)
        self.requests = StepRequests(tab.session)
        self.readiness = ReadinessWaiter(tab.session, self.requests, tab.frame_id, keeps_real_time=True)
        main = FrameProcess(tab.session, tab.frame_id)
        self.processes = FrameProcesses(main, tab.connection.flat, self._on_frame, self.watch_worker)
        self.outlines = PageOutlines(self.processes, self.devices)

    @property
    def is_alive(self) -> bool:
        """True if the renderer of the page and its browser are running."""
        return self.session.is_alive

    async def prepare(self) -> None:
        """Enable CDP domains and watch requests, dialogs and frames. Raises CommandFailedError or TimeoutError."""
        session, connection = self.session, self._tab.connection
        session.on("Page.frameNavigated", self._on_navigated)
        session.on("Page.frameScheduledNavigation", self._on_scheduled)
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.responseReceived", self._on_response)
        self.guard.watch(session, self._tab.frame_id)
        self.dialogs.watch(session)
        self.downloads.watch(session)
        self.tools.watch(session)
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
            for name in _PERMISSIONS:
                denied: Event = {"permission": {"name": name}, "setting": "denied"}
                context = {"browserContextId": self._tab.context_id}
                commands.append(connection.browser.start("Browser.setPermission", **denied, **context))
            await asyncio.gather(*commands)
            if self._login is not None:
                await self._login.restore()

    async def freeze(self) -> None:
        """Freeze scripts and pause network traffic until `resume` is called. Requests continue then."""
        self._tab.listener.pause()
        with contextlib.suppress(CommandFailedError, TimeoutError, BrowsersError):
            await self.session.send("Page.setWebLifecycleState", state="frozen", limit_s=1.0)

    async def resume(self) -> None:
        """Resume scripts and network traffic for the steps of a call."""
        self.requests.begin_call()
        self.session.begin_visit()
        self._tab.listener.resume()
        with contextlib.suppress(CommandFailedError, TimeoutError, BrowsersError):
            await self.session.send("Page.setWebLifecycleState", state="active", limit_s=1.0)

    async def may_bring_content(self) -> bool:
        """Return True if scripts of the page wait for something that may bring its content."""
        sample = self.readiness.last_sample
        if sample is None or self._moves_soon or self.requests.in_flight():
            return True
        return sample.scripted and await self.readiness.has_timers()

    async def has_timers_since(self, count: int) -> bool:
        """Return True if the page of the count has set timers since."""
        return not self.has_new_document and 0 <= count < await self.readiness.count_timers()

    def notice(self, sentence: str) -> None:
        """Store a sentence for the next report."""
        self.dialogs.notice(sentence)

    def take_notices(self) -> tuple[str, ...]:
        """Return the sentences stored since the last call, and clear them."""
        if hosts := list(self.guard.refused_frames):
            self.notice(f"not loaded: frames of {join_first(hosts, _MAX_HOSTS)}, no hosts of this session")
            self.guard.refused_frames.clear()
        return self.dialogs.take_notices()

    def name_requests(self, *, counts_pushes: bool = False) -> bool:
        """Report how many requests of steps run, with `counts_pushes` awaited messages too; return False if none."""
        count = self.requests.unanswered or int(counts_pushes and self.requests.awaits_push)
        if count == 1:
            self.notice("1 request still runs; the next call shows its result")
        elif count:
            self.notice(f"{count} requests still run; the next call shows their results")
        return bool(count)

    def begin_step(self, step: str, *, acts: bool) -> None:
        """Reset the state of the last step. `acts` is True if this one may cause requests of the page."""
        self.guard.begin_step()
        self.guard.step = step
        self.guard.is_touched |= acts
        self.dialogs.begin_step(acts=acts)
        self.downloads.begin_step()
        self.requests.begin_step(is_acting=acts)

    async def open(self, url: str, *, limit_s: float) -> None:
        """Load a URL. Raises BrowsersError if it cannot be loaded; the message has the reason."""
        self._allow_page_host(url)
        traffic = self._tab.listener.traffic
        try:
            answer = await self.session.send("Page.navigate", url=url, limit_s=limit_s)
        except TimeoutError:
            self.session.post("Page.stopLoading")
            raise errors.DeadlineExceededError(f"{url} did not answer within {limit_s:.0f} s.", url=url) from None
        reason = answer.get("errorText", "")
        if reason and not ("ERR_ABORTED" in reason and await self.downloads.has_begun(_DOWNLOAD_BEGINS_S)):
            if self.guard.refused_hosts:
                message = f"{url} leads to {self.guard.refused_hosts[-1]}, which is not a host of this session."
                raise errors.RefusedError(message, url=url, next_step="Open its URL if you want to go there.")
            raise map_net_error(reason, url, url, traffic)
        await self.wait_until_idle(min(_OPEN_IDLE_LIMIT_S, limit_s))

    def _allow_page_host(self, url: str) -> None:
        self._page_hosts.pop(host := urlsplit(url).hostname or "", None)
        self._page_hosts[host] = None
        self._tab.listener.filter_third_parties(ThirdParties.NO_TRACKERS, tuple(self._page_hosts))

    async def has_expired_login(self) -> bool:
        """Return True if the login fails: status 401, all session cookies lost, or one field for a known password."""
        if self._login is None:
            return False
        outline = self.outlines.latest or await self.outlines.take()
        return self.status == _UNAUTHORIZED or asks_to_sign_in(outline.root) or await self._login.has_lost_session()

    async def back(self) -> bool:
        """Go back to the previous page; return False if there is none."""
        history = await self.session.send("Page.getNavigationHistory")
        at = history["currentIndex"]
        if at < 1 or history["entries"][at - 1]["url"] in ("about:blank", "javascript:", ""):
            return False
        await self.session.send("Page.navigateToHistoryEntry", entryId=history["entries"][at - 1]["id"])
        await self.wait_until_idle(_OPEN_IDLE_LIMIT_S)
        return True

    async def wait_until_idle(self, limit_s: float = _IDLE_LIMIT_S) -> None:
        """Wait until the page is idle after a step, then refuse the consent banner of a new document."""
        await asyncio.sleep(0.02)
        self.readiness.restart()
        self.is_idle = await self.readiness.wait_until_ready(limit_s, may_be_thin=False, quiet_s=_QUIET_S)
        if not self._had_banner_check:
            await self.refuse_banners()

    async def wait_for_requests(self) -> None:
        """Wait until the page is idle if requests run that are awaited: those of the call before."""
        if self.requests.in_flight():
            await self.wait_until_idle()

    async def wait_for_reaction(self, seconds: float) -> None:
        """Wait for what a timer of the next `seconds`, or a message of the site, may change."""
        awaits_push = self.requests.awaits_push
        await self.readiness.wait_for_timers(seconds)
        await self.requests.wait_for_push(_PUSH_LIMIT_S)
        if awaits_push or self.requests.in_flight() or self.has_new_document:
            await self.wait_until_idle()

    async def refuse_banners(self) -> bool:
        """Refuse the consent banners that are on the page now, and report them. Return True if there was one."""
        self._had_banner_check = True
        _, *frames = self.processes.all()
        sessions = {frame.frame_id: frame.session for frame in frames}
        done = await refuse_consent(self.session, sessions, tuple(self.guard.unloaded))
        for sentence in done:
            self.notice(sentence)
        return bool(done)

    async def evaluate(self, expression: str, *, limit_s: float = 2.0) -> object:
        """Evaluate JavaScript in an isolated world of the main frame. Raises TimeoutError or CommandFailedError."""
        return await self.readiness.evaluate(expression, limit_s=limit_s)

    async def take_pictures(self, request: ScreenshotRequest) -> tuple[Screenshot, ...]:
        """Return pictures without fields for passwords, cards and codes. Raises as `take_screenshots` and outlines."""
        await self.outlines.take()
        hidden: list[PageElement] = []
        for field in self.outlines.secret_elements():
            with contextlib.suppress(ElementGoneError):
                await field.call("hideFromPicture")
                hidden.append(field)
        try:
            return await take_screenshots(self.session, self.readiness, request)
        finally:
            for field in hidden:
                with contextlib.suppress(ElementGoneError):
                    await field.call("showAgain")

    def _on_frame(self, session: Session) -> None:
        session.post("Page.enable")
        session.post("Page.addScriptToEvaluateOnNewDocument", source=ACTING_PAGES)
        self.dialogs.watch(session)
        self.downloads.watch(session)
        self.tools.watch(session)
        self.watch_worker(session)

    def watch_worker(self, session: Session) -> None:
        """Watch the requests of a frame in another process or of a worker before its first script runs."""
        self.guard.watch(session)
        self.requests.watch(session)

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
        self.readiness.on_new_document(frame["loaderId"])
        self.outlines.begin_document()
        self.guard.begin_document()
        self.has_new_document = True
        self._had_banner_check = self._moves_soon = False

    def _on_scheduled(self, event: Event) -> None:
        self._moves_soon |= event["frameId"] == self._tab.frame_id and 0 < event["delay"] <= _MOVE_LIMIT_S

    def _on_request(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._tab.frame_id:
            is_redirect = self.guard.follows_redirects and "redirectResponse" in event
            if is_redirect or self.guard.is_allowed(urlsplit(event["request"]["url"]).hostname or ""):
                self._allow_page_host(event["request"]["url"])

    def _on_response(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._tab.frame_id:
            self.status = event["response"]["status"]
            self.is_pdf = event["response"].get("mimeType") == "application/pdf"
            if self.status >= 400:
                self.notice(f"the site answered with status {self.status}")
