from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.extract import reader
from scraper.extract.content.block_classifier import BlockClassifier, Prediction, load_bundled_classifier
from scraper.extract.content.page_statistics import PageStatistics
from scraper.extract.reader import MAX_CHARACTERS
from scraper.model import Document, VerdictKind
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import WORDS, page, read

NAV = "<nav><a href=/a>Menu entry</a></nav>"


@pytest.mark.parametrize(
    "body",
    [
        f"<header>{NAV}Top</header><main><p>{WORDS}</p></main><aside>Side</aside><footer>Foot</footer>",
        f"<div role=navigation>Top</div><div role=main><p>{WORDS}</p></div><div role=contentinfo>Foot</div>",
        f"{NAV}<article><header><p>{WORDS}</p></header></article><aside><article>Side</article></aside>",
        f"<div><p>{WORDS}</p></div>{NAV}<form><label>Top</label><input></form>",
        f"<main><form>Top</form><article><p>{WORDS}</p></article></main><div>Side</div>",
        f"<form id=whole-page><div><p>{WORDS}</p></div></form>",
        f"<div id=onetrust-consent-sdk>Side Top Foot</div><div><p>{WORDS}</p></div>",
    ],
)
def test_the_main_content_is_read_without_page_furniture(body: str) -> None:
    document = read(body)
    assert document.text == " ".join(WORDS.split())
    assert document.markdown == " ".join(WORDS.split())


class _AgainstItems(BlockClassifier):
    """Take a page for a collection whose items are unlikely, as gold texts of shops suggest."""

    def __init__(self) -> None:
        self.model = load_bundled_classifier()

    def predict(self, page: PageStatistics) -> Prediction:
        found = self.model.predict(page)
        words = np.array([0.9 if len(text) > 100 else 0.05 for text in page.texts])
        return Prediction(words, {name: float(name == "collection") for name in found.page_types})


def test_the_items_of_a_category_stand_before_the_text_that_was_taken_for_the_content() -> None:
    cards = "".join(
        f'<li class=card><a href="/p/{n}"><h3 class=name>Bookcase {n}</h3></a><div class=price>$ 79.00</div></li>'
        for n in range(9)
    )
    html = f"<h1>Bookcases</h1><ul>{cards}</ul><div><p>{WORDS * 3}</p></div>"
    document = reader.read(page(html), _AgainstItems())
    assert "\n- ### [Bookcase 8](https://example.com/p/8)\n\n  $ 79.00\n" in document.markdown
    assert document.markdown.count("$ 79.00") == 9
    assert not document.torn_parts
    assert any(link.url == "https://example.com/p/3" for link in document.links)


def test_a_list_of_articles_is_read_completely() -> None:
    document = read(
        "<main>" + "".join(f"<article><h2>Card {n}</h2><p>Teaser {n}.</p></article>" for n in range(5)) + "</main>"
    )
    assert all(f"Teaser {n}." in document.text for n in range(5))


def test_a_landmark_with_little_text_is_not_the_content() -> None:
    document = read(f"<main><p>Skip link.</p></main><div><p>{WORDS}</p></div>")
    assert WORDS.strip() in document.text


def test_a_page_of_only_side_content_is_read() -> None:
    document = read("".join(f"<aside><p>Note {n}.</p></aside>" for n in range(10)))
    assert "Note 9." in document.text


def test_a_page_with_only_a_footer_has_no_content() -> None:
    links = "".join(f"<li><a href=/{n}>Help {n}</a>" for n in range(20))
    document = read(f"<div><footer><ul>{links}</ul><div>© A shop</div></footer></div><div></div>")
    assert (document.text, document.markdown) == ("", "")


@pytest.mark.parametrize("said", ["<p>We open in May.</p>", "<h1>We open in May.</h1>"])
def test_a_footer_with_content_is_read_if_it_is_alone(said: str) -> None:
    assert "We open in May." in read(f"<footer><a href=/>Home</a>{said}</footer>").markdown


def test_a_footer_does_not_hide_other_content() -> None:
    assert "We open in May." in read("<div>We open in May.</div><footer><a href=/>Home</a></footer>").text


def test_documents_can_be_pickled() -> None:
    document = read(f"<main><h1>T</h1><p>{WORDS}<a href=/x>x</a><img src=i alt=a></p></main>")
    assert pickle.loads(pickle.dumps(document)) == document


