"""Convert MathML into TeX."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from lxml import etree

from scraper.html.dom.parsing import Element, classes_of, text_of
from scraper.html.math.symbols import FUNCTIONS, SYMBOLS, TABLE
from scraper.html.math.tex_delimiters import join_tex

_ACCENTS = (
    "dot ˙  ddot ¨  hat ^ˆ  tilde ~˜∼  bar ¯ˉ  overline ‾_―  vec →⃗⇀  overbrace ⏞  check ˇ  breve ˘  acute ´  grave `"
)
ACCENTS: Mapping[str, str] = {mark: pair.split()[0] for pair in _ACCENTS.split("  ") for mark in pair.split()[1]}
"""Commands for accents over a letter, by the character in MathML."""

_UNDER_ACCENTS: Mapping[str, str] = {"⏟": "underbrace", "_": "underline", "‾": "underline", "―": "underline"}

_FENCES = {(opening, closing): kind for opening, closing, kind in TABLE["fences"]}
"""Environments of a matrix, by its opening and closing bracket."""


MAX_DEPTH = 60
"""Levels. Formulas by people nest less than 30 deep; of deeper parts only the text is returned."""

_WHITE = re.compile(r"\s+")
_ALIGNED = ("right left", "right center left")
_STYLES: Mapping[str, str] = TABLE["variants"]
_NEEDS_BRACES = frozenset({"mrow", "mfrac", "mstyle", "msup", "msub", "msubsup", "mover", "munder"})


def to_tex(element: Element, depth: int = 0) -> str:
    """Return the TeX of a MathML element; below `MAX_DEPTH` levels, return only the text."""
    name = _name(element)
    if depth > MAX_DEPTH:
        return _symbols(text_of(element))
    if name in _TOKENS:
        return _TOKENS[name](element)
    parts = [child for child in element if not _name(child).startswith("annotation")]
    if not parts and name not in _SHAPES:
        return _symbols(text_of(element))
    inner = [to_tex(part, depth + 1) for part in parts]
    return _SHAPES[name](element, parts, inner) if name in _SHAPES else _row(parts, inner)


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _symbols(text: str) -> str:
    # Letters of the mathematical alphabets differ from plain ones only in style.
    letters = (unicodedata.normalize("NFKC", one) if one >= "\U0001d400" else one for one in text.strip())
    plain = unicodedata.normalize("NFC", "".join(letters))
    return join_tex([SYMBOLS.get(character, character) for character in plain])


def _identifier(element: Element) -> str:
    text = text_of(element).strip()
    tex = _symbols(text)
    style = _STYLES.get(element.get("mathvariant") or "")
    if style and tex:
        return f"\\{style}{{{tex}}}"
    if text in FUNCTIONS:
        return f"\\{text}"
    return f"\\mathrm{{{tex}}}" if len(text) > 1 and text.isascii() and text.isalpha() else tex


def _operator(element: Element) -> str:
    text = text_of(element).strip()
    if text in FUNCTIONS:
        return f"\\{text}"
    if len(text) > 1 and text.isascii() and text.isalpha():
        return f"\\operatorname{{{text}}}"
    return _symbols(text)


def _text(element: Element) -> str:
    text = _WHITE.sub(" ", text_of(element))
    if not text.strip():
        return " " if text else ""
    return f"\\text{{{text}}}" if any(map(str.isalnum, text)) else _symbols(text)


_TOKENS: Mapping[str, Callable[[Element], str]] = {
    "mi": _identifier,
    "mo": _operator,
    "mn": lambda element: _symbols(text_of(element)),
    "ms": lambda element: _symbols(text_of(element)),
    "mtext": _text,
    "mspace": lambda element: "\\quad " if (element.get("width") or "") in ("1em", "2em") else "",
    "mphantom": lambda element: "",
    "none": lambda element: "",
    "mprescripts": lambda element: "",
}


def _row(parts: list[Element], inner: list[str]) -> str:
    """Join children in a row. Brackets around a single table select the kind of matrix."""
    tables = [at for at, part in enumerate(parts) if _is_matrix(part)]
    if len(tables) == 1:
        at = tables[0]
        before = inner[at - 1].strip() if at else ""
        after = _get(inner, at + 1).strip()
        if kind := _FENCES.get((before, after)):
            matrix = inner[at].replace("{matrix}", f"{{{kind}}}")
            last = at + 2 if after else at + 1
            return join_tex([*inner[: at - 1], matrix, *inner[last:]])
    return join_tex(inner)


def _is_matrix(part: Element) -> bool:
    while _name(part) in ("mrow", "mstyle") and len(part) == 1:
        part = part[0]
    return _name(part) == "mtable" and not (part.get("columnalign") or "").startswith(_ALIGNED)


def _get(inner: list[str], place: int) -> str:
    return inner[place] if place < len(inner) else ""


def _base(parts: list[Element], inner: list[str]) -> str:
    base = _get(inner, 0)
    return f"{{{base}}}" if parts and _name(parts[0]) in _NEEDS_BRACES and len(base) > 1 else base


def _fraction(element: Element, parts: list[Element], inner: list[str]) -> str:
    if (element.get("linethickness") or "").strip().startswith("0"):
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{_get(inner, 0)}}}{{{_get(inner, 1)}}}"
    return f"\\frac{{{_get(inner, 0)}}}{{{_get(inner, 1)}}}"


def _scripts(element: Element, parts: list[Element], inner: list[str]) -> str:
    name = _name(element)
    if name in ("mover", "munder") and (accented := _accent(name, parts, inner)):
        return accented
    base = _base(parts, inner)
    if name in ("msup", "mover"):
        return f"{base}^{{{_get(inner, 1)}}}"
    if name in ("msub", "munder"):
        return f"{base}_{{{_get(inner, 1)}}}"
    return f"{base}_{{{_get(inner, 1)}}}^{{{_get(inner, 2)}}}"


def _accent(name: str, parts: list[Element], inner: list[str]) -> str:
    """Return an accent, brace or arrow on a base, or text set over a relation; "" for limits of an operator."""
    mark = text_of(parts[1]).strip() if len(parts) > 1 else ""
    base = _get(inner, 0)
    command = (ACCENTS if name == "mover" else _UNDER_ACCENTS).get(mark)
    if command:
        return f"\\{command}{{{base}}}"
    if name == "mover" and not base.startswith(("\\sum", "\\prod", "\\int", "\\lim", "\\max", "\\min")):
        braced = base.startswith(("\\overbrace", "\\overline"))
        return "" if braced else f"\\overset{{{_get(inner, 1)}}}{{{base}}}"
    return ""


def _multiscripts(element: Element, parts: list[Element], inner: list[str]) -> str:
    names = [_name(part) for part in parts]
    split = names.index("mprescripts") if "mprescripts" in names else len(parts)
    before, after = inner[split + 1 :], inner[1:split]
    leading = "{}" + _join_script_pairs(before) if before else ""
    return leading + _base(parts, inner) + _join_script_pairs(after)


def _join_script_pairs(scripts: list[str]) -> str:
    return "".join(f"{'_^'[at % 2]}{{{script}}}" for at, script in enumerate(scripts) if script)


def _fenced(element: Element, parts: list[Element], inner: list[str]) -> str:
    separators = (element.get("separators", ",") or "").strip()[:1]
    opening, closing = element.get("open", "("), element.get("close", ")")
    kind = _FENCES.get((_symbols(opening), _symbols(closing))) if len(parts) == 1 and _is_matrix(parts[0]) else None
    if kind:
        return inner[0].replace("{matrix}", f"{{{kind}}}")
    return f"\\left{_symbols(opening) or '.'}{separators.join(inner)}\\right{_symbols(closing) or '.'}"


def _table(element: Element, parts: list[Element], inner: list[str]) -> str:
    if len(parts) == 1 and _name(parts[0]) == "mlabeledtr":
        return inner[0]
    kind = "aligned" if (element.get("columnalign") or "").startswith(_ALIGNED) else "matrix"
    rows = " \\\\ ".join(inner)
    return f"\\begin{{{kind}}}{rows}\\end{{{kind}}}"


def _labeled_row(element: Element, parts: list[Element], inner: list[str]) -> str:
    label = _get(inner, 0)
    tag = " ".join(text_of(parts[0]).split()).strip("()") if parts else ""
    row = " & ".join(inner[1:])
    return f"{row} \\tag{{{tag}}}" if tag.isalnum() else f"{row} {label}"


def _enclosure(element: Element, parts: list[Element], inner: list[str]) -> str:
    notation = element.get("notation") or "longdiv"
    command = {"top": "overline", "bottom": "underline", "box": "boxed", "radical": "sqrt"}.get(notation)
    body = _row(parts, inner)
    return f"\\{command}{{{body}}}" if command else body


_Shape = Callable[[Element, list[Element], list[str]], str]
_SHAPES: Mapping[str, _Shape] = {
    "mfrac": _fraction,
    "msqrt": lambda element, parts, inner: f"\\sqrt{{{_row(parts, inner)}}}",
    "mroot": lambda element, parts, inner: f"\\sqrt[{_get(inner, 1)}]{{{_get(inner, 0)}}}",
    **dict.fromkeys(("msup", "msub", "msubsup", "mover", "munder", "munderover"), _scripts),
    "mmultiscripts": _multiscripts,
    "mfenced": _fenced,
    "mtable": _table,
    "mtr": lambda element, parts, inner: " & ".join(inner),
    "mlabeledtr": _labeled_row,
    "menclose": _enclosure,
    "semantics": lambda element, parts, inner: _get(inner, 0),
}


_MATHJAX_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup"})
_OPERANDS: Mapping[str, list[str]] = TABLE["operands"]
"""Parts with the operands, in MathML's order."""
_IGNORED = frozenset({"mjx-assistive-mml", "mjx-spacer", "mjx-surd", "mjx-speech", "mjx-menu"})
_WRAPPERS = frozenset("mjx-box mjx-row mjx-munder mjx-mover mjx-sqrt mjx-frac mjx-dbox mjx-dtable".split())


