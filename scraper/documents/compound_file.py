"""Streams of an OLE compound file (Microsoft's specification MS-CFB)."""

import struct
from typing import NamedTuple

from scraper.errors import MalformedDocumentError

_HEADER_BYTES, _ENTRY_BYTES = 512, 128
_ENTRY = struct.Struct("<64xHBxIII36xII")
_LAST_SECTOR = 0xFFFFFFFA
"""Higher numbers are not sectors: end of a chain, free, table."""
_STREAM, _STORAGE, _ROOT = 2, 1, 5
_MAX_ENTRIES = 50_000
_FIRST_TABLES = 109


class _Entry(NamedTuple):
    name: str
    kind: int
    left: int
    right: int
    child: int
    start: int
    size: int


class CompoundFile:
    """The streams of a file by path, such as `folder/name`; the case of names does not count (MS-CFB, 2.6.4)."""

    def __init__(self, data: bytes) -> None:
        """Read the tables and the directory.

        Raises:
            MalformedDocumentError: They are damaged.
        """
        self._data = data
        try:
            self._read_header()
            self._streams = self._find_streams()
        except (struct.error, IndexError, ValueError, OverflowError):
            raise MalformedDocumentError("The file is a damaged Office document.") from None

    @property
    def names(self) -> list[str]:
        """Paths of all streams, in lower case."""
        return list(self._streams)

    def __contains__(self, name: str) -> bool:
        """Return True if the stream exists."""
        return name.lower() in self._streams

    def read(self, name: str) -> bytes:
        """Return the bytes of a stream, as far as they are there; empty if the stream is missing."""
        entry = self._streams.get(name.lower())
        if entry is None:
            return b""
        if entry.size >= self._mini_limit:
            return self._chain(entry.start, entry.size)
        pieces, sector, left = [], entry.start, entry.size
        while sector < len(self._mini_table) and left > 0:
            at = sector * self._mini_bytes
            pieces.append(self._mini_stream[at : at + min(left, self._mini_bytes)])
            left -= self._mini_bytes
            sector = self._mini_table[sector]
        return b"".join(pieces)

    def _read_header(self) -> None:
        if len(self._data) < _HEADER_BYTES:
            raise ValueError("too short")
        shift, mini_shift = struct.unpack_from("<HH", self._data, 30)
        if shift not in (9, 12) or mini_shift not in (6,):
            raise ValueError("unknown sector size")
        self._sector_bytes, self._mini_bytes = 1 << shift, 1 << mini_shift
        (self._first_entry,) = struct.unpack_from("<I", self._data, 48)
        self._mini_limit, mini_start, _, more_start = struct.unpack_from("<IIII", self._data, 56)
        tables = list(struct.unpack_from(f"<{_FIRST_TABLES}I", self._data, 76))
        most = len(self._data) // self._sector_bytes + 1
        numbers = self._sector_bytes // 4
        while more_start < _LAST_SECTOR and len(tables) <= most:
            *listed, more_start = struct.unpack(f"<{numbers}I", self._sector(more_start))
            tables += listed
        self._table: list[int] = []
        for sector in [one for one in tables if one < _LAST_SECTOR][:most]:
            self._table += struct.unpack(f"<{numbers}I", self._sector(sector))
        mini = self._chain(mini_start)
        self._mini_table = struct.unpack(f"<{len(mini) // 4}I", mini[: len(mini) // 4 * 4])

    def _sector(self, number: int) -> bytes:
        at = (number + 1) * self._sector_bytes
        return self._data[at : at + self._sector_bytes].ljust(self._sector_bytes, b"\0")

    def _chain(self, start: int, size: int | None = None) -> bytes:
        """Return the bytes of a chain of sectors, at most `size`. A loop ends at the number of sectors in the file."""
        most = len(self._data) // self._sector_bytes + 1
        if size is not None:
            most = min(most, -(-size // self._sector_bytes))
        pieces: list[bytes] = []
        while start < len(self._table) and len(pieces) < most:
            pieces.append(self._sector(start))
            start = self._table[start]
        joined = b"".join(pieces)
        return joined if size is None else joined[:size]

    def _find_streams(self) -> dict[str, _Entry]:
        directory = self._chain(self._first_entry)
        count = min(_MAX_ENTRIES, len(directory) // _ENTRY_BYTES)
        entries = []
        for at in range(0, count * _ENTRY_BYTES, _ENTRY_BYTES):
            name_bytes, kind, left, right, child, start, size = _ENTRY.unpack_from(directory, at)
            name = directory[at : at + max(0, min(64, name_bytes) - 2)].decode("utf-16-le", "replace")
            entries.append(_Entry(name.lower(), kind, left, right, child, start, size))
        root = next((entry for entry in entries if entry.kind == _ROOT), None)
        if root is None:
            raise ValueError("no root")
        self._mini_stream = self._chain(root.start, root.size)
        found: dict[str, _Entry] = {}
        waiting, seen = [(root.child, "")], set()
        while waiting:
            number, folder = waiting.pop()
            if number >= count or number in seen:
                continue
            seen.add(number)
            entry = entries[number]
            waiting += [(entry.left, folder), (entry.right, folder)]
            if entry.kind == _STREAM:
                found[folder + entry.name] = entry
            elif entry.kind == _STORAGE:
                waiting.append((entry.child, f"{folder}{entry.name}/"))
        return dict(sorted(found.items()))
