"""Lines of code marked as put in or taken out by a class alone: their signs are of a style sheet."""

from __future__ import annotations

from scraper.extract.dom.xpath import Element, elements, text_of

_CHANGED = elements(
    ".//*[self::span or self::div]"
    "[contains(concat(' ', @class, ' '), ' diff ') or contains(concat(' ', @class, ' '), ' ec-line ')]"
)
_SIGNS = {"add": "+", "remove": "-", "ins": "+", "del": "-"}
_LINES = frozenset({"line", "ec-line"})
_MOST_LINES = 20_000


def settle(root: Element, names: str) -> None:
    """Write the signs before the lines, and before all others of their blocks a blank; it is a `diff` then.

    `names` are the tree's classes.
    """
    if "diff" not in names and "ec-line" not in names:
        return
    changed = (line for line in _CHANGED(root)[:_MOST_LINES] if _sign(line) != " ")
    blocks = (next(line.iterancestors("pre"), None) for line in changed)
    for block in dict.fromkeys(block for block in blocks if block is not None):
        lines = [line for line in block.iter("span", "div") if _is_line(line)]
        if any(text_of(line)[:1] in "+-" for line in lines if _sign(line) != " " and text_of(line)):
            continue  # written out already
        for line in lines:
            place = line
            while not place.text and len(place) and place[0].tag == "div":
                place = place[0]
            place.text = _sign(line) + (place.text or "")
        for named in (block, *block.iter("code")):
            named.set("data-lang", "diff")


def _is_line(element: Element) -> bool:
    return not _LINES.isdisjoint((element.get("class") or "").split())


def _sign(line: Element) -> str:
    return next((_SIGNS[name] for name in (line.get("class") or "").split() if name in _SIGNS), " ")
