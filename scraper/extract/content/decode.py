"""From probabilities to a choice of blocks: the one with the best F1 that can be expected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.measures import Floats, Ints

__all__ = ["choose", "drop_repeated", "expected_f1"]

_LEAST_LENGTH = 1.0
"""Each block costs one word more than it has, so that what has none is chosen by what it is like."""

_MIN_REPEATED = 40
"""Characters. Shorter texts may well stand twice: labels, prices."""


def choose(p: Floats, lengths: Floats) -> NDArray[np.bool_]:
    """The blocks that are likelier than a cut; the cut is where the expected F1 is greatest.

    Taking the likeliest first, with n words in them of which n p are expected to be wanted, F1 is
    2 sum(n p) / (sum(n) + sum over all blocks (n p)). No fixed threshold: it would cost .009 of F1.
    """
    lengths = lengths + _LEAST_LENGTH
    order = np.argsort(-p, kind="stable")
    wanted = (lengths * p)[order]
    values = 2 * np.cumsum(wanted) / (np.cumsum(lengths[order]) + wanted.sum() + 1e-9)
    return np.asarray(p >= p[order[int(values.argmax())]])


def expected_f1(chosen: NDArray[np.bool_], p: Floats, lengths: Floats) -> float:
    """How good the choice is likely to be, from 0 to 1."""
    lengths = lengths + _LEAST_LENGTH
    wanted = lengths * p
    return float(2 * wanted[chosen].sum() / (lengths[chosen].sum() + wanted.sum() + 1e-9))


def drop_repeated(
    chosen: NDArray[np.bool_], text_ids: Ints, characters: Floats, tables: Sequence[slice] = ()
) -> NDArray[np.bool_]:
    """Without the longer texts that were chosen before.

    A cell of one of the tables may say what another says: a table goes only as a whole, when it is one that
    was there before.
    """
    kept = chosen.copy()
    cells = np.zeros(len(chosen), np.bool_)
    known: set[tuple[int, ...]] = set()
    for table in tables:
        cells[table] = True
        texts = tuple(text_ids[table].tolist())
        if texts in known:
            kept[table] = False
        known.add(texts)
    seen: set[int] = set()
    for number in np.flatnonzero(kept & (characters > _MIN_REPEATED)).tolist():
        text = int(text_ids[number])
        if text in seen and not cells[number]:
            kept[number] = False
        seen.add(text)
    return kept
