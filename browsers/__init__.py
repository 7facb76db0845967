"""Visit web pages with Chromium: a URL goes in through `Browsers.visit` and a `Snapshot` comes back."""

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
