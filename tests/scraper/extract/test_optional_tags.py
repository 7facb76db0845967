"""Pages without head and body tags, as HTML allows, are read like any other."""

from __future__ import annotations

import pytest

from browsers.model import Snapshot
from scraper.extract import reader

URL = "https://example.org/"
TEXT = "".join(f"<p>Note {number} of the harbour office is kept in the book.</p>" for number in range(10))


def markdown(html: str) -> str:
    return reader.read(Snapshot(URL, URL, 200, {}, "text/html", html.encode(), html)).markdown


@pytest.mark.parametrize("name", ["main", "article", "section", "div", "my-app"])
@pytest.mark.parametrize("end", ["</{name}>", ""])
def test_text_after_the_title_is_the_body(name: str, end: str) -> None:
    read = markdown(f"<!doctype html><title>Title</title><{name}>{TEXT}{end.format(name=name)}")
    assert all(f"Note {number} of" in read for number in range(10))


def test_order_of_elements_moved_out_of_the_head_is_unchanged() -> None:
    read = markdown(f"<title>T</title><section>First.{TEXT}</section>Tail.<section>Second.</section><p>Third.")
    places = [read.index(word) for word in ("First.", "Note 9", "Tail.", "Second.", "Third.")]
    assert places == sorted(places)


def test_a_description_behind_a_stray_element_is_still_the_heads() -> None:
    html = f'<title>T</title><main>{TEXT}</main><meta name="author" content="Ada Lovelace">'
    assert reader.read(Snapshot(URL, URL, 200, {}, "text/html", html.encode(), html)).author == "Ada Lovelace"


def test_definition_lists_need_no_closing_tags() -> None:
    terms = "<dl><dt>Quay<dt>Pier<dd><p>one<p>two<dd>three<dl><dt>Inner<dd>x</dl><dt>Mole<dd>four</dl>"
    assert markdown(f"<main>{TEXT}{terms}<p>End.</main>").split("book.\n\n")[-1] == (
        "Quay\n\nPier\n:   one\n\n    two\n:   three\n\n    Inner\n    :   x\n\nMole\n:   four\n\nEnd."
    )
