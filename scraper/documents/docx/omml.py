"""Convert Office formulas (OMML) to LaTeX."""

import re
from collections.abc import Callable, Mapping

from scraper.documents.office_xml import M, W
from scraper.html.dom.parsing import Element
from scraper.html.math.symbols import FUNCTIONS, SYMBOLS

_MAX_DEPTH = 60
_ROW_END = " \\\\ "
_MAX_CHARS = 20_000

_SYMBOLS = {**SYMBOLS, "ε": r"\varepsilon", "→": r"\rightarrow", "√": r"\sqrt", "∗": "*", "–": "-", "°": r"^{\circ}"}
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot",
    "\u0308": "ddot", "\u20d7": "vec", "\u20d6": "overleftarrow", "\u030c": "check", "\u0306": "breve", "^": "hat",
    "~": "tilde", "\u0301": "acute", "\u0300": "grave",
}  # fmt: skip
_BRACKETS = {**SYMBOLS, "‖": r"\|", "〈": r"\langle", "〉": r"\rangle", "": "."}
_TEMPLATES = {
    "sSup": "%base^{%sup}", "sSub": "%base_{%sub}", "sSubSup": "%base_{%sub}^{%sup}", "sPre": "{}_{%sub}^{%sup}%e",
    "limLow": "%e_{%lim}", "limUpp": "%e^{%lim}", "rad": "\\sqrt[%deg]{%e}",
}  # fmt: skip
"""LaTeX of elements; `%` precedes the names of their parts. `%base` is `%e`, grouped if it is a fraction."""


def convert_to_latex(formula: Element) -> str:
    """Convert one formula to LaTeX without `$` delimiters, cut to 20,000 characters."""
    return " ".join(_convert_children(formula, 0).split())[:_MAX_CHARS]


def _convert_children(element: Element | None, depth: int) -> str:
    if element is None or depth > _MAX_DEPTH:
        return ""
    return "".join(_convert(child, depth + 1) for child in element if isinstance(child.tag, str))


def _convert(element: Element, depth: int) -> str:
    name = element.tag.rpartition("}")[2] if element.tag.startswith(M) else ""
    if name in _TEMPLATES:
        text = re.sub(r"%([a-z]+)", lambda match: _convert_part(element, match[1], depth), _TEMPLATES[name])
        return text.replace("\\sqrt[]", "\\sqrt")
    if name in _RULES:
        return _RULES[name](element, depth)
    return "" if name.endswith("Pr") or element.tag == W + "rPr" else _convert_children(element, depth)


def _convert_part(element: Element, name: str, depth: int) -> str:
    if name == "base":
        text = _convert_part(element, "e", depth)
        return f"{{{text}}}" if text.startswith("\\frac") else text
    return _convert_children(element.find(M + name), depth).strip()


def _convert_parts(element: Element, name: str, depth: int) -> list[str]:
    return [_convert_children(part, depth).strip() for part in element.findall(M + name)]


def _property(element: Element, group: str, name: str, default: str) -> str:
    found = element.find(f"{M}{group}/{M}{name}")
    return default if found is None else found.get(M + "val", "")


def _run(element: Element, depth: int) -> str:
    text = "".join(part.text or "" for part in element.iter(M + "t", W + "t"))
    return f"\\{text.strip()} " if text.strip() in FUNCTIONS else "".join(map(_symbol, text))


def _symbol(character: str) -> str:
    command = _SYMBOLS.get(character, character)
    return f" {command} " if command.startswith("\\") and command[-1].isalpha() else command


def _fraction(element: Element, depth: int) -> str:
    numerator, denominator = _convert_part(element, "num", depth), _convert_part(element, "den", depth)
    kind = _property(element, "fPr", "type", "bar")
    if kind == "noBar":
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{numerator}}}{{{denominator}}}"
    return f"{numerator}/{denominator}" if kind == "lin" else f"\\frac{{{numerator}}}{{{denominator}}}"


def _nary(element: Element, depth: int) -> str:
    sign = _property(element, "naryPr", "chr", "∫")
    lower, upper = _convert_part(element, "sub", depth), _convert_part(element, "sup", depth)
    limits = (f"_{{{lower}}}" if lower else "") + (f"^{{{upper}}}" if upper else "")
    return f"{_SYMBOLS.get(sign, sign)}{limits}{{{_convert_part(element, 'e', depth)}}}"


def _delimiters(element: Element, depth: int) -> str:
    opening, closing = _property(element, "dPr", "begChr", "("), _property(element, "dPr", "endChr", ")")
    inside = _property(element, "dPr", "sepChr", "|").join(_convert_parts(element, "e", depth))
    return f"\\left{_BRACKETS.get(opening, opening)}{inside}\\right{_BRACKETS.get(closing, closing)}"


def _function(element: Element, depth: int) -> str:
    name, argument = _convert_part(element, "fName", depth), _convert_part(element, "e", depth)
    return f"{name}{argument}" if argument.startswith("\\left") else f"{name}({argument})"


def _matrix(element: Element, depth: int) -> str:
    rows = (" & ".join(_convert_parts(row, "e", depth)) for row in element.findall(M + "mr"))
    return f"\\begin{{matrix}}{_ROW_END.join(rows)}\\end{{matrix}}"


def _array(element: Element, depth: int) -> str:
    return f"\\begin{{array}}{{c}}{_ROW_END.join(_convert_parts(element, 'e', depth))}\\end{{array}}"


def _accent(element: Element, depth: int) -> str:
    name = _ACCENTS.get(_property(element, "accPr", "chr", "\u0302"), "hat")
    return f"\\{name}{{{_convert_part(element, 'e', depth)}}}"


def _bar_or_brace(element: Element, depth: int) -> str:
    name = "line" if element.tag == M + "bar" else "brace"
    position = (
        "over" if _property(element, "barPr" if name == "line" else "groupChrPr", "pos", "bot") == "top" else "under"
    )
    return f"\\{position}{name}{{{_convert_part(element, 'e', depth)}}}"


_RULES: Mapping[str, Callable[[Element, int], str]] = {
    "r": _run, "f": _fraction, "nary": _nary, "d": _delimiters, "func": _function, "m": _matrix,
    "eqArr": _array, "acc": _accent, "bar": _bar_or_brace, "groupChr": _bar_or_brace,
}  # fmt: skip
