"""PDF reader: finds tables, reading order, paragraphs and headings of the pages and writes Markdown."""

from __future__ import annotations

import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from types import ModuleType

from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.pdf import pdfium_source
from scraper.extract.documents.pdf.lattice_tables import LatticeGrid, find_grids
from scraper.extract.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutPage, LayoutRow, TextRun
from scraper.extract.documents.pdf.markdown_writer import join_pages, write_markdown
from scraper.extract.documents.pdf.paragraphs import (
    build_blocks,
    join_paragraphs,
    join_split_words,
    join_tables,
    mark_headings,
)
from scraper.extract.documents.pdf.reading_order import split_flows
from scraper.extract.documents.pdf.rows import group_rows, is_right_to_left, text_of_row
from scraper.extract.documents.pdf.stream_tables import find_tables
from scraper.extract.documents.pdf.structure_tree import read_tagged_blocks
from scraper.extract.documents.pdf.table_headers import (
    add_rotated_headers,
    find_footers_below,
    find_headers_above,
    find_rotated_headers,
)

_MIN_PAGE_CHARS = 20
"""Characters. A page with fewer may be an image of text."""
_HYPHENATED = re.compile(r"[^\W\d_]+-[^\W\d_]+|[^\W\d_]{4,}")
_VOCABULARY_PAGES = 300


def warm_up(request: ParseRequest | None = None) -> None:
    """Load PDFium, and the fallback reader if both are requested."""
    pdfium_source.warm_up()
    if request is not None and request.more_care:
        _load_fallback_reader().warm_up()


def read(data: bytes, request: ParseRequest | None = None) -> ParsedDocument:
    """Return the pages of a PDF as Markdown."""
    request = request or ParseRequest()
    source = pdfium_source.load(data, request)
    rtl_pages = [page.number for page in source.pages if is_right_to_left(" ".join(run.text for run in page.runs))]
    pages: Sequence[LayoutPage] = source.pages
    if rtl_pages and request.more_care:
        lines = _load_fallback_reader().read_lines(data, rtl_pages, request.password)
        pages = [_correct_rtl_text(page, lines[page.number]) if page.number in lines else page for page in pages]
    pages = remove_running_lines(pages)
    vocabulary = _vocabulary(pages)
    blocks = join_split_words(join_tables([list(_blocks(page)) for page in pages]))
    marked = iter(mark_headings([block for page in blocks for block in page], _body_size(pages)))
    texts = []
    for page, page_blocks in zip(pages, blocks, strict=True):
        text = write_markdown(list(islice(marked, len(page_blocks))), vocabulary)
        texts.append((page.number, "\n\n".join(filter(None, (text, source.forms.get(page.number))))))
    bare = [page.number for page in source.pages if sum(len(run.text) for run in page.runs) < _MIN_PAGE_CHARS]
    return ParsedDocument(
        "pdf",
        join_pages(texts),
        title=source.title,
        author=source.author,
        pages=source.page_count,
        read_to=pages[-1].number if pages and pages[-1].number < source.page_count else None,
        ocr_pages=pdfium_source.find_image_pages(data, bare, request.password) if bare else (),
        encrypted=source.encrypted,
        deserves_more_care=bool(rtl_pages) and not request.more_care,
        warnings=tuple(_warnings(source, request)),
    )


def _load_fallback_reader() -> ModuleType:
    """Import the fallback reader on demand: its import costs more than reading a page."""
    return importlib.import_module("scraper.extract.documents.pdf.fallback_reader")


def _warnings(source: pdfium_source.PdfSource, request: ParseRequest) -> Iterator[str]:
    count = len(source.pages)
    if not request.pages and count < source.page_count - len(source.failed_pages):
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
    runs = [run for run in page.runs if run not in inside]
    for index, grid in enumerate(grids):
        size = grid.runs[0].size if grid.runs else 10.0
        runs.append(TextRun("\ufffc", grid.x0, grid.y0, grid.x1, grid.y1, size, block=index))
    blocks = join_paragraphs(list(_flow_blocks(flow, grids, page)) for flow in split_flows(runs))
    if is_right_to_left("".join(run.text for run in page.runs)):
        blocks = [replace(block, table=tuple(row[::-1] for row in block.table)) for block in blocks]
    yield from blocks


