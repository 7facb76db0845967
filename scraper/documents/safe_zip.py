"""Zip containers of documents and their XML, read within limits; sizes in the directory are not trusted."""

import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO

from lxml import etree

from scraper.documents.model import locked_error
from scraper.errors import ContentTooLargeError, MalformedDocumentError
from scraper.html.dom.parsing import Element

_MAX_ENTRIES = 20_000
"""Entries of an archive. Documents with a thousand pictures have a few thousand parts."""
_MAX_TOTAL_BYTES = 300_000_000
MAX_PART_BYTES = 100_000_000
"""Decompressed bytes of one part."""
_RATIO_FROM_BYTES = 1_000_000
"""Decompressed bytes above which the compression ratio of a part is limited."""
_MAX_RATIO = 200
"""Compression ratio. XML of documents shrinks to a tenth or twentieth, a zip bomb to a thousandth."""
_CHUNK_BYTES = 1 << 20
_ENTITIES = re.compile(rb"""<!DOCTYPE(?:[^<>\["']++|"[^"]*+"|'[^']*+')*+\[""")
"""A document type with declarations. A document type with only a name, as in old books, is harmless."""
_UTF16_SAMPLE_BYTES = 200
_ENCRYPTED_FLAG = 0x1
_SMALLER = "Look for a smaller copy, or for a part of it."
_STRICT_NAMESPACES = tuple(
    (b"http://purl.oclc.org/ooxml/" + strict, b"http://schemas.openxmlformats.org/" + transitional)
    for strict, transitional in (
        (b"wordprocessingml/main", b"wordprocessingml/2006/main"),
        (b"officeDocument/math", b"officeDocument/2006/math"),
        (b"officeDocument/relationships", b"officeDocument/2006/relationships"),
        (b"drawingml/", b"drawingml/2006/"),
    )
)


class ZipParts:
    """The parts of a document by name; each is decompressed within limits."""

    def __init__(self, data: bytes) -> None:
        """Read the directory.

        Raises:
            MalformedDocumentError: It is not a zip file.
            ContentTooLargeError: It has too many entries.
        """
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise MalformedDocumentError(f"The file is damaged or was cut off: {error}.") from None
        entries = self._archive.infolist()
        if len(entries) > _MAX_ENTRIES:
            raise ContentTooLargeError(
                f"The document has {len(entries):,} parts; {_MAX_ENTRIES:,} are read at most.", next_step=_SMALLER
            )
        # If two entries have the same name, office programs read the first.
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            self._entries.setdefault(entry.filename.lstrip("/"), entry)
        self._total_bytes = 0

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
        chunks, size = [], 0
        for chunk in self.chunks(name):
            size += len(chunk)
            self._total_bytes += len(chunk)
            is_bomb = size > _RATIO_FROM_BYTES and size > _MAX_RATIO * max(1, self._entries[name].compress_size)
            if is_bomb or size > MAX_PART_BYTES or self._total_bytes > _MAX_TOTAL_BYTES:
                raise ContentTooLargeError("The document expands to more bytes than the limit.", next_step=_SMALLER)
            chunks.append(chunk)
        return b"".join(chunks)

    def chunks(self, name: str, max_bytes: int = MAX_PART_BYTES + 1) -> Iterator[bytes]:
        """Yield a part in chunks until `max_bytes` are reached; no other limit applies.

        Raises:
            MalformedDocumentError: It is missing or damaged.
            EncryptedDocumentError: It needs a password.
        """
        entry, size = self._entries.get(name), 0
        if entry is None:
            raise MalformedDocumentError(f"The document lacks its part {name[:100]}.")
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise locked_error("The document")
        try:
            with self._archive.open(entry) as part:
                while size < max_bytes and (chunk := part.read(_CHUNK_BYTES)):
                    size += len(chunk)
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise MalformedDocumentError(f"The document's part {name[:100]} is damaged: {error}.") from None

    def xml(self, name: str) -> Element:
        """Return a part as a tree; raise the errors of `read` and `parse_xml`."""
        return parse_xml(self.read(name), name)

    def xml_or_none(self, name: str) -> Element | None:
        """Return an optional part as a tree, or None if it is missing or damaged.

        Raises:
            ContentTooLargeError: It decompresses to more than the limit.
            EncryptedDocumentError: It needs a password.
        """
        try:
            return self.xml(name) if name in self else None
        except MalformedDocumentError:
            return None

    def resolve(self, base: str, target: str) -> str:
        """Return the part that `target` refers to in the part `base`; never one outside of the archive."""
        path = target if target.startswith("/") else posixpath.join(posixpath.dirname(base), target)
        return posixpath.normpath("/" + path).lstrip("/")


def write_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of these parts by name."""
    with BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return file.getvalue()


def check_entities(data: bytes, name: str) -> None:
    """Refuse a part that declares entities: office programs write none, and XML bombs need them.

    Raises:
        MalformedDocumentError: It declares entities.
    """
    # Drop zero bytes, because the parser reads UTF-16 too.
    if _ENTITIES.search(data.replace(b"\0", b"") if b"\0" in data[:_UTF16_SAMPLE_BYTES] else data):
        raise MalformedDocumentError(
            f"The document's part {name[:100]} declares entities, which office programs never write."
        )


def parse_xml(data: bytes, name: str = "XML", *, recover: bool = False) -> Element:
    """Parse XML without entities, network access and document types; read strict Office XML as transitional.

    Args:
        data: XML of a part.
        name: Name of the part for error messages.
        recover: Skip syntax errors.

    Raises:
        MalformedDocumentError: It is not XML, or declares entities.
    """
    check_entities(data, name)
    if b"purl.oclc.org" in data:
        for strict, transitional in _STRICT_NAMESPACES:
            data = data.replace(strict, transitional)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True, recover=recover,
    )  # fmt: skip
    try:
        root: Element | None = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise MalformedDocumentError(f"The document's part {name[:100]} is not valid XML: {error}.") from None
    if root is None:
        raise MalformedDocumentError(f"The document's part {name[:100]} is empty.")
    return root


def first_text(root: Element | None, *tags: str) -> str | None:
    """Return the first non-empty text of elements with these tags, such as `{*}title`; None without any."""
    return None if root is None else next((element.text for element in root.iter(*tags) if element.text), None)
