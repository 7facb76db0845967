"""Tool `browse`: act on a page step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.errors import InvalidArgumentError, PolicyError, ScraperError
from scraper.render.browse import StepReport, write_answer
from scraper.settings import Settings
from scraper.tools.model import (
    PROFILE,
    Parameter,
    Parameters,
    Tool,
    ToolAnswer,
    ToolCall,
    body_budget,
    make_tool,
    new_region,
)
from scraper.values.types import StringListValue, StringValue

if TYPE_CHECKING:
    from scraper.reading.browsing import BrowsedStep, CheckedSteps
    from scraper.services import Services

NAME = "browse"
MAX_STEPS = 50
_MAX_SESSION_CHARS = 64
_STEPS = (
    "open URL; look [words]; click T [twice|right|accept]; type T = text [+ Enter]; select T = option; press Key; "
    "hover T; drag T to T; scroll down|up|end|T; more T (until all is there); wait words|seconds; back; point x y; "
    'read; close. T: e12, role "name" or "text".'
)


def browse_tool(settings: Settings) -> Tool:
    """Return `browse`: run steps such as clicks and typing on a page."""
    parameters = Parameters(
        Parameter("steps", StringListValue(MAX_STEPS), _STEPS, required=True),
        Parameter("session", StringValue(_MAX_SESSION_CHARS), "Of the call before."),
        PROFILE,
    )
    tool = make_tool(NAME, "Act on a web page", parameters, _browse, check=_check)
    return replace(tool, read_only=False, destructive=True, idempotent=False)


def _check(arguments: Mapping[str, Any]) -> CheckedSteps:
    # The tool list does not load the browser client.
    from scraper.reading.browsing import check_steps

    return check_steps(arguments["steps"], has_session=arguments["session"] is not None)


async def _browse(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    result = await services.browsing.run(
        _check(arguments),
        arguments["session"],
        principal=call.principal,
        deadline_s=call.deadline_s,
        profile=arguments["profile"],
    )
    text = write_answer(
        [_report(step) for step in result.steps],
        session=result.session,
        is_new=result.is_new,
        region=new_region(),
        now=datetime.now(UTC),
        budget=body_budget(services.settings),
    )
    failure = _failure(result.error)
    return ToolAnswer(text, is_error=failure is not None, failures=() if failure is None else (failure,))


def _report(step: BrowsedStep) -> StepReport:
    done = step.outcome
    return StepReport(done.step, done.notices, done.content, done.heading, done.error, step.reading)


def _failure(error: str) -> ScraperError | None:
    """Return the error of a failed step for the exit code of the command line."""
    if not error:
        return None
    kind: type[ScraperError] = PolicyError if error.startswith("refused") else InvalidArgumentError
    return kind(error, target="steps")
