"""Literal blocks are inserted unchanged, wherever their placeholders end up."""

from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import markdown_of
from tests.scraper.soon import soon


def test_blocks_of_one_line_get_its_indent() -> None:
    found = markdown_of("<ul><li><dl><dt>\\[x\\] \\[y\\]</dl></ul>")
    assert found == "- $$\n  x\n  $$\n  $$\n  y\n  $$".replace("$$\n  $$", "$$ \n  $$")


@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ("<dl><dt>", "\\[x\\] ", "</dl>"),
        ("<a href=x>", "<pre>a\nb</pre>", "</a>"),
        (f"<dl><dt>{'w ' * 100_000}", "\\[x\\] ", "</dl>"),
    ],
)
def test_many_blocks_of_one_line_are_indented_fast(before: str, piece: str, behind: str) -> None:
    with soon():
        found = markdown_of(f"{before}{piece * 8_000}{behind}")
    assert len(found) < 1_000_000
