from __future__ import annotations

import pytest

from browsers.model import Snapshot
from scraper.extract.markdown import converter
from scraper.html.page import page_tree
from tests.growth import assert_linear

URL = "https://example.com/"


def _markdown_of(html: str) -> str:
    page = page_tree.build_page_tree(Snapshot(URL, URL, 200, media_type="text/html", html=html))
    return converter.convert(page.body, URL).markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Show your <button>boarding card</button> first.</p>", "Show your boarding card first."),
        ("<p>The <st1:place><st1:city>ferry</st1:city></st1:place> goes.</p>", "The ferry goes."),
        ("<p>Dear <bdt>Mr. <bdt>Krug</bdt></bdt>, hello</p>", "Dear Mr. Krug, hello"),
        ("<div>Thanks <div style='display: inline-flex'>@joe</div> for it</div>", "Thanks @joe for it"),
        ("<div>See <a href=/t><div>the <b>table</b></div></a> first.</div>", f"See [the **table**]({URL}t) first."),
        ("<my-card><p>x</p></my-card><p>y</p>", "x\n\ny"),
        ("<my-a>one</my-a><my-b>two</my-b>", "one\n\ntwo"),
        ("<p>Text</p><button>Share</button>", "Text"),
        ("<p>Thanks to <a href=/a><div></div><div>@ana</div></a> for it</p>", f"Thanks to [@ana]({URL}a) for it"),
        (
            "<div>It is in <address style='display: inline'>Kirkegade 4</address> today</div>",
            "It is in Kirkegade 4 today",
        ),
        ("<p><span style='display:block'>Row</span><span style='display:block'>home</span></p>", "Row\n\nhome"),
        ("<p>a <span style='display: block'>b</span> c</p>", "a b c"),
    ],
)
def test_an_element_amid_text_is_a_part_of_the_line(html: str, expected: str) -> None:
    assert _markdown_of(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><strike>9</strike> 7</p>", "~~9~~ 7"),
        ("<p><span style='color: red; text-decoration: line-through'>9</span> 7</p>", "~~9~~ 7"),
        ("<style>.old{text-decoration:line-through}</style><p><b class=old>9</b> 7</p>", "~~9~~ 7"),
        ("<style>span.old, .was {text-decoration-line: line-through}</style><p><i class=was>9</i> 7</p>", "~~9~~ 7"),
        ("<p data-x-text=struck>9</p><p>7</p>", "~~9~~\n\n7"),
        ("<p><b class='price price--was'>9</b> <i class=old-price>8</i> <i class=price>7</i></p>", "~~9~~ ~~8~~ *7*"),
        ("<style>.x{display:block;text-decoration:line-through}</style><p><b class=x>9</b> 7</p>", "~~9~~ 7"),
        ("<style>@media print {.old{text-decoration:line-through}}</style><p><b class=old>9</b> 7</p>", "**9** 7"),
    ],
)
def test_struck_text_is_marked(html: str, expected: str) -> None:
    assert _markdown_of(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div style='white-space: pre-line'>one\ntwo</div>", "one  \ntwo"),
        ("<div data-x-text=lines>one\n\ntwo</div>", "one\n\ntwo"),
        ("<style>.job{white-space:pre-wrap}</style><p class=job>one\n<b>two</b>\nthree</p>", "one  \n**two**  \nthree"),
        ("<p style='white-space: nowrap'>one\ntwo</p>", "one two"),
        ("<p style='white-space: pre-wrap'>one\n  two</p>", "one  \n\xa0\xa0two"),
        ("<p data-x-text=spaces>one\n  two</p>", "one  \n\xa0\xa0two"),
        ("<p style='white-space: pre-line'>one\n  two</p>", "one  \ntwo"),
        ("<pre style='white-space: pre-wrap'>a\nb</pre>", "```\na\nb\n```"),
    ],
)
def test_kept_lines_stay_lines(html: str, expected: str) -> None:
    assert _markdown_of(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol style='list-style-type: lower-roman'><li>x<li>y</ol>", "- i. x\n- ii. y"),
        ("<style>ol.law{list-style:upper-latin}</style><ol class=law><li>x<li>y</ol>", "- A. x\n- B. y"),
        ("<style>.n>li:before{content:counter(c,lower-alpha)}</style><ol class=n><li>x</ol>", "- a. x"),
        ("<ol data-x-text=I start=4><li>x</ol>", "- IV. x"),
        ("<ol type=a style='list-style-type: upper-roman'><li>x</ol>", "- a. x"),
        ("<p>5 m<span style='vertical-align: super'>2</span>, H<i data-x-text=lowered>2</i>O</p>", "5 m², H₂O"),
        ("<p>Sale <span style='vertical-align: super'>until Monday</span></p>", "Sale until Monday"),
        ("<style>.x::before{text-decoration:line-through}</style><p class=x>9</p>", "9"),
    ],
)
def test_letters_of_lists_and_raised_numbers_come_from_styles(html: str, expected: str) -> None:
    assert _markdown_of(html) == expected


def test_an_unfinished_rule_ends_with_its_style_sheet() -> None:
    html = "<style>.a { color: red</style><style>.b{display:none}</style><p class=b>hidden</p><p>shown</p>"
    assert _markdown_of(html) == "shown"


def test_labels_of_a_chart_are_lines_below_its_title() -> None:
    labels = "<text>One</text><text>Two <tspan>2</tspan></text><foreignObject><p>Three</p></foreignObject>"
    chart = f"<svg><title>Trade</title><desc>By year</desc><g>{labels}</g></svg>"
    assert _markdown_of(chart).split("  \n") == ["Trade", "By year", "One", "Two 2", "Three"]
    assert _markdown_of("<p>a <svg><title>Close</title><text>x</text></svg> b</p>") == "a x b"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<p>Press <svg aria-label=Settings></svg> and <svg><title>Save</title></svg> it.</p>",
            "Press Settings and Save it.",
        ),
        ("<p>Press <svg aria-label=Settings aria-hidden=true></svg> now.</p>", "Press now."),
        ("<p>See the plan<svg aria-label='External link'></svg> first.</p>", "See the plan first."),
        ("<p>By <svg><title>Acme</title></svg></p>", "By"),
    ],
)
def test_a_drawing_amid_a_sentence_is_its_name(html: str, expected: str) -> None:
    assert _markdown_of(html) == expected


@pytest.mark.parametrize(
    ("start", "part"),
    [
        ("", "<x-a></x-a>"),
        ("<p>", "<x-a>word</x-a>"),
        ("<p>", "a<button>b</button>"),
        ("<div style='white-space: pre'>" * 50, "<p>one\ntwo</p>"),
        ("<p style='white-space: pre-line'>", "<b>one</b>\n"),
    ],
)
def test_time_grows_linearly_with_the_elements_of_a_line(start: str, part: str) -> None:
    assert_linear(_markdown_of, lambda size: start + part * size, 8_000)


def test_a_long_label_of_a_chart_is_cut() -> None:
    assert len(_markdown_of(f"<svg><text>{'x' * 3_000}</text><text>b</text><text>c</text></svg>")) == 2_000
