"""The one place where what went wrong becomes an answer."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scraper.errors import ScraperError
from scraper.render.errors import sentence
from scraper.tools.arguments import Parameters
from scraper.tools.model import ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App

log = logging.getLogger(__name__)

Work = Callable[["App", dict[str, Any], ToolCall], Awaitable[ToolAnswer]]
"""What a tool does with arguments that are understood; may raise."""
Check = Callable[[Mapping[str, Any]], object]
"""Raises a ScraperError where values make no sense."""


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool's work behind its arguments, raising nothing but cancellation."""

    name: str
    parameters: Parameters
    work: Work
    check: Check

    async def __call__(self, app: App, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        """The answer, or what went wrong as one."""
        try:
            return await self.work(app, self._read(arguments), call)
        except ScraperError as error:
            return ToolAnswer(sentence(error), is_error=True)
        except Exception:
            number = secrets.token_hex(4)
            log.exception("internal error %s in tool %s", number, self.name)
            return ToolAnswer(
                f"Internal error {number}: a fault of this server, told in its log. "
                "Try other arguments, or another source.",
                is_error=True,
            )

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """What is wrong with arguments; None where nothing is, as far as they alone tell."""
        try:
            self._read(arguments)
        except ScraperError as error:
            return ToolAnswer(sentence(error), is_error=True)
        return None

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = self.parameters.read(arguments)
        self.check(given)
        return given


def guarded(name: str, parameters: Parameters, work: Work, *, check: Check | None = None) -> BoundTool:
    """`work` behind its arguments; `check` raises what is wrong with values that have the right types."""
    return BoundTool(name, parameters, work, check or _nothing)


def _nothing(_given: Mapping[str, Any]) -> None:
    """Types and bounds say it all."""
