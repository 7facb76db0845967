"""Code that a generator sets without `pre`, in elements of its own: it becomes `pre`."""

from __future__ import annotations

import re

from lxml import etree

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, elements, text_of

_LINED = elements(".//div[contains(concat(' ', @class, ' '), ' fragment ')]")
"""Doxygen's blocks of code."""
_LISTINGS = elements(".//div[contains(@class, 'ltx_lstlisting')]")
_LISTED_LANGUAGE = re.compile(r"ltx_lst_language_(\S+)")
_SIGNATURES = elements(".//table[contains(concat(' ', @class, ' '), ' memname ')]")
_AFTER_BRACKET = re.compile(r"(?<=\() | (?=\))|(?<= ) ")


def settle(root: Element, names: str) -> None:
    """Make them blocks of code; `names` are the tree's classes."""
    for box in _LINED(root) if "fragment" in names else ():
        _settle_lined(box)
    for box in _LISTINGS(root) if "ltx_lstlisting" in names else ():
        _settle_listing(box)
    for area in root.iter("textarea"):
        if "\n" in (area.text or "").strip():  # an editor with an example in it; fields of forms are empty
            area.tag = "pre"
    for table in _SIGNATURES(root) if "memname" in names else ():
        _settle_signature(table)


def _settle_lined(box: Element) -> None:
    """A box that holds lines of code, each in an element of its own, perhaps in parts that fold."""
    lines: list[Element] = []
    for part in box:
        classes = (part.get("class") or "").split()
        if "line" in classes:
            lines.append(part)
        elif "foldopen" in classes:
            lines += [line for line in part.iter("div") if "line" in (line.get("class") or "").split()]
        elif "ttc" not in classes:  # what shows over a name when one points at it
            return
    if lines:
        for line in lines:
            line.tail = None
        box.tag, box.text, box[:] = "pre", None, lines


def _settle_listing(box: Element) -> None:
    """LaTeXML's listing: its lines are elements, its language stands in a class of its own."""
    lines = [line for line in box if "ltx_listingline" in (line.get("class") or "").split()]
    if not lines or next(box.iterdescendants("math"), None) is not None:
        return
    language = _LISTED_LANGUAGE.search(box.get("class") or "")
    for line in lines:
        line.tail = None
        for number in [one for one in line if "ltx_tag" in (one.get("class") or "")]:
            remove(number)
    box.tag, box.text, box[:] = "pre", None, lines
    if language:
        box.set("data-lang", language.group(1))


def _settle_signature(table: Element) -> None:
    """A function with its parameters in the cells of a table, as Doxygen sets them: one line of code."""
    words = " ".join(" ".join(text_of(cell).split()) for cell in table.iter("td"))
    code = etree.Element("code")
    code.text = _AFTER_BRACKET.sub("", " ".join(words.split()))
    table.tag = "p"
    table[:] = [code]
    table.text = None
