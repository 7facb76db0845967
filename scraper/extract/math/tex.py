"""Formulas as TeX between dollars: found in running text, cleaned, and told from prose that pretends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

MAX_TEX = 8_000
"""The longest formula; a longer text is no formula."""

_MAX_INLINE_TEX = 2_000
"""Of a formula between `\\(` and `\\)`, in running text."""

# What is between delimiters ends at the next opening of its kind too: so each kind goes through a text once.
# It is read in pairs, a backslash and what follows: `\\[4pt]` in a formula is a line break, no opening.
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
_SIGNS = re.compile(r"[\\^_{}=+<>|]|^[A-Za-z]{1,2}'?$|^-?\d+$|^[A-Za-z]\([A-Za-z,]+\)$")
"""What a formula between single dollars has and a sum of money has not."""

_MONEY = re.compile(r"^\d[\d.,]*(?:\s|$)")
_MACROS = re.compile(
    r"(?:\s*\\(?:(?:re|provide)?(?:newcommand|def|DeclareMathOperator|definecolor|let)\b[^$]*+"
    r"|(?:begin|end)group\b|displaystyle\b))+\s*"
)
_COMMENT = re.compile(r"^%[^\n]*\n")
_WHOLE = re.compile(
    r"\s*(?:\\\((?P<a>.*)\\\)|\\\[(?P<b>.*)\\\]|\$\$(?P<c>.*)\$\$|\$(?P<d>[^$]*)\$)\s*", re.DOTALL
)
_DISPLAY_STYLE = re.compile(r"\{\s*\\(?:displaystyle|textstyle)\b\s*+(.*)\}", re.DOTALL)
_TEXT_COMMAND = re.compile(r"\\(?:text\w*|mathrm|mathit|operatorname\*?|mbox|hbox)\s*\{[^{}]*\}|\\[a-zA-Z]+")
_PROSE = re.compile(r"(?:\b[A-Za-z]{2,}\b[\s,;.:!?'-]+){5}")
"""So many words in a row, outside of `\\text{}`, are a sentence: no formula hides one."""

_COMMAND_END = re.compile(r"\\[A-Za-z]+$")


def replace_formulas(text: str, escape: Callable[[str], str], write: Callable[[str, bool], str]) -> str:
    """`text` with its formulas written by `write(tex, display)` and the rest escaped."""
    if not any(opening in text for opening in _OPENINGS):
        return escape(text)
    pieces: list[str] = []
    at = 0
    for match in _delimited(text):
        kind = match.lastgroup or ""
        tex = match.group("bare") if kind in ("bare", "name") else match.group(kind)
        if kind in ("single", "double") and (not _SIGNS.search(tex.strip()) or _MONEY.match(tex)):
            continue
        pieces.append(escape(text[at : match.start()]))
        pieces.append(write(tex, kind not in ("round", "single")))
        at = match.end()
    pieces.append(escape(text[at:]))
    return "".join(pieces)


def collapse_outside_formulas(text: str, fold: Callable[[str], str]) -> str:
    """`text` with its white space folded, but for that in displayed formulas."""
    pieces: list[str] = []
    at = 0
    for match in _delimited(text):
        if match.group("square") or match.group("double") or match.group("bare"):
            pieces += [fold(text[at : match.start()]), match.group()]
            at = match.end()
    return "".join([*pieces, fold(text[at:])])


def _delimited(text: str) -> Iterator[re.Match[str]]:
    """The formulas in a text; what is too long for one is looked through for others."""
    at = 0
    while (match := _DELIMITED.search(text, at)) is not None:
        longest = MAX_TEX if match["round"] is None else _MAX_INLINE_TEX
        is_short = match.end() - match.start() <= longest
        if is_short:
            yield match
        at = match.end() if is_short else match.start() + 1


def strip_delimiters(tex: str) -> str:
    """A formula without its delimiters; empty for mere definitions of macros."""
    tex = _COMMENT.sub("", tex).strip()
    whole = _WHOLE.fullmatch(tex)
    if whole is not None:
        tex = (whole.group("a") or whole.group("b") or whole.group("c") or whole.group("d") or "").strip()
    return "" if _MACROS.fullmatch(tex) or len(tex) > MAX_TEX else tex


def strip_display_style(tex: str) -> str:
    """A formula without the braces that only set its size around all of it."""
    styled = _DISPLAY_STYLE.fullmatch(tex)
    return styled.group(1).strip() if styled is not None and _is_closed(styled.group(1)) else tex


def _is_closed(tex: str) -> bool:
    """Whether no brace closes that was not opened here."""
    depth = 0
    for character in tex.replace("\\{", "").replace("\\}", ""):
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def is_prose(tex: str) -> bool:
    """Whether a text that nobody sees as such is a sentence rather than a formula."""
    return _PROSE.search(_TEXT_COMMAND.sub(" 0 ", tex)) is not None


def format_inline(tex: str) -> str:
    """A formula in running text."""
    return f"${' '.join(tex.split())}$"


def format_display(tex: str) -> str:
    """A formula on lines of its own."""
    return f"$$\n{tex.strip()}\n$$"


def join_tex(pieces: list[str]) -> str:
    """Pieces of TeX in a row, a blank where a command would run into a letter."""
    out = ""
    for piece in pieces:
        if piece and out and piece[0].isalpha() and _COMMAND_END.search(out[-24:]):
            out += " "
        out += piece
    return out
