"""PDF text at unusual places: slanted lines, rotated table heads, heads outside table frames."""

from __future__ import annotations

import pytest

from tests.scraper.documents.builders import drawn_pdf, parse, table_cells, text_at


def leaning(x: float, y: float, text: str, matrix: str, size: float = 10) -> str:
    """Return operators that write a text with a matrix: `1 0 .3 1` slants it, `0 1 -1 0` rotates it."""
    return f"BT /F1 {size} Tf {matrix} {x} {842 - y} Tm ({text}) Tj ET"


def body(*operators: str) -> str:
    """Return the Markdown of one page without its page comment."""
    return parse(drawn_pdf(operators)).markdown.removeprefix("<!-- page 1 -->").strip()


def test_slanted_text_is_read_in_place() -> None:
    slanted = (leaning(60, y, f"The slanted line at {y} points down the page", "1 0 .3 1") for y in (100, 112))
    assert body(*slanted) == (
        "The slanted line at 100 points down the page The slanted line at 112 points down the page"
    )


def test_rotated_stamp_is_read_after_the_text() -> None:
    turned = leaning(300, 500, "A long stamp across the page that says draft", ".966 .259 -.259 .966")
    assert body(text_at(60, 100, "The text of the page."), turned) == (
        "The text of the page.\n\nA long stamp across the page that says draft"
    )


XS = (60, 160, 220, 280, 340)
ROWS = [["1", "0.25", "0.50", "0.75"], ["2", "1.25", "1.50", "1.75"], ["3", "2.25", "2.50", "2.75"]]


def test_rotated_headers_belong_to_their_columns() -> None:
    heads = [
        leaning(x + 30, 190, word, "0 1 -1 0", 8) for x, word in zip(XS[1:], ("Low", "Middle", "High"), strict=False)
    ]
    assert body(*table_cells(XS, (194, 212, 230, 248), ROWS), *heads) == (
        "|  | Low | Middle | High |\n| --- | --- | --- | --- |\n| 1 | 0.25 | 0.50 | 0.75 |\n"
        "| 2 | 1.25 | 1.50 | 1.75 |\n| 3 | 2.25 | 2.50 | 2.75 |"
    )


def test_rotated_headers_within_the_first_row_belong_to_their_columns() -> None:
    heads = [
        leaning(x + 30, 150, word, "0 1 -1 0", 8) for x, word in zip(XS[1:], ("Low", "Middle", "High"), strict=False)
    ]
    name = text_at(63, 150, "No.")
    assert body(*table_cells(XS, (90, 156, 174, 192, 210), [["", "", "", ""], *ROWS]), *heads, name).startswith(
        "| No. | Low | Middle | High |\n| --- | --- | --- | --- |\n| 1 | 0.25 | 0.50 | 0.75 |\n"
    )


def test_header_over_several_columns_is_in_the_first() -> None:
    xs = (60, 120, 180, 240, 300)
    rows = [[f"{row}.{column}" for column in range(4)] for row in range(1, 5)]
    over = [text_at(108, 184, "Left"), text_at(226, 184, "Right")]
    assert body(*table_cells(xs, (190, 208, 226, 244, 262), rows), *over).startswith(
        "| Left |  | Right |  |\n| --- | --- | --- | --- |\n| 1.0 | 1.1 | 1.2 | 1.3 |"
    )


def test_columns_with_unaligned_lines_are_read_one_after_the_other() -> None:
    def column(x: float, word: str, at: tuple[int, ...]) -> list[str]:
        return [text_at(x, y, f"{word} {number} of a short card here") for number, y in enumerate(at)]

    left = column(60, "left", (100, 118, 161, 173, 240, 283, 295))
    right = column(330, "right", (100, 131, 143, 188, 240, 262, 310))
    text = body(*left, *right)
    assert text.index("left 6") < text.index("right 0")


def lines(x: float, y: float, words: str, count: int) -> list[str]:
    return [text_at(x, y + 12 * at, f"{words} {at} goes on") for at in range(count)]


def test_narrow_columns_of_full_lines_are_prose() -> None:
    columns = [line for x in (60, 190, 320) for line in lines(x, 100, f"in column-{x}", 14)]
    text = body(*columns)
    assert "|" not in text
    assert text.index("column-60 13") < text.index("column-190 0") < text.index("column-320 0")


@pytest.mark.parametrize(
    ("matrix", "x", "y", "step"),
    [("0 1 -1 0", 60, 700, (12, 0)), ("-1 0 0 -1", 500, 740, (0, -12)), ("0 -1 1 0", 540, 100, (-12, 0))],
)
def test_page_whose_text_is_rotated_has_its_layout(matrix: str, x: int, y: int, step: tuple[int, int]) -> None:
    words = [
        leaning(x + step[0] * at, y + step[1] * at, f"Words of line {at} at the harbor", matrix) for at in range(3, 6)
    ]
    heading, _, text = body(leaning(x, y, "THE HULL", matrix, 24), *words).partition("\n\n")
    assert heading.startswith("# ")
    assert text.index("line 3") < text.index("line 4") < text.index("line 5")
