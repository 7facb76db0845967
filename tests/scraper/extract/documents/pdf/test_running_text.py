"""Columns of running text whose lines are beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from tests.scraper.extract.documents.builders import drawn_pdf, parse, text_at

_WIDTHS = {"i": 222, "j": 222, "l": 222, "f": 278, "t": 278, " ": 278, ".": 278, "r": 333, "w": 722, "m": 833}
"""Widths of Helvetica in thousandths; most letters have 556, and c, k, s, v, x, y, z 500."""
NARROW = (
    "The ferry leaves the northern harbor at seven. The council of the town has signed the new table of prices, which "
    "is valid until the end of the year."
)
WIDE = (
    "Questions about the delivery of goods are answered in the office every morning. The temperature of the water is "
    "measured twice a day. The members of the committee meet in the town hall, and all who live near the harbor are "
    "invited to their meetings. Invoices that are paid late cost more than those that are paid within the first month."
)


def wrap(text: str, width: float) -> list[str]:
    """Return the lines of a text in Helvetica of 10 points."""
    lines = [""]
    for word in text.split():
        line = f"{lines[-1]} {word}".strip()
        if sum(_WIDTHS.get(letter, 500 if letter in "cksvxyz" else 556) for letter in line) / 100 > width:
            lines.append(word)
        else:
            lines[-1] = line
    return lines


def column(x: float, lines: Sequence[str], step: float = 12) -> list[str]:
    return [text_at(x, 100 + step * at, line) for at, line in enumerate(lines)]


def test_columns_of_unequal_width_are_read_one_after_the_other() -> None:
    drawn = [*column(60, wrap(NARROW, 72)), *column(150, wrap(WIDE, 130))]
    assert parse(drawn_pdf(drawn)).markdown == f"<!-- page 1 -->\n\n{NARROW}\n\n{WIDE}"


def test_rows_of_short_texts_are_a_table() -> None:
    names = ("north", "south", "west pier", "old harbor", "new harbor", "island", "far island")
    texts = (
        "open all day.",
        "closed on sundays.",
        "no ferries in march.",
        "open.",
        "for goods.",
        "by boat.",
        "closed.",
    )
    markdown = parse(drawn_pdf([*column(60, names, 14), *column(170, texts, 14)])).markdown
    assert "| west pier | no ferries in march. |" in markdown
