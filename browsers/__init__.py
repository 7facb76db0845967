"""The one door to the web: a URL goes out through `Browsers.visit` and comes back as a `Snapshot`."""

from browsers.browsers import Browsers
from browsers.model import Frame, Hop, JsonResponse, Limits, Mode, Request, Snapshot, Tier, Timing
from browsers.settings import BrowserSettings

__all__ = [
    "BrowserSettings",
    "Browsers",
    "Frame",
    "Hop",
    "JsonResponse",
    "Limits",
    "Mode",
    "Request",
    "Snapshot",
    "Tier",
    "Timing",
]
