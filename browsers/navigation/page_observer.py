"""Observe a page while it renders: its main documents, dialogs, frames and JSON responses."""

import asyncio
from collections.abc import Awaitable

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.identity.fingerprint import light_viewport
from browsers.model import JsonResponse, Request, Tier, has_credentials, strip_credentials
from browsers.navigation.capture import window_metrics
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness import ISOLATED_WORLD, ReadinessWaiter
from browsers.navigation.readiness_rules import PagePatterns, PageProgress
from browsers.navigation.response import PausedResponse
from browsers.navigation.tab import PAUSE_AT_RESPONSE, Tab
from browsers.scripts import READINESS_PROBE

MAX_DOCUMENTS = 5
"""Maximum of main documents. A page with more reloads itself forever."""
_MAX_FRAME_PROCESSES = 100
"""Maximum of observed frames with a process of their own."""
MAX_DIALOGS = 10
"""Maximum of dialogs before the script is ended. Alert loops opened a thousand a second."""
_DECODED_LIMIT_BYTES = 64 * 1024 * 1024
"""Decoded bytes of all responses of a page. A page with more is stopped: it may be a compression bomb."""
_JSON_BUFFER_BYTES = 8 * 1024 * 1024
"""Bytes of response bodies that the browser stores for one page."""
_MAX_JSON_RESPONSES = 40
_MAX_JSON_CHARS = 512 * 1024
"""Maximum of JSON responses that are returned, and of characters of each."""
_JSON_LIMIT_S = 1.0
"""Seconds to read one JSON response from the browser."""


