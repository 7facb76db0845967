"""Colors of text and of its background on PDF pages."""

from __future__ import annotations

from collections.abc import Sequence

_SAME_COLOR = 8
"""Difference of each color channel, of 255, that is not visible."""
WHITE = (255, 255, 255)


def is_same_color(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Return True if the difference of two colors (red, green, blue) is not visible."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]), abs(one[2] - other[2])) <= _SAME_COLOR


class Contrasts(dict[tuple[int, int, int, int], bool]):
    """Cache of text fills (red, green, blue, opacity) that tells if they are visible on all backgrounds."""

    def __init__(self, backgrounds: Sequence[tuple[int, int, int]]) -> None:
        """Compare with these backgrounds; call `clear` after one is added."""
        super().__init__()
        self._backgrounds = backgrounds

    def __missing__(self, fill: tuple[int, int, int, int]) -> bool:
        """Compare a fill with the backgrounds, and remember the result."""
        self[fill] = fill[3] != 0 and not any(is_same_color(fill[:3], other) for other in self._backgrounds)
        return self[fill]
