"""A query cut into the signs and words of FTS5's language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scraper.store.fulltext.query_tree import COLUMNS

_NAME = r"(?:title|text)"
_TOKEN = re.compile(
    rf"""(?<![^\s()"]) ((?:-\s*)? (?: {_NAME} | \{{ \s*{_NAME}(?:\s+{_NAME})*\s* \}} ) \s*:)
    | "((?:[^"]|"")*)" (\*?)
    | ([()])
    | ([^\s"()]+)""",
    re.IGNORECASE | re.VERBOSE,
)
"""No sign begins with a blank: a run of them would be gone through again from each."""


@dataclass(frozen=True, slots=True)
class QueryToken:
    """One piece of a query."""

    kind: str
    """`columns`, `phrase`, `word`, `(` or `)`."""
    text: str
    prefix: bool = False


def tokens(query: str) -> list[QueryToken]:
    """Its pieces in their order."""
    found = []
    for match in _TOKEN.finditer(query):
        named, phrase, star, bracket, word = match.groups()
        if named:
            found.append(QueryToken("columns", named))
        elif phrase is not None:
            found.append(QueryToken("phrase", phrase.replace('""', '"'), bool(star)))
        elif bracket:
            found.append(QueryToken(bracket, bracket))
        else:
            found.append(QueryToken("word", word))
    return found


def columns(text: str) -> frozenset[str]:
    """The columns that are named, or with `-` those that are not."""
    names = frozenset(name.lower() for name in re.findall(_NAME, text, re.IGNORECASE))
    return COLUMNS - names if text.startswith("-") else names
