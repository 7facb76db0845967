"""TeX in running text, and texts that only look like TeX."""

from __future__ import annotations

import pytest

from scraper.html.math import tex_delimiters
from tests.scraper.extract.conversion import markdown_of
from tests.scraper.soon import soon


def formulas_in(text: str) -> list[str]:
    found: list[str] = []

    def write(formula: str, display: bool) -> str:
        found.append(formula)
        return ""

    tex_delimiters.replace_formulas(text, str, write)
    return found


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"\[a \\[4pt] b\] and \(c\)", [r"a \\[4pt] b", "c"]),
        (r"a \\[4pt] b \] c", []),
        (r"\\(a\\)", []),
        (r"\[a \[b\] c\]", ["b"]),
        (r"\(\) and \(x\)", ["x"]),
        (r"\[\begin{aligned}a\\\end{aligned}\]", [r"\begin{aligned}a\\\end{aligned}"]),
        (
            r"\begin{align}\begin{aligned}a\\\end{aligned}\end{align}",
            [r"\begin{align}\begin{aligned}a\\\end{aligned}\end{align}"],
        ),
        (r"\begin{align}a\end{gather}\begin{align}b\end{align}", [r"\begin{align}b\end{align}"]),
        ("\\[" + "a" * 9_000 + r" \(x\) and $y$ \]", ["x", "y"]),
    ],
)
def test_a_formula_ends_where_its_delimiters_say(text: str, formulas: list[str]) -> None:
    assert formulas_in(text) == formulas


@pytest.mark.parametrize(
    "piece",
    ["\\[", "\\(", "\\\\[4pt]", "\\begin{align}", "\\begin{align}\\begin{gather}", "\\[\\(\\begin{align}$", "\\[\\]"],
)
def test_delimiters_that_never_pair_are_gone_through_soon(piece: str) -> None:
    with soon():
        markdown_of(f"<p>{f'{piece} x{chr(10)}' * 40_000}</p>")


def test_unfinished_macro_definitions_are_parsed_quickly() -> None:
    with soon():
        assert markdown_of("<p>\\(" + "\\def" * 60 + "$x\\)</p>") == "$" + "\\def" * 60 + "$x$"
