"""Mark the visible nodes of a page, and the parts that outlines treat apart: dialogs, inert parts, main, table rows.

The rules for hidden text are the reader's, those of `browsers/scripts/mark.js`, but no script runs in the page.
"""

import functools
import re
from dataclasses import dataclass

from browsers.acting.dom_snapshot import Box, ComputedStyle, PageFacts, PageNode

_MIN_OPACITY = 0.05
"""Product of the opacities of an element and its ancestors. Below it, the element is hidden."""
_MIN_FONT_PX = 4.0
"""CSS pixels. Text in a smaller font is hidden."""
_MIN_ALPHA = 0.1
"""Alpha of the text color, 0 to 1. Text below it is hidden."""
_MIN_CONTRAST = 1.1
"""Contrast ratio of text and background (WCAG 2, 1 to 21). Text below it is hidden."""
_MIN_BOX_PX = 2.0
"""CSS pixels. Clipping boxes that are narrower or lower hide their content."""
_MAX_SCROLLABLE_PX = 9_000.0
"""CSS pixels to the right of the window. Text beyond them counts as hidden."""

_NUMBER = re.compile(r"-?[\d.]+")
_EMPTY_CLIP = re.compile(
    r"(?:circle|ellipse)\(0(?:px|%)?(?![\d.])|polygon\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\)|inset\((?:[5-9]\d|100)%"
)
_NO_MASK = re.compile(r"linear-gradient\((?:[^,()]+, )?rgba\(0, 0, 0, 0\)[^,()]*, rgba\(0, 0, 0, 0\)[^,()]*\)$")
_NO_OPACITY = re.compile(r"opacity\((?:0|0?\.0\d*)\)")
_ROOTS = frozenset({"html", "body"})
_UNDRAWN = frozenset({"clippath", "defs", "marker", "mask", "pattern", "symbol"})
"""Parts of drawings that appear only where another element uses them."""
_WHITE = "rgb(255, 255, 255)"
_FILLS_TEXT = "text"
"""In place of a background color: an image is painted in the shape of the text (`background-clip: text`)."""


@dataclass(frozen=True, slots=True)
class _Around:
    """Styles that a node inherits from its ancestors."""

    opacity: float = 1.0
    clip: Box | None = None
    ground: str = _WHITE
    """Background color; empty if the background is an image."""


def mark_visible(nodes: list[PageNode], window: tuple[int, int]) -> None:
    """Set `is_visible` and `is_clipped` of a document node and its descendants in document order."""
    undrawn = frozenset[str]() if any(node.tag == "use" for node in nodes) else _UNDRAWN
    stack: list[tuple[PageNode, _Around]] = [(nodes[0], _Around())]
    while stack:
        node, around = stack.pop()
        inner: _Around | None = around
        if node.tag == "#text":
            if node.box is not None and _is_text_visible(node, around, window):
                node.is_visible = True
        elif node.tag.lower() in undrawn:
            inner = None
        elif node.style is None:
            # Without a box: `display: contents`, documents and shadow roots; otherwise nothing below has a box.
            node.is_visible = True
        else:
            inner = _enter(node, around)
        if inner is not None:
            stack += [(child, inner) for child in node.children]
    # Hide elements if neither they nor their descendants have a box, as with `display: none`.
    has_box: set[int] = set()
    for node in reversed(nodes):
        if node.box is not None or id(node) in has_box:
            if node.parent is not None:
                has_box.add(id(node.parent))
        elif node.tag != "#other":
            node.is_visible = False


def _enter(node: PageNode, around: _Around) -> _Around | None:
    style, box = node.style, node.box
    assert style is not None
    left, top, width, height = box or (0.0, 0.0, 0.0, 0.0)
    opacity = around.opacity if style.opacity == "1" else around.opacity * _float(style.opacity, 1.0)
    clips = style.overflow != "visible"
    is_root = node.tag in _ROOTS
    is_too_small = clips and not is_root and min(width, height) < _MIN_BOX_PX
    if is_too_small or opacity < _MIN_OPACITY or _is_clipped_away(style):
        return None
    ground = _ground(style, around.ground)
    is_flat = min(width, height) < 1
    is_on_page = left + width > 0 and top + height > 0
    if style.visibility == "visible" and (is_on_page or is_flat):
        node.is_visible = True
    clip = around.clip
    node.is_clipped = clip is not None and not is_flat and _is_outside((left, top, width, height), clip)
    if clips and not is_root:
        clip = (left, top, width, height)
    if (opacity, clip, ground) == (around.opacity, around.clip, around.ground):
        return around
    return _Around(opacity, clip, ground)


def _is_outside(box: Box, clip: Box) -> bool:
    right, bottom = clip[0] + clip[2], clip[1] + clip[3]
    return box[0] >= right or box[1] >= bottom or box[0] + box[2] <= clip[0] or box[1] + box[3] <= clip[1]


