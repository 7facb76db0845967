"""Do what a parsed step says on the page of a session: click, type, select, scroll, wait, and load more."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Awaitable
from operator import attrgetter
from typing import Any, TypeVar
from urllib.parse import urlsplit

from browsers.acting import step_parser
from browsers.acting.acting_page import ActingPage
from browsers.acting.elements import ElementCoveredError, PageElement
from browsers.acting.frame_processes import ElementActionError, ElementGoneError
from browsers.acting.outline import Outline, OutlineLine
from browsers.acting.page_outlines import WINDOW_SIZE
from browsers.acting.page_requests import SET_ACT, ActingMode
from browsers.acting.page_tools import PageToolCall
from browsers.acting.step_parser import LOCAL_FILE, PICTURE_VERB, Step, StepTarget, StepTargetError
from browsers.cdp.session import CommandFailedError
from browsers.scripts import call_page
from browsers.text_quoting import clean_text, quote, truncate

_TARGET_WAIT_S = 2.0
"""Seconds to wait until a target is on the page."""
WORDS_WAIT_S = 10.0
_POLL_S = 0.15
_OPEN_LIMIT_S = 30.0
_SCROLL_SHARE = 0.85
"""Share of the window height that `scroll down` and `scroll up` scroll."""
_SCROLL_IN_PX = 400.0
"""CSS pixels that `scroll TARGET` scrolls by default."""
_T = TypeVar("_T")


class StepError(Exception):
    """A step failed. The message for the agent says why."""

    def __init__(self, message: str, *, shows_page: bool = False, refs: tuple[str, ...] = ()) -> None:
        """Store the reason. `shows_page` adds the outline of the page to the outcome, with the lines of `refs`."""
        super().__init__(message)
        self.shows_page = shows_page
        self.refs = refs


class StepActions:
    """Do the steps of one session on its page, one after the other."""

    def __init__(self, page: ActingPage) -> None:
        """Use a prepared page."""
        self.is_blocked = False
        self.result: tuple[str, ...] = ()
        """Lines of the result of a tool of the page, which this step called."""
        self._may_follow = False
        """True if a window that a script opens in this step may be opened in the tab."""
        self._deadline_at = 0.0
        self._clicked: PageElement | None = None
        self._page = page

    async def do(self, step: Step, deadline_at: float) -> None:
        """Do a step and wait until the page is idle. Raises StepError, or BrowsersError if a URL cannot be opened."""
        page, verb = self._page, step.verb
        self.is_blocked = self._may_follow = False
        self.result = ()
        self._clicked = None
        self._deadline_at = deadline_at
        if step.way == "accept":
            page.dialogs.accepts_dialogs, page.dialogs.answer = True, step.text if verb == "click" else ""
        if verb in ("open", "wait", "back", "scroll", "more"):
            await self._move(step)
            return
        if verb == "press":
            await page.devices.press(step.text)
        elif verb == "call":
            await self._call(step)
        elif verb == "point":
            x, y, *end = step.numbers
            if end:
                await page.devices.drag((x, y), (end[0], end[1]))
            else:
                await page.devices.click(x, y)
        elif step.target is not None:
            await self._act(step, step.target)
        if verb in ("read", "look", PICTURE_VERB):
            await page.wait_for_requests()
        elif verb != "close":
            await page.wait_until_idle()

    async def has_missed(self) -> bool:
        """Return True if the element of the last click is no longer where it was clicked, as if it moved meanwhile."""
        with contextlib.suppress(ElementActionError, CommandFailedError, TimeoutError):
            can_miss = self._clicked is not None and not self._page.requests.unanswered
            return can_miss and self._clicked is not None and not await self._clicked.covers_click()
        return False

    async def _move(self, step: Step) -> None:
        page, left_s = self._page, self._deadline_at - time.monotonic()
        if step.verb == "open":
            await page.open(step.text, limit_s=max(1.0, min(_OPEN_LIMIT_S, left_s)))
        elif step.verb == "wait":
            await self._wait(step, min(WORDS_WAIT_S, left_s))
        elif step.verb == "back":
            if not await page.back():
                raise StepError("there is no page before this one")
        elif step.verb == "scroll":
            await self._scroll(step)
        elif step.target is not None:
            _, line = await self._locate(step.target)
            await press_for_more(page, line, times=int(step.numbers[0]), limit_s=left_s)

    async def _act(self, step: Step, target: StepTarget) -> None:
        """Run a step on its element. If the page replaced the element by a similar one, use that."""
        element, line = await self._locate(target)
        try:
            await self._act_on(step, element, line)
        except ElementGoneError:
            same = step_parser.find_same_control(await self._page.outlines.take(), line)
            if same is None or same.ref == line.ref:
                raise
            self._page.notice(f"{line.ref} was replaced by {same.ref}")
            await self._act_on(step, self._page.outlines.element(same.ref), same)
        except ElementCoveredError:
            # A consent banner may come after the page was idle.
            if not await self._page.refuse_banners():
                raise
            await self._act_on(step, self._page.outlines.element(line.ref, element.label), line)

    async def _act_on(self, step: Step, element: PageElement, line: OutlineLine) -> None:
        page = self._page
        if step.verb == "click":
            self._clicked = element
            # A frame must not replace the page around it.
            self._may_follow = line.frame_id == page.processes.main.frame_id
            button = "right" if step.way == "right" else "left"
            click = element.click(count=2 if step.way == "twice" else 1, button=button)
            opens_window = await self._submit(element, click) if line.role == "button" else await click
            if opens_window and button == "left":
                await self._follow_window()
        elif step.verb == "hover":
            await element.hover()
        elif step.verb == "type":
            if page.outlines.is_secret(line.ref) and self._page.guard.mode is ActingMode.READ:
                raise StepError(f"refused: SEARCH_MCP_ACTING=read types no passwords, cards or codes; {SET_ACT}")
            made = await element.type(step.text, slowly=step.way == "slowly")
            if made is not None:
                is_secret = page.outlines.is_secret(line.ref)
                page.notice("the field holds another text" if is_secret else f"the field made {quote(made[:80])} of it")
            if step.submits:
                await self._submit(element, page.devices.press("Enter"), enters=True)
        elif step.verb == "select":
            if not await element.select(step.options):
                known: set[str] = set()
                for option in step.options:
                    known = await choose_option(page, element, line, option, known)
        elif step.verb == "upload":
            await self._upload(step, element)
        elif step.verb == "drag":
            await self._drag(step, element)

    async def _submit(self, element: PageElement, act: Awaitable[_T], *, enters: bool = False) -> _T:
        """Run an act that may send a form; report the fields because of which the browser does not send it."""
        before: Any = None
        with contextlib.suppress(ElementActionError):
            before = await element.call("invalidFields", enters)
            self._may_follow &= not before["posts"]
        result = await act
        if before is None or (before["submits"] and not before["fields"]):
            return result
        with contextlib.suppress(ElementActionError, CommandFailedError, TimeoutError):
            after = await element.call("invalidFields", enters)
            is_blocked = after["submits"] == (after["fields"] == before["fields"])
            if is_blocked and not self._page.has_new_document:
                self.is_blocked = bool(after["fields"])
                for label, message, value in after["fields"]:
                    field = f"{quote(clean_text(label)[:40])}{f' = {quote(clean_text(value)[:40])}' if value else ''}"
                    self._page.notice(f"the form was not sent: {field}: {quote(clean_text(message)[:120])}")
        return result

    async def _upload(self, step: Step, element: PageElement) -> None:
        """Give a file to a file field, or to the one for which the page asks after a click on the element."""
        dialogs = self._page.dialogs
        if self._page.guard.mode is ActingMode.READ:
            raise StepError(f"refused: SEARCH_MCP_ACTING=read gives no files to pages; {SET_ACT}")
        if step.data is None:
            raise StepError(f"{quote(step.text[:80])} was not read")
        left_s, url = self._deadline_at - time.monotonic(), self._page.outlines.url
        if step.way == LOCAL_FILE and not await self._page.guard.may_give(step.text, url, left_s):
            raise StepError(f"refused: the person did not allow to give {quote(step.text[:80])} to the page")
        if await element.give_file(step.text, step.data):
            return
        dialogs.expects_file = True
        await element.click()
        for _ in range(round(_TARGET_WAIT_S / _POLL_S)):
            if dialogs.file_field is not None:
                break
            await asyncio.sleep(_POLL_S)
        session, node_id = dialogs.file_field or (None, 0)
        is_beside = session is element.process.session
        if not is_beside or not await element.with_node(node_id).give_file(step.text, step.data):
            raise StepError(f"{element.label} takes no file")

    async def _call(self, step: Step) -> None:
        page = self._page
        call = PageToolCall(page.tools, page.guard, page.outlines, step, page.notice)
        self.result = await call.run(self._deadline_at)
        if not self.result and call.tool.is_sent and not page.has_new_document:
            self.result = ("returned nothing",)

    async def _drag(self, step: Step, element: PageElement) -> None:
        to = None
        if step.to is not None:
            to, _ = await self._locate(step.to)
            # First, because the page may scroll to the other end.
            await to.find_point()
        start = await element.find_point()
        end = await to.find_point() if to else (start[0] + step.numbers[0], start[1] + step.numbers[1])
        await self._page.devices.drag(start, end)

    async def _follow_window(self) -> None:
        """Load the URL of a link with a `target` attribute in this tab instead of a new window."""
        page = self._page
        for _ in range(5):
            if page.dialogs.popup_url:
                break
            await asyncio.sleep(0.05)
        if page.dialogs.popup_url.startswith(("http:", "https:")):
            url = page.dialogs.take_window()
            await page.open(url, limit_s=_OPEN_LIMIT_S)
            page.notice("the link's new window was opened in this tab")

    async def follow_script_window(self) -> bool:
        """Load the URL of the only window that a script opened in this step; return True if it is loaded."""
        page, parts = self._page, urlsplit(self._page.dialogs.popup_url)
        is_only_page = page.dialogs.popups < 2 and parts.scheme in ("http", "https")
        if not self._may_follow or not is_only_page or not page.guard.is_allowed(parts.hostname or ""):
            return False
        await page.open(page.dialogs.take_window(), limit_s=_OPEN_LIMIT_S)
        page.notice("the new window of the page was opened in this tab")
        return True

    async def _locate(self, target: StepTarget) -> tuple[PageElement, OutlineLine]:
        page = self._page
        if target.ref:
            line = page.outlines.find_line(target.ref)
            if line is None:
                raise StepError(f"{target.ref} is not a reference of this page", shows_page=True)
            return page.outlines.element(line.ref), line
        end = time.monotonic() + _TARGET_WAIT_S
        outline = page.outlines.latest if page.outlines.is_recent and not page.has_new_document else None
        while True:
            try:
                line = step_parser.find_target(outline or await page.outlines.take(), target)
                return page.outlines.element(line.ref, f"{line.ref} {line.role} {quote(truncate(line.name, 40))}"), line
            except StepTargetError:
                if time.monotonic() > end:
                    raise
            if outline is None:
                await asyncio.sleep(_POLL_S)
            outline = None

    async def _wait(self, step: Step, limit_s: float) -> None:
        if step.numbers:
            await self._page.wait_for_requests()
            await asyncio.sleep(min(step.numbers[0], limit_s + 20.0))
            return
        words, end = clean_text(step.text).lower(), time.monotonic() + limit_s
        while True:
            outline = await self._page.outlines.take()
            if any(words in piece.name.lower() for line in outline.lines for piece in (line, *line.pieces)):
                return
            if time.monotonic() > end:
                message = f"{quote(truncate(step.text, 60))} did not appear within {limit_s:.0f} s"
                raise StepError(message, shows_page=True)
            await asyncio.sleep(_POLL_S)

    async def _scroll(self, step: Step) -> None:
        page = self._page
        middle = (WINDOW_SIZE[0] / 2, WINDOW_SIZE[1] / 2)
        if step.text == "end":
            await scroll_to_end(page)
            return
        if step.target is not None:
            element, _ = await self._locate(step.target)
            point = await element.find_point()
            await page.devices.scroll(*point, step.numbers[0] if step.numbers else _SCROLL_IN_PX)
        else:
            pixels = _SCROLL_SHARE * WINDOW_SIZE[1]
            await page.devices.scroll(*middle, -pixels if step.text == "up" else pixels)
        # The compositor scrolls in frames of its own.
        await asyncio.sleep(0.1)
        await page.wait_until_idle()


_MORE_LIMIT_S = 30.0
END_ROUNDS, END_LIMIT_S = 12, 8.0
"""Maximum number of scrolls to the end, and seconds for all of them."""
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
    """Click a control until it goes, fails or brings nothing new, at most `times` or `limit_s`; report how often."""
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
        same = step_parser.find_same_control(outline, line)
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
        if is_new and (step_parser.find_same_control(outline, line) is not None or poll > _REMOVED_POLLS):
            return outline, True
        await asyncio.sleep(_POLL_S)
        outline = await page.outlines.take()
    return outline, bool(_texts(outline) - before)


def _texts(outline: Outline) -> set[str]:
    return {piece.name for piece in outline.pieces if piece.name}


_OPTIONS = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "radio"})
_FIELDS = frozenset({"combobox", "textbox", "searchbox"})
_GROUPS = frozenset({"group", "radiogroup", "tree", "tablist", "menu", "toolbar"})
"""Roles of open lists whose choices are inside of them; those of a listbox may be elsewhere on the page."""
_CHOICES = _OPTIONS | {"checkbox", "switch", "tab", "button"}
_CHOSEN = ("[checked]", "[selected]", "[pressed]")
_LIST_LIMIT_S = 12.0
"""Seconds to find an option, also in a list that loads or renders its options while it is scrolled."""
_PATIENCE_S = 1.0
"""Seconds without a new option after which a list counts as complete."""
_SCROLL_PX, _TO_TOP_PX = 80.0, -100_000.0
_MAX_LISTED = 15
_KIND = attrgetter("role", "depth")


async def choose_option(
    page: ActingPage, element: PageElement, line: OutlineLine, option: str, known: set[str]
) -> set[str]:
    """Choose an option by its text; return the lines before its list was open, which are `known` for the next option.

    Raises ElementActionError if there is no such option, or it is disabled.
    """
    outline = await page.outlines.take()
    is_open = line.role in {"listbox", *_GROUPS} or any(
        one.ref == line.ref and "[expanded]" in one.states for one in outline.lines
    )
    # The list of the option before may still be open.
    if not is_open and not (known and _named(_options(outline, line, known), option)):
        known = {piece.ref for piece in outline.pieces}
        await element.click()
    for is_last in (False, False, True):
        found = await _find(page, element, line, known, clean_text(option))
        if "[disabled]" in found.states:
            raise ElementActionError(f"{quote(found.name)} is disabled")
        if line.role in _GROUPS and any(state in found.states for state in _CHOSEN):
            # A click might undo the choice.
            break
        try:
            await page.outlines.element(found.ref, f"option {quote(truncate(found.name, 40))}").click()
            break
        except ElementGoneError:
            # The list was painted again when it scrolled to the option.
            if is_last:
                raise
    await page.wait_until_idle(_IDLE_LIMIT_S)
    lines = {one.ref: one for one in (await page.outlines.take()).lines}
    own = lines.get(line.ref, line)
    shown = f"{own.name}{own.states}".lower()
    if found.ref in lines and not lines[found.ref].states and found.name.lower() not in shown:
        page.notice(f"{element.label} does not show {quote(truncate(found.name, 40))} now")
    return known


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
        if not has_typed and (not is_new or len(seen) > 2 * _MAX_LISTED):
            has_typed, found_at = True, time.monotonic()
            with contextlib.suppress(ElementActionError):
                await element.type(text)
        seen |= dict.fromkeys(names)
        if options:
            with contextlib.suppress(ElementActionError):
                # The list scrolls to its last option. Further, an option could be skipped that is not rendered now.
                # It may end with a scroll bar or a button.
                kinds = Counter(map(_KIND, options))
                last = max(reversed(options), key=lambda one: kinds[_KIND(one)])
                point = await page.outlines.element(last.ref).find_point()
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
    """Return the options of an open list, or else all lines that it brought; of a group, the choices inside."""
    if line.role in _GROUPS:
        after = itertools.dropwhile(lambda one: one.ref != line.ref, outline.pieces)
        inside = itertools.takewhile(lambda one: one.depth > line.depth, itertools.islice(after, 1, None))
        return [one for one in inside if one.role in _CHOICES and one.name]
    new = [one for one in outline.pieces if one.ref not in known and one.ref != line.ref and one.name]
    return [one for one in new if one.role in _OPTIONS] or (new if known else [])
