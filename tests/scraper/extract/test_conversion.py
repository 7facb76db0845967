"""Conversion of any page ends, raises nothing and loses no words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.markdown import converter
from scraper.html.dom import parsing
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.conversion import converted

TAGS = (
    "p div span b i a code pre kbd ul ol li dl dt dd table tr td th caption blockquote h1 h3 sup sub label "
    "section aside details summary figure math mi mfrac my-box em del hr br article"
).split()
CLASSES = ("note admonition alert-info footnote footnotes sidenote katex math highlight language-x callout").split()


@st.composite
def soup(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Generate randomly opened and closed tags, and the words between them."""
    pieces, words = [], []
    for number in range(draw(st.integers(1, 40))):
        kind = draw(st.integers(0, 9))
        tag = draw(st.sampled_from(TAGS))
        if kind < 4:
            attributes = draw(
                st.sampled_from(
                    ["", f" class={draw(st.sampled_from(CLASSES))}", f" id=fn{number % 3}", " href='#fn1'", " start=2"]
                )
            )
            pieces.append(f"<{tag}{attributes}>")
        elif kind < 7:
            pieces.append(f"</{tag}>")
        elif kind < 9:
            words.append(f"word{number}x")
            pieces.append(f" {words[-1]} ")
        else:
            pieces.append(draw(st.sampled_from(["1", "*", "[1]", "\n", "$", "\\(", "`", "<br>", "&nbsp;", "|", "_"])))
    return "".join(pieces), words


@given(soup())
def test_any_tag_soup_converts_and_keeps_every_word(page: tuple[str, list[str]]) -> None:
    html, words = page
    found = converted(html)
    assert [word for word in words if word not in found.markdown] == []
    assert [word for word in words if word not in found.text] == []


@given(st.text(alphabet="<>/=\"' abpdivtrl&#;123\n$\\[]()!*_`|", max_size=300))
def test_any_text_converts_as_html(text: str) -> None:
    root = parsing.parse_html(f"<body>{text}").root
    if root is not None:
        converter.convert(root, "https://example.com/")


DEEP = 200_000
MANY = 20_000


def notes_in_one_block(number: int) -> str:
    marks = "".join(f"x<a href='#n{n}'><sup>{n % 999}</sup></a>" for n in range(number))
    return marks + "<p>" + "".join(f"<a id=n{n}></a>y<br>" for n in range(number))


def result_of(html: str) -> converter.ConvertedMarkdown:
    root = parsing.parse_html(f"<body>{html}").root
    assert root is not None
    body = root.find("body")
    return converter.convert(root if body is None else body, "https://example.com/")


@hostile_inputs(
    {
        "one line of 50 MB": (10_000_000, lambda n: "<p>" + "word " * n + "x"),
        "formulas in one paragraph": (MANY, lambda n: "<p>x" + "<math><mi>a</mi></math>" * n),
        "notes in one block": (3_000, notes_in_one_block),
    },
    {
        "200,000 nested divs": lambda: "<div>" * DEEP + "x",
        "nested lists": lambda: "<ul><li>" * MANY + "x",
        "nested tables": lambda: "<table><tr><td>" * MANY + "x",
        "a deep formula": lambda: "<math>" + "<mrow>" * MANY + "x",
        "500,000 attributes": lambda: "<p " + " ".join(f"a{n}" for n in range(500_000)) + ">x</p>",
        "formulas that never end": lambda: "<p>x" + "$a \\( \\[ $$ \\begin{align}" * 5_000,
        "lines of tokens": lambda: "x<div><code>a</code><code>b</code></div>" * 5_000,
        "bare blocks": lambda: "x<code>a\nb</code>" * 5_000,
        "marks and rules": lambda: "x<sup><a href='#a'>1</a></sup>" * 5_000 + "<hr>" * 5_000 + "<p id=a>1 x</p>",
        "brackets": lambda: "<a href=/x>x" + "[" * DEEP + "</a>",
        "a name of digits": lambda: f"x<sup><a href='#{'1' * DEEP}-'>1</a></sup>",
        "a note that trails off": lambda: (
            f"x<sup><a href='#n'>1</a></sup><p id=n>1 y{',' * DEEP}z<a href='#'>{' ' * DEEP}z</a>"
        ),
    },
)
def test_hostile_pages_convert_in_time(hostile: Hostile[str]) -> None:
    found = hostile.run(result_of, limit_s=20)
    assert "x" in found.markdown or len(found.markdown) > 1_000_000
