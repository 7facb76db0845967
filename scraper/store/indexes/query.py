"""A query of a named index: words, +must, -not and "exact phrases", in any combination."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scraper.store.indexes.tokenizer import Tokenizer

TERMS_LIMIT = 64
"""Words that count; a pasted page is no query."""

_PART = re.compile(r'([+-]*)(?:"([^"]*)"?|([^\s"]+))')


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What is looked for; a phrase is a row of words."""

    terms: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    not_phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for; what only excludes asks for nothing."""
        return not (self.terms or self.must or self.phrases)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Every word that a hit may be ranked by, once."""
        words = (*self.terms, *self.must, *(word for phrase in self.phrases for word in phrase))
        return tuple(dict.fromkeys(words))

    def as_object(self) -> dict[str, list[str]]:
        """The query as callers are shown it; what was excluded is one list."""
        return {
            "terms": list(self.terms),
            "must": list(self.must),
            "must_not": [*self.must_not, *(" ".join(phrase) for phrase in self.not_phrases)],
            "phrases": [" ".join(phrase) for phrase in self.phrases],
        }


def parse(text: str, tokenizer: Tokenizer) -> IndexQuery:
    """Read a query with the index's own tokenizer; whatever was written has a meaning."""
    terms: dict[str, None] = {}
    must: dict[str, None] = {}
    must_not: dict[str, None] = {}
    phrases: dict[tuple[str, ...], None] = {}
    not_phrases: dict[tuple[str, ...], None] = {}
    for count, match in enumerate(_PART.finditer(text)):
        if count == TERMS_LIMIT:
            break
        sign, quoted, bare = match.groups()
        words = tuple(tokenizer.tokens(quoted if bare is None else bare))
        if len(words) > 1:
            # node.js, or an inflected language's word of many pairs: its pieces belong together.
            (not_phrases if sign[-1:] == "-" else phrases)[words] = None
        elif words:
            wanted = must if sign[-1:] == "+" or bare is None else terms
            (must_not if sign[-1:] == "-" else wanted)[words[0]] = None
    return IndexQuery(tuple(terms), tuple(must), tuple(must_not), tuple(phrases), tuple(not_phrases))
