"""Recognize duplicate pages of a site by their texts, canonical links and URLs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from scraper.extract.text.minhash import SketchIndex
from scraper.site.crawled_page import CrawledPage
from scraper.site.url_equivalence import UrlEquivalenceRules
from scraper.site.url_normalization import page_key
from scraper.site.url_patterns import PathWords, SessionIdSegments

COPY = 0.85
"""Similarity of texts from 0 to 1; more similar pages are copies."""
_EQUAL = 0.97
"""Similarity of lists from 0 to 1; more similar ones count as equal when URL rules are learned."""
_CANONICAL = 0.5
"""Similarity from 0 to 1 that a page and its canonical page must have; otherwise the canonical link is ignored."""
MIN_COPY_WORDS, _MIN_VERSION_WORDS = 8, 30
"""Words. Shorter pages never count as copies; shorter copies never count as versions."""
_MIN_SWAPS = 3
"""Pairs of copies that differ in one path segment, before other URLs with this segment are excluded."""
_UNLIKE = 0.3
"""Similarity from 0 to 1. Less similar pages that differ in one path segment are not versions."""
_SWAPS_PER_EXCEPTION = 8
"""Pairs of copies that outweigh one pair of pages that are unlike."""


@dataclass(frozen=True, slots=True)
class DuplicateComparison:
    """Comparison of a page with the pages that were read before."""

    copied: str = ""
    """Key of the page of which it is a copy or another version; empty if it is unique."""
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
        self._swaps: Counter[tuple[int, str, str]] = Counter()
        """Pairs of copies by place of the segment that differs, its value and the value in the first page."""
        self._exceptions: Counter[tuple[int, str, str]] = Counter()
        """Pairs of unlike pages in the same way."""

    def shorten(self, key: str) -> str:
        """Return a key without the parts that do not matter on this site."""
        return self._rules.shorten(self._sessions.remove(key))

    def learn_links(self, own_key: str, keys: Iterable[str]) -> bool:
        """Find session ids in the link keys of one page; return True if all keys must be shortened again."""
        return self._sessions.learn(own_key, keys)

    def learn_redirect(self, key: str, target: str) -> bool:
        """Learn from a redirect to a URL of the site; return True if all keys must be shortened again."""
        return self._rules.learn_redirect(key, target)

    def learn_page(
        self, key: str, page: CrawledPage, unique_pages: Mapping[str, CrawledPage], *, is_list: bool
    ) -> DuplicateComparison:
        """Compare a page with earlier ones, and store the sketch of its text if it is unique.

        Lists of links are never copies, because their links are needed.
        """
        copied, similarity = self._texts.find_nearest(page.sketch)
        plain_copied, plain_similarity = self._plain_texts.find_nearest(page.plain_sketch)
        text = copied if copied and similarity >= (_EQUAL if is_list else COPY) else key
        has_new_rule = self._rules.learn(page_key(page.url), text)
        if has_new_rule:
            key = self.shorten(key)
        is_copy = bool(copied) and similarity >= COPY and page.word_count >= MIN_COPY_WORDS and not is_list
        if is_copy and page.word_count >= _MIN_VERSION_WORDS:
            self._learn_version(key, copied)
        original = self._find_canonical(page, key, unique_pages) or (copied if is_copy else "")
        if not original:
            self._learn_exceptions(key, page)
            self._texts.add(key, page.sketch)
            self._plain_texts.add(key, page.plain_sketch)
        return DuplicateComparison(original, bool(plain_copied) and plain_similarity >= COPY, has_new_rule)

    def has_other_version(self, key: str, *known: Container[str]) -> bool:
        """Return True if another version of a page is known, such as `/latest/` for `/v3/`.

        Two segments are versions after three pairs of copies differed only in them, unless other such pages are unlike.
        """
        parts = key.split("/")
        for swap, count in self._swaps.items():
            at, own, other = swap
            is_version = count >= max(_MIN_SWAPS, _SWAPS_PER_EXCEPTION * self._exceptions[swap])
            if is_version and at < len(parts) and parts[at] == own:
                counterpart = "/".join([*parts[:at], other, *parts[at + 1 :]])
                if any(counterpart in keys for keys in known):
                    return True
        return False

    def _learn_exceptions(self, key: str, page: CrawledPage) -> None:
        """Count the pages that differ from this one in a segment that made no difference elsewhere, and are unlike."""
        parts = key.split("/")
        for swap in self._swaps:
            at = swap[0]
            for own, other in (swap[1:], swap[:0:-1]):
                if at < len(parts) and parts[at] == own:
                    known = self._texts.get("/".join([*parts[:at], other, *parts[at + 1 :]]))
                    self._exceptions[swap] += known is not None and known.similarity(page.sketch) < _UNLIKE

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

    def _learn_version(self, key: str, other: str) -> None:
        """Count a pair of copies whose paths differ in one segment."""
        one, two = key.split("/"), other.split("/")
        apart = [at for at, parts in enumerate(zip(one, two, strict=False)) if parts[0] != parts[1]]
        if len(one) == len(two) and len(apart) == 1 and apart[0] < len(one) - 1:
            self._swaps[apart[0], one[apart[0]], two[apart[0]]] += 1
