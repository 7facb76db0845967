"""Read the boxes, text modes and colors of PDF page objects in batches, and compare colors.

A document of a hundred pages has 50,000 objects. `map` calls a function of the library in half of the time that a
loop takes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import repeat
from typing import Any, Generic, TypeVar

T = TypeVar("T")

BATCH = 512
"""Objects per batch."""
_SIDES = 4
_VALUE_BYTES = 4

Fields = tuple[int, int, tuple[float, float, float, float] | None, tuple[int, int, int, int] | None]
"""Handle, text rendering mode (-1 if the object is no text), left, bottom, right and top, and fill color (RGBA)."""


class _Slots(Generic[T]):
    """Memory for one batch, with a reference to each value: PDFium returns four values of an object by reference."""

    def __init__(self, kind: type[ctypes._SimpleCData[T]]) -> None:
        self.values = (kind * (_SIDES * BATCH))()
        places = range(0, BATCH * _SIDES * _VALUE_BYTES, _SIDES * _VALUE_BYTES)
        self.references = [
            [ctypes.byref(self.values, place + _VALUE_BYTES * side) for place in places] for side in range(_SIDES)
        ]

    def read(self, found: Sequence[int]) -> list[tuple[T, T, T, T] | None]:
        """Return the values of each object, or None if PDFium found none."""
        values: Iterator[Any] = iter(self.values[: _SIDES * len(found)])
        quadruples = zip(values, values, values, values, strict=True)
        return [four if has_values else None for four, has_values in zip(quadruples, found, strict=True)]


@cache
def _slots() -> tuple[_Slots[float], _Slots[int]]:
    """Return the memory for boxes and colors; like PDFium, only one thread may use it."""
    return _Slots(ctypes.c_float), _Slots(ctypes.c_uint)


def read_batch(library: ctypes.CDLL, prefix: str, parent: int, start: int, end: int) -> Iterator[Fields]:
    """Return up to `BATCH` objects of a page (prefix FPDFPage) or form (FPDFFormObj); missing values are None."""
    boxes, colors = _slots()
    handles = list(map(getattr(library, f"{prefix}_GetObject"), repeat(parent), range(start, end)))
    modes = list(map(library.FPDFTextObj_GetTextRenderMode, handles))
    has_box = list(map(library.FPDFPageObj_GetBounds, handles, *boxes.references))
    has_color = list(map(library.FPDFPageObj_GetFillColor, handles, *colors.references))
    return zip(handles, modes, boxes.read(has_box), colors.read(has_color), strict=True)


_SAME_COLOR = 8
"""Difference of each color channel, of 255, that is not visible."""
WHITE = (255, 255, 255)


def is_same_color(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Return True if the difference of two colors (red, green, blue) is not visible."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]), abs(one[2] - other[2])) <= _SAME_COLOR


class Contrasts(dict[tuple[int, int, int, int], bool]):
    """Cache by text fill (red, green, blue, opacity): True if the fill is visible on all backgrounds."""

    def __init__(self, backgrounds: Sequence[tuple[int, int, int]]) -> None:
        """Compare with these backgrounds; call `clear` after one is added."""
        super().__init__()
        self._backgrounds = backgrounds

    def __missing__(self, fill: tuple[int, int, int, int]) -> bool:
        """Compare a fill with the backgrounds, and cache the result."""
        self[fill] = fill[3] != 0 and not any(is_same_color(fill[:3], other) for other in self._backgrounds)
        return self[fill]