TAGS = """
    <div> </div> <p> <table> <tr> <td> </table> <ul> <li> <pre> </pre> </a> <b> <script> </script> <slot>
    <svg> <title> <h1> <br> <!-- --> <![CDATA[ &amp; &#0; ` * <style> </style> <body> <html> <head>
    <blockquote> <dd> <details> <noscript> <frameset> <math> <x-y> text
""".split()
SOUP = [
    *TAGS,
    "<a href=x>",
    "<template shadowrootmode=open>",
    "<img src=x alt=y>",
    ".a{display:none}",
    "<p class=a>",
    "<iframe data-x-frame=1>",
    "<base href=//x>",
    "<p hidden>",
    " ",
    "\x00",
    "\x020\x03",
    "\ud800",
]


@given(st.lists(st.sampled_from(SOUP), max_size=40).map("".join), st.booleans())
def test_any_tag_soup_gives_a_document(html: str, rendered: bool) -> None:
    document = reader.read(page(html, rendered=rendered))
    assert isinstance(document, Document)
    assert "<script" not in document.markdown
    assert not set("\x00\x02\x03") & set(document.markdown + document.text)


GROWING: dict[str, tuple[int, Callable[[int], str]]] = {
    "nested and closed": (200_000, lambda n: "<div>y" * n + "x" + "</div>" * n + "<p>after"),
    "50 MB in one line": (10_000_000, lambda n: "word " * n),
    "a million elements": (1_000_000, lambda n: "<b>x</b> " * n),
    "100,000 styles": (100_000, lambda n: "".join(f"<p style='color:#fff{k}'>x" for k in range(n))),
    "invisible characters": (500_000, lambda n: "<p>" + "\u200b\ufe0fa" * n),
}
CHEAP: dict[str, Callable[[], str]] = {
    "200,000 nested divs": lambda: "<div>" * 200_000 + "x",
    "500,000 attributes": lambda: "<div " + " ".join(f"a{n}=1" for n in range(500_000)) + ">x</div><p>after",
    "attributes with tags in them": lambda: "<div " + " ".join(f'a{n}="<"' for n in range(100_000)) + ">x",
    "nested lists": lambda: "<ul><li>x" * 2_000,
    "nested quotations": lambda: "<blockquote>x" * 2_000,
    "nested tables": lambda: "<table><tr><td>x" * 2_000,
    "endless spans": lambda: "<table>" + ("<tr>" + "<td colspan=1000 rowspan=65534>x" * 50) * 500,
    "100,000 hidden elements": lambda: "<p hidden>x" * 100_000 + "<p>after",
    "unclosed style rules": lambda: "<style>" + "@a{b{" * 20_000 + "display:none</style><p>x",
    "nested shadow roots": lambda: "<div><template shadowrootmode=open>" * 900 + "<slot></slot>",
    "line breaks": lambda: "<p>a" + "\n" * 5_000_000 + "b",
    "line breaks before dashes": lambda: "<p>a" + "\n - " * 500_000,
    "a long title": lambda: "<title>" + " - x" * 500_000 + "</title><p>x",
    "a long alternative text": lambda: "<img src=x alt='" + "y" * 5_000_000 + "'><p>x",
    "open comments": lambda: "<div>" * 3_000 + "<!--" * 500_000,
    "open drawings": lambda: "<svg>" * 100_000 + "x",
    "angle brackets": lambda: "<" * 2_000_000,
    "open quotes": lambda: "<a " + "x" * 20_000 + '<a "' * 300_000,
    "deep JSON-LD": lambda: "<script type=application/ld+json>" + "[" * 400_000 + "</script><p>x",
}  # fmt: skip

SECONDS = 20.0
"""None of them takes more than 4 s of CPU alone on a slow core; this shows that none hangs."""


@hostile_inputs(GROWING, CHEAP)
@pytest.mark.slow
def test_hostile_pages_are_read_in_seconds(hostile: Hostile[str]) -> None:
    document = hostile.run(lambda html: reader.read(page(html)), limit_s=SECONDS)
    assert len(document.markdown) <= MAX_CHARACTERS


@hostile_inputs(
    {"nested and closed": GROWING["nested and closed"]},
    {name: CHEAP[name] for name in ("500,000 attributes", "100,000 hidden elements")},
)
@pytest.mark.slow
def test_text_after_hostile_markup_is_extracted(hostile: Hostile[str]) -> None:
    assert "after" in reader.read(page(hostile.value)).text


def test_binary_data_declared_as_html_is_reported() -> None:
    document = reader.read(page(bytes(range(256)).decode("utf-8", "replace") * 100))
    assert document.degraded
    assert (document.verdict.kind, document.verdict.reason) == (VerdictKind.THIN, "binary")
    assert document.markdown == ""