def build_mathml(name: str, children: Iterable[Element], depth: int = 0) -> Element:
    """Return a MathML element from the parts of an `mjx-container`, rendered either with elements or as SVG."""
    made = etree.Element(name)
    for child in children:
        made.extend(_convert(child, depth + 1))
    return made


def _convert(element: Element, depth: int) -> Iterator[Element]:
    """Yield the MathML of an element: nothing for layout elements, the children's for wrappers."""
    tag = str(element.tag)
    name = element.get("data-mml-node") or (tag[4:] if tag.startswith("mjx-") else "")
    name = "mrow" if name in ("TeXAtom", "texatom") else name
    if tag in _IGNORED or depth > 3 * MAX_DEPTH:
        return
    if name in _MATHJAX_TOKENS:
        token = etree.Element(name)
        token.text = _read_glyphs(element)
        yield token
    elif name in _SCRIPTS or name in _OPERANDS:
        made = etree.Element(name)
        made.extend([build_mathml("mrow", operand, depth) for operand in _find_operands(name, element)])
        yield made
    elif name in ("mtable", "mtr", "mlabeledtr", "mtd", "mrow", "mspace"):
        yield build_mathml(name, element, depth)
    else:
        for child in element:
            yield from _convert(child, depth + 1)


def _find_operands(name: str, element: Element) -> list[list[Element]]:
    """Return the operands in MathML's order, each as a list of its elements."""
    if element.get("data-mml-node"):  # groups of a drawing
        operands = [[child] for child in element if child.get("data-mml-node")]
        operands = operands[:1] if name == "msqrt" else operands
    elif name in _OPERANDS:
        return [_find_children(element, part) for part in _OPERANDS[name]]
    else:
        base, *others = [[child] for child in element] or [[]]
        scripts = [part for (child,) in others for part in child if str(part.tag) not in _IGNORED]
        operands = [base, scripts[:1], scripts[1:]] if name == "msubsup" and len(scripts) == 2 else [base, scripts]
    # The upper of two scripts comes first.
    return [operands[0], operands[2], operands[1]] if name == "msubsup" and len(operands) == 3 else operands


def _find_children(element: Element, name: str) -> list[Element]:
    """Return the children of the nearest part of that name, without searching inside other parts."""
    waiting = list(element)
    while waiting:
        part = waiting.pop(0)
        if part.tag == name:
            return list(part)
        if part.tag in _WRAPPERS:
            waiting += list(part)
    return []


def _read_glyphs(token: Element) -> str:
    """Return the characters of a token: its text, or code points in the class (`mjx-c1D465`) or in `data-c`."""
    pieces = []
    for element in token.iterdescendants():
        code = element.get("data-c") or next((name[5:] for name in classes_of(element) if name.startswith("mjx-c")), "")
        text = text_of(element).strip() if not len(element) else ""
        with suppress(ValueError, OverflowError):
            pieces.append(text or (chr(int(code, 16)) if code else ""))
    return "".join(pieces) or text_of(token).strip()
