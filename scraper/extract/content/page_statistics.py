"""What is counted once on a page and asked for by many columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import naming
from scraper.extract.content.segmentation import Segments
from scraper.extract.content.words import has_unspaced, is_unspaced, words_of_all

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)

_LONG_WORDS = 15
_LONG_LINKS = 0.4
"""A long plain block: at least so many words, fewer of its characters in links."""

_STEP = 0x100000001B3

_UNSPACED_WORD = 2
"""Characters that are worth a word in scripts without spaces."""


@dataclass(frozen=True, slots=True)
class PageDescription:
    """What is known of a page beside its body."""

    url: str = ""
    title: str = ""
    og_title: str = ""
    og_type: str = ""
    description: str = ""


def running(values: NDArray[np.generic]) -> Floats:
    """Sums of all values before each place, one place more than values."""
    sums = np.empty(len(values) + 1)
    sums[0] = 0.0
    values.cumsum(dtype=np.float64, out=sums[1:])
    return sums


class PageStatistics:
    """The page in numbers. There is at least one block.

    The second group is filled in by the columns that come first and asked for by later ones.
    """

    commas: Floats
    sentences: Floats
    money: Ints
    title_cover: Floats
    areas: Ints
    """Of the owner and all around it, as `asides`."""
    asides: Ints
    around: list[Ints]
    """For each block, the elements around it that hold more and more."""
    element_characters: Floats
    element_links: Floats
    element_long: Floats
    path_groups: Ints
    cards: Ints
    text_ids: Ints
    plain: NDArray[np.bool_]

    def __init__(self, segments: Segments, about: PageDescription) -> None:
        self.segments = segments
        self.about = about
        self.texts = segments.texts
        self.n = len(self.texts)
        self.index = np.arange(self.n)
        self._count_words()
        self._count_characters()
        self._lay_out_elements()

    def _count_words(self) -> None:
        words = words_of_all(self.texts)
        self.words = words
        counts = np.array([len(block) for block in words], np.int64)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        number = map(numbers.__getitem__, chain.from_iterable(words))
        self.word_ids = np.fromiter(number, np.int64, int(counts.sum()))
        self.vocabulary = list(numbers) or [""]
        self.counts = counts
        self.word_block = np.repeat(self.index, counts)
        starts = np.cumsum(counts) - counts
        self.word_at = np.arange(len(self.word_ids)) - np.repeat(starts, counts)
        self.lengths = counts.astype(np.float64)
        if has_unspaced("".join(self.vocabulary)):
            unspaced = np.array([is_unspaced(word) for word in self.vocabulary])
            cut = np.bincount(self.word_block, unspaced[self.word_ids], self.n)
            self.lengths -= cut * (1 - 1 / _UNSPACED_WORD)

    def _count_characters(self) -> None:
        segments = self.segments
        self.characters = np.array([len(text) for text in self.texts], np.float64)
        self.links = np.minimum(np.array(segments.link_characters, np.float64), self.characters)
        self.strong = np.minimum(np.array(segments.strong_characters, np.float64), self.characters)
        self.link_share = self.links / self.characters
        self.running_characters = running(self.characters)
        self.running_links = running(self.links)
        self.long = (self.lengths >= _LONG_WORDS) & (self.link_share < _LONG_LINKS)
        self.running_long = running(self.long)
        self.total = float(self.characters.sum()) + 1

    def _lay_out_elements(self) -> None:
        elements = self.segments.elements
        self.owner = np.array(self.segments.owners, np.int64)
        self.parent = np.array(elements.parents, np.int64)
        self.up = np.maximum(self.parent, 0)
        self.first = np.array(elements.first, np.int64)
        self.last = np.maximum(np.array(elements.last, np.int64), self.first)
        self.depth = np.array(elements.depths, np.int64)
        self.blocks = self.last - self.first
        self._look_up_names()
        self.tag = self.element_tag[self.owner]
        self._jumps = _jumps(self.parent, int(self.depth.max()))
        self.heading = (self.tag >= 1) & (self.tag <= 6)
        self.above = self.up[self.owner]
        """The parent of each block's owner."""

    def _look_up_names(self) -> None:
        elements = self.segments.elements
        numbers: dict[tuple[str, str, str], int] = {}
        number = numbers.setdefault
        self.name_ids = np.array(
            [
                number(key, len(numbers))
                for key in zip(elements.tags, elements.names, elements.roles, strict=True)
            ],
            np.int64,
        )
        self.namings = [naming(*key) for key in numbers]
        self.element_tag = self.by_name([naming.tag for naming in self.namings])

    def by_name(self, values: Sequence[int]) -> Ints:
        """A value for each element, given one for each naming."""
        return np.array(values, np.int64)[self.name_ids]

    def within(self, sums: Floats) -> Floats:
        """The share of each element in something that was summed over blocks."""
        return sums[self.last] - sums[self.first]

    def gathered(self, own: NDArray[Number], combine: np.ufunc, nothing: int) -> NDArray[Number]:
        """What an element and all around it have, combined; a row for each element.

        Each step reaches twice as far up as the one before, so `combine` must not mind the order.
        """
        values = np.concatenate((own, np.full((1, *own.shape[1:]), nothing, own.dtype)))
        for jump in self._jumps:
            values = combine(values, values[jump])
        return values[:-1]

    def nearest(self, has: NDArray[np.bool_]) -> Ints:
        """The nearest element that has something, itself or around it; -1 where there is none."""
        # What is around an element has a lower number, and a higher one the nearer it is.
        numbers = np.arange(len(has)).reshape(-1, *[1] * (has.ndim - 1))
        return self.gathered(np.where(has, numbers, -1), np.maximum, -1)

    def paths(self, parts: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """A number for the way down to each element, made of a number for each element on it."""
        numbers = np.concatenate((parts, np.zeros((1, *parts.shape[1:]), np.uint64)))
        factor = _STEP
        for jump in self._jumps:
            numbers = numbers + numbers[jump] * np.uint64(factor)
            factor = factor * factor % 2**64
        return numbers[:-1]

    def summed(self, own: Floats) -> Floats:
        """The sum over an element and all around it, added up from the outermost."""
        sums = own.astype(np.float64)
        order = np.argsort(self.depth, kind="stable")
        borders = np.searchsorted(self.depth[order], np.arange(1, int(self.depth.max()) + 1))
        for level in np.split(order, borders)[1:]:
            sums[level] += sums[self.parent[level]]
        return sums


def _jumps(parent: Ints, deepest: int) -> list[Ints]:
    """For each element the one 1, 2, 4, ... levels above; behind the last stands one that is above all."""
    none = len(parent)
    jump = np.append(np.where(parent < 0, none, parent), none)
    jumps = []
    for _ in range(deepest.bit_length()):
        jumps.append(jump)
        jump = jump[jump]
    return jumps
