"""Names of OpenDocument's elements and attributes, and the numbers that they carry."""

from __future__ import annotations

from scraper.extract.dom.xpath import Element

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, OFFICE, TABLE = f"{{{_URN}text:1.0}}", f"{{{_URN}office:1.0}}", f"{{{_URN}table:1.0}}"
DRAW, STYLE, META = f"{{{_URN}drawing:1.0}}", f"{{{_URN}style:1.0}}", f"{{{_URN}meta:1.0}}"
PRESENTATION, CHART = f"{{{_URN}presentation:1.0}}", f"{{{_URN}chart:1.0}}"
FO = f"{{{_URN}xsl-fo-compatible:1.0}}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
LINK = "{http://www.w3.org/1999/xlink}href"


def number(element: Element, name: str, otherwise: int) -> int:
    """A whole number in an attribute; what is no number, or longer than any that is meant, is not taken."""
    value = said(element, name)
    return int(value) if value.isdecimal() and len(value) < 10 else otherwise


def said(element: Element, name: str) -> str:
    """The text of an attribute; empty where it is missing."""
    return str(element.get(name, ""))
