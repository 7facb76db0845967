"""The JSON-LD of a page as a flat list of its items, whatever state the blocks are in."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import chompjs

Item: TypeAlias = dict[str, Any]

MAX_BLOCKS = 500
MAX_CHARACTERS = 1_000_000
"""Of one block; the largest that pages were seen to carry have some 300,000."""

_MAX_ITEMS = 2_000
_MAX_MENDED = 200_000
_MAX_MENDED_IN_ALL = 400_000
"""Mending costs ten to thirty times as much as reading: half a microsecond a character."""

_MAX_DIGITS = 4_000
_NAMES_TYPE = frozenset({"@type", "@graph"})
_ESCAPED_QUOTE = re.compile(r"[\[{,:]\s*&(?:quot|#34|#x22);", re.IGNORECASE)
_WRAPPER = re.compile(r"\A\W{0,20}<!\[CDATA\[(?:\s*\*/)?|(?:/\*\s*|//\s*)?\]\]>\W{0,20}\Z")
_AFTER_VALUE = re.compile(r"[\s;,]*")


@dataclass(frozen=True, slots=True)
class JsonLdBlocks:
    """What the blocks of a page hold, outermost values in order; `broken` counts those that hold nothing."""

    values: tuple[Item, ...]
    broken: int = 0


def read(blocks: Iterable[str]) -> JsonLdBlocks:
    """Every outermost object in the blocks. A broken block loses only itself."""
    values: list[Item] = []
    broken = 0
    left = _MAX_MENDED_IN_ALL
    for number, block in enumerate(blocks):
        if number == MAX_BLOCKS:
            break
        found = _first_of((_documents,), block) if len(block) <= MAX_CHARACTERS else None
        if found is None and len(block) <= min(left, _MAX_MENDED):
            left -= len(block)
            found = _first_of((_as_code, _repaired), block)
        if found is None:
            broken += bool(block.strip())
        else:
            values += [value for value in found if isinstance(value, dict) and value]
    return JsonLdBlocks(tuple(values), broken)


def read_items(
    blocks: Iterable[str], *, without: frozenset[str] = frozenset(), single: frozenset[str] = frozenset()
) -> list[Item]:
    """Every object in the blocks that has a type, outer ones first.

    There are none under the names `without`, and none of several under the names `single`.
    """
    return flatten(read(blocks).values, without=without, single=single)


def flatten(
    values: Iterable[Item], *, without: frozenset[str] = frozenset(), single: frozenset[str] = frozenset()
) -> list[Item]:
    """Every object among the values that has a type, breadth first: a page's own before what it mentions."""
    found: list[Item] = []
    waiting: list[Any] = list(values)
    for part in waiting:
        if len(waiting) > _MAX_ITEMS:
            break
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            if "@type" in part:
                found.append(part)
            waiting.extend(
                inner
                for name, inner in part.items()
                if isinstance(inner, dict | list)
                and name not in without
                and not (name in single and isinstance(inner, list) and len(inner) > 1)
            )
    return found


def types(item: Item) -> list[str]:
    """The types of an item, without the address of their vocabulary."""
    declared = item.get("@type")
    listed = declared if isinstance(declared, list) else [declared]
    return [name.rpartition("/")[2] for name in listed if isinstance(name, str)]


def names(value: Any) -> list[str]:
    """The names in a value that is a text, a thing with a name, or a list of these."""
    found: list[str] = []
    for part in value if isinstance(value, list) else [value]:
        name = part.get("name") if isinstance(part, dict) else part
        if isinstance(name, list):
            name = next((text for text in name if isinstance(text, str)), None)
        if isinstance(name, str) and name.strip():
            found.append(name.strip())
    return found


def _first_of(readings: Iterable[Callable[[str], list[Any]]], block: str) -> list[Any] | None:
    """The values of one block by the first reading that can; None where none can."""
    text = block.strip().removeprefix("\ufeff")
    if not text:
        return []
    for reading in readings:
        try:
            return [value for document in reading(text) for value in _listed(document)]
        except (ValueError, RecursionError):
            continue
    return None


def _listed(value: Any) -> list[Any]:
    """What is in a list and in the lists within it."""
    waiting, found = [value], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += reversed(part)
        else:
            found.append(part)
    return found


def _documents(text: str) -> list[Any]:
    """One JSON document, or several one after the other; control characters in strings are let through."""
    decoder = json.JSONDecoder(strict=False, parse_int=_integer)
    found: list[Any] = []
    at = 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        behind = _AFTER_VALUE.match(text, at)
        at = behind.end() if behind else at
    return found


def _integer(digits: str) -> int | float:
    """Python refuses to read thousands of digits; such a number is infinite to most other readers of JSON."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _as_code(text: str) -> list[Any]:
    """What is an object to JavaScript: comments, wrappers, CDATA, commas too many, single quotes."""
    text = _unwrapped(text)
    if _is_ambiguous_in_javascript(text):
        raise ValueError("it says something else to JavaScript")
    found: list[Any] = [value for value in _js_objects(text) if isinstance(value, dict | list) and value]
    if not found:
        raise ValueError("nothing in it")
    return found


def _unwrapped(text: str) -> str:
    text = _WRAPPER.sub("", text)
    return html.unescape(text) if _ESCAPED_QUOTE.search(text) else text


def _repaired(text: str) -> list[Any]:
    """What is neither, as it was meant: only where it still names a type, so that no scrap counts as data."""
    for reading in (_documents, _js_objects):
        for attempt in _propose_repairs(_unwrapped(text)):
            try:
                found = [part for value in reading(attempt) for part in _listed(value)]
            except (ValueError, RecursionError):
                continue
            if any(isinstance(part, dict) and _NAMES_TYPE.intersection(part) for part in found):
                return found
    raise ValueError("nothing in it")


def _js_objects(text: str) -> Iterable[Any]:
    found: Iterable[Any] = chompjs.parse_js_objects(text, loader_kwargs={"strict": False})
    return found


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


def _is_ambiguous_in_javascript(text: str) -> bool:
    """Whether JavaScript may read a text as something else: `007` as seven, `undefined` as a word."""
    return any(sign.search(text) for sign in (_MISREAD, _CURLED_KEY, _BREAK))


def _propose_repairs(text: str) -> Iterator[str]:
    """What the text may have been meant to be, likeliest first; the caller takes the first that is JSON."""
    text = _known_escapes(_as_typed(text))
    yield text
    yield _complete(text)
    quoted = _INNER_QUOTE.sub(r"\\" + '"', text)
    if quoted != text:
        yield quoted
        yield _complete(quoted)


def _as_typed(text: str) -> str:
    """Without what an editor of texts has made of it: curled quotes, ends of lines as tags."""
    text = _BREAK.sub("", text)
    return text.translate(_CURLED) if _CURLED_KEY.search(text) else text


def _known_escapes(text: str) -> str:
    r"""Without backslashes that mean nothing to JSON, such as `\'`."""
    return _BAD_ESCAPE.sub(lambda match: match.group() if match.group(1) else match.group(2) or "", text)


def _complete(text: str) -> str:
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
