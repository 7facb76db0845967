"""A text is split into sentences, items, rows and blocks of code, and nothing of it is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.retrieval.sentences import MAX_CHARACTERS, split_sentences

SENTENCE = "The harbour office counts every ferry that leaves before noon. "
MARKDOWN = f"""# Report

{SENTENCE * 3}

## Part one

{SENTENCE * 30}

```python
def answer():

    return 42
```

| Name | Value |
| --- | --- |
| a | 1 |
| b | 2 |

## Part two

- one
- two
"""

BLOCKS = st.sampled_from(
    [
        "# One",
        "## Two",
        SENTENCE.strip(),
        SENTENCE * 20,
        "- a\n- b",
        "```\nx\n\ny\n```",
        "| a |\n| - |\n| 1 |",
        "漢字" * 200,
        "w" * 3000,
        "~~~\nopen",
    ]
)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(st.lists(BLOCKS, max_size=8).map("\n\n".join))
def test_the_pieces_hold_all_of_the_text_in_order(markdown: str) -> None:
    units = split_sentences(markdown)
    assert squeezed("".join(markdown[unit.start : unit.end] for unit in units)) == squeezed(markdown)
    assert all(one.end <= other.start for one, other in pairwise(units))


def texts_of(markdown: str) -> list[str]:
    return [markdown[unit.text_start : unit.end].strip() for unit in split_sentences(markdown)]


@pytest.mark.parametrize(
    ("markdown", "units"),
    [
        ("It was Dr. Smith of the U.S. who came. He left at noon with the others.", 2),
        ("Das gilt z.B. für Fahrräder und Hunde. Der Fahrplan gilt nur im Winter.", 2),
        ("港湾局は正午前に出航するすべてのフェリーを数えます。冬の間は自転車を無料で運びます。", 2),
        ("เรือข้ามฟากออกจากท่าทุกวัน ยกเว้นวันที่มีพายุแรงมาก", 2),
        ("The office counts every ferry that leaves\nbefore noon on a Sunday.", 1),
        ("- first item of the list\n- second item of the list", 2),
        ("| Name | Value |\n| --- | --- |\n| a | 1 |\n| b | 2 |", 2),
        ("| Name | Value |\n| --- | --- |", 1),
        ("```python\ndef answer():\n\n    return 42. And more.\n```", 1),
        ("Yes. No. The ferry carries bicycles.", 1),
        ("word " * 300, 3),
        ("", 0),
    ],
)
def test_units_are_sentences_items_rows_and_blocks(markdown: str, units: int) -> None:
    assert len(texts_of(markdown)) == units


@given(st.lists(BLOCKS, max_size=8).map("\n\n".join))
def test_no_unit_is_much_longer_than_the_others(markdown: str) -> None:
    assert all(unit.end - unit.text_start <= 3 * MAX_CHARACTERS for unit in split_sentences(markdown))


def test_a_heading_belongs_to_the_unit_below_it() -> None:
    units = split_sentences(MARKDOWN)
    (first,) = (unit for unit in units if MARKDOWN[unit.start :].startswith("## Part one"))
    assert MARKDOWN[first.text_start : first.end].strip() == SENTENCE.strip()
    assert first.headings == ("Report", "Part one") and first.outer_headings == ("Report",)
    (code,) = (unit for unit in units if "return 42" in MARKDOWN[unit.start : unit.end])
    assert code.headings == code.outer_headings == ("Report", "Part one")


def test_long_code_is_divided_between_its_lines() -> None:
    code = "```\n" + "print('line of code')\n" * 200 + "```"
    assert all(text.startswith(("print", "```")) for text in texts_of(code))
    assert len(texts_of(code)) > 3
