from __future__ import annotations

import pytest

from tests.scraper.extract.snapshots import markdown_of


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<p>[vc_row css=".a{b:c}"][vc_column]Text[/vc_column][/vc_row]</p>', "Text"),
        ("<p>[my_box]</p><p>Text <b>and</b> [/my_box]more</p>", "Text **and** more"),
        ("<p>[sic] and [1], [b]bold[/b], [a_name] and [row=2]</p>", "[sic] and [1], [b]bold[/b], [a_name] and [row=2]"),
        ("<p>Write <code>[my_box]x[/my_box]</code> here</p>", "Write `[my_box]x[/my_box]` here"),
    ],
)
def test_tags_of_page_builders_are_removed_outside_of_code(html: str, markdown: str) -> None:
    assert markdown_of(html).replace("\\", "") == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<p>Then <a class=person href=/p>Jane Roe<span class=hovercard>Jane Roe, born in 1970, minister</span></a> "
            "left.</p>",
            "Then [Jane Roe](https://example.com/p) left.",
        ),
        (
            "<p>An <span class=tooltip>ISBN<span class='x tooltip-text'>A number of books</span></span> is long.</p>",
            "An ISBN is long.",
        ),
        ("<p><span class=tooltiptext>A text alone in its passage.</span></p>", "A text alone in its passage."),
        ("<p>A word<span class=tooltip>s</span> here.</p>", "A words here."),
        ("<div class=popup-content>Not in a sentence.</div>", "Not in a sentence."),
    ],
)
def test_boxes_that_appear_over_a_word_are_not_joined_to_its_sentence(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown
