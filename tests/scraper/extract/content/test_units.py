from __future__ import annotations

import numpy as np
import pytest

from scraper.extract.content import units
from tests.scraper.extract.content.test_section_rules import LIST, TEXT, TYPES, build, kept


def _texts_of_units(html: str) -> list[list[str]]:
    page = build(html)
    return [page.texts[start:end] for start, end in units.find_units(page)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", [["d", "e"], ["a", "b", "c"], ["a", "b", "c", "d", "e"]]),
        ("<dl><dt>a<dt>b<dd>c<dt>d<dd>e</dl>", [["a", "b", "c"], ["d", "e"], ["a", "b", "c", "d", "e"]]),
        (
            "<dl><div><dt>a</dt><dd>b</dd></div><div><dt>c</dt><dd>d</dd></div></dl>",
            [["c", "d"], ["a", "b"], ["a", "b", "c", "d"]],
        ),
        ("<blockquote><p>a</p><footer>b</footer></blockquote>", [["a", "b"]]),
        ("<figure><div>a</div><figcaption>b</figcaption></figure>", [["a", "b"]]),
        ("<details open><summary>a</summary><p>b</p></details>", [["a", "b"]]),
        ("<div class='box note'><p>a</p><p>b</p></div><div class=notebook><p>c</p><p>d</p></div>", [["a", "b"]]),
        (f"<blockquote>{'<p>a</p>' * 30}</blockquote>", []),
    ],
)
def test_parts_that_stand_together_are_a_unit(html: str, expected: list[list[str]]) -> None:
    assert sorted(_texts_of_units(html)) == sorted(expected)


def test_the_blocks_of_a_unit_share_one_probability() -> None:
    page = build("<dl><dt>Speed<dd>fourteen knots at most</dl><p>other</p>")
    found = units.find_units(page)
    pooled = units.pool(page, np.array([0.1, 0.7, 0.4]), found)
    assert pooled[0] == pooled[1] == pytest.approx((0.1 * 2 + 0.7 * 5) / 7) and pooled[2] == 0.4


_ROWS = "".join(f"<div class=row><div>{label}</div><div>{value}</div></div>" for label, value in ("ab", "cd", "ef"))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (_ROWS, ["a b", "c d", "e f"]),
        (
            "<ol><li><b>1931</b><div>Launch</div><p>in spring</p><li><b>1991</b><div>End</div></ol>",
            ["1931 Launch in spring", "1991 End"],
        ),
        ("<div class=x><p>one</p><p>two</p></div>", []),
        (_ROWS.replace(">b<", ">more<").replace(">d<", ">more<"), []),
        (_ROWS.replace("<div>b", "<div><a href=x>a link</a>").replace("<div>d", "<div><a href=y>another</a>"), []),
    ],
)
def test_a_label_and_its_value_are_a_row_if_a_like_one_is_beside_it(html: str, expected: list[str]) -> None:
    page = build(html)
    assert [" ".join(page.texts[start:end]) for start, end in units.find_rows(page)] == expected


@pytest.mark.parametrize(
    ("selected", "p", "expected"),
    [("100000", 0.5, "110000"), ("010011", 0.5, "111111"), ("010000", 0.01, "000000"), ("110000", 0.01, "110000")],
)
def test_rows_are_selected_whole_and_without_gaps(selected: str, p: float, expected: str) -> None:
    page = build(_ROWS)
    chosen = np.array([sign == "1" for sign in selected])
    rows = units.find_rows(page)
    closed = units.close(chosen, np.full(page.n, p), rows, rows)
    assert "".join(map(str, closed.astype(int))) == expected


@pytest.mark.parametrize(
    ("html", "selected", "torn"),
    [
        (_ROWS, "110000", 0),
        (_ROWS, "100010", 2),
        ("<dl><dt>Speed<dd>14</dl>", "10", 1),
        ("<dl><dt>Speed<dd><a href=x>14</a></dl>", "00", 0),
        ("<figure><a href=x>Enlarge</a><figcaption>Quay</figcaption></figure>", "01", 0),
        ("<table><tr><td>Speed<td>14<tr><td>Length<td>30</table>", "1101", 1),
        ("<div>They left the quay<p>x</p>in the morning at six</div>", "001", 0),
        ("<div>They left the quay<br><br>in the morning at six</div>", "01", 1),
        ("<div>They left the quay.<br><br>in the morning at six</div>", "01", 0),
    ],
)
def test_what_is_selected_in_part_is_counted(html: str, selected: str, torn: int) -> None:
    chosen = np.array([sign == "1" for sign in selected])
    page = build(html)
    page.rows, page.units = units.find_rows(page), units.find_units(page)
    assert units.count_torn(page, chosen, TYPES) == torn
    assert units.count_torn(page, chosen, TYPES | {"forum": 0.9}) == 0


