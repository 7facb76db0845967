"""The tree converter with markdownify's own rules gives markdownify's output, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from markdownify import markdownify

from benchmarks.markdown.stock import StockConverter

PAGES = sorted((Path(__file__).parents[1] / "pages").glob("*.html"))

OPTIONS = [
    {},
    {"heading_style": "atx", "bullets": "-"},
    {"heading_style": "atx_closed", "newline_style": "backslash", "strong_em_symbol": "_"},
    {"escape_misc": True, "table_infer_header": True, "sub_symbol": "~", "sup_symbol": "^"},
    {"autolinks": False, "default_title": True, "escape_underscores": False, "strip": ["a", "img"]},
]


def convert(html: str, **options: Any) -> str:
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    return StockConverter(**options).render_tree(etree.fromstring(html.encode(), parser))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_saved_pages_convert_as_with_markdownify(path: Path, options: dict[str, Any]) -> None:
    html = path.read_text(encoding="utf-8")
    assert convert(html, **options) == markdownify(html, bs4_options="lxml", **options)


def test_there_are_pages_to_compare() -> None:
    assert len(PAGES) >= 3


INLINE = st.sampled_from(["b", "em", "code", "a", "span", "sup", "del", "q", "kbd"])
BLOCK = st.sampled_from(["p", "div", "blockquote", "h1", "h3", "pre", "section", "article", "figcaption"])
TEXT = st.text(alphabet="ab *_`#-.1\n\t", max_size=12)


def element(tag: str, content: str) -> str:
    attributes = ' href="/x"' if tag == "a" else ""
    return f"<{tag}{attributes}>{content}</{tag}>"


CONTENT = st.recursive(
    TEXT,
    lambda inner: st.one_of(
        st.builds(element, INLINE, inner),
        st.lists(inner, max_size=3).map("".join),
        st.just("<br>"),
        st.just('<img src="/i.png" alt="an image">'),
    ),
    max_leaves=6,
)
BLOCKS = st.recursive(
    st.builds(element, BLOCK, CONTENT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "<ul>" + "".join(f"<li>{i}</li>\n" for i in items) + "</ul>"),
        st.lists(inner, max_size=3).map(
            lambda items: "<ol start=3>" + "".join(f"<li>{i}</li>" for i in items) + "</ol>"
        ),
        st.lists(inner, max_size=3).map(
            lambda cells: "<table><tr>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr></table>"
        ),
        st.lists(inner, max_size=3).map(
            lambda parts: "<dl>" + "".join(f"<dt>t</dt> <dd>{p}</dd>" for p in parts) + "</dl>"
        ),
        st.lists(inner, max_size=3).map(lambda parts: "<div>" + " \n".join(parts) + "</div>"),
    ),
    max_leaves=8,
)


@given(BLOCKS)
def test_generated_pages_convert_as_with_markdownify(body: str) -> None:
    html = f"<html><body>{body}</body></html>"
    assert convert(html) == markdownify(html, bs4_options="lxml")
