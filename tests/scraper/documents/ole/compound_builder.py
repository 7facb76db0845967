"""Builder of OLE compound files."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

_SECTOR, _MINI = 512, 64
_END, _FREE, _TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound_file(streams: Mapping[str, bytes], *, mini: bool = True) -> bytes:
    """Build a file of these streams by path; `mini` packs them into the stream for small ones."""
    sectors: list[bytes] = []
    table: list[int] = []

    def add(data: bytes) -> int:
        first, count = len(sectors), -(-len(data) // _SECTOR)
        for at in range(count):
            sectors.append(data[at * _SECTOR : (at + 1) * _SECTOR].ljust(_SECTOR, b"\0"))
            table.append(len(sectors) if at + 1 < count else _END)
        return first if count else _END

    packed = b""
    mini_table: list[int] = []
    starts: dict[str, int] = {}
    for path, data in streams.items():
        if not mini:
            starts[path] = add(data)
            continue
        count = -(-len(data) // _MINI)
        starts[path] = len(mini_table) if count else _END
        mini_table += [len(mini_table) + at + 1 if at + 1 < count else _END for at in range(count)]
        packed += data.ljust(count * _MINI, b"\0")
    packed_start = add(packed) if packed else _END
    mini_start = add(struct.pack(f"<{len(mini_table)}I", *mini_table)) if mini_table else _END
    entries: list[list[Any]] = [["Root Entry", 5, _FREE, _FREE, packed_start, len(packed)]]
    _add_folder(entries, 0, "", streams, starts)
    directory = add(b"".join(_entry(*entry) for entry in entries))
    table_start = len(sectors)
    table.append(_TABLE)
    assert len(table) <= 128, "the builder writes one sector of the table"
    sectors.append(struct.pack("<128I", *table, *[_FREE] * (128 - len(table))))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    header += bytes(10) + struct.pack("<III", 1, directory, 0)
    header += struct.pack("<IIIII", 4096 if mini else 0, mini_start, 1, _END, 0)
    header += struct.pack("<109I", table_start, *[_FREE] * 108)
    return header + b"".join(sectors)


def _add_folder(
    entries: list[list[Any]], parent: int, folder: str, streams: Mapping[str, bytes], starts: Mapping[str, int]
) -> None:
    names = dict.fromkeys(path.removeprefix(folder).split("/")[0] for path in streams if path.startswith(folder))
    before = None
    for name in names:
        is_stream = folder + name in streams
        size = len(streams[folder + name]) if is_stream else 0
        entries.append([name, 2 if is_stream else 1, _FREE, _FREE, starts.get(folder + name, 0), size])
        number = len(entries) - 1
        if before is None:
            entries[parent][3] = number
        else:
            entries[before][2] = number
        before = number
        if not is_stream:
            _add_folder(entries, number, f"{folder}{name}/", streams, starts)


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    encoded = name.encode("utf-16-le")[:62]
    out = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded) + 2, kind, 1, _FREE, right, child)
    return out + bytes(36) + struct.pack("<IQ", start, size)
