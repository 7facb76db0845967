"""Restore a saved login in a tab, and let a person sign in, in a window of the browser behind the egress proxy."""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from browsers import errors
from browsers.acting.dom_snapshot import PageNode, iter_subtree
from browsers.cdp.session import CommandFailedError
from browsers.login_state import COOKIE_FIELDS, Cookie, LoginState, identify, make_settable
from browsers.model import ThirdParties
from browsers.navigation.error_mapping import map_net_error
from browsers.navigation.tab import Tab

_MAX_TRAFFIC_BYTES = 1024 * 1024 * 1024
"""Network bytes of the window, in each direction."""
_POLL_S = 0.5
_NAVIGATE_S = 30.0
_GONE = (CommandFailedError, TimeoutError, errors.BrowsersError)
_LIMIT_S = 5.0
_WORLD = "login"
_RESTORE = """(() => {
  const items = %s[location.origin] || {};
  for (const name of Object.keys(items)) localStorage.setItem(name, items[name]);
})()"""
_READ = "JSON.stringify([location.origin, Object.entries(localStorage)])"


class LoginRestorer:
    """Sign one tab in: set cookies before its first request, and storage before the first script of each origin."""

    def __init__(self, tab: Tab, state: LoginState) -> None:
        """Prepare to sign in `tab` with `state`; call `restore` next."""
        self._tab = tab
        self._state = state
        self._left = dict(state.storage)
        self._script_id = ""
        self._adding: asyncio.Future[None] | None = None

    async def restore(self) -> None:
        """Set the cookies, and add the script that sets the storage. Raises CommandFailedError or TimeoutError."""
        if self._state.cookies:
            cookies = [make_settable(cookie) for cookie in self._state.cookies]
            await self._tab.connection.browser.send(
                "Storage.setCookies", cookies=cookies, browserContextId=self._tab.context_id, limit_s=_LIMIT_S
            )
        await self._add_script()

    def forget_origin(self, origin: str) -> None:
        """Do not restore an origin again: the page may have changed its storage, or signed out."""
        if self._left.pop(origin, None) is not None:
            session = self._tab.session
            session.post("Page.removeScriptToEvaluateOnNewDocument", identifier=self._script_id)
            self._adding = asyncio.ensure_future(self._add_script())

    async def has_lost_session(self) -> bool:
        """Return True if the site deleted all session cookies of the login (`LoginState.session_cookies`)."""
        expected, context = self._state.session_cookies(), {"browserContextId": self._tab.context_id}
        if not expected:
            return False
        found = await self._tab.connection.browser.send("Storage.getCookies", limit_s=_LIMIT_S, **context)
        return expected.isdisjoint(identify(cookie) for cookie in found["cookies"])

    async def _add_script(self) -> None:
        if not self._left:
            return
        # In a world of its own, where the page cannot read the source.
        added = await self._tab.session.send(
            "Page.addScriptToEvaluateOnNewDocument",
            source=_RESTORE % json.dumps(self._left).replace("</", "<\\/"),
            worldName=_WORLD,
            runImmediately=False,
            limit_s=_LIMIT_S,
        )
        self._script_id = added["identifier"]


def asks_to_sign_in(root: PageNode) -> bool:
    """Return True if exactly one password field is visible, not for a new password; several change a password."""
    fields = [node for node in iter_subtree(root) if node.tag == "input" and node.is_visible]
    passwords = [one for one in fields if one.attributes.get("type", "").lower() == "password"]
    return len(passwords) == 1 and passwords[0].attributes.get("autocomplete") != "new-password"


async def read_login_from_window(tab: Tab, url: str, hosts: tuple[str, ...], *, limit_s: float) -> LoginState:
    """Show a page until it is closed, or for `limit_s`; return the login of the hosts. Raises BrowsersError."""
    tab.listener.begin_visit(_MAX_TRAFFIC_BYTES)
    tab.listener.filter_third_parties(ThirdParties.ALL, (urlsplit(url).hostname or "",))
    # Nothing pauses or counts the person's requests.
    await tab.session.send("Fetch.disable")
    try:
        answer = await tab.session.send("Page.navigate", url=url, limit_s=_NAVIGATE_S)
    except TimeoutError:
        raise errors.DeadlineExceededError(f"{url} did not answer within {_NAVIGATE_S:.0f} s.", url=url) from None
    if reason := answer.get("errorText"):
        raise map_net_error(reason, url, url, tab.listener.traffic)
    cookies: Iterable[Cookie] = ()
    storage: dict[str, dict[str, str]] = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            while not tab.session.ended.is_set():
                cookies = await _read(tab, storage) or cookies
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(tab.session.ended.wait(), _POLL_S)
    # Once more: the context outlives its window, unless the whole browser was closed.
    return LoginState.select(await _read(tab, storage) or cookies, storage, hosts)


async def _read(tab: Tab, storage: dict[str, dict[str, str]]) -> Iterable[Cookie]:
    """Return the cookies, and add the local storage of the visible page; return none if the browser is closed."""
    cookies: Iterable[Cookie] = ()
    with contextlib.suppress(*_GONE):
        context = {"browserContextId": tab.context_id}
        found = await tab.connection.browser.send("Storage.getCookies", limit_s=_LIMIT_S, **context)
        cookies = [{name: one[name] for name in COOKIE_FIELDS if name in one} for one in found["cookies"]]
        tab.session.begin_visit()
        answer = await tab.session.send("Runtime.evaluate", expression=_READ, returnByValue=True, limit_s=_LIMIT_S)
        if isinstance(value := answer.get("result", {}).get("value"), str):
            origin, items = json.loads(value)
            storage[str(origin)] = {str(name): str(item) for name, item in items}
    return cookies
