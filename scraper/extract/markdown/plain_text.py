"""Reduce Markdown to plain text for search."""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"<!--(?:(?!-->|<!--).)*+-->"
    r"|^\s{0,3}#{1,6} "
    r"|^[^\S\n]*+\|(?:[^\S\n]*+:?-++:?[^\S\n]*+\|)++[^\S\n]*+$"
    r"|^```\S*$|<br>|\*\*|\\(?=[\\`*_{}\[\]()#+\-.!|])",
    re.MULTILINE,
)
"""Each alternative stops where the next one could begin or at the end of its line: linear time."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_FORMULA = re.compile(r"\$([^$\n]{1,2000})\$")
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+|.)|[{}^_&~]")
_TEX_COMMAND = re.compile(
    r"\\(alpha|beta|gamma|delta|epsilon|theta|lambda|mu|pi|rho|sigma|tau|phi|psi|omega|sum|int|infty|lim|sin|cos"
    r"|tan|log|ln|exp|max|min)(?![a-z])",
    re.IGNORECASE,
)


def strip_markdown(markdown: str) -> str:
    """Remove headings' marks, bold, links, table rules and comments, and write formulas as words, for search.

    Fences of code, line breaks and escapes are removed too; other marks remain.
    """
    text = _FORMULA.sub(_simplify_formula, _LINK.sub(r"\1", _MARKS.sub("", markdown)))
    return text.replace(" | ", " ").strip()


def _simplify_formula(match: re.Match[str]) -> str:
    """Remove the commands of a formula; keep names of letters and functions."""
    spoken = _TEX_COMMAND.sub(r" \1 ", match.group(1))
    return " ".join(_COMMAND.sub(" ", spoken).split())
