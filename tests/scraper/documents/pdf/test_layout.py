"""Columns, rows of tables and code are told apart on pages without drawn lines."""

from __future__ import annotations

import pytest

from tests.scraper.documents.builders import drawn_pdf, parse, text_at

WORDS = "The ferry leaves the northern harbor at half past"


def body(*pages: list[str]) -> str:
    """Return the Markdown of pages without the page comments."""
    return parse(drawn_pdf(*pages)).markdown.removeprefix("<!-- page 1 -->").strip()


def prose(x: float, y: float, count: int, name: str, step: float = 12) -> list[str]:
    """Draw lines that are full in a column of 230 points."""
    return [text_at(x, y + step * index, f"{name}{index} {WORDS}") for index in range(count)]


def test_table_within_a_column_does_not_join_both_columns() -> None:
    rows = [
        text_at(x, 164 + 15 * row, cell)
        for row, cells in enumerate(
            [("Town", "People"), ("Bergen", "290,000"), ("Porto", "230,000"), ("Cork", "210,000")]
        )
        for x, cell in ((50, cells[0]), (200, cells[1]))
    ]
    text = body([*prose(50, 80, 6, "a"), *rows, *prose(50, 235, 8, "b"), *prose(310, 85, 20, "c", 12.4)])
    assert "| Town | People |\n| --- | --- |\n| Bergen | 290,000 |" in text
    assert (
        text.index("a5 The")
        < text.index("| Cork")
        < text.index("b7 The")
        < text.index("c0 The")
        < text.index("c19 The")
    )


def test_large_letter_beside_one_line_is_not_joined() -> None:
    text = body([text_at(60, 126, "A", 36), text_at(88, 120, "row of seats"), *prose(60, 180, 8, "a")])
    assert "Arow" not in text


def test_two_columns_of_short_lines_are_no_table() -> None:
    left, right = (
        ("Northern ferry", "Harbor", "Second office", "Letters", "Copies"),
        ("Form", "Passport", "Minutes", "Test", "Water"),
    )
    lines = [
        text_at(x, 150 + 12 * row, name) for x, names in ((60, left), (280, right)) for row, name in enumerate(names)
    ]
    wide = "A line of prose that goes over both halves of the page and gives them their whole width in points"
    text = body([text_at(60, 100, wide), *lines, text_at(60, 240, wide)])
    assert "|" not in text
    assert "Copies Form Passport" in " ".join(text.split())


def test_two_columns_of_cells_are_a_table() -> None:
    rows = [("Town", "River"), ("Bergen", "none"), ("Porto", "Douro"), ("Cork", "Lee"), ("Bonn", "Rhine")]
    cells = [
        text_at(x, 150 + 14 * row, cell, 10, "F2" if row == 0 else "F1")
        for row, pair in enumerate(rows)
        for x, cell in zip((60, 300), pair, strict=True)
    ]
    wide = "A line of prose that goes over both halves of the page and gives them their whole width in points"
    assert "| Cork | Lee |" in body([text_at(60, 100, wide), *cells])


def test_prose_in_a_font_of_fixed_width_is_no_code() -> None:
    lines = [
        text_at(60, 100 + 12 * index, f"Line {index} of a typed letter about the ferry", 10, "F3") for index in range(8)
    ]
    assert "```" not in body([text_at(60, 60, "The Letter", 18, "F3"), *lines])


def test_code_in_a_font_of_fixed_width_is_code() -> None:
    lines = [text_at(60, 100 + 12 * index, f"value[{index}] = read({index});", 10, "F3") for index in range(8)]
    assert body(lines).startswith("```")


def test_running_line_in_a_large_font_is_no_heading() -> None:
    pages = [[text_at(60, 40, "The Gazette", 14), *prose(60, 100, 20, f"p{page}-")] for page in range(4)]
    text = body(*pages)
    assert text.count("The Gazette") == 1
    assert "#" not in text


def test_rows_of_short_texts_are_a_table() -> None:
    rows = {
        "north": "open all day.",
        "south": "closed on sundays.",
        "west pier": "no ferries in march.",
        "old harbor": "open.",
        "new harbor": "for goods.",
        "island": "by boat.",
        "far island": "closed.",
    }
    drawn = [
        text_at(x, 100 + 14 * at, row[column])
        for column, x in enumerate((60, 170))
        for at, row in enumerate(rows.items())
    ]
    assert "| west pier | no ferries in march. |" in body(drawn)


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("Invoice 1001", ("Invoice 1002", "Invoice 1003", "Invoice 1004")),
        ("Issued 04.05.2030", ("Issued 05.05.2030", "Issued 06.05.2030", "Issued 07.05.2030")),
        ("Total 12.50", ("Total 13.50", "Total 14.50", "Total 15.50")),
        ("2030", ("1990", "2041", "1875")),
        ("Section iv", ("Section ii", "Section x", "Section c")),
    ],
)
def test_numbers_that_do_not_count_the_pages_stay_in_the_margins(first: str, others: tuple[str, ...]) -> None:
    pages = [[text_at(60, 40, top), *prose(60, 200, 3, "a")] for top in (first, *others)]
    text = parse(drawn_pdf(*pages)).markdown
    assert all(top in text for top in (first, *others))


@pytest.mark.parametrize("number", ["{}", "Page {} of 4", "- {} -", "Ferries of the north {}/4"])
def test_numbers_that_count_the_pages_are_left_out(number: str) -> None:
    pages = [[text_at(60, 40, number.format(at)), *prose(60, 200, 3, "a")] for at in range(1, 5)]
    text = parse(drawn_pdf(*pages)).markdown
    assert number.format(3) not in text.splitlines()


@pytest.mark.parametrize("marks", [("*", "*"), ("1.", "-")])
def test_lists_beside_each_other_are_read_one_after_the_other(marks: tuple[str, str]) -> None:
    columns = ("Crew", "Ada steers the boat", "Bo cooks", "Cy repairs"), ("Gear", "Nets of two sizes", "Ropes", "Buoys")
    page = [text_at(60, 60, WORDS + " and then it comes back to the southern pier of the town")]
    for x, mark, (title, *items) in zip((60, 310), marks, columns, strict=True):
        page.append(text_at(x, 100, title, font="F2"))
        page += [text_at(x, 118 + 14 * at, f"{mark} {item}") for at, item in enumerate(items)]
    text = body(page)
    assert "|" not in text
    assert text.index("Cy repairs") < text.index("Gear") < text.index("Nets")


def test_indented_items_are_nested() -> None:
    items = (60, "Boats"), (80, "Hull"), (100, "Paint"), (80, "Sails"), (60, "Pier")
    text = body([text_at(x, 100 + 14 * at, f"- {item}") for at, (x, item) in enumerate(items)])
    assert text == "- Boats\n  - Hull\n    - Paint\n  - Sails\n- Pier"
