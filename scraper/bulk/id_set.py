"""A set of small whole numbers, a bit each: ten million pages in little more than a megabyte."""

from __future__ import annotations


class IdSet:
    """Numbers from 0 that were added."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, number: int) -> None:
        """Take one in."""
        place = number >> 3
        if place >= len(self._bits):
            # Ahead, so that a list that is read in order does not grow byte by byte.
            self._bits.extend(bytes(place + 1024 - len(self._bits)))
        self._bits[place] |= 1 << (number & 7)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self._bits) and bool(self._bits[place] & (1 << (number & 7)))