@pytest.mark.parametrize(
    ("middle", "types", "figures", "expected"),
    [
        ("<p>a sibling</p>", TYPES, False, True),
        ("<pre>a = 1</pre>", TYPES, False, True),
        ("<dl><dt>Speed<dd>14</dl>", TYPES, False, True),
        ("<p>a sibling</p>", LIST, False, False),
        ("<p><a href=x>a link to another page</a></p>", TYPES, False, False),
        ("<div class='ad-slot'><p>a word</p></div>", TYPES, False, False),
        ("<div class='share-bar'><p>a word</p></div>", TYPES, False, False),
        ("<aside><p>a word</p></aside>", TYPES, False, False),
        ("<figure><img src=a.png><figcaption>a harbor</figcaption></figure>", TYPES, False, False),
        ("<figure><img src=a.png><figcaption>a harbor</figcaption></figure>", TYPES, True, True),
        (f"<p>{'long ' * 300}</p>", TYPES, False, False),
        ("<div><div><pre>a = 1</pre></div><div><div><pre>1</pre></div></div></div>", TYPES, True, True),
        ("<p>Article</p>" * 9, TYPES, False, False),
    ],
)
def test_what_stands_between_two_selected_siblings_is_selected(
    middle: str, types: dict[str, float], *, figures: bool, expected: bool
) -> None:
    page = build(f"<p>{TEXT}</p>{middle}<p>{TEXT}</p>")
    assert units.fill(page, kept(page), np.zeros(page.n), types, figures=figures)[1:-1].all() == expected


def test_nothing_is_selected_between_parts_of_other_sections() -> None:
    part = f"<p>{TEXT}</p>"
    page = build(f"<div><div>{2 * part}</div></div><p>between</p><div><div>{2 * part}</div></div>")
    assert not units.fill(page, kept(page), np.zeros(page.n), TYPES)[2]


def test_likely_links_between_siblings_are_selected_only_with_figures() -> None:
    page = build(f"<p>{TEXT}</p><ul><li><a href=x>Plans</a></ul><p>{TEXT}</p>")
    likely = np.full(page.n, 0.4)
    assert units.fill(page, kept(page), likely, TYPES, figures=True).all()
    assert not units.fill(page, kept(page), likely, TYPES)[1]


def test_a_fact_box_in_an_article_is_kept_and_one_beside_it_is_not() -> None:
    box = "<aside class=facts><h3>Facts</h3><ul><li>Cost: four million<li>Start: March</ul></aside>"
    page = build(f"<article><p>{_LONG}</p>{box}</article>{box}")
    chosen = np.array([text.startswith("The ferry") for text in page.texts])
    assert units.fill(page, chosen, np.zeros(page.n), TYPES, figures=True).tolist() == [True] * 4 + [False] * 3


_LONG = "The ferry crosses the river once in each hour of the day, and it waits for all who stand at the mole. " * 2


@pytest.mark.parametrize(
    ("part", "is_kept"),
    [
        ("<figure><img src=a.png><figcaption>a harbor</figcaption></figure>", True),
        ("<dl><dt>Kind<dd>loan<dt>Region<dd>north</dl>", True),
        ("<dl><dt>Kind</dl>", False),
        ("<aside><figure><figcaption>a harbor</figcaption></figure></aside>", False),
        ("<div class=related-posts><figure><figcaption>a harbor</figcaption></figure></div>", False),
        ("<dl><dt>Kind<dd><a href=x>another loan</a><dt><a href=y>Region</a><dd>north</dl>", False),
    ],
)
def test_figures_and_terms_between_title_and_content_are_kept(part: str, is_kept: bool) -> None:
    page = build(f"<header><h1>A title</h1><div>{part}</div></header><div><p>{_LONG}</p></div>")
    chosen = np.array([text.startswith("The ferry") for text in page.texts])
    found = units.fill(page, chosen, np.zeros(page.n), TYPES, figures=True)
    assert found[1:-1].all() == is_kept and found[1:-1].any() == is_kept
