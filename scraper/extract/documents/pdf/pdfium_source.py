"""Read a PDF with liteparse (PDFium) into pages of text runs and drawn lines."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from liteparse import LiteParse, ParseError
from liteparse.types import PageComplexityStats, StructureTree, StructureTreeElement, TextItem, WordBox

from scraper.errors import EncryptedDocumentError, MalformedDocumentError
from scraper.extract.documents.model import ParseRequest
from scraper.extract.documents.pdf.layout_model import LayoutPage, TagNode, TextRun
from scraper.extract.documents.pdf.metadata import FILLED_ELSEWHERE, format_form, read_metadata
from scraper.extract.documents.pdf.vector_lines import extract_typed_lines, find_lines, rotate_page

MAX_PAGES = 1_000
"""Pages per reading; a client requests further pages separately."""

MAX_RUNS = 400_000
"""Runs of all pages; a page of prose has a hundred."""

_LIGATURES = re.compile("[\ufb00-\ufb06\ufb13-\ufb17]")
_PRESENTATION = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]")
_BOLD = re.compile(r"bold|black|heavy|semibd|demi\b|-bd\b|(?:^|\+)(?:cm|sf|ec|tc|lm)bx|-medi\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|menlo|inconsolata|cmtt|lmtt", re.IGNORECASE)
_BOLD_WEIGHT = 600
_WIDE_SPACE = 0.55
"""Multiple of the font size. Words of justified text are rarely further apart, cells of dense tables are."""
_MOST_SLANT = 30.0
"""Degrees. Slanted text of the examined files leans by 11 to 19."""
_ONE_LINE = 2.2
"""Maximum height of the box of one line, as a multiple of the character height."""
_MOST_SIDEWAYS = 500
_PICTURE_SHARE = 0.5
_TREE_NODES = 200_000
_TREE_DEPTH = 100

_SMALLEST = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>"
)


@dataclass(frozen=True, slots=True)
class PdfSource:
    """Content of a file."""

    pages: tuple[LayoutPage, ...]
    page_count: int
    title: str | None = None
    author: str | None = None
    encrypted: bool = False
    failed_pages: tuple[int, ...] = ()
    forms: Mapping[int, str] = field(default_factory=dict)
    """Filled form fields, by page."""
    filled_elsewhere: bool = False
    """It is an XFA form, whose content is not in the pages."""


def warm_up() -> None:
    """Load PDFium, which liteparse opens with its first file."""
    _parser(ParseRequest()).parse(_SMALLEST)


def load(data: bytes, request: ParseRequest) -> PdfSource:
    """Return the pages of a file.

    Raises:
        EncryptedDocumentError: It needs a password.
        MalformedDocumentError: PDFium cannot read it.
    """
    try:
        result = _parser(request).parse(data)
    except ParseError as error:
        raise _told(str(error), request) from None
    budget = MAX_RUNS
    pages = []
    for page in result.pages:
        pages.append(_page(page, budget))
        budget -= len(pages[-1].runs)
    meta = result.doc_meta
    encrypted = bool(meta and meta.is_encrypted)
    title, author = read_metadata(data, meta.xmp or "" if meta else "", encrypted=encrypted)
    return PdfSource(
        tuple(pages),
        result.total_pages or result.num_pages,
        title=title,
        author=author,
        encrypted=encrypted,
        failed_pages=tuple(sorted({int(failure.page_num) for failure in result.page_errors or ()})),
        forms={page.page_num: format_form(page.form_fields) for page in result.pages if page.form_fields},
        filled_elsewhere=result.form_type in FILLED_ELSEWHERE,
    )


def find_image_pages(data: bytes, pages: Sequence[int], password: str | None) -> tuple[int, ...]:
    """Return the pages that are mostly an image or meaningless characters."""
    parser = _parser(ParseRequest(pages=tuple(pages), password=password), complexity=True)
    try:
        result = parser.parse(data)
    except ParseError:
        return ()
    return tuple(page.page_num for page in result.pages if page.complexity and _is_pictured(page.complexity))


def _is_pictured(page: PageComplexityStats) -> bool:
    return page.full_page_image or page.largest_image_coverage > _PICTURE_SHARE or page.is_garbled


def _parser(request: ParseRequest, *, complexity: bool = False) -> LiteParse:
    return LiteParse(
        ocr_enabled=False,
        output_format="json",
        image_mode="off",
        quiet=True,
        extract_text_metadata=True,
        extract_vector_graphics=True,
        extract_structure_tree=True,
        extract_form_fields=True,
        extract_document_metadata=True,
        emit_word_boxes=True,
        include_complexity=complexity,
        continue_on_page_error=True,
        max_pages=None if request.pages else MAX_PAGES,
        target_pages=",".join(map(str, request.pages[:MAX_PAGES])) or None,
        password=request.password,
    )


def _told(message: str, request: ParseRequest) -> Exception:
    if "password" in message.lower():
        wrong = "another password than the one given" if request.password else "a password"
        return EncryptedDocumentError(
            f"The PDF is locked and asks for {wrong}.", next_step="Give `password`, or look for another copy."
        )
    return MalformedDocumentError(
        "The file claims to be a PDF but cannot be read as one: it is damaged or was cut off.",
        next_step="Try once more, or look for another copy.",
    )


def _page(page: Any, budget: int) -> LayoutPage:
    angle = _reading_angle(page.text_items)
    runs, typed = extract_typed_lines(tuple(_runs(page.text_items[:budget], angle)))
    lines = find_lines(page.vector_graphics, _sane(page.width), _sane(page.height))
    plain = LayoutPage(
        page.page_num,
        _sane(page.width),
        _sane(page.height),
        runs,
        tuple(sorted((*lines.across, *typed))),
        lines.down,
        _read_tags(page.structure_tree),
        lines.box_across,
        lines.box_down,
        _find_rotated_runs(page.text_items[:budget], angle),
    )
    return rotate_page(plain, angle) if angle else plain


def _sane(length: float) -> float:
    return length if math.isfinite(length) and 0 < length < 100_000 else 800.0


def _reading_angle(items: list[TextItem]) -> int:
    """Return the rotation of most of the page's text: 0, 90, 180 or 270 degrees."""
    letters: Counter[int] = Counter()
    for item in items:
        letters[round(item.rotation / 90) * 90 % 360 if math.isfinite(item.rotation) else 0] += len(item.text)
    return letters.most_common(1)[0][0] if letters else 0


