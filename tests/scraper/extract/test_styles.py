"""What an inline style or a simple rule hides, told without a browser."""

from __future__ import annotations

import pytest

from scraper.extract.styles import background_of, conceals, declarations, hidden_names
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
    ],
)
def test_numbers_are_read_however_they_are_written(style: str, hidden: bool) -> None:
    assert conceals(declarations(style)) is hidden


@pytest.mark.parametrize(
    ("background", "colour"),
    [
        ("url(a b.png) no-repeat rgb(0, 0, 0)", (0, 0, 0, 1)),
        ("#fff", (255, 255, 255, 1)),
        ("rgb(241 245 249 / 1) none", (241, 245, 249, 1)),
        ("var(--paper, rgb(255, 255, 255))", (255, 255, 255, 1)),
        ("rgba(0, 0, 0, .2)", None),
        ("url(a.png)", None),
    ],
)
def test_a_background_is_the_colour_among_its_parts(
    background: str, colour: tuple[float, ...] | None
) -> None:
    assert background_of(declarations(f"background: {background}")) == colour


def test_a_rule_is_known_behind_all_that_may_stand_in_a_sheet() -> None:
    sheets = (
        "@font-face { src: url(data:font/woff2;base64,AAAA) } .gone { display: none }",
        "/* .shown { display: none } */ #away, .off { visibility: hidden } .off { visibility: visible }",
        "@media print { .gone { display: block } .only { display: none } }",
    )
    assert hidden_names(sheets[:1]) == {".gone"}
    assert hidden_names(sheets[1:2]) == {"#away"}
    assert hidden_names(sheets) == {"#away"}


FONT = "@font-face { src: url(data:font/woff2;base64," + "A" * 100_000


@pytest.mark.parametrize(
    "rest", [FONT, "x" * 70_000, ".a," * 20_000, "a{b" * 20_000, "@a{" * 400, "/* " * 20_000]
)
def test_a_sheet_that_is_cut_off_is_read_soon_and_not_for_nothing(rest: str) -> None:
    with soon():
        assert ".gone" in hidden_names([f".gone {{ display: none }} {rest}"])


@pytest.mark.parametrize(
    "style",
    [
        f"transform: scale({'0' * 1_980}",
        f"filter: opacity({'0' * 1_980}",
        f"font-size: {'0' * 1_980}z",
        f"background: x{' ' * 900}{')a' * 450}",
        f"background: (({'(a)' * 600}",
    ],
)
def test_hostile_styles_are_read_soon(style: str) -> None:
    with soon():
        for _ in range(500):
            found = declarations(style)
            conceals(found)
            background_of(found)
