"""Convert AsciiMath, such as `sum_(i=1)^n i/2`, to TeX."""

from __future__ import annotations

import re
from typing import NamedTuple

from lxml import etree

from scraper.html.dom.xpath import Element

_MAX_LENGTH, _MAX_DEPTH = 8_000, 60
_SAME_NAMES = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega sum prod int oint partial "
    "nabla infty times div ast star cdot circ oplus otimes wedge vee cap cup subset subseteq supset supseteq in ni "
    "notin approx cong equiv prop sim le ge ne lt gt prec succ forall exists neg top bot vdash models to mapsto "
    "uparrow downarrow rightarrow "
    "leftarrow leftrightarrow Rightarrow Leftarrow Leftrightarrow sin cos tan sec csc cot arcsin "
    "arccos arctan sinh cosh tanh coth log ln exp lim min max det dim gcd sup inf ker arg ldots cdots vdots ddots quad "
    "qquad angle triangle square emptyset aleph hbar ell setminus pm mp"
)
_SYMBOLS = {name: f"\\{name}" for name in _SAME_NAMES.split() if name not in ("prop", "sup")} | dict(
    pair.split(" ")
    for pair in (
        r"oo \infty;+- \pm;-+ \mp;-> \to;|-> \mapsto;>-> \rightarrowtail;=> \Rightarrow;<=> \Leftrightarrow;<= \le;"
        r">= \ge;!= \ne;** \ast;*** \star;* \cdot;xx \times;-: \div;@ \circ;o+ \oplus;ox \otimes;o. \odot;^^ \wedge;"
        r"vv \vee;nn \cap;uu \cup;sub \subset;sube \subseteq;sup \supset;supe \supseteq;!in \notin;~~ \approx;"
        r"~= \cong;-= \equiv;prop \propto;~ \sim;AA \forall;EE \exists;not \neg;TT \top;_|_ \bot;|-- \vdash;"
        r"|== \models;RR \mathbb{R};NN \mathbb{N};ZZ \mathbb{Z};QQ \mathbb{Q};CC \mathbb{C};... \ldots;"
        r"del \partial;grad \nabla;"
        r"/_ \angle;:. \therefore;:' \because;O/ \emptyset;\\ \setminus;uarr \uparrow;darr \downarrow;"
        r"rarr \rightarrow;larr \leftarrow;harr \leftrightarrow;rArr \Rightarrow;lArr \Leftarrow;hArr \Leftrightarrow;"
        r"% \%;# \#;& \&;$ \$"
    ).split(";")
)
_SYMBOLS |= {"and": r"\text{ and }", "or": r"\text{ or }", "if": r"\text{ if }"}
_UNARY = {
    "sqrt": r"\sqrt", "hat": r"\hat", "bar": r"\overline", "overline": r"\overline", "vec": r"\vec", "dot": r"\dot",
    "ddot": r"\ddot", "tilde": r"\tilde", "ul": r"\underline", "underline": r"\underline", "bb": r"\mathbf",
    "bbb": r"\mathbb", "cc": r"\mathcal", "tt": r"\mathtt", "fr": r"\mathfrak", "sf": r"\mathsf", "cancel": r"\cancel",
}  # fmt: skip
_AROUND = {
    "abs": ("|", "|"),
    "norm": (r"\|", r"\|"),
    "floor": (r"\lfloor ", r" \rfloor"),
    "ceil": (r"\lceil ", r" \rceil"),
}
_BINARY = {"frac": r"\frac{%s}{%s}", "root": r"\sqrt[%s]{%s}", "stackrel": r"\stackrel{%s}{%s}",
           "overset": r"\overset{%s}{%s}", "underset": r"\underset{%s}{%s}"}  # fmt: skip
_FUNCTIONS = frozenset(
    "sin cos tan sec csc cot arcsin arccos arctan sinh cosh tanh coth log ln exp det dim gcd min max ker arg".split()
)
"""Functions, whose brackets belong to them in a fraction."""
_SPECIAL = re.compile(r"[{}$\\%#&_^]")
_LEFT = {"(": "(", "[": "[", "{": r"\{", "(:": r"\langle ", "<<": r"\langle ", "{:": ""}
_RIGHT = {")": ")", "]": "]", "}": r"\}", ":)": r" \rangle", ">>": r" \rangle", ":}": ""}
_NAMES = sorted(
    {*_SYMBOLS, *_UNARY, *_AROUND, *_BINARY, *_LEFT, *_RIGHT, "text", "_", "^", "/", "//"}, key=len, reverse=True
)
_TOKEN = re.compile(rf"\s*(?:(\d+(?:\.\d+)?)|\"([^\"]*)\"|text\(([^)]*)\)|({'|'.join(map(re.escape, _NAMES))})|(\S))")


