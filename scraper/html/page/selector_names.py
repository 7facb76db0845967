"""Take selectors apart: the names of the element that a selector selects."""

from __future__ import annotations

import re

_LETTER = r"(?:[A-Za-z_]|[^\x00-\x7f]|\\[0-9a-fA-F]{1,6}\s?|\\.)"
SIMPLE_NAME = re.compile(rf"[.#]-?{_LETTER}(?:[\w-]|{_LETTER})*+")
NAME = re.compile(rf"{SIMPLE_NAME.pattern}|\[\s*[\w-]++")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_BRACKET = re.compile(r"[()\[\]]")
_COMBINATOR = re.compile(r"[ >+~\n\t]")
_TAG = re.compile(r"[a-zA-Z][\w-]*+|\*")
DYNAMIC_PSEUDO = re.compile(
    r"::|:(?:before|after|first-line|first-letter|hover|focus|active|visited|target|checked|disabled|enabled|empty"
    r"|placeholder|invalid|valid|user-|host|backdrop|-)"
)
"""Pseudo-elements, and states that text is not in until a person acts or a script runs."""


def last_names(selector: str, *, with_tag: bool = False) -> set[str]:
    """Return the classes, ids and attributes of the element that a selector selects, else its tag."""
    if _BRACKET.search(selector):
        depth = start = 0
        for at, letter in enumerate(selector):
            depth += (letter in "([") - (letter in ")]")
            if not depth and letter in " >+~\n\t":
                start = at + 1
        last = selector[start:]
    else:
        last = _COMBINATOR.split(selector)[-1]
    names, tag = set(NAME.findall(last)), _TAG.match(last)
    return names | {tag[0].lower()} if tag and (with_tag or not names) else names


def unescape(name: str) -> str:
    """Return a name or declarations without CSS escapes."""

    def character(escape: re.Match[str]) -> str:
        code = int(escape[1], 16) if escape[1] else ord(escape[2])
        return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"

    return _ESCAPE.sub(character, name) if "\\" in name else name


def split_selectors(selectors: str) -> list[str]:
    """Split a list of selectors at its commas, except inside of brackets."""
    if not _BRACKET.search(selectors):
        return list(filter(None, map(str.strip, selectors.split(","))))
    parts, depth = [""], 0
    for letter in selectors:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
