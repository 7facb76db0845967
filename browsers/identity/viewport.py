"""The window that pages are laid out for, and how much of it is painted: nobody looks at the picture."""

from __future__ import annotations

from browsers.cdp.session import Event

SCREEN_WIDTH, SCREEN_HEIGHT, TASKBAR_HEIGHT = 1920, 1080, 40

LIGHT_WIDTH, LIGHT_HEIGHT = 1280, 900
"""Of the light tier: what is laid out and painted costs, 7-12 % less of a JavaScript page than a window that
fills the screen."""

SCALE = 0.1
"""Of what is painted in the light tier. A page's own measures stay as they are, its observers and frames too:
only its picture is a hundredth as large, which spares a tenth of the CPU of a JavaScript page."""


def thumbnail() -> Event:
    """`Emulation.setDeviceMetricsOverride` for the light tier's window, painted small.

    The size is given in full: one of zero would stand for the window's own, divided by the scale.
    """
    return {
        "width": LIGHT_WIDTH,
        "height": LIGHT_HEIGHT,
        "deviceScaleFactor": 0,
        "mobile": False,
        "scale": SCALE,
        "screenWidth": SCREEN_WIDTH,
        "screenHeight": SCREEN_HEIGHT,
    }


def tall(height: int) -> Event:
    """The same for a window made as tall as its page, painted in full.

    One that is painted small and made taller stopped to give frames, once in 60 times; this one never did.
    """
    return {"width": 0, "height": height, "deviceScaleFactor": 0, "mobile": False}
