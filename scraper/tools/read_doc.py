"""`read_doc`: one document in, its text as Markdown out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.reading.documents.request import DocumentRequest
from scraper.render import document as render
from scraper.render.fetch import MAX_LENGTH
from scraper.settings import Settings
from scraper.tools.arguments import BooleanArgument, IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import FORMAT, RESULT_CHARS, body_budget, compact, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.tools.page_ranges import page_numbers

if TYPE_CHECKING:
    from scraper.app import App

MAX_OFFSET = 2**53
"""The largest number that every client's JSON can carry exactly: what lies beyond a text's end is its end."""

MAX_PAGES_CHARS = 10_000
"""Every other one of the most pages in a selection, written out, has half of that."""
MAX_PASSWORD_CHARS = 1_000


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter(
            "source", StringArgument(), "http(s) URL, or a path in the operator's folder.", required=True
        ),
        Parameter(
            "start",
            IntegerArgument(-MAX_OFFSET, MAX_OFFSET),
            "Character to begin at.",
            default=0,
        ),
        Parameter(
            "length",
            IntegerArgument(0, MAX_OFFSET),
            f"Most characters to return, {MAX_LENGTH:,} at once.",
        ),
        FORMAT,
        Parameter("pages", StringArgument(MAX_PAGES_CHARS), 'Only these pages, e.g. "3-5,9".'),
        Parameter("outline", BooleanArgument(), "Return the headings with their offsets.", default=False),
        Parameter("password", StringArgument(MAX_PASSWORD_CHARS), "Of a locked PDF."),
    )
    return Tool(
        name="read_doc",
        title="Read a document",
        description=described("read_doc"),
        input_schema=parameters.schema(),
        run=guarded("read_doc", parameters, _run, check=lambda given: page_numbers(given["pages"])),
        result_chars=RESULT_CHARS,
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    pages = page_numbers(given["pages"])
    wanted = DocumentRequest(given["source"], given["password"], (), call.principal)
    reading = await app.documents.read(
        wanted, pages=pages, deadline_s=call.deadline_s, progress=call.progress
    )
    part = render.DocumentPart(given["start"], given["length"], pages, given["outline"])
    budget = body_budget(app.settings)
    if given["format"] == "json":
        answer = render.as_json(reading, part, budget=budget)
        return ToolAnswer(compact(answer), answer)
    text = render.as_markdown(reading, part, region=new_region(), now=datetime.now(UTC), budget=budget)
    return ToolAnswer(text)
