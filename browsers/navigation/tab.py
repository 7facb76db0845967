"""A browser tab with its own browser context and proxy listener, and the URLs in its HTTP cache."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Self
from urllib.parse import unquote

import ada_url

from browsers.cdp.session import CommandFailedError, Connection, Event, Session
from browsers.egress.proxy_listener import ProxyListener
from browsers.egress.proxy_server import EgressProxy
from browsers.errors import BrowsersError, PageCrashedError
from browsers.identity.fingerprint import NETWORK_STATE, NO_NOTIFICATIONS, BrowserIdentity
from browsers.model import Request, Tier
from browsers.scripts import DESKTOP_APIS
from browsers.slot_scaling import measure_slowdown

MAX_CACHED_URLS = 32
MAX_CACHED_BYTES = 4_000_000
"""Number of cached URLs and bytes of their bodies above which the cache is emptied. It is in memory."""


class CachedUrls:
    """Track the URLs that the HTTP cache of a tab may contain.

    Emptying the cache after each peek (a visit without rendering) took a tenth of its CPU. A page can read an entry
    only by requesting its exact URL. The cache is therefore emptied before a cached URL is requested again and when it
    is full. It is also emptied before a page commits, since a page may request any URL.
    """

    def __init__(self) -> None:
        """Start without URLs."""
        self.has_other_visits = False
        self._keys: set[str] = set()
        self._bytes = 0

    def __contains__(self, url: str) -> bool:
        """Return True if the cache may contain the URL."""
        key = _key(url)
        return bool(self._keys) and (not key or key in self._keys)

    @property
    def full(self) -> bool:
        """True if the cache should be emptied because of its size."""
        return len(self._keys) > MAX_CACHED_URLS or self._bytes > MAX_CACHED_BYTES

    def add(self, url: str, size: int = 0) -> None:
        """Record a cached response and its size in bytes."""
        self._keys.add(_key(url))
        self._bytes += size

    def begin(self) -> None:
        """Begin another visit: all current entries belong to earlier visits."""
        self.has_other_visits = bool(self._keys)

    def clear(self) -> None:
        """Forget all entries, after the cache was emptied."""
        self.has_other_visits = False
        self._keys.clear()
        self._bytes = 0


def _key(url: str) -> str:
    """Return a key that is equal for all spellings of a URL, such as with a default port; empty if it is no URL."""
    try:
        parts = ada_url.URL(url)
    except ValueError:
        return ""
    return unquote(f"{parts.host}{parts.pathname}{parts.search}").lower()


CLOSE_LIMIT_S = 2.0
RENEW_LIMIT_S = 5.0
_EVERY_ORIGIN = "*"
PREPARE_LIMIT_S = 5.0
"""Seconds. A machine under heavy load needed more than two seconds for a tab's first answer."""
PAUSE_AT_RESPONSE = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}]
_PAUSE_AT_BOTH = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}, *PAUSE_AT_RESPONSE]


