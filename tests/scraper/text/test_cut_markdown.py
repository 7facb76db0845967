from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scraper.errors import InvalidArgumentError
from scraper.text.markdown_structure import KEEP_WHOLE, TextCut, cut_markdown

PARAGRAPH = "One sentence stands here. Another one follows it, and it is a little longer. The last."
CODE = "```python\n" + "\n".join(f"line_{number} = {number}" for number in range(20)) + "\n\nend = 1\n```"
TABLE = "| a | b |\n| --- | --- |\n" + "\n".join(f"| row {number} | value |" for number in range(30))


def walk(markdown: str, length: int) -> list[TextCut]:
    pieces = [cut_markdown(markdown, 0, length)]
    while pieces[-1].next_start is not None:
        pieces.append(cut_markdown(markdown, pieces[-1].next_start, length))
    return pieces


def fence_lines(text: str) -> int:
    return sum(line.lstrip(" >").startswith("```") for line in text.split("\n"))


BLOCKS = st.one_of(
    st.just(PARAGRAPH),
    st.just(CODE),
    st.just(TABLE),
    st.just("## A heading"),
    st.just("- one\n- two\n\n  ```js\n  let a\n\n  let b\n  ```\n- three"),
    st.just("> quoted\n> \n> ```\n> code\n> ```"),
    st.just("漢字仮名交じり文。" * 40),
    st.text(max_size=80),
    st.text(alphabet="ab`~|# \n", max_size=60),
)


@given(st.lists(BLOCKS, max_size=12).map("\n\n".join), st.integers(10, 1_500))
@example("x" * 50, 7)
@example("```\n" + "y\n" * 200, 30)
@example("| " + "z" * 500 + " |\n" * 3, 40)
def test_pieces_join_to_the_whole_without_gap_or_overlap(markdown: str, length: int) -> None:
    pieces = walk(markdown, length)
    assert "".join(piece.text for piece in pieces) == markdown
    at = 0
    for piece in pieces:
        assert (piece.start, piece.total) == (at, len(markdown))
        assert piece.text == markdown[piece.start : piece.end]
        at = piece.end
    assert at == len(markdown)


@given(st.lists(BLOCKS, max_size=12).map("\n\n".join), st.integers(10, 1_500))
def test_without_permission_no_piece_exceeds_the_length(markdown: str, length: int) -> None:
    start = 0
    while start < len(markdown):
        piece = cut_markdown(markdown, start, length, keep_whole=0)
        assert 0 < len(piece.text) <= length
        start = piece.end


@given(
    st.lists(st.sampled_from([PARAGRAPH, CODE, TABLE, "## A heading"]), min_size=1, max_size=10).map("\n\n".join),
    st.integers(100, 1_500),
)
def test_no_cut_goes_through_a_block_of_code_or_a_row(markdown: str, length: int) -> None:
    for piece in walk(markdown, length):
        assert piece.after == ""
        assert fence_lines(piece.text) % 2 == 0
        for line in piece.text.strip("\n").split("\n"):
            assert not line.startswith("|") or line.endswith("|")


def test_a_piece_ends_where_a_paragraph_ends() -> None:
    markdown = "\n\n".join([PARAGRAPH] * 10)
    for piece in walk(markdown, 200):
        assert piece.shown.rstrip("\n") == "\n\n".join([PARAGRAPH] * 2)


def test_a_heading_stays_with_what_follows() -> None:
    markdown = f"{PARAGRAPH}\n\n## Heading\n\n{PARAGRAPH}"
    first = cut_markdown(markdown, 0, len(PARAGRAPH) + 20)
    assert first.shown == f"{PARAGRAPH}\n\n"
    assert cut_markdown(markdown, first.end, None).shown.startswith("## Heading")


def test_a_block_of_code_longer_than_all_limits_is_cut_between_lines_and_fenced_on_both_sides() -> None:
    lines = [f"value_{number} = {number}" for number in range(1_000)]
    markdown = "Before.\n\n```python\n" + "\n".join(lines) + "\n```\n\nAfter."
    pieces = walk(markdown, KEEP_WHOLE // 3)
    seen: list[str] = []
    for piece in pieces:
        assert fence_lines(piece.shown) in (0, 2)
        seen += [line for line in piece.shown.split("\n") if line.startswith("value_")]
    assert seen == lines
    assert len(pieces) > 5


def test_a_long_block_in_a_list_is_fenced_again_at_its_indent() -> None:
    code = "\n".join(f"  row {number}" for number in range(2_000))
    piece = cut_markdown(f"- ```sh\n{code}\n  ```", 10_000, 5_000)
    assert piece.before == "  ```sh\n"
    assert piece.after == "  ```"


def test_rows_of_a_long_table_follow_its_head_on_every_piece() -> None:
    table = "| a | b |\n| --- | --- |\n" + "\n".join(f"| {number} | x |" for number in range(500))
    for piece in walk(table, 1_000):
        assert piece.shown.startswith("| a | b |\n| --- | --- |\n")


def test_a_row_longer_than_the_length_stays_whole() -> None:
    row = f"| {'word ' * 100}|"
    markdown = f"{PARAGRAPH}\n\n| a |\n| --- |\n{row}\n{row}"
    pieces = walk(markdown, 120)
    assert sum(row in piece.text for piece in pieces) == 2


def test_a_long_line_ends_with_a_sentence_or_at_least_a_word() -> None:
    assert cut_markdown("First sentence. " * 100, 0, 100).text.endswith("sentence. ")
    assert cut_markdown("word " * 100, 0, 99).text.endswith("word ")
    assert cut_markdown("漢字。" * 100, 0, 100).text.endswith("。")
    assert len(cut_markdown("x" * 1_000, 0, 100).text) == 100


@pytest.mark.parametrize(("start", "clamped"), [(-5, 0), (0, 0), (50, 50), (10_000, len(PARAGRAPH))])
def test_a_start_outside_of_the_text_moves_to_its_end(start: int, clamped: int) -> None:
    piece = cut_markdown(PARAGRAPH, start, None)
    assert piece.start == clamped
    assert piece.text == PARAGRAPH[clamped:]
    assert piece.next_start is None


def test_length_zero_gives_nothing_and_a_negative_one_is_refused() -> None:
    assert cut_markdown(PARAGRAPH, 3, 0).text == ""
    with pytest.raises(InvalidArgumentError, match="must not be negative"):
        cut_markdown(PARAGRAPH, 0, -1)


def test_an_unclosed_block_of_code_does_not_hang_or_lose_text() -> None:
    markdown = "```\n" + "x\n" * 20_000
    assert "".join(piece.text for piece in walk(markdown, 5_000)) == markdown


FORMULA = "$$\n\\begin{aligned}\na &= b \\\\\n\nc &= d\n\\end{aligned}\n$$"


@pytest.mark.parametrize("length", range(90, 170, 7))
def test_no_cut_goes_through_a_displayed_formula(length: int) -> None:
    markdown = f"{PARAGRAPH}\n\n{FORMULA}\n\n{PARAGRAPH}"
    assert sum(FORMULA in piece.text for piece in walk(markdown, length)) == 1


def test_two_dollars_that_close_nowhere_are_text() -> None:
    markdown = "$$\n\n" + f"{PARAGRAPH}\n\n" * 200
    assert all(piece.shown.count("$$") == (piece.start == 0) for piece in walk(markdown, 1_000))
