"""The answer of `read_doc`: a part of one document, as Markdown with a small header or as JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from scraper.errors import InvalidArgumentError
from scraper.extract.text import markdown_structure as outlines
from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import Document, Reading
from scraper.render.fetch import BODY_BUDGET, MAX_LENGTH, characters_for, read_ago
from scraper.render.paging import TextCut, cut
from scraper.render.untrusted_region import EXPLANATION, seal

PAGE_MARK = re.compile(r"^<!-- page (\d+) -->$", re.MULTILINE)

_MAX_FACT = 300
_MAX_SOURCE = 2_000
_MAX_LISTED = 40
"""Pages named one by one."""
_MAX_HEADINGS = 300


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Which part of a document is asked for."""

    start: int = 0
    length: int | None = None
    pages: tuple[int, ...] = ()
    outline: bool = False


def as_markdown(
    reading: Reading,
    part: DocumentPart,
    *,
    region: str,
    now: datetime | None = None,
    budget: int = BODY_BUDGET,
) -> str:
    """Header, the text in its region, and how to go on. `region`: a random id made for this answer alone.

    Raises:
        BadArgument: none of the pages asked for is there.
    """
    reading = _selected(reading, part.pages)
    if part.outline:
        body = "\n".join(_outline_lines(reading.document)) or "(no headings)"
        head = [*_header(reading, None, now), _explanation(reading, region)]
        return "\n".join(head) + "\n\n" + seal(body, region)
    piece = _piece(reading.document.markdown, part, budget)
    head = [*_header(reading, piece, now), _explanation(reading, region)]
    document = reading.document
    facts = [
        f"{name}: {fact}"
        for name, fact in (("Title", _fact(document.title)), ("Author", _fact(document.author)))
        if fact
    ]
    body = piece.shown if piece.text else "(the end of the document)" if piece.start else "(no text)"
    parts = ["\n".join(head), seal("\n".join([*facts, "", body]) if facts else body, region)]
    if piece.next_start is not None:
        left = piece.total - piece.end
        more = ", and the same pages" if part.pages else ""
        parts.append(
            f"Cut here: {left:,} characters are left. To go on, call read_doc again with "
            f"start={piece.end}{more}."
        )
    return "\n\n".join(parts)


def as_json(reading: Reading, part: DocumentPart, *, budget: int = BODY_BUDGET) -> dict[str, object]:
    """The answer as an object; `content` is exactly what stands from `start` to `start` + `returned_chars`.

    Raises:
        BadArgument: none of the pages asked for is there.
    """
    reading = _selected(reading, part.pages)
    document = reading.document
    piece = _piece(document.markdown, replace(part, length=0) if part.outline else part, budget)
    answer: dict[str, object] = {
        "content": piece.text,
        "title": _fact(document.title),
        "format": document.format,
        "total_chars": piece.total,
        "start": piece.start,
        "returned_chars": len(piece.text),
        "truncated": piece.next_start is not None,
        "source": clean_line(reading.url, _MAX_SOURCE),
        "tokens_estimated": token_estimate.estimate(piece.text),
    }
    if piece.next_start is not None:
        answer["next_start"] = piece.next_start
    if document.author:
        answer["author"] = _fact(document.author)
    if document.page_count is not None:
        answer["pages"] = document.page_count
    if document.ocr_pages:
        answer["ocr_needed"] = list(document.ocr_pages)
    if document.encrypted:
        answer["encrypted"] = True
    if part.outline:
        answer["outline"] = _outline_rows(document)
    answer["cached"] = reading.cached
    answer["retrieved_at"] = reading.retrieved_at.isoformat(timespec="seconds")
    if reading.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_FACT) for warning in reading.warnings]
    return answer


def _outline_rows(document: Document) -> list[dict[str, object]]:
    """The headings as objects, with their pages where the document has such."""
    return [
        {"level": heading.level, "text": heading.text, "start": heading.start}
        | ({"page": page} if (page := _page_at(document.markdown, heading.start)) else {})
        for heading in document.outline[:_MAX_HEADINGS]
    ]


