"""What a response is: by the type it names, and by its first bytes where it names none."""

from __future__ import annotations

__all__ = ["is_text", "sniffed"]

TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
TEXT_SUFFIXES = ("+json", "+xml")


def is_text(media_type: str) -> bool:
    """Whether a body of this type is letters, to be decoded."""
    return media_type.startswith(TEXT_TYPES) or media_type.endswith(TEXT_SUFFIXES)


def sniffed(data: bytes) -> str:
    """The type of a body that came without one: a page, text, or neither."""
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<p", b"<div", b"<!--")):
        return "text/html"
    if head.startswith(b"%pdf-"):
        return "application/pdf"
    return "text/plain" if data and b"\0" not in data[:512] else "application/octet-stream"
