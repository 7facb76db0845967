"""Convert the last outline snapshot of a page to HTML for the reader, without running scripts in the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from browsers.acting.dom_snapshot import PageNode
from browsers.acting.outline import Outline
from browsers.model import Frame, Snapshot

if TYPE_CHECKING:
    from browsers.acting.acting_page import ActingPage

_MAX_FRAMES = 20
"""Maximum of frames per page, as in a visit."""

_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_NOT_WRITTEN = frozenset({"style", "noscript", "template"})
_WITHOUT_BOX = frozenset("head title meta link base script option optgroup br wbr".split())
"""Tags that have no box but are not hidden."""
_FRAMES = frozenset({"iframe", "frame"})
_JSON = "json"


def serialize_page(page: ActingPage) -> Snapshot:
    """Return the page of the latest outline as a `Snapshot`: hidden elements are marked, frames are separate.

    The page must have an outline (`PageOutlines.take`).
    """
    outline = page.outlines.latest
    assert outline is not None
    writer = _PageWriter(outline)
    html = writer.write(outline.root)
    frames: list[Frame] = []
    # Frames are found while their parents are written.
    while writer.found_frames and len(frames) < _MAX_FRAMES:
        mark, node = writer.found_frames.pop(0)
        frames.append(Frame(mark, node.frame_url, writer.write(node.children[0])))
    return Snapshot(
        url=outline.facts.url,
        requested_url=outline.facts.url,
        status=page.status or 200,
        media_type="text/html",
        html=html,
        frames=tuple(frames),
        rendered=True,
    )


class _PageWriter:
    """Write the HTML of one page and find its frames."""

    def __init__(self, outline: Outline) -> None:
        self.found_frames: list[tuple[str, PageNode]] = []
        self._secrets = outline.secrets
        self._with_visible = self._find_with_visible(outline.root)
        self._marks = 0

    def _find_with_visible(self, root: PageNode) -> set[int]:
        """Return the ids (`id()`) of nodes with a visible descendant."""
        order, stack = [], [root]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(node.children)
        found: set[int] = set()
        for node in reversed(order):
            is_visible = node.tag != "#other" and node.is_visible
            if (is_visible or id(node) in found) and node.parent is not None:
                found.add(id(node.parent))
        return found

    def write(self, root: PageNode) -> str:
        """Return the HTML of a document node."""
        out = ["<!DOCTYPE html>"]
        # A closing tag, or a node and whether all of its text is written.
        stack: list[str | tuple[PageNode, bool]] = [(child, False) for child in reversed(root.children)]
        while stack:
            entry = stack.pop()
            if isinstance(entry, str):
                out.append(entry)
                continue
            node, is_raw = entry
            if node.tag == "#text":
                if is_raw or node.is_visible or not node.text.strip():
                    out.append(escape(node.text, quote=False))
            elif node.tag == "#other":
                if node.shadow_root in ("open", "closed"):
                    out.append(f'<template shadowrootmode="{node.shadow_root}">')
                    stack.append("</template>")
                    stack.extend((child, is_raw) for child in reversed(node.children))
            elif node.tag not in _NOT_WRITTEN:
                self._write_element(node, is_raw, out, stack)
        return "".join(out)

    def _write_element(
        self, node: PageNode, is_raw: bool, out: list[str], stack: list[str | tuple[PageNode, bool]]
    ) -> None:
        tag = node.tag
        is_hidden = not is_raw and self._is_hidden(node)
        mark = ' data-x-hidden=""' if is_hidden else ""
        if tag in _FRAMES and node.children and not is_hidden:
            self._marks += 1
            mark = f' data-x-frame="{self._marks}"'
            self.found_frames.append((str(self._marks), node))
        out.append(f"<{tag}{self._attributes(node)}{mark}>")
        if tag in _VOID:
            return
        stack.append(f"</{tag}>")
        if tag == "script":
            if _JSON in node.attributes.get("type", ""):
                # Not escaped, because the parser does not read references here.
                out.extend(child.text.replace("</", "<\\/") for child in node.children)
            return
        if tag in _FRAMES or tag == "textarea":
            return
        is_closed = tag == "details" and "open" not in node.attributes
        is_raw = is_raw or is_hidden or is_closed or tag in ("head", "title", "math")
        stack.extend((child, is_raw) for child in reversed(node.children))

    def _attributes(self, node: PageNode) -> str:
        left_out = {"srcdoc", "value"} if node.ref in self._secrets else {"srcdoc"}
        return "".join(
            f' {name}="{escape(value)}"'
            for name, value in node.attributes.items()
            if name not in left_out and not name.startswith("data-x-")
        )

    def _is_hidden(self, node: PageNode) -> bool:
        return not node.is_visible and id(node) not in self._with_visible and node.tag not in _WITHOUT_BOX
