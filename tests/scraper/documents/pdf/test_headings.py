"""Headings of PDF pages without tags: by number, weight and place; running titles are none."""

from __future__ import annotations

import pytest

from scraper.documents.pdf.blocks import mark_headings
from scraper.documents.pdf.layout_model import BlockKind, LayoutPage, RulingLines, TagNode, TextRun
from scraper.documents.pdf.structure_tree import read_tagged_blocks
from tests.scraper.documents.builders import drawn_pdf, parse, text_at

WORDS = "The ferry leaves the northern harbor at half past six and returns at noon"


def read(*pages: list[str]) -> str:
    """Return the Markdown of pages."""
    return parse(drawn_pdf(*pages)).markdown


def section(y: float, title: str) -> list[str]:
    """Draw a title in the font of the text, and two lines of text below it."""
    return [text_at(60, y, title), text_at(60, y + 30, WORDS), text_at(60, y + 42, WORDS)]


@pytest.mark.parametrize("dot", ["", "."])
def test_numbers_that_count_on_make_headings_with_the_level_of_the_number(dot: str) -> None:
    titles = {f"1{dot} Harbors": 2, f"1.1{dot} Northern harbors": 3, f"2{dot} Ferries": 2, f"3{dot} Prices": 2}
    page = [text_at(60, 80, "Travel by sea", 16)]
    for index, title in enumerate(titles):
        page += section(120 + 90 * index, title)
    text = read(page)
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Travel by sea", *(f"{'#' * level} {title}" for title, level in titles.items()),
    ]  # fmt: skip


def test_items_of_a_list_are_no_headings() -> None:
    items = [text_at(60, 100 + 14 * at, f"{at}. Harbor of the north") for at in range(1, 6)]
    assert "#" not in read([*items, text_at(60, 220, WORDS)])


def test_numbers_that_do_not_count_on_make_no_headings() -> None:
    page = [piece for at, number in enumerate((3, 7, 12)) for piece in section(100 + 90 * at, f"{number} Harbors")]
    assert "#" not in read(page)


def test_bold_beginning_of_a_line_is_no_heading() -> None:
    drawn = f"BT /F2 10 Tf 60 700 Td (Ferries.) Tj /F1 10 Tf ( {WORDS}) Tj ET"
    text = read([drawn, text_at(60, 160, WORDS)])
    assert "#" not in text
    assert f"Ferries. {WORDS}" in text


def test_running_titles_beside_a_counter_are_written_once() -> None:
    def page(number: int) -> list[str]:
        title = f"Chapter {'of harbors' if number <= 5 else 'of ferries'}"
        head = f"{number + 6} {title}" if number % 2 else f"{title} {number + 6}"
        return [text_at(60, 110, head, 14), *(text_at(60, 150 + 14 * at, f"{WORDS} {number}") for at in range(20))]

    text = read(*map(page, range(1, 11)))
    assert text.count("Chapter of harbors") <= 2
    assert text.count("Chapter of ferries") <= 2
    assert "# " not in text


def test_headings_side_by_side_begin_their_columns() -> None:
    column = [text_at(60, 160 + 12 * at, f"a{at} {WORDS[:45]}") for at in range(9)]
    other = [text_at(310, 163 + 12.5 * at, f"b{at} {WORDS[:45]}") for at in range(9)]
    authors = [
        text_at(x, 110, name) for x, name in ((60, "Ada Lovelace"), (250, "Charles Babbage"), (420, "M. Somerville"))
    ]
    text = read([*authors, text_at(60, 140, "Summary", 14), text_at(310, 140, "Harbors", 14), *column, *other])
    assert text.index("Summary") < text.index("a8 The") < text.index("Harbors") < text.index("b0 The")


def test_only_larger_text_than_marked_headings_is_one_too() -> None:
    texts = ("Travel by sea", 22.0), ("Ada Holm", 13.0), ("Harbors", 15.0), (WORDS, 10.0)
    runs = tuple(
        TextRun(text, 60, 80 + 40 * at, 300, 90 + 40 * at, size, mark=at) for at, (text, size) in enumerate(texts)
    )
    tags = tuple(TagNode("H2" if at == 2 else "P", (at,)) for at in range(len(texts)))
    blocks = list(read_tagged_blocks(LayoutPage(1, 842, runs, RulingLines(), tags)) or ())
    marked = [block.lines[0] for block in mark_headings(blocks, 10) if block.kind is BlockKind.HEADING]
    assert marked == ["Travel by sea", "Harbors"]
