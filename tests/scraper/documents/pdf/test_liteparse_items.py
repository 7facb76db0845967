"""The native result of liteparse, which no public function returns."""

from __future__ import annotations

import liteparse
from liteparse._liteparse import LiteParse

from scraper.documents.model import ParseRequest
from scraper.documents.pdf import liteparse_loader
from tests.scraper.documents.builders import drawn_pdf, text_at

PAGE = drawn_pdf([text_at(60, 100, "Words of a page")])


def test_liteparse_still_has_its_native_parser() -> None:
    assert hasattr(LiteParse(ocr_enabled=False), "parse_bytes"), (
        "liteparse's native parser has no parse_bytes any more: parse_pdf in scraper/documents/pdf/"
        "liteparse_loader.py must call another function, such as liteparse.LiteParse.parse, which copies the result"
    )


def test_native_items_are_those_of_the_public_result() -> None:
    (native,) = liteparse_loader.parse_pdf(ParseRequest(), PAGE).pages
    parser = liteparse.LiteParse(
        ocr_enabled=False, quiet=True, extract_text_metadata=True, emit_word_boxes=True, extract_vector_graphics=True
    )
    (public,) = parser.parse(PAGE).pages
    items = liteparse_loader.read_items(native)
    assert items == liteparse_loader.read_items(public)
    assert [item.text for item in items] == ["Words of a page"]
