"""PDF reader: finds tables, reading order, paragraphs and headings of the pages and writes Markdown."""

from __future__ import annotations

import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
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

_FEW_LETTERS = 20
"""Characters. A page with fewer may be an image of text."""
_HYPHENATED = re.compile(r"[^\W\d_]+-[^\W\d_]+|[^\W\d_]{4,}")
_VOCABULARY_PAGES = 300


def warm_up(request: ParseRequest | None = None) -> None:
    """Load PDFium, and the fallback reader if both are requested."""
    pdfium_source.warm_up()
    if request is not None and request.more_care:
        _load_fallback_reader().warm_up()


def read(data: bytes, request: ParseRequest | None = None) -> ParsedDocument:
    """Return the pages of a PDF as Markdown.

    Raises:
        EncryptedDocumentError, MalformedDocumentError: The file cannot be read.
    """
    request = request or ParseRequest()
    found = pdfium_source.load(data, request)
    right_to_left = find_rtl_pages(found.pages)
    given: Sequence[LayoutPage] = found.pages
    if right_to_left and request.more_care:
        given = replace_letters(given, _load_fallback_reader().read_lines(data, right_to_left, request.password))
    pages = remove_running_lines(given)
    vocabulary = _vocabulary(pages)
    body = _body_size(pages)
    blocks = join_split_words(join_tables([list(_blocks(page)) for page in pages]))
    judged = iter(mark_headings([block for page in blocks for block in page], body))
    texts = []
    for page, own in zip(pages, blocks, strict=True):
        written = write_markdown([next(judged) for _ in own], vocabulary)
        texts.append((page.number, "\n\n".join(filter(None, (written, found.forms.get(page.number))))))
    bare = [page.number for page in found.pages if sum(len(run.text) for run in page.runs) < _FEW_LETTERS]
    return ParsedDocument(
        "pdf",
        "\n\n".join(join_pages(texts)) if any(text for _, text in texts) else "",
        title=found.title,
        author=found.author,
        pages=found.page_count,
        read_to=pages[-1].number if pages and pages[-1].number < found.page_count else None,
        ocr_pages=pdfium_source.find_image_pages(data, bare, request.password) if bare else (),
        encrypted=found.encrypted,
        deserves_more_care=bool(right_to_left) and not request.more_care,
        warnings=tuple(_warnings(found, request)),
    )


def _load_fallback_reader() -> ModuleType:
    """Import the fallback reader on demand: its import costs more than reading a page."""
    return importlib.import_module("scraper.extract.documents.pdf.fallback_reader")


def _warnings(found: pdfium_source.PdfSource, request: ParseRequest) -> Iterator[str]:
    if not request.pages and len(found.pages) < found.page_count - len(found.failed_pages):
        read, of_all = f"{len(found.pages):,}", f"{found.page_count:,}"
        yield f"Only the first {read} of {of_all} pages are read: choose others by `pages`."
    if found.filled_elsewhere:
        yield "This form is of Adobe's own kind (XFA): what is filled in cannot be read here."
    if found.failed_pages:
        listed = ", ".join(map(str, found.failed_pages[:20]))
        yield f"Pages that could not be read: {listed}."


def _blocks(page: LayoutPage) -> Iterator[LayoutBlock]:
    tagged = read_tagged_blocks(page)
    if tagged is not None:
        yield from tagged
        return
    found = find_grids(page)
    inside = {run for grid in found for run in grid.runs}
    runs = [run for run in page.runs if run not in inside]
    for index, grid in enumerate(found):
        size = grid.runs[0].size if grid.runs else 10.0
        runs.append(TextRun("\ufffc", grid.x0, grid.y0, grid.x1, grid.y1, size, block=index))
    blocks = join_paragraphs(list(_flow(flow, found, page)) for flow in split_flows(runs))
    if is_right_to_left("".join(run.text for run in page.runs)):
        blocks = (replace(block, table=tuple(row[::-1] for row in block.table)) for block in blocks)
    yield from blocks


def _flow(rows: Sequence[LayoutRow], drawn: Sequence[LatticeGrid], page: LayoutPage) -> Iterator[LayoutBlock]:
    """Yield the blocks of one flow: drawn tables in place, tables by alignment, paragraphs."""
    piece: list[LayoutRow] = []
    above: LatticeGrid | None = None
    table: list[tuple[str, ...]] = []
    for row in rows:
        places = [run.block for run in row.runs if run.block >= 0]
        if not places:
            piece.append(row)
            continue
        beside = tuple(run for run in row.runs if run.block < 0)
        if beside:
            piece.append(LayoutRow(beside))
        piece = yield from _add_footers(table, above, piece)
        *first, last = places
        table, heads = _add_headers(drawn[(first or [last])[0]], [] if beside or first else piece, page)
        yield from _undrawn(piece[: len(piece) - heads], page)
        for place in places[1:]:
            yield LayoutBlock(BlockKind.TABLE, table=tuple(table))
            table, _ = _add_headers(drawn[place], [], page)
        piece, above = [], drawn[last]
    piece = yield from _add_footers(table, above, piece)
    yield from _undrawn(piece, page)


def _add_footers(
    table: list[tuple[str, ...]], grid: LatticeGrid | None, below: list[LayoutRow]
) -> Generator[LayoutBlock, None, list[LayoutRow]]:
    """Yield a drawn table with the sums below its frame; return the remaining rows."""
    if grid is None:
        return below
    feet = find_footers_below(below, grid.columns, grid.y1)
    yield LayoutBlock(BlockKind.TABLE, table=(*table, *map(tuple, feet)))
    return below[len(feet) :]


