from __future__ import annotations

import pytest
from lxml import html

from scraper.html.page.css_rules import find_hidden_by_rules
from tests.scraper.soon import soon

PAGE = """<html><body><main class="page"><p id="first" class="gone" data-kind="x">one</p>
<p class="md:hidden kept">two</p><p class="kept">three</p><div class="box"><b>four</b></div></main></body></html>"""


def hidden(*sheets: str) -> list[str]:
    """Return the texts that the style sheets hide on the page."""
    return sorted(
        {"".join(map(str, found.itertext())) for found in find_hidden_by_rules(html.fromstring(PAGE), sheets).elements}
    )


@pytest.mark.parametrize(
    ("css", "texts"),
    [
        (".gone { display: none }", ["one"]),
        ("@font-face { src: url(data:font/woff2;base64,AAAA) } .gone { display: none }", ["one"]),
        ("#first { position: absolute; left: -9999px }", ["one"]),
        ("[data-kind=x] { visibility: hidden }", ["one"]),
        ("[data-kind^='x'] { opacity: 0 }", ["one"]),
        (".gone { display: none !important } .gone { display: block }", ["one"]),
        ("main > p:nth-child(3) { display: none }", ["three"]),
        ("p:nth-of-type(1) { transform: scale(0) }", ["one"]),
        (".box:has(b) { clip-path: inset(100%) }", ["four"]),
        (":root { --off: none } .gone { display: var(--off) }", ["one"]),
        (".gone { display: var(--missing, none) }", ["one"]),
        ("@layer base { .gone { display: none } }", ["one"]),
        ("@supports (display: grid) { .gone { display: none } }", ["one"]),
        (".page { .gone { display: none } & .box { scale: 0 } }", ["four", "one"]),
        (".box { b, .gone { display: none } }", ["four"]),
        (".page { > .gone, :is(.box, .bin) b { display: none } }", ["four", "one"]),
        (".page { @media screen { .gone { display: none } } }", ["one"]),
        (r".md\:hidden { display: none }", ["two"]),
        (r".g\6fne { display: none }", ["one"]),
        (".box b { color: #fff; background: white }", ["four"]),
        ("@media (orientation: landscape) and (hover: hover) { .gone { display: none } }", ["one"]),
        ("@media print, (min-height: 20em) { .gone { display: none } }", ["one"]),
        ("@media (min-width: 600px) { .gone { display: none } }", ["one"]),
        ("@media only screen and (max-width: 1600px) { .gone { display: none } }", ["one"]),
        (".box::before { content: '}' } .gone { display: none }", ["one"]),
        (".gone { display: none } @media print { .gone { display: block } }", ["one"]),
        (".gone { display: none } .gone:hover { display: block }", ["one"]),
        (".gone { display: none } .gone { position: relative }", ["one"]),
        (".gone .inner { display: block } .gone { display: none }", ["one"]),
        (".gone { display: none ! important } .gone { display: block }", ["one"]),
        ("@media(min-width:9px){.gone{display:none}}", ["one"]),
        (".gone { DISPLAY: NONE }", ["one"]),
        (r".gone { d\69splay: n\6fne }", ["one"]),
        (r".\67 one { display: none }", ["one"]),
        (":root { --a: var(--b); --b: none } .gone { display: var(--a) }", ["one"]),
        (".gone { translate: -9999px }", ["one"]),
        (".gone { zoom: .01 }", ["one"]),
    ],
)
def test_rules_that_hide_on_a_screen_are_found(css: str, texts: list[str]) -> None:
    assert hidden(css) == texts


@pytest.mark.parametrize(
    "css",
    [
        ".gone { display: none } .gone.open { display: block }",
        ".gone { display: none } .page .gone { display: block }",
        ".gone { display: none } @media(min-width:9px) { .gone { display: block } }",
        "p.gone { display: none } .page { p.open { display: block } & p.gone.open { display: block } }",
        "@media print { .gone { display: none } }",
        "@media (max-width: 600px) { .gone { display: none } }",
        "@media (prefers-color-scheme: dark) { .gone { display: none } }",
        "@supports not (display: grid) { .gone { display: none } }",
        "@keyframes fade { from { opacity: 0 } }",
        ".gone:hover { display: none }",
        ".gone { opacity: 0; transition: opacity 1s }",
        "[x-cloak], [data-kind].cloak { display: none }",
        "body, html { display: none }",
        ".box { color: #fff }",
        "p:nth-child( { display: none }",
        "@media screen and (orientation: portrait) { .gone { display: none } }",
        "@media not print and (min-width: 9px) { .absent { display: none } }",
        ".absent .gone { display: none }",
    ],
)
def test_text_that_a_person_may_see_stays(css: str) -> None:
    assert hidden(css) == []


LONG = PAGE.replace(">one<", ">a text of several words<").replace("four", "another text of several words")


