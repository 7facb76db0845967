"""Markdown without its marks, and formulas as the words in them: what a search is to find."""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"<!--(?:(?!-->|<!--).)*+-->"
    r"|^\s{0,3}#{1,6} "
    r"|^[^\S\n]*+\|(?:[^\S\n]*+:?-++:?[^\S\n]*+\|)++[^\S\n]*+$"
    r"|^```\S*$|<br>|\*\*|\\(?=[\\`*_{}\[\]()#+\-.!|])",
    re.MULTILINE,
)
"""Each stops where the next one could begin, or where its line ends: no text is gone through twice."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_FORMULA = re.compile(r"\$([^$\n]{1,2000})\$")
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+|.)|[{}^_&~]")
_SPOKEN = re.compile(
    r"\\(alpha|beta|gamma|delta|epsilon|theta|lambda|mu|pi|rho|sigma|tau|phi|psi|omega|sum|int|infty|lim|sin|cos"
    r"|tan|log|ln|exp|max|min)(?![a-z])",
    re.IGNORECASE,
)


def plain_words(markdown: str) -> str:
    """The text alone."""
    text = _FORMULA.sub(_words, _LINK.sub(r"\1", _MARKS.sub("", markdown)))
    return text.replace(" | ", " ").strip()


def _words(match: re.Match[str]) -> str:
    """What is left of a formula without its commands; names of letters and functions stay."""
    spoken = _SPOKEN.sub(r" \1 ", match.group(1))
    return " ".join(_COMMAND.sub(" ", spoken).split())
