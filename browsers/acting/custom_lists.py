"""Choose an option of a list that is no `select` element: open it, find the option, click it, and check the result."""

from __future__ import annotations

import asyncio
import contextlib
import time

from browsers.acting.acting_page import ActingPage
from browsers.acting.element_scripts import ElementActionError, ElementGoneError
from browsers.acting.elements import PageElement
from browsers.acting.outline import Outline, OutlineLine
from browsers.text_quoting import clean_text, quote, truncate

_OPTIONS = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "radio"})
_FIELDS = frozenset({"combobox", "textbox", "searchbox"})
_LIMIT_S = 8.0
"""Seconds to find an option, also in a list that loads or renders its options while it is scrolled."""
_PATIENCE_S = 1.0
"""Seconds without a new option after which a list counts as complete."""
_POLL_S = 0.1
_SCROLL_PX, _TO_TOP_PX = 80.0, -100_000.0
_IDLE_LIMIT_S = 1.5
_MAX_LISTED = 15


async def choose_option(page: ActingPage, element: PageElement, line: OutlineLine, option: str) -> None:
    """Choose one option by its text.

    Raises:
        ElementActionError: There is no such option, or it is disabled.
    """
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
    end, has_typed = time.monotonic() + _LIMIT_S, line.role not in _FIELDS
    seen: dict[str, None] = {}
    found_at, has_turned = time.monotonic(), False
    while (now := time.monotonic()) < end and now - found_at < _PATIENCE_S:
        await page.wait_until_idle(_IDLE_LIMIT_S)
        options = _options(await page.outlines.take(), line, known)
        names = [one.name for one in options]
        for name in (text, next((one for one in names if one.lower() == text.lower()), text)):
            if name in names:
                return options[names.index(name)]
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


def _options(outline: Outline, line: OutlineLine, known: set[str]) -> list[OutlineLine]:
    """Return the options of an open list, or else all lines that it brought."""
    pieces = [piece for one in outline.lines for piece in one.pieces or (one,)]
    new = [one for one in pieces if one.ref not in known and one.ref != line.ref and one.name]
    return [one for one in new if one.role in _OPTIONS] or (new if known else [])
