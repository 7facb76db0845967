"""The nouns of a tool call: what is asked, by whom, and what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from scraper.progress import ProgressCallback

if TYPE_CHECKING:
    from scraper.app import App


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Who calls, how long they wait, and where to tell them how it goes."""

    principal: str = "local"
    deadline_s: float = 55.0
    progress: ProgressCallback | None = None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the caller gets: one text, and the same thing as data where data was asked for."""

    text: str
    structured: dict[str, Any] | list[Any] | None = None
    is_error: bool = False


Run = Callable[["App", Mapping[str, Any], ToolCall], Awaitable[ToolAnswer]]


@runtime_checkable
class ArgumentValidator(Protocol):
    """A way to run that can tell what is wrong with arguments before anything is opened."""

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """The answer that these arguments would get; None where they seem right."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that can be asked for; `run` raises nothing but cancellation."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    run: Run
    open_world: bool = True
    """Whether it reaches out to the web."""
    read_only: bool = True
    """Whether it leaves everything that callers can see as it was."""
    destructive: bool = False
    """Whether it may replace what was there."""
    idempotent: bool = True
    """Whether the same call twice does what it does once."""
    result_chars: int | None = None
    """Characters that an answer may have, where that is more than some clients take unasked."""

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """What is wrong with arguments, as far as can be told before anything is opened."""
        return self.run.fault(arguments) if isinstance(self.run, ArgumentValidator) else None
