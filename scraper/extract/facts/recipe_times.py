"""The times of a recipe as a page shows them: beside their labels, or in what is called so."""

from __future__ import annotations

import re

from scraper.extract.dom.xpath import Element, attribute_selector, text_of
from scraper.extract.facts.durations import minutes
from scraper.extract.facts.label_value_pairs import LabelValuePairs
from scraper.extract.facts.schema_graph import cleaned

_LABELS = LabelValuePairs(
    {
        "total_time": (
            r"total(?: cook(?:ing)?)? time|time|ready in|total|totale tijd|totale bereidingstijd|"
            r"gesamtzeit|gesamt|arbeitszeit gesamt|temps total|durée totale|tiempo total|tempo totale?|"
            r"tempo de preparo|samlet tid|total tid|tid i alt|totaltid|tillagningstid|kokonaisaika|"
            r"czas całkowity|celkový čas|teljes idő|toplam süre|общее время|время приготовления|所要時間|"
            r"總時間|总时间|συνολικός χρόνος|전체 시간"
        ),
        "prep_time": (
            r"prep(?:aration)?(?: time)?|hands-?on(?: time)?|active time|voorbereiding(?:stijd)?|"
            r"vorbereitung(?:szeit)?|(?:temps de )?préparation|(?:tiempo de )?preparación|"
            r"(?:tempo di )?preparazione|forberedelse(?:stid)?|förberedelse|czas przygotowania|"
            r"doba přípravy|hazırlama süresi|подготовка|準備時間"
        ),
        "cook_time": r"cook(?:ing)?(?: time)?|bake(?: time)?|baking time|kooktijd|oventijd|kochzeit|backzeit|"
        r"koch-?/?backzeit|(?:temps de )?cuisson|(?:tiempo de )?cocción|(?:tempo di )?cottura|"
        r"steketid|tilberedningstid|czas gotowania|pişirme süresi|調理時間",
    }
)


_NAMES = {
    "total_time": re.compile(
        r"(?<![a-z])total[-_]?time(?![a-z])|(?<!\S)(?:dt-)?duration(?!\S)", re.IGNORECASE
    ),
    "prep_time": re.compile(r"(?<![a-z])prep(?:aration)?[-_]?time(?![a-z])", re.IGNORECASE),
    "cook_time": re.compile(r"(?<![a-z])cook(?:ing)?[-_]?time(?![a-z])", re.IGNORECASE),
}
"""What microdata, microformats and plugins call them."""
_CALLED = tuple(attribute_selector(name) for name in ("class", "itemprop"))
_STATED = ("content", "datetime", "title")
_OUTSIDE = frozenset({"nav", "header", "footer", "aside"})
_MAX_TEXT = 80
_NO_UNIT = re.compile(r"[\d:.\s]+")
"""Also how long a video is."""


def seen(body: Element) -> dict[str, int]:
    """Minutes by name; what is beside a label and names no unit is left out."""
    told = {name: None if text.isdecimal() else minutes(text) for name, text in _LABELS.seen(body).items()}
    return _named(body) | {name: span for name, span in told.items() if span}


def _named(body: Element) -> dict[str, int]:
    """The times in elements of that name; none where there are several, which are those of other recipes."""
    found: dict[str, set[int]] = {}
    for element in (element for called in _CALLED for element in called(body)):
        words = f"{element.get('class') or ''} {element.get('itemprop') or ''}"
        for name, pattern in _NAMES.items():
            if pattern.search(words) and (span := _span(element)):
                found.setdefault(name, set()).add(span)
    return {name: spans.pop() for name, spans in found.items() if len(spans) == 1}


def _span(element: Element) -> int | None:
    """The minutes that an element states or shows; what stands beside the content says nothing."""
    if any(around.tag in _OUTSIDE for around in element.iterancestors()):
        return None
    stated = (element.get(name) for name in _STATED)
    for text in (*stated, cleaned(text_of(element)[: 4 * _MAX_TEXT])):
        if text and len(text) <= _MAX_TEXT and not _NO_UNIT.fullmatch(text) and (span := minutes(text)):
            return span
    return None
