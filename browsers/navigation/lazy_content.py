"""Content that waits to be scrolled to: one tall window instead of scrolling through.

A tall window fires every observer at once: 15 of 15 lazy sections in 1.1 s, against 3.5 s by scrolling. It
also lays out and paints the whole page, so one jump to the end asks first whether anything waits there.
(Counting the IntersectionObservers asks exactly, but collects all garbage for that: as dear as the tall
window.)
"""

from __future__ import annotations

import time

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.identity.fingerprint import tall_viewport
from browsers.navigation.readiness import ReadinessWaiter
from browsers.navigation.readiness_rules import DomSample

TALLEST = 30_000
EXTRA_HEIGHT = 400
FITS = 1.05
"""A page no taller than this many windows has nothing to scroll to."""
ROUNDS = 10
ROUND_LIMIT_S = 2.0
GROWTH_CHARS = 20
"""Less new text than this after a round: there is nothing more to reveal."""
FRAMES_LIMIT_S = 1.0
QUIET_S = 0.06
QUIET_WITH_DATA_S = 0.15
USUAL_FRAMES_S = 0.12
"""Two frames and 20 ms, on a machine with a core to spare; one without is given as much more time."""
SLOWEST = 5.0

SCROLL_AND_SEE = """new Promise((done) => {
  window.scrollTo(0, document.documentElement.scrollHeight);
  document.dispatchEvent(new Event('scroll', {bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => %s));
})"""
"""Observers fire with the second frame, and begin their requests in it; pages that act once what was scrolled
to is painted wait as long. In a window as tall as its page nothing scrolls, so pages that only listen to
scroll events are sent one."""
AFTERWARDS = "setTimeout(done, %d)"
AT_ONCE = "done()"
FRAME_S = 0.02
DEBOUNCE_S = 0.15
"""How long pages wait for the end of scrolling before they act; passes in no time where time is ours.
Otherwise it is waited only for a page that listens to scrolling."""
SCROLL_EVENTS = frozenset({"scroll", "scrollend", "wheel"})
SKIP_LIMIT_S = 1.0


async def reveal_lazy_content(session: Session, settling: ReadinessWaiter, limit_s: float) -> None:
    """Make the page show what it holds back for those who scroll; within `limit_s`.

    Where quiet passed in virtual time there were perhaps no frames yet, and observers act in frames: such a
    page is asked even when it fits its window. One no taller than its like that held nothing back is not.
    """
    look = settling.last_look
    if look is None or not look.scripted or (_fits(look) and not settling.time.taken):
        return
    if look.height <= settling.known_height:
        return
    end = time.monotonic() + limit_s
    waits = await _something_waits(session, settling, look)
    if waits is not None:
        settling.showed(look.height, more=waits)
    if not waits:
        return
    if _fits(look):
        await settling.until_done(min(ROUND_LIMIT_S, limit_s), may_be_thin=False, may_skip=False)
    before = -1
    for _ in range(ROUNDS):
        if settling.traffic.in_flight():
            # Asked for with the last content: the next part of a page that goes on by itself.
            rest_s = min(ROUND_LIMIT_S, end - time.monotonic())
            await settling.until_done(rest_s, may_be_thin=False, may_skip=False)
        look = await settling.look()
        left_s = end - time.monotonic()
        if look is None or left_s <= 0 or _fits(look) or look.text_chars <= before + GROWTH_CHARS:
            return
        before = look.text_chars
        slowness = await _grow(session, settling, tall_viewport(min(look.height + EXTRA_HEIGHT, TALLEST)))
        await settling.until_done(
            min(ROUND_LIMIT_S * slowness, left_s),
            may_be_thin=False,
            may_skip=False,
            quiet_s=QUIET_S * slowness,
            quiet_with_data_s=QUIET_WITH_DATA_S * slowness,
        )


def _fits(look: DomSample) -> bool:
    return look.height <= look.window_height * FITS


async def _something_waits(session: Session, settling: ReadinessWaiter, before: DomSample) -> bool | None:
    """Whether a jump to the end of the page brings requests or content; None where it could not be seen."""
    requests = settling.traffic.requests
    if await _scroll(session, settling) is None or (after := await settling.look()) is None:
        return settling.traffic.requests != requests or None
    return settling.traffic.requests != requests or after.contents != before.contents


async def _grow(session: Session, settling: ReadinessWaiter, window: Event) -> float:
    """Make the window taller; how many times slower than usual the page's frames come."""
    await session.send("Emulation.setDeviceMetricsOverride", **window)
    spent_s = await _scroll(session, settling)
    return SLOWEST if spent_s is None else min(SLOWEST, max(1.0, spent_s / USUAL_FRAMES_S))


async def _pause_s(session: Session) -> float:
    """How long a page whose time is its own may take to act on scrolling."""
    try:
        for target in ("window", "document"):
            found = await session.send("Runtime.evaluate", expression=target, limit_s=FRAMES_LIMIT_S)
            told = await session.send(
                "DOMDebugger.getEventListeners",
                objectId=found["result"]["objectId"],
                limit_s=FRAMES_LIMIT_S,
            )
            if any(listener["type"] in SCROLL_EVENTS for listener in told["listeners"]):
                return DEBOUNCE_S
    except (KeyError, CommandFailedError, TimeoutError):
        pass
    return FRAME_S


async def _scroll(session: Session, settling: ReadinessWaiter) -> float | None:
    """Seconds until observers have seen the end of the page; None when they did not."""
    pause_s = FRAME_S if settling.time.taken or settling.hurried else await _pause_s(session)
    begun = time.monotonic()
    try:
        ending = AT_ONCE if settling.time.taken else AFTERWARDS % (1000 * pause_s)
        await settling.evaluate(SCROLL_AND_SEE % ending, limit_s=FRAMES_LIMIT_S, promise=True)
        if settling.time.taken:
            await settling.time.skip(DEBOUNCE_S, SKIP_LIMIT_S)
    except (TimeoutError, CommandFailedError):
        return None
    return time.monotonic() - begun - (pause_s - FRAME_S)
