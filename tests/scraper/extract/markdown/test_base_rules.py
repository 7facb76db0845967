"""Literal blocks are inserted unchanged, wherever their placeholders end up."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.scraper.extract.conversion import markdown_of


def test_blocks_of_one_line_get_its_indent() -> None:
    found = markdown_of("<ul><li><dl><dt>\\[x\\] \\[y\\]</dl></ul>")
    assert found == "- $$\n  x\n  $$\n  $$\n  y\n  $$".replace("$$\n  $$", "$$ \n  $$")


@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ("<dl><dt>", "\\[x\\] ", "</dl>"),
        ("<a href=x>", "<pre>a\nb</pre>", "</a>"),
        (f"<dl><dt>{'w ' * 40_000}", "\\[x\\] ", "</dl>"),
    ],
)
def test_many_blocks_of_one_line_are_indented_fast(before: str, piece: str, behind: str) -> None:
    def build(count: int) -> str:
        return f"{before}{piece * count}{behind}"

    assert len(markdown_of(build(3_000))) < 1_000_000
    assert_linear(markdown_of, build, 3_000)