class Tab:
    """A blank tab for a visit, reused after a peek, and after a render closed, frozen (profile) or renewed (batch)."""

    def __init__(
        self, connection: Connection, context_id: str, frame_id: str, session: Session, listener: ProxyListener
    ) -> None:
        """Take ownership of a new target and its browser context."""
        self.connection = connection
        self.context_id = context_id
        self.frame_id = frame_id
        """Id of the main frame. For a new target it is the target's id."""
        self.session = session
        self.listener = listener
        self.peeks = 0
        self.freezes = 0
        self.renewals = 0
        self.committed = False
        self.saw_credentials = False
        """True if a URL contained credentials: the browser repeats them to that host unasked."""
        self.cached = CachedUrls()
        self.origins: set[str] = set()
        self._paused_request: str | None = None
        self._navigation_result: asyncio.Future[Event] | None = None
        self._has_page = False
        """True if any visit committed a page. Before, the only document is the empty one."""
        self.sends_page_events = False
        """True if `Page.enable` was sent. A second one makes Chromium report each dialog twice."""
        self._principal = ""
        self._language = ""
        self._pauses_requests = False

    @classmethod
    async def open(cls, connection: Connection, egress: EgressProxy) -> Self:
        """Open a new tab. Raises BrowserGoneError, CommandFailedError or TimeoutError."""
        async with contextlib.AsyncExitStack() as undo:
            listener = await egress.open_listener()
            undo.push_async_callback(listener.close)
            context_id = await connection.open_context(listener.proxy_server)
            undo.push_async_callback(_ignore_errors, lambda: connection.close_context(context_id))
            frame_id, session = await connection.open_session(context_id)
            await session.send("Fetch.enable", patterns=PAUSE_AT_RESPONSE)
            undo.pop_all()
            return cls(connection, context_id, frame_id, session, listener)
        raise AssertionError  # the exit stack suppresses no exception

    async def prepare(self, request: Request, identity: BrowserIdentity) -> None:
        """Prepare a visit: language, interception unless it is a plain GET, no cache of its URL, own connections."""
        self.committed = False
        self.session.begin_visit()
        if request.url in self.cached:
            await self.empty_cache()
        self.cached.begin()
        if self._principal not in ("", request.principal):
            self.listener.drop_connections()
        self._principal = request.principal
        commands = self._identity_commands(request.language, identity)
        is_custom = request.method != "GET" or bool(request.headers or request.signer)
        if self._pauses_requests != is_custom:
            self._pauses_requests = is_custom
            patterns = _PAUSE_AT_BOTH if is_custom else PAUSE_AT_RESPONSE
            commands.append(self.session.start("Fetch.enable", patterns=patterns))
        if commands:
            async with asyncio.timeout(PREPARE_LIMIT_S * measure_slowdown()):
                await asyncio.gather(*commands)

    async def set_language(self, language: str, identity: BrowserIdentity) -> None:
        """Prepare the tab for a language ahead of its visit: a new renderer is slow to answer."""
        async with asyncio.timeout(PREPARE_LIMIT_S * measure_slowdown()):
            await asyncio.gather(*self._identity_commands(language, identity))

    def _identity_commands(self, language: str, identity: BrowserIdentity) -> list[Awaitable[Event]]:
        if self._language == language:
            return []
        is_first = not self._language
        self._language = language
        locale = identity.locale_override(language)
        if locale is not None:
            # Fails if another tab of the process has a locale: dates then use that one.
            self.session.post("Emulation.setLocaleOverride", **locale)
        commands: list[Awaitable[Event]] = [
            self.session.start("Emulation.setUserAgentOverride", **identity.override(language))
        ]
        if is_first and identity.tier is Tier.LIGHT:
            self.sends_page_events = True
            permission = {**NO_NOTIFICATIONS, "browserContextId": self.context_id}
            commands += [
                # Before the page is loaded: while a response is paused, a script arrives after the commit.
                self.session.start("Page.enable"),
                self.session.start("Page.addScriptToEvaluateOnNewDocument", source=DESKTOP_APIS),
                self.session.start("Network.overrideNetworkState", **NETWORK_STATE),
                self.connection.browser.send("Browser.setPermission", **permission),
            ]
        return commands

    def mark_committed(self) -> None:
        """Record that a page commits, which may run scripts and leave data."""
        self.committed = self._has_page = True

    def defer_abort(self, request_id: str, result: asyncio.Future[Event]) -> None:
        """Register a paused navigation, to be aborted later: now, the browser would work while the response is used."""
        self._paused_request, self._navigation_result = request_id, result

    async def clear_visit_data(self) -> None:
        """Remove the data of an aborted navigation: cookies always, its cached response only when necessary.

        Both reached the next visit in tests. `Storage.clearCookies` would clear those of another context, and disabling
        the cache needs `Network.enable`, whose events cost more than this method. Raises CommandFailedError if the
        browser refused a command, TimeoutError if the browser does not answer, and BrowsersError if the renderer or the
        browser crashed.
        """
        self.session.remove_handlers()
        await self._finish_abort()
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await self.session.send("Network.clearBrowserCookies")
            if self.cached.full:
                await self.empty_cache()

    async def _finish_abort(self) -> None:
        self._abort_request()
        result, self._navigation_result = self._navigation_result, None
        if result is not None:
            # The failure is expected. If the renderer crashed, the next command reports it.
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await asyncio.gather(result, return_exceptions=True)

    def _abort_request(self) -> None:
        request_id, self._paused_request = self._paused_request, None
        if request_id is not None:
            self.session.post("Fetch.failRequest", requestId=request_id, errorReason="Aborted")

    async def empty_cache(self) -> None:
        """Empty the HTTP cache."""
        self.cached.clear()
        await self.session.send("Network.clearBrowserCache", limit_s=CLOSE_LIMIT_S)

    async def freeze(self) -> None:
        """Freeze scripts and traffic until the same profile returns. Raises what `clear_visit_data` raises."""
        self.freezes += 1
        # Disabling ends the settings of the identity.
        self._language = ""
        self.sends_page_events = False
        self.session.remove_handlers()
        self.cached.clear()
        self._abort_request()
        self.listener.end_visit()
        await self._finish_abort()
        # Without its cache, a repeated page is loaded from its site, as in a new tab.
        methods = ("Network.clearBrowserCache", "Page.resetNavigationHistory", "Page.disable", "Network.disable")
        commands = [self.session.start(method) for method in methods]
        if self._has_page:
            # Not the empty document: the next page takes its frame over and would stay frozen.
            commands.append(self.session.start("Page.setWebLifecycleState", state="frozen"))
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await asyncio.gather(*commands)

    def stop_scripts(self) -> None:
        """Stop all scripts and traffic of the page, until `renew` replaces the tab."""
        self.session.remove_handlers()
        self._abort_request()
        self.listener.end_visit()
        self.session.post("Emulation.setScriptExecutionDisabled", value=True)

    async def renew(self) -> None:
        """Replace this tab by a new one in the same context and process, without data of earlier pages.

        Window name, history and session storage end with the old tab. Cookies, caches and the storage of every origin
        are emptied after it has closed, so that late writes are included. Raises CommandFailedError if the browser
        refused a command, TimeoutError if the browser does not answer, and BrowsersError if a worker is left that may
        still write, or the browser crashed.
        """
        self.renewals += 1
        old, old_target = self.session, self.frame_id
        await self._finish_abort()
        async with asyncio.timeout(RENEW_LIMIT_S):
            # First, because a process without tabs ends.
            self.frame_id, self.session = await self.connection.open_session(self.context_id)
            # The answer means that no script runs; unloading would run some. A closed page is detached before it ends,
            # and ran a timer then in tests. A frozen page does not.
            await old.send("Emulation.setScriptExecutionDisabled", value=True)
            await old.send("Page.setWebLifecycleState", state="frozen")
            await _empty_local_storage(old, self.origins)
            await self._check_only_targets(old_target, self.frame_id)
            await self.connection.browser.send("Target.closeTarget", targetId=old_target)
            await old.ended.wait()
            await self._clear_storage()
            await self._check_only_targets(self.frame_id)
        self.origins.clear()
        self._has_page = self.sends_page_events = False
        self._language = ""
        self._pauses_requests = False

    async def _clear_storage(self) -> None:
        self.cached.clear()
        session = self.session
        await asyncio.gather(
            session.start("Fetch.enable", patterns=PAUSE_AT_RESPONSE),
            session.start("Network.clearBrowserCookies"),
            session.start("Network.clearBrowserCache"),
            session.start("Storage.clearDataForOrigin", origin=_EVERY_ORIGIN, storageTypes="all"),
            # The process has a cache of its own, which is emptied by disabling it.
            session.start("Network.setCacheDisabled", cacheDisabled=True),
            session.start("Network.setCacheDisabled", cacheDisabled=False),
        )

    async def _check_only_targets(self, *targets: str) -> None:
        """Raise PageCrashedError if the context has other targets. Workers outlive pages and may still write."""
        found = await self.connection.browser.send("Target.getTargets")
        for info in found["targetInfos"]:
            if info.get("browserContextId") == self.context_id and info["targetId"] not in targets:
                raise PageCrashedError(f"A {info['type']} is left in the context.")

    async def close(self) -> None:
        """Close the context with everything in it."""
        self.session.remove_handlers()
        # A paused request would continue when the session ends.
        self._abort_request()
        await _ignore_errors(lambda: self.connection.close_context(self.context_id, limit_s=CLOSE_LIMIT_S))
        self.connection.forget(self.session)
        await self.listener.close()