def _flow_blocks(rows: Sequence[LayoutRow], grids: Sequence[LatticeGrid], page: LayoutPage) -> Iterator[LayoutBlock]:
    """Yield the blocks of one flow: drawn tables in grid_index, tables by alignment, paragraphs."""
    piece: list[LayoutRow] = []
    above: LatticeGrid | None = None
    table: list[tuple[str, ...]] = []
    for row in rows:
        indexes = [run.block for run in row.runs if run.block >= 0]
        if not indexes:
            piece.append(row)
            continue
        beside = tuple(run for run in row.runs if run.block < 0)
        if beside:
            piece.append(LayoutRow(beside))
        piece = yield from _add_footers(table, above, piece)
        table, header_count = _add_headers(grids[indexes[0]], [] if beside or len(indexes) > 1 else piece, page)
        yield from _text_blocks(piece[: len(piece) - header_count], page)
        for grid_index in indexes[1:]:
            yield LayoutBlock(BlockKind.TABLE, table=tuple(table))
            table, _ = _add_headers(grids[grid_index], [], page)
        piece, above = [], grids[indexes[-1]]
    piece = yield from _add_footers(table, above, piece)
    yield from _text_blocks(piece, page)


def _add_footers(
    table: list[tuple[str, ...]], grid: LatticeGrid | None, below: list[LayoutRow]
) -> Generator[LayoutBlock, None, list[LayoutRow]]:
    """Yield a drawn table with the sums below its frame; return the remaining rows."""
    if grid is None:
        return below
    footers = find_footers_below(below, grid.columns, grid.y1)
    yield LayoutBlock(BlockKind.TABLE, table=(*table, *map(tuple, footers)))
    return below[len(footers) :]


def _add_headers(grid: LatticeGrid, above: Sequence[LayoutRow], page: LayoutPage) -> tuple[list[tuple[str, ...]], int]:
    """Return a drawn table with the headers above its frame, and the number of rows these took."""
    rotated = find_rotated_headers(page.rotated_runs, grid.columns, grid.y0, grid.first_y1)
    table, rotated = add_rotated_headers(grid.rows, rotated, grid.y0)
    headers, count = find_headers_above(above, grid.columns, grid.y0, rotated)
    return [*map(tuple, headers), *table], count


def _text_blocks(rows: Sequence[LayoutRow], page: LayoutPage) -> Iterator[LayoutBlock]:
    at = 0
    for table in find_tables(rows, page.across, page.rotated_runs):
        yield from build_blocks(rows[at : table.start])
        yield LayoutBlock(BlockKind.TABLE, table=table.rows)
        at = table.end
    yield from build_blocks(rows[at:])


def _body_size(pages: Sequence[LayoutPage]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for run in page.runs:
            sizes[run.size] += len(run.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _vocabulary(pages: Sequence[LayoutPage]) -> frozenset[str]:
    """Return the words of the document, to decide about hyphens."""
    text = " ".join(run.text for page in pages[:_VOCABULARY_PAGES] for run in page.runs)
    return frozenset(word.lower() for word in _HYPHENATED.findall(text))


_CELL_GAP = 1.5
"""Multiple of the font size: words of justified Arabic are up to one apart."""
_LETTERS = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W_]+")


def _correct_rtl_text(page: LayoutPage, lines: Sequence[str]) -> LayoutPage:
    """Replace the text of a page by that of other lines with the same letters in another order."""
    lines_by_letters = {_sort_letters(line): " ".join(line.split()) for line in lines if line.strip()}
    words = _words_by_letters(lines)

    def correct_word(match: re.Match[str]) -> str:
        return match[0] if match[0].isascii() else words.get(_sort_letters(match[0]), match[0])

    runs: list[TextRun] = []
    for row in group_rows(page.runs):
        line = lines_by_letters.get(_sort_letters("".join(run.text for run in row.runs)))
        has_cells = any(after.x0 - before.x1 > _CELL_GAP * row.size for before, after in pairwise(row.runs))
        if line is None or not is_right_to_left(line) or has_cells:
            runs += [run._replace(text=_WORD.sub(correct_word, run.text)) for run in row.runs]
            continue
        longest = max(row.runs, key=lambda run: len(run.text))
        runs.append(longest._replace(text=line, x0=row.x0, x1=row.x1, y0=row.y0, y1=row.y1))
    return replace(page, runs=tuple(runs))


def _words_by_letters(lines: Sequence[str]) -> dict[str, str]:
    """Return right-to-left words by their sorted letters, if no other word has the same letters."""
    found: dict[str, set[str]] = defaultdict(set)
    for word in (word for line in lines for word in _WORD.findall(line)):
        if is_right_to_left(word):
            found[_sort_letters(word)].add(word)
    return {letters: words.pop() for letters, words in found.items() if len(words) == 1}


def _sort_letters(text: str) -> str:
    return "".join(sorted(_LETTERS.findall(text)))


_MARGIN = 0.1
"""Ratio to the page height: area of headers and footers."""
_MIN_PAGE_SHARE = 0.4
"""Ratio of the pages, or of those of one side."""
_SAME_HEIGHT = 6.0
_NUMBERS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*+[-–—]?\s*+(?:\d{1,4}|[ivxlc]{1,6})\s*+[-–—]?(?:\s*(?:of|/|von)\s*\d{1,4})?", re.I
)


