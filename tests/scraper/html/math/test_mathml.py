"""Conversion of MathML, and of MathJax's copy of it, to TeX."""

from __future__ import annotations

import pytest
from lxml import etree

from scraper.html.math import mathml


def tex_of(inner: str) -> str:
    return mathml.to_tex(etree.fromstring(f"<math>{inner}</math>"))


@pytest.mark.parametrize(
    ("inner", "tex"),
    [
        ("<mi>α</mi><mo>≤</mo><mn>3</mn>", r"\alpha\leq3"),
        ("<mi>α</mi><mi>x</mi>", r"\alpha x"),
        ("<mi>sin</mi><mi>x</mi>", r"\sin x"),
        ("<mi>𝑧</mi><mo>=</mo><mi>𝜎</mi>", r"z=\sigma"),
        ("<mi>softmax</mi>", r"\mathrm{softmax}"),
        ("<mi mathvariant='bold'>V</mi>", r"\mathbf{V}"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^{2}"),
        ("<msub><mi>x</mi><mi>i</mi></msub>", "x_{i}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup>", "{a+b}^{2}"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", r"\sqrt{x+1}"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", r"\sqrt[3]{8}"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", r"\sum_{i}^{n}"),
        ("<mover><mi>F</mi><mo>→</mo></mover>", r"\vec{F}"),
        ("<mover><mi>x</mi><mo>˙</mo></mover>", r"\dot{x}"),
        ("<munder><mi>lim</mi><mi>n</mi></munder>", r"\lim_{n}"),
        ("<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>", r"\genfrac{}{}{0pt}{}{n}{k}"),
        ("<mfenced open='[' close=')'><mi>a</mi><mi>b</mi></mfenced>", r"\left[a,b\right)"),
        ("<mtext>for all</mtext>", r"\text{for all}"),
        ("<mi>a</mi><mo>&#x2062;</mo><mi>b</mi>", "ab"),
        (
            "<mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable><mo>)</mo>",
            r"\begin{pmatrix}a & b\end{pmatrix}",
        ),
        (
            "<mtable columnalign='right left'><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr>"
            "<mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>",
            r"\begin{aligned}a & b \\ c & d\end{aligned}",
        ),
        ("<mmultiscripts><mi>T</mi><mi>a</mi><none/><mprescripts/><mi>b</mi><none/></mmultiscripts>", "{}_{b}T_{a}"),
        ("<mtable><mlabeledtr><mtd><mtext>(4)</mtext></mtd><mtd><mi>x</mi></mtd></mlabeledtr></mtable>", r"x \tag{4}"),
        ("<menclose notation='top'><mi>A</mi></menclose>", r"\overline{A}"),
        ("<unknown>x</unknown>", "x"),
    ],
)
def test_elements_become_tex(inner: str, tex: str) -> None:
    assert tex_of(inner) == tex


def test_the_namespace_of_mathml_makes_no_difference() -> None:
    element = etree.fromstring("<m:math xmlns:m='http://www.w3.org/1998/Math/MathML'><m:mi>π</m:mi></m:math>")
    assert mathml.to_tex(element) == r"\pi"


def test_nesting_beyond_reason_ends_in_bare_text() -> None:
    depth = 150
    assert "x" in tex_of("<msqrt>" * depth + "<mi>x</mi>" + "</msqrt>" * depth)


CHTML = """<mjx-container><mjx-math>
<mjx-mfrac><mjx-frac><mjx-num><mjx-nstrut/><mjx-mn><mjx-c class="mjx-c31"/></mjx-mn></mjx-num>
<mjx-dbox><mjx-dtable><mjx-row><mjx-den><mjx-mi><mjx-c class="mjx-c1D45B"/></mjx-mi></mjx-den></mjx-row>
</mjx-dtable></mjx-dbox></mjx-frac></mjx-mfrac>
<mjx-munderover><mjx-over><mjx-mi><mjx-c class="mjx-c1D45B"/></mjx-mi></mjx-over><mjx-box><mjx-munder>
<mjx-row><mjx-base><mjx-mo><mjx-c class="mjx-c2211 MM"/></mjx-mo></mjx-base></mjx-row>
<mjx-row><mjx-under><mjx-mi>
<mjx-c class="mjx-c1D456"/></mjx-mi></mjx-under></mjx-row></mjx-munder></mjx-box></mjx-munderover>
<mjx-msubsup><mjx-mi><mjx-c class="mjx-c1D465"/></mjx-mi><mjx-script><mjx-mn><mjx-c class="mjx-c32"/></mjx-mn>
<mjx-spacer/><mjx-mi><mjx-c class="mjx-c1D456"/></mjx-mi></mjx-script></mjx-msubsup>
<mjx-msqrt><mjx-sqrt><mjx-surd><mjx-mo><mjx-c class="mjx-c221A"/></mjx-mo></mjx-surd><mjx-box><mjx-mi>
<mjx-c class="mjx-c1D466"/></mjx-mi></mjx-box></mjx-sqrt></mjx-msqrt></mjx-math></mjx-container>"""


def test_mathjax_set_with_elements_is_read_by_its_code_points() -> None:
    found = mathml.to_tex(mathml.build_mathml("math", etree.fromstring(CHTML)))
    assert found == r"\frac{1}{n}{\sum}_{i}^{n}x_{i}^{2}\sqrt{y}"


SVG = """<mjx-container jax="SVG"><svg><g><g data-mml-node="math"><g data-mml-node="msup">
<g data-mml-node="mi"><path data-c="1D465"/></g><g data-mml-node="mn"><path data-c="32"/></g></g>
<g data-mml-node="mo"><path data-c="2B"/></g>
<g data-mml-node="mfrac"><g data-mml-node="mn"><path data-c="31"/></g>
<g data-mml-node="mi"><path data-c="1D466"/></g><rect/></g></g></g></svg></mjx-container>"""


def test_mathjax_drawn_as_svg_is_read_by_its_nodes() -> None:
    assert mathml.to_tex(mathml.build_mathml("math", etree.fromstring(SVG))) == r"x^{2}+\frac{1}{y}"