class _Part(NamedTuple):
    """TeX of a part, and the TeX without the brackets around it."""

    tex: str
    inner: str


class _Parser:
    def __init__(self, source: str) -> None:
        self.tokens = [match.groups() for match in _TOKEN.finditer(source)]
        self.place = 0

    def peek(self) -> str | None:
        """Return the next name, an empty string for another token, or None at the end."""
        return None if self.place == len(self.tokens) else self.tokens[self.place][3] or ""

    def read_expression(self, depth: int, *, is_inside: bool = False) -> str:
        """Return the TeX up to the end, or up to a closing bracket."""
        parts: list[str] = []
        while (name := self.peek()) is not None and not (is_inside and name in _RIGHT):
            part = self.read_scripted(depth)
            while self.peek() == "/":
                self.place += 1
                part = _same(rf"\frac{{{part.inner}}}{{{self.read_scripted(depth).inner}}}")
            parts.append(part.tex)
        return " ".join(filter(None, parts))

    def read_scripted(self, depth: int) -> _Part:
        """Return a simple part with its subscript and superscript."""
        is_function = self.peek() in _FUNCTIONS
        base = self.read_simple(depth)
        tex = base.tex
        for sign in ("_", "^"):
            if self.peek() == sign:
                self.place += 1
                tex += f"{sign}{{{self.read_simple(depth).inner}}}"
        if is_function and self.peek() in _LEFT:
            tex += self.read_simple(depth).tex
        return base if tex == base.tex else _same(tex)

    def read_simple(self, depth: int) -> _Part:
        """Return a number, symbol, text, function with its arguments, or expression in brackets.

        Raises:
            ValueError: the nesting is too deep.
        """
        if self.place == len(self.tokens):
            return _same("")
        if depth > _MAX_DEPTH:
            raise ValueError("too deep")
        number, quoted, text, name, other = self.tokens[self.place]
        self.place += 1
        words = quoted if quoted is not None else text
        if words is not None:
            return _same(rf"\text{{{_SPECIAL.sub('', words)}}}")
        if name in _UNARY:
            return _same(f"{_UNARY[name]}{{{self.read_simple(depth + 1).inner}}}")
        if name in _AROUND:
            left, right = _AROUND[name]
            return _same(f"{left}{self.read_simple(depth + 1).inner}{right}")
        if name in _BINARY:
            return _same(_BINARY[name] % (self.read_simple(depth + 1).inner, self.read_simple(depth + 1).inner))
        if name in _LEFT:
            inner = self.read_expression(depth + 1, is_inside=True)
            right = self.peek() or ":}"
            self.place = min(self.place + 1, len(self.tokens))
            return _Part(f"{_LEFT[name]}{inner}{_RIGHT[right]}", inner)
        return _same(_SYMBOLS.get(name, _RIGHT.get(name, name)) if name else number or other)


def _same(tex: str) -> _Part:
    return _Part(tex, tex)


def convert_to_tex(source: str) -> str:
    """Return the TeX of a formula in AsciiMath, or an empty string if it is too long or nested too deeply."""
    if len(source) > _MAX_LENGTH:
        return ""
    try:
        return _Parser(source.strip().strip("`")).read_expression(0)
    except ValueError:
        return ""


_LOADER = re.compile(r"config=[^&\s]*\bAM_|asciimath", re.IGNORECASE)
"""URL of a script that displays AsciiMath between backticks."""
_TYPED = re.compile(r"`([^`]{1,1000})`")
_SKIPPED = ("pre", "code", "script", "style", "textarea", "noscript", "head")


def is_loaded(script_url: str) -> bool:
    """Return True if a script of the page displays the AsciiMath in its text."""
    return _LOADER.search(script_url) is not None


def mark_typed_formulas(root: Element) -> None:
    """Turn the formulas between backticks into `asciimath` elements, except in code."""
    for element in list(root.iter()):
        if "`" in (element.text or "") and not _is_skipped(element):
            text, formulas = _split(element.text or "")
            element.text = text
            element[:0] = formulas
        around = element.getparent()
        if around is not None and "`" in (element.tail or "") and not _is_skipped(around):
            text, formulas = _split(element.tail or "")
            element.tail = None
            for formula in reversed(formulas):
                element.addnext(formula)  # a place by number would be counted from the first child on
            element.tail = text


def _is_skipped(element: Element) -> bool:
    return element.tag in _SKIPPED or next(element.iterancestors(*_SKIPPED), None) is not None


def _split(text: str) -> tuple[str, list[Element]]:
    """Return the text before the first formula, and the formulas with the text behind each."""
    before, *pieces = _TYPED.split(text)
    formulas = []
    for source, behind in zip(pieces[::2], pieces[1::2], strict=True):
        formula = etree.Element("asciimath")
        formula.text, formula.tail = source, behind
        formulas.append(formula)
    return before, formulas
