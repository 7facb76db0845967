"""A page that was let into a tab: its documents, dialogs, frames and data while it renders."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.http.urls import has_credentials, strip_credentials
from browsers.identity.fingerprint import light_viewport
from browsers.model import JsonResponse, Request, Tier
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.page_patterns import PagePatterns, PageProgress
from browsers.navigation.readiness import WORLD, ReadinessWaiter
from browsers.navigation.response import PausedResponse
from browsers.navigation.tab import PAUSE_AT_RESPONSE, Tab
from browsers.scripts import PROBE

MAX_DOCUMENTS = 5
"""A page that went to more main documents than this reloads itself for ever."""
MAX_DIALOGS = 10
"""After as many dialogs the script is ended: alert loops were seen to open a thousand a second."""
DECODED_LIMIT_BYTES = 64 * 1024 * 1024
JSON_BUFFER_BYTES = 8 * 1024 * 1024
MAX_JSON_RESPONSES = 40
MAX_JSON_CHARS = 512 * 1024
JSON_LIMIT_S = 1.0


class RenderedPage:
    """Follows one render."""

    def __init__(self, tab: Tab, request: Request, tier: Tier, habits: PagePatterns | None = None) -> None:
        self.response: PausedResponse | None = None
        """Of the newest main document; None until the page is let in."""
        self.frame_sessions: dict[str, Session] = {}
        """Frames that run in a process of their own (full tier), by frame id."""
        self.failed_to_commit: str | None = None
        self.stopped_for_size = False
        # Where tab or process are used again, there is no way back from virtual time.
        used_again = request.site_profile is not None or request.batch is not None
        may_skip = tier is Tier.LIGHT and not used_again
        self.settling = ReadinessWaiter(
            tab.session,
            NetworkActivity(tab.session),
            tab.frame_id,
            request.wait,
            may_skip=may_skip,
            course=PageProgress(habits) if habits is not None else None,
        )
        self._tab = tab
        self._session = tab.session
        self._request = request
        self._tier = tier
        self._documents = 1
        self._known: set[str] = set()
        """Main documents that are counted."""
        self._newest = ""
        """The main document that was let in last; its name is that of its request too."""
        self._told: dict[str, Event] = {}
        """Responses that were not held, of the main frame's documents."""
        self.dialogs = 0
        self._json: dict[str, Event] = {}

    def prepare(self) -> Awaitable[object]:
        """Turn on what rendering needs; the answers can be awaited in a blank tab.

        While a response is held, Chromium holds back what is sent to the tab until the page commits: there
        the answers come only after the page was let in, and its first milliseconds go unseen.
        """
        session, buffer = self._session, JSON_BUFFER_BYTES if self._request.json_responses else 0
        session.on("Page.javascriptDialogOpening", self._on_dialog)
        session.on("Page.frameNavigated", self._on_frame_navigated)
        session.on("Network.responseReceived", self._on_response)
        session.on("Page.domContentEventFired", self._on_dom_ready)
        session.on("Target.attachedToTarget", self._on_frame_process)
        commands = [
            session.start("Page.enable"),
            session.start("Network.enable", maxTotalBufferSize=buffer, maxResourceBufferSize=buffer),
            session.start("Page.addScriptToEvaluateOnNewDocument", source=PROBE, worldName=WORLD),
        ]
        if self._tier is Tier.LIGHT:
            commands.append(session.start("Emulation.setDeviceMetricsOverride", **light_viewport()))
        else:
            commands.append(
                session.start(
                    "Target.setAutoAttach",
                    autoAttach=True,
                    waitForDebuggerOnStart=False,
                    flatten=self._tab.connection.flat,
                    filter=[{"type": "iframe"}],
                )
            )
        return asyncio.gather(*commands, self._deny_downloads())

    async def _deny_downloads(self) -> None:
        await self._tab.connection.call(
            "Browser.setDownloadBehavior", behavior="deny", browserContextId=self._tab.context_id
        )

    async def settle(self, limit_s: float) -> bool:
        """Wait until the page is done; False when it was stopped, or its time ran out."""
        complete = await self.settling.until_done(limit_s, stop=self._is_over)
        if not complete:
            self._session.post("Page.stopLoading")
        return complete

    @property
    def is_cut_off(self) -> bool:
        """Whether the page was taken, or broke off, before the end of its document had come."""
        look, traffic = self.settling.last_look, self.settling.traffic
        return look is not None and look.ready_state == "loading" and traffic.is_unfinished(self._newest)

    async def json_responses(self) -> tuple[JsonResponse, ...]:
        """The JSON that the page fetched, within bounds; what the browser no longer holds is left out."""
        read = await asyncio.gather(
            *(self._json_of(request_id, response) for request_id, response in list(self._json.items()))
        )
        return tuple(found for found in read if found is not None)

    def on_document(self, response: PausedResponse) -> None:
        """The page moves on to another main document: a challenge that cleared, a client-side redirect."""
        self._documents += 1
        self._known.add(response.loader_id)
        if self._documents > MAX_DOCUMENTS or not response.is_page:
            self._session.post("Fetch.failRequest", requestId=response.request_id, errorReason="Aborted")
            return
        self.response = response
        self._session.post("Fetch.continueRequest", requestId=response.request_id)

    def on_navigated(self, answer: asyncio.Future[Event]) -> None:
        """Page.navigate answers at the commit, or with the reason why there is none."""
        if not answer.cancelled() and answer.exception() is None:
            self.failed_to_commit = answer.result().get("errorText")
            self._known.add(answer.result().get("loaderId", ""))

    def _is_over(self) -> bool:
        traffic, limits = self.settling.traffic, self._request.limits
        if traffic.document_bytes > limits.render_bytes or traffic.received_bytes > DECODED_LIMIT_BYTES:
            self.stopped_for_size = True
        return self.stopped_for_size or self._documents > MAX_DOCUMENTS or self.failed_to_commit is not None

    def _on_dialog(self, _: Event) -> None:
        self.dialogs += 1
        self._session.post("Page.handleJavaScriptDialog", accept=False)
        if self.dialogs > MAX_DIALOGS:
            self._session.post("Runtime.terminateExecution")

    def _on_frame_navigated(self, event: Event) -> None:
        frame = event["frame"]
        self._tab.saw_password |= has_credentials(frame["url"])
        if frame["url"].startswith("http"):
            self._tab.origins.add(frame["securityOrigin"])
        if "parentId" not in frame:
            self.settling.new_document(frame["loaderId"])
            self._on_committed(frame["loaderId"])

    def _on_committed(self, loader_id: str) -> None:
        """A main document that nobody held: the second of a page, after which all are held again."""
        self._newest = loader_id
        told, known = self._told.pop(loader_id, None), self._known
        if told is not None and known and loader_id not in known:
            self._documents += 1
            self.response = PausedResponse.told(told)
            self._session.post("Fetch.enable", patterns=PAUSE_AT_RESPONSE)
        known.add(loader_id)

    def _on_dom_ready(self, _: Event) -> None:
        self.settling.dom_ready()

    def _on_frame_process(self, event: Event) -> None:
        child = self._session.child(event["sessionId"])
        child.post("Page.enable")
        self.frame_sessions[event["targetInfo"]["targetId"]] = child

    def _on_response(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._tab.frame_id:
            self._told[event["loaderId"]] = event
        elif self._request.json_responses:
            self._note_data(event)

    def _note_data(self, event: Event) -> None:
        response = event["response"]
        is_json = event.get("type") in {"XHR", "Fetch"} and "json" in response.get("mimeType", "")
        if is_json and len(self._json) < MAX_JSON_RESPONSES:
            self._json[event["requestId"]] = response

    async def _json_of(self, request_id: str, response: Event) -> JsonResponse | None:
        try:
            answer = await self._session.send(
                "Network.getResponseBody", requestId=request_id, limit_s=JSON_LIMIT_S
            )
        except (CommandFailedError, TimeoutError):
            return None
        text = str(answer["body"])
        if answer.get("base64Encoded") or len(text) > MAX_JSON_CHARS:
            return None
        return JsonResponse(strip_credentials(response["url"]), response["status"], text)
