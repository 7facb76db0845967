"""Text hidden by inline styles or simple CSS rules, detected without a browser."""

from __future__ import annotations

import pytest

from scraper.html.page.css_visibility import find_background, hides_text, is_same_color, parse_color, parse_declarations
from tests.scraper.soon import soon


@pytest.mark.parametrize(
    ("style", "hidden"),
    [
        ("transform: scale(0)", True),
        ("transform: scaleX(0.0)", True),
        ("transform: scale3d( .00 , 1, 1)", True),
        ("transform: scale(0.1)", False),
        ("transform: scale(10)", False),
        ("filter: opacity( 0% )", True),
        ("filter: opacity(0.00)", True),
        ("filter: opacity(0.5)", False),
        ("font-size: .5px", True),
        ("font-size: 1.5em", False),
        ("font-size: 3pt", False),
        ("text-indent: -9999px", True),
        ("text-indent: -1.5em", False),
        ("clip-path: inset(100%)", True),
        ("clip-path: inset(0 100% 0 0)", True),
        ("clip-path: inset(0 50%)", True),
        ("clip-path: inset(10% 60% 0)", True),
        ("clip-path: inset(9999px)", True),
        ("clip-path: inset(0 40% 0 0 round 9px)", False),
        ("clip-path: inset()", False),
        ("clip-path: rect(0 0 0 0)", True),
        ("clip-path: rect(0 9px 9px 0)", False),
        ("clip-path: xywh(0 0 0 0)", True),
        ("clip-path: xywh(0 0 9px 9px)", False),
        ("clip-path: path('M0 0')", True),
        ("clip-path: path('M0 0L9 9L9 0')", False),
        ("position: fixed; left: 200vw", True),
        ("position: absolute; left: 9999px", True),
        ("position: fixed; left: 50vw", False),
        ("position: absolute; left: 900px", False),
        ("-webkit-text-fill-color: transparent", True),
        ("color: transparent; -webkit-text-fill-color: black", False),
        ("color: hsl(0 0% 0% / 0)", True),
        ("font: 0/0 a", True),
        ("font: italic 700 12px/1.5 serif", False),
        ("font-size: calc(0px)", True),
        ("font-size: calc(1rem + 2px)", False),
        ("opacity: calc(0)", True),
        ("transform: scale(.001)", True),
        ("transform: scale(.5)", False),
        ("transform: rotateY(90deg)", True),
        ("transform: rotate(90deg)", False),
        ("transform: matrix(0, 0, 0, 0, 0, 0)", True),
        ("transform: matrix(0, 1, -1, 0, 0, 0)", False),
        ("rotate: x 90deg", True),
        ("rotate: 90deg", False),
        ("scale: .01", True),
        ("scale: 1", False),
        ("translate: -9999px", True),
        ("translate: -50% -50%", False),
        ("position: absolute; inset: -9999px auto auto -9999px", True),
        ("position: absolute; inset: 0", False),
        ("position: absolute; left: min(-999px, 0px)", True),
        ("margin-left: -9999px", True),
        ("margin: 0 -9999px; padding: 0 9999px", False),
        ("margin-left: -50vw; left: 50%", False),
        ("max-height: 0; overflow-y: hidden", True),
        ("block-size: 0; overflow: clip", True),
        ("contain: strict; height: 0", True),
        ("text-indent: 100%; white-space: nowrap; overflow: hidden", True),
        ("text-indent: 100%", False),
        ("letter-spacing: -1em", True),
        ("letter-spacing: -.05em", False),
        ("color: oklch(0 0 0 / 0)", True),
        ("color: oklch(0 0 0 / 1)", False),
    ],
)
def test_css_numbers_of_any_notation_are_parsed(style: str, hidden: bool) -> None:
    assert hides_text(parse_declarations(style)) is hidden


@pytest.mark.parametrize(
    "style",
    ["display:/**/none", "dis/* x */play:none; display/* */:none", "d\\69splay:n\\00006Fne", "di\\splay: no\\6e e"],
)
def test_styles_with_comments_and_escapes_are_parsed(style: str) -> None:
    assert hides_text(parse_declarations(style))


@pytest.mark.parametrize(
    ("color", "is_white"),
    [
        ("hsl(0, 0%, 100%)", True),
        ("hsla(120 50% 99% / 1)", True),
        ("hsl(0 0% 20%)", False),
        ("oklch(1 0 0)", True),
        ("oklch(99.5% 0 0)", True),
        ("lab(100 0 0)", True),
        ("lab(100% 0 0)", True),
        ("lch(50 0 0)", False),
        ("oklab(0 0 0)", False),
        ("oklch(from white l c h)", False),
        ("hsl(none none none)", False),
        ("Canvas", True),
        ("CanvasText", False),
        ("light-dark(white, black)", True),
        ("light-dark(rgb(0 0 0), #fff)", False),
        ("color-mix(in srgb, white 90%, snow)", True),
        ("color-mix(in srgb, rgb(255 255 255), black 40%)", False),
        ("color-mix(in srgb, var(--unknown), white)", False),
        ("color-mix(in srgb, white)", False),
        ("color(srgb 1 1 1)", True),
        ("color(srgb 0 0 1)", False),
    ],
)
def test_white_is_detected_in_other_notations(color: str, is_white: bool) -> None:
    assert is_same_color(color, (255, 255, 255, 1)) is is_white


@pytest.mark.parametrize(
    ("background", "color"),
    [
        ("url(a b.png) no-repeat rgb(0, 0, 0)", (0, 0, 0, 1)),
        ("#fff", (255, 255, 255, 1)),
        ("rgb(241 245 249 / 1) none", (241, 245, 249, 1)),
        ("var(--paper, rgb(255, 255, 255))", (255, 255, 255, 1)),
        ("rgba(0, 0, 0, .2)", None),
        ("url(a.png)", None),
    ],
)
def test_the_background_color_is_found_in_the_shorthand(background: str, color: tuple[float, ...] | None) -> None:
    assert find_background(parse_declarations(f"background: {background}")) == color


@pytest.mark.parametrize(
    "style",
    [
        f"transform: scale({'0' * 1_980}",
        f"filter: opacity({'0' * 1_980}",
        f"font-size: {'0' * 1_980}z",
        f"background: x{' ' * 900}{')a' * 450}",
        f"background: (({'(a)' * 600}",
        f"clip-path: {'xywh(0 0 ' * 200}",
        f"clip-path: path('m{' ' * 1_900}x",
        f"clip-path: {'inset(' * 300}",
        f"color: hsl({'1' * 1_900}",
        f"dis{'/*' * 900}",
        "\\" * 1_900,
    ],
)
def test_hostile_styles_are_parsed_fast(style: str) -> None:
    with soon():
        for _ in range(200):
            found = parse_declarations(style)
            hides_text(found)
            find_background(found)


def test_unclosed_translations_are_parsed_fast() -> None:
    style = parse_declarations("transform: " + "translate(" * 198)
    with soon():
        assert not any(hides_text(style) for _ in range(2_000))


@pytest.mark.parametrize(
    "style",
    [
        "transform: translate(-9999px, calc(1px + 1px))",
        "transform: translatex(-9999px",
        "transform: translatey(9999px)",
    ],
)
def test_text_moved_off_screen_is_hidden(style: str) -> None:
    assert hides_text(parse_declarations(style))


def test_colors_in_colors_are_read_to_a_limit() -> None:
    assert parse_color("light-dark(light-dark(red, blue), black)") == (255, 0, 0, 1)
    assert parse_color("light-dark(" * 5_000 + "red" + ")" * 5_000) is None
