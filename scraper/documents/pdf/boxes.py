"""Boxes and matrices of PDF pages."""

from __future__ import annotations

import ctypes
import math
from typing import NamedTuple

_SLACK = 1.0
"""Points by which a covered box may extend beyond the covering one."""


class Box(NamedTuple):
    """Rectangle in points. In PDFium the origin is the bottom left of the page, in `PageText` the top left."""

    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, x: float, y: float) -> bool:
        """Return True if the point is inside."""
        x0, y0, x1, y1 = self
        return x0 <= x <= x1 and y0 <= y <= y1

    def covers(self, other: Box) -> bool:
        """Return True if the other box is inside, with a little slack."""
        return (
            self.x0 - _SLACK <= other.x0 and other.x1 <= self.x1 + _SLACK
            and self.y0 - _SLACK <= other.y0 and other.y1 <= self.y1 + _SLACK
        )  # fmt: skip

    def overlap(self, other: Box) -> float:
        """Return the area that both share."""
        x0, y0, x1, y1 = self
        left, bottom, right, top = other
        # Comparisons take a third of the time of `min` and `max`, for the same result.
        width = (right if right < x1 else x1) - (left if left > x0 else x0)
        height = (top if top < y1 else y1) - (bottom if bottom > y0 else y0)
        return width * height if width > 0 and height > 0 else 0.0


class TransformMatrix(ctypes.Structure):
    """Transformation of a form (FS_MATRIX): x' = ax + cy + e, y' = bx + dy + f."""

    _fields_ = tuple((name, ctypes.c_float) for name in "abcdef")


def center(box: Box) -> tuple[float, float]:
    """Return the center of a box."""
    x0, y0, x1, y1 = box
    return (x0 + x1) / 2, (y0 + y1) / 2


def widen(box: Box) -> Box:
    """Return a box that is .1 points larger on each side, because spaces and thin letters may have no area."""
    return grow(box, 0.1)


def grow(box: Box, points: float) -> Box:
    """Return a box that is larger on each side."""
    return Box(box.x0 - points, box.y0 - points, box.x1 + points, box.y1 + points)


def intersect(one: Box, other: Box) -> Box:
    """Return the part that both boxes share; its sides are in reverse order if they share none."""
    return Box(max(one.x0, other.x0), max(one.y0, other.y0), min(one.x1, other.x1), min(one.y1, other.y1))


def transform(box: Box, matrices: tuple[TransformMatrix, ...]) -> Box:
    """Return the bounding box of a box transformed by the matrices of its forms, from the innermost outwards."""
    for m in matrices:
        corners = [
            (m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f) for x in (box.x0, box.x1) for y in (box.y0, box.y1)
        ]
        xs, ys = zip(*corners, strict=True)
        box = Box(min(xs), min(ys), max(xs), max(ys))
    return box


def scale(matrices: tuple[TransformMatrix, ...]) -> float:
    """Return the factor by which matrices enlarge, along the axis that they enlarge more."""
    return math.prod(max(math.hypot(m.a, m.b), math.hypot(m.c, m.d)) for m in matrices)
