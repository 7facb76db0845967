"""PDF layout: reading order, tables, headings, lists, and repeated headers and footers."""

from __future__ import annotations

import pytest

from scraper import errors
from tests.scraper.documents.builders import drawn_pdf, line, parse, table_cells, text_at

PROSE = (
    "The morning ferry left with many passengers and a crate of",
    "lemons, and the wind stood west all day. The keeper of the",
    "lighthouse wrote everything down in a book that nobody else",
    "was ever allowed to read before the harbour was closed.",
)


def column(x: float, y: float, lines: tuple[str, ...], size: float = 8) -> list[str]:
    return [text_at(x, y + 11 * at, text, size) for at, text in enumerate(lines)]


def body(*pages: list[str]) -> str:
    return parse(drawn_pdf(*pages)).markdown


def test_columns_are_read_one_after_the_other() -> None:
    left = tuple(f"{text} L{at}" for at, text in enumerate(PROSE * 2))
    right = tuple(f"{text} R{at}" for at, text in enumerate(PROSE * 2))
    text = body(
        [
            text_at(60, 60, "A title over both of the columns", 16, "F2"),
            *column(60, 100, left),
            *column(320, 100, right),
        ]
    )
    marks = [text.index(f" {side}{at}") for side in "LR" for at in range(8)]
    assert marks == sorted(marks)
    assert "|" not in text
    assert text.startswith("<!-- page 1 -->\n\n# A title over both of the columns")


def test_table_with_drawn_lines_has_its_empty_cells() -> None:
    rows = [["Town", "People", "Year"], ["Bergen", "", "2020"], ["Porto", "230,000", "2021"]]
    text = body([*column(60, 80, PROSE), *table_cells((60, 180, 300, 400), (150, 170, 190, 210), rows)])
    assert text.endswith(
        "| Town | People | Year |\n| --- | --- | --- |\n| Bergen |  | 2020 |\n| Porto | 230,000 | 2021 |"
    )


def test_table_without_lines_is_found_by_its_gaps() -> None:
    rows = [
        ("Town", "People", "Share"),
        ("Bergen", "290,000", "4.1"),
        ("Porto", "230,000", "3.9"),
        ("Cork", "210,000", "3.1"),
    ]
    drawn = [
        text_at(x, 200 + 14 * at, cell)
        for at, row in enumerate(rows)
        for x, cell in zip((60, 200, 320), row, strict=True)
    ]
    text = body([*column(60, 80, PROSE), *drawn])
    assert "| Town | People | Share |\n| --- | --- | --- |\n| Bergen | 290,000 | 4.1 |" in text
    assert "| Cork | 210,000 | 3.1 |" in text


def test_a_cell_of_two_lines_is_one_cell() -> None:
    drawn = [line(60, 150, 400, 150), line(60, 170, 400, 170), line(60, 200, 400, 200), line(60, 220, 400, 220)]
    drawn += [line(x, 150, x, 220) for x in (60, 230, 400)]
    drawn += [
        text_at(65, 165, "Name"),
        text_at(235, 165, "Remark"),
        text_at(65, 182, "Bergen"),
        text_at(65, 215, "Porto"),
    ]
    drawn += [
        text_at(235, 181, "a remark that goes"),
        text_at(235, 193, "on in a second line"),
        text_at(235, 215, "none"),
    ]
    assert "| Bergen | a remark that goes on in a second line |" in body(drawn)


def test_headings_are_detected_by_size_and_weight() -> None:
    page = [
        text_at(60, 60, "The Report", 20, "F2"),
        *column(60, 100, PROSE),
        text_at(60, 170, "First part", 14, "F2"),
        *column(60, 200, PROSE),
        text_at(60, 270, "A smaller point", 8, "F2"),
        *column(60, 300, PROSE),
    ]
    heads = [row for row in body(page).splitlines() if row.startswith("#")]
    assert heads == ["# The Report", "## First part", "### A smaller point"]


