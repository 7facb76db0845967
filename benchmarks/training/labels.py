"""Find the blocks of a page that are in its gold text, by a word alignment of both.

This is a patience alignment. Word runs that occur once on each side are anchors. The longest chain of anchors
in order is kept, and the gaps between them are aligned with shorter runs. No step is quadratic, unlike
difflib, which takes minutes on 20,000 words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

_RUNS = (8, 5, 3, 2, 1)
_MAX_SINGLE_RATIO = 60
"""Ratio of lengths. If a gap of the page is so many times longer than that of the gold, single words are no
anchors."""

_GRAM = 4
_MIN_MOVED_WORDS = 6
_MIN_MOVED_SHARE = 0.6
"""Share of word runs. A block out of order matches if so much of it is in unmatched gold text."""

_KEEP = 0.5

Gap = tuple[int, int, int, int, int]


def matched_shares(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> list[float]:
    """Return, for each block, the share of its words that the gold text has at that position."""
    page = [word for block in blocks for word in block]
    matched = _aligned(page, gold)
    shares, at = [], 0
    for block in blocks:
        shares.append(sum(matched[at : at + len(block)]) / len(block) if block else 0.0)
        at += len(block)
    _add_moved(blocks, gold, shares)
    return shares


def _aligned(page: Sequence[str], gold: Sequence[str]) -> list[bool]:
    """Return a flag for each word of the page, true if it is matched."""
    matched = [False] * len(page)
    gaps: list[Gap] = [(0, len(page), 0, len(gold), 0)]
    while gaps:
        gaps += _align_gap(page, gold, gaps.pop(), matched)
    return matched


def _align_gap(page: Sequence[str], gold: Sequence[str], gap: Gap, matched: list[bool]) -> list[Gap]:
    """Match the words in a gap, and return the smaller gaps that remain."""
    start, end, gold_start, gold_end, level = gap
    while start < end and gold_start < gold_end and page[start] == gold[gold_start]:
        matched[start] = True
        start, gold_start = start + 1, gold_start + 1
    while start < end and gold_start < gold_end and page[end - 1] == gold[gold_end - 1]:
        end, gold_end = end - 1, gold_end - 1
        matched[end] = True
    if start >= end or gold_start >= gold_end or level >= len(_RUNS):
        return []
    run = _RUNS[level]
    if run == 1 and end - start > _MAX_SINGLE_RATIO * (gold_end - gold_start):
        return []
    ours, theirs = _single_runs(page, start, end, run), _single_runs(gold, gold_start, gold_end, run)
    anchors = sorted((place, theirs[words]) for words, place in ours.items() if words in theirs)
    chain = _longest_increasing(anchors)
    if not chain:
        return [(start, end, gold_start, gold_end, level + 1)]
    return _between(chain, run, (start, end, gold_start, gold_end, level), matched)


def _between(chain: Sequence[tuple[int, int]], run: int, gap: Gap, matched: list[bool]) -> list[Gap]:
    at, end, gold_at, gold_end, level = gap
    gaps = []
    for place, gold_place in chain:
        if place < at or gold_place < gold_at:
            continue
        if place > at and gold_place > gold_at:
            gaps.append((at, place, gold_at, gold_place, level))
        matched[place : place + run] = [True] * run
        at, gold_at = place + run, gold_place + run
    if at < end and gold_at < gold_end:
        gaps.append((at, end, gold_at, gold_end, level))
    return gaps


def _single_runs(words: Sequence[str], start: int, end: int, run: int) -> dict[tuple[str, ...], int]:
    """Return the positions of runs that occur once."""
    places: dict[tuple[str, ...], int] = {}
    for at in range(start, end - run + 1):
        key = tuple(words[at : at + run])
        places[key] = -1 if key in places else at
    return {key: place for key, place in places.items() if place >= 0}


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest chain of pairs that increases on both sides; `pairs` is sorted by the first."""
    tails: list[int] = []
    ends: list[int] = []
    before = [-1] * len(pairs)
    for index, (_, value) in enumerate(pairs):
        length = bisect_left(tails, value)
        if length == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[length], ends[length] = value, index
        before[index] = ends[length - 1] if length else -1
    chain, at = [], ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _add_moved(blocks: Sequence[Sequence[str]], gold: Sequence[str], shares: list[float]) -> None:
    """Match text that the gold has at another position; use each passage of the gold once."""
    left = Counter(_grams(gold))
    for block, share in zip(blocks, shares, strict=True):
        if share >= _KEEP:
            left.subtract(_grams(block))
    for index, block in enumerate(blocks):
        if shares[index] < _KEEP and len(block) >= _MIN_MOVED_WORDS:
            grams = _grams(block)
            found = sum(left[gram] > 0 for gram in grams) / len(grams)
            if found > _MIN_MOVED_SHARE:
                shares[index] = max(shares[index], found)
                left.subtract(grams)


def _grams(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + _GRAM]) for at in range(len(words) - _GRAM + 1)]
