"""Run parsed steps on the page of a session, and report the changes of its outline after each."""

import asyncio
import time
from dataclasses import dataclass, field

from browsers.acting.acting_page import ActingPage
from browsers.acting.dialogs_and_downloads import DownloadedFile
from browsers.acting.frame_processes import ElementActionError, ElementGoneError
from browsers.acting.input import ScriptEndedError, UnknownKeyError
from browsers.acting.outline import Outline
from browsers.acting.outline_text import OUTLINE_CHARS, compare_outlines, describe_look, write_heading, write_outline
from browsers.acting.page_outlines import serialize_page
from browsers.acting.page_requests import SET_ACT, ActingMode
from browsers.acting.step_actions import StepActions, StepError
from browsers.acting.step_parser import PICTURE_VERB, REQUEST_VERBS, Step, StepTargetError
from browsers.cdp.session import CommandFailedError
from browsers.errors import BrowsersError, PageCrashedError
from browsers.model import Snapshot
from browsers.text_quoting import clean_text, quote, truncate

_POLL_S = 0.15
_FAILED_BUDGET = 3_000
"""Characters of the outline after a failed step."""
_NOTHING_CHANGED = "nothing changed"
_REACTIONS_S = (0.3, 0.9)
"""Seconds for timers of the page until each further look after a step that changed nothing."""
_LATE_REACTIONS_S = (0.8,)
"""Seconds of a further look if the step has set a timer, which may send what was typed: two seconds in all."""
_FILLS = frozenset({"type", "press", "select"})
_EMPTY_LIMIT_S, _BARE_LIMIT_S = 4.0, 3.0
"""Seconds until a new page that shows nothing or that it loads, and one with some words only, is used as it is."""
_MAX_STEP = 100
"""Characters of a step that are repeated in its outcome."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Outcome of one step. Text of the page is always in quotes."""

    step: str
    notices: tuple[str, ...] = ()
    """Dialogs, refusals and limits during the step."""
    result: tuple[str, ...] = ()
    """Lines that a tool of the page returned."""
    content: str = ""
    """Lines of the outline, or the lines that changed."""
    heading: str = ""
    """First line of `content` if it is a whole outline."""
    error: str = ""
    """Reason of the failure; empty if the step succeeded."""
    files: tuple[DownloadedFile, ...] = ()
    """Files that the page downloaded in this step."""
    page: Snapshot | None = field(default=None, repr=False)
    """Content of the page, only for `read`; its pictures without content, only for `PICTURE_VERB`."""
    failure: BrowsersError | None = field(default=None, repr=False)
    """Error of the browser or of a policy, if that is why the step failed."""


