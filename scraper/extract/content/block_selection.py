"""From probabilities to a choice of blocks: the one with the best F1 that can be expected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import Floats, Ints, running

_LEAST_LENGTH = 1.0
"""Each block costs one word more than it has, so that what has none is chosen by what it is like."""

_MIN_REPEATED = 40
"""Characters. Shorter texts may well stand twice: labels, prices."""

_MIN_COPIED, _MIN_COPIED_BLOCKS = 80, 2
"""Characters and blocks of an element that says again what another said."""

Chosen = NDArray[np.bool_]


def choose(p: Floats, lengths: Floats) -> Chosen:
    """The blocks that are likelier than a cut; the cut is where the expected F1 is greatest.

    Taking the likeliest first, with n words in them of which n p are expected to be wanted, F1 is
    2 sum(n p) / (sum(n) + sum over all blocks (n p)). No fixed threshold: it would cost .009 of F1.
    """
    lengths = lengths + _LEAST_LENGTH
    order = np.argsort(-p, kind="stable")
    wanted = (lengths * p)[order]
    values = 2 * np.cumsum(wanted) / (np.cumsum(lengths[order]) + wanted.sum() + 1e-9)
    return np.asarray(p >= p[order[int(values.argmax())]])


def expected_f1(chosen: Chosen, p: Floats, lengths: Floats) -> float:
    """How good the choice is likely to be, from 0 to 1."""
    lengths = lengths + _LEAST_LENGTH
    wanted = lengths * p
    return float(2 * wanted[chosen].sum() / (lengths[chosen].sum() + wanted.sum() + 1e-9))


def drop_copies(chosen: Chosen, text_ids: Ints, characters: Floats, first: Ints, last: Ints) -> Chosen:
    """Without the elements that say in several blocks what an element before them said.

    Pages hold a part once for wide and once for narrow screens, a slider its first cards again at its end.

    `first`, `last`: the blocks of each element, parents before children.
    """
    blocks = np.flatnonzero(chosen)
    again = np.zeros(len(chosen), np.bool_)
    again[blocks] = np.bincount(text_ids[blocks])[text_ids[blocks]] > 1
    single, said = running(chosen & ~again), running(chosen * characters)
    count = running(chosen)
    may_be = (single[last] == single[first]) & (count[last] - count[first] >= _MIN_COPIED_BLOCKS)
    may_be &= said[last] - said[first] >= _MIN_COPIED
    kept = chosen.copy()
    ends: dict[tuple[int, ...], int] = {}
    behind = 0
    for number in np.flatnonzero(may_be).tolist():
        start, end = int(first[number]), int(last[number])
        if start < behind:
            continue  # inside of one that is left out
        texts = tuple(text_ids[start:end][chosen[start:end]].tolist())
        if ends.setdefault(texts, end) <= start:
            kept[start:end] = False
            behind = end
    return kept


def drop_repeated(chosen: Chosen, text_ids: Ints, characters: Floats, cells: Chosen) -> Chosen:
    """Without the longer texts that were chosen before; a cell of a table may say what another says."""
    kept = chosen.copy()
    seen: set[int] = set()
    for number in np.flatnonzero(chosen & (characters > _MIN_REPEATED)).tolist():
        text = int(text_ids[number])
        if text in seen and not cells[number]:
            kept[number] = False
        seen.add(text)
    return kept
