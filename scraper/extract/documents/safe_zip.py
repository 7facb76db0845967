"""Zip containers of documents, read within bounds and without trust in their directory."""

from __future__ import annotations

import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO

from lxml import etree

from scraper.errors import ContentTooLargeError, EncryptedDocumentError, MalformedDocumentError
from scraper.extract.dom.xpath import Element

MAX_ENTRIES = 20_000
"""Documents with a thousand pictures have a few thousand parts."""
MAX_TOTAL_BYTES = 300_000_000
MAX_PART_BYTES = 100_000_000
RATIO_FROM_BYTES = 1_000_000
MAX_RATIO = 200
"""Compression ratio. XML of documents shrinks to a tenth or twentieth, a zip bomb to a thousandth."""
MAX_DEPTH = 256
"""Nested elements. libxml2's own limit; deeper nesting is deliberate."""
_CHUNK = 1 << 20
_ENTITIES = re.compile(rb"""<!DOCTYPE(?:[^<>\["']++|"[^"]*+"|'[^']*+')*+\[""")
"""A document type with own declarations. One that only names its type, as in old books, is harmless."""
_WIDE_FROM = 200
_LOCKED = 0x1
_ASKS = "The document is locked with a password."
_UNLOCKED = "Save it without a password, or look for another copy."
_SMALLER = "Look for a smaller copy, or for a part of it."


class Parts:
    """The parts of a document by name; each is decompressed within bounds and counted once."""

    def __init__(self, data: bytes) -> None:
        """Read the directory.

        Raises:
            MalformedDocumentError: It is no zip file.
            ContentTooLargeError: It has too many entries, or they are too large.
        """
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise MalformedDocumentError(f"The file is a damaged archive: {error}.") from None
        entries = self._archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise ContentTooLargeError(
                f"The document has {len(entries):,} parts; {MAX_ENTRIES:,} are read at most.", next_step=_SMALLER
            )
        # Of two entries with one name, all office programs read the first.
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            self._entries.setdefault(entry.filename.lstrip("/"), entry)
        self._taken = 0

    @property
    def names(self) -> list[str]:
        """Names of all parts, in directory order."""
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        """Return True if the directory lists the part."""
        return name in self._entries

    def size_of(self, name: str) -> int:
        """Return the size of a part as declared in the directory; do not rely on it."""
        return self._entries[name].file_size

    def read(self, name: str) -> bytes:
        """Return the bytes of a part.

        Raises:
            MalformedDocumentError: It is missing or damaged.
            ContentTooLargeError: It decompresses to more than the limit.
            EncryptedDocumentError: It needs a password.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise MalformedDocumentError(f"The document lacks its part {name[:100]}.")
        if entry.flag_bits & _LOCKED:
            raise EncryptedDocumentError(_ASKS, next_step=_UNLOCKED)
        try:
            with self._archive.open(entry) as part:
                return self._decompress(part, entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise MalformedDocumentError(f"The document's part {name[:100]} is damaged: {error}.") from None

    def chunks(self, name: str, most_bytes: int) -> Iterator[bytes]:
        """Yield a part in chunks up to `most_bytes`; other limits do not count them.

        Raises:
            MalformedDocumentError: It is damaged.
            EncryptedDocumentError: It needs a password.
        """
        entry, size = self._entries[name], 0
        if entry.flag_bits & _LOCKED:
            raise EncryptedDocumentError(_ASKS, next_step=_UNLOCKED)
        try:
            with self._archive.open(entry) as part:
                while size < most_bytes and (piece := part.read(_CHUNK)):
                    size += len(piece)
                    yield piece
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise MalformedDocumentError(f"The document's part {name[:100]} is damaged: {error}.") from None

    def _decompress(self, part: IO[bytes], entry: zipfile.ZipInfo) -> bytes:
        pieces, size = [], 0
        while piece := part.read(_CHUNK):
            size += len(piece)
            self._taken += len(piece)
            grown = size > RATIO_FROM_BYTES and size > MAX_RATIO * max(1, entry.compress_size)
            if grown or size > MAX_PART_BYTES or self._taken > MAX_TOTAL_BYTES:
                raise ContentTooLargeError("The document inflates to more than a document holds.", next_step=_SMALLER)
            pieces.append(piece)
        return b"".join(pieces)

    def xml(self, name: str) -> Element:
        """Return a part as a tree.

        Raises:
            MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: As `read`.
        """
        return parse_xml(self.read(name), name)

    def xml_or_none(self, name: str) -> Element | None:
        """Return an optional part as a tree, or None if it is missing or damaged."""
        if name not in self:
            return None
        try:
            return self.xml(name)
        except MalformedDocumentError:
            return None

    def resolve(self, base: str, target: str) -> str:
        """Return the part that `target` means in the part `base`; never one outside of the archive."""
        path = target if target.startswith("/") else posixpath.join(posixpath.dirname(base), target)
        return posixpath.normpath("/" + path).lstrip("/")


def check_entities(data: bytes, name: str) -> None:
    """Refuse a part that declares entities: office programs write none, and XML bombs need them.

    Raises:
        MalformedDocumentError: It declares entities.
    """
    # Drop zero bytes, because the parser reads UTF-16 too.
    if _ENTITIES.search(data.replace(b"\0", b"") if b"\0" in data[:_WIDE_FROM] else data):
        raise MalformedDocumentError(f"The document's part {name[:100]} declares entities, which no office writes.")


def parse_xml(data: bytes, name: str = "XML") -> Element:
    """Parse XML without entities, network access and document types.

    Raises:
        MalformedDocumentError: It is no XML, or contains possibly hostile declarations.
    """
    check_entities(data, name)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root: Element | None = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise MalformedDocumentError(f"The document's part {name[:100]} is no proper XML: {error}.") from None
    if root is None:
        raise MalformedDocumentError(f"The document's part {name[:100]} is empty.")
    return root
