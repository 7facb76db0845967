"""Zip files of documents, opened without trusting what they say of themselves."""

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
"""Documents of a thousand pictures have a few thousand parts."""
MAX_TOTAL_BYTES = 300_000_000
MAX_PART_BYTES = 100_000_000
RATIO_FROM_BYTES = 1_000_000
MAX_RATIO = 200
"""XML of documents shrinks to a tenth or twentieth; a bomb to a thousandth."""
MAX_DEPTH = 256
"""libxml2's own bound on nested elements; what nests deeper was made to."""
_CHUNK = 1 << 20
_ENTITIES = re.compile(rb"""<!DOCTYPE(?:[^<>\["']++|"[^"]*+"|'[^']*+')*+\[""")
"""A document type that declares things itself; one that only names its kind, as old books do, is harmless."""
_WIDE_FROM = 200
_LOCKED = 0x1
_ASKS = "The document is locked with a password."
_UNLOCKED = "Save it without a password, or look for another copy."
_SMALLER = "Look for a smaller copy, or for a part of it."


class Parts:
    """The parts of a document by name, each inflated within bounds, once."""

    def __init__(self, data: bytes) -> None:
        """Read the directory.

        Raises:
            Malformed: it is no zip.
            TooLarge: it holds more than a document can.
        """
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise MalformedDocumentError(f"The file is a damaged archive: {error}.") from None
        entries = self._archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise ContentTooLargeError(
                f"The document has {len(entries):,} parts; {MAX_ENTRIES:,} are read at most.",
                next_step=_SMALLER,
            )
        # The first of two entries of one name is what every office reads.
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            self._entries.setdefault(entry.filename.lstrip("/"), entry)
        self._taken = 0

    @property
    def names(self) -> list[str]:
        """All parts, in the order of the directory."""
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def size_of(self, name: str) -> int:
        """What the directory says of a part's size; not to be relied on."""
        return self._entries[name].file_size

    def read(self, name: str) -> bytes:
        """One part.

        Raises:
            Malformed: it is not there, or damaged.
            TooLarge: it inflates to more than a document's part can.
            Encrypted: it asks for a password.
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
        """One part piece by piece, up to a bound of the caller's; nothing of it counts for other bounds.

        Raises:
            Malformed: it is damaged.
            Encrypted: it asks for a password.
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
                raise ContentTooLargeError(
                    "The document inflates to more than a document holds.", next_step=_SMALLER
                )
            pieces.append(piece)
        return b"".join(pieces)

    def xml(self, name: str) -> Element:
        """One part as a tree.

        Raises:
            Malformed, TooLarge, Encrypted: as `read`.
        """
        return parse_xml(self.read(name), name)

    def xml_or_none(self, name: str) -> Element | None:
        """One part as a tree; None when it is missing or damaged: what it says can be done without."""
        if name not in self:
            return None
        try:
            return self.xml(name)
        except MalformedDocumentError:
            return None

    def resolve(self, base: str, target: str) -> str:
        """The part that `target` means in the part `base`; never outside of the archive."""
        path = target if target.startswith("/") else posixpath.join(posixpath.dirname(base), target)
        return posixpath.normpath("/" + path).lstrip("/")


def check_entities(data: bytes, name: str) -> None:
    """Refuse a part that declares entities: no office writes any, and bombs are made of them.

    Raises:
        Malformed: it does.
    """
    # Zeros: letters of two bytes each are read by the parser too.
    if _ENTITIES.search(data.replace(b"\0", b"") if b"\0" in data[:_WIDE_FROM] else data):
        raise MalformedDocumentError(
            f"The document's part {name[:100]} declares entities, which no office writes."
        )


def parse_xml(data: bytes, name: str = "XML") -> Element:
    """A tree without entities, network and document types.

    Raises:
        Malformed: it is no XML, or declares what could be an attack.
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
