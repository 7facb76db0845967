"""What a price says as text: without an old one beside it, cents that only stand higher behind a point."""

from __future__ import annotations

import re

from lxml import etree

from scraper.extract.dom.xpath import Element, text_of

MAX_PRICE_TEXT = 60

_CENTS = re.compile(r"cents?|fraction|decimals?|superscript|kopeck|centim", re.IGNORECASE)
_PAST = re.compile(
    r"(?:^|[-_ ])(?:old|was|before|previous|compare|original|crossed|rrp|msrp|uvp)(?:$|[-_ ])|"
    r"list-?price|strike|line-?through",
    re.IGNORECASE,
)
_PAST_AMOUNT = re.compile(
    r"(?<![^\W\d_])(?:was|rrp|msrp|uvp|list price|regular price|original price|before|statt|vorher|zuvor|"
    r"bisher|antes|pvp|de(?=:?\s?R\$)|precio (?:anterior|original)|avant|ancien prix|prix conseillé|prima|"
    r"prezzo (?:di listino|precedente)|van(?= ?€)|adviesprijs|ord\.?(?:inarie)? ?pris|tidigare(?: pris)?|"
    r"før(?:pris)?|førpris|normalpris|veil\.? ?pris|vejl\.? ?pris|norm\. ?hinta|původní cena|běžná cena|"
    r"cena regularna|najniższa cena(?: z \d+ dni)?(?: przed obniżką)?|старая цена)\s*:?\s*"
    r"[^\w\s]{0,3}(?:R\$)?\s?\d(?:[\d.,]|[ \xa0\u202f]\d{3}(?!\d))*",
    re.IGNORECASE,
)
_TWO_DIGITS = re.compile(r"\s*\d\d\s*")
_WHOLE = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:[., \xa0]\d{3})+|\d{1,9})\s*\Z")
_FOOTNOTE = re.compile(r"(?<=\d)\s*\Z")
_STRUCK = frozenset({"del", "s", "strike"})
_STRUCK_STYLE = re.compile(r"text-decoration(?:-line)?\s*+:[^;:]{0,40}?line-through", re.IGNORECASE)


def names_of(element: Element) -> str:
    """What an element is called by those who made the page."""
    told = (element.get(name) for name in ("class", "id", "itemprop", "data-test", "data-testid", "data-qa"))
    return " ".join(filter(None, told))


def current(element: Element) -> str:
    """The text of an element, without prices struck out if there is another beside them."""
    text = text_of(element)
    if len(element) == 0 or len(text) > 8 * MAX_PRICE_TEXT:
        return text
    told = _with_point(element, without_past=True)
    return told if any(map(str.isdigit, told)) else _with_point(element, without_past=False)


def _with_point(element: Element, *, without_past: bool) -> str:
    """The text of an element, with a point before cents that only their place tells: 173<sup>34</sup>."""
    told = ""
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        if event == "start":
            if part is not element and without_past and is_past(part):
                walk.skip_subtree()
                told += " "
                continue
            if part is not element and _is_cents(part):
                told = f"{told.rstrip()}." if _WHOLE.search(told) else _FOOTNOTE.sub(" |", told)
            told += part.text or ""
        elif part is not element:
            told += part.tail or ""
    return told


def without_past_amount(text: str) -> str:
    """`Now 20` of `Was 30 Now 20`; all of it where there is no other amount."""
    told = _PAST_AMOUNT.sub(" ", text).strip()
    return told if any(map(str.isdigit, told)) else text


def is_past(part: Element) -> bool:
    """Whether an element holds a price that was: struck out, or called so."""
    return is_struck(part) or _PAST.search(names_of(part)) is not None


def is_struck(element: Element) -> bool:
    """Whether an element is struck out by its tag or its style."""
    if element.tag in _STRUCK:
        return True
    style = element.get("style")
    return style is not None and _STRUCK_STYLE.search(style) is not None


def _is_cents(element: Element) -> bool:
    """Whether an element holds two digits and is raised, or called cents."""
    if not _TWO_DIGITS.fullmatch(text_of(element)):
        return False
    return element.tag == "sup" or _CENTS.search(names_of(element)) is not None
