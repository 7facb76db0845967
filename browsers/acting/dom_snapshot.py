"""Parse `DOMSnapshot.captureSnapshot` to one tree of nodes, with shadow roots and frames.

One snapshot contains open and closed shadow roots, all frames of one process, event listeners, values of controls,
boxes and computed styles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Box = tuple[float, float, float, float]
"""Left, top, width and height in CSS pixels, relative to the main document after `parse_snapshots`."""

_ELEMENT, _TEXT = 1, 3
_NO_ATTRIBUTES: Mapping[str, str] = {}
_MARKER = "::marker"
"""Pseudo-element for the bullet or number of a list item. It is left out: it contains no text of the page."""


class ComputedStyle(NamedTuple):
    """Computed styles of a node, in the order of `STYLES`."""

    visibility: str
    opacity: str
    cursor: str
    position: str
    font_size: str
    overflow: str
    color: str
    background_color: str
    background_image: str
    background_clip: str
    clip_path: str
    clip: str
    filter: str
    mask_image: str
    text_security: str
    """Other than `none` if dots are painted instead of the text."""


_OWN_NAMES = {"color": "-webkit-text-fill-color", "text_security": "-webkit-text-security"}
STYLES = tuple(_OWN_NAMES.get(field, field.replace("_", "-")) for field in ComputedStyle._fields)
"""Names of the computed styles that the snapshot must have, in this order."""


@dataclass(slots=True, eq=False)
class PageNode:
    """One element or text of a page; other nodes (documents, shadow roots, pseudo-elements) have the tag `#other`."""

    id: int
    """`backendNodeId` of Chromium: constant while the node exists, unique within its process."""
    prefix: str
    """Prefix of the references of its process; empty for the process of the main frame."""
    tag: str
    attributes: Mapping[str, str]
    parent: PageNode | None
    children: list[PageNode]
    frame_id: str = ""
    text: str = ""
    box: Box | None = None
    """None if the node is not laid out."""
    style: ComputedStyle | None = None
    """None if the node has no box of its own."""
    listens: bool = False
    value: str | None = None
    checked: bool = False
    selected: bool = False
    shadow_root: str = ""
    """`open` or `closed` for a shadow root."""
    frame_url: str = ""
    is_visible: bool = False
    """True if the node is visible or, without a box, a descendant has a box; set by `visibility.mark_visible`."""
    is_clipped: bool = False
    """True for an element scrolled out of view inside a scroll container."""
    drawn_by: int = 0
    """Node id of the label that draws this hidden input, set when an outline is built."""
    role: str = ""
    has_controls: bool = False
    """True if a descendant is a control, set when an outline is built."""
    is_behind: bool = False
    """True behind a modal dialog or in an inert part, set by `mark_regions`, as the next ones."""
    is_main: bool = False
    own_cell: tuple[int, int] | None = None
    cell: tuple[int, int] | None = None
    """Row id and number of the cell of a table that contains the node. `own_cell` is that of the cell itself."""

    @property
    def ref(self) -> str:
        """Reference of the node in outlines and steps."""
        return f"{self.prefix}e{self.id}"

    def ancestors(self) -> Iterator[PageNode]:
        """Yield the nodes around this one, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Title, URL, height and scroll position of the main document."""

    title: str
    url: str
    height: float
    """Height of the whole content in CSS pixels."""
    top: float
    """CSS pixels that are scrolled out above the window."""


@dataclass(frozen=True, slots=True)
class ProcessSnapshot:
    """Snapshot of one renderer process."""

    raw: Mapping[str, Any]
    """Result of `DOMSnapshot.captureSnapshot`."""
    prefix: str = ""
    owner: str = ""
    """Reference of the frame element in the parent process; empty for the main process."""


def parse_snapshots(snapshots: list[ProcessSnapshot]) -> tuple[PageNode, PageFacts]:
    """Return the document node of the page with the documents of all frames, and title, URL and scroll position.

    The first snapshot must be that of the main process, each other one must follow that of its parent process. Boxes
    are relative to the main document.
    """
    main = snapshots[0]
    roots = _parse_process(main)
    by_ref: dict[str, PageNode] = {}
    if len(snapshots) > 1:
        by_ref = {node.ref: node for node in iter_subtree(roots[0]) if node.tag in _FRAMES}
    for snapshot in snapshots[1:]:
        owner = by_ref.get(snapshot.owner)
        below = _parse_process(snapshot)
        if owner is not None and below:
            owner.children, below[0].parent = [below[0]], owner
            inner = list(iter_subtree(below[0]))
            _shift_boxes(inner, snapshot.raw["documents"][0])
            owner.frame_url = snapshot.raw["strings"][snapshot.raw["documents"][0]["documentURL"]]
            by_ref |= {node.ref: node for node in inner if node.tag in _FRAMES}
    document = main.raw["documents"][0]
    strings = main.raw["strings"]
    facts = PageFacts(
        strings[document["title"]] if document["title"] >= 0 else "",
        strings[document["documentURL"]],
        document.get("contentHeight", 0),
        document.get("scrollOffsetY", 0),
    )
    return roots[0], facts


_FRAMES = frozenset({"iframe", "frame", "object", "embed"})


def iter_subtree(root: PageNode) -> Iterator[PageNode]:
    """Yield a node and all its descendants in document order."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _parse_process(snapshot: ProcessSnapshot) -> list[PageNode]:
    strings = snapshot.raw["strings"]
    parsed = [_parse_document(document, strings, snapshot.prefix) for document in snapshot.raw["documents"]]
    for document, nodes in zip(snapshot.raw["documents"], parsed, strict=True):
        inner = document["nodes"]["contentDocumentIndex"]
        for at, number in zip(inner["index"], inner["value"], strict=True):
            if 0 < number < len(parsed) and parsed[number]:
                nodes[at].frame_url = strings[snapshot.raw["documents"][number]["documentURL"]]
                nodes[at].children, parsed[number][0].parent = [parsed[number][0]], nodes[at]
    # Outer frames come first.
    for document, nodes in list(zip(snapshot.raw["documents"], parsed, strict=True))[1:]:
        _shift_boxes(nodes, document)
    return [nodes[0] for nodes in parsed if nodes]


