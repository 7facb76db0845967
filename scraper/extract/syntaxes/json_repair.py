"""Blocks of JSON-LD that templates and editors have broken, made JSON again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.)|\Z)', re.DOTALL)
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*+"?+)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)|'
    r"(?P<code>(?<![\w.+-])0\d+(?![\w.]))|(?P<nothing>\bundefined\b)|(?P<white>\s++)|(?P<other>[^\s\",:\[\]{}]++)",
    re.DOTALL,
)
"""An unclosed string is all that follows: no character is looked at twice."""
_CURLED = str.maketrans("“”„‟″", '"""""')
_CURLED_KEY = re.compile(r"[{,]\s*[“”„‟″]@?\w+[“”„‟″]\s*:")
_INNER_QUOTE = re.compile(r'(?:(?<![\\\s:,\[{"])|(?<=[^\\\s:,\[{"]\s))"(?!\s*(?:[,:}\]]|\Z))')
_BREAK = re.compile(r"(?<=[{\[,])\s*+(?:<br\s*/?>|</?p>)", re.IGNORECASE)
_MISREAD = re.compile(r"[:\[,]\s*(?:0\d|undefined\b)")
_CLOSING = {"{": "}", "[": "]"}
_MARKS = frozenset({"comma", "colon", "open", "close"})


def is_misread_as_code(text: str) -> bool:
    """Whether JavaScript may read a text as something else: `007` as seven, `undefined` as a word."""
    return any(sign.search(text) for sign in (_MISREAD, _CURLED_KEY, _BREAK))


def attempts(text: str) -> Iterator[str]:
    """What the text may have been meant to be, likeliest first; the caller takes the first that is JSON."""
    text = _known_escapes(_as_typed(text))
    yield text
    yield _completed(text)
    quoted = _INNER_QUOTE.sub(r"\\" + '"', text)
    if quoted != text:
        yield quoted
        yield _completed(quoted)


def _as_typed(text: str) -> str:
    """Without what an editor of texts has made of it: curled quotes, ends of lines as tags."""
    text = _BREAK.sub("", text)
    return text.translate(_CURLED) if _CURLED_KEY.search(text) else text


def _known_escapes(text: str) -> str:
    r"""Without backslashes that mean nothing to JSON, such as `\'`."""
    return _BAD_ESCAPE.sub(lambda match: match.group() if match.group(1) else match.group(2) or "", text)


def _completed(text: str) -> str:
    """With what is missing between tokens: values, commas, and the ends that nobody wrote."""
    told: list[str] = []
    brackets = _Brackets()
    last = ""
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match.group()
        if kind == "white":
            told.append(token)
            continue
        if kind in ("comma", "close") and last == "colon":
            told.append("null")
        if kind in ("string", "open") and last and last not in ("comma", "colon", "open"):
            told.append(",")
        told.append(brackets.take(token) if kind in ("open", "close") else _spelt(kind, token))
        last = kind if kind in _MARKS else "value"
    if last == "colon":
        told.append("null")
    return "".join(told) + brackets.rest()


class _Brackets:
    """Those that are open. What closes none is left out; what closes an outer one closes the inner ones."""

    def __init__(self) -> None:
        self._expected: list[str] = []
        self._count = Counter[str]()

    def take(self, bracket: str) -> str:
        """What stands for a bracket in a text where each is closed by its own."""
        closing = _CLOSING.get(bracket)
        if closing is not None:
            self._expected.append(closing)
            self._count[closing] += 1
            return bracket
        told = ""
        while self._count[bracket] and not told.endswith(bracket):
            told += self._expected.pop()
            self._count[told[-1]] -= 1
        return told

    def rest(self) -> str:
        """What closes all that is still open."""
        return "".join(reversed(self._expected))


def _spelt(kind: str, token: str) -> str:
    """Numbers with zeros before them are codes: JavaScript would make others of them."""
    if kind == "code":
        return f'"{token}"'
    if kind == "nothing":
        return "null"
    if kind == "string" and (len(token) == 1 or not _is_closed(token)):
        return f'{token.rstrip(chr(92))}"'
    return token


def _is_closed(string: str) -> bool:
    behind = len(string) - 1 - len(string[:-1].rstrip("\\"))
    return string.endswith('"') and behind % 2 == 0
