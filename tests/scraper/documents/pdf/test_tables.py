"""Tables with narrow columns, wrapped cells and text close to them are read row by row."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from scraper.documents.pdf.lattice_tables import find_grids
from scraper.documents.pdf.layout_model import LayoutPage, RulingLine, RulingLines, TagNode, TextRun
from scraper.documents.pdf.structure_tree import read_tagged_blocks
from tests.scraper.documents.builders import drawn_pdf, line, parse, text_at

WIDE = "A line of prose that goes over both halves of the page and gives them their whole width in points"


def read_drawn(*drawn: str) -> str:
    """Return the Markdown of one page."""
    return parse(drawn_pdf(list(drawn))).markdown


def test_columns_of_numbers_that_are_close_are_separate() -> None:
    rows: tuple[tuple[str, ...], ...] = (
        ("Town", "Mean", "Sum"),
        ("Bergen", "12.45", "1,299"),
        ("Porto", "17.35", "4,310"),
        ("Cork", "19.5", "86"),
    )
    rows += (("Bonn", "11.25", "2,715"), ("Kyoto", "45.25", "9,310"))
    cells = [
        text_at(x, 150 + 14 * y, cell)
        for y, row in enumerate(rows)
        for x, cell in zip((60, 150, 181), row, strict=True)
    ]
    assert "| Porto | 17.35 | 4,310 |" in read_drawn(text_at(60, 100, WIDE), *cells)


def test_line_whose_first_word_did_not_fit_above_continues_the_cell() -> None:
    lines = (
        ("Town", "Remark", "Year"),
        ("Bergen", "A ferry to the northern islands leaves", "1999"),
        ("", "Wednesday at noon", ""),
        ("Porto", "The office of the harbor is closed on", "2004"),
        ("", "Sundays and in March", ""),
        ("Cork", "Letters", "2011"),
    )
    cells = [
        text_at(x, 150 + 14 * y, cell)
        for y, row in enumerate(lines)
        for x, cell in zip((60, 150, 360), row, strict=True)
    ]
    text = read_drawn(text_at(60, 100, WIDE), *filter(None, cells))
    assert "| Bergen | A ferry to the northern islands leaves Wednesday at noon | 1999 |" in text
    assert "| Porto | The office of the harbor is closed on Sundays and in March | 2004 |" in text


def test_text_below_the_last_rule_is_not_in_the_table() -> None:
    rows = (("Town", "Sum"), ("Bergen", "1,299"), ("Porto", "4,310"), ("Cork", "86"))
    cells = [
        text_at(x, 150 + 14 * y, cell) for y, row in enumerate(rows) for x, cell in zip((100, 200), row, strict=True)
    ]
    rules = [line(98, y, 240, y) for y in (141, 157, 199)]
    below = [text_at(60, 212, "The ferry to"), text_at(190, 212, "the islands leaves late.")]
    text = read_drawn(text_at(60, 100, WIDE), *cells, *rules, *below)
    assert "| Cork | 86 |" in text
    assert not any("ferry to" in row and "|" in row for row in text.splitlines())


def test_column_with_long_text_beside_names_is_a_table() -> None:
    drawn = [text_at(60, 80, WIDE)]
    for index in range(8):
        y = 150 + 36 * index
        drawn += [text_at(60, y, f"Name{index}"), text_at(150, y, f"{index}{index},310")]
        drawn += [
            text_at(230, y + 12 * at, f"r{index}{'abc'[at]} The ferry leaves the northern harbor") for at in range(3)
        ]
    text = read_drawn(*drawn)
    assert text.index("Name0") < text.index("r0a") < text.index("Name1") < text.index("r1a")


def test_line_between_two_words_separates_cells_as_close_as_words() -> None:
    xs, ys = (90, 151.4, 220), (90, 105, 120, 135)
    lines = [*(line(xs[0], y, xs[-1], y) for y in ys), *(line(x, ys[0], x, ys[-1]) for x in xs)]
    texts = ["02.05.2022 1,033,634", "25.06.2006 145,016", "18.07.2009 3,628"]
    drawn = [text_at(100, y + 11, text) for y, text in zip(ys, texts, strict=False)]
    assert "| 02.05.2022 | 1,033,634 |\n| --- | --- |\n| 25.06.2006 | 145,016 |" in (read_drawn(*lines, *drawn))


def test_line_of_a_drawing_across_words_separates_nothing() -> None:
    xs, ys = (90, 151.4, 220), (90, 105, 120, 135)
    lines = [*(line(xs[0], y, xs[-1], y) for y in ys), *(line(x, ys[0], x, ys[-1]) for x in xs)]
    texts = ["02.05.2022 1,033,634", "Harbors beyond", "Temperatures of the water"]
    drawn = [text_at(100, y + 11, text) for y, text in zip(ys, texts, strict=False)]
    assert "02.05.2022 1,033,634" in read_drawn(*lines, *drawn)


@pytest.mark.parametrize(
    ("above", "below", "whole"),
    [
        ("1,763,2", "20", "1,763,220"), ("27.01.202", "6", "27.01.2026"), ("44.8", "%", "44.8%"),
        ("$ 7.218.76", "8", "$ 7.218.768"),
    ],
)  # fmt: skip
def test_number_that_a_narrow_cell_divides_stays_whole(above: str, below: str, whole: str) -> None:
    drawn = []
    for row, name in enumerate(("Harbor", "Ferry", "Boat", "Pier")):
        y = 100 + 24 * row
        drawn += [text_at(60, y, name), text_at(200, y, above), text_at(200, y + 12, below)]
    rows = read_drawn(*drawn).split("\n")
    assert [row for row in rows if row.startswith("| ") and "---" not in row] == [
        f"| {name} | {whole} |" for name in ("Harbor", "Ferry", "Boat", "Pier")
    ]


def test_header_over_groups_of_columns_without_frames_is_a_row() -> None:
    head = ("Town", "no.", "Rate (95% CI)", "no.", "Rate (95% CI)")
    rows = (head, *((f"Town {at}", f"{at}12", f"{at}.51", "781", "2.17") for at in range(4)))
    xs = (60, 160, 230, 310, 380)
    cells = [text_at(x, 150 + 14 * y, cell) for y, row in enumerate(rows) for x, cell in zip(xs, row, strict=True)]
    groups = [text_at(145, 136, "All northern harbors"), text_at(245, 136, "All southern harbors")]
    text = read_drawn(text_at(60, 80, WIDE), *groups, *cells)
    assert "| All northern harbors |" in text
    assert "|\n| --- | --- | --- | --- | --- |\n| Town | no. | Rate (95% CI) | no. |" in text


def test_row_of_years_belongs_to_the_header() -> None:
    rows = (("", "2007", "2009"), ("Town", "Ships", "Ferries"), ("Bergen", "12", "99"), ("Porto", "17", "43"))
    cells = [
        text_at(x, 150 + 12 * y, cell)
        for y, row in enumerate(rows)
        for x, cell in zip((60, 160, 240), row, strict=True)
    ]
    assert "| Town | 2007 Ships | 2009 Ferries |" in read_drawn(text_at(60, 80, WIDE), *filter(None, cells))


def test_many_short_lines_are_compared_only_with_near_ones() -> None:
    across = tuple(sorted(RulingLine(at * 0.4, 0, 500) for at in range(2_000)))
    down = tuple(sorted(RulingLine(at * 7 % 500, at * 0.4, at * 0.4 + 8) for at in range(2_000)))
    started = time.process_time()
    find_grids(LayoutPage(1, 800, (), RulingLines(across, down)))
    assert time.process_time() - started < 0.1


def test_lines_that_separate_groups_of_columns_leave_the_columns_apart() -> None:
    rows = [("Town", "Men", "Women", "Boats", "Ships")]
    rows += [
        (name, "1.5", "2.5", str(10 + at), str(20 + at)) for at, name in enumerate(("Bergen", "Porto", "Cork", "Bonn"))
    ]
    xs = (60, 150, 200, 260, 310)
    cells = [text_at(x, 150 + 14 * y, cell) for y, row in enumerate(rows) for x, cell in zip(xs, row, strict=True)]
    groups = [line(x, 136, x, 216) for x in (145, 255, 345)]
    frame = [line(145, y, 345, y) for y in (136, 155, 216)]
    assert "| Porto | 1.5 | 2.5 | 11 | 21 |" in read_drawn(text_at(60, 100, WIDE), *cells, *groups, *frame)


def test_cells_of_two_lines_that_end_level_with_their_row_are_joined() -> None:
    drawn = [text_at(x, 100, head) for x, head in ((60, "No."), (120, "Name of the boat"), (300, "Year"))]
    for at in range(4):
        y = 130 + 30 * at
        drawn += [text_at(120, y - 12, "American"), text_at(60, y, f"{at}81"), text_at(120, y, f"ferry {at}")]
        drawn.append(text_at(300, y, f"19{at}5"))
    assert "| 281 | American ferry 2 | 1925 |" in read_drawn(*drawn)


def test_tags_that_call_a_table_a_paragraph_are_not_used() -> None:
    runs = tuple(
        TextRun(f"cell {column}", 60 + 90 * column, 100 + 14 * row, 100 + 90 * column, 110 + 14 * row, 10.0, mark=0)
        for row in range(7)
        for column in range(5)
    )
    below = tuple(
        TextRun("Prose of the page", 60, 300 + 12 * row, 300, 310 + 12 * row, 10.0, mark=1) for row in range(3)
    )
    tags = tuple(TagNode("P", (mark,)) for mark in range(2))
    assert read_tagged_blocks(LayoutPage(1, 800, runs + below, RulingLines(), tags)) is None


def draw_rows(y: float, *rows: Sequence[str], font: str = "F1") -> list[str]:
    """Draw rows of cells in three columns."""
    cells = ((x, y + 14 * at, cell) for at, row in enumerate(rows) for x, cell in zip((60, 200, 400), row, strict=True))
    return [text_at(x, top, cell, font=font) for x, top, cell in cells if cell]


def test_bold_header_is_separate_from_a_first_row_of_several_lines() -> None:
    ada = ("", "Steers the boat", ""), ("Ada", "Keeps the log", "2020"), ("", "Calls the port", "")
    rows = *ada, ("Bo", "Cooks", "2021"), ("Cy", "Sails", "2019")
    text = read_drawn(*draw_rows(100, ("Name", "Duty", "From"), font="F2"), *draw_rows(114, *rows))
    assert "| Name | Duty | From |\n| --- | --- | --- |\n| Ada | Steers the boat Keeps the log" in text


def test_heading_ends_a_table() -> None:
    above = ("Quay 4", "", "Date: 4 June"), ("Bergen", "", "Due: 4 July"), ("Norway", "", "Number 118")
    below = ("Item", "Count", "Price"), ("Rope", "2", "40.00"), ("Paint", "1", "25.50")
    text = read_drawn(*draw_rows(100, *above), text_at(60, 153, "Invoice", 16), *draw_rows(170, *below))
    assert "# Invoice\n" in text
    assert "| Item | Count | Price |\n| --- |" in text
