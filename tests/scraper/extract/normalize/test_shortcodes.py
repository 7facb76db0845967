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
