"""The offers of a product in items of schema.org, and which of them the page is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scraper.extract.facts.schema_graph import ELSEWHERE, SchemaGraph, held, typed
from scraper.extract.syntaxes.jsonld import Item

_OFFERS = frozenset({"offer", "aggregateoffer"})
_OF_SOMETHING = ELSEWHERE | {"offers", "offer", "makesOffer", "hasOfferCatalog"}
_SPECIAL = ("referenceQuantity", "unitCode", "unitText", "validForMemberTier")
_MAX_OFFERS = 200


def has_any(item: Item) -> bool:
    """Whether an item says for how much it is sold."""
    return bool(held(item, "offers") or held(item, "hasVariant"))


def of(graph: SchemaGraph, item: Item) -> Iterator[Item]:
    """Every offer of an item, those of its variants behind its own, and what they specify."""
    waiting = [*graph.objects(item, "offers", "offer"), *graph.objects(item, "hasVariant")]
    seen: set[int] = set()
    waiting = waiting or _offering(graph, item)
    for offer in waiting:
        if len(seen) == _MAX_OFFERS:
            return
        if id(offer) not in seen:
            seen.add(id(offer))
            yield offer
            specified = graph.objects(offer, "priceSpecification")
            waiting += [*graph.objects(offer, "offers"), *sorted(specified, key=_is_special)]


def _offering(graph: SchemaGraph, item: Item) -> list[Item]:
    """The offers that name the item as what they offer, where it names none."""
    every = (offer for offer in graph.items(without=ELSEWHERE) if typed(offer, _OFFERS))
    return [offer for offer in every if any(one is item for one in graph.objects(offer, "itemOffered"))]


def alone(graph: SchemaGraph) -> Item | None:
    """The only offer of a page, where it is one of nothing that has a name: what is sold is the page's."""
    found = [item for item in graph.items(without=_OF_SOMETHING) if typed(item, _OFFERS)]
    return found[0] if len(found) == 1 and not held(found[0], "itemOffered") else None


def chosen(graph: SchemaGraph, offers: Sequence[Item], url: str) -> list[Item]:
    """The variant that the page's address chooses, and its offer; none where it chooses none."""
    asked = _query(url)
    found = [offer for offer in offers if asked and _leads_to(graph, offer, asked)]
    inner = [one for offer in found for one in graph.objects(offer, "offers")]
    return [*found, *(one for one in inner if all(one is not other for other in found))]


def _leads_to(graph: SchemaGraph, offer: Item, asked: frozenset[str]) -> bool:
    places = (offer, *graph.objects(offer, "offers"))
    queries = [_query(graph.text(place, "url") or "") for place in places]
    return any(query and query <= asked for query in queries)


def _query(url: str) -> frozenset[str]:
    asked = url.partition("#")[0].partition("?")[2]
    return frozenset(asked.split("&")) - {""}


def _is_special(specification: Item) -> bool:
    """Whether a price may be that of a litre or a kilo, not of the whole, or is not for everybody."""
    return any(held(specification, name) for name in _SPECIAL)
