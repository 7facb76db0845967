"""Visit web pages with Chromium: a URL goes in through `Browsers.visit` and a `Snapshot` comes back.

A package of search-mcp. `Browsers` is imported on first use: it costs 150 ms, which other modules do not need.
"""

from typing import TYPE_CHECKING

from browsers.model import Frame, JsonResponse, Mode, RedirectHop, Request, Snapshot, Tier, Timing, VisitLimits
from browsers.settings import BrowserSettings

if TYPE_CHECKING:
    from browsers.client import Browsers

__all__ = [
    "BrowserSettings",
    "Browsers",
    "Frame",
    "JsonResponse",
    "Mode",
    "RedirectHop",
    "Request",
    "Snapshot",
    "Tier",
    "Timing",
    "VisitLimits",
]


def __getattr__(name: str) -> object:
    """Import `Browsers` on first use (PEP 562)."""
    if name != "Browsers":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from browsers.client import Browsers

    return Browsers
