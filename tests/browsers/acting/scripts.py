"""Run scripts of steps in tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from browsers import Browsers
from browsers.acting.page_requests import ActingMode, AskUser
from browsers.acting.page_tools import PageToolsMode
from browsers.acting.sessions import ActingRequest, ActingResult
from browsers.acting.step_parser import parse_steps
from browsers.acting.step_runner import StepOutcome
from tests.site.running import Site

DEADLINE_S = 60.0


@contextlib.asynccontextmanager
async def permitted(url: str) -> AsyncIterator[tuple[str, ...]]:
    """Permit every URL."""
    yield ()


async def run_steps(
    browsers: Browsers,
    steps: list[str],
    *,
    session: str | None = None,
    principal: str = "ann",
    mode: ActingMode = ActingMode.ACT,
    ask: AskUser | None = None,
    page_tools: PageToolsMode = PageToolsMode.OFF,
) -> ActingResult:
    """Run steps for a caller."""
    parsed = tuple(parse_steps(steps))
    request = ActingRequest(
        parsed, session, principal, mode, permitted, deadline_s=DEADLINE_S, ask=ask, page_tools=page_tools
    )
    return await browsers.acting.run(request)


@dataclass
class Actor:
    """One caller with one session."""

    browsers: Browsers
    site: Site
    mode: ActingMode = ActingMode.ACT
    session: str | None = None
    ask: AskUser | None = None
    page_tools: PageToolsMode = PageToolsMode.OFF

    async def __call__(self, *steps: str) -> StepOutcome:
        """Run steps and return the outcome of the last that ran; `@name` is a page of the site."""
        named = [
            f"open {self.site.url('/acting/' + step.removeprefix('open @'))}" if step.startswith("open @") else step
            for step in steps
        ]
        done = await run_steps(
            self.browsers, named, session=self.session, mode=self.mode, ask=self.ask, page_tools=self.page_tools
        )
        self.session = done.session_id or None
        return done.outcomes[-1]

    async def log(self) -> str:
        """Return what the page has logged."""
        return (await self("look log")).content
