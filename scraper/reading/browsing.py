"""Run browse steps in browser sessions, with the rate limits and the reader of `fetch`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.acting.request_guard import ActingMode
from browsers.acting.sessions import ScriptOutcome, ScriptRequest
from browsers.acting.step_runner import StepOutcome
from browsers.acting.steps import Step, StepSyntaxError, parse_steps
from scraper import errors
from scraper.call_context import Deadline
from scraper.model import Reading
from scraper.reading import outcome
from scraper.reading.visitor import PageVisitor, RenderDecider
from scraper.settings import Settings
from scraper.urls import cache_key, parse_target
from scraper.workers import WorkerPool

READ_RESERVE_S = 5.0
"""Seconds of a call reserved for reading the page after the steps."""


@dataclass(frozen=True, slots=True)
class BrowsedStep:
    """Outcome of one step, with the reading of the page if the step was `read`."""

    outcome: StepOutcome
    reading: Reading | errors.ScraperError | None = None


@dataclass(frozen=True, slots=True)
class BrowseResult:
    """Outcomes of the steps of one call, up to the first failed one."""

    session: str
    """ID of the session for the next call; empty if it has ended."""
    is_new: bool
    steps: tuple[BrowsedStep, ...]

    @property
    def error(self) -> str:
        """Reason why the last step failed; empty if it succeeded."""
        return self.steps[-1].outcome.error if self.steps else ""


CheckedSteps = tuple[Step, ...]


def check_steps(sources: Sequence[str], *, has_session: bool) -> CheckedSteps:
    """Parse the steps of a call, with canonical URLs.

    Raises:
        InvalidArgumentError: A step is invalid, or a new session does not begin with `open`.
        InvalidUrlError: A URL is no web URL.
    """
    try:
        steps = parse_steps(list(sources))
    except StepSyntaxError as error:
        raise errors.InvalidArgumentError(f"steps: {error}.", target="steps") from None
    if not has_session and steps[0].verb != "open":
        raise errors.InvalidArgumentError(
            f"steps: {steps[0].verb} needs a page.",
            target="steps",
            next_step="Begin with `open URL`, or pass the session of an earlier call.",
        )
    return tuple(replace(step, text=_canonical(step.text)) if step.verb == "open" else step for step in steps)


def _canonical(url: str) -> str:
    return cache_key(parse_target(url.strip('"')))


class BrowseSessions:
    """Run browse steps of callers."""

    def __init__(self, browsers: Browsers, visitor: PageVisitor, workers: WorkerPool, settings: Settings) -> None:
        """Open tabs in `browsers` within the rate limits of `visitor`, and read pages in `workers`."""
        self._browsers = browsers
        self._visitor = visitor
        self._workers = workers
        self._mode = ActingMode(settings.acting)
        self._language = settings.language

    async def run(self, steps: CheckedSteps, session: str | None, *, principal: str, deadline_s: float) -> BrowseResult:
        """Run steps in a session of the caller, or in a new one, and read the page for each `read` step.

        Raises:
            ScraperError: The session does not exist, or no tab can be opened.
        """
        deadline = Deadline.within(deadline_s)

        @asynccontextmanager
        async def permission(url: str) -> AsyncIterator[tuple[str, ...]]:
            try:
                async with self._visitor.politeness.permission(url, principal, deadline) as warnings:
                    yield warnings
            except errors.ScraperError as error:
                raise browser_errors.RefusedError(str(error), url=url, next_step=error.next_step) from error

        request = ScriptRequest(
            steps,
            session,
            principal,
            self._mode,
            permission,
            self._language,
            deadline_s=max(1.0, deadline_s - READ_RESERVE_S),
        )
        try:
            done: ScriptOutcome = await self._browsers.acting.run(request)
        except browser_errors.UnknownSessionError as error:
            raise errors.SessionNotFoundError(str(error), target="session", next_step=error.next_step) from None
        except browser_errors.BrowsersError as error:
            raise outcome.map_browser_error(error, steps[0].text) from error
        browsed = [BrowsedStep(one, await self._read(one, deadline)) for one in done.outcomes]
        return BrowseResult(done.session_id, done.is_new, tuple(browsed))

    async def _read(self, step: StepOutcome, deadline: Deadline) -> Reading | errors.ScraperError | None:
        """Return the reading of a `read` step's page, or its error; None for other steps."""
        if step.page is None:
            return None
        decider = RenderDecider(self._workers, deadline, on_render=lambda: None)
        try:
            result = await decider.read_result(step.page)
            return outcome.build_reading(result.snapshot, result.document, may_render=True, requested_url=step.page.url)
        except errors.ScraperError as error:
            return error