async def _empty_local_storage(session: Session, origins: set[str]) -> None:
    """Empty the local storage of all frames through their process, whose own copy wrote late in tests."""
    frames = _list_frames((await session.send("Page.getFrameTree"))["frameTree"])
    lost_origins = origins.difference(frame["securityOrigin"] for frame in frames)
    if lost_origins:
        raise PageCrashedError(f"Frames of {len(lost_origins)} origins appeared and disappeared.")
    asked = (session.start("Storage.getStorageKey", frameId=frame["id"]) for frame in frames)
    keys = {_storage_key(answer) for answer in await asyncio.gather(*asked, return_exceptions=True)} - {None}
    stores = ({"storageKey": key, "isLocalStorage": True} for key in keys)
    await asyncio.gather(*(session.start("DOMStorage.clear", storageId=store) for store in stores))


def _storage_key(answer: Event | BaseException) -> str | None:
    """Return the storage key, or None for a frame of an opaque origin, which has no storage."""
    if isinstance(answer, CommandFailedError) and "opaque" in str(answer):
        return None
    if isinstance(answer, BaseException):
        raise answer
    return str(answer["storageKey"])


def _list_frames(tree: Event) -> list[Event]:
    return [tree["frame"], *(frame for child in tree.get("childFrames", []) for frame in _list_frames(child))]


async def _ignore_errors(action: Callable[[], Coroutine[None, None, None]]) -> None:
    with contextlib.suppress(CommandFailedError, TimeoutError, BrowsersError):
        await action()
