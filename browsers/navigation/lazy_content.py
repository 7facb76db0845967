"""Load content that appears on scrolling, with one tall window instead of scrolling.

A tall window triggers every observer at once: 15 of 15 lazy sections in 1.1 s, against 3.5 s by scrolling. It also
lays out and paints the whole page, so one jump to the end first tests if anything loads there. (Counting the
IntersectionObservers is exact, but needs a full garbage collection: as slow as the tall window.)
"""

import asyncio
import contextlib
import time

from browsers.cdp.session import CommandFailedError, Session
from browsers.identity.fingerprint import tall_viewport
from browsers.navigation.readiness import ReadinessWaiter
from browsers.navigation.readiness_rules import DomSample
from browsers.scripts import call_page
from browsers.slot_scaling import measure_slowdown

_MAX_HEIGHT = 30_000
"""Maximum height of the tall window in CSS pixels."""
_EXTRA_HEIGHT = 400
"""CSS pixels by which the tall window is higher than the page."""
_FITS = 1.05
"""Window heights. A page up to this height has nothing to scroll to."""
ROUNDS = 10
"""Maximum of tall windows in a row, each as tall as the page has become."""
ROUND_LIMIT_S = 2.0
"""Seconds for one round on an idle machine."""
_GROWTH_CHARS = 20
"""Characters. Less new text than this after a round: nothing more will appear."""
FRAMES_LIMIT_S = 1.0
_QUIET_S = 0.06
_QUIET_WITH_DATA_S = 0.15

_SCROLL_TO = """new Promise((done) => {
  window.scrollTo(0, %s);
  document.dispatchEvent(new Event('scroll', {bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => %s));
})"""
"""Script that scrolls to a place and waits for two frames. Observers fire with the second frame and start their
requests in it. Pages that act after painting need as long. In a window as tall as its page nothing scrolls, so a scroll
event is dispatched for listeners."""
_END, _START = "document.documentElement.scrollHeight", "0"
_FRAME_S = 0.02
_DEBOUNCE_S = 0.15
"""Seconds for which pages debounce scrolling. Virtual time skips them; a batch spends them only for its first pages."""
SKIP_LIMIT_S = 1.0
_BOX_PAUSE_S = 0.08
"""Seconds after a box was scrolled, for timers of the page."""
_BOX_STOPS = 2
"""Scrolls without a move after which boxes are at their ends."""


async def reveal_lazy_content(session: Session, readiness: ReadinessWaiter, limit_s: float) -> bool:
    """Load lazy content within `limit_s`; return False if it was too short. Raises TimeoutError, CommandFailedError."""
    end = time.monotonic() + limit_s
    await _reveal_below(session, readiness, limit_s)
    sample = readiness.last_sample
    is_predicted_idle = readiness.progress is not None and readiness.progress.is_predicted_idle
    if sample is not None and sample.scripted and not is_predicted_idle:
        with contextlib.suppress(TimeoutError, CommandFailedError):
            return await _reveal_in_boxes(readiness, end)
        return False
    return True


async def _reveal_in_boxes(readiness: ReadinessWaiter, end: float) -> bool:
    """Scroll boxes through if a jump to their ends brings anything. Return False if the time was over before."""

    async def scroll(where: str) -> bool:
        script = call_page("scrollBoxes", where)
        is_changed = await readiness.evaluate(script, limit_s=FRAMES_LIMIT_S, await_promise=True)
        if is_changed or where == "next":
            if readiness.time.is_taken:
                await readiness.time.skip(_DEBOUNCE_S, SKIP_LIMIT_S)
            else:
                await asyncio.sleep(_BOX_PAUSE_S * measure_slowdown())
            left_s = min(ROUND_LIMIT_S, end - time.monotonic())
            await readiness.wait_until_ready(left_s, may_be_thin=False, quiet_s=(_QUIET_S, _QUIET_S))
        return bool(is_changed)

    requests = readiness.network.requests
    if not await scroll("end") or not (await scroll("start") or readiness.network.requests != requests):
        return True
    stops = 0
    while stops < _BOX_STOPS and time.monotonic() < end:
        stops = 0 if await scroll("next") else stops + 1
    # Rows above the first visible one would seem to be hidden.
    await scroll("start")
    return stops >= _BOX_STOPS


async def _reveal_below(session: Session, readiness: ReadinessWaiter, limit_s: float) -> None:
    """Make the window as tall as the page while that brings content.

    A page that fits its window is skipped. The exception is a page loaded in virtual time: it may have painted no frame
    yet, so its observers have not run. A page no taller than similar pages without lazy content is skipped too.
    """
    sample = readiness.last_sample
    if sample is None or not sample.scripted or (_fits(sample) and not readiness.time.is_taken):
        return
    end = time.monotonic() + limit_s
    if not await _expects_more(readiness, sample):
        return
    if _fits(sample):
        await readiness.wait_until_ready(min(ROUND_LIMIT_S, limit_s), may_be_thin=False)
    before = -1
    for _ in range(ROUNDS):
        if readiness.network.in_flight():
            # Requested with the last content: the next part of a page that continues by itself.
            left_s = min(ROUND_LIMIT_S, end - time.monotonic())
            await readiness.wait_until_ready(left_s, may_be_thin=False)
        sample = await readiness.sample()
        left_s = end - time.monotonic()
        if sample is None or left_s <= 0 or _fits(sample) or sample.text_chars <= before + _GROWTH_CHARS:
            break
        before = sample.text_chars
        window = tall_viewport(min(sample.height + _EXTRA_HEIGHT, _MAX_HEIGHT))
        await session.send("Emulation.setDeviceMetricsOverride", **window)
        await _scroll(readiness)
        slowness = measure_slowdown()
        quiet_s = (_QUIET_S * slowness, _QUIET_WITH_DATA_S * slowness)
        await readiness.wait_until_ready(min(ROUND_LIMIT_S * slowness, left_s), may_be_thin=False, quiet_s=quiet_s)
    if before >= 0:
        # A list that paints only the rows in the window paints all of them now, from the first.
        await _scroll(readiness, _START)


async def _expects_more(readiness: ReadinessWaiter, sample: DomSample) -> bool:
    """Return True if a jump to the end brings more, unless similar pages of the batch showed that it does not."""
    progress, requests = readiness.progress, readiness.network.requests
    if sample.height <= (progress.known_height if progress is not None else 0):
        return False
    after = await readiness.sample() if await _scroll(readiness) else None
    has_more = readiness.network.requests != requests
    has_more |= after is not None and (after.contents, after.swaps) != (sample.contents, sample.swaps)
    if progress is not None and has_more:
        progress.did_more()
    elif progress is not None and after is not None:
        progress.nothing_below(sample.height)
    return has_more


def _fits(sample: DomSample) -> bool:
    return sample.height <= sample.window_height * _FITS


async def _scroll(readiness: ReadinessWaiter, to: str = _END) -> bool:
    """Scroll to a place and wait until observers ran; return False if they did not."""
    is_predicted_idle = readiness.progress is not None and readiness.progress.is_predicted_idle
    pause_s = _FRAME_S if is_predicted_idle else _DEBOUNCE_S
    try:
        ending = "done()" if readiness.time.is_taken else f"setTimeout(done, {1000 * pause_s:.0f})"
        await readiness.evaluate(_SCROLL_TO % (to, ending), limit_s=FRAMES_LIMIT_S, await_promise=True)
        if readiness.time.is_taken:
            await readiness.time.skip(_DEBOUNCE_S, SKIP_LIMIT_S)
    except (TimeoutError, CommandFailedError):
        return False
    return True