def remove_running_lines(pages: Sequence[LayoutPage]) -> list[LayoutPage]:
    """Remove lines that repeat in the margins, and bare page numbers at the very edge."""
    page_numbers: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for row in _marginal_rows(page):
            for key in _row_keys(row):
                page_numbers[key].add(page.number)
    min_pages = max(2.0, _MIN_PAGE_SHARE * len(pages) / 2)
    running = {key for key, numbers in page_numbers.items() if len(numbers) >= min_pages}
    cleaned = []
    for page in pages:
        removed = {
            run
            for row in _marginal_rows(page)
            if not running.isdisjoint(_row_keys(row)) or _is_page_number(row, page) or _is_imprint(row, page)
            for run in row.runs
        }
        cleaned.append(replace(page, runs=tuple(run for run in page.runs if run not in removed)) if removed else page)
    return cleaned


def _marginal_rows(page: LayoutPage) -> list[LayoutRow]:
    top, bottom = _MARGIN * page.height, (1 - _MARGIN) * page.height
    return group_rows(run for run in page.runs if run.y1 < top or run.y0 > bottom)


def _row_keys(row: LayoutRow) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return a line's text without numbers, and its position; two keys, so that near positions match."""
    text = _NUMBERS.sub("#", text_of_row(row).lower())
    position = row.y0 / _SAME_HEIGHT
    return (text, int(position)), (text, -int(position + 0.5) - 1)


def _is_page_number(row: LayoutRow, page: LayoutPage) -> bool:
    """Return True for a bare number in the outermost line of its page."""
    if not _PAGE_NUMBER.fullmatch(text_of_row(row)):
        return False
    return all(run.y0 >= row.y0 - 1 for run in page.runs) or all(run.y1 <= row.y1 + 1 for run in page.runs)


_IMPRINT_MARGIN = 0.08
"""Ratio to the page height."""
_IMPRINT_DISTANCE = 1.6
"""Multiple of the line height."""
_IMPRINT = re.compile(
    r"^\d{1,4}\s+\D|\D\s+\d{1,4}$|\bwww\.|https?://|\bdoi\b|\u00a9|\bcopyright\b|\bpage\s+\d|\brev(?:ision|\.)?\b"
    r"|\bvol(?:ume|\.)?\s*\d|\bpublished by\b|\bdownload|\b(?:19|20)\d\d\b|\||\bchapter \d",
    re.IGNORECASE,
)


def _is_imprint(row: LayoutRow, page: LayoutPage) -> bool:
    """Return True for an outermost line, apart from the text, with the words of an imprint."""
    text = text_of_row(row)
    if len(text) > 120 or not _IMPRINT.search(text):
        return False
    height = row.y1 - row.y0
    others = [run for run in page.runs if run not in row.runs]
    if row.y1 < _IMPRINT_MARGIN * page.height:
        return all(run.y0 - row.y1 > _IMPRINT_DISTANCE * height or run.y1 <= row.y1 for run in others)
    if row.y0 > (1 - _IMPRINT_MARGIN) * page.height:
        return all(row.y0 - run.y1 > _IMPRINT_DISTANCE * height or run.y0 >= row.y0 for run in others)
    return False