def _shift_boxes(nodes: list[PageNode], document: Mapping[str, Any]) -> None:
    """Convert the boxes of a frame to pixels of the document that contains its frame element."""
    owner = nodes[0].parent if nodes else None
    if owner is None or owner.box is None:
        return
    dx = owner.box[0] - document.get("scrollOffsetX", 0)
    dy = owner.box[1] - document.get("scrollOffsetY", 0)
    for node in nodes:
        if node.box is not None:
            left, top, width, height = node.box
            node.box = (left + dx, top + dy, width, height)


def _parse_document(document: Mapping[str, Any], strings: list[str], prefix: str) -> list[PageNode]:
    raw, layout = document["nodes"], document["layout"]
    nodes: list[PageNode] = []
    frame_id = strings[document["frameId"]]
    keys = ("backendNodeId", "nodeType", "nodeName", "nodeValue", "attributes", "parentIndex")
    for identifier, kind, name, value, attribute_list, parent_at in zip(*(raw[key] for key in keys), strict=True):
        attributes = _NO_ATTRIBUTES
        if attribute_list:
            attributes = {
                strings[attribute_list[at]]: strings[attribute_list[at + 1]] if attribute_list[at + 1] >= 0 else ""
                for at in range(0, len(attribute_list), 2)
            }
        tag = "#text" if kind == _TEXT else strings[name].lower() if kind == _ELEMENT else "#other"
        parent = nodes[parent_at] if parent_at >= 0 else None
        node = PageNode(identifier, prefix, tag, attributes, parent, [], frame_id)
        if kind == _TEXT and value >= 0:
            node.text = strings[value]
        if parent is not None and tag != _MARKER:
            parent.children.append(node)
        if tag[0] == ":":
            node.tag = "#other"
        nodes.append(node)
    _set_states(nodes, raw, strings)
    _set_layout(nodes, layout, strings)
    return nodes


def _set_layout(nodes: list[PageNode], layout: Mapping[str, Any], strings: list[str]) -> None:
    # Most nodes share their styles with others.
    known: dict[tuple[int, ...], ComputedStyle] = {}
    for at, bounds, styles in zip(layout["nodeIndex"], layout["bounds"], layout["styles"], strict=True):
        node = nodes[at]
        if node.box is None or node.box[2] <= 0:
            node.box = (bounds[0], bounds[1], bounds[2], bounds[3])
        if styles:
            key = tuple(styles)
            style = known.get(key)
            if style is None:
                style = known[key] = ComputedStyle._make(strings[number] if number >= 0 else "" for number in styles)
            node.style = style


def _set_states(nodes: list[PageNode], raw: Mapping[str, Any], strings: list[str]) -> None:
    for at in raw["isClickable"]["index"]:
        nodes[at].listens = True
    for at in raw["inputChecked"]["index"]:
        nodes[at].checked = True
    for at in raw["optionSelected"]["index"]:
        nodes[at].selected = True
    for key in ("inputValue", "textValue"):
        for at, value in zip(raw[key]["index"], raw[key]["value"], strict=True):
            if value >= 0:
                nodes[at].value = strings[value]
    roots = raw["shadowRootType"]
    for at, value in zip(roots["index"], roots["value"], strict=True):
        nodes[at].shadow_root = strings[value]
