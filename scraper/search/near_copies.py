"""When two rows are one text under two addresses: syndicated news, mirrors, other formats of one work.

Measured on 124 pairs of one page given by two engines and 2,386 pairs of different pages for one query: the
two rules of words find 56 % of the former and none of the latter. Hashes of snippets find a fifth: they are
too short for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scraper.search.words import jaccard, title_key, words

__all__ = ["Text", "is_copy"]

SAME_SNIPPET = 0.4
SIMILAR_SNIPPET = 0.3
SIMILAR_TITLE = 0.5
LONG_TITLE = 25
"""Letters from which an equal headline on another host is the same story; "JavaScript Tutorial" is not."""
MIN_WORDS = 8
"""Snippets shorter than this are alike by chance."""


@dataclass(frozen=True, slots=True)
class Text:
    """What is compared of a row."""

    key: str
    title: frozenset[str]
    snippet: frozenset[str]
    host: str

    @classmethod
    def of(cls, title: str, snippet: str, host: str) -> Self:
        """From what an engine shows."""
        return cls(title_key(title), words(title), words(snippet), host)


def is_copy(one: Text, other: Text) -> bool:
    """Whether the two are one text."""
    same_title = one.key == other.key
    if one.host != other.host:
        return (same_title and len(one.key) >= LONG_TITLE) or _alike(one, other)
    # Pages of one site share their words; only one that is also called the same is the same.
    return same_title and _alike(one, other)


def _alike(one: Text, other: Text) -> bool:
    if min(len(one.snippet), len(other.snippet)) < MIN_WORDS:
        return False
    likeness = jaccard(one.snippet, other.snippet)
    if likeness >= SAME_SNIPPET:
        return True
    return likeness >= SIMILAR_SNIPPET and jaccard(one.title, other.title) >= SIMILAR_TITLE
