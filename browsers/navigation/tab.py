"""A browser tab in a context of its own, behind a proxy listener of its own. Tabs share nothing."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Coroutine
from urllib.parse import unquote, urlsplit

from browsers.cdp.session import CommandFailedError, Connection, Event, Session
from browsers.egress import EgressProxy, ProxyListener
from browsers.errors import BrowsersError, PageCrashedError
from browsers.http.urls import strip_credentials
from browsers.identity.fingerprint import BrowserIdentity
from browsers.model import Request

MAX_CACHED_URLS = 32
MAX_CACHED_BYTES = 4_000_000
"""Of bodies: a tab's cache lies in memory."""

_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PLAIN = re.compile(
    rf"https?://(?:(?:{_BYTE}\.){{3}}{_BYTE}(?=[:/?#]|\Z)|(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*\.?)"
    r"(?!:(?:80|443)(?:[/?#]|\Z))(?::[1-9]\d*)?"
    r"(?:[/?#](?!(?:[^?#]*/)?(?:\.|%2e))[!-\[\]-~]*)?",
    re.ASCII | re.IGNORECASE,
)
"""An address that stands there as browsers write it, but for letters and percents. Others (dots to go up by,
the usual port, a host in foreign letters, other numbers for a host, backslashes) may mean any."""


class CachedUrls:
    """What was answered since the cache was emptied."""

    def __init__(self) -> None:
        self.of_others = False
        """Whether some of it was answered to an earlier visit."""
        self._keys: set[str] = set()
        self._bytes = 0

    def __contains__(self, url: str) -> bool:
        return bool(self._keys) and (_PLAIN.fullmatch(url) is None or _key(url) in self._keys)

    @property
    def full(self) -> bool:
        """Whether the cache should be emptied for its size."""
        return len(self._keys) > MAX_CACHED_URLS or self._bytes > MAX_CACHED_BYTES

    def add(self, url: str, size: int = 0) -> None:
        """Note an answer of so many bytes."""
        self._keys.add(_key(url))
        self._bytes += size

    def begin(self) -> None:
        """Another visit begins: what is there by now is not its own."""
        self.of_others = bool(self._keys)

    def clear(self) -> None:
        """The cache is empty."""
        self.of_others = False
        self._keys.clear()
        self._bytes = 0


def _key(url: str) -> str:
    """The same for all plain spellings of an address: two with different keys differ for Chromium too."""
    parts = urlsplit(strip_credentials(url))
    return unquote(f"{parts.netloc.lower()}{parts.path or '/'}?{parts.query}").lower()


