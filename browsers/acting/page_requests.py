"""Requests of a page of a session: refuse those not allowed, and find those that delay the answer of a step."""

import asyncio
import contextlib
import enum
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from browsers.cdp.session import Event, Session
from browsers.chromium.page_tools_trial import token_for
from browsers.login_state import covers_host
from browsers.model import registrable_domain
from browsers.navigation.network_activity import DATA, InFlight, NetworkActivity, is_worker_script
from browsers.navigation.readiness_rules import CODE_HOLDS_S
from browsers.request_signing import RequestSigner, order_headers
from browsers.text_quoting import clean_text, quote, truncate

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""HTTP methods that change nothing on a site (RFC 9110, section 9.2.1)."""
_PAUSED_TYPES = ("Document", "XHR", "Fetch", "Ping")
_WITH_TOOLS = ("https://*", "http://127.0.0.1*", "http://localhost*")
"""Documents in a secure context, which may offer tools."""
_MAX_URL = 120
_MAX_STEP = 100
_APPLIES = "The answer applies to {site} in this browser session."

SET_ACT = "the operator can set SEARCH_MCP_ACTING=act"

AskUser = Callable[[str], Awaitable[bool]]
"""Asks the person at the client a question; returns True for yes."""


class ActingMode(enum.StrEnum):
    """The operator's limit for requests that steps may cause on sites."""

    READ = "read"
    """Refuse forms that send data, and unsafe requests of scripts after a step acted on the document."""
    ACT = "act"


@dataclass(frozen=True, slots=True)
class _PausedRequest:
    session: Session
    id: str
    method: str
    url: str
    headers: list[dict[str, str]] | None = None
    """Signed headers of a document; None to send those of the browser."""


