"""Run parsed steps on the page of a session, and report the changes of its outline after each."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from browsers.acting.acting_page import ActingPage
from browsers.acting.custom_lists import choose_option
from browsers.acting.element_scripts import ElementActionError, ElementCoveredError, ElementGoneError
from browsers.acting.elements import PageElement
from browsers.acting.html_serializer import serialize_page
from browsers.acting.input import ScriptEndedError, UnknownKeyError
from browsers.acting.load_more import press_for_more, scroll_to_end
from browsers.acting.outline import Outline, OutlineLine
from browsers.acting.outline_text import OUTLINE_CHARS, compare_outlines, write_heading, write_outline
from browsers.acting.page_outlines import WINDOW_SIZE
from browsers.acting.request_guard import ActingMode
from browsers.acting.step_parser import LOCAL_FILE, PICTURE_VERB, REQUEST_VERBS, Step, StepTarget
from browsers.acting.step_targets import StepTargetError, find_same_control, find_target
from browsers.cdp.session import CommandFailedError
from browsers.errors import BrowsersError, PageCrashedError
from browsers.model import Snapshot
from browsers.text_quoting import clean_text, quote, truncate

_TARGET_WAIT_S = 2.0
"""Seconds to wait until a target is on the page."""
WORDS_WAIT_S = 10.0
"""Seconds to wait for the words of a `wait` step."""
_POLL_S = 0.15
_OPEN_LIMIT_S = 30.0
_FAILED_BUDGET = 3_000
"""Characters of the outline after a failed step."""
_SCROLL_SHARE = 0.85
"""Share of the window height that `scroll down` and `scroll up` scroll."""
_SCROLL_IN_PX = 400.0
"""CSS pixels that `scroll TARGET` scrolls by default."""
_NOTHING_CHANGED = "nothing changed"
_REACTIONS_S = (0.3, 0.9)
"""Seconds for timers of the page until each further look after a step that changed nothing."""
_EMPTY_LIMIT_S, _BARE_LIMIT_S = 4.0, 3.0
"""Seconds until a new page that shows nothing or that it loads, and one with some words only, is used as it is."""
_T = TypeVar("_T")
_MAX_STEP = 100
"""Characters of a step that are repeated in its outcome."""


class StepError(Exception):
    """A step failed. The message for the agent says why."""

    def __init__(self, message: str, *, shows_page: bool = False, refs: tuple[str, ...] = ()) -> None:
        """Store the reason. `shows_page` adds the outline of the page to the outcome, with the lines of `refs`."""
        super().__init__(message)
        self.shows_page = shows_page
        self.refs = refs


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Outcome of one step. Text of the page is always in quotes."""

    step: str
    notices: tuple[str, ...] = ()
    """Dialogs, refusals and limits during the step."""
    content: str = ""
    """Lines of the outline, or the lines that changed."""
    heading: str = ""
    """First line of `content` if it is a whole outline."""
    error: str = ""
    """Reason of the failure; empty if the step succeeded."""
    page: Snapshot | None = field(default=None, repr=False)
    """Content of the page, only for `read`; its pictures without content, only for `PICTURE_VERB`."""
    failure: BrowsersError | None = field(default=None, repr=False)
    """Error of the browser or of a policy, if that is why the step failed."""


