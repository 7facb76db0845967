"""Limits of an App that may not be open yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scraper.coordination.local_state import LocalLimits
from scraper.coordination.protocols import Limit
from scraper.server.lifecycle.app_holder import AppHolder

if TYPE_CHECKING:
    from scraper.app import App


class AppLimits:
    """The App's, and until there is one those of this process."""

    def __init__(self, house: AppHolder[App]) -> None:
        self._house = house
        self._own = LocalLimits()

    async def take(self, limit: Limit, key: str) -> float:
        """Count one; the seconds to wait when it may not be done."""
        app = self._house.present()
        return await (self._own if app is None else app.shared.limits).take(limit, key)
