"""PDF reader: finds tables, reading order, paragraphs and headings of the pages and writes Markdown.

Then it adds the lines that the layout analysis lost, and reports what is still missing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from scraper.documents import completeness
from scraper.documents.markdown_writing import escape_text, join_pages
from scraper.documents.model import HIDDEN_TEXT_WARNING, ParsedDocument, ParseRequest, name_unread_files
from scraper.documents.pdf import blocks as layout_blocks
from scraper.documents.pdf import liteparse_loader, pdfium_text
from scraper.documents.pdf.headers_and_footers import remove_headers_and_footers
from scraper.documents.pdf.lattice_tables import LatticeGrid, find_grids
from scraper.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutPage, LayoutRow, TextRun
from scraper.documents.pdf.reading_order import split_flows
from scraper.documents.pdf.stream_tables import find_tables
from scraper.documents.pdf.structure_tree import read_tagged_blocks
from scraper.documents.pdf.table_cells import add_headers
from scraper.documents.pdf.text_assembly import is_right_to_left, join_lines

warm_up = liteparse_loader.warm_up
_MIN_PAGE_CHARS = 20
"""Characters. A page with fewer may be an image of text."""
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_MIN_WORD = 4
_VOCABULARY_PAGES = 300
_MAX_REMOVED_SHARE = 0.05
"""Ratio of letters in removed headers and footers. Above it, a warning says that they are written only once."""


def read(data: bytes, request: ParseRequest | None = None) -> ParsedDocument:
    """Return the pages of a PDF as Markdown.

    Raises:
        EncryptedDocumentError: It needs a password.
        MalformedDocumentError: PDFium cannot read it.
    """
    request = request or ParseRequest()
    source = liteparse_loader.load(data, request)
    texts, removed = _write_pages(source.pages, source.forms)
    bare = [page.number for page in source.pages if sum(len(run.text) for run in page.runs) < _MIN_PAGE_CHARS]
    ocr_pages = tuple(pdfium_text.find_picture_pages(data, bare, request.password))
    warnings = _complete_pages(data, texts, removed, request, source.texts)
    return ParsedDocument(
        "pdf",
        join_pages(list(texts.items())),
        title=source.title,
        author=source.author,
        pages=source.page_count,
        ocr_pages=ocr_pages,
        encrypted=source.encrypted,
        is_part=len(source.pages) + len(source.failed_pages) < source.page_count,
        warnings=(*_warnings(source, request), *warnings),
    )


def _write_pages(pages: Sequence[LayoutPage], forms: Mapping[int, str]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the Markdown of each page with its form, and the removed headers and footers by page."""
    sizes: Counter[float] = Counter()
    for run in (run for page in pages for run in page.runs):
        sizes[run.size] += len(run.text)
    body_size = sizes.most_common(1)[0][0] if sizes else 10.0
    pages, removed = remove_headers_and_footers(pages, body_size)
    pages = layout_blocks.unmark_monospaced_prose(pages)
    content = " ".join(run.text for page in pages[:_VOCABULARY_PAGES] for run in page.runs)
    words = set(_HYPHENATED.findall(content))
    vocabulary = frozenset(word.lower() for word in words if len(word) >= _MIN_WORD or "-" in word)
    blocks = layout_blocks.join_tables([list(_blocks(page)) for page in pages])
    marked = iter(layout_blocks.mark_headings([block for page in blocks for block in page], body_size))
    texts = {}
    for page, page_blocks in zip(pages, blocks, strict=True):
        text = layout_blocks.write_markdown(list(islice(marked, len(page_blocks))), vocabulary)
        texts[page.number] = "\n\n".join(filter(None, (text, forms.get(page.number))))
    return texts, removed


def _warnings(source: liteparse_loader.PdfContent, request: ParseRequest) -> Iterator[str]:
    count = len(source.pages)
    if source.unread_pages:
        first, last = source.unread_pages[0], source.unread_pages[-1]
        yield (
            f"Pages {first:,} to {last:,} of {source.page_count:,} are not read yet: read them by `pages` of"
            f" `read_doc`, such as {first}-{min(last, first + count - 1)}."
        )
    elif not request.pages and count < source.page_count - len(source.failed_pages):
        yield f"Only the first {count:,} of {source.page_count:,} pages are read: choose others by `pages`."
    if unknown := {page: text.unknown for page, text in source.texts.items() if text.unknown > 0}:
        count, listed = sum(unknown.values()), ", ".join(map(str, list(unknown)[:20]))
        yield f"Missing: {count:,} sign{'s' * (count != 1)} for which the file names no character, on pages: {listed}."
    if source.files:
        yield name_unread_files(source.files)
    if source.is_xfa_form:
        yield "This form is of Adobe's own kind (XFA): what is filled in cannot be read here."
    if source.failed_pages:
        yield f"Pages that could not be read: {', '.join(map(str, source.failed_pages[:20]))}."


