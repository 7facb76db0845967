"""OpenDocument namespaces and access to attributes."""

from __future__ import annotations

from scraper.html.dom.xpath import Element

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, OFFICE, TABLE = f"{{{_URN}text:1.0}}", f"{{{_URN}office:1.0}}", f"{{{_URN}table:1.0}}"
DRAW, STYLE, META = f"{{{_URN}drawing:1.0}}", f"{{{_URN}style:1.0}}", f"{{{_URN}meta:1.0}}"
PRESENTATION, CHART = f"{{{_URN}presentation:1.0}}", f"{{{_URN}chart:1.0}}"
FO = f"{{{_URN}xsl-fo-compatible:1.0}}"
LIBRE_OFFICE = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
LINK = "{http://www.w3.org/1999/xlink}href"


def get_attribute(element: Element, name: str) -> str:
    """Return an attribute; empty if it is missing."""
    return str(element.get(name, ""))


def get_int_attribute(element: Element, name: str, default: int) -> int:
    """Return an attribute of at most nine digits as an integer, else `default`, also for negative numbers."""
    value = get_attribute(element, name)
    return int(value) if value.isdecimal() and len(value) < 10 else default
