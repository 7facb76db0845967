"""A text is split into self-contained chunks, and nothing of it is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.text.token_estimate import estimate
from scraper.retrieval.chunks import TARGET_BYTES, split_chunks

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
    units = split_chunks(markdown)
    assert squeezed("".join(markdown[unit.start : unit.end] for unit in units)) == squeezed(markdown)
    assert all(one.end <= other.start for one, other in pairwise(units))


@given(st.lists(BLOCKS, max_size=8).map("\n\n".join))
def test_no_piece_is_much_larger_than_the_others(markdown: str) -> None:
    assert all(len(markdown[unit.start : unit.end].encode()) <= 5 * TARGET_BYTES for unit in split_chunks(markdown))


def test_a_piece_knows_the_headings_above_it_but_not_its_own() -> None:
    headings = {MARKDOWN[unit.start : unit.end].split("\n")[0]: unit.headings for unit in split_chunks(MARKDOWN)}
    assert headings["# Report"] == ()
    assert headings["## Part one"] == ("Report",)
    assert headings["## Part two"] == ("Report",)
    later = [unit.headings for unit in split_chunks(MARKDOWN) if "return 42" in MARKDOWN[unit.start : unit.end]]
    assert later == [("Report", "Part one")]


def test_heading_is_in_the_chunk_of_the_text_below_it() -> None:
    assert all(not MARKDOWN[unit.start : unit.end].split("\n")[-1].startswith("#") for unit in split_chunks(MARKDOWN))


def test_short_code_is_not_divided() -> None:
    pieces = [MARKDOWN[unit.start : unit.end] for unit in split_chunks(MARKDOWN)]
    assert sum("```python\ndef answer():\n\n    return 42\n```" in piece for piece in pieces) == 1


def test_a_text_without_spaces_is_divided_at_its_full_stops() -> None:
    markdown = "港湾局は正午前に出航するすべてのフェリーを数えます。" * 60
    pieces = [markdown[unit.start : unit.end] for unit in split_chunks(markdown)]
    assert len(pieces) > 5 and all(piece.endswith("。") for piece in pieces)


def test_a_text_without_full_stops_is_divided_where_its_phrases_end() -> None:
    phrase = "เรือข้ามฟากออกจากท่าทุกวันยกเว้นวันที่มีพายุ"
    pieces = split_chunks(" ".join([phrase] * 30))
    assert len(pieces) > 5
    text = " ".join([phrase] * 30)
    assert all(text[unit.start : unit.end].strip().startswith("เรือ") for unit in pieces)


def test_pieces_cost_about_the_same_in_every_script() -> None:
    texts = ("The ferry leaves at noon. " * 100, "渡船每天中午離開港口。" * 100, "フェリーは正午に出航します。" * 100)
    costs = [estimate(text[unit.start : unit.end]) for text in texts for unit in split_chunks(text)[:-1]]
    assert max(costs) < 1.3 * min(costs)


def test_code_is_measured_as_text_is() -> None:
    code = "```\n" + "// 渡船每天中午離開港口。\n" * 90 + "```"
    assert len(code) < 1_500 < len(code.encode())
    assert len(split_chunks(code)) > 1