def _runs(items: list[TextItem], angle: int) -> Iterator[TextRun]:
    """Yield the runs with the rotation of the page; drop stamps in the margin."""
    for item in items:
        text = item.text
        if not text or text.isspace() or not _is_straight(item, angle):
            continue
        if not all(map(math.isfinite, (item.x, item.y, item.width, item.height))) or item.width <= 0:
            continue
        size = round(min(item.font_height or item.font_size or item.height, 1000.0) * 2) / 2
        name = item.font_name or ""
        bold = (item.font_weight or 0) >= _BOLD_WEIGHT or _BOLD.search(name) is not None
        mono = _MONO.search(name) is not None
        for said, x0, x1 in _split_item(item, size):
            said = said if said.isascii() else _normalize_ligatures(said)
            yield TextRun(said, x0, item.y, x1, item.y + item.height, size, bold, mono, item.mcid)


def _is_straight(item: TextItem, angle: int) -> bool:
    """Return True for text with the rotation of the page, or slanted in place of an italic font.

    PDFium reports a slant as a rotation. Text that is really rotated by so much has a box as high as it is long.
    """
    turned = abs((item.rotation - angle + 180) % 360 - 180) if math.isfinite(item.rotation) else 0.0
    if turned <= 1:
        return True
    height = item.height if angle % 180 == 0 else item.width
    return turned < _MOST_SLANT and height < _ONE_LINE * (item.font_height or item.font_size or height)


def _find_rotated_runs(items: list[TextItem], angle: int) -> tuple[TextRun, ...]:
    """Return upright or slanted runs, each placed by its foot: headers of narrow columns are set so.

    In the order in which the lines of one header are read.
    """
    found: list[tuple[float, TextRun]] = []
    for item in items:
        rotation = item.rotation % 360 if math.isfinite(item.rotation) else 0.0
        if angle or _is_straight(item, angle) or 135 < rotation < 225 or item.text.isspace():
            continue
        upright = min(abs(rotation - 90), abs(rotation - 270)) < _MOST_SLANT
        size = round(min(item.font_height or item.font_size or item.height, 1000.0) * 2) / 2
        for piece in (item,) if upright or len(item.words) < 2 else item.words:
            foot = piece.x + piece.width / 2 if upright else piece.x + size / 2
            run = TextRun(piece.text, foot - size / 2, piece.y, foot + size / 2, piece.y + piece.height, size)
            found.append((foot if rotation > 180 else -foot, run))
    return tuple(run for _, run in sorted(found, key=lambda one: one[0])[:_MOST_SIDEWAYS])


def _split_item(item: TextItem, size: float) -> Iterator[tuple[str, float, float]]:
    """Yield text and ends of an item, split where its words are so far apart that they may be cells."""
    words = item.words
    if (
        len(words) < 2
        or abs(item.rotation) > _MOST_SLANT
        or all(after.x - before.x - before.width <= _WIDE_SPACE * size for before, after in pairwise(words))
    ):
        yield item.text, item.x, item.x + item.width
        return
    piece = [words[0]]
    for word in words[1:]:
        if word.x - piece[-1].x - piece[-1].width > _WIDE_SPACE * size:
            yield _joined(piece)
            piece = []
        piece.append(word)
    yield _joined(piece)


def _joined(words: Sequence[WordBox]) -> tuple[str, float, float]:
    return " ".join(word.text for word in words), words[0].x, words[-1].x + words[-1].width


def _normalize_ligatures(text: str) -> str:
    """Replace ligatures and Arabic presentation forms by plain letters."""
    if _LIGATURES.search(text) or _PRESENTATION.search(text):
        text = "".join(unicodedata.normalize("NFKC", letter) if letter >= "\ufb00" else letter for letter in text)
    return text.replace("\u00a0", " ")


def _read_tags(tree: StructureTree | None) -> tuple[TagNode, ...]:
    """Return the structure tree, limited in size and depth."""
    left = _TREE_NODES

    def node(element: StructureTreeElement, depth: int) -> TagNode:
        nonlocal left
        left -= 1
        deeper = depth < _TREE_DEPTH and left > 0
        return TagNode(
            element.type,
            tuple(element.marked_content_ids),
            tuple(node(child, depth + 1) for child in element.children) if deeper else (),
            _span(element.attributes, "ColSpan"),
            _span(element.attributes, "RowSpan"),
            element.actual_text or "",
        )

    return tuple(node(root, 0) for root in tree.roots) if tree else ()


def _span(attributes: dict[str, Any], name: str) -> int:
    value = attributes.get(name)
    return min(100, max(1, int(value))) if isinstance(value, (int, float)) and math.isfinite(value) else 1
