"""Let a person sign in, in a window of the browser behind the egress proxy, and read the login when it is closed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from urllib.parse import urlsplit

from browsers import errors
from browsers.acting.login_restorer import read_cookies, read_storage
from browsers.cdp.session import CommandFailedError
from browsers.login_state import Cookie, LoginState
from browsers.model import Mode, Request, ThirdParties, Tier
from browsers.navigation.error_mapping import map_net_error
from browsers.navigation.tab import Tab
from browsers.pool.browser_pool import BrowserPool

_MAX_TRAFFIC_BYTES = 1024 * 1024 * 1024
"""Network bytes of the window, in each direction."""
_POLL_S = 0.5
_NAVIGATE_S = 30.0
_GONE = (CommandFailedError, TimeoutError, errors.BrowsersError)


async def read_login_from_window(pool: BrowserPool, url: str, hosts: tuple[str, ...], *, limit_s: float) -> LoginState:
    """Show a page until its window is closed, or for `limit_s` seconds; return the login of the hosts.

    Raises:
        BrowsersError: The browser does not start, or the page cannot be loaded.
    """
    handle = await pool.get_handle(Tier.FULL)
    request = Request(url, tier=Tier.FULL, mode=Mode.RENDER)
    async with handle.lease(request) as lease:
        tab = lease.tab
        tab.listener.begin_visit(_MAX_TRAFFIC_BYTES)
        tab.listener.filter_third_parties(ThirdParties.ALL, (urlsplit(url).hostname or "",))
        # Nothing pauses or counts the person's requests.
        await tab.session.send("Fetch.disable")
        try:
            answer = await tab.session.send("Page.navigate", url=url, limit_s=_NAVIGATE_S)
        except TimeoutError:
            message = f"{url} did not answer within {_NAVIGATE_S:.0f} s."
            raise errors.DeadlineExceededError(message, url=url) from None
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
        cookies = await read_cookies(tab)
        tab.session.begin_visit()
        storage |= await read_storage(tab.session)
    return cookies
