from __future__ import annotations

import numpy as np
import pytest
from lxml import etree

from scraper.extract import tree
from scraper.extract.content.columns import columns
from scraper.extract.content.guard import complete_tables, with_title, without_asides
from scraper.extract.content.names import TEASERS
from scraper.extract.content.prune import prune
from scraper.extract.content.segment import segment
from tests.scraper.extract.content.trees import measured
from tests.scraper.extract.snapshots import page

ARTICLE = {"article": 0.9, "forum": 0.0}


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
def test_what_was_not_chosen_leaves_the_tree(html: str, expected: str) -> None:
    body = tree.build(page(f"<body>{html}</body>")).body
    segments = segment(body)
    prune(segments, np.array(["keep" in text for text in segments.texts]))
    left = etree.tostring(body, encoding="unicode").replace('"', "'")
    assert left == f"<body>{expected}</body>"


def test_comments_and_teasers_are_left_out_of_an_article_but_not_of_a_forum() -> None:
    words = "many words of a text " * 20
    page = measured(
        f"<article><p>{words}</p></article><div class=comments><p>first</p></div>"
        "<div class=related-posts><p>another</p></div>"
    )
    columns(page)
    everything = np.ones(page.n, np.bool_)
    assert without_asides(page, everything, np.full(page.n, 0.6), ARTICLE).tolist() == [True, False, False]
    assert without_asides(page, everything, np.full(page.n, 0.6), {"article": 0.4, "forum": 0.6}).all()


def test_a_page_made_of_comments_keeps_them() -> None:
    page = measured("<p>Thread</p><div class=comments>" + "<p>what somebody said of it</p>" * 20 + "</div>")
    columns(page)
    assert without_asides(page, np.ones(page.n, np.bool_), np.full(page.n, 0.6), ARTICLE).all()


def test_a_table_that_is_mostly_chosen_is_chosen_whole() -> None:
    rows = "<tr><td>a name</td><td>7</td></tr>" * 3
    page = measured(f"<p>{'words before it ' * 10}</p><table>{rows}</table>")
    chosen = np.array([text != "7" for text in page.texts])
    assert complete_tables(page, chosen)[0].all()
    assert not complete_tables(page, np.array([number == 0 for number in range(page.n)]))[0][1:].any()


def test_the_title_of_documentation_is_kept_and_that_of_other_pages_left_to_the_model() -> None:
    page = measured("<p>before</p><h1>Title</h1><p>by somebody</p><p>text</p><p>more</p>")
    chosen = np.array([text in ("text", "more") for text in page.texts])
    assert with_title(page, chosen, {"documentation": 0.9}).tolist() == [False, True, False, True, True]
    assert with_title(page, chosen, {"documentation": 0.1}).tolist() == chosen.tolist()


def test_a_section_called_after_its_title_is_no_teaser() -> None:
    page = measured("<section id=related-work><p>text</p></section><div id=related-posts><p>other</p></div>")
    columns(page)
    assert (page.asides & TEASERS > 0).tolist() == [False, True]


@pytest.mark.parametrize(
    ("line", "leads"),
    [
        ("<a href=x>Lea también: Otra noticia del día</a>", True),
        ("Read more: <a href=x>Another story of the same day</a>", True),
        ("<a href=x>関連記事：別のニュース</a>", True),
        ("<a href=x>Mehr zum Thema: Noch eine Meldung</a>", True),
        ("Read more about it in the library, it said, and he did.", False),
        ("<a href=x>A link to a source</a>", False),
    ],
)
def test_lines_that_lead_to_other_articles_are_left_out(line: str, leads: bool) -> None:
    page = measured(f"<p>A passage of the article.</p><p>{line}</p>")
    columns(page)
    everything = np.ones(page.n, np.bool_)
    assert without_asides(page, everything, np.full(page.n, 0.9), ARTICLE).tolist() == [True, not leads]
