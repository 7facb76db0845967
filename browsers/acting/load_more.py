"""Load more content of a page: scroll to its end, or click a "load more" control repeatedly."""

from __future__ import annotations

import asyncio
import time

from browsers.acting.acting_page import ActingPage
from browsers.acting.element_scripts import ElementActionError
from browsers.acting.outline import Outline, OutlineLine
from browsers.acting.step_targets import find_same_control
from browsers.scripts import call_page

_MORE_LIMIT_S = 30.0
"""Seconds for all clicks of one step."""
END_ROUNDS, END_LIMIT_S = 12, 8.0
"""Maximum number of scrolls to the end, and seconds for all of them."""
_POLL_S = 0.15
_MORE_POLLS = 20
_REMOVED_POLLS = 4
"""Polls after new text appeared, until a control that has not returned counts as removed."""
_IDLE_LIMIT_S = 1.5
_GROWTH_S = 1.0
"""Seconds without growth after which a page is at its end: many pages load more after a timer."""


async def scroll_to_end(page: ActingPage) -> None:
    """Scroll to the end until the page no longer grows. Add a notice if a limit stops it."""
    end, height = time.monotonic() + END_LIMIT_S, -1.0
    rounds = 0
    while rounds < END_ROUNDS and time.monotonic() < end:
        rounds += 1
        now = await page.evaluate(call_page("scrollToEnd"))
        await asyncio.sleep(_POLL_S)
        await page.wait_until_idle(_IDLE_LIMIT_S)
        grown_until = time.monotonic() + _GROWTH_S
        while now == height and time.monotonic() < grown_until:
            await asyncio.sleep(_POLL_S)
            now = await page.evaluate(call_page("scrollToEnd"))
        if not isinstance(now, (int, float)) or now == height:
            return
        height = now
    page.notice(f"stopped at the limit of {END_ROUNDS} rounds or {END_LIMIT_S:.0f} s: the page still grew")


async def press_for_more(page: ActingPage, line: OutlineLine, *, times: int, limit_s: float) -> None:
    """Click a control until it is removed, disabled or cannot be clicked, or no new text appears.

    The limits are `times` clicks and `limit_s` seconds, at most `_MORE_LIMIT_S`. Notices report the number of clicks
    and a limit that stopped them.
    """
    limit_s = min(_MORE_LIMIT_S, limit_s)
    end = time.monotonic() + limit_s
    ref, pressed = line.ref, 0
    outline = page.outlines.latest or await page.outlines.take()
    while pressed < times and time.monotonic() < end:
        before = _texts(outline)
        try:
            await page.outlines.element(ref).click()
        except ElementActionError:
            break
        pressed += 1
        await page.wait_until_idle(_IDLE_LIMIT_S)
        outline, is_new = await _wait_for_new(page, before, line)
        same = find_same_control(outline, line)
        if same is None or "[disabled]" in same.states or not is_new:
            break
        ref = same.ref
    else:
        page.notice(f"stopped at the limit of {times} times or {limit_s:.0f} s: there may be more")
    page.notice(f"pressed {pressed} times")


async def _wait_for_new(page: ActingPage, before: set[str], line: OutlineLine) -> tuple[Outline, bool]:
    """Wait for new text and the return of the control; return the outline, and True if there is new text."""
    outline = await page.outlines.take()
    for poll in range(_MORE_POLLS):
        is_new = bool(_texts(outline) - before)
        if is_new and (find_same_control(outline, line) is not None or poll > _REMOVED_POLLS):
            return outline, True
        await asyncio.sleep(_POLL_S)
        outline = await page.outlines.take()
    return outline, bool(_texts(outline) - before)


def _texts(outline: Outline) -> set[str]:
    return {piece.name for line in outline.lines for piece in (line.pieces or (line,)) if piece.name}
