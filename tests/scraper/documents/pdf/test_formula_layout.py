"""Formulas of PDF pages are written as LaTeX by the positions of their parts."""

from __future__ import annotations

import pytest

from tests.scraper.documents.builders import drawn_pdf, line, parse, text_at

PROSE = [
    text_at(60, 100 + 14 * at, "The law of the harbor states how the tide of every month follows the moon.")
    for at in range(4)
]


def body(*drawing: str) -> str:
    """Return the Markdown of a page below its prose, in which F2 and F3 are fonts for formulas."""
    pdf = drawn_pdf([*PROSE, *drawing]).replace(b"/BaseFont /Courier", b"/BaseFont /STIXGeneral-Italic")
    pdf = pdf.replace(b"/BaseFont /Helvetica-Bold", b"/BaseFont /STIXGeneral")
    return parse(pdf).markdown.rpartition("follows the moon.")[2].strip()


def math_at(x: float, y: float, text: str, size: float = 10) -> str:
    return text_at(x, y, text, size, "F3" if text[0].isalpha() else "F2")


def test_powers_are_read_in_their_formula() -> None:
    drawing = (math_at(60, 200, "a", 14), math_at(68.5, 193, "2", 9), math_at(78, 200, "= 9", 14))
    assert body(*drawing) == "$a^{2}=9$", "no heading, though it is large"


def test_parts_above_and_below_a_bar_are_a_fraction() -> None:
    drawing = (math_at(72, 200, "v ="), math_at(92, 192, "s + d"), line(91, 197, 117, 197), math_at(102, 208, "t"))
    assert body(*drawing) == r"$v=\frac{s+d}{t}$"


def test_fraction_within_a_sentence_stays_in_its_line() -> None:
    drawing = (text_at(60, 200, "The speed is"), math_at(122, 194, "s"), line(121, 197, 129, 197),
               math_at(122, 207, "t"), text_at(133, 200, "in knots."))  # fmt: skip
    assert body(*drawing) == r"The speed is $\frac{s}{t}$ in knots."


@pytest.mark.parametrize(
    ("number", "written"),
    [("6", "10\u2076"), ("-12", "10\u207b\u00b9\u00b2"), ("1,2", "10\u00b9,\u00b2"), ("th", "10th")],
)
def test_raised_number_becomes_a_superscript(number: str, written: str) -> None:
    drawing = (
        text_at(60, 200, "Nearly 10"),
        text_at(101.4, 196, number, 6),
        text_at(120, 200, "of 106 ships came in."),
    )
    assert body(*drawing) == f"Nearly {written} of 106 ships came in."


def test_small_number_on_the_line_is_no_superscript() -> None:
    assert body(text_at(60, 200, "Nearly 10"), text_at(101.4, 200, "6", 6)) == "Nearly 106"


def test_words_in_a_font_for_formulas_stay_words() -> None:
    assert body(math_at(60, 200, "Theorem of Green", 14), math_at(171.5, 193, "2", 9)).endswith("Theorem of Green2")
