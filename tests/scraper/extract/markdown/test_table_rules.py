"""Data tables become Markdown tables; tables for layout, code and numbered lists become plain blocks."""

from __future__ import annotations

import pytest

from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.conversion import markdown_of
from tests.scraper.soon import soon


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<table><tr><td>a<td>b</tr><tr><td>c<td>d</tr></table>", "| a | b |\n| --- | --- |\n| c | d |"),
        (
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td></tr></tbody>"
            "<tfoot><tr><td>2</td><td>3</td></tr></tfoot></table>",
            "| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | 3 |",
        ),
        (
            "<table><tr><th colspan=2>a</tr><tr><td>1<td><ul><li>x<li>y</ul></tr></table>",
            "| a |  |\n| --- | --- |\n| 1 | - x - y |",
        ),
        (
            "<table><tr><th>a<th>b</tr><tr><td><a href=/l>l</a><td><img src=/i.png alt=I></tr></table>",
            "| a | b |\n| --- | --- |\n| [l](https://example.com/l) | ![I](https://example.com/i.png) |",
        ),
        ("<table><tr><td></td><td> </td></tr></table>", ""),
        (
            "<table><tr><td>a<td>b</tr><tr><td colspan=2>&nbsp;</tr><tr><td>c<td>d</tr></table>",
            "| a | b |\n| --- | --- |\n| c | d |",
        ),
        (
            "<table><thead><tr><th>Name<th>What<tbody><tr><td>a<td>Options.<table><tr><th>Name<th>Type"
            "<tr><td>b<td>c|d<tr><td>e<td>f</table></table>",
            "| Name | What |\n| --- | --- |\n| a | Options. Name Type; b c\\|d; e f |",
        ),
    ],
)
def test_tables_of_values(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<table role=presentation><tr><td>a</td><td>b</td></tr></table>", "a\n\nb"),
        (
            "<table><tr><td>Case<td>12<tr><td>Party<td><table><tr><td>A<td>B<tr><td>C<td>D</table></table>",
            "Case 12\n\nParty\n\n| A | B |\n| --- | --- |\n| C | D |",
        ),
        ("<table><tr><td><p>a</p></td></tr></table>", "a"),
        ("<table><tr><td><h2>t</h2><p>a</p></td><td>b</td></tr></table>", "## t\n\na\n\nb"),
        ("<table><tr><td>nav</td><td><ul><li>a</li></ul></td></tr></table>", "nav\n\n- a"),
        (
            "<table><tr><td>x</td><td><table><tr><th>h</tr><tr><td>1</tr></table></td></tr></table>",
            "x\n\n| h |\n| --- |\n| 1 |",
        ),
        ("<table><tr><td>4</td><td></td></tr><tr><td></td><td></td></tr></table>", "4"),
    ],
)
def test_layout_tables_become_blocks(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_a_nested_table_with_a_short_value_is_not_layout() -> None:
    score = "<table><tr><td>{}</td><td></td></tr></table>"
    rows = "".join(f"<tr><td>{score.format(n)}</td><td>comment {n}</td></tr>" for n in (4, 17))
    assert markdown_of(f"<table>{rows}</table>") == "| 4 | comment 4 |\n| --- | --- |\n| 17 | comment 17 |"


def test_content_outside_of_cells_is_kept() -> None:
    inner = "<table><tr><td>b</td></tr></table>"
    assert markdown_of(f"<table><caption>Cap</caption><tr><td>a{inner}</td></tr></table>") == "Cap\n\na\n\nb"


def test_code_with_one_row_per_line_is_one_block() -> None:
    row = "<tr><td class=blob-num data-line-number={0}></td><td class=blob-code>line {0}</td></tr>"
    html = "<table class='highlight'>" + "".join(row.format(number) for number in (1, 2)) + "</table>"
    assert markdown_of(html) == "```\nline 1\nline 2\n```"


def test_a_heading_below_a_header_row_stays_a_row() -> None:
    html = "<table><tr><th>a<th>b<tr><td>1<td>2<tr><td colspan=2><h3>x</h3><tr><td>3<td>4</table>"
    assert markdown_of(html) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| x |  |\n| 3 | 4 |"


def test_the_title_of_code_with_line_numbers_is_kept() -> None:
    html = (
        "<table class=highlighttable><tr><th colspan=2><span class=filename>a.py</span></th></tr>"
        "<tr><td class=linenos><pre>1</pre></td><td><pre>x = 1</pre></td></tr></table>"
    )
    assert markdown_of(html) == "a.py\n\n```\nx = 1\n```"


def test_one_row_of_values_stays_a_table() -> None:
    assert markdown_of("<table><tr><td>a</td><td>b</td></tr></table>") == "| a | b |\n| --- | --- |"


def test_a_numbered_table_with_several_rows_per_item_is_a_list() -> None:
    item = (
        "<tr><td>{0}.</td><td></td><td><a href='/{0}'>Title {0}</a></td></tr><tr><td></td><td></td><td>by me</td></tr>"
    )
    html = "<table>" + "".join(item.format(number) for number in (1, 2, 3)) + "</table>"
    assert markdown_of(html).split("\n")[:3] == [
        "1. [Title 1](https://example.com/1)  ",
        "   by me",
        "2. [Title 2](https://example.com/2)  ",
    ]


def test_a_numbered_table_of_values_stays_a_table() -> None:
    html = "<table>" + "".join(f"<tr><td>{n}.</td><td>name</td><td>9</td></tr>" for n in (1, 2, 3)) + "</table>"
    assert markdown_of(html).startswith("| 1. | name | 9 |\n| --- |")


def test_a_cell_that_spans_rows_is_repeated_in_each() -> None:
    html = "<table><tr><th>Name<th>Party<tr><td>Moe<td rowspan=2>Labour<tr><td>Holt</table>"
    assert markdown_of(html).endswith("| Moe | Labour |\n| Holt | Labour |")


def test_column_spans_are_limited() -> None:
    html = "<table>" + "<tr><td colspan=1000 rowspan=1000>x<td>y</tr>" * 50 + "</table>"
    assert len(markdown_of(html)) < 50_000


def test_a_row_with_one_readable_cell_is_layout() -> None:
    html = "<table><tr><td><img src=s.gif width=40></td><td></td><td><p>A reply.</p><p>Its end.</p></table>"
    assert markdown_of(html) == "A reply.\n\nIts end."
    described = html.replace("s.gif", "/s.gif alt=Face")
    assert markdown_of(described).startswith("| ![Face]")


def test_a_nested_table_with_long_text_is_layout() -> None:
    inner = f"<table><tr><td>{'words ' * 20}</td></tr></table>"
    assert "|" not in markdown_of(f"<table><tr><td>a</td><td>{inner}</td></tr><tr><td>b</td><td>c</td></tr></table>")


def test_one_column_with_prose_is_layout() -> None:
    html = f"<table><tr><td>Head</td></tr><tr><td>{'words ' * 80}</td></tr></table>"
    assert "|" not in markdown_of(html)
    assert "|" in markdown_of("<table><tr><td>Head</td></tr><tr><td>short</td></tr></table>")


def test_non_breaking_spaces_in_a_cell_take_linear_time() -> None:
    with soon():
        table = markdown_of(f"<table><tr><td>a{chr(0xA0) * 100_000}b<td>c</tr><tr><td>1<td>2</tr></table>")
    assert table.endswith("b | c |\n| --- | --- |\n| 1 | 2 |")


def wide_table(row: str, size: int) -> str:
    return f"<table><tr>{'<th>a' * size}</tr>{row * size}</table>"


@hostile_inputs(
    {
        "tables": (4_000, lambda n: wide_table("<tr><td><table><tr><th>a<th>b</table>", n)),
        "headings": (4_000, lambda n: wide_table("<tr><td><h3>a</h3>", n)),
    }
)
def test_a_wide_header_is_examined_once(hostile: Hostile[str]) -> None:
    hostile.run(markdown_of, limit_s=2)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<table><tr><td><p>(a)</p><td><p>one</p><p>two</p></table>", "- (a) one\n\n  two"),
        ("<table><tr><td>1.<td>one<tr><td>2.<td>two</table>", "- 1\\. one\n- 2\\. two"),
        ("<table><tr><td>(b)<td>one<table><tr><td>(i)<td>two</table></table>", "- (b) one\n\n  - (i) two"),
        ("<table><tr><td>—<td>one</table>", "- — one"),
    ],
)
def test_rows_of_a_marker_and_a_text_are_items(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_other_rows_that_begin_with_a_number_stay_a_table() -> None:
    assert markdown_of("<table><tr><td>(1)<td>one<td>two</table>").startswith("| (1)")
