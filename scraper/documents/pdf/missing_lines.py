"""Complete the pages of a PDF: add lines that the layout analysis lost, and report what is still missing."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scraper.documents.completeness import (
    PARTS_OF_LINES,
    WHOLE_LINES,
    count_letters,
    count_written_letters,
    find_lost_letters,
    find_missing_lines,
    format_loss_warning,
    is_incomplete,
    total_letters,
)
from scraper.documents.markdown_writing import escape_text
from scraper.documents.model import HIDDEN_TEXT_WARNING, ParseRequest
from scraper.documents.pdf import pdfium_text
from scraper.documents.pdf.pdfium_text import PageText
from scraper.documents.pdf.text_assembly import join_lines

_FALLBACK_READER = "scraper.documents.pdf.fallback_reader"
"""Imported on demand: its import costs more than reading a page."""
_MAX_REMOVED_SHARE = 0.05
"""Ratio of letters in removed headers and footers. Above it, a warning says that they are written only once."""


@dataclass(frozen=True, slots=True)
class CompletedPages:
    """Markdown by page, with the lines that were missing."""

    texts: list[tuple[int, str]]
    has_loss: bool
    """True if pages still lack letters."""
    warnings: tuple[str, ...]


def complete_pages(
    data: bytes,
    texts: Sequence[tuple[int, str]],
    removed: Mapping[int, str],
    request: ParseRequest,
    unread: Sequence[int],
    source: Mapping[int, PageText],
) -> CompletedPages:
    """Add the lines that a page lacks, from PDFium's own text, and with `more_care` from pypdf.

    Args:
        data: The PDF.
        texts: Markdown of the pages by number.
        removed: Text of removed headers, footers and page numbers by page.
        request: Options of the reading.
        unread: Pages on which PDFium finds hardly any letters, though they are not images.
        source: Text of the pages as PDFium reads it.
    """
    markdown = dict(texts)
    expected = {page: count_letters(text.text) - count_letters(removed.get(page, "")) for page, text in source.items()}
    hidden = {page: unseen for page, text in source.items() if (unseen := count_letters(text.hidden_text))}
    if lost := _find_losses(expected, markdown, list(expected)):
        lines = pdfium_text.read_visible_lines(data, list(lost), request.password)
        for page in lost:
            visible = expected[page] & count_letters("\n".join(lines[page]))
            if is_incomplete(expected[page] - visible, expected[page]):
                hidden[page] = hidden.get(page, Counter()) + (expected[page] - visible)
            expected[page] = visible
        for share in (WHOLE_LINES, PARTS_OF_LINES):
            _add_missing_lines(markdown, lines, _find_losses(expected, markdown, list(lost)), share)
        lost = _find_losses(expected, markdown, list(lost))
    if request.more_care and (pages := sorted({*unread, *lost} - hidden.keys())):
        lines = importlib.import_module(_FALLBACK_READER).read_lines(data, pages, request.password)
        letters = {page: count_letters("\n".join(found)) for page, found in lines.items()}
        _add_missing_lines(markdown, lines, _find_losses(letters, markdown, pages), WHOLE_LINES)
        lost = _find_losses(expected, markdown, list(lost))
    total = total_letters(expected.values()) + total_letters(hidden.values())
    warnings = []
    if lost:
        warnings.append(format_loss_warning("Some text is missing", lost, total))
    if hidden:
        warnings.append(format_loss_warning(HIDDEN_TEXT_WARNING, hidden, total))
    if total and sum(map(len, removed.values())) > _MAX_REMOVED_SHARE * total:
        warnings.append("Repeated headers and footers are shown only once, and page numbers not at all.")
    return CompletedPages([(page, markdown[page]) for page, _ in texts], bool(lost), tuple(warnings))


def _find_losses(
    expected: Mapping[int, Counter[str]], markdown: Mapping[int, str], pages: Sequence[int]
) -> dict[int, Counter[str]]:
    """Return the lost letters of incomplete pages; text that was joined to the page before is not lost."""
    losses = {}
    for page in pages:
        letters = expected.get(page, Counter())
        lost = find_lost_letters(letters, markdown[page])
        if is_incomplete(lost, letters):
            before = count_written_letters(markdown.get(page - 1, "")) - expected.get(page - 1, Counter())
            lost = find_lost_letters(letters, markdown[page], before)
            if is_incomplete(lost, letters):
                losses[page] = lost
    return losses


def _add_missing_lines(
    markdown: dict[int, str], lines: Mapping[int, Sequence[str]], lost: Mapping[int, Counter[str]], min_share: float
) -> None:
    for page, letters in lost.items():
        missing = find_missing_lines(lines.get(page, ()), markdown[page], letters, min_share)
        if missing:
            text = escape_text(join_lines(missing))
            markdown[page] = f"{markdown[page]}\n\n{text}".strip()
