"""Content that the suite's tools return: the smallest image, the smallest sound, text and resources."""

from __future__ import annotations

import base64
import io
import struct
import wave
import zlib

from mcp.types import AudioContent, EmbeddedResource, ImageContent, TextContent, TextResourceContents


def _png() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    one_grey_pixel = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\x7f")
    parts = (chunk(b"IHDR", one_grey_pixel), chunk(b"IDAT", pixels), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _wav() -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(b"\x80" * 8)
    return written.getvalue()


PICTURE = _png()


def text(words: str) -> TextContent:
    """Return a text."""
    return TextContent(text=words)


def picture() -> ImageContent:
    """Return a gray pixel."""
    return ImageContent(data=base64.b64encode(PICTURE).decode(), mime_type="image/png")


def audio() -> AudioContent:
    """Return a millisecond of silence."""
    return AudioContent(data=base64.b64encode(_wav()).decode(), mime_type="audio/wav")


def embedded(uri: str, mime_type: str, words: str) -> EmbeddedResource:
    """Return an embedded resource."""
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=words))
