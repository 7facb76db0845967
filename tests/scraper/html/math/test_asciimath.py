"""AsciiMath, the notation of many courses and forums, as TeX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.html.dom.parsing import parse_html
from scraper.html.dom.xpath import Element
from scraper.html.math.asciimath import convert_to_tex, mark_typed_formulas
from tests.growth import assert_linear
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


_TYPED = "<p>The `x^2/2` of <b>it</b> and `y` is in <code>`z`</code>. A lone ` stays.</p>"


@pytest.mark.parametrize("source", ["/MathJax.js?config=AM_CHTML", "/MathJax.js?config=TeX-AMS_HTML", "/x.js"])
def test_formulas_between_backticks_are_read_if_a_script_displays_them(source: str) -> None:
    document = read(f"<html><title>T</title><script src='{source}'></script><body><h1>T</h1>{_TYPED}</body></html>")
    is_displayed = r"The $\frac{x^{2}}{2}$ of **it** and $y$ is in" in document.markdown
    assert is_displayed == ("AM_CHTML" in source)
    assert "A lone" in document.markdown
    assert "z" in document.markdown


def test_thousands_of_typed_formulas_take_linear_time() -> None:
    def make(count: int) -> Element:
        root = parse_html("<body>" + "x `a` y<br>" * count).root
        assert root is not None
        return root

    assert_linear(mark_typed_formulas, make, 2_000)
