"""The window that pages are laid out for, and how much of it is painted: nobody looks at the picture."""

from __future__ import annotations

from browsers.cdp import Event
from browsers.model import Tier

__all__ = [
    "LIGHT_HEIGHT",
    "LIGHT_WIDTH",
    "SCREEN_HEIGHT",
    "SCREEN_WIDTH",
    "TASKBAR_HEIGHT",
    "taller",
    "thumbnail",
]

SCREEN_WIDTH, SCREEN_HEIGHT, TASKBAR_HEIGHT = 1920, 1080, 40

LIGHT_WIDTH, LIGHT_HEIGHT = 1280, 900
"""Of the light tier: what is laid out and painted costs, 7-12 % less of a JavaScript page than a window that
fills the screen."""

SCALE = 0.1
"""Of what is painted in the light tier. A page's own measures stay as they are, its observers and frames too:
only its picture is a hundredth as large, which spares a tenth of the CPU of a JavaScript page."""


def thumbnail(height: int = LIGHT_HEIGHT) -> Event:
    """`Emulation.setDeviceMetricsOverride` for the light tier's window, made so tall, and painted small.

    The size is given in full: one of zero would stand for the window's own, divided by the scale.
    """
    return {
        "width": LIGHT_WIDTH,
        "height": height,
        "deviceScaleFactor": 0,
        "mobile": False,
        "scale": SCALE,
        "screenWidth": SCREEN_WIDTH,
        "screenHeight": SCREEN_HEIGHT,
    }


def taller(tier: Tier, height: int) -> Event:
    """The same for a window as tall as its page; the full tier's is otherwise left as it is."""
    if tier is Tier.LIGHT:
        return thumbnail(height)
    return {"width": 0, "height": height, "deviceScaleFactor": 0, "mobile": False}
