"""Render documents: answers of `read_doc`, and documents of named indexes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from scraper.errors import InvalidArgumentError
from scraper.model import Document, Reading
from scraper.render import page as render_page
from scraper.render.json_truncation import drop_empty
from scraper.render.untrusted_text import UNTRUSTED_NOTICE, display_url, mark_untrusted
from scraper.text import token_estimate
from scraper.text.markdown_structure import PAGE_MARK, TextCut, find_headings
from scraper.text.sanitize import clean, clean_line

_BUDGET = render_page.BODY_BUDGET
_UNITS = {"pptx": "slide", "odp": "slide"} | dict.fromkeys(("xlsx", "xls", "xlsb", "ods"), "sheet")
_MAX_SOURCE = 2_000
_MAX_LISTED = 40
"""Page numbers that are listed; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Requested part of a document."""

    start: int = 0
    length: int | None = None
    pages: tuple[int, ...] = ()
    """Page numbers; empty for the whole document."""
    outline: bool = False
    """True for the headings instead of the text."""


def as_markdown(
    reading: Reading, part: DocumentPart, *, region: str, now: datetime | None = None, budget: int = _BUDGET
) -> str:
    """Return header, text or outline in an untrusted region, and how to continue; raise as `select_pages` does."""
    reading = select_pages(reading, part.pages)
    if part.outline:
        lines = []
        for row in _outline_rows(reading.document):
            page = f"page {row['page']}, " if "page" in row else ""
            lines.append(f"{'  ' * (row['level'] - 1)}- {row['text']} ({page}start={row['start']})")
        body = "\n".join(lines) or "(no headings)"
        return "\n".join([*_header(reading, None, now), mark_untrusted(body, region)])
    piece = _piece(reading.document.markdown, part, budget)
    text = render_page.untrusted_page(reading, piece, region)
    parts = ["\n".join([*_header(reading, piece, now), text])]
    if piece.next_start is not None:
        more = ", and the same pages" if part.pages else ""
        parts.append(f"{render_page.cut_note(piece)} To go on, call read_doc again with start={piece.end}{more}.")
    return "\n\n".join(parts)


def as_json(reading: Reading, part: DocumentPart, *, budget: int = _BUDGET) -> dict[str, object]:
    """Return the answer as an object; raise as `select_pages` does."""
    reading = select_pages(reading, part.pages)
    document = reading.document
    piece = _piece(document.markdown, replace(part, length=0) if part.outline else part, budget)
    facts: dict[str, object] = {
        "next_start": piece.next_start,
        "author": render_page.clean_fact(document.author),
        "pages": document.page_count,
    }
    facts |= {"ocr_needed": list(document.ocr_pages), "encrypted": document.encrypted}
    return {
        "content": piece.text,
        "title": render_page.clean_fact(document.title),
        "format": document.format,
        "total_chars": piece.total,
        "start": piece.start,
        "returned_chars": len(piece.text),
        "truncated": piece.next_start is not None or (document.is_part and not part.pages),
        "source": clean_line(reading.url, _MAX_SOURCE),
        "tokens_estimated": token_estimate.estimate(piece.text),
        **drop_empty(facts),
        **({"outline": _outline_rows(document)} if part.outline else {}),
        "cached": reading.cached,
        "retrieved_at": reading.retrieved_at.isoformat(timespec="seconds"),
        **drop_empty({"warnings": [clean_line(warning, render_page.MAX_FACT) for warning in reading.warnings]}),
        "notice": UNTRUSTED_NOTICE,
    }


def index_document_as_markdown(
    content: str,
    *,
    index: str,
    doc_id: str,
    metadata: Mapping[str, Any],
    address: str,
    region: str,
    start: int = 0,
    budget: int = _BUDGET,
) -> str:
    """Return a header, the text from `start` in an untrusted region, and the URI of the next part."""
    text = clean(content)[0]
    piece = render_page.cut_to_budget(text, start, budget)
    head = [f"Index: {index}", f"Tokens: about {token_estimate.estimate(piece.shown):,}"]
    if piece.start or piece.next_start is not None:
        head.append(f"Characters: {piece.start}-{piece.end} of {piece.total}")
    facts = [f"Document: {clean_line(doc_id, 512)}"]
    if metadata:
        facts.append(f"Metadata: {clean_line(json.dumps(dict(metadata), ensure_ascii=False), 1_000)}")
    body = "\n".join([*facts, "", piece.shown or "(no text)"])
    parts = ["\n".join([*head, mark_untrusted(body, region)])]
    if piece.next_start is not None:
        parts.append(f"{render_page.cut_note(piece)} They are at {address}?start={piece.end}")
    return "\n\n".join(parts)


def _outline_rows(document: Document) -> list[dict[str, Any]]:
    return [
        {"level": heading.level, "text": heading.text, "start": heading.start}
        | ({"page": page} if (page := page_at(document.markdown, heading.start)) else {})
        for heading in document.outline[:300]
    ]


def _piece(markdown: str, part: DocumentPart, budget: int) -> TextCut:
    """Return exactly the requested length, up to `MAX_LENGTH`, or as much as fits the budget, cut at a paragraph."""
    if part.length is None:
        return render_page.cut_to_budget(markdown, part.start, budget)
    start = max(0, min(part.start, len(markdown)))
    end = min(len(markdown), start + min(part.length, render_page.MAX_LENGTH))
    return TextCut(markdown[start:end], start, end, len(markdown))


def select_pages(reading: Reading, pages: tuple[int, ...]) -> Reading:
    """Return the document with the selected pages, all for none; raise InvalidArgumentError if it has none of them."""
    if not pages:
        return reading
    document = reading.document
    marks = list(PAGE_MARK.finditer(document.markdown))
    if not marks:
        raise InvalidArgumentError(
            "This document has no pages to choose from.", target="pages", next_step="Use `start` and `length`."
        )
    ends = [mark.start() for mark in marks[1:]] + [len(document.markdown)]
    numbers, spans = set(pages), zip(marks, ends, strict=True)
    parts = [document.markdown[mark.start() : end].strip() for mark, end in spans if int(mark[1]) in numbers]
    if not parts:
        count = document.page_count or len(marks)
        raise InvalidArgumentError(
            f"There is no page {pages[0]}: the document has {count:,} page{'s' * (count != 1)}.", target="pages"
        )
    markdown = "\n\n".join(parts)
    return replace(reading, document=replace(document, markdown=markdown, outline=find_headings(markdown)))


def _header(reading: Reading, piece: TextCut | None, now: datetime | None) -> list[str]:
    """Return the header lines, which contain no text of the document."""
    document = reading.document
    unit = _UNITS.get(document.format or "", "page") + ("" if document.page_count == 1 else "s")
    pages = f", {document.page_count:,} {unit}" if document.page_count else ""
    lock = ", was locked" if document.encrypted else ""
    source = display_url(reading.url, requested=reading.requested_url)
    facts = [f"Source: {source} Format: {document.format}{pages}{lock}"]
    if piece is not None:
        facts.append(f"Tokens: {token_estimate.estimate(piece.shown):,}")
    if reading.cached:
        facts.append(f"Cached: {render_page.read_ago(reading.retrieved_at, now)}")
    lines = [" ".join(facts)]
    if piece is not None and (piece.start or piece.next_start is not None):
        next_start = f"; next: start={piece.end}" if piece.next_start is not None else ""
        lines.append(f"Characters: {piece.start}-{piece.end} of {piece.total}{next_start}")
    if scanned := document.ocr_pages:
        more = f" and {len(scanned) - _MAX_LISTED} more" if len(scanned) > _MAX_LISTED else ""
        listed = ", ".join(map(str, scanned[:_MAX_LISTED])) + more
        lines.append(f"ocr_needed: {listed} (images of text, which are not read)")
    lines += [f"Warning: {clean_line(warning, render_page.MAX_FACT)}" for warning in reading.warnings]
    return lines


def page_at(markdown: str, at: int) -> int | None:
    """Return the number of the page that contains a character, or None without pages."""
    before = markdown.rfind("<!-- page ", 0, at + 1)
    mark = PAGE_MARK.match(markdown, before) if before >= 0 else None
    return int(mark[1]) if mark else None