def test_hyphenated_words_are_joined_unless_the_hyphen_belongs_to_them() -> None:
    text = body(
        [*column(60, 80, ("The har-", "bour is a well-known place, and well-", "known it will always remain to us."))]
    )
    assert "The harbour is a well-known place, and well-known it will" in text


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("the mid-", "1990s were", "the mid-1990s were"),
        ("by Jean-", "Pierre of", "by Jean-Pierre of"),
        ("the North-", "South Line", "the North-South Line"),
        ("the A-", "4 and", "the A-4 and"),
        ("a long -", "Yes, a", "a long - Yes, a"),
    ],
)
def test_hyphen_before_a_capital_or_a_digit_stays_without_a_space(above: str, below: str, joined: str) -> None:
    filler = "and the ferries of the harbor are known here"
    assert joined in body([*column(60, 80, (f"{filler} {above}", f"{below} {filler}"))])


def test_lists_and_code_are_detected() -> None:
    page = [
        *column(60, 80, ("1. Cast off the lines", "2. Leave the harbour")),
        *[
            text_at(60, 140 + 11 * at, code, 8, "F3")
            for at, code in enumerate(("def area(r):", "    return 3 * r ** 2"))
        ],
    ]
    assert body(page).endswith(
        "1. Cast off the lines\n2. Leave the harbour\n\n```\ndef area(r):\n    return 3 * r ** 2\n```"
    )


def test_image_pages_are_reported_beside_text_pages() -> None:
    parsed = parse(drawn_pdf(column(60, 80, PROSE), []))
    assert parsed.pages == 2
    assert parsed.ocr_pages == ()
    with pytest.raises(errors.NoContentError):
        parse(drawn_pdf([], []))


def test_table_of_contents_becomes_a_list() -> None:
    lines = ("1 The harbour .................... 3", "1.1 The lighthouse .............. 12", "2 The sea ........ 20")
    assert body(column(60, 200, lines)).endswith("- 1 The harbour … 3\n- 1.1 The lighthouse … 12\n- 2 The sea … 20")


def test_only_requested_pages_are_read() -> None:
    data = drawn_pdf(*(column(60, 200, (f"This is page number {number} of the log",)) for number in range(1, 6)))
    parsed = parse(data, pages=(2, 4))
    assert parsed.pages == 5
    assert "number 2" in parsed.markdown and "number 4" in parsed.markdown
    assert "number 3" not in parsed.markdown


def test_damaged_pdf_raises_a_typed_error() -> None:
    with pytest.raises(errors.MalformedDocumentError):
        parse(b"%PDF-1.7\n")


def test_both_readers_read_the_same_words() -> None:
    data = drawn_pdf(column(60, 80, PROSE))
    plain = parse(data, plain_reader=True)
    assert plain.markdown.split()[4:] == parse(data).markdown.split()[4:]


def test_long_file_gives_the_pages_for_which_there_is_time() -> None:
    data = drawn_pdf(*([text_at(60, 60, f"The ferry of day {number}")] for number in range(1, 41)))
    in_time = parse(data)
    assert "ferry of day 40" in in_time.markdown
    assert not in_time.warnings
    late = parse(data, time_s=1e-9)
    assert "ferry of day 32" in late.markdown
    assert "ferry of day 33" not in late.markdown
    assert late.warnings == (
        "Pages 33 to 40 of 40 are not read yet: read them by `pages` of `read_doc`, such as 33-40.",
    )
    assert late.is_part and not in_time.is_part


def test_beginning_of_a_long_file_ends_with_the_page_that_completes_it() -> None:
    data = drawn_pdf(*([text_at(60, 60, f"The ferry of day {number}")] for number in range(1, 61)))
    parsed = parse(data, characters=8_000)  # Short pages, such as scanned ones, count as 500 characters.
    assert "ferry of day 16" in parsed.markdown
    assert parsed.warnings == (
        "Pages 17 to 60 of 60 are not read yet: read them by `pages` of `read_doc`, such as 17-32.",
    )


def test_missing_page_is_refused_with_the_number_of_pages() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="no page 9: the document has 2 pages"):
        parse(drawn_pdf([text_at(60, 60, "One")], [text_at(60, 60, "Two")]), pages=(9,))
