"""`compare`: two to five URLs and a question in, what each page says of it out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.render import compare as render
from scraper.search.compare import MAX_URLS, MIN_URLS, checked, compare
from scraper.settings import Settings
from scraper.tools.arguments import Parameter, Parameters, StringArgument, StringListArgument
from scraper.tools.common_parameters import FORMAT, body_budget, compact, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App

MAX_QUESTION_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class _Several:
    """URLs to be compared; how many there may be is said where they are, with the tool for other numbers."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return StringListArgument(MAX_URLS).schema() | {"minItems": MIN_URLS}

    def read(self, value: object) -> tuple[str, ...]:
        """The URLs."""
        if value in ([], (), "[]"):
            return ()
        given = len(value) if isinstance(value, (list, tuple)) else MAX_URLS
        return StringListArgument(max(given, MAX_URLS)).read(value)


_PARAMETERS = Parameters(
    Parameter("question", StringArgument(MAX_QUESTION_CHARS), "What to compare them for.", required=True),
    Parameter("urls", _Several(), f"{MIN_URLS} to {MAX_URLS} absolute http(s) URLs.", required=True),
    FORMAT,
)


def tool(settings: Settings) -> Tool:
    """The tool."""
    return Tool(
        name="compare",
        title="Compare web pages",
        description=described("compare"),
        input_schema=_PARAMETERS.schema(),
        run=guarded("compare", _PARAMETERS, _run, check=lambda given: checked(given["urls"])),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    question = given["question"]
    pages = await compare(
        app.fetcher,
        app.workers,
        question,
        given["urls"],
        budget=body_budget(app.settings),
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    if given["format"] == "json":
        data = render.as_json(question, pages)
        return ToolAnswer(compact(data), data)
    return ToolAnswer(render.as_markdown(question, pages, region=new_region(), now=datetime.now(UTC)))