class PageObserver:
    """Observe one page while it renders."""

    def __init__(self, tab: Tab, request: Request, tier: Tier, patterns: PagePatterns | None = None) -> None:
        """Observe the page of one request."""
        self.response: PausedResponse | None = None
        """Response of the latest main document, or None before the commit."""
        self.frame_sessions: dict[str, Session] = {}
        """Sessions of frames with a process of their own (full tier), by frame id."""
        self.failed_to_commit: str | None = None
        self.stopped_for_size = False
        # Virtual time cannot be undone, so it is not used in a tab or process that will be reused.
        may_skip = tier is Tier.LIGHT and request.site_profile is None and request.batch is None
        self.readiness = ReadinessWaiter(
            tab.session,
            NetworkActivity(tab.session),
            tab.frame_id,
            request.wait,
            may_skip=may_skip,
            keeps_real_time=request.picture is not None or request.refuses_consent,
            progress=PageProgress(patterns) if patterns is not None else None,
        )
        self._tab = tab
        self._session = tab.session
        self._request = request
        self._tier = tier
        self._documents = 1
        self._known: set[str] = set()
        self._newest = ""
        """Loader id of the latest committed main document, which is also its request id."""
        self._responses: dict[str, Event] = {}
        """`Network.responseReceived` events of the main frame's documents, by loader id."""
        self.dialogs = 0
        self._json: dict[str, Event] = {}

    def prepare(self) -> Awaitable[object]:
        """Set handlers and send commands for rendering. Await it only in a blank tab, before a response pauses."""
        session, buffer = self._session, _JSON_BUFFER_BYTES if self._request.json_responses else 0
        session.on("Page.javascriptDialogOpening", self._on_dialog)
        session.on("Page.frameNavigated", self._on_frame_navigated)
        session.on("Network.responseReceived", self._on_response)
        session.on("Target.attachedToTarget", self._on_frame_process)
        commands = [
            session.start("Network.enable", maxTotalBufferSize=buffer, maxResourceBufferSize=buffer, maxPostDataSize=0),
            session.start("Page.addScriptToEvaluateOnNewDocument", source=READINESS_PROBE, worldName=ISOLATED_WORLD),
        ]
        if not self._tab.sends_page_events:
            commands.append(session.start("Page.enable"))
        if self._request.picture is not None:
            commands.append(session.start("Emulation.setDeviceMetricsOverride", **window_metrics()))
        elif self._tier is Tier.LIGHT:
            commands.append(session.start("Emulation.setDeviceMetricsOverride", **light_viewport()))
        if self._tier is not Tier.LIGHT:
            attach: Event = {"autoAttach": True, "waitForDebuggerOnStart": False, "filter": [{"type": "iframe"}]}
            commands.append(session.start("Target.setAutoAttach", flatten=self._tab.connection.flat, **attach))
        connection, context_id = self._tab.connection, self._tab.context_id
        denied = connection.browser.send("Browser.setDownloadBehavior", behavior="deny", browserContextId=context_id)
        return asyncio.gather(*commands, denied)

    async def wait_until_ready(self, limit_s: float) -> bool:
        """Wait until the page is ready. Return False if it was stopped or its time ran out."""
        complete = await self.readiness.wait_until_ready(limit_s, stop=self._must_stop)
        if not complete:
            self._session.post("Page.stopLoading")
        return complete

    @property
    def is_unfinished(self) -> bool:
        """True if the page was captured, or its connection broke, before the end of its document."""
        sample, network = self.readiness.last_sample, self.readiness.network
        return sample is not None and sample.ready_state == "loading" and network.is_unfinished(self._newest)

    async def json_responses(self) -> tuple[JsonResponse, ...]:
        """Return the JSON that the page fetched, within limits, if the browser still has it."""
        read = await asyncio.gather(*(self._read_json(*item) for item in list(self._json.items())))
        return tuple(found for found in read if found is not None)

    def on_document(self, response: PausedResponse) -> None:
        """Count a further paused main document and continue it; abort it if it is one too many or no page."""
        self._documents += 1
        self._known.add(response.loader_id)
        if self._documents > MAX_DOCUMENTS or not response.is_page:
            self._session.post("Fetch.failRequest", requestId=response.request_id, errorReason="Aborted")
            return
        self.response = response
        self._session.post("Fetch.continueRequest", requestId=response.request_id)

    def on_navigated(self, answer: asyncio.Future[Event]) -> None:
        """Handle the result of Page.navigate, which comes at the commit or with an error."""
        if not answer.cancelled() and answer.exception() is None:
            self.failed_to_commit = answer.result().get("errorText")
            self._known.add(answer.result().get("loaderId", ""))

    def _must_stop(self) -> bool:
        network, limits = self.readiness.network, self._request.limits
        if network.document_bytes > limits.render_bytes or network.received_bytes > _DECODED_LIMIT_BYTES:
            self.stopped_for_size = True
        is_over = self.stopped_for_size or not self.readiness.answer_s
        return is_over or self._documents > MAX_DOCUMENTS or self.failed_to_commit is not None

    def _on_dialog(self, _: Event) -> None:
        self.dialogs += 1
        self._session.post("Page.handleJavaScriptDialog", accept=False)
        if self.dialogs > MAX_DIALOGS:
            self._session.post("Runtime.terminateExecution")

    def _on_frame_navigated(self, event: Event) -> None:
        frame = event["frame"]
        self._tab.saw_credentials |= has_credentials(frame["url"])
        if frame["url"].startswith("http"):
            self._tab.origins.add(frame["securityOrigin"])
        if "parentId" not in frame:
            self.readiness.on_new_document(frame["loaderId"])
            self.on_committed(frame["loaderId"])

    def on_committed(self, loader_id: str) -> None:
        """Record the committed main document.

        If it was not paused and is not the first, count it, use its response, and pause all later ones. Call this also
        with the captured document: a busy renderer enables the Page events too late to report the commit.
        """
        self._newest = loader_id
        event, known = self._responses.pop(loader_id, None), self._known
        if event is not None and known and loader_id not in known:
            self._documents += 1
            self.response = PausedResponse.of_received(event)
            self._session.post("Fetch.enable", patterns=PAUSE_AT_RESPONSE)
        known.add(loader_id)

    def _on_frame_process(self, event: Event) -> None:
        if len(self.frame_sessions) >= _MAX_FRAME_PROCESSES:
            return
        child = self._session.child(event["sessionId"])
        child.post("Page.enable")
        self.frame_sessions[event["targetInfo"]["targetId"]] = child

    def _on_response(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._tab.frame_id:
            self._responses[event["loaderId"]] = event
            return
        is_json = event.get("type") in {"XHR", "Fetch"} and "json" in event["response"].get("mimeType", "")
        if is_json and self._request.json_responses and len(self._json) < _MAX_JSON_RESPONSES:
            self._json[event["requestId"]] = event["response"]

    async def _read_json(self, request_id: str, response: Event) -> JsonResponse | None:
        try:
            answer = await self._session.send("Network.getResponseBody", requestId=request_id, limit_s=_JSON_LIMIT_S)
        except (CommandFailedError, TimeoutError):
            return None
        text = str(answer["body"])
        if answer.get("base64Encoded") or len(text) > _MAX_JSON_CHARS:
            return None
        return JsonResponse(strip_credentials(response["url"]), response["status"], text)
