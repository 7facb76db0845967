"""AsciiMath, the notation of many courses and forums, as TeX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.math.asciimath import convert_to_tex
from tests.scraper.extract.snapshots import WORDS, read


@pytest.mark.parametrize(
    ("source", "tex"),
    [
        ("sum_(i=1)^n i=(n(n+1))/2", r"\sum_{i = 1}^{n} i = \frac{n (n + 1)}{2}"),
        ("`x/2`", r"\frac{x}{2}"),
        ("1/2/3", r"\frac{\frac{1}{2}}{3}"),
        ("root(3)(x^2+1)", r"\sqrt[3]{x^{2} + 1}"),
        ("int_0^oo e^(-x) dx", r"\int_{0}^{\infty} e^{- x} d x"),
        ("lim_(x->0) sin(x)/x = 1", r"\lim_{x \to 0} \frac{\sin(x)}{x} = 1"),
        ("sin^2(x)", r"\sin^{2}(x)"),
        ("{x in RR : x >= 0}", r"\{x \in \mathbb{R} : x \ge 0\}"),
        ('"cost of {one}" != 3.5', r"\text{cost of one} \ne 3.5"),
        ("abs(x-y) <= norm(z)", r"|x - y| \le \|z\|"),
        ("hat(theta)_n xx vec v", r"\hat{\theta}_{n} \times \vec{v}"),
        ("(a, b]", "(a , b]"),
        ("(x", "(x"),
        ("x)", "x )"),
        ("x^", "x^{}"),
        ("", ""),
        ("(" * 100 + "x", ""),
        ("x" * 10_000, ""),
    ],
)
def test_asciimath_becomes_tex(source: str, tex: str) -> None:
    assert convert_to_tex(source) == tex


@given(st.text(alphabet='ab1.(){}[]:/^_"`\\$ <>-=+|*', max_size=60))
def test_any_text_is_converted_without_an_error(source: str) -> None:
    assert isinstance(convert_to_tex(source), str)


@pytest.mark.parametrize(
    "formula",
    [
        '<span class="MathJax_Preview"></span><span class="MathJax"><span class="math">x2</span></span>'
        '<script type="math/asciimath">x^2/2</script>',
        "<asciimath>x^2/2</asciimath>",
        '<span class="asciimath">`x^2/2`</span>',
    ],
)
def test_formulas_in_asciimath_are_read(formula: str) -> None:
    markdown = read(f"<main><p>The half {formula} of it.</p><p>{WORDS}</p></main>").markdown
    assert r"The half $\frac{x^{2}}{2}$ of it." in markdown