def _explanation(reading: Reading, region: str) -> str:
    """Whose words the region holds: a file of the operator's is as little to be obeyed as a page."""
    said = EXPLANATION.format(region=region)
    return said.replace("comes from the web", "comes from the file") if reading.method == "file" else said


def _piece(markdown: str, part: DocumentPart, budget: int) -> TextCut:
    """Exactly the length that is asked for; without one, what fits an answer, cut where a paragraph ends."""
    start = max(0, min(part.start, len(markdown)))
    if part.length is not None:
        end = min(len(markdown), start + min(part.length, MAX_LENGTH))
        return TextCut(markdown[start:end], start, end, len(markdown))
    affordable = token_estimate.fit_prefix(markdown, start, budget)
    return cut(markdown, start, min(affordable, characters_for(budget)), keep_whole=0)


def _selected(reading: Reading, pages: tuple[int, ...]) -> Reading:
    """The reading of the chosen pages alone; offsets then count within them."""
    if not pages:
        return reading
    document = reading.document
    marks = list(PAGE_MARK.finditer(document.markdown))
    if not marks:
        raise InvalidArgumentError(
            "This document has no pages to choose from.",
            target="pages",
            next_step="Use `start` and `length`.",
        )
    ends = [mark.start() for mark in marks[1:]] + [len(document.markdown)]
    chosen = set(pages)
    parts = [
        document.markdown[mark.start() : end].strip()
        for mark, end in zip(marks, ends, strict=True)
        if int(mark[1]) in chosen
    ]
    if not parts:
        raise InvalidArgumentError(
            f"There is no page {pages[0]}: the document has {document.page_count or len(marks):,} pages.",
            target="pages",
        )
    markdown = "\n\n".join(parts)
    selected = replace(document, markdown=markdown, outline=outlines.find_headings(markdown))
    return replace(reading, document=selected)


def _header(reading: Reading, piece: TextCut | None, now: datetime | None) -> list[str]:
    """What we know ourselves; nothing here is the document's own words."""
    document = reading.document
    lines = [f"Source: {clean_line(reading.url, _MAX_SOURCE)}"]
    pages = f", {document.page_count:,} {_unit(document)}" if document.page_count else ""
    lock = ", was locked" if document.encrypted else ""
    lines.append(f"Format: {document.format}{pages}{lock}")
    if piece is not None:
        lines.append(f"Tokens: about {token_estimate.estimate(piece.shown):,}")
        next_start = f"; next: start={piece.end}" if piece.next_start is not None else ""
        lines.append(f"Characters: {piece.start}-{piece.end} of {piece.total}{next_start}")
    if document.ocr_pages:
        lines.append(f"ocr_needed: {_listed(document.ocr_pages)} (pictures of text, which are not read)")
    if reading.cached:
        lines.append(f"Cached: {read_ago(reading.retrieved_at, now)}")
    lines += [f"Warning: {clean_line(warning, _MAX_FACT)}" for warning in reading.warnings]
    return lines


def _unit(document: Document) -> str:
    noun = {"xlsx": "sheet", "xls": "sheet", "xlsb": "sheet", "ods": "sheet", "pptx": "slide", "odp": "slide"}
    one = noun.get(document.format or "", "page")
    return one if document.page_count == 1 else one + "s"


def _outline_lines(document: Document) -> list[str]:
    lines = []
    for heading in document.outline[:_MAX_HEADINGS]:
        page = _page_at(document.markdown, heading.start)
        where = f"page {page}, start={heading.start}" if page else f"start={heading.start}"
        lines.append(f"{'  ' * (heading.level - 1)}- {heading.text} ({where})")
    return lines


def _page_at(markdown: str, at: int) -> int | None:
    """The page on which a character stands."""
    before = markdown.rfind("<!-- page ", 0, at + 1)
    mark = PAGE_MARK.match(markdown, before) if before >= 0 else None
    return int(mark[1]) if mark else None


def _listed(pages: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, pages[:_MAX_LISTED]))
    return f"{shown} and {len(pages) - _MAX_LISTED} more" if len(pages) > _MAX_LISTED else shown


def _fact(text: str | None) -> str | None:
    return clean_line(text, _MAX_FACT) or None if text else None