class StepRunner:
    """Run steps on one page, one after the other."""

    def __init__(self, page: ActingPage, mode: ActingMode) -> None:
        """Use a prepared page."""
        self._page = page
        self._mode = mode
        self._deadline_at = 0.0
        self._last_outline: Outline | None = None
        """Latest outline; the agent knows it from earlier answers."""
        self._is_blocked = self._may_follow = False
        """True if the browser did not send a form in this step, or if its window may be opened in the tab."""

    async def run(self, step: Step, deadline_at: float) -> StepOutcome:
        """Run one step and return its outcome, also if it failed.

        Raises:
            BrowsersError: A URL cannot be opened, or the page or its browser crashed.
        """
        page = self._page
        page.begin_step(step.source, acts=step.verb in REQUEST_VERBS)
        self._is_blocked = self._may_follow = False
        self._deadline_at = deadline_at
        error: StepError | None = None
        snapshot: Snapshot | None = None
        content = heading = ""
        try:
            content, heading = await self._do(step, deadline_at)
            if await page.guard.wait_answered(deadline_at - time.monotonic()):
                await page.wait_until_idle()
            snapshot = await self._capture(step)
        except StepError as failure:
            error = failure
        except (ElementActionError, StepTargetError, UnknownKeyError, ScriptEndedError) as failure:
            shows_page = isinstance(failure, (ElementGoneError, StepTargetError))
            error = StepError(str(failure), shows_page=shows_page, refs=getattr(failure, "refs", ()))
        except (CommandFailedError, TimeoutError) as failure:
            if not page.is_alive:
                raise PageCrashedError("The page's renderer died.") from failure
            reason = "the page did not answer in time" if isinstance(failure, TimeoutError) else "the page changed"
            error = StepError(f"{reason}; try again", shows_page=True)
        page.processes.release_objects()
        if step.verb in ("read", "close", PICTURE_VERB) and error is None:
            page.name_requests()
            return StepOutcome(step.source, page.take_notices(), page=snapshot)
        if not content and step.verb != "close":
            content, heading = await self._describe(error)
        if content == _NOTHING_CHANGED and step.verb in REQUEST_VERBS:
            content, heading, error = await self._look_again()
        if page.name_requests(counts_pushes=content == _NOTHING_CHANGED):
            content = content.removesuffix(_NOTHING_CHANGED)
        source, message = truncate(clean_text(step.source), _MAX_STEP), str(error or "")
        return StepOutcome(source, page.take_notices(), content, heading, message)

    async def _look_again(self) -> tuple[str, str, StepError | None]:
        """Return content, heading and refusal of a step that changed nothing so far."""
        page, content, heading = self._page, _NOTHING_CHANGED, ""
        error: StepError | None = None
        if self._is_blocked:
            return "", "", None
        for seconds in (0.0, *_REACTIONS_S):
            if seconds and page.is_idle:
                await page.wait_for_reaction(seconds)
                error = self._find_refusal()
                content, heading = await self._describe(error)
            if content != _NOTHING_CHANGED:
                break
            if await self._follow_script_window():
                return *await self._describe(None), None
        return content, heading, error

    async def _capture(self, step: Step) -> Snapshot | None:
        """Return the pictures or the content of the page for a step that asks for them; raise a refusal of others."""
        page = self._page
        if step.picture is not None:
            pictures = await page.take_pictures(step.picture)
            url = page.outlines.url
            return Snapshot(url, url, page.status or 200, media_type="text/html", pictures=pictures)
        if (refusal := self._find_refusal()) is not None:
            raise refusal
        if step.verb != "read":
            return None
        await page.outlines.take()
        return serialize_page(page)

    def _find_refusal(self) -> StepError | None:
        """Return an error that names a refused request of this step, or None."""
        guard = self._page.guard
        if guard.refused_writes and self._mode is ActingMode.ACT:
            return StepError(f"refused: the person did not allow it to send {guard.refused_writes[0]}")
        if guard.refused_writes:
            return StepError(
                f"refused: it would send {guard.refused_writes[0]}, and SEARCH_MCP_ACTING=read only reads;"
                " the operator can set SEARCH_MCP_ACTING=act"
            )
        if guard.refused_hosts:
            return StepError(
                f"refused: it leads to {guard.refused_hosts[0]}, which is not a host of this session;"
                " open it if you want to go there"
            )
        return None

    async def _describe(self, error: StepError | None) -> tuple[str, str]:
        """Return the changed lines, or the whole outline and its heading if most lines changed."""
        page, before = self._page, self._last_outline
        had_new_document = page.has_new_document
        try:
            after = await page.outlines.take()
            if page.has_new_document and not had_new_document:
                # While a page loads slowly, Chromium takes no snapshot before the new document is there.
                await page.wait_until_idle()
                after = await page.outlines.take()
            after = await self._wait_for_content(after)
        except TimeoutError:
            page.notice("the page did not answer in time: it may still load, so wait for words of it, or look")
            return "", ""
        except (CommandFailedError, BrowsersError):
            return "", ""
        if page.has_new_document and page.is_pdf:
            page.has_new_document = False
            self._last_outline = after
            page.notice(f"this is a PDF: read_doc reads {quote(after.facts.url)}")
            return write_heading(after), write_heading(after)
        self._last_outline = after
        is_new, page.has_new_document = page.has_new_document or before is None, False
        if before is not None and not is_new and not (error is not None and error.shows_page):
            changes = compare_outlines(before, after)
            if changes is not None:
                return changes or ("" if error is not None else _NOTHING_CHANGED), ""
        budget = OUTLINE_CHARS if error is None else _FAILED_BUDGET
        return write_outline(after, budget=budget, refs=error.refs if error is not None else ()), write_heading(after)

    async def _wait_for_content(self, outline: Outline) -> Outline:
        """Wait while a new page is bare, or while a text of this step says that something loads; return the outline."""
        page, before = self._page, self._last_outline
        is_new = page.has_new_document or before is None
        known = set() if is_new or before is None else before.loading_texts
        began = time.monotonic()

        def patience_s() -> float:
            if outline.loading_texts - known or (is_new and not outline.lines):
                return _EMPTY_LIMIT_S
            return _BARE_LIMIT_S if is_new and outline.is_bare and page.is_scripted else 0.0

        if not patience_s():
            return outline
        while time.monotonic() - began < patience_s():
            await asyncio.sleep(_POLL_S)
            outline = await page.outlines.take()
        await page.wait_until_idle()
        return await page.outlines.take()

    async def _do(self, step: Step, deadline_at: float) -> tuple[str, str]:
        """Run a step; return content that replaces the changes, and its heading, or empty texts."""
        page, verb = self._page, step.verb
        if step.way == "accept":
            page.dialogs.accepts_dialogs, page.dialogs.answer = True, step.text if verb == "click" else ""
        if verb in ("open", "look", "wait", "back", "scroll", "more"):
            return await self._read(step, deadline_at)
        if verb == "press":
            await page.devices.press(step.text)
        elif verb == "point":
            x, y, *end = step.numbers
            if end:
                await page.devices.drag((x, y), (end[0], end[1]))
            else:
                await page.devices.click(x, y)
        elif step.target is not None:
            await self._act(step, step.target)
        if verb in ("read", PICTURE_VERB):
            await page.wait_for_requests()
        elif verb != "close":
            await page.wait_until_idle()
        return "", ""

    async def _read(self, step: Step, deadline_at: float) -> tuple[str, str]:
        page, left_s = self._page, deadline_at - time.monotonic()
        if step.verb == "open":
            await page.open(step.text, limit_s=max(1.0, min(_OPEN_LIMIT_S, left_s)))
        elif step.verb == "look":
            await page.wait_for_requests()
            await page.refuse_banners()
            outline = self._last_outline = await page.outlines.take()
            page.has_new_document = False
            return write_outline(outline, words=step.text), ""
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
        return "", ""

    async def _act(self, step: Step, target: StepTarget) -> None:
        """Run a step on its element. If the page replaced the element by a similar one, use that."""
        element, line = await self._locate(target)
        try:
            await self._act_on(step, element, line)
        except ElementGoneError:
            same = find_same_control(await self._page.outlines.take(), line)
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
            # A frame must not replace the page around it.
            self._may_follow = line.frame_id == page.processes.main.frame_id
            count, button = 2 if step.way == "twice" else 1, "right" if step.way == "right" else "left"
            click = element.click(count=count, button=button)
            opens_window = await self._submit(element, click) if line.role == "button" else await click
            if opens_window and button == "left":
                await self._follow_window()
        elif step.verb == "hover":
            await element.hover()
        elif step.verb == "type":
            if page.outlines.is_secret(line.ref) and self._mode is ActingMode.READ:
                raise StepError(
                    "refused: SEARCH_MCP_ACTING=read types no passwords, cards or codes;"
                    " the operator can set SEARCH_MCP_ACTING=act"
                )
            made = await element.type(step.text, slowly=step.way == "slowly")
            if made is not None:
                is_secret = page.outlines.is_secret(line.ref)
                page.notice("the field holds another text" if is_secret else f"the field made {quote(made[:80])} of it")
            if step.submits:
                await self._submit(element, page.devices.press("Enter"), enters=True)
        elif step.verb == "select":
            if not await element.select(step.options):
                for option in step.options:
                    await choose_option(page, element, line, option)
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
                self._is_blocked = bool(after["fields"])
                for label, message, value in after["fields"]:
                    field = f"{quote(clean_text(label)[:40])}{f' = {quote(clean_text(value)[:40])}' if value else ''}"
                    self._page.notice(f"the form was not sent: {field}: {quote(clean_text(message)[:120])}")
        return result

    async def _upload(self, step: Step, element: PageElement) -> None:
        """Give a file to a file field, or to the one for which the page asks after a click on the element."""
        dialogs = self._page.dialogs
        if self._mode is ActingMode.READ:
            raise StepError(
                "refused: SEARCH_MCP_ACTING=read gives no files to pages; the operator can set SEARCH_MCP_ACTING=act"
            )
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
        field = None if dialogs.file_field is None else element.find_beside(*dialogs.file_field)
        if field is None or not await field.give_file(step.text, step.data):
            raise StepError(f"{element.label} takes no file")

    async def _drag(self, step: Step, element: PageElement) -> None:
        if step.to is not None:
            to, _ = await self._locate(step.to)
            await to.find_point()
            # Again, because the page may have scrolled to the other end.
            start = await element.find_point()
            end = await to.find_point()
        else:
            start = await element.find_point()
            end = (start[0] + step.numbers[0], start[1] + step.numbers[1])
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

    async def _follow_script_window(self) -> bool:
        """Load the URL of the only window that a script opened in this step; return True if it is loaded."""
        page, parts = self._page, urlsplit(self._page.dialogs.popup_url)
        if not self._may_follow or page.dialogs.popups > 1 or parts.scheme not in ("http", "https"):
            return False
        if not page.guard.is_allowed(parts.hostname or ""):
            return False
        await page.open(page.dialogs.take_window(), limit_s=_OPEN_LIMIT_S)
        page.notice("the new window of the page was opened in this tab")
        return True

    async def _locate(self, target: StepTarget) -> tuple[PageElement, OutlineLine]:
        """Wait until a target is on the page; return its element and line."""
        page = self._page
        if target.ref:
            line = page.outlines.find_line(target.ref)
            if line is None:
                raise StepError(f"{target.ref} is not a reference of this page", shows_page=True)
            return page.outlines.element(line.ref), line
        end = time.monotonic() + _TARGET_WAIT_S
        outline = page.outlines.latest if page.has_recent_outline else None
        while True:
            try:
                line = find_target(outline or await page.outlines.take(), target)
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
                raise StepError(
                    f"{quote(truncate(step.text, 60))} did not appear within {limit_s:.0f} s", shows_page=True
                )
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