class StepRunner:
    """Run steps on one page, one after the other."""

    def __init__(self, page: ActingPage) -> None:
        """Use a prepared page."""
        self._page = page
        self._actions = StepActions(page)
        self._last_outline: Outline | None = None
        """Latest outline; the agent knows it from earlier answers."""

    async def run(self, step: Step, deadline_at: float) -> StepOutcome:
        """Run one step and return its outcome, also if it failed. Raises BrowsersError if the page or a URL is lost."""
        page, is_request = self._page, step.verb in REQUEST_VERBS
        page.begin_step(step.source, acts=is_request)
        known = None if page.has_new_document else self._last_outline
        timers = await page.readiness.count_timers() if is_request else 0
        content, snapshot, error = await self._act(step, deadline_at)
        if step.verb in ("read", "close", PICTURE_VERB) and error is None:
            page.name_requests()
            return StepOutcome(step.source, page.take_notices(), page=snapshot)
        heading = ""
        if not content and step.verb != "close":
            content, heading = await self._describe(error)
        files, result = await page.downloads.take(), self._actions.result
        if is_request and error is None and not files and len(result) < 2:
            has_timers = await page.has_timers_since(timers)
            if content == _NOTHING_CHANGED or (has_timers and step.verb in _FILLS):
                content, heading, error = await self._look_again(content, has_timers=has_timers)
            if content == _NOTHING_CHANGED and await self._actions.has_missed():
                _, _, error = await self._act(step, deadline_at)
                content, heading = await self._describe(error)
        files = files or await page.downloads.take()
        content = self._correct_nothing(content, known, has_more=bool(files) or len(result) > 1)
        source, message = truncate(clean_text(step.source), _MAX_STEP), str(error or "")
        return StepOutcome(source, page.take_notices(), result, content, heading, message, files)

    async def _act(self, step: Step, deadline_at: float) -> tuple[str, Snapshot | None, StepError | None]:
        """Do a step; return the lines that it asks for, the page or its pictures, and why it failed."""
        page, content = self._page, ""
        try:
            await self._actions.do(step, deadline_at)
            if step.verb == "look":
                content = await self._look(step.text)
            if await page.guard.wait_answered(deadline_at - time.monotonic()):
                await page.wait_until_idle()
            return content, await self._capture(step), None
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
        finally:
            page.processes.release_objects()
        return content, None, error

    def _correct_nothing(self, content: str, known: Outline | None, *, has_more: bool) -> str:
        """Return `content`; an empty text or the look of the page in place of "nothing changed" that would be wrong."""
        is_same = content == _NOTHING_CHANGED
        if self._page.name_requests(counts_pushes=is_same) or has_more:
            return content.removesuffix(_NOTHING_CHANGED)
        return (is_same and describe_look(known, self._last_outline)) or content

    async def _look(self, words: str) -> str:
        page = self._page
        await page.refuse_banners()
        self._last_outline = await page.outlines.take()
        page.has_new_document = False
        return self._with_tools(write_outline(self._last_outline, words=words), words)

    def _with_tools(self, outline: str, words: str = "") -> str:
        """Return an outline with the tools of the page below its heading."""
        head, *rest = outline.split("\n", 1)
        return "\n".join((head, *self._page.tools.lines(words), *rest))

    async def _look_again(self, content: str, *, has_timers: bool) -> tuple[str, str, StepError | None]:
        """Return the changes that come late, after those of the step, with heading and error as `_describe`."""
        page, more, heading = self._page, _NOTHING_CHANGED, ""
        error: StepError | None = None
        if self._actions.is_blocked:
            return content.removesuffix(_NOTHING_CHANGED), "", None
        for seconds in (0.0, *_REACTIONS_S, *(_LATE_REACTIONS_S if has_timers else ())):
            if seconds and page.is_idle:
                await page.wait_for_reaction(seconds)
                error = self._find_refusal()
                more, heading = await self._describe(error)
            if more != _NOTHING_CHANGED:
                break
            if await self._actions.follow_script_window():
                return *await self._describe(None), None
        if content == _NOTHING_CHANGED or heading:
            return more, heading, error
        return f"{content}\n{more}".removesuffix(f"\n{_NOTHING_CHANGED}"), heading, error

    async def _capture(self, step: Step) -> Snapshot | None:
        page = self._page
        if step.picture is not None:
            pictures = await page.take_pictures(step.picture)
            url = page.outlines.url
            return Snapshot(url, url, page.status or 200, media_type="text/html", pictures=pictures)
        if (refusal := self._find_refusal()) is not None:
            raise refusal
        if step.verb != "read":
            return None
        return serialize_page(await page.outlines.take(), page.status or 200)

    def _find_refusal(self) -> StepError | None:
        guard = self._page.guard
        reason = ""
        if guard.refused_writes and guard.mode is ActingMode.ACT:
            reason = f"the person did not allow it to send {guard.refused_writes[0]}"
        elif guard.refused_writes:
            reason = f"it would send {guard.refused_writes[0]}, and SEARCH_MCP_ACTING=read only reads; {SET_ACT}"
        elif guard.refused_hosts:
            reason = f"it leads to {guard.refused_hosts[0]}, which is not a host of this session;"
            reason += " open it if you want to go there"
        return StepError(f"refused: {reason}") if reason else None

    async def _describe(self, error: StepError | None) -> tuple[str, str]:
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
        self._last_outline = after
        is_pdf = page.has_new_document and page.is_pdf
        is_new, page.has_new_document = page.has_new_document or before is None, False
        if is_pdf:
            page.notice(f"this is a PDF: read_doc reads {quote(after.facts.url)}")
            return write_heading(after), write_heading(after)
        if before is not None and not is_new and not (error is not None and error.shows_page):
            changes = compare_outlines(before, after)
            if changes is not None:
                lines = [*([changes] if changes else []), *page.tools.changes()]
                return "\n".join(lines) or ("" if error is not None else _NOTHING_CHANGED), ""
        budget = OUTLINE_CHARS if error is None else _FAILED_BUDGET
        outline = write_outline(after, budget=budget, refs=error.refs if error is not None else ())
        return self._with_tools(outline), write_heading(after)

    async def _wait_for_content(self, outline: Outline) -> Outline:
        """Wait while a new page is bare, or while a text of this step says that something loads; return the outline."""
        page, before = self._page, self._last_outline
        is_new = page.has_new_document or before is None
        known = set() if is_new or before is None else before.loading_texts
        began = time.monotonic()
        may_change = is_new and outline.is_bare and await page.may_bring_content()

        def patience_s() -> float:
            if outline.loading_texts - known or (is_new and not outline.lines):
                return _EMPTY_LIMIT_S
            return _BARE_LIMIT_S if may_change and outline.is_bare else 0.0

        if not patience_s():
            return outline
        while time.monotonic() - began < patience_s():
            await asyncio.sleep(_POLL_S)
            outline = await page.outlines.take()
        await page.wait_until_idle()
        return await page.outlines.take()
