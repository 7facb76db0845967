"""Define tools with their calls and answers; turn errors into answers."""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from scraper.call_context import ProgressCallback
from scraper.errors import ScraperError
from scraper.render.answer_text import error_sentence
from scraper.render.json_truncation import compact
from scraper.render.page import BODY_BUDGET, MAX_LENGTH
from scraper.settings import Settings
from scraper.tools.parameters import Parameters

if TYPE_CHECKING:
    from scraper.services import Services

_LOG = logging.getLogger(__name__)

RESULT_CHARS = MAX_LENGTH + 20_000
"""Characters of the longest answer that can be requested, with header and JSON quoting."""
_REGION_BYTES = 6
"""48 random bits, generated after the page was read, cannot be guessed by the page."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Caller, deadline and progress callback of one call."""

    principal: str = "local"
    deadline_s: float = 55.0
    progress: ProgressCallback | None = None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer as text, and as data if JSON was requested."""

    text: str
    structured: dict[str, Any] | list[Any] | None = None
    is_error: bool = False


Run = Callable[["Services", Mapping[str, Any], ToolCall], Awaitable[ToolAnswer]]
Work = Callable[["Services", dict[str, Any], ToolCall], Awaitable[ToolAnswer]]
"""The function of a tool; it gets parsed arguments and may raise."""
Check = Callable[[Mapping[str, Any]], object]
"""Check of parsed arguments that types and bounds do not express; raises a ScraperError."""


@dataclass(frozen=True, slots=True)
class BoundTool:
    """The function of a tool with its parameters; calling it raises only CancelledError."""

    name: str
    parameters: Parameters
    work: Work
    check: Check | None = None

    async def __call__(self, services: Services, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        """Return the answer; an error becomes an answer."""
        try:
            return await self.work(services, self._parse(arguments), call)
        except ScraperError as error:
            return ToolAnswer(error_sentence(error), is_error=True)
        except Exception:
            number = secrets.token_hex(4)
            _LOG.exception("internal error %s in tool %s", number, self.name)
            return ToolAnswer(
                f"Internal error {number}: a fault of this server, recorded in its log. "
                "Try other arguments, or another source.",
                is_error=True,
            )

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """Return the error answer for wrong arguments, or None if they are valid."""
        try:
            self._parse(arguments)
        except ScraperError as error:
            return ToolAnswer(error_sentence(error), is_error=True)
        return None

    def _parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        values = self.parameters.parse(arguments)
        if self.check is not None:
            self.check(values)
        return values


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as clients see it; `run` raises only CancelledError."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    run: Run
    open_world: bool = True
    """True if the tool reads the web."""
    read_only: bool = True
    """True if the tool changes nothing that callers can see."""
    destructive: bool = False
    """True if the tool may replace data."""
    idempotent: bool = True
    """True if a repeated call has no further effect."""
    result_chars: int | None = None
    """Maximum characters of an answer, if it exceeds the default limit of some clients."""

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """Return the error answer for arguments that are wrong without opening any service."""
        return self.run.fault(arguments) if isinstance(self.run, BoundTool) else None


def make_tool(
    name: str,
    title: str,
    parameters: Parameters,
    work: Work,
    *,
    check: Check | None = None,
    description: str | None = None,
    open_world: bool = True,
    result_chars: int | None = None,
) -> Tool:
    """Return a read-only tool; `description` is the name of its file in `descriptions` if it differs from `name`."""
    file = resources.files(__package__).joinpath("descriptions", f"{description or name}.md")
    return Tool(
        name=name,
        title=title,
        description=file.read_text(encoding="utf-8").strip(),
        input_schema=parameters.schema(),
        run=BoundTool(name, parameters, work, check),
        open_world=open_world,
        result_chars=result_chars,
    )


def json_answer(data: dict[str, Any] | list[Any], *, is_error: bool = False) -> ToolAnswer:
    """Return data as the answer."""
    return ToolAnswer(compact(data), data, is_error)


def new_region() -> str:
    """Return a new id for the untrusted regions of one answer."""
    return secrets.token_hex(_REGION_BYTES)


def body_budget(settings: Settings) -> int:
    """Return the tokens for page text in an answer; the rest is for header and region marks."""
    return round(BODY_BUDGET * settings.max_answer_tokens / _default_answer_tokens())


@functools.cache
def _default_answer_tokens() -> int:
    return Settings().max_answer_tokens
