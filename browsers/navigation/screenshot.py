"""Take pictures of a rendered page: the window, the whole page in parts, one element, PDF or MHTML.

Unless `is_single`, pictures fit the limits of models: more than 1,568 pixels on the longer side or 1.15 megapixels
would be scaled down by them. A whole page is therefore cut into parts of one window each at full size, with a small
overview of all.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, replace
from typing import Any

from browsers import errors
from browsers.cdp.session import Event, Session
from browsers.model import Screenshot, ScreenshotKind, ScreenshotRequest
from browsers.navigation.readiness import ReadinessWaiter
from browsers.scripts import call_page

WINDOW_WIDTH, WINDOW_HEIGHT = 1_280, 900
_PART_HEIGHT = 898
"""CSS pixels of a part of the whole page: the most that fits into `MAX_PIXELS` without scaling."""
MAX_EDGE = 1_568
"""Maximum pixels of the longer side of a picture."""
MAX_PIXELS = 1_150_000
MAX_BYTES = 600_000
"""Bytes of one picture. A larger one is taken again with lower quality, except PNG and single pictures. The last
attempt may be larger."""
MAX_PAGE_HEIGHT = 16_000
"""Maximum height in CSS pixels of the pictured part of a page. Chromium paints no larger surface."""
_QUALITIES = (75, 50, 25)
"""Quality (1 to 100) of successive attempts in WebP and JPEG."""
_CAPTURE_LIMIT_S = 10.0
_REVEAL_LIMIT_S = 9.0
_SCRIPT_LIMIT_S = 3.0


@dataclass(frozen=True, slots=True)
class _Clip:
    x: float
    y: float
    width: float
    height: float

    @property
    def scale(self) -> float:
        """Largest scale up to 1 at which the picture is within the limits."""
        area = max(1.0, self.width * self.height)
        return min(1.0, MAX_EDGE / max(self.width, self.height, 1.0), math.sqrt(MAX_PIXELS / area))


def window_metrics(height: int = WINDOW_HEIGHT) -> Event:
    """Return the parameters of `Emulation.setDeviceMetricsOverride` for pictures."""
    return {"width": WINDOW_WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}


async def take_screenshots(
    session: Session, readiness: ReadinessWaiter, request: ScreenshotRequest
) -> tuple[Screenshot, ...]:
    """Return the pictures of a page that is ready.

    For a whole page, the first picture is the overview, followed by one for each part. With `is_single`, it is one
    picture in full size. Raises TargetNotFoundError if no element matches the target, TimeoutError if the page does not
    answer, and CommandFailedError if the page no longer exists.
    """
    if request.target is not None:
        return (await _take_element(session, readiness, request),)
    if request.kind in (ScreenshotKind.PDF, ScreenshotKind.MHTML):
        return (await _take_file(session, request.kind),)
    if request.kind is ScreenshotKind.WINDOW:
        size = await _measure(readiness)
        clip = _Clip(size["left"], size["top"], WINDOW_WIDTH, WINDOW_HEIGHT)
        return (await _capture(session, clip, request, beyond_window=False),)
    size = await _measure(readiness)
    if size["inner"]:
        height = min(MAX_PAGE_HEIGHT, math.ceil(size["inner"]))
        await session.send("Emulation.setDeviceMetricsOverride", **window_metrics(height))
        await readiness.evaluate(call_page("waitForFrames"), limit_s=_SCRIPT_LIMIT_S, await_promise=True)
    await readiness.evaluate(call_page("reveal"), limit_s=_REVEAL_LIMIT_S, await_promise=True)
    size = await _measure(readiness)
    height = min(MAX_PAGE_HEIGHT, math.ceil(size["height"]))
    # Parts of equal height: no part is a sliver.
    part_height = math.ceil(height / math.ceil(height / _PART_HEIGHT))
    parts = [_Clip(0, top, WINDOW_WIDTH, min(part_height, height - top)) for top in range(0, height, part_height)]
    clips = (_Clip(0, 0, WINDOW_WIDTH, height), *(() if request.is_single else parts))
    pictures = [await _capture(session, clip, request, beyond_window=True) for clip in clips]
    return (replace(pictures[0], cut_off=max(0, math.ceil(size["height"]) - height)), *pictures[1:])


async def _take_element(session: Session, readiness: ReadinessWaiter, request: ScreenshotRequest) -> Screenshot:
    find = call_page("findPlace", request.target, not request.keeps_page)
    box = await readiness.evaluate(find, limit_s=_SCRIPT_LIMIT_S)
    if not isinstance(box, dict) or box["width"] < 1 or box["height"] < 1:
        raise errors.TargetNotFoundError(f"No visible element of the page matches {request.target!r}.")
    if request.keeps_page:
        clip = _clip_to_window(box, await _measure(readiness))
        if clip.width < 1 or clip.height < 1:
            raise errors.TargetNotFoundError(f"{request.target!r} is not in the window now: scroll to it first.")
        return await _capture(session, clip, request, beyond_window=False)
    await readiness.evaluate(call_page("waitForFrames"), limit_s=_SCRIPT_LIMIT_S, await_promise=True)
    # The page may have moved while it scrolled.
    again = await readiness.evaluate(find, limit_s=_SCRIPT_LIMIT_S)
    box = again if isinstance(again, dict) else box
    clip = _Clip(max(0.0, box["x"]), max(0.0, box["y"]), box["width"], min(float(MAX_PAGE_HEIGHT), box["height"]))
    return await _capture(session, clip, request, beyond_window=True)


def _clip_to_window(box: dict[str, float], window: dict[str, float]) -> _Clip:
    left, top = max(box["x"], window["left"]), max(box["y"], window["top"])
    right = min(box["x"] + box["width"], window["left"] + WINDOW_WIDTH)
    return _Clip(left, top, right - left, min(box["y"] + box["height"], window["top"] + WINDOW_HEIGHT) - top)


async def _take_file(session: Session, kind: ScreenshotKind) -> Screenshot:
    if kind is ScreenshotKind.PDF:
        answer = await session.send("Page.printToPDF", printBackground=True, limit_s=_CAPTURE_LIMIT_S)
        return Screenshot(base64.b64decode(answer["data"]), "application/pdf")
    answer = await session.send("Page.captureSnapshot", format="mhtml", limit_s=_CAPTURE_LIMIT_S)
    return Screenshot(str(answer["data"]).encode("utf-8", "surrogatepass"), "multipart/related")


async def _capture(session: Session, clip: _Clip, request: ScreenshotRequest, *, beyond_window: bool) -> Screenshot:
    scale = 1.0 if request.is_single else clip.scale
    data = b""
    for quality in _QUALITIES:
        options: dict[str, Any] = {} if request.image_type == "png" else {"quality": quality}
        answer = await session.send(
            "Page.captureScreenshot",
            format=request.image_type,
            clip={"x": clip.x, "y": clip.y, "width": clip.width, "height": clip.height, "scale": scale},
            captureBeyondViewport=beyond_window,
            limit_s=_CAPTURE_LIMIT_S,
            **options,
        )
        data = base64.b64decode(answer["data"])
        if len(data) <= MAX_BYTES or not options or request.is_single:
            break
    return Screenshot(data, f"image/{request.image_type}", round(clip.width * scale), round(clip.height * scale), scale)


async def _measure(readiness: ReadinessWaiter) -> dict[str, float]:
    size = await readiness.evaluate(call_page("measurePage"), limit_s=_SCRIPT_LIMIT_S)
    return size if isinstance(size, dict) else {"height": WINDOW_HEIGHT, "inner": 0, "top": 0, "left": 0}
