"""Compute features from the tag, class, id and role of an element."""

import re
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from scraper.html.dom.parsing import HEADINGS
from scraper.text.terms import DIGITS, compile_any_of
from scraper.values.text import read_table
from scraper.words.matcher import read_words

_TABLE = read_table(__package__, "class_names.toml")
TAGS = {tag: number for number, tag in enumerate(_TABLE["tags"].split())}
"""Number of each tag: paragraphs are 0, headings 1 to 6; other tags are len(TAGS)."""
_AREA_WORDS: dict[str, str] = _TABLE["areas"]
AREAS = tuple(_AREA_WORDS)
"""Areas of a page. The index of each is its bit in `ClassNameFeatures.areas`."""
_AREA_BITS = {word: 1 << bit for bit, words in enumerate(_AREA_WORDS.values()) for word in words.split()}


_KIND_NAMES: dict[str, str] = _TABLE["kinds"]
KINDS = tuple(_KIND_NAMES)
"""Kinds of class names. The index of each is its bit in `ClassNameFeatures.kinds`."""
CONTENT, SIDE, COMMENTS, TEASERS = 1, 2, 4, 8
NOTE, ADVERTISEMENT = 1, 2
_RULES = {name: tuple(words.split()) for name, words in _TABLE["rules"].items()}
_NOTES = frozenset((*_RULES["notes"], *(f"{name}s" for name in _RULES["notes"])))
_ADVERTISEMENTS, _ADVERTISEMENT_STARTS = frozenset(_RULES["advertisements"]), _RULES["advertisement_starts"]

_ALL_WORDS = [
    (1 << bit, [*names.split(), *(read_words("posts.comment_class") if kind == "comments" else ())])
    for bit, (kind, names) in enumerate(_KIND_NAMES.items())
]
_KIND_WORDS = tuple((bit, compile_any_of(words)) for bit, words in _ALL_WORDS)
_ANY_WORDS = compile_any_of(word for _, words in _ALL_WORDS for word in words)
"""Matches if one of `_KIND_WORDS` matches. Half of the class names contain none."""

_PART = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")
_SMALL_PART = re.compile(r"[a-z]{2,}")
_TITLED = HEADINGS | {"section", "article"}
_MAX_CLASSES = 8
_MAX_PARTS = 5
_MAX_NAME = 40
_MAX_ROLES = 4
_MAX_NAMES = 400
"""Characters of class and id that are read, to bound the size of the cache."""


class ClassNameFeatures(NamedTuple):
    """Features of an element that depend only on its names."""

    tag: int
    """Number of the tag in `TAGS`."""
    areas: int
    """Bit mask of `AREAS`."""
    kinds: int
    """Bit mask of `KINDS`."""
    side_kinds: int
    """`COMMENTS` and `TEASERS` bits. For sections and headings the id is ignored, as it may only repeat the title."""
    path_part: int
    """Hash of tag and class together, for paths."""
    tag_part: int
    """Hash of the tag alone, for paths."""
    tokens: tuple[int, ...]
    """Hashes of the tag, of each class and its parts, and of the roles."""
    named_as: int = 0
    """Bit mask of `NOTE` and `ADVERTISEMENT`. No feature, but a rule of selection."""


def analyze_class_names(tag: str, names: str, roles: str) -> ClassNameFeatures:
    """Return the features of an element's names; results are cached.

    `names` holds the classes, then `#` and the id. `roles` holds role, itemprop and itemtype, separated by spaces.
    """
    return _analyze(tag[:_MAX_NAME], names[:_MAX_NAMES], roles[:_MAX_NAMES])


@lru_cache(maxsize=32_768)
def _analyze(tag: str, names: str, roles: str) -> ClassNameFeatures:
    areas = _AREA_BITS.get(tag, 0)
    tag_part = _hash(tag)
    classes = names.partition(" #")[0]
    kinds, tokens = _parse_classes(names)
    tokens[crc32(b"<", tag_part)] = None
    role_words = roles.split()
    for word in role_words:
        areas |= _AREA_BITS.get(word, 0)
    if role_words:
        tokens |= dict.fromkeys(_hash("@" + word.rsplit("/", 1)[-1]) for word in role_words[:_MAX_ROLES])
    class_kinds = _parse_classes(classes)[0] if tag in _TITLED and len(classes) < len(names) else kinds
    spaced = names.lower().replace("_", " ").replace("-", " ")
    parts = spaced.split()
    is_advertisement = not _ADVERTISEMENTS.isdisjoint(parts)
    if any(start in spaced for start in _ADVERTISEMENT_STARTS):
        is_advertisement |= any(part.startswith(_ADVERTISEMENT_STARTS) and part.isalnum() for part in parts)
    return ClassNameFeatures(
        TAGS.get(tag, len(TAGS)),
        areas,
        kinds,
        class_kinds & (COMMENTS | TEASERS),
        crc32(classes.encode("utf-8", "replace"), tag_part) if classes else tag_part,
        tag_part,
        tuple(tokens),
        NOTE * (not _NOTES.isdisjoint(parts)) | ADVERTISEMENT * is_advertisement,
    )


def hash_class_names(names: str) -> tuple[int, ...]:
    """Return the hashes of the classes in a string, whole and in parts, with digits replaced."""
    return tuple(_parse_classes(names[:_MAX_NAMES])[1])


def _parse_classes(names: str) -> tuple[int, dict[int, None]]:
    """Return the kinds of all classes in a string, and the hashes of their tokens in order."""
    kinds = 0
    tokens: dict[int, None] = {}
    for name in names.split()[:_MAX_CLASSES]:
        class_kinds, hashes = _parse_class(name[:_MAX_NAME])
        kinds |= class_kinds
        for token in hashes:
            tokens[token] = None
    return kinds, tokens


@lru_cache(maxsize=32_768)
def _parse_class(name: str) -> tuple[int, tuple[int, ...]]:
    name = name.removeprefix("#")
    lowered = name.lower()
    kinds = 0
    if _ANY_WORDS.search(lowered):
        for bit, words in _KIND_WORDS:
            if words.search(lowered):
                kinds |= bit
    is_lower = name == lowered
    if is_lower and name.isalpha():
        return kinds, (_hash(name),)
    parts = _SMALL_PART.findall(name) if is_lower else [part.lower() for part in _PART.findall(name) if len(part) > 1]
    tokens = [DIGITS.sub("0", lowered), *(parts[:_MAX_PARTS] if len(parts) > 1 else ())]
    return kinds, tuple([_hash(token) for token in tokens if token])


def _hash(token: str) -> int:
    return crc32(token.encode("utf-8", "replace"))
