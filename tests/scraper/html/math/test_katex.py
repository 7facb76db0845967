"""KaTeX formulas without TeX source, from the boxes of KaTeX 0.16 and later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scraper.extract.conversion import markdown_of
from tests.scraper.extract.snapshots import WORDS, read

MADE = json.loads((Path(__file__).parent / "made_by_katex.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("made", MADE, ids=[made["written"] for made in MADE])
def test_boxes_are_read_as_the_formula_they_show(made: dict[str, str]) -> None:
    found = markdown_of(f"<p>Let {made['html']} be.</p>").replace("\n", "")
    assert found in (f"Let ${made['read']}$ be.", f"Let $${made['read']}$$be.")


def test_a_page_keeps_formulas_that_its_markup_hides_from_readers_aloud() -> None:
    page = f"<main><p>{WORDS} {MADE[0]['html']} shows it.</p></main>"
    assert "$a_{i}$ shows it." in read(page).markdown
    assert "$a_{i}$ shows it." in read(page, rendered=True).markdown


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "<span class=mfrac></span>",
        "<span class=msupsub></span>",
        "<span class='mop op-limits'><span class=vlist-t></span></span>",
        "<span class='mord sqrt'></span><span class='mord accent'></span><span class=mtable></span>",
        "<span class=mord>" * 3_000 + "x",
        "<span class='mord accent'><span class=vlist><span style='top:1em'>" * 40 + "x",
    ],
)
def test_broken_boxes_break_nothing(inside: str) -> None:
    page = f"<p>Before <span class=katex><span class=katex-html>{inside}</span></span></p><p>after</p>"
    assert markdown_of(page).startswith("Before")
