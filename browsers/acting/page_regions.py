"""Find the parts of a page that an outline treats apart: modal dialogs, inert parts, main, and rows of tables."""

from __future__ import annotations

from browsers.acting.dom_snapshot import PageFacts, PageNode

_CELLS = frozenset({"td", "th"})
_CELL_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_WHOLE = 0.9
"""Share of width and height of the window from which a fixed box with controls covers the page."""
_TRANSPARENT = ("", "rgba(0, 0, 0, 0)")


def mark_regions(nodes: list[PageNode], facts: PageFacts, window: tuple[int, int]) -> None:
    """Set `is_behind`, `is_main` and `cell` of nodes, which are in document order and have their visibility."""
    modal = _find_modal(nodes, facts, window)
    inside: set[int] = set()
    if modal is not None:
        node: PageNode | None = modal
        while node is not None:
            inside.add(id(node))
            node = node.parent
    for node in nodes:
        parent = node.parent
        if parent is not None:
            node.is_behind, node.is_main, node.cell = parent.is_behind, parent.is_main, parent.cell
            is_beside = id(parent) in inside and parent is not modal and id(node) not in inside
            node.is_behind |= is_beside or "inert" in node.attributes
        node.is_main |= node.tag == "main" or node.attributes.get("role") == "main"
        if node.tag == "tr" or node.attributes.get("role") == "row":
            cells = [one for one in node.children if one.tag in _CELLS or one.attributes.get("role") in _CELL_ROLES]
            node.cell = None
            for number, cell in enumerate(cells if len(cells) > 1 else ()):
                cell.own_cell = (node.id, number)
        node.cell = node.own_cell or node.cell


def _find_modal(nodes: list[PageNode], facts: PageFacts, window: tuple[int, int]) -> PageNode | None:
    """Return the last modal dialog in the window, or the last box with controls that covers all of it."""
    found, bottom = None, facts.top + window[1]
    sizes: dict[int, int] = {}
    for node in nodes:
        if node.box is None or node.style is None or not node.is_visible:
            continue
        left, top, width, height = node.box
        if width < 1 or height < 1 or top >= bottom or top + height <= facts.top or left >= window[0]:
            continue
        is_fixed = node.style.position == "fixed"
        is_open = node.tag == "dialog" and is_fixed
        is_whole = is_fixed and width >= _WHOLE * window[0] and height >= _WHOLE * window[1] and node.has_controls
        is_painted = node.style.background_color not in _TRANSPARENT
        if (
            is_open
            or node.attributes.get("aria-modal") == "true"
            or (is_whole and is_painted and _is_part(node, nodes, sizes))
        ):
            found = node
    return found


def _is_part(node: PageNode, nodes: list[PageNode], sizes: dict[int, int]) -> bool:
    """Return True if a box holds less than half of the nodes: it is not the page itself.

    `sizes` keeps the number of nodes in each node, by `id()`, for the next calls.
    """
    if not sizes:
        for one in reversed(nodes):
            sizes[id(one)] = 1 + sum(sizes.get(id(child), 0) for child in one.children)
    return 2 * sizes[id(node)] < len(nodes)