def _add_headers(grid: LatticeGrid, above: Sequence[LayoutRow], page: LayoutPage) -> tuple[list[tuple[str, ...]], int]:
    """Return a drawn table with the headers above its frame, and the number of rows these took."""
    upright = find_rotated_headers(page.sideways, grid.columns, grid.y0, grid.first_y1)
    table, upright = add_rotated_headers(grid.rows, upright, grid.y0)
    heads, taken = find_headers_above(above, grid.columns, grid.y0, upright)
    return [*map(tuple, heads), *table], taken


def _undrawn(rows: Sequence[LayoutRow], page: LayoutPage) -> Iterator[LayoutBlock]:
    at = 0
    for table in find_tables(rows, page.across, page.sideways):
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


def find_rtl_pages(pages: Sequence[LayoutPage]) -> list[int]:
    """Return the numbers of pages whose text is mostly right to left."""
    return [page.number for page in pages if is_right_to_left(" ".join(run.text for run in page.runs))]


def replace_letters(pages: Sequence[LayoutPage], lines: Mapping[int, Sequence[str]]) -> list[LayoutPage]:
    """Replace the text of pages by that of other lines with the same letters in another order."""
    return [_mended(page, lines[page.number]) if page.number in lines else page for page in pages]


def _mended(page: LayoutPage, lines: Sequence[str]) -> LayoutPage:
    by_letters = {_key(line): " ".join(line.split()) for line in lines if line.strip()}
    words = _simplify_formula(lines)
    runs: list[TextRun] = []
    for row in group_rows(page.runs):
        whole = by_letters.get(_key("".join(run.text for run in row.runs)))
        if whole is None or not is_right_to_left(whole) or _has_cells(row):
            runs += [run._replace(text=_WORD.sub(lambda word: _mend(word[0], words), run.text)) for run in row.runs]
            continue
        longest = max(row.runs, key=lambda run: len(run.text))
        runs.append(longest._replace(text=whole, x0=row.x0, x1=row.x1, y0=row.y0, y1=row.y1))
    return replace(page, runs=tuple(runs))


def _has_cells(row: LayoutRow) -> bool:
    """Return True if parts of the row are so far apart that they may be table cells."""
    return any(after.x0 - before.x1 > _CELL_GAP * row.size for before, after in pairwise(row.runs))


def _simplify_formula(lines: Sequence[str]) -> dict[str, str]:
    """Return right-to-left words by their sorted letters, if no other word has the same letters."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        for word in _WORD.findall(line):
            if is_right_to_left(word):
                found[_key(word)][word] += 1
    return {key: words.most_common(1)[0][0] for key, words in found.items() if len(words) == 1}


def _mend(word: str, words: Mapping[str, str]) -> str:
    return word if word.isascii() else words.get(_key(word), word)


def _key(text: str) -> str:
    return "".join(sorted(_LETTERS.findall(text)))


_MARGIN = 0.1
"""Ratio to the page height: area of headers and footers."""
_LEAST_SHARE = 0.4
"""Ratio of the pages, or of those of one side."""
_SAME_HEIGHT = 6.0
_NUMBERS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*+[-–—]?\s*+(?:\d{1,4}|[ivxlc]{1,6})\s*+[-–—]?(?:\s*(?:of|/|von)\s*\d{1,4})?", re.I
)


def remove_running_lines(pages: Sequence[LayoutPage]) -> list[LayoutPage]:
    """Remove lines that repeat in the margins, and bare page numbers at the very edge."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for row in _marginal(page):
            for key in _keys(row):
                seen[key].add(page.number)
    enough = max(2.0, _LEAST_SHARE * len(pages) / 2)
    return [_cleaned(page, {key for key, on in seen.items() if len(on) >= enough}) for page in pages]


def _cleaned(page: LayoutPage, running: set[tuple[str, int]]) -> LayoutPage:
    dropped = {
        run
        for row in _marginal(page)
        if any(key in running for key in _keys(row)) or _is_page_number(row, page) or _is_imprint(row, page)
        for run in row.runs
    }
    if not dropped:
        return page
    kept = tuple(run for run in page.runs if run not in dropped)
    return replace(page, runs=kept)


def _marginal(page: LayoutPage) -> Iterator[LayoutRow]:
    top, bottom = _MARGIN * page.height, (1 - _MARGIN) * page.height
    yield from group_rows(run for run in page.runs if run.y1 < top or run.y0 > bottom)


def _keys(row: LayoutRow) -> Iterator[tuple[str, int]]:
    """Yield a line's text without numbers, and its position; two keys, so that near positions match."""
    said = _NUMBERS.sub("#", text_of_row(row).lower())
    place = row.y0 / _SAME_HEIGHT
    yield said, int(place)
    yield said, -int(place + 0.5) - 1


def _is_page_number(row: LayoutRow, page: LayoutPage) -> bool:
    """Return True for a bare number in the outermost line of its page."""
    if not _PAGE_NUMBER.fullmatch(text_of_row(row)):
        return False
    return all(run.y0 >= row.y0 - 1 for run in page.runs) or all(run.y1 <= row.y1 + 1 for run in page.runs)


_EDGE = 0.08
_APART = 1.6
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
    if row.y1 < _EDGE * page.height:
        return all(run.y0 - row.y1 > _APART * height or run.y1 <= row.y1 for run in others)
    if row.y0 > (1 - _EDGE) * page.height:
        return all(row.y0 - run.y1 > _APART * height or run.y0 >= row.y0 for run in others)
    return False
