"""Named profiles: the only way in which one visit's cookies are seen by the next."""

from __future__ import annotations

from collections import OrderedDict

from browsers.cdp.session import Event
from browsers.model import Request
from browsers.tabs.tab import Tab

MAX_PROFILES = 200


class CookieProfiles:
    """Cookies by (principal, profile) for the life of the process; the least recently used goes first."""

    def __init__(self) -> None:
        self._cookies: OrderedDict[tuple[str, str], list[Event]] = OrderedDict()

    async def load(self, tab: Tab, request: Request) -> None:
        """Put the profile's cookies into a fresh tab."""
        if request.site_profile is None:
            return
        cookies = self._cookies.get((request.principal, request.site_profile))
        if cookies:
            await tab.connection.call("Storage.setCookies", cookies=cookies, browserContextId=tab.context_id)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Drop a profile's cookies; whether there were any."""
        return bool(self._cookies.pop((principal, site_profile), None))

    async def save(self, tab: Tab, request: Request) -> None:
        """Take the profile's cookies out of a tab."""
        if request.site_profile is None:
            return
        found = await tab.connection.call("Storage.getCookies", browserContextId=tab.context_id)
        key = (request.principal, request.site_profile)
        self._cookies[key] = [_settable(cookie) for cookie in found["cookies"]]
        self._cookies.move_to_end(key)
        while len(self._cookies) > MAX_PROFILES:
            self._cookies.popitem(last=False)


def _settable(cookie: Event) -> Event:
    """What `Storage.setCookies` takes back of what `Storage.getCookies` gives."""
    kept = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "priority", "partitionKey")
    settable = {key: cookie[key] for key in kept if key in cookie}
    if not cookie.get("session", False):
        settable["expires"] = cookie["expires"]
    return settable
