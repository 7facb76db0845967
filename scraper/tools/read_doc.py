"""Tool `read_doc`: read a document as Markdown."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.errors import InvalidArgumentError
from scraper.model import DocumentRequest
from scraper.render import document as render
from scraper.render.fetch import MAX_LENGTH
from scraper.settings import Settings
from scraper.tools.model import (
    FORMAT,
    RESULT_CHARS,
    Parameter,
    Parameters,
    Tool,
    ToolAnswer,
    ToolCall,
    body_budget,
    json_answer,
    make_tool,
    new_region,
    string_parameter,
)
from scraper.values import BooleanValue, IntegerValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

MAX_OFFSET = 2**53
"""Largest integer that JSON of every client carries exactly. An offset beyond the text means its end."""
MAX_PAGES = 1_000
"""Pages in one selection."""
MAX_PAGES_CHARS = 10_000
"""Characters of a selection. Every other page of the largest selection, written out, needs half of that."""
MAX_PASSWORD_CHARS = 1_000

_LAST_PAGE = 100_000
_PAGE_RANGE = re.compile(r"(\d{1,6})\s*(?:(-|–|\.\.|:|to)\s*(\d{1,6})?)?")


def read_doc_tool(settings: Settings) -> Tool:
    """Return `read_doc`: the text of a document as Markdown."""
    parameters = Parameters(
        string_parameter("source", "http(s) URL, or local path.", required=True),
        Parameter("start", IntegerValue(-MAX_OFFSET, MAX_OFFSET), "First character to return.", default=0),
        Parameter("length", IntegerValue(0, MAX_OFFSET), f"Characters to return, at most {MAX_LENGTH:,}."),
        FORMAT,
        Parameter("pages", StringValue(MAX_PAGES_CHARS), 'Only these pages, e.g. "3-5,9".'),
        Parameter("outline", BooleanValue(), "Return headings with offsets.", default=False),
        Parameter("password", StringValue(MAX_PASSWORD_CHARS), "Of an encrypted PDF."),
    )
    return make_tool(
        "read_doc",
        "Read a document",
        parameters,
        _read_doc,
        check=lambda arguments: parse_page_ranges(arguments["pages"]),
        result_chars=RESULT_CHARS,
    )


async def _read_doc(app: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    pages = parse_page_ranges(arguments["pages"])
    request = DocumentRequest(arguments["source"], arguments["password"], (), call.principal)
    reading = await app.documents.read(request, pages=pages, deadline_s=call.deadline_s, progress=call.progress)
    part = render.DocumentPart(arguments["start"], arguments["length"], pages, arguments["outline"])
    budget = body_budget(app.settings)
    if arguments["format"] == "json":
        return json_answer(render.as_json(reading, part, budget=budget))
    text = render.as_markdown(reading, part, region=new_region(), now=datetime.now(UTC), budget=budget)
    return ToolAnswer(text)


def parse_page_ranges(text: str | None) -> tuple[int, ...]:
    """Parse a selection of pages such as `3`, `3-5` or `1,4-6,10-`.

    Returns:
        The page numbers in ascending order; an empty tuple if `text` is None.

    Raises:
        InvalidArgumentError: The text is not a selection of pages, or selects too many.
    """
    if text is None:
        return ()
    pages: set[int] = set()
    for part in filter(None, (piece.strip() for piece in re.split(r"[,;]", text))):
        match = _PAGE_RANGE.fullmatch(part)
        first, last = _range_ends(match, MAX_PAGES - len(pages)) if match else (0, 0)
        if not 1 <= first <= last <= _LAST_PAGE:
            raise InvalidArgumentError(
                f'pages must be numbers and ranges from 1 on, such as "3-5,9", not "{text[:60]}".', target="pages"
            )
        if len(pages) + last - first + 1 > MAX_PAGES:
            raise InvalidArgumentError(f"pages must name at most {MAX_PAGES:,} pages.", target="pages")
        pages.update(range(first, last + 1))
    if not pages:
        raise InvalidArgumentError('pages must name pages, such as "3-5,9".', target="pages")
    return tuple(sorted(pages))


def _range_ends(part: re.Match[str], limit: int) -> tuple[int, int]:
    """Return the first and last page; an open range ends where the selection reaches its limit."""
    first = int(part[1])
    open_end = min(_LAST_PAGE, first + max(limit, 1) - 1) if part[2] else first
    return first, int(part[3]) if part[3] else open_end
