"""What a response is: by the type it names, and by its first bytes where it names none."""

from __future__ import annotations

import re

TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
TEXT_SUFFIXES = ("+json", "+xml")
_PAGE = re.compile(
    rb"<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]|!--)"
)
"""What browsers take for a page (MIME Sniffing, section 7.1), in lower case."""


def is_text(media_type: str) -> bool:
    """Whether a body of this type is letters, to be decoded."""
    return media_type.startswith(TEXT_TYPES) or media_type.endswith(TEXT_SUFFIXES)


def sniffed(data: bytes) -> str:
    """The type of a body that came without one: a page, text, or neither."""
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if _PAGE.match(head):
        return "text/html"
    if head.startswith(b"%pdf-"):
        return "application/pdf"
    return "text/plain" if data and b"\0" not in data[:512] else "application/octet-stream"
