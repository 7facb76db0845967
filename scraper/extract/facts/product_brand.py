"""The brand by the name of the element that shows it, near the product's title."""

from __future__ import annotations

import re

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.facts.product_vocabulary import LABELS
from scraper.extract.facts.schema_graph import cleaned

_MAX_BRAND = 40
_BEFORE, _BEHIND = 60, 300
"""Elements around the title in which a brand is the product's."""
_NAME = re.compile(
    r"(?:pdp|product|prod|item|detail|p)?[-_]*(?:brand|marke|marca|manufacturer|byline)[-_]*"
    r"(?:name|info|link|title|label|text|value)?",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"^.{{0,40}}?(?<![^\W\d_])(?:{LABELS['brand']})\s*[:：]\s*", re.IGNORECASE)
_STORE = re.compile(
    r"^(?:visit the|besuchen? (?:sie )?den|visita lo store di|visita la tienda de|visitez la boutique|"
    r"visiter la boutique(?: de)?|visite a loja)\s+(?P<name>.+?)(?:(?<![-\s])[-\s]++(?:store|shop))?$",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:(?i:by|von|more from|shop all|see all|all)|brand|di|da|de)(?:\s*:\s*|\s+(?:-\s+)?)")
_BY = re.compile(r"^by\s+")
_OTHERS = re.compile(r"brands|marken|marcas|marche|news", re.IGNORECASE)
_EDGES = " :-–"
_OUTSIDE = frozenset({"footer", "nav", "header"})


def seen(body: Element, title: Element | None) -> str | None:
    """The short text of an element that is called brand; None without a title to be near to."""
    if title is None:
        return None
    places = list(body.iter("*"))
    at_title = places.index(title)
    for element in places[max(0, at_title - _BEFORE) : at_title + _BEHIND]:
        if _is_named(element):
            text = trimmed(cleaned(text_of(element)[:500]))
            if 1 < len(text) <= _MAX_BRAND and not _OTHERS.search(text) and not _is_outside(element):
                return text
    return None


def trimmed(text: str) -> str:
    """A brand that a page shows without what is said around it: `Visit the X store`, `by X`."""
    return _LEAD.sub("", unlabelled(text)).strip(_EDGES)


def unlabelled(text: str) -> str:
    """A brand without its label or the words of a link to it; `Store`, `By` and `De` may be parts of it."""
    told = _BY.sub("", _LABEL.sub("", text)).strip(_EDGES)
    store = _STORE.match(told)
    return store["name"] if store else told


def _is_outside(element: Element) -> bool:
    return any(around.tag in _OUTSIDE for around in element.iterancestors())


def _is_named(element: Element) -> bool:
    """Whether a class or the id is a name for a brand and nothing more."""
    words = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('itemprop') or ''}".split()
    return any(_NAME.fullmatch(word) for word in words)
