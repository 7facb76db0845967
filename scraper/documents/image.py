"""Image reader: reports type and size; does not read the picture."""

from __future__ import annotations

import re
import struct

from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.text_decoding import decode_text

_LENGTH = re.compile(r'\b(width|height|viewBox)\s*=\s*["\']([^"\']{1,60})["\']')
_SVG_TEXT = re.compile(r"<(?:title|desc|text|tspan)\b[^>]*>([^<]{1,500})")
_MAX_SVG_TEXTS = 300
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return one line about the file, and the text of an SVG drawing."""
    try:
        kind, size = _type_and_size(data)
    except (struct.error, IndexError):
        kind, size = "damaged", None
    shape = f", {size[0]:,} x {size[1]:,} pixels" if size and all(size) else ""
    line = f"Image: {kind}{shape}, {len(data):,} bytes. What it shows is not read."
    text = _svg_text(decode_text(data, request)[0]) if kind == "SVG" else ""
    return ParsedDocument("image", f"{line}\n\n{text}".strip())


def _type_and_size(data: bytes) -> tuple[str, tuple[int, int] | None]:
    """Return the type, and width and height if the first bytes contain them."""
    if data.startswith(b"\x89PNG"):
        return "PNG", struct.unpack(">II", data[16:24])
    if data.startswith(b"GIF8"):
        return "GIF", struct.unpack("<HH", data[6:10])
    if data.startswith(b"\xff\xd8"):
        return "JPEG", _jpeg_size(data)
    if data.startswith(b"BM"):
        width, height = struct.unpack("<ii", data[18:26])
        return "BMP", (abs(width), abs(height))
    if data.startswith(b"RIFF"):
        return "WebP", _webp_size(data)
    if data.startswith((b"II*\0", b"MM\0*")):
        return "TIFF", None
    if data[4:8] == b"ftyp":
        return ("AVIF" if data[8:11] == b"avi" else "HEIC"), _boxed_size(data)
    if data.startswith(b"\0\0\1\0"):
        return "icon", (data[6] or 256, data[7] or 256)
    if data.startswith(b"8BPS"):
        height, width = struct.unpack(">II", data[14:22])
        return "Photoshop", (width, height)
    return ("SVG", _svg_size(data)) if b"<svg" in data[:4_096] else ("of an unknown type", None)


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF or marker in _JPEG_BARE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(2, struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _boxed_size(data: bytes) -> tuple[int, int] | None:
    at = data.find(b"ispe", 0, 65_536)
    return None if at < 0 else struct.unpack(">II", data[at + 8 : at + 16])


def _svg_size(data: bytes) -> tuple[int, int] | None:
    declared = dict(_LENGTH.findall(data[:4_096].decode("utf-8", "replace")))
    numbers = [re.match(r"[\d.]+(?!%)", declared.get(name, "")) for name in ("width", "height")]
    if all(numbers):
        return round(float(numbers[0][0])), round(float(numbers[1][0]))  # type: ignore[index]
    box = re.findall(r"[-\d.]+", declared.get("viewBox", ""))
    return (round(float(box[2])), round(float(box[3]))) if len(box) == 4 else None


def _svg_text(svg: str) -> str:
    lines = (" ".join(text.split()) for text in _SVG_TEXT.findall(svg)[:_MAX_SVG_TEXTS])
    return "\n".join(filter(None, lines))