class RequestGuard:
    """Pause requests of one browsing session and refuse those that are not allowed.

    Documents are checked by host, scheme and method; requests of scripts and pings by method. Other requests pass.
    """

    def __init__(self, mode: ActingMode, notice: Callable[[str], None], *, offers_tools: bool = False) -> None:
        """Refuse requests by mode; call `notice` with a sentence for each refused HTTP login prompt.

        With `offers_tools`, documents may offer tools to agents (WebMCP).
        """
        self._offers_tools = offers_tools
        self.has_refused_document = False
        """True if a document of the main frame, or one that sends data, was refused in this step."""
        self.open_site = ""
        """Site to which scripts may send data now, because of the tool that runs."""
        self.open_sends: list[str] = []
        """Requests with unsafe methods that this permitted in this step."""
        self.refused_writes: list[str] = []
        """Requests with unsafe methods that were refused in this step."""
        self.refused_hosts: list[str] = []
        """Hosts to which the main frame was not allowed to navigate in this step."""
        self.refused_frames: dict[str, None] = {}
        """Hosts whose frames were not loaded in this step."""
        self.unloaded: set[str] = set()
        self.is_touched = False
        """True if a step acted on the current document."""
        self.follows_redirects = False
        """True if the page itself may be redirected to other hosts."""
        self.ask: AskUser | None = None
        """Question to the person before the first write on a site; None if the client cannot ask."""
        self.signer: RequestSigner | None = None
        """Identity that signs the requests for documents."""
        self.step = ""
        self._answers: dict[str, bool] = {}
        self._paused: list[_PausedRequest] = []
        self._question: asyncio.Task[None] | None = None
        self.mode = mode
        self._notice = notice
        self._hosts: set[str] = set()

    def allow(self, url: str) -> None:
        """Allow the host of a URL, without a leading `www.`, and its subdomains."""
        host = (urlsplit(url).hostname or "").lower().rstrip(".")
        if host:
            self._hosts.add(host.removeprefix("www."))

    def is_allowed(self, host: str) -> bool:
        """Return True if documents of this host may be loaded."""
        return covers_host(self._hosts, host)

    def begin_document(self) -> None:
        """Forget the frames and steps of the document before."""
        self.is_touched = False
        self.unloaded.clear()

    def begin_step(self) -> None:
        """Forget the refusals of earlier steps."""
        self.refused_writes.clear()
        self.refused_hosts.clear()
        self.refused_frames.clear()
        self.has_refused_document, self.open_site = False, ""
        self.open_sends.clear()

    async def wait_answered(self, limit_s: float) -> bool:
        """Wait for the person's answers; return True if there was a question. Without an answer, nothing is sent."""
        if self._question is None:
            return False
        await asyncio.wait({self._question}, timeout=limit_s)
        self.cancel_questions()
        return True

    def cancel_questions(self) -> None:
        """Refuse the requests that wait for an answer."""
        if self._question is not None:
            self._question.cancel()
            self._question = None
        for paused in self._paused:
            self._finish(paused, is_allowed=False)
        self._paused.clear()

    def watch(self, session: Session, main_frame_id: str = "") -> None:
        """Pause and check the requests of one CDP session. For the page itself, pass the id of its main frame."""
        session.on("Fetch.requestPaused", lambda event: self._check(session, event, main_frame_id))
        session.on("Fetch.authRequired", lambda event: self._refuse_credentials(session, event))
        # Requests that are not paused would open the browser's dialog for a password, which stops all later ones.
        patterns = [{"urlPattern": "*", "resourceType": kind, "requestStage": "Request"} for kind in _PAUSED_TYPES]
        if self._offers_tools:
            patterns += [
                {"urlPattern": pattern, "resourceType": "Document", "requestStage": "Response"}
                for pattern in _WITH_TOOLS
            ]
        session.post("Fetch.enable", patterns=patterns, handleAuthRequests=True)

    def _check(self, session: Session, event: Event, main_frame_id: str) -> None:
        request = event["request"]
        if "responseStatusCode" in event or "responseErrorReason" in event:
            _continue_document(session, event)
            return
        method, url, headers = str(request["method"]).upper(), str(request["url"]), None
        if self.signer is not None and event.get("resourceType") == "Document":
            headers = order_headers(request["headers"] | self.signer.headers(url, method))
        paused = _PausedRequest(session, event["requestId"], method, url, headers)
        if self._refuses(event, is_main=event.get("frameId") == main_frame_id):
            self._send(paused, is_allowed=False)
        elif self.ask is None or not self._is_write(event) or self._is_open(event):
            self._send(paused, is_allowed=True)
        elif (answer := self._answers.get(site_of(paused.url))) is not None:
            self._finish(paused, is_allowed=answer)
        elif event.get("resourceType") == "Ping":
            self._send(paused, is_allowed=False)
        else:
            self._paused.append(paused)
            if self._question is None or self._question.done():
                self._question = asyncio.ensure_future(self._ask_person())

    async def may_give(self, name: str, url: str, limit_s: float) -> bool:
        """Return True if a page may get a file of this machine: if the person allows it in time, or cannot be asked."""
        site = site_of(url)
        if self.ask is not None and site not in self._answers:
            question = f"May the step give the file {quote(truncate(name, _MAX_STEP))} to {site}?"
            answer = await self.ask_in_time(f"{question} {_APPLIES.format(site=site)}", limit_s)
            self._answers |= {} if answer is None else {site: answer}
        return self.ask is None or self._answers.get(site, False)

    async def ask_in_time(self, question: str, limit_s: float) -> bool | None:
        """Return the person's answer to a question; None if it comes too late or no person can be asked."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                return None if self.ask is None else await self.ask(question)
        return None

    async def _ask_person(self) -> None:
        """Ask about the paused requests, once for each site."""
        while self._paused and self.ask is not None:
            first, site = self._paused[0], site_of(self._paused[0].url)
            self._answers[site] = await self.ask(
                f"May the step {quote(truncate(clean_text(self.step), _MAX_STEP))} send data"
                f" ({_describe(first.method, first.url)})? {_APPLIES.format(site=site)}"
            )
            for paused in [one for one in self._paused if site_of(one.url) == site]:
                self._paused.remove(paused)
                self._finish(paused, is_allowed=self._answers[site])

    def _finish(self, paused: _PausedRequest, *, is_allowed: bool) -> None:
        if not is_allowed:
            self.refused_writes.append(_describe(paused.method, paused.url))
        self._send(paused, is_allowed=is_allowed)

    @staticmethod
    def _send(paused: _PausedRequest, *, is_allowed: bool) -> None:
        if is_allowed:
            signed = {} if paused.headers is None else {"headers": paused.headers}
            paused.session.post("Fetch.continueRequest", requestId=paused.id, **signed)
        else:
            paused.session.post("Fetch.failRequest", requestId=paused.id, errorReason="Aborted")

    def _is_write(self, event: Event) -> bool:
        is_unsafe = str(event["request"]["method"]).upper() not in _SAFE_METHODS
        return is_unsafe and (self.is_touched or event.get("resourceType") == "Document")

    def _is_open(self, event: Event) -> bool:
        """Return True for a write of a script to the site of the tool that runs, if that permits it."""
        url = str(event["request"]["url"])
        return event.get("resourceType") in ("XHR", "Fetch") and self.open_site == site_of(url) != ""

    def _refuses(self, event: Event, *, is_main: bool) -> bool:
        request, kind = event["request"], event.get("resourceType")
        url, method = str(request["url"]), str(request["method"]).upper()
        is_refused = self.mode is ActingMode.READ and self._is_write(event)
        if is_refused and self._is_open(event):
            self.open_sends.append(_describe(method, url))
            return False
        if is_refused and kind not in ("Ping", "Document"):
            self.refused_writes.append(_describe(method, url))
        if kind != "Document":
            return is_refused
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            if url in ("about:blank", "about:srcdoc"):
                return False
            self._refuse_host(f"{parts.scheme[:20]}:", event, is_main)
            return True
        host = parts.hostname or ""
        is_redirect = is_main and self.follows_redirects and "redirectedRequestId" in event
        if not self.is_allowed(host) and not is_redirect:
            self._refuse_host(host, event, is_main)
            return True
        if is_refused:
            self.refused_writes.append(_describe(method, url))
            self.has_refused_document = True
        return is_refused

    def _refuse_host(self, host: str, event: Event, is_main: bool) -> None:
        if is_main:
            self.refused_hosts.append(host)
            self.has_refused_document = True
        else:
            self.refused_frames[host] = None
            self.unloaded.add(event.get("frameId", ""))

    def _refuse_credentials(self, session: Session, event: Event) -> None:
        self._notice("refused: the site asked for a user name and password")
        answer = {"response": "CancelAuth"}
        session.post("Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse=answer)


def _describe(method: str, url: str) -> str:
    parts = urlsplit(url)
    return f"{method[:10]} {parts.netloc}{parts.path}"[:_MAX_URL]


def _continue_document(session: Session, event: Event) -> None:
    """Continue the response of a document; if it is a page, with the token that lets it offer tools."""
    headers, answer = event.get("responseHeaders", ()), {"requestId": event["requestId"]}
    is_page = any(one["name"].lower() == "content-type" and "html" in one["value"].lower() for one in headers)
    status, parts = event.get("responseStatusCode", 0), urlsplit(event["request"]["url"])
    if not is_page or not 200 <= status < 300:
        session.post("Fetch.continueRequest", **answer)
        return
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    token = {"name": "Origin-Trial", "value": token_for(f"{parts.scheme}://{host}:{port}")}
    session.post("Fetch.continueResponse", **answer, responseCode=status, responseHeaders=[*headers, token])


def site_of(url: str) -> str:
    """Return the registrable domain of a URL, empty without a host."""
    return registrable_domain((urlsplit(url).hostname or "").lower())


class StepRequests(NetworkActivity):
    """Requests of the page of a browsing session, with its frames and workers.

    A step awaits the requests that begin after it. The first step of a call also awaits those of the call before, so
    that it shows their answers. Other requests, such as long polls, run on without a delay.
    """

    data_holds_s = 1.2
    """Seconds for which a request for data delays a new page: it may be a long poll. A bare page is awaited longer."""

    def __init__(self, session: Session) -> None:
        """Observe the tab of the session; `watch` adds its frames and workers."""
        self._pushed = asyncio.Event()
        """Cleared while this step awaits a message over a web socket or an event stream, or the answer to a poll."""
        self._pushed.set()
        self._is_first_step = True
        self._is_acting = self._has_new_content = False
        self._caused: set[str] = set()
        """Ids of the requests in progress that began while a step acted on this document."""
        self._earlier: dict[str, str] = {}
        """Paths of the requests in progress that began before this step, by id."""
        self._answered: Counter[str] = Counter()
        """Answers in this step to such requests, by path. After each, the next round of a long poll may begin."""
        self._rounds: dict[str, str] = {}
        """Paths of the requests of this step that may be such rounds, or caused by the step, by id."""
        self._endless: set[str] = set()
        """Ids of what may have no end: scripts of workers, and of frames whose scripts have requested a document."""
        self._sessions: dict[str, Session] = {}
        """Sessions of the requests in progress of frames and workers, which may end without an event."""
        self._tab = session
        super().__init__(session)

    def watch(self, session: Session) -> None:
        """Observe the tab, or also a frame or worker that has a session of its own."""
        super().watch(session)
        session.on("Network.responseReceived", self._on_response)
        session.on("Page.frameRequestedNavigation", self._on_navigation)
        session.on("Page.frameStoppedLoading", lambda event: self._on_end({"requestId": event["frameId"]}))
        session.on("Network.webSocketFrameSent", lambda _: self._await_push())
        session.on("Network.eventSourceMessageReceived", lambda _: self._pushed.set())
        if session is not self._tab:
            session.on("Network.requestWillBeSent", lambda event: self._sessions.update({event["requestId"]: session}))
            session.post("Network.enable", maxPostDataSize=0)

    def begin_call(self) -> None:
        """Let the next step also await the requests of the call before."""
        self._is_first_step, self._is_acting = True, False
        self._answered.clear()

    def begin_step(self, *, is_acting: bool) -> None:
        """Await from now on only the requests that begin in this step, which acts on the page or not."""
        for request_id, request in list(self._live.items()):
            if not self._is_first_step or request_id in self._earlier or request_id in self._rounds:
                self._discard(request_id)
            self._earlier[request_id] = request.path
        if not self._is_first_step:
            self._answered.clear()
        self.on_content()
        self.holds_all, self._is_acting = True, is_acting
        self._is_first_step = self._has_new_content = False
        self._pushed.set()
        self._rounds.clear()

    def reset(self) -> None:
        """Reset for a new main document. Its requests delay it as they do in a visit."""
        super().reset()
        self.holds_all = self._is_acting = False
        self._pushed.set()
        for state in (self._caused, self._earlier, self._answered, self._rounds, self._endless, self._sessions):
            state.clear()

    def on_content(self) -> None:
        """Record that new content has come."""
        super().on_content()
        self._has_new_content = True

    @property
    def awaits_push(self) -> bool:
        """True if the answer to this step may still come over a web socket, over an event stream or by a long poll."""
        return not self._pushed.is_set()

    async def wait_for_push(self, limit_s: float) -> None:
        """Wait for a message that may be the answer to this step, but at most `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._pushed.wait()

    def in_flight(self) -> list[InFlight]:
        """Return the counted requests in progress that are awaited."""
        for request_id in [key for key, session in self._sessions.items() if not session.is_alive]:
            self._on_end({"requestId": request_id})
        return [request for request_id, request in self._live.items() if not self._is_ignored(request_id, request)]

    def _is_ignored(self, request_id: str, request: InFlight) -> bool:
        if request_id in self._endless:
            return time.monotonic() - request.since > CODE_HOLDS_S
        return self._has_new_content and request_id in self._rounds

    @property
    def unanswered(self) -> int:
        """Number of the requests in progress of this step, and of those that earlier steps caused."""
        own = {request_id for request_id, request in self._live.items() if not self.is_polled(request.path)}
        return len((own | self._caused & self._earlier.keys()) - self._endless)

    def _on_request(self, event: Event) -> None:
        request_id, path = event["requestId"], event["request"]["url"].split("?", 1)[0]
        if event.get("type") == "Document":
            self._on_end({"requestId": event.get("frameId")})
        is_redirect = request_id in self._earlier
        if self._answered[path] and not is_redirect:
            self._answered[path] -= 1
            # While a step acts, it may also have caused a request to the same path: it is awaited until content comes.
            (self._rounds if self._is_acting else self._earlier)[request_id] = path
        if request_id in self._earlier and request_id not in self._live:
            return
        super()._on_request(event)
        if is_worker_script(event):
            self._endless.add(request_id)
        if self._is_acting and request_id in self._live and not is_redirect:
            self._caused.add(request_id)
            if event.get("type") in DATA and (self.streams or self._earlier):
                self._await_push()

    def _on_navigation(self, event: Event) -> None:
        """Count a document before its request: the browser sends it, and may report it after later samples."""
        if event["disposition"] == "currentTab":
            super()._on_request({"requestId": event["frameId"], "type": "Document", "request": {"url": event["url"]}})
            self._endless.add(event["frameId"])

    def _on_response(self, event: Event) -> None:
        request_id = event["requestId"]
        if path := self._earlier.get(request_id) or self._rounds.get(request_id):
            self._answered[path] += 1
            self._pushed.set()

    def _on_end(self, event: Event) -> None:
        request_id = event["requestId"]
        for requests in (self._earlier, self._rounds, self._sessions):
            requests.pop(request_id, None)
        for ids in (self._caused, self._endless):
            ids.discard(request_id)
        super()._on_end(event)

    def _on_socket_frame(self, event: Event) -> None:
        super()._on_socket_frame(event)
        self._pushed.set()

    def _await_push(self) -> None:
        if self._is_acting:
            self._pushed.clear()
