"""The one door to the web: a URL goes out through `Browsers.visit` and comes back as a `Snapshot`."""

from browsers.client import Browsers
from browsers.model import (
    Frame,
    JsonResponse,
    Mode,
    RedirectHop,
    Request,
    Snapshot,
    Tier,
    Timing,
    VisitLimits,
)
from browsers.settings import BrowserSettings

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
