"""Plain text, Markdown and what is written in lines: shown as it is."""

from __future__ import annotations

import re

from scraper.errors import NoContentError
from scraper.extract.code.blocks import fence
from scraper.extract.documents.decode import letters
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.text import markdown_structure

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\s*\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:(.*\S)", re.MULTILINE)
_CODE_LINE = re.compile(r"^(?:[ \t]+\S.*[{};:]|.*[{};]|\s*(?:def|class|import|from|function|#include)\b.*)$")
_CODE_SHARE = 0.4
_SAMPLE_LINES = 200


def read_text(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """A plain text; what is laid out by its lines as code is fenced."""
    text, warnings = letters(data, asked)
    body = text.strip("\n").rstrip()
    if not body.strip():
        raise NoContentError("The file holds no text.", next_step="There is nothing to read in it.")
    return ParsedDocument("text", fence(body, "") if _is_code(body) else body, warnings=warnings)


def read_markdown(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """Markdown, as it stands."""
    text, warnings = letters(data, asked)
    front = _FRONT_MATTER.match(text)
    titled = _FRONT_TITLE.search(front[1]) if front else None
    headings = markdown_structure.find_headings(text)
    title = _unquoted(titled[1].strip()) if titled else headings[0].text if headings else None
    return ParsedDocument("markdown", text.strip(), title=title, warnings=warnings)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def read_xml(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """XML of no special kind."""
    text, warnings = letters(data, asked)
    return ParsedDocument("xml", fence(text.strip(), "xml"), warnings=warnings)


def _is_code(text: str) -> bool:
    lines = [line for line in text.split("\n")[:_SAMPLE_LINES] if line.strip()]
    return len(lines) > 3 and sum(bool(_CODE_LINE.match(line)) for line in lines) > _CODE_SHARE * len(lines)
