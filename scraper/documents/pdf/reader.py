"""PDF reader: finds tables, reading order, paragraphs and headings of the pages and writes Markdown."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import ModuleType

from scraper.documents.markdown_writing import join_pages
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.pdf import liteparse_items, liteparse_loader, pdfium_text
from scraper.documents.pdf import table_headers_and_footers as outer_rows
from scraper.documents.pdf.blocks import (
    build_blocks,
    join_paragraphs,
    join_split_words,
    join_tables,
    mark_headings,
    unmark_monospaced_prose,
    write_markdown,
)
from scraper.documents.pdf.headers_and_footers import remove_headers_and_footers
from scraper.documents.pdf.lattice_tables import LatticeGrid, find_grids
from scraper.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutPage, LayoutRow, TextRun
from scraper.documents.pdf.missing_lines import complete_pages
from scraper.documents.pdf.reading_order import split_flows
from scraper.documents.pdf.stream_tables import find_tables
from scraper.documents.pdf.structure_tree import read_tagged_blocks
from scraper.documents.pdf.table_headers_and_footers import Table
from scraper.documents.pdf.text_assembly import is_right_to_left, join_drop_capitals

_MIN_PAGE_CHARS = 20
"""Characters. A page with fewer may be an image of text."""
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_MIN_WORD = 4
_VOCABULARY_PAGES = 300


def warm_up(request: ParseRequest | None = None) -> None:
    """Load PDFium, and the fallback reader if `more_care` is requested."""
    pdfium_text.warm_up()
    if request is not None and request.more_care:
        _load_fallback_reader().warm_up()


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
    ocr_pages = liteparse_items.find_image_pages(data, bare, request.password) if bare else ()
    unread = [number for number in bare if number not in ocr_pages] if len(bare) == len(source.pages) else []
    completed = complete_pages(data, texts, removed, request, unread, source.texts)
    return ParsedDocument(
        "pdf",
        join_pages(completed.texts),
        title=source.title,
        author=source.author,
        pages=source.page_count,
        ocr_pages=ocr_pages,
        encrypted=source.encrypted,
        deserves_more_care=bool(completed.has_loss or unread) and not request.more_care,
        warnings=(*_warnings(source, request), *completed.warnings),
    )


def _write_pages(pages: Sequence[LayoutPage], forms: Mapping[int, str]) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """Return the Markdown of each page with its form, and the removed headers and footers by page."""
    sizes: Counter[float] = Counter()
    for run in (run for page in pages for run in page.runs):
        sizes[run.size] += len(run.text)
    body_size = sizes.most_common(1)[0][0] if sizes else 10.0
    pages = [replace(page, runs=join_drop_capitals(page.runs, body_size)) for page in pages]
    pages, removed = remove_headers_and_footers(pages, body_size)
    pages = unmark_monospaced_prose(pages)
    vocabulary = _vocabulary(pages)
    blocks = join_split_words(join_tables([list(_blocks(page)) for page in pages]))
    marked = iter(mark_headings([block for page in blocks for block in page], body_size))
    texts = []
    for page, page_blocks in zip(pages, blocks, strict=True):
        text = write_markdown(list(islice(marked, len(page_blocks))), vocabulary)
        texts.append((page.number, "\n\n".join(filter(None, (text, forms.get(page.number))))))
    return texts, removed


def _load_fallback_reader() -> ModuleType:
    """Import the fallback reader on demand: its import costs more than reading a page."""
    return importlib.import_module("scraper.documents.pdf.fallback_reader")


def _warnings(source: liteparse_loader.PdfContent, request: ParseRequest) -> Iterator[str]:
    count = len(source.pages)
    if source.unread_pages:
        first, last = source.unread_pages[0], source.unread_pages[-1]
        yield (
            f"There was no time for pages {first:,} to {last:,} of {source.page_count:,}: read them by"
            f" `pages` of `read_doc`, such as {first}-{min(last, first + count - 1)}."
        )
    elif not request.pages and count < source.page_count - len(source.failed_pages):
        yield f"Only the first {count:,} of {source.page_count:,} pages are read: choose others by `pages`."
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
    blocks = join_paragraphs(list(_flow_blocks(flow, grids, page)) for flow in split_flows(runs))
    if is_right_to_left("".join(run.text for run in page.runs)):
        blocks = [replace(block, table=tuple(row[::-1] for row in block.table)) for block in blocks]
    yield from blocks


def _flow_blocks(rows: Sequence[LayoutRow], grids: Sequence[LatticeGrid], page: LayoutPage) -> Iterator[LayoutBlock]:
    """Yield the blocks of one flow: drawn tables at their positions, tables by alignment, paragraphs."""

    def add_headers(grid: LatticeGrid, rows_above: Sequence[LayoutRow]) -> tuple[Table, int]:
        edges = (grid.y0, grid.first_y1)
        return outer_rows.add_headers(grid.rows, grid.columns, edges, rows_above, page.rotated_runs)

    piece: list[LayoutRow] = []
    above: LatticeGrid | None = None
    table: Table = ()
    for row in rows:
        indexes = [run.block for run in row.runs if run.block >= 0]
        if not indexes:
            piece.append(row)
            continue
        beside = tuple(run for run in row.runs if run.block < 0)
        if beside:
            piece.append(LayoutRow(beside))
        piece = yield from _add_footers(table, above, piece)
        table, header_count = add_headers(grids[indexes[0]], [] if beside or len(indexes) > 1 else piece)
        yield from _text_blocks(piece[: len(piece) - header_count], page)
        for grid_index in indexes[1:]:
            yield LayoutBlock(BlockKind.TABLE, table=table)
            table, _ = add_headers(grids[grid_index], [])
        piece, above = [], grids[indexes[-1]]
    piece = yield from _add_footers(table, above, piece)
    yield from _text_blocks(piece, page)


def _add_footers(
    table: Table, grid: LatticeGrid | None, below: list[LayoutRow]
) -> Generator[LayoutBlock, None, list[LayoutRow]]:
    """Yield a drawn table with the sums below its frame; return the remaining rows."""
    if grid is None:
        return below
    footers = outer_rows.find_footers_below(below, grid.columns, grid.y1)
    yield LayoutBlock(BlockKind.TABLE, table=(*table, *footers))
    return below[len(footers) :]


def _text_blocks(rows: Sequence[LayoutRow], page: LayoutPage) -> Iterator[LayoutBlock]:
    at = 0
    for table in find_tables(rows, page.lines.across, page.rotated_runs):
        yield from build_blocks(rows[at : table.start])
        yield LayoutBlock(BlockKind.TABLE, table=table.rows)
        at = table.end
    yield from build_blocks(rows[at:])


def _vocabulary(pages: Sequence[LayoutPage]) -> frozenset[str]:
    """Return the words of the document, to decide about hyphens."""
    text = " ".join(run.text for page in pages[:_VOCABULARY_PAGES] for run in page.runs)
    words = set(_HYPHENATED.findall(text))
    return frozenset(word.lower() for word in words if len(word) >= _MIN_WORD or "-" in word)