@pytest.mark.parametrize(
    ("css", "is_doubtful"),
    [
        ("@container (min-width: 1px) { .gone { display: none } }", True),
        ("@scope (.page) { .gone { display: none } }", True),
        ("@media (color-gamut: p3) { .gone { display: none } }", True),
        ("p:nth-child(1 of .gone) { display: none }", True),
        (".box:has(> b:nth-child(1 of b)) { opacity: 0 }", True),
        ("@layer base {" * 9 + ".gone { display: none }" + "}" * 9, True),
        ("@layer base {" * 9 + ".absent { display: none }" + "}" * 9, False),
        (".absent" * 600 + ", .gone { display: none }", True),
        ("@media print {" + ".absent" * 600 + ", .gone { display: none } }", False),
        (".absent" * 500 + "{ &" + ".other" * 300 + ", .gone { display: none } }", True),
        ("a{b:c}" * 5_000 + ".gone { display: none }", True),
        ("p:nth-child(3 of .kept) { color: red }", False),
        ("@media (color-gamut: p3) { .kept { display: none } }", False),
        ("@media (color-gamut: p3) { .gone { display: none } } .gone { display: block }", False),
        (".gone::before, .gone:hover, .gone:focus-within { display: none }", False),
        ("@media print { .gone { display: none } }", False),
        (".gone { display: none }", False),
        ("@supports not (display: unknown) { .gone { display: none } }", True),
        (".gone { display: var(--set-elsewhere) }", True),
        ("@keyframes end { to { opacity: 0 } } .gone { animation: end 1ms forwards }", True),
        ("@keyframes begin { from { opacity: 0 } } .gone { animation: begin 1s }", False),
        (":is(main :is(.gone)) { display: none }", True),
        (".gone { font-size: 0 }", True),
        (".js .gone, .gone { display: none; opacity: 0 } .ready .gone { opacity: 1 }", True),
        (".gone { font: 0/0 a }", True),
        (".gone { color: transparent }", True),
        (".page { font-size: 0 } .page p { font-size: 16px }", False),
        (".gone { font-size: 0 } .gone { font-size: 14px }", False),
        (".gone { font: 500 12px/1 serif; opacity: var(--fade, 1) }", False),
    ],
)
def test_rules_that_only_a_browser_evaluates_are_told(css: str, is_doubtful: bool) -> None:
    assert find_hidden_by_rules(html.fromstring(LONG), [css]).is_doubtful is is_doubtful


@pytest.mark.parametrize(
    ("css", "is_doubtful"),
    [
        (".gone { color: #fff }", True),
        (".page { background: #123456 } .gone { color: #123456 }", True),
        ("body { background: white } p { color: #fefefe }", True),
        (".page { background: #123456 } .gone { color: #fff }", False),
        (".page { background: url(dark.jpg) } .gone { color: #fff }", False),
        (".gone { color: #fff } p { color: #333 }", False),
        (".gone:hover { color: #fff }", False),
        (".absent { color: #fff }", False),
    ],
)
def test_text_in_the_color_of_its_background_is_doubtful(css: str, is_doubtful: bool) -> None:
    for are_known in (True, False):
        found = find_hidden_by_rules(html.fromstring(LONG), [css], are_all_colors_known=are_known)
        assert found.is_doubtful is (is_doubtful and are_known)


def test_a_rule_of_another_sheet_shows_text_again() -> None:
    assert hidden("#first, .kept { visibility: hidden }", ".kept { visibility: visible }") == ["one"]


def test_the_last_rule_of_a_selector_applies_and_rules_of_other_names_do_not() -> None:
    narrow = ".first.box{display:block} .kept.box{display:none}"
    wide = "@media (min-width:740px){.first.box{display:none} .kept.box{display:block}}"
    root = html.fromstring("<body><p class='first box'>one</p><p class='kept box'>two</p></body>")
    assert [one.text for one in find_hidden_by_rules(root, [narrow + wide]).elements] == ["one"]


FONT = "@font-face { src: url(data:font/woff2;base64," + "A" * 100_000


@pytest.mark.parametrize(
    "rest",
    [
        FONT, "x" * 70_000, ".a," * 20_000, "a{b" * 20_000, "@a{" * 400, "/* " * 20_000, ".b&{" * 5_000, "&" * 60_000,
        "p:nth-child(2),p ~ p{display:none}" * 1_500, "'\"" * 20_000, "--x:var(--x);" * 5_000, "[" * 60_000,
    ],
)  # fmt: skip
def test_any_style_sheet_is_read_fast(rest: str) -> None:
    with soon():
        assert "one" in hidden(f".gone {{ display: none }} {rest}")


@pytest.mark.parametrize("count", [2_900, 19_000, 50_000])
@pytest.mark.parametrize("selector", ["p:nth-last-child({}) ~ p:has(b)", ".a ~ .a ~ b.a", ".a .a > b.a"])
@pytest.mark.slow
def test_selectors_are_matched_fast_on_large_pages(selector: str, count: int) -> None:
    root = html.fromstring("<html><body>" + "<p class=a>text</p>" * count + "</body></html>")
    css = "".join(f"{selector.format(number)} {{ display: none }}" for number in range(1_000))
    with soon():
        assert find_hidden_by_rules(root, [css]).elements == []
