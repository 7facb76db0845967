"""Block requests of a session by host, URL scheme, HTTP method and the operator's mode."""

from __future__ import annotations

import enum
from collections.abc import Callable
from urllib.parse import urlsplit

from browsers.cdp.session import Event, Session
from browsers.login_state import covers

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""HTTP methods that change nothing on a site (RFC 9110, section 9.2.1)."""
_DOCUMENTS = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}
_DATA_TYPES = ("XHR", "Fetch", "Ping")
_MAX_URL = 120


class ActingMode(enum.StrEnum):
    """The operator's limit for requests that steps may cause on sites."""

    READ = "read"
    """Refuse forms that send data, and unsafe requests of scripts after a step acted on the document."""
    ACT = "act"
    """Allow all methods."""


class RequestGuard:
    """Pause the requests of one session and refuse those that are not allowed."""

    def __init__(self, mode: ActingMode, notice: Callable[[str], None]) -> None:
        """Refuse requests by mode; call `notice` with a sentence for each refused HTTP login prompt."""
        self.refused_writes: list[str] = []
        """Requests with unsafe methods that were refused in this step."""
        self.refused_hosts: list[str] = []
        """Hosts to which the main frame was not allowed to navigate in this step."""
        self.refused_frames: dict[str, None] = {}
        """Hosts whose frames were not loaded in this step."""
        self.is_touched = False
        """True if a step acted on the current document."""
        self.follows_redirects = False
        """True if the page itself may be redirected to other hosts."""
        self._mode = mode
        self._notice = notice
        self._hosts: set[str] = set()

    def allow(self, url: str) -> None:
        """Allow the host of a URL, without a leading `www.`, and its subdomains."""
        host = (urlsplit(url).hostname or "").lower().rstrip(".")
        if host:
            self._hosts.add(host.removeprefix("www."))

    def is_allowed(self, host: str) -> bool:
        """Return True if documents of this host may be loaded."""
        return covers(self._hosts, host)

    def begin_step(self) -> None:
        """Forget the refusals of earlier steps."""
        self.refused_writes.clear()
        self.refused_hosts.clear()
        self.refused_frames.clear()

    def watch(self, session: Session, main_frame_id: str = "") -> None:
        """Pause and check the requests of one session. For the page itself, pass the id of its main frame."""
        session.on("Fetch.requestPaused", lambda event: self._check(session, event, main_frame_id))
        session.on("Fetch.authRequired", lambda event: self._refuse_credentials(session, event))
        patterns = [_DOCUMENTS]
        if self._mode is ActingMode.READ:
            patterns += [{"urlPattern": "*", "resourceType": kind, "requestStage": "Request"} for kind in _DATA_TYPES]
        session.post("Fetch.enable", patterns=patterns, handleAuthRequests=True)

    def _check(self, session: Session, event: Event, main_frame_id: str) -> None:
        if self._refuses(event, is_main=event.get("frameId") == main_frame_id):
            session.post("Fetch.failRequest", requestId=event["requestId"], errorReason="Aborted")
        else:
            session.post("Fetch.continueRequest", requestId=event["requestId"])

    def _refuses(self, event: Event, *, is_main: bool) -> bool:
        request, kind = event["request"], event.get("resourceType")
        url, method = str(request["url"]), str(request["method"]).upper()
        is_unsafe = method not in SAFE_METHODS
        if kind != "Document":
            if is_unsafe and self.is_touched:
                if kind != "Ping":
                    self._refuse_write(method, url)
                return True
            return False
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            if url in ("about:blank", "about:srcdoc"):
                return False
            self._refuse_host(f"{parts.scheme[:20]}:", is_main)
            return True
        host = parts.hostname or ""
        is_redirect = is_main and self.follows_redirects and "redirectedRequestId" in event
        if not self.is_allowed(host) and not is_redirect:
            self._refuse_host(host, is_main)
            return True
        if is_unsafe and self._mode is ActingMode.READ:
            self._refuse_write(method, url)
            return True
        return False

    def _refuse_host(self, host: str, is_main: bool) -> None:
        if is_main:
            self.refused_hosts.append(host)
        else:
            self.refused_frames[host] = None

    def _refuse_write(self, method: str, url: str) -> None:
        parts = urlsplit(url)
        self.refused_writes.append(f"{method} {parts.netloc}{parts.path}"[:_MAX_URL])

    def _refuse_credentials(self, session: Session, event: Event) -> None:
        self._notice("refused: the site asked for a user name and password")
        session.post(
            "Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse={"response": "CancelAuth"}
        )
