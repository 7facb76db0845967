"""When two rows are one text under two addresses: syndicated news, mirrors, other formats of one work.

The words of the query stand in every row for it and prove nothing. Measured on 42 pairs of one page that two
engines show with different snippets and 3,985 pairs of different addresses for one query: the two rules find
a third of the former and call 8 of the latter copies, three of them rightly; with the query's words left in
and limits of .4 and .3 it would be as many of the former and 54, most of them weather pages of one town.
Hashes of snippets find a fifth: they are too short for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from scraper.search.query_terms import jaccard, title_key, words

SAME_SNIPPET = 0.5
SIMILAR_SNIPPET = 0.4
SIMILAR_TITLE = 0.5
LONG_TITLE = 25
"""Letters from which an equal headline on another host is the same story; "JavaScript Tutorial" is not."""
MIN_WORDS = 8
"""Snippets shorter than this are alike by chance."""
_EDITION = re.compile(r"\d+(?:\.\d+)+|(?<![\d.,])(?:19|20)\d\d(?![\d,])")
"""Versions and years: manuals of two versions and reports of two years are alike in all else."""


@dataclass(frozen=True, slots=True)
class ComparableText:
    """What is compared of a row."""

    key: str
    editions: frozenset[str]
    title: frozenset[str]
    snippet: frozenset[str]
    host: str

    @classmethod
    def of(cls, title: str, snippet: str, host: str, asked: frozenset[str] = frozenset()) -> Self:
        """From what an engine shows to a query of these words."""
        editions = frozenset(_EDITION.findall(title))
        return cls(title_key(title), editions, words(title) - asked, words(snippet) - asked, host)


def is_copy(one: ComparableText, other: ComparableText) -> bool:
    """Whether the two are one text."""
    if one.editions and other.editions and one.editions != other.editions:
        return False
    same_title = one.key == other.key
    if one.host != other.host:
        return (same_title and len(one.key) >= LONG_TITLE) or _alike(one, other)
    # Pages of one site share their words; only one that is also called the same is the same.
    return same_title and _alike(one, other)


def _alike(one: ComparableText, other: ComparableText) -> bool:
    if min(len(one.snippet), len(other.snippet)) < MIN_WORDS:
        return False
    likeness = jaccard(one.snippet, other.snippet)
    if likeness >= SAME_SNIPPET:
        return True
    return likeness >= SIMILAR_SNIPPET and jaccard(one.title, other.title) >= SIMILAR_TITLE
