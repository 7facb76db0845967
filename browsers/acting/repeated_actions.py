"""Steps that act repeatedly: load more content, and choose options of lists that are no `select` elements."""

from __future__ import annotations

import asyncio
import contextlib
import time

from browsers.acting.acting_page import ActingPage
from browsers.acting.elements import PageElement
from browsers.acting.frame_processes import ElementActionError, ElementGoneError
from browsers.acting.outline import Outline, OutlineLine
from browsers.acting.step_parser import find_same_control
from browsers.scripts import call_page
from browsers.text_quoting import clean_text, quote, truncate

_MORE_LIMIT_S = 30.0
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


_OPTIONS = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "radio"})
_FIELDS = frozenset({"combobox", "textbox", "searchbox"})
_LIST_LIMIT_S = 8.0
"""Seconds to find an option, also in a list that loads or renders its options while it is scrolled."""
_PATIENCE_S = 1.0
"""Seconds without a new option after which a list counts as complete."""
_SCROLL_PX, _TO_TOP_PX = 80.0, -100_000.0
_MAX_LISTED = 15


async def choose_option(page: ActingPage, element: PageElement, line: OutlineLine, option: str) -> None:
    """Choose one option by its text. Raises ElementActionError if there is no such option, or it is disabled."""
    outline = await page.outlines.take()
    is_open = line.role == "listbox" or any(one.ref == line.ref and "[expanded]" in one.states for one in outline.lines)
    known = set() if is_open else {piece.ref for one in outline.lines for piece in one.pieces or (one,)}
    if not is_open:
        await element.click()
    for is_last in (False, False, True):
        found = await _find(page, element, line, known, clean_text(option))
        if "[disabled]" in found.states:
            raise ElementActionError(f"{quote(found.name)} is disabled")
        try:
            await page.outlines.element(found.ref, f"option {quote(truncate(found.name, 40))}").click()
            break
        except ElementGoneError:
            # The list was painted again when it scrolled to the option.
            if is_last:
                raise
    await page.wait_until_idle(_IDLE_LIMIT_S)
    lines = {one.ref: one for one in (await page.outlines.take()).lines}
    shown = "".join(f"{one.name}{one.states}" for one in (lines.get(line.ref),) if one is not None).lower()
    if found.ref in lines and not lines[found.ref].states and found.name.lower() not in shown:
        page.notice(f"{element.label} does not show {quote(truncate(found.name, 40))} now")


async def _find(page: ActingPage, element: PageElement, line: OutlineLine, known: set[str], text: str) -> OutlineLine:
    """Return the line of an option. Scroll the list, or filter it by typing, while it is not there."""
    end, has_typed = time.monotonic() + _LIST_LIMIT_S, line.role not in _FIELDS
    seen: dict[str, None] = {}
    found_at, has_turned = time.monotonic(), False
    while (now := time.monotonic()) < end and now - found_at < _PATIENCE_S:
        await page.wait_until_idle(_IDLE_LIMIT_S)
        options = _options(await page.outlines.take(), line, known)
        names = [one.name for one in options]
        if exact := _named(options, text):
            return exact
        is_new = not seen.keys() >= set(names)
        if is_new:
            found_at = time.monotonic()
        elif not has_typed:
            has_typed, found_at = True, time.monotonic()
            with contextlib.suppress(ElementActionError):
                await element.type(text)
        seen |= dict.fromkeys(names)
        if options:
            with contextlib.suppress(ElementActionError):
                # The list scrolls to its last option. Further, an option could be skipped that is not rendered now.
                point = await page.outlines.element(options[-1].ref).find_point()
                is_end = not is_new and not has_turned and time.monotonic() - found_at > _PATIENCE_S / 2
                if is_end:
                    has_turned, found_at = True, time.monotonic()
                await page.devices.scroll(*point, _TO_TOP_PX if is_end else 0.0 if is_new else _SCROLL_PX)
        await asyncio.sleep(_POLL_S)
    options = [one for one in _options(await page.outlines.take(), line, known) if text.lower() in one.name.lower()]
    if len(options) == 1:
        return options[0]
    await page.devices.press("Escape")
    listed = ", ".join(quote(truncate(name, 40)) for name in list(seen)[:_MAX_LISTED])
    raise ElementActionError(f"{element.label} has no such option; there are {listed or 'none'}")


def _named(options: list[OutlineLine], text: str) -> OutlineLine | None:
    alike = [one for one in options if one.name.lower() == text.lower()]
    return next((one for one in alike if one.name == text), alike[0] if alike else None)


def _options(outline: Outline, line: OutlineLine, known: set[str]) -> list[OutlineLine]:
    """Return the options of an open list, or else all lines that it brought."""
    pieces = [piece for one in outline.lines for piece in one.pieces or (one,)]
    new = [one for one in pieces if one.ref not in known and one.ref != line.ref and one.name]
    return [one for one in new if one.role in _OPTIONS] or (new if known else [])
