"""Makes one list of the many that offices write where its levels change."""

from __future__ import annotations

from scraper.extract.documents.odf.xml_names import TEXT, said
from scraper.extract.dom.xpath import Element

_LIST, _ITEM, _STYLE = TEXT + "list", TEXT + "list-item", TEXT + "style-name"
_DEPTH = 40


def join_lists(root: Element) -> None:
    """Change a tree in place: a list that begins a level deeper belongs to the one right before it.

    What comes after such a one at the level above goes on in the same list.
    """
    joined: Element | None = None
    for later in list(root.iter(_LIST)):
        earlier = later.getprevious()
        if earlier is None or earlier.tag != _LIST or (earlier.tail or "").strip():
            continue
        first = _items(later)[:1]
        begins_deeper = bool(first) and is_level_alone(first[0])
        goes_on = joined is earlier and said(earlier, _STYLE) == said(later, _STYLE)
        if _items(earlier) and (begins_deeper or goes_on):
            _move(later, earlier, said(later, _STYLE), 0)
            joined = earlier


def _move(source: Element, target: Element, style: str, depth: int) -> None:
    """All items of one list to the end of another one, those that only go deeper into its last item."""
    for item in _items(source):
        last = _items(target)[-1:]
        inner_lists = [child for child in item if child.tag == _LIST]
        for inner in inner_lists:
            if not said(inner, _STYLE):
                inner.set(_STYLE, style)
        if not last or not is_level_alone(item) or depth > _DEPTH:
            target.append(item)
            continue
        for inner in inner_lists:
            below = last[0][-1] if len(last[0]) and last[0][-1].tag == _LIST else None
            if below is not None and _items(below):
                _move(inner, below, said(inner, _STYLE), depth + 1)
            else:
                last[0].append(inner)
    if (parent := source.getparent()) is not None:
        parent.remove(source)


def _items(element: Element) -> list[Element]:
    return [child for child in element if child.tag == _ITEM]


def is_level_alone(item: Element) -> bool:
    """Whether an item says nothing itself and only holds the list below it."""
    first = next((child for child in item if isinstance(child.tag, str)), None)
    return first is not None and first.tag == _LIST
