"""The native result of liteparse, which no public function returns."""

from __future__ import annotations

from liteparse import LiteParse

from scraper.extract.documents.model import ParseRequest
from scraper.extract.documents.pdf import liteparse_items
from tests.scraper.extract.documents.builders import drawn_pdf, text_at

PAGE = drawn_pdf([text_at(60, 100, "Words of a page")])


def test_liteparse_still_has_its_native_parser() -> None:
    parser = LiteParse(ocr_enabled=False)
    assert hasattr(parser, "_native"), (
        "liteparse has no attribute LiteParse._native any more: parse_pdf in scraper/extract/documents/pdf/"
        "liteparse_items.py must call another function, such as LiteParse.parse, which copies the result"
    )
    assert hasattr(parser._native, "parse_bytes"), (
        "liteparse's native parser has no parse_bytes any more: see parse_pdf"
    )


def test_native_items_are_those_of_the_public_result() -> None:
    (native,) = liteparse_items.parse_pdf(ParseRequest(), PAGE).pages
    (public,) = liteparse_items._parser(ParseRequest()).parse(PAGE).pages
    items = liteparse_items.read_items(native)
    assert items == liteparse_items.read_items(public)
    assert [item.text for item in items] == ["Words of a page"]
