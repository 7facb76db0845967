"""Split a page into words, and compute the statistics that several groups of feature columns share."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import analyze_class_names
from scraper.html.page.segmentation import Segments
from scraper.text.terms import is_unspaced, split_words

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BlockMask: TypeAlias = NDArray[np.bool_]
Columns: TypeAlias = dict[str, NDArray[np.generic]]
"""Feature columns by name, with one value for each block."""
Number = TypeVar("Number", bound=np.generic)

_LONG_WORDS = 15
_LONG_LINKS = 0.4
"""Share of characters in links. A long plain block has at least `_LONG_WORDS` words and fewer links."""

_STEP = 0x100000001B3
_UNSPACED_WORD = 2
"""Characters that count as one word in scripts without spaces."""


@dataclass(frozen=True, slots=True)
class PageDescription:
    """Metadata of a page from outside its body."""

    url: str = ""
    title: str = ""
    og_title: str = ""
    og_type: str = ""
    description: str = ""


def compute_prefix_sums(values: NDArray[np.generic]) -> FloatArray:
    """Return the sums of all values before each index; the result has one more entry than `values`."""
    sums = np.empty(len(values) + 1)
    sums[0] = 0.0
    values.cumsum(dtype=np.float64, out=sums[1:])
    return sums


class PageStatistics:
    """Arrays of numbers about the blocks and elements of a page with at least one block.

    The annotated attributes are set by the feature groups that run first and read by later groups.
    """

    commas: FloatArray
    sentences: FloatArray
    money: IntArray
    title_cover: FloatArray
    areas: IntArray
    """Areas of the owner and its ancestors as a bit mask, like `side_kinds`."""
    side_kinds: IntArray
    around: list[IntArray]
    """For each level, the ancestor element of each block; higher levels hold more blocks."""
    element_characters: FloatArray
    element_links: FloatArray
    element_long: FloatArray
    path_groups: IntArray
    cards: IntArray
    text_ids: IntArray
    plain: NDArray[np.bool_]
    rows: Sequence[tuple[int, int]]
    units: Sequence[tuple[int, int]]
    """Ranges of the blocks that stand or fall together, like `rows`."""

    def __init__(self, segments: Segments, description: PageDescription) -> None:
        """Count words and characters, and index the elements."""
        self.segments = segments
        self.description = description
        self.texts = segments.texts
        self.n = len(self.texts)
        self.index = np.arange(self.n)
        self._count_words()
        self._count_characters()
        self._index_elements()

    def _count_words(self) -> None:
        self.words = [split_words(text, by_character=True) for text in self.texts]
        counts = self.counts = np.array([len(block) for block in self.words], np.int64)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        word_ids = map(numbers.__getitem__, chain.from_iterable(self.words))
        self.word_ids = np.fromiter(word_ids, np.int64, int(counts.sum()))
        self.vocabulary = list(numbers) or [""]
        self.word_block = np.repeat(self.index, counts)
        self.word_at = np.arange(len(self.word_ids)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.lengths = counts.astype(np.float64)
        vocabulary = "".join(self.vocabulary)
        if not vocabulary.isascii():
            unspaced = np.array([is_unspaced(word) for word in self.vocabulary])
            characters = np.bincount(self.word_block, unspaced[self.word_ids], self.n)
            self.lengths -= characters * (1 - 1 / _UNSPACED_WORD)

    def _count_characters(self) -> None:
        segments = self.segments
        self.characters = np.array([len(text) for text in self.texts], np.float64)
        self.links = np.minimum(np.array(segments.link_characters, np.float64), self.characters)
        self.strong = np.minimum(np.array(segments.strong_characters, np.float64), self.characters)
        self.link_share = self.links / self.characters
        self.character_sums = compute_prefix_sums(self.characters)
        self.link_sums = compute_prefix_sums(self.links)
        self.long = (self.lengths >= _LONG_WORDS) & (self.link_share < _LONG_LINKS)
        self.long_sums = compute_prefix_sums(self.long)
        self.total = float(self.characters.sum()) + 1

    def _index_elements(self) -> None:
        elements = self.segments.elements
        self.owner = np.array(self.segments.owners, np.int64)
        self.parent = np.array(elements.parents, np.int64)
        self.up = np.maximum(self.parent, 0)
        self.first = np.array(elements.first, np.int64)
        self.last = np.maximum(np.array(elements.last, np.int64), self.first)
        self.depth = np.array(elements.depths, np.int64)
        self.blocks = self.last - self.first
        numbers: dict[tuple[str, str, str], int] = {}
        names = zip(elements.tags, elements.names, elements.roles, strict=True)
        self.name_ids = np.array([numbers.setdefault(key, len(numbers)) for key in names], np.int64)
        self.name_features = [analyze_class_names(*key) for key in numbers]
        self.element_tag = self.expand_names([features.tag for features in self.name_features])
        self.tag = self.element_tag[self.owner]
        # For each element, the ancestors 1, 2, 4, ... levels above; the last entry stands for none.
        none = len(self.parent)
        jump = np.append(np.where(self.parent < 0, none, self.parent), none)
        jumps = []
        for _ in range(int(self.depth.max()).bit_length()):
            jumps.append(jump)
            jump = jump[jump]
        self._jumps = jumps
        self.heading = (self.tag >= 1) & (self.tag <= 6)
        self.above = self.up[self.owner]
        """Parent element of each block's owner."""

    def expand_names(self, values: Sequence[int]) -> IntArray:
        """Return a value for each element from one value for each distinct tag, class and role."""
        return np.array(values, np.int64)[self.name_ids]

    def sum_inside(self, sums: FloatArray) -> FloatArray:
        """Return the sum over each element's blocks, computed from the prefix sums of block values."""
        return sums[self.last] - sums[self.first]

    def combine_ancestors(self, own: NDArray[Number], combine: np.ufunc, neutral: int) -> NDArray[Number]:
        """Combine the values of each element with those of its ancestors; one row for each element.

        Each step doubles the number of levels, so `combine` must not depend on the order. `neutral` is
        its identity.
        """
        values = np.concatenate((own, np.full((1, *own.shape[1:]), neutral, own.dtype)))
        for jump in self._jumps:
            values = combine(values, values[jump])
        return values[:-1]

    def find_nearest(self, has: NDArray[np.bool_]) -> IntArray:
        """Return the nearest of each element and its ancestors for which `has` is true, or -1."""
        # Ancestors have lower numbers, and nearer ancestors have higher ones.
        numbers = np.arange(len(has)).reshape(-1, *[1] * (has.ndim - 1))
        return self.combine_ancestors(np.where(has, numbers, -1), np.maximum, -1)

    def hash_paths(self, parts: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hash the path from the root to each element, made from one hash for each element on it."""
        numbers = np.concatenate((parts, np.zeros((1, *parts.shape[1:]), np.uint64)))
        factor = _STEP
        for jump in self._jumps:
            numbers = numbers + numbers[jump] * np.uint64(factor)
            factor = factor * factor % 2**64
        return numbers[:-1]

    def sum_ancestors(self, own: FloatArray) -> FloatArray:
        """Return the sum over each element and its ancestors, added from the root down."""
        sums = own.astype(np.float64)
        order = np.argsort(self.depth, kind="stable")
        borders = np.searchsorted(self.depth[order], np.arange(1, int(self.depth.max()) + 1))
        for level in np.split(order, borders)[1:]:
            sums[level] += sums[self.parent[level]]
        return sums
