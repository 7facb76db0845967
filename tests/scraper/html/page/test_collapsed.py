from __future__ import annotations

import pytest

from scraper.html.dom.parsing import text_of
from scraper.html.page import page_tree
from tests.scraper.extract.snapshots import WORDS, markdown_of, page, read

FOLDED = "What a person reads after a click on the title of this passage, in more words than a label has."


@pytest.mark.parametrize(
    "fold",
    [
        f"<button aria-controls=more>More</button><div id=more style='display:none'>{FOLDED}</div>",
        f"<a href='#more'>More</a><div id=more hidden>{FOLDED}</div>",
        f"<div role=tabpanel hidden>{FOLDED}</div>",
        f"<div class='faq-accordion__content' style='display: none'>{FOLDED}</div>",
        f"<div class=Collapsible style='height:0;overflow:hidden'>{FOLDED}</div>",
        f"<div hidden id='S:1'>{FOLDED}</div>",
    ],
)
def test_text_that_a_click_or_a_script_reveals_is_kept(fold: str) -> None:
    assert FOLDED in markdown_of(f"<h1>Title</h1><p>{WORDS}</p><h2>More</h2>{fold}<p>{WORDS}</p>")


@pytest.mark.parametrize(
    "hidden",
    [
        f"<div style='display:none'>{FOLDED}</div>",
        f"<p hidden>{FOLDED}</p>",
        "<div class=accordion style='display:none'>A short order.</div>",
        f"<div class='accordion cookie-banner' style='display:none'>{FOLDED}</div>",
        f"<button aria-controls=x></button><div id=x role=dialog hidden>{FOLDED}</div>",
    ],
)
def test_text_that_no_control_reveals_is_removed(hidden: str) -> None:
    text = markdown_of(f"<h1>Title</h1><p>{WORDS}</p>{hidden}<p>{WORDS}</p>")
    assert FOLDED not in text
    assert "short order" not in text


def test_a_page_hidden_until_scripts_run_is_kept() -> None:
    assert "words that a person" in read(f"<body><div style='opacity:0'><p>{WORDS}</p></div></body>").text


def test_a_hidden_wrapper_of_a_rendered_page_is_removed() -> None:
    html = f"<body><div data-x-hidden><p>{WORDS}</p></div><p>Shown.</p></body>"
    assert "words that a person" not in read(html, rendered=True).text


def test_a_tab_panel_of_a_rendered_page_is_kept() -> None:
    html = f"<main><p>{WORDS}</p><div data-x-hidden role=tabpanel>{FOLDED}</div><p>{WORDS}</p></main>"
    assert FOLDED in read(html, rendered=True).text


@pytest.mark.parametrize(
    ("fold", "is_read"),
    [
        ("<b role=tab aria-controls=x>yarn</b><div id=x role=tabpanel hidden>yarn add it</div>", True),
        ("<button aria-expanded=false aria-controls=x>How?</button><p id=x hidden>yarn add it</p>", True),
        ("<button aria-controls=x>How?</button><p id=x hidden>yarn add it</p>", False),
        ("<div role=tabpanel hidden>yarn add it</div>", False),
        ("<button aria-expanded=false aria-controls=x></button><p id=x hidden><a>yarn add it</a></p>", False),
        ("<button aria-expanded=false aria-controls=menu></button><p id=menu hidden>yarn add it</p>", False),
        ("<header><button aria-expanded=false aria-controls=x></button><p id=x hidden>yarn add it</p></header>", False),
    ],
)
def test_a_short_text_is_kept_if_a_tab_or_title_opens_it(fold: str, is_read: bool) -> None:
    html = f"<body><main><h1>Title</h1><p>{WORDS}</p>{fold}<p>{WORDS}</p></main></body>"
    assert ("yarn add it" in text_of(page_tree.build_page_tree(page(html)).body)) is is_read
