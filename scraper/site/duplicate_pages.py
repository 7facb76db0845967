"""Recognize duplicate pages of a site by their texts, canonical links and URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scraper.site.crawled_page import CrawledPage
from scraper.site.url_equivalence import UrlEquivalenceRules
from scraper.site.url_normalization import page_key
from scraper.site.url_patterns import PathWords, SessionIdSegments
from scraper.text.likeness import SketchIndex

_COPY = 0.85
"""Similarity of texts from 0 to 1; more similar pages are copies."""
_EQUAL = 0.97
"""Similarity of lists from 0 to 1; more similar ones count as equal when URL rules are learned."""
_CANONICAL = 0.5
"""Similarity from 0 to 1 that a page and its canonical page must have; otherwise the canonical link is ignored."""
MIN_COPY_WORDS = 8
"""Words. Shorter pages never count as copies."""


@dataclass(frozen=True, slots=True)
class DuplicateComparison:
    """Comparison of a page with the pages that were read before."""

    copied: str = ""
    """Key of the page of which it is a copy; empty if it is unique."""
    differs_in_numbers: bool = False
    """True if it equals another page except for numbers, such as empty months of a calendar."""
    has_new_rule: bool = False
    """True if all keys must be shortened again."""


class DuplicateDetector:
    """Recognize copies of pages on one site, and learn which parts of its URLs do not matter."""

    def __init__(self, words: PathWords) -> None:
        """Start without rules and pages; `words` says which words of paths belong to one pattern."""
        self._rules = UrlEquivalenceRules(words)
        self._sessions = SessionIdSegments()
        self._texts, self._plain_texts = SketchIndex(), SketchIndex()

    def shorten(self, key: str) -> str:
        """Return a key without the parts that do not matter on this site."""
        return self._rules.shorten(self._sessions.remove(key))

    def learn_links(self, own_key: str, keys: Iterable[str]) -> bool:
        """Find session ids in the link keys of one page; return True if all keys must be shortened again."""
        return self._sessions.learn(own_key, keys)

    def learn_page(
        self, key: str, page: CrawledPage, unique_pages: Mapping[str, CrawledPage], *, is_list: bool
    ) -> DuplicateComparison:
        """Compare a page with earlier ones, and store the sketch of its text if it is unique.

        Lists of links are never copies, because their links are needed.
        """
        copied, similarity = self._texts.find_nearest(page.sketch)
        plain_copied, plain_similarity = self._plain_texts.find_nearest(page.plain_sketch)
        text = copied if copied and similarity >= (_EQUAL if is_list else _COPY) else key
        has_new_rule = self._rules.learn(page_key(page.url), text)
        if has_new_rule:
            key = self.shorten(key)
        is_copy = bool(copied) and similarity >= _COPY and page.word_count >= MIN_COPY_WORDS and not is_list
        original = self._find_canonical(page, key, unique_pages) or (copied if is_copy else "")
        if not original:
            self._texts.add(key, page.sketch)
            self._plain_texts.add(key, page.plain_sketch)
        return DuplicateComparison(original, bool(plain_copied) and plain_similarity >= _COPY, has_new_rule)

    def _find_canonical(self, page: CrawledPage, key: str, unique_pages: Mapping[str, CrawledPage]) -> str:
        """Return the key of the canonical page if it was read and has a similar text, else an empty string."""
        try:
            canonical = self.shorten(page_key(page.outlinks.canonical)) if page.outlinks.canonical else ""
        except ValueError:
            return ""
        known = unique_pages.get(canonical)
        if canonical == key or known is None:
            return ""
        return canonical if known.sketch.similarity(page.sketch) >= _CANONICAL else ""
