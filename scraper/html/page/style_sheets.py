"""Parse style sheets into rules, and decide if their conditions apply on a screen."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MAX_MARKS = 10_000
"""Braces and semicolons of a style sheet that are read. None of 1,500 ordinary pages has more."""
_MAX_DEPTH = 8
MAX_PRELUDE = 4_000
"""Characters of a selector that is evaluated."""
_SCREEN_PX = {"width": 1_280, "height": 900}

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r'"[^"\n]*+"|' r"'[^'\n]*+'")
_MARK = re.compile(r"[{};]")
_LIST_COMMA = re.compile(r",(?![^()\[\]]*[)\]])")
"""Comma between selectors, outside brackets."""
_SIZE = re.compile(r"\(\s*+(min|max)-(width|height)\s*+:\s*+(\d++(?:\.\d++)?)(px|em|rem)\s*+\)")
_FEATURE = re.compile(r"\(\s*+([\w-]++)\s*+:\s*+([\w./-]++)\s*+\)")
_FEATURES = dict(
    feature.split("=")
    for feature in "orientation=landscape prefers-color-scheme=light prefers-reduced-motion=no-preference hover=hover "
    "prefers-contrast=no-preference forced-colors=none any-hover=hover pointer=fine any-pointer=fine "
    "scripting=enabled display-mode=browser".split()
)
"""Media features of the browser."""
_OTHER_MEDIA = re.compile(r"\b(?:print|speech|aural|braille|tty|tv|handheld|projection|embossed)\b")
_SKIPPED = ("@font-face", "@page", "@property", "@counter-style", "@font-feature")
_AT_RULE = re.compile(r"@?[\w-]*+")
_KEYFRAMES = ("@keyframes", "@-webkit-keyframes")


class Rule(NamedTuple):
    """Declarations for the elements of a selector.

    The selector of a frame of an animation is `@`, its name and the time of the frame.
    """

    selector: str
    body: str
    applies: bool | None
    """True or False if it is known whether the rule applies on a screen."""


def parse_rules(css: str) -> Iterator[Rule]:
    """Yield all rules; the selector of a nested rule contains that of its parent."""
    stack: list[tuple[str, list[str], bool | None]] = []
    start = 0
    for mark in islice(_MARK.finditer(css), MAX_MARKS):
        text = css[start : mark.start()].strip()
        start = mark.end()
        if mark.group() == "{":
            stack.append(_open(text, stack))
        elif stack:
            if text:
                stack[-1][1].append(text)
            if mark.group() == "}":
                selector, body, applies = stack.pop()
                if selector and body:
                    yield Rule(selector, ";".join(body), applies)


def _open(prelude: str, stack: list[tuple[str, list[str], bool | None]]) -> tuple[str, list[str], bool | None]:
    """Return the selector, the declarations and the condition of a block that opens."""
    parent, _, applies = stack[-1] if stack else ("", [], True)
    if prelude.startswith(_SKIPPED):
        return "", [], False
    if prelude.startswith(_KEYFRAMES):
        return f"@{prelude.partition(' ')[2].strip()}", [], False
    if parent.startswith("@"):
        return f"{parent} {prelude}", [], False
    if len(stack) >= _MAX_DEPTH or len(prelude) > MAX_PRELUDE:
        return parent if prelude.startswith("@") else prelude, [], applies and None
    if not prelude.startswith("@"):
        if not parent:
            return prelude, [], applies
        inner = ",".join(part if "&" in part else f"& {part}" for part in _LIST_COMMA.split(prelude))
        if inner.count("&") * len(parent) + len(inner) > MAX_PRELUDE:
            return prelude, [], applies and None
        return inner.replace("&", f":is({parent})"), [], applies
    inner_applies = _applies(prelude)
    return parent, [], False if applies is False or inner_applies is False else applies and inner_applies


def _applies(condition: str) -> bool | None:
    condition = condition.lower()
    name = _AT_RULE.match(condition)[0]  # type: ignore[index]  # the empty name matches
    rest = condition[len(name) :]
    if name == "@layer":
        return True
    if name == "@supports":
        return None if "not" in rest else True
    if name != "@media":
        return None if name in ("@container", "@scope") else False
    answers = [_applies_to_screen(query) for query in rest.split(",")]
    return True if True in answers else None if None in answers else False


def _applies_to_screen(query: str) -> bool | None:
    """Return True if a media query applies, None if it has an unknown part, else False."""
    rest = _FEATURE.sub("", _SIZE.sub("", query))
    is_other = _OTHER_MEDIA.search(rest) is not None
    if "not" in rest.split():
        return is_other or None
    sizes = all(
        (float(size) * (1 if unit == "px" else 16) <= _SCREEN_PX[side]) == (kind == "min")
        for kind, side, size, unit in _SIZE.findall(query)
    )
    features = [(name, value) for name, value in _FEATURE.findall(_SIZE.sub("", query))]
    if is_other or not sizes or any(_FEATURES.get(name, value) != value for name, value in features):
        return False
    is_known = not set(rest.split()) - {"only", "screen", "all", "and"} and all(
        name in _FEATURES for name, _ in features
    )
    return True if is_known else None


def clear_comments(css: str) -> str:
    """Return a style sheet without comments, and with empty strings for those that contain braces or semicolons."""
    return _STRING.sub(lambda string: '""' if _MARK.search(string[0]) else string[0], COMMENT.sub("", css))


_LETTER = r"(?:[A-Za-z_]|[^\x00-\x7f]|\\[0-9a-fA-F]{1,6}\s?|\\.)"
SIMPLE_NAME = re.compile(rf"[.#]-?{_LETTER}(?:[\w-]|{_LETTER})*+")
NAME = re.compile(rf"{SIMPLE_NAME.pattern}|\[\s*[\w-]++")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_BRACKETS = "()[]"
_COMBINATOR = re.compile(r"[ >+~\n\t]")
_TAG = re.compile(r"[a-zA-Z][\w-]*+|\*")
DYNAMIC_PSEUDO = re.compile(
    r"::|:(?:before|after|first-line|first-letter|hover|focus|active|visited|target|checked|disabled|enabled|empty"
    r"|placeholder|invalid|valid|user-|host|backdrop|-)"
)
"""Pseudo-elements, and states that text is not in until a person acts or a script runs."""


def last_names(selector: str, *, with_tag: bool = False) -> set[str]:
    """Return the classes, ids and attributes of the element that a selector selects, else its tag."""
    if any(bracket in selector for bracket in _BRACKETS):
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
    if not any(bracket in selectors for bracket in _BRACKETS):
        return list(filter(None, map(str.strip, selectors.split(","))))
    parts, depth = [""], 0
    for letter in selectors:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
