"""Convert Office formulas (OMML) to LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scraper.extract.documents.docx.xml_names import M, W
from scraper.extract.dom.xpath import Element

_DEPTH = 60
_ROWS = " \\\\ "
_LONGEST = 20_000

_LETTERS = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩϵϑϕϱϖς",
        r"\alpha \beta \gamma \delta \varepsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho "
        r"\sigma \tau \upsilon \varphi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon "
        r"\Phi \Psi \Omega \epsilon \vartheta \phi \varrho \varpi \varsigma".split(),
        strict=True,
    )
)
_SIGNS = {
    "∞": r"\infty", "×": r"\times", "÷": r"\div", "·": r"\cdot", "⋅": r"\cdot", "±": r"\pm", "∓": r"\mp",
    "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "≅": r"\cong",
    "∝": r"\propto", "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup",
    "∩": r"\cap",
    "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee",
    "→": r"\rightarrow", "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow",
    "⇔": r"\Leftrightarrow",
    "∂": r"\partial", "∇": r"\nabla", "√": r"\sqrt", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint",
    "∮": r"\oint", "…": r"\ldots", "⋯": r"\cdots", "⋮": r"\vdots", "′": "'", "°": r"^{\circ}",
    "ℝ": r"\mathbb{R}",
    "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}", "ℂ": r"\mathbb{C}", "ℚ": r"\mathbb{Q}", "ℏ": r"\hbar",
    "ℓ": r"\ell",
    "−": "-", "–": "-", "∗": "*", "∘": r"\circ", "⊕": r"\oplus", "⊗": r"\otimes", "⟨": r"\langle",
    "⟩": r"\rangle", "∥": r"\parallel", "⊥": r"\perp", "∠": r"\angle",
    "%": r"\%", "&": r"\&", "#": r"\#", "\u00a0": " ", "\u2061": "", "\u200b": "",
}  # fmt: skip
_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp lim max min sup inf det dim gcd "
    "ker arg deg hom Pr".split()
)
_NARY = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge",
}  # fmt: skip
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot",
    "\u0308": "ddot",
    "\u20d7": "vec", "\u20d6": "overleftarrow", "\u030c": "check", "\u0306": "breve", "^": "hat",
    "~": "tilde",
    "\u0301": "acute", "\u0300": "grave",
}  # fmt: skip
_BRACKETS = {"{": r"\{", "}": r"\}", "‖": r"\|", "⌈": r"\lceil", "⌉": r"\rceil", "⌊": r"\lfloor",
             "⌋": r"\rfloor",
             "〈": r"\langle", "〉": r"\rangle", "⟨": r"\langle", "⟩": r"\rangle", "": "."}  # fmt: skip


def convert_to_latex(formula: Element) -> str:
    """Return one formula without delimiters."""
    return " ".join(_inside(formula, 0).split())[:_LONGEST]


def _inside(element: Element | None, depth: int) -> str:
    if element is None or depth > _DEPTH:
        return ""
    return "".join(_one(child, depth + 1) for child in element if isinstance(child.tag, str))


def _one(element: Element, depth: int) -> str:
    name = element.tag.rpartition("}")[2] if element.tag.startswith(M) else ""
    rule = _RULES.get(name)
    if rule is not None:
        return rule(element, depth)
    if name.endswith("Pr") or element.tag == W + "rPr":
        return ""
    return _inside(element, depth)


def _part(element: Element, name: str, depth: int) -> str:
    return _inside(element.find(M + name), depth).strip()


def _setting(element: Element, group: str, name: str, otherwise: str) -> str:
    properties = element.find(M + group)
    found = None if properties is None else properties.find(M + name)
    return otherwise if found is None else found.get(M + "val", "")


def _run(element: Element, depth: int) -> str:
    text = "".join(part.text or "" for part in element.iter(M + "t", W + "t"))
    if text.strip() in _FUNCTIONS:
        return f"\\{text.strip()} "
    return "".join(_sign(letter) for letter in text)


def _sign(letter: str) -> str:
    known = _LETTERS.get(letter) or _SIGNS.get(letter)
    if known is None:
        return letter
    return f" {known} " if known.startswith("\\") and known[-1].isalpha() else known


def _fraction(element: Element, depth: int) -> str:
    above, below = _part(element, "num", depth), _part(element, "den", depth)
    kind = _setting(element, "fPr", "type", "bar")
    if kind == "noBar":
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{above}}}{{{below}}}"
    return f"{above}/{below}" if kind == "lin" else f"\\frac{{{above}}}{{{below}}}"


def _base(element: Element, depth: int) -> str:
    """Return the base of a script; grouped if it is more than letters."""
    text = _part(element, "e", depth)
    return f"{{{text}}}" if text.startswith("\\frac") else text


def _superscript(element: Element, depth: int) -> str:
    return f"{_base(element, depth)}^{{{_part(element, 'sup', depth)}}}"


def _subscript(element: Element, depth: int) -> str:
    return f"{_base(element, depth)}_{{{_part(element, 'sub', depth)}}}"


def _both_scripts(element: Element, depth: int) -> str:
    return f"{_base(element, depth)}_{{{_part(element, 'sub', depth)}}}^{{{_part(element, 'sup', depth)}}}"


def _scripts_before(element: Element, depth: int) -> str:
    scripts = f"{{}}_{{{_part(element, 'sub', depth)}}}^{{{_part(element, 'sup', depth)}}}"
    return scripts + _part(element, "e", depth)


def _root(element: Element, depth: int) -> str:
    degree = _part(element, "deg", depth)
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e', depth)}}}"


def _nary(element: Element, depth: int) -> str:
    sign = _setting(element, "naryPr", "chr", "∫")
    lower, upper = _part(element, "sub", depth), _part(element, "sup", depth)
    limits = (f"_{{{lower}}}" if lower else "") + (f"^{{{upper}}}" if upper else "")
    return f"{_NARY.get(sign, sign)}{limits}{{{_part(element, 'e', depth)}}}"


def _delimiters(element: Element, depth: int) -> str:
    opening, closing = _setting(element, "dPr", "begChr", "("), _setting(element, "dPr", "endChr", ")")
    between = _setting(element, "dPr", "sepChr", "|")
    inside = between.join(_inside(part, depth).strip() for part in element.findall(M + "e"))
    return f"\\left{_BRACKETS.get(opening, opening)}{inside}\\right{_BRACKETS.get(closing, closing)}"


def _function(element: Element, depth: int) -> str:
    name, argument = _part(element, "fName", depth), _part(element, "e", depth)
    return f"{name}{argument}" if argument.startswith("\\left") else f"{name}({argument})"


def _limit_below(element: Element, depth: int) -> str:
    return f"{_part(element, 'e', depth)}_{{{_part(element, 'lim', depth)}}}"


def _limit_above(element: Element, depth: int) -> str:
    return f"{_part(element, 'e', depth)}^{{{_part(element, 'lim', depth)}}}"


def _matrix(element: Element, depth: int) -> str:
    rows = (
        " & ".join(_inside(cell, depth).strip() for cell in row.findall(M + "e")) for row in element.findall(M + "mr")
    )
    return f"\\begin{{matrix}}{_ROWS.join(rows)}\\end{{matrix}}"


def _array(element: Element, depth: int) -> str:
    rows = (_inside(part, depth).strip() for part in element.findall(M + "e"))
    return f"\\begin{{array}}{{c}}{_ROWS.join(rows)}\\end{{array}}"


def _accent(element: Element, depth: int) -> str:
    name = _ACCENTS.get(_setting(element, "accPr", "chr", "\u0302"), "hat")
    return f"\\{name}{{{_part(element, 'e', depth)}}}"


def _bar(element: Element, depth: int) -> str:
    above = _setting(element, "barPr", "pos", "bot") == "top"
    return f"\\{'overline' if above else 'underline'}{{{_part(element, 'e', depth)}}}"


def _brace(element: Element, depth: int) -> str:
    above = _setting(element, "groupChrPr", "pos", "bot") == "top"
    return f"\\{'overbrace' if above else 'underbrace'}{{{_part(element, 'e', depth)}}}"


_RULES: Mapping[str, Callable[[Element, int], str]] = {
    "r": _run, "f": _fraction, "sSup": _superscript, "sSub": _subscript, "sSubSup": _both_scripts,
    "sPre": _scripts_before, "rad": _root, "nary": _nary, "d": _delimiters, "func": _function,
    "limLow": _limit_below, "limUpp": _limit_above, "m": _matrix, "eqArr": _array, "acc": _accent,
    "bar": _bar,
    "groupChr": _brace,
}  # fmt: skip