def _blocks(page: LayoutPage) -> Iterator[LayoutBlock]:
    tagged = read_tagged_blocks(page)
    if tagged is not None:
        yield from tagged
        return
    grids = find_grids(page)
    inside = {run for grid in grids for run in grid.runs}
    runs = [run for run in page.runs if run not in inside] if inside else list(page.runs)
    for index, grid in enumerate(grids):
        size = grid.runs[0].size if grid.runs else 10.0
        runs.append(TextRun("\ufffc", grid.x0, grid.y0, grid.x1, grid.y1, size, block=index))
    blocks = layout_blocks.join_paragraphs(list(_flow_blocks(flow, grids, page)) for flow in split_flows(runs))
    if is_right_to_left("".join(run.text for run in page.runs)):
        blocks = [replace(block, table=tuple(row[::-1] for row in block.table)) for block in blocks]
    yield from blocks


def _flow_blocks(rows: Sequence[LayoutRow], grids: Sequence[LatticeGrid], page: LayoutPage) -> Iterator[LayoutBlock]:
    """Yield the blocks of one flow: drawn tables at their positions, tables by alignment, paragraphs."""
    piece: list[LayoutRow] = []
    for row in rows:
        here = [grids[run.block] for run in row.runs if run.block >= 0]
        beside = tuple(run for run in row.runs if run.block < 0)
        if beside:
            piece.append(LayoutRow(beside) if here else row)
        for grid in here:
            above = [] if beside or len(here) > 1 else piece
            edges = (grid.y0, grid.first_y1)
            table, header_count = add_headers(grid.rows, grid.columns, edges, above, page.rotated_runs)
            yield from _text_blocks(piece[: len(piece) - header_count], page)
            yield LayoutBlock(BlockKind.TABLE, table=table)
            piece = []
    yield from _text_blocks(piece, page)


def _text_blocks(rows: Sequence[LayoutRow], page: LayoutPage) -> Iterator[LayoutBlock]:
    at = 0
    for table in find_tables(rows, page.lines.across, page.rotated_runs):
        yield from layout_blocks.build_blocks(rows[at : table.start])
        yield LayoutBlock(BlockKind.TABLE, table=table.rows)
        at = table.end
    yield from layout_blocks.build_blocks(rows[at:])


def _complete_pages(
    data: bytes,
    markdown: dict[int, str],
    removed: Mapping[int, str],
    request: ParseRequest,
    source: Mapping[int, pdfium_text.PageText],
) -> list[str]:
    """Add the lines of PDFium's own text `source` that a page lacks, in place; return warnings."""
    expected = {
        page: completeness.count_letters(text.text) - completeness.count_letters(removed.get(page, ""))
        for page, text in source.items()
    }
    hidden = {page: unseen for page, text in source.items() if (unseen := completeness.count_letters(text.hidden_text))}
    if lost := _find_losses(expected, markdown, list(expected)):
        lines = pdfium_text.read_visible_lines(data, list(lost), request.password)
        for page in lost:
            visible = expected[page] & completeness.count_letters("\n".join(lines[page]))
            if completeness.is_incomplete(expected[page] - visible, expected[page]):
                hidden[page] = hidden.get(page, Counter()) + (expected[page] - visible)
            expected[page] = visible
        for share in (completeness.WHOLE_LINES, completeness.PARTS_OF_LINES):
            for page, letters in _find_losses(expected, markdown, list(lost)).items():
                missing = completeness.find_missing_lines(lines[page], markdown[page], letters, share)
                markdown[page] = f"{markdown[page]}\n\n{escape_text(join_lines(missing))}".strip()
        lost = _find_losses(expected, markdown, list(lost))
    total = completeness.total_letters(expected.values()) + completeness.total_letters(hidden.values())
    warnings = []
    if lost:
        warnings.append(completeness.format_loss_warning("Some text is missing", lost, total))
    if hidden:
        warnings.append(completeness.format_loss_warning(HIDDEN_TEXT_WARNING, hidden, total))
    if total and sum(map(len, removed.values())) > _MAX_REMOVED_SHARE * total:
        warnings.append("Repeated headers and footers are shown only once, and page numbers not at all.")
    return warnings


def _find_losses(
    expected: Mapping[int, Counter[str]], markdown: Mapping[int, str], pages: Sequence[int]
) -> dict[int, Counter[str]]:
    """Return the lost letters of incomplete pages; text that was joined to the page before is not lost."""
    losses = {}
    for page in pages:
        letters = expected.get(page, Counter())
        lost = completeness.find_lost_letters(letters, markdown[page])
        if completeness.is_incomplete(lost, letters):
            before = completeness.count_written_letters(markdown.get(page - 1, "")) - expected.get(page - 1, Counter())
            lost = completeness.find_lost_letters(letters, markdown[page], before)
            if completeness.is_incomplete(lost, letters):
                losses[page] = lost
    return losses
