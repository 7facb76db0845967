from __future__ import annotations

import numpy as np
import pytest
from lxml import etree

from scraper.extract.content.class_name_features import TEASERS
from scraper.extract.content.feature_matrix import columns
from scraper.extract.content.post_rules import complete_tables, even_cards, with_title, without_asides
from scraper.extract.content.prune import prune
from scraper.extract.content.segmentation import segment
from scraper.extract.normalize import footnotes
from scraper.extract.page import page_tree
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
    body = page_tree.build_page_tree(page(f"<body>{html}</body>")).body
    segments = segment(body)
    prune(segments, np.array(["keep" in text for text in segments.texts]))
    left = etree.tostring(body, encoding="unicode").replace('"', "'")
    assert left == f"<body>{expected}</body>"


def test_the_mark_of_a_note_goes_with_the_text_in_which_it_stands() -> None:
    html = (
        "<div>drop<sup><a href='#n'>1</a></sup><p>keep<sup><a href='#m'>2</a></sup> it</p></div>"
        "<ol><li id=n>One.</li><li id=m>Two.</li></ol>"
    )
    body = page_tree.build_page_tree(page(html)).body
    notes = footnotes.extract_footnotes(body)
    segments = segment(body)
    prune(segments, np.array(["keep" in text for text in segments.texts]))
    footnotes.attach_footnotes(body, notes)
    assert [mark.get("label") for mark in body.iter("fnref")] == ["2"]
    assert [note.get("label") for note in body.iter("fndef")] == ["2"]


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
    unlikely = np.full(page.n, 0.01)
    assert complete_tables(page, chosen, unlikely)[0].all()
    first = np.array([number == 0 for number in range(page.n)])
    assert not complete_tables(page, first, unlikely)[0][1:].any()


@pytest.mark.parametrize(
    ("table", "p", "kept"),
    [
        ("<tr><td>a</td><td>7</td></tr><tr><td>b</td><td>9</td></tr>", 0.2, True),
        ("<tr><td>a</td><td>7</td></tr><tr><td>b</td><td>9</td></tr>", 0.05, False),
        ("<tr><td>a</td><td>7</td></tr>", 0.2, False),
        (
            "<tr><td><a href=x>a</a></td><td><a href=x>7</a></td></tr><tr><td>b</td><td>9</td></tr>",
            0.2,
            False,
        ),
        (
            "<tr><td>a</td><td>7</td></tr><tr><td>b</td><td><table><tr><td>9</td></tr></table></tr>",
            0.2,
            False,
        ),
    ],
)
def test_a_table_of_values_amid_the_content_is_content(table: str, p: float, kept: bool) -> None:
    around = "words of the article " * 10
    page = measured(f"<div><p>{around}</p><figure><table>{table}</table></figure><p>{around}</p></div>")
    chosen = np.array([text.startswith("words") for text in page.texts])
    found, cells = complete_tables(page, chosen, np.full(page.n, p))
    assert found.all() == cells.any() == kept


def test_cards_show_the_same_of_each() -> None:
    card = "<div class=card><h3>Kettle {0}</h3><span class=price><b>{0} euros</b></span><p>Buy {0}</p></div>"
    page = measured("<p>Goods</p><div>" + "".join(card.format(number) for number in range(8)) + "</div>")
    columns(page)
    chosen = np.array(
        [
            (text.startswith("Kettle") and text[-1] in "01234") or text in ("Buy 3", "Goods")
            for text in page.texts
        ]
    )
    found = even_cards(page, chosen)
    kept = [text for text, one in zip(page.texts, found.tolist(), strict=True) if one]
    assert kept == ["Goods", *(f"Kettle {number}" for number in range(8))]


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
