"""Bytes of a response to text: as declared where that fits, by what fits where it does not."""

from __future__ import annotations

import re

from browsers.charset_guess import fits, guess
from browsers.charset_labels import codec_of

__all__ = ["decode"]

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

_PRESCAN_BYTES = 1024
"""How far the standard looks for a declaration in the markup."""
_HEAD_BYTES = 64 * 1024
"""How far browsers go on looking while the head has not ended."""

_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_HEAD_END = re.compile(rb"</head|<body", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([^"'>]+)["']""")

_UNWANTED = re.compile("[\0\ud800-\udfff]")


def decode(body: bytes, content_type: str) -> str:
    """The text of a body; never raises, and what it returns holds neither NUL nor lone surrogates.

    The order is that of https://html.spec.whatwg.org/#determining-the-character-encoding: byte order mark,
    Content-Type, declaration in the markup; a declaration that plainly does not fit is passed over. Then
    UTF-8, if it is that, and last a guess.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return _clean(body[len(bom) :].decode(codec, "replace"))
    declared = _declared(body, content_type)
    utf8 = _strict_utf8(body)
    if utf8 is not None and (declared in {None, "utf-8"} or utf8.isascii()):
        return _clean(utf8)
    codec = declared if declared is not None and fits(body, declared) else guess(body)
    return _clean(body.decode(codec, "replace"))


def _clean(text: str) -> str:
    return _UNWANTED.sub("", text) if "\0" in text or _UNWANTED.search(text) else text


def _strict_utf8(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _declared(body: bytes, content_type: str) -> str | None:
    header = _HEADER_CHARSET.search(content_type)
    codec = codec_of(header[1]) if header else None
    return codec or _in_markup(body)


def _in_markup(body: bytes) -> str | None:
    head = _COMMENT.sub(b"", body[:_HEAD_BYTES])
    end = _HEAD_END.search(head)
    head = head[: max(end.start() if end else 0, _PRESCAN_BYTES)]
    for meta in _META.finditer(head):
        charset = _META_CHARSET.search(meta[0])
        codec = codec_of(charset[1].decode("ascii", "replace")) if charset else None
        if codec is not None:
            return "utf-8" if codec.startswith("utf-16") else codec
    xml = _XML.match(head)
    return codec_of(xml[1].decode("ascii", "replace")) if xml else None