def _is_text_visible(node: PageNode, around: _Around, window: tuple[int, int]) -> bool:
    assert node.box is not None
    left, top, width, height = node.box
    if width < 1 or height < 1 or left + width <= 0 or top + height <= 0:
        return False
    if left > window[0] + _MAX_SCROLLABLE_PX:
        return False
    style = next((one.style for one in node.ancestors() if one.style is not None), None)
    if style is None:
        return True
    if style.visibility != "visible" or _float(style.font_size.removesuffix("px"), 16.0) < _MIN_FONT_PX:
        return False
    return _is_readable(style.color, around.ground)


def _is_clipped_away(style: ComputedStyle) -> bool:
    path, clip = style.clip_path, style.clip
    if path not in ("none", "") and _EMPTY_CLIP.match(path):
        return True
    if clip not in ("auto", "") and style.position in ("absolute", "fixed"):
        edges = [float(edge) for edge in _NUMBER.findall(clip)]
        if len(edges) == 4 and (edges[1] - edges[3] < _MIN_BOX_PX or edges[2] - edges[0] < _MIN_BOX_PX):
            return True
    if style.mask_image not in ("none", "") and _NO_MASK.match(style.mask_image):
        return True
    return style.filter not in ("none", "") and _NO_OPACITY.search(style.filter) is not None


def _ground(style: ComputedStyle, around: str) -> str:
    if style.background_image != "none":
        return _FILLS_TEXT if style.background_clip == "text" else ""
    color = style.background_color
    if color in ("rgba(0, 0, 0, 0)", "", around):
        return around
    parts = _channels(color)
    return color if len(parts) < 4 or parts[3] > 0.5 else around


@functools.lru_cache(4_096)
def _is_readable(ink: str, ground: str) -> bool:
    if ground == _FILLS_TEXT:
        return True
    parts = _channels(ink)
    if len(parts) > 3 and parts[3] < _MIN_ALPHA:
        return False
    if not ground or not parts or not ink.startswith("rgb") or not ground.startswith("rgb"):
        return True
    one, other = _luminance(parts), _luminance(_channels(ground))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05) >= _MIN_CONTRAST


def _channels(color: str) -> tuple[float, ...]:
    return tuple(float(part) for part in _NUMBER.findall(color)[:4])


def _luminance(color: tuple[float, ...]) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [value / 255 for value in (*color, 0, 0, 0)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _float(text: str, default: float) -> float:
    try:
        return float(text)
    except ValueError:
        return default


_CELLS = frozenset({"td", "th"})
_CELL_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_WHOLE = 0.9
"""Share of width and height of the window from which a fixed box with controls covers the page."""
_MARKS = frozenset({"role", "aria-modal"})
_DIALOGS = ("dialog", "alertdialog")
_TRANSPARENT = ("", "rgba(0, 0, 0, 0)")


def mark_regions(nodes: list[PageNode], facts: PageFacts, window: tuple[int, int]) -> None:
    """Set `is_behind`, `is_main` and `cell` of nodes, which are in document order and have their visibility."""
    modal = _find_modal(nodes, facts, window)
    inside: set[int] = set()
    if modal is not None:
        inside = {id(node) for node in (modal, *modal.ancestors())}
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
    found, bottom, is_veiled = None, facts.top + window[1], False
    sizes: dict[int, int] = {}
    for node in nodes:
        if node.box is None or node.style is None or not node.is_visible:
            continue
        if node.style.position != "fixed" and _MARKS.isdisjoint(node.attributes):
            continue
        left, top, width, height = node.box
        if width < 1 or height < 1 or top >= bottom or top + height <= facts.top or left >= window[0]:
            continue
        is_veil = _is_veil(node, window)
        is_veiled |= is_veil
        if _is_dialog(node, is_veiled=is_veiled) or (is_veil and node.has_controls and _is_part(node, nodes, sizes)):
            found = node
    return found


def _is_dialog(node: PageNode, *, is_veiled: bool) -> bool:
    assert node.style is not None
    role, is_modal = node.attributes.get("role"), node.attributes.get("aria-modal") == "true"
    return (node.tag == "dialog" and node.style.position == "fixed") or is_modal or (is_veiled and role in _DIALOGS)


def _is_veil(node: PageNode, window: tuple[int, int]) -> bool:
    """Return True for a painted box that covers the window."""
    assert node.style is not None and node.box is not None
    is_whole = node.box[2] >= _WHOLE * window[0] and node.box[3] >= _WHOLE * window[1]
    return is_whole and node.style.position == "fixed" and node.style.background_color not in _TRANSPARENT


def _is_part(node: PageNode, nodes: list[PageNode], sizes: dict[int, int]) -> bool:
    """Return True if a box holds less than half of the nodes; `sizes` keeps their numbers by `id()` for next calls."""
    if not sizes:
        for one in reversed(nodes):
            sizes[id(one)] = 1 + sum(sizes.get(id(child), 0) for child in one.children)
    return 2 * sizes[id(node)] < len(nodes)
