"""The date of publication as a page shows it: near the headline, one of a change only for want of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from scraper.extract.dom.words import squeezed
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.metadata import date_parsing

_MAX_TEXT = 90
_NAMED = re.compile(r"date|publish|posted|time|byline|meta|info|author|entry|dek|kicker|stamp", re.IGNORECASE)
_CHANGED = re.compile(
    r"updat|modif|chang|edit|review|aktualis|geändert|mise à jour|actualiz|aggiorn|upcoming|expire|deadline|"
    r"event",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(r"publi|posted|veröffentlicht|erschienen|first\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:(?:19|20)\d{2}|25[5-9]\d)(?!\d)|[٠-٩۰-۹०-९০-৯]{4}")
"""Also as Thai count and as other scripts write them."""
_TIMES = frozenset({"time", "relative-time", "time-ago", "local-time"})


def seen(near: Sequence[Element]) -> datetime | None:
    """The first date; one of a change only where there is no other."""
    changed: datetime | None = None
    for element in near:
        moment = _of(element)
        if moment is None:
            continue
        if not _is_of_a_change(element):
            return moment
        changed = changed or moment
    return changed


def _of(element: Element) -> datetime | None:
    name, item = element.get("class"), element.get("itemprop")
    named = element.tag in _TIMES or bool((name or item) and _NAMED.search(f"{name or ''} {item or ''}"))
    for attribute in ("datetime", "title") if named else ():
        stated = element.get(attribute)
        if stated and len(stated) < _MAX_TEXT and (moment := date_parsing.parse(stated)):
            return moment
    text = text_of(element) if named else element.text or ""
    if len(text) > 4 * _MAX_TEXT:
        return None
    text = squeezed(text)
    if len(text) > _MAX_TEXT or not _YEAR.search(text):
        return None
    published = _PUBLISHED.search(text)
    own = date_parsing.in_text(text[published.end() :]) if published else None
    return own or date_parsing.in_text(text)


def _is_of_a_change(element: Element) -> bool:
    if _PUBLISHED.search(text_of(element)[:_MAX_TEXT]):
        return False
    around = element.getparent()
    before = element.getprevious()
    told = [element.get("class"), element.get("itemprop"), (element.text or "")[:_MAX_TEXT]]
    if around is not None:
        told += [around.get("class"), (around.text or "")[-_MAX_TEXT:]]
    if before is not None:
        told += [before.tail, text_of(before)[-_MAX_TEXT:] if len(text_of(before)) < _MAX_TEXT else ""]
    return any(part and _CHANGED.search(part) for part in told)
