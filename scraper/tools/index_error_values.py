"""What the tools of named indexes share: whatever is wrong is told as a value, never as a tool's failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from scraper.store.indexes.model import DEFAULT_INDEX, IndexFaultError
from scraper.tools.arguments import Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import compact
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Run, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App

INDEX_NAME = Parameter("index_name", StringArgument(), "Which index.", default=DEFAULT_INDEX)

_Work = Callable[["App", dict[str, Any], ToolCall], Awaitable[dict[str, Any]]]


def valued(name: str, parameters: Parameters, work: _Work) -> Run:
    """`work` behind its arguments; its answers are objects, and so is `{"error": ...}`."""

    async def answer(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
        try:
            return value(await work(app, given, call))
        except IndexFaultError as fault:
            return value({"error": str(fault)})

    behind_boundary = guarded(name, parameters, answer)

    async def run(app: App, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        answered = await behind_boundary(app, arguments, call)
        return value({"error": answered.text}) if answered.is_error else answered

    return run


def value(data: dict[str, Any]) -> ToolAnswer:
    """An object as the answer."""
    return ToolAnswer(compact(data), data)
