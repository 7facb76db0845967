from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><span>(1)</span><span>A director must act.</span></p>", "(1) A director must act."),
        ("<h2><span>172</span><span>Duty</span></h2>", "## 172 Duty"),
        ("<li><span>Doe (2020)</span><span>J. Doe. Kettles.</span></li>", "Doe (2020) J. Doe. Kettles."),
        ("<p><span>T</span><span>he story</span></p>", "The story"),
        ("<p><span>1</span><span>st</span></p>", "1st"),
        ("<p>In <span>2020</span><span>Europe</span></p>", "In 2020Europe"),
        ("<pre><div><span>1</span><span>Go()</span></div></pre>", "```\n1Go()\n```"),
        ("<p><label>First</label><input><label>Last</label><input></p>", "First Last"),
        ("<p><label>Yes</label><label>No</label></p>", "Yes No"),
        ("<blockquote><cite>bob wrote:</cite>Hello.</blockquote>", "> bob wrote:\n>\n> Hello."),
        ("<blockquote>Hello, <cite>Bob</cite> said.</blockquote>", "> Hello, Bob said."),
    ],
)
def test_words_that_style_sheets_part_are_parted(html: str, expected: str) -> None:
    assert markdown_of(html).removeprefix("- ") == expected
