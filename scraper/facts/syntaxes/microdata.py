"""Read microdata with extruct into objects of the same shape as JSON-LD."""

from typing import Any

import html_text

from scraper.facts.syntaxes import import_part
from scraper.facts.syntaxes.jsonld import JsonLdItem
from scraper.html.dom.parsing import Element, attribute_selector

_MAX_PROPERTIES = 20_000
"""Elements with `itemprop`. Lists of a thousand products have some 10,000."""
_MAX_REFERRED = 100_000
"""Elements with `itemref` times properties. Each pair takes 23 us if all refer to the same element."""
_MAX_TEXT = 3_000_000
"""Characters of all values. Nested properties each contain the text of the inner ones."""

_SCOPES = attribute_selector("itemscope")
_PROPERTIES = attribute_selector("itemprop")
_REFERENCES = attribute_selector("itemref")


class _Extractor(import_part("extruct.w3cmicrodata").LxmlMicrodataExtractor):  # type: ignore[misc]
    """Read the text in place: extruct copies and cleans the element first, at ten times the cost."""

    def __init__(self) -> None:
        super().__init__()
        self._left = _MAX_TEXT

    def _extract_textContent(self, node: Element) -> str:
        if self._left <= 0:
            return ""
        text: str = html_text.etree_to_text(node)
        self._left -= len(text)
        return text

    def _extract_property_value(self, node: Element, *arguments: Any, **options: Any) -> Any:
        try:
            return super()._extract_property_value(node, *arguments, **options)
        except ValueError:
            # A URL that cannot be parsed.
            return None


def read(root: Element, base: str) -> tuple[JsonLdItem, ...]:
    """Return the outermost items of a tree, from which scripts and styles must have been removed.

    Raises:
        ValueError: the page exceeds the limits; nothing was read.
    """
    if not _SCOPES(root):
        return ()
    properties = len(_PROPERTIES(root))
    if properties > _MAX_PROPERTIES or properties * len(_REFERENCES(root)) > _MAX_REFERRED:
        raise ValueError("too many properties")
    return tuple(_to_jsonld(item) for item in _Extractor().extract_items(root, base))


def _to_jsonld(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_jsonld(part) for part in value if part is not None]
    if not isinstance(value, dict):
        return value
    if "properties" not in value:
        return {**_convert_type(value), "value": value["value"]} if "value" in value else value
    return {
        **_convert_type(value),
        **{name: _to_jsonld(inner) for name, inner in value["properties"].items() if inner is not None},
    }


def _convert_type(item: JsonLdItem) -> JsonLdItem:
    declared = item.get("type")
    names = declared if isinstance(declared, list) else [declared] if declared else []
    local_names = [name.rpartition("/")[2] or name for name in names]
    typed = {
        "@context": names[0].rpartition("/")[0] if names else "",
        "@type": local_names[0] if len(local_names) == 1 else local_names,
        "@id": item.get("id"),
    }
    return {name: value for name, value in typed.items() if value}
