"""Read the JSON-LD blocks of a page, and repair broken ones."""

import html
import json
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeAlias

import chompjs

_END = ")\n*/)))"
"""Text added to each input. chompjs 1.4.1 reads foreign memory after a text that ends within a value, a comment or an
escape (`handle_unrecognized` and `handle_comments` of its parser.c). These characters end each of them, and close no
object."""


def iterate_javascript_objects(text: str) -> Iterable[Any]:
    """Yield all objects and lists of a text; those that cannot be read are omitted.

    Raises:
        ValueError: The text contains the character U+0000.
        RecursionError: An object is nested too deep.
    """
    objects: Iterable[Any] = chompjs.parse_js_objects(text + _END, loader_kwargs={"strict": False})
    return objects


JsonLdItem: TypeAlias = dict[str, Any]

_MAX_BLOCKS = 500
_MAX_CHARACTERS = 1_000_000
"""Characters of one block; the largest on real pages have some 300,000."""

_MAX_ITEMS = 2_000
_MAX_REPAIRED = 200_000
_MAX_REPAIRED_PER_PAGE = 400_000
"""Characters. A repair costs ten to thirty times as much as reading: half a microsecond a character."""

_MAX_DIGITS = 4_000
_ESCAPED_QUOTE = re.compile(r"[\[{,:]\s*&(?:quot|#34|#x22);", re.IGNORECASE)
_WRAPPER = re.compile(r"\A\W{0,20}<!\[CDATA\[(?:\s*\*/)?|(?:/\*\s*|//\s*)?\]\]>\W{0,20}\Z")


def read(blocks: Iterable[str]) -> tuple[list[JsonLdItem], int]:
    """Return all outermost objects in the blocks, in order, and the number of blocks without a readable value."""
    values: list[JsonLdItem] = []
    broken = 0
    left = _MAX_REPAIRED_PER_PAGE
    for block in islice(blocks, _MAX_BLOCKS):
        text = block.strip().removeprefix("\ufeff")
        found = _read_documents(text) if len(block) <= _MAX_CHARACTERS else None
        if found is None and len(block) <= min(left, _MAX_REPAIRED):
            left -= len(block)
            found = _read_broken(text)
        broken += found is None and bool(text)
        values += [value for value in found or () if isinstance(value, dict) and value]
    return values, broken


def read_items(
    blocks: Iterable[str], *, without: frozenset[str] = frozenset(), single: frozenset[str] = frozenset()
) -> list[JsonLdItem]:
    """Return all objects in the blocks with a type, breadth first, so that those of the page precede mentioned ones.

    Values of the properties `without` are skipped, and so are lists of several values of the properties `single`. At
    most about `_MAX_ITEMS` values are examined.
    """
    found: list[JsonLdItem] = []
    waiting: list[Any] = [*read(blocks)[0]]
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


def type_names(item: JsonLdItem) -> list[str]:
    """Return the types of an item without the URL of their vocabulary."""
    declared = item.get("@type")
    listed = declared if isinstance(declared, list) else [declared]
    return [name.rpartition("/")[2] for name in listed if isinstance(name, str)]


def read_names(value: Any) -> list[str]:
    """Return the names in a value that is a text, an object with a name, or a list of these."""
    return [
        name for part in _listed(value) for name in (_object_names(part) if isinstance(part, dict) else _text(part))
    ]


def _object_names(item: JsonLdItem) -> list[str]:
    """Return the names of an object, else the parts of its name in one text, else another name."""
    stated = _listed(item.get("name"))
    if any(isinstance(one, dict) and "@language" in one for one in stated):
        stated = stated[:1]  # the others are the same name in other languages
    if names := [text for one in stated for text in _text(one)]:
        return names
    named = stated[0] if stated and isinstance(stated[0], dict) else item
    parts = [text for name in ("givenName", "familyName") for text in _text(named.get(name))]
    return [" ".join(parts)] if parts else _text(item.get("alternateName"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> list[str]:
    """Return a text, or that of an object or list with one, as a list of one, or [] if there is none."""
    value = value[0] if isinstance(value, list) and value else value
    text = value.get("@value", value.get("name")) if isinstance(value, dict) else value
    return [text.strip()] if isinstance(text, str) and text.strip() else []


def _flatten_lists(value: Any) -> list[Any]:
    waiting, found = [value], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += reversed(part)
        else:
            found.append(part)
    return found


def _read_documents(text: str) -> list[Any] | None:
    """Return the values of one JSON document or several in a row; None if they are broken."""
    decoder = json.JSONDecoder(strict=False, parse_int=_parse_integer)
    found: list[Any] = []
    at = 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            found += _flatten_lists(value)
            while at < len(text) and (text[at] in ";," or text[at].isspace()):
                at += 1
    except (ValueError, RecursionError):
        return None
    return found


def _parse_integer(digits: str) -> int | float:
    """Parse an integer. Thousands of digits, which Python rejects, become infinity as in most JSON readers."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


_BAD_ESCAPE = re.compile(r'(?<!\\)((?:\\\\)*)\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CURLY_QUOTES = str.maketrans("“”„‟″", '"""""')
_CURLY_QUOTED_KEY = re.compile(r"[{,]\s*[“”„‟″]@?\w+[“”„‟″]\s*:")
_INNER_QUOTE = re.compile(r'(?:(?<![\\\s:,\[{"])|(?<=[^\\\s:,\[{"]\s))"(?!\s*(?:[,:}\]]|\Z))')
_BREAK = re.compile(r"(?<=[{\[,])\s*+(?:<br\s*/?>|</?p>)", re.IGNORECASE)
_CODE = re.compile(r"(?<=[:\[,])(\s*+)(0\d{1,40})(?=\s*[,\]}])")
"""A number with leading zeros, which is a code. JavaScript would change it."""
_NOTHING = re.compile(r'(?<=":)(\s*+)(?:undefined)?(?=\s*[,}])')


def _read_broken(text: str) -> list[Any] | None:
    """Return the values of a JavaScript object, in a comment or CDATA, or of a repaired text if an @type survives.

    Return None if there are none.
    """
    text = _WRAPPER.sub("", text)
    text = html.unescape(text) if _ESCAPED_QUOTE.search(text) else text
    # A text editor may have changed quotes, and line ends to tags.
    repaired = _BREAK.sub("", text.translate(_CURLY_QUOTES) if _CURLY_QUOTED_KEY.search(text) else text)
    repaired = _NOTHING.sub(r"\1null", _CODE.sub(r'\1"\2"', repaired))
    quoted = _INNER_QUOTE.sub(r'\\"', _BAD_ESCAPE.sub(r"\1", repaired))
    for attempt in dict.fromkeys((repaired, quoted, text)):
        try:
            found = _read_documents(attempt) or _flatten_lists(list(iterate_javascript_objects(attempt)))
        except (ValueError, RecursionError):
            continue
        objects = [part for part in found if isinstance(part, dict) and part]
        if any(attempt == text or "@type" in part or "@graph" in part for part in objects):
            return objects
    return None
