"""Store the cookies of site profiles in memory for each caller; set them before a visit and save them after it."""

from __future__ import annotations

from cachetools import LRUCache

from browsers.cdp.session import Event
from browsers.navigation.tab import Tab

MAX_PROFILES = 200


class CookieProfiles:
    """Store cookies by (principal, profile) in memory. The least recently used profile is evicted first."""

    def __init__(self) -> None:
        """Start without cookies."""
        self._cookies: LRUCache[tuple[str, str], list[Event]] = LRUCache(MAX_PROFILES)

    async def load(self, tab: Tab, principal: str, site_profile: str) -> None:
        """Set the profile's cookies in a new tab."""
        cookies = self._cookies.get((principal, site_profile))
        if cookies:
            await tab.connection.call("Storage.setCookies", cookies=cookies, browserContextId=tab.context_id)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Delete a profile's cookies and return True if there were any."""
        return bool(self._cookies.pop((principal, site_profile), None))

    async def save(self, tab: Tab, principal: str, site_profile: str) -> None:
        """Store the profile's cookies from a tab."""
        found = await tab.connection.call("Storage.getCookies", browserContextId=tab.context_id)
        self._cookies[principal, site_profile] = [_make_settable(cookie) for cookie in found["cookies"]]


def _make_settable(cookie: Event) -> Event:
    """Return the fields of a cookie from `Storage.getCookies` that `Storage.setCookies` accepts."""
    names = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "priority", "partitionKey")
    settable = {key: cookie[key] for key in names if key in cookie}
    if not cookie.get("session", False):
        settable["expires"] = cookie["expires"]
    return settable
