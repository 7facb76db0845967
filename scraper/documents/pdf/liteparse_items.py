"""Call liteparse (PDFium), and read the text items of its native result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from liteparse._liteparse import LiteParse

from scraper.documents.model import ParseRequest

MAX_PAGES = 1_000
"""Pages per reading; a client requests further pages separately."""

_IMAGE_SHARE = 0.5

_SMALLEST = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>"
)


class PdfWord(NamedTuple):
    """A word of an item, in points from the top left of the page."""

    text: str
    x: float
    y: float
    width: float
    height: float


class PdfItem(NamedTuple):
    """Text of one font on one line, as liteparse reads it."""

    text: str
    x: float
    y: float
    width: float
    height: float
    rotation: float
    font_name: str | None
    font_size: float | None
    font_height: float | None
    font_weight: int | None
    mcid: int | None
    words: tuple[PdfWord, ...]


def read_items(page: Any) -> list[PdfItem]:
    """Return the text items of a page of the native result."""
    return [
        PdfItem(
            one.text, one.x, one.y, one.width, one.height, one.rotation, one.font_name, one.font_size, one.font_height,
            one.font_weight, one.mcid,
            tuple([PdfWord(word.text, word.x, word.y, word.width, word.height) for word in one.words]),
        )
        for one in page.text_items
    ]  # fmt: skip


def warm_up() -> None:
    """Load PDFium, which liteparse opens with its first file."""
    parse_pdf(ParseRequest(), _SMALLEST)


def parse_pdf(request: ParseRequest, data: bytes) -> Any:
    """Return the native result of liteparse.

    Its public function copies all values of the result, which takes a fifth of the time that PDFium takes. The import
    of its public module takes 24 ms, and reading a page 20 ms.
    """
    return _parser(request).parse_bytes(data)


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
        target_pages=",".join(map(str, request.pages)) or None,
        password=request.password,
    )


def find_image_pages(data: bytes, pages: Sequence[int], password: str | None) -> tuple[int, ...]:
    """Return the pages that are mostly an image or meaningless characters."""
    parser = _parser(ParseRequest(pages=tuple(pages), password=password), complexity=True)
    try:
        result = parser.parse_bytes(data)
    except Exception:  # liteparse raises errors of many kinds.
        return ()
    return tuple(page.page_num for page in result.pages if page.complexity and _is_image(page.complexity))


def _is_image(page: Any) -> bool:
    return bool(page.full_page_image or page.largest_image_coverage > _IMAGE_SHARE or page.is_garbled)
