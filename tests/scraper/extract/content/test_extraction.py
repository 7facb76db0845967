from __future__ import annotations

import numpy as np
import pytest
from lxml import etree

from scraper.extract.content.extraction import prune_tree
from scraper.extract.normalize import footnotes
from scraper.html.page import page_tree
from scraper.html.page.segmentation import segment_body
from tests.scraper.extract.snapshots import page


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>keep</p><p>drop</p>", "<p>keep</p>"),
        ("<div><h2>keep</h2><ul><li>drop</li><li>keep</li></ul></div>",
         "<div><h2>keep</h2><ul><li>keep</li></ul></div>"),
        ("<nav><a href='x'>drop</a></nav><p>keep</p>", "<p>keep</p>"),
        ("<div>drop<p>keep</p>drop</div>", "<div><p>keep</p> </div>"),
        ("<table><tr><td>keep</td><td>drop</td></tr><tr><td>drop</td></tr></table>",
         "<table><tr><td>keep</td><td/></tr></table>"),
        ("<div><p>keep</p><figure><img src='x'/></figure></div>",
         "<div><p>keep</p><figure><img src='x'/></figure></div>"),
        ("<div><p>drop</p><figure><img src='x'/></figure></div><p>keep</p>", "<p>keep</p>"),
        ("<div><button aria-expanded='true'>keep</button></div>",
         "<div><div aria-expanded='true'>keep</div></div>"),
        ("<div><button>keep</button></div>", "<div><button>keep</button></div>"),
        ("<p>keep <b>and keep</b></p>", "<p>keep <b>and keep</b></p>"),
        ("<div><span>drop<img alt='drop'/></span><p>keep</p></div>",
         "<div><span><img/></span><p>keep</p></div>"),
    ],
)  # fmt: skip
def test_unselected_blocks_are_removed_from_the_tree(html: str, expected: str) -> None:
    body = page_tree.build_page_tree(page(f"<body>{html}</body>")).body
    segments = segment_body(body)
    prune_tree(segments, np.array(["keep" in text for text in segments.texts]))
    left = etree.tostring(body, encoding="unicode").replace('"', "'")
    assert left == f"<body>{expected}</body>"


def test_a_footnote_mark_is_removed_with_its_text() -> None:
    html = (
        "<div>drop<sup><a href='#n'>1</a></sup><p>keep<sup><a href='#m'>2</a></sup> it</p></div>"
        "<ol><li id=n>One.</li><li id=m>Two.</li></ol>"
    )
    body = page_tree.build_page_tree(page(html)).body
    notes = footnotes.extract_footnotes(body)
    segments = segment_body(body)
    prune_tree(segments, np.array(["keep" in text for text in segments.texts]))
    footnotes.attach_footnotes(body, notes)
    assert [mark.get("label") for mark in body.iter("fnref")] == ["2"]
    assert [note.get("label") for note in body.iter("fndef")] == ["2"]