CLOSE_LIMIT_S = 2.0
RENEW_LIMIT_S = 5.0
EVERY_ORIGIN = "*"
PREPARE_LIMIT_S = 5.0
"""A machine under heavy load was seen to need more than two seconds for a tab's first answer."""
PAUSE_AT_RESPONSE = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}]
PAUSE_AT_BOTH = [
    {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"},
    *PAUSE_AT_RESPONSE,
]


class Tab:
    """A blank tab ready for a visit.

    As long as its visits only peek, nothing commits in it and it serves again once `clean`ed; after a render
    it is closed with its context, or rests until the same profile comes again.
    """

    def __init__(
        self, connection: Connection, context_id: str, frame_id: str, session: Session, gate: ProxyListener
    ) -> None:
        self.connection = connection
        self.context_id = context_id
        self.frame_id = frame_id
        """The main frame; of a fresh target it is the target's id."""
        self.session = session
        self.gate = gate
        self.peeks = 0
        self.rests = 0
        self.renewals = 0
        self.committed = False
        """Whether this visit let a page into it."""
        self.saw_password = False
        """Whether an address on its way had one: the browser says it to that host again, and unasked."""
        self.cached = CachedUrls()
        self.origins: set[str] = set()
        """Of all documents that were in it."""
        self._held: str | None = None
        """The response at which a navigation is held that is to be given up."""
        self._leaving: asyncio.Future[Event] | None = None
        """Its end."""
        self._holds_page = False
        """Whether any visit did: until then its one document is the empty one that it was opened with."""
        self._principal = ""
        self._language = ""
        self._pauses_requests = False

    @classmethod
    async def open(cls, connection: Connection, egress: EgressProxy) -> Tab:
        """A fresh tab; raises BrowserGone, CommandFailed or TimeoutError when the browser cannot make one."""
        async with contextlib.AsyncExitStack() as undo:
            gate = await egress.open_listener()
            undo.push_async_callback(gate.close)
            context_id = await connection.open_context(gate.proxy_server)
            undo.push_async_callback(_quietly, lambda: connection.close_context(context_id))
            frame_id, session = await connection.open_session(context_id)
            await session.send("Fetch.enable", patterns=PAUSE_AT_RESPONSE)
            undo.pop_all()
            return cls(connection, context_id, frame_id, session, gate)
        raise AssertionError  # the exit stack swallows nothing

    async def prepare(self, request: Request, identity: BrowserIdentity) -> None:
        """Speak the visit's language, and pause its request too where it is not a plain GET."""
        commands: list[asyncio.Future[Event]] = []
        self.committed = False
        if request.url in self.cached:
            await self.empty_cache()
        self.cached.begin()
        if self._principal not in ("", request.principal):
            self.gate.drop_connections()
        self._principal = request.principal
        commands += self._speak(request.language, identity)
        shaped = request.method != "GET" or bool(request.headers)
        if self._pauses_requests != shaped:
            self._pauses_requests = shaped
            patterns = PAUSE_AT_BOTH if shaped else PAUSE_AT_RESPONSE
            commands.append(self.session.start("Fetch.enable", patterns=patterns))
        if commands:
            async with asyncio.timeout(PREPARE_LIMIT_S):
                await asyncio.gather(*commands)

    async def speak(self, language: str, identity: BrowserIdentity) -> None:
        """Get ready for visits in that language: a renderer that has just started is slow to answer."""
        async with asyncio.timeout(PREPARE_LIMIT_S):
            await asyncio.gather(*self._speak(language, identity))

    def _speak(self, language: str, identity: BrowserIdentity) -> list[asyncio.Future[Event]]:
        if self._language == language:
            return []
        self._language = language
        locale = identity.locale_override(language)
        if locale is not None:
            # Refused where another tab of the process has one already: dates are then in that one's form.
            self.session.post("Emulation.setLocaleOverride", **locale)
        return [self.session.start("Emulation.setUserAgentOverride", **identity.override(language))]

    def let_page_in(self) -> None:
        """From now on it holds a page, which may run and leave something."""
        self.committed = self._holds_page = True

    def leave(self, held: str, end: asyncio.Future[Event]) -> None:
        """Give up a navigation that is held at a response, when the tab is cleaned, put to rest or closed.

        Not at once: whoever has the response in hand goes on before the browser is woken for this.
        """
        self._held, self._leaving = held, end

    async def clean(self) -> None:
        """Forget what an aborted navigation leaves behind: cookies at once, its response when that matters.

        Both were seen to reach the next visit. `Storage.clearCookies` would clear another context's, and
        disabling the cache needs `Network.enable`, whose events cost more than all this.
        """
        self.session.off()
        await self._left()
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await self.session.send("Network.clearBrowserCookies")
            if self.cached.full:
                await self.empty_cache()

    async def _left(self) -> None:
        """End a navigation that is to be given up."""
        self._let_go()
        leaving, self._leaving = self._leaving, None
        if leaving is not None:
            # That it fails is what was asked for; a renderer that died answers the next command with that.
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await asyncio.gather(leaving, return_exceptions=True)

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self.session.post("Fetch.failRequest", requestId=held, errorReason="Aborted")

    async def empty_cache(self) -> None:
        """Forget every response."""
        self.cached.clear()
        await self.session.send("Network.clearBrowserCache", limit_s=CLOSE_LIMIT_S)

    async def rest(self) -> None:
        """Stand still until the same profile comes again: no script runs, and nothing reaches the network."""
        self.rests += 1
        self.session.off()
        self.cached.clear()
        self._let_go()
        self.gate.pause()
        await self._left()
        commands = [
            # A page that is asked for again comes from its site, as from a fresh tab.
            self.session.start("Network.clearBrowserCache"),
            self.session.start("Page.resetNavigationHistory"),
            self.session.start("Page.disable"),
            self.session.start("Network.disable"),
        ]
        if self._holds_page:
            # Not the empty document: the next page takes its frame over, and would stand still in it
            commands.append(self.session.start("Page.setWebLifecycleState", state="frozen"))
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await asyncio.gather(*commands)

    def halt(self) -> None:
        """Stand still until the context serves another page: no script runs, nothing reaches the network."""
        self.session.off()
        self._let_go()
        self.gate.pause()
        self.session.post("Emulation.setScriptExecutionDisabled", value=True)

    async def renew(self) -> None:
        """Put a new tab in the place of this one: in its context and process, with nothing of what was left.

        Name, history and session storage end with the old tab. Cookies, caches and the storage of every
        origin are emptied after it, so that its last words do not come later.

        Raises:
            CommandFailed, TimeoutError: the browser does not do it.
            BrowsersError: somebody is left who may still write, or nobody to answer.
        """
        self.renewals += 1
        old, old_target = self.session, self.frame_id
        await self._left()
        async with asyncio.timeout(RENEW_LIMIT_S):
            # First, since a process without tabs ends.
            self.frame_id, self.session = await self.connection.open_session(self.context_id)
            # Answered when no script runs; unloading would run some. A page that is closed is let go by us
            # before it ends, and was seen to run a timer then: not so when it is frozen.
            await old.send("Emulation.setScriptExecutionDisabled", value=True)
            await old.send("Page.setWebLifecycleState", state="frozen")
            await _empty_local_storage(old, self.origins)
            await self._have_nobody_but(old_target, self.frame_id)
            await self.connection.call("Target.closeTarget", targetId=old_target)
            await old.ended.wait()
            await self._empty()
            await self._have_nobody_but(self.frame_id)
        self.origins.clear()
        self._holds_page = False
        self._language = ""
        self._pauses_requests = False

    async def _empty(self) -> None:
        self.cached.clear()
        session = self.session
        await asyncio.gather(
            session.start("Fetch.enable", patterns=PAUSE_AT_RESPONSE),
            session.start("Network.clearBrowserCookies"),
            session.start("Network.clearBrowserCache"),
            session.start("Storage.clearDataForOrigin", origin=EVERY_ORIGIN, storageTypes="all"),
            # The process has a cache of its own, which is emptied by not wanting it.
            session.start("Network.setCacheDisabled", cacheDisabled=True),
            session.start("Network.setCacheDisabled", cacheDisabled=False),
        )

    async def _have_nobody_but(self, *targets: str) -> None:
        """Raises PageCrashed when the context has workers: they outlive pages, and write when they like."""
        found = await self.connection.call("Target.getTargets")
        for info in found["targetInfos"]:
            if info.get("browserContextId") == self.context_id and info["targetId"] not in targets:
                raise PageCrashedError(f"A {info['type']} is left in the context.")

    async def close(self) -> None:
        """Dispose of the context and all that ran in it."""
        self.session.off()
        # What is held when the session ends would go on.
        self._let_go()
        await _quietly(lambda: self.connection.close_context(self.context_id, limit_s=CLOSE_LIMIT_S))
        self.connection.forget(self.session)
        await self.gate.close()


async def _empty_local_storage(session: Session, seen: set[str]) -> None:
    """By the process itself, whose own copy outlives what is emptied outside: late writes were seen in it.

    It reaches the origins of frames that are there. Raises PageCrashed when others were `seen`.
    """
    frames = _frames((await session.send("Page.getFrameTree"))["frameTree"])
    gone = seen.difference(frame["securityOrigin"] for frame in frames)
    if gone:
        raise PageCrashedError(f"Frames of {len(gone)} origins came and went.")
    told = await asyncio.gather(
        *(session.start("Storage.getStorageKey", frameId=frame["id"]) for frame in frames),
        return_exceptions=True,
    )
    await asyncio.gather(
        *(
            session.start("DOMStorage.clear", storageId={"storageKey": key, "isLocalStorage": True})
            for key in {_storage_key(answer) for answer in told} - {None}
        )
    )


def _storage_key(answer: Event | BaseException) -> str | None:
    """None for a frame of an opaque origin, which has no storage."""
    if isinstance(answer, CommandFailedError) and "opaque" in str(answer):
        return None
    if isinstance(answer, BaseException):
        raise answer
    return str(answer["storageKey"])


def _frames(tree: Event) -> list[Event]:
    return [tree["frame"], *(frame for child in tree.get("childFrames", []) for frame in _frames(child))]


async def _quietly(action: Callable[[], Coroutine[None, None, None]]) -> None:
    """Closing what is gone already is done."""
    with contextlib.suppress(CommandFailedError, TimeoutError, BrowsersError):
        await action()
