"""The plain text of a document, which the full-text search indexes."""

from __future__ import annotations

import pytest

from scraper.text.markdown_structure import strip_markdown
from tests.scraper.soon import soon


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("<!-- page 1 -->\n\n# Title", "Title"),
        ("a <!-- one --> b <!-- two --> c", "a  b  c"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "| a b |\n\n| 1 2 |"),
        ("see [the paper](https://e.example/p) and **this**", "see the paper and this"),
        (r"3 \* 4, \$5", r"3 * 4, \$5"),
        ("```python\nx\n```", "x"),
        (r"where $\alpha_{1} \le \frac{x}{2}$ holds", "where alpha 1 x 2 holds"),
    ],
)
def test_strip_markdown_removes_only_syntax(markdown: str, words: str) -> None:
    assert strip_markdown(markdown) == words


@pytest.mark.parametrize("piece", ["\n", " ", " \n", "<!--", "<!-- x --", "|--", "|-\n", "[", "![a](", "$a", "`"])
def test_strip_markdown_is_fast_for_hostile_text(piece: str) -> None:
    with soon():
        strip_markdown("a" + piece * (200_000 // len(piece)) + "b")
