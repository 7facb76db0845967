"""Find TeX formulas in running text, remove their delimiters and format them for Markdown."""

import re
from collections.abc import Callable, Iterator

from scraper.values.text import MAX_TEX, is_balanced

_MAX_INLINE_TEX = 2_000
r"""Characters of a formula between `\(` and `\)` in running text."""

# Content between delimiters also ends at the next opening of its kind, so that each kind scans a text once. A
# backslash and the next character are one unit: `\\[4pt]` in a formula is a line break, not an opening.
_DELIMITED = re.compile(
    r"(?<!\\)\\\((?!\\\))(?P<round>[^\\]*+(?:\\[^()][^\\]*+)*+)\\\)"
    r"|(?<!\\)\\\[(?!\\\])(?P<square>[^\\]*+(?:\\[^\[\]][^\\]*+)*+)\\\]"
    r"|\$\$(?P<double>[^$]{1,8000})\$\$"
    r"|(?<![\w$\\])\$(?P<single>[^\s$](?:[^$\n]{0,500}[^\s$\\])?)\$(?![\w$])"
    r"|(?P<bare>\\begin\{(?P<name>(?:equation|align|gather|multline|eqnarray|alignat|flalign)\*?)\}"
    r"[^\\]*+(?:\\(?!(?:begin|end)\{(?P=name)\}).[^\\]*+)*+\\end\{(?P=name)\})",
    re.DOTALL,
)
_OPENINGS = ("$", "\\(", "\\[", "\\begin{")
_FORMULA_SIGNS = re.compile(r"[\\^_{}=+<>|]|^[A-Za-z]{1,2}'?$|^-?\d+$|^[A-Za-z]\([A-Za-z,]+\)$")
"""Characters that occur in a formula between single dollars, but not in an amount of money."""

_MONEY = re.compile(r"^\d[\d.,]*(?:\s|$)")
_MACROS = re.compile(
    r"(?:\s*\\(?:(?:re|provide)?(?:newcommand|def|DeclareMathOperator|definecolor|let)\b[^$]*+"
    r"|(?:begin|end)group\b|displaystyle\b))+\s*"
)
_WHOLE = re.compile(r"\s*(?:\\\((?P<a>.*)\\\)|\\\[(?P<b>.*)\\\]|\$\$(?P<c>.*)\$\$|\$(?P<d>[^$]*)\$)\s*", re.DOTALL)
_DISPLAY_STYLE = re.compile(r"\{\s*\\(?:displaystyle|textstyle)\b\s*+(.*)\}", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_TEXT_COMMAND = re.compile(r"\\(?:text\w*|mathrm|mathit|operatorname\*?|mbox|hbox)\s*\{[^{}]*\}|\\[a-zA-Z]+")
_PROSE = re.compile(r"(?:\b[A-Za-z]{2,}\b[\s,;.:!?'-]+){5}")
r"""Five words in a row outside of `\text{}`, each before a space or punctuation: a sentence, which no formula has."""

_COMMAND_END = re.compile(r"\\[A-Za-z]+$")


def replace_formulas(text: str, escape: Callable[[str], str], write: Callable[[str, bool], str]) -> str:
    """Return the text with each formula replaced by `write(tex, display)` and the rest by `escape(text)`.

    `display` is True for formulas between double dollars or square brackets, and for environments.
    """
    if not any(opening in text for opening in _OPENINGS):
        return escape(text)
    pieces: list[str] = []
    at = 0
    for match in _find_delimited(text):
        kind = match.lastgroup or ""
        tex = match.group("bare") if kind in ("bare", "name") else match.group(kind)
        if kind in ("single", "double") and (not _FORMULA_SIGNS.search(tex.strip()) or _MONEY.match(tex)):
            continue
        pieces.append(escape(text[at : match.start()]))
        pieces.append(write(tex, kind not in ("round", "single")))
        at = match.end()
    pieces.append(escape(text[at:]))
    return "".join(pieces)


def collapse_outside_formulas(text: str, fold: Callable[[str], str]) -> str:
    """Return the text with `fold` applied to everything but formulas in double dollars, brackets or environments."""
    pieces: list[str] = []
    at = 0
    for match in _find_delimited(text):
        if match.group("square") or match.group("double") or match.group("bare"):
            pieces += [fold(text[at : match.start()]), match.group()]
            at = match.end()
    return "".join([*pieces, fold(text[at:])])


def _find_delimited(text: str) -> Iterator[re.Match[str]]:
    """Yield the formulas in a text. Inside a match that is too long for a formula, others are searched."""
    at = 0
    while (match := _DELIMITED.search(text, at)) is not None:
        longest = MAX_TEX if match["round"] is None else _MAX_INLINE_TEX
        is_short = match.end() - match.start() <= longest
        if is_short:
            yield match
        at = match.end() if is_short else match.start() + 1


def strip_delimiters(tex: str) -> str:
    """Return a formula without its delimiters, or "" if it only defines macros or is longer than `MAX_TEX`."""
    tex = (tex.partition("\n")[2] if tex.startswith("%") and "\n" in tex else tex).strip()  # a comment
    whole = _WHOLE.fullmatch(tex)
    if whole is not None:
        tex = next(filter(None, whole.groups()), "").strip()
    return "" if _MACROS.fullmatch(tex) or len(tex) > MAX_TEX else tex


def strip_display_style(tex: str) -> str:
    """Return a formula without a brace pair that only sets the size of all of it, as MediaWiki writes it."""
    styled = _DISPLAY_STYLE.fullmatch(tex)
    is_whole = styled is not None and is_balanced(_ESCAPED.sub("", styled.group(1)), "{", "}")
    return styled.group(1).strip() if styled is not None and is_whole else tex


def is_prose(tex: str) -> bool:
    """Return True if a text in the place of TeX is a sentence rather than a formula."""
    return _PROSE.search(_TEXT_COMMAND.sub(" 0 ", tex)) is not None


def join_tex(pieces: list[str]) -> str:
    """Join pieces of TeX, with a blank if a command would absorb the next letter."""
    out = ""
    for piece in pieces:
        if piece and out and piece[0].isalpha() and _COMMAND_END.search(out[-24:]):
            out += " "
        out += piece
    return out
