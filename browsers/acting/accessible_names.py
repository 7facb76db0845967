"""Compute the accessible names of elements, by a shortened form of the W3C algorithm (accname 1.2).

Elements without a name by these rules get one from text nearby, or from their link, id or class.
"""

from __future__ import annotations

from collections.abc import Iterator

from browsers.acting.aria_roles import FIELDS, HEADINGS, INVISIBLE_TAGS, LANDMARKS
from browsers.acting.dom_snapshot import PageNode
from browsers.text_quoting import clean_text, truncate

_MAX_WORDS_CHARS = 400
"""Characters after which no more text is read for one name."""
_MAX_WORDS_NODES = 400
"""Nodes read for one name. Names are short, and elements may be nested a thousand times."""
_MAX_BESIDE = 40
"""Characters of a name taken from the text before a control."""
_MAX_IDENTIFIER = 30
"""Characters of a name taken from a link, id or class."""
_LABEL_DEPTH = 4
"""Ancestors of a field that are searched for its label."""
_INLINE = frozenset("span b i em strong a label font sup sub mark small u s code abbr time #other".split())
_UNREAD = frozenset({"select", "iframe", "textarea", "datalist"})
_BUTTON_TYPES = frozenset({"submit", "button", "reset", "image"})


class AccessibleNameComputer:
    """Compute the names of the elements of one page."""

    def __init__(self, nodes: list[PageNode]) -> None:
        """Index the nodes by id and by label. Their visibility must be set."""
        self._by_id: dict[tuple[str, str], PageNode] = {}
        self._labels: dict[tuple[str, str], list[PageNode]] = {}
        for node in nodes:
            if identifier := node.attributes.get("id"):
                self._by_id.setdefault((node.prefix, identifier), node)
            if node.tag == "label" and (target := node.attributes.get("for")):
                self._labels.setdefault((node.prefix, target), []).append(node)

    def name_of(self, node: PageNode, role: str) -> str:
        """Return the accessible name of an element with this role, or an empty text."""
        attributes = node.attributes
        if by := attributes.get("aria-labelledby"):
            named = (self._by_id.get((node.prefix, identifier)) for identifier in by.split()[:5])
            if found := " ".join(self.words_in(one, visible_only=False) for one in named if one is not None).strip():
                return found
        if label := clean_text(attributes.get("aria-label", "")):
            return label
        if node.tag == "input" and attributes.get("type", "").lower() in _BUTTON_TYPES:
            value = attributes.get("value") or attributes.get("alt") or attributes.get("title")
            return clean_text(value or attributes.get("type", "").title())
        if node.tag in ("input", "select", "textarea", "meter", "progress") or role in FIELDS:
            return self._name_of_field(node)
        return self._name_of_content(node, role)

    def _name_of_content(self, node: PageNode, role: str) -> str:
        """Return the name of an element that is no field: of a picture, a landmark, or by its words."""
        attributes = node.attributes
        title = clean_text(attributes.get("title", ""))
        if node.tag in ("img", "area", "iframe", "canvas", "video", "audio"):
            found = clean_text(attributes.get("alt") or attributes.get("title") or attributes.get("name") or "")
            return found or (self._name_inside(node) if node.tag == "area" else "")
        if role in LANDMARKS:
            labels = (self.words_in(child) for child in node.children if child.tag in ("legend", "caption"))
            return next(labels, title)
        return self.words_in(node) or title or ("" if role in HEADINGS else self._name_inside(node))

    def words_in(self, node: PageNode, *, visible_only: bool = True) -> str:
        """Return the text of a node and its descendants, with alternative texts of images.

        Reading stops at `_MAX_WORDS_CHARS` or `_MAX_WORDS_NODES`. With `visible_only`, hidden text is left out.
        """
        out: list[str] = []
        size = visited = 0
        stack = [node]
        while stack and size < _MAX_WORDS_CHARS and visited < _MAX_WORDS_NODES:
            one = stack.pop()
            visited += 1
            if one.tag == "#text":
                if not visible_only or one.is_visible:
                    out.append(one.text[:_MAX_WORDS_CHARS])
                    size += len(out[-1])
                continue
            if one is not node:
                is_hidden = visible_only and one.style is not None and not one.is_visible
                if one.tag in INVISIBLE_TAGS or one.tag in _UNREAD:
                    continue
                if is_hidden and not any(child.is_visible for child in one.children):
                    continue
                if one.tag == "img" or (one.tag == "svg" and "aria-label" in one.attributes):
                    out.append(" " + (one.attributes.get("alt") or one.attributes.get("aria-label", "")) + " ")
            if one.tag not in _INLINE:
                out.append(" ")
            stack.extend(reversed(one.children))
        return clean_text("".join(out))

    def visible_label(self, node: PageNode) -> PageNode | None:
        """Return the first visible label of a field, or None."""
        return next((label for label in self._labels_of(node) if label.is_visible and label.box is not None), None)

    def _labels_of(self, node: PageNode) -> Iterator[PageNode]:
        yield from self._labels.get((node.prefix, node.attributes.get("id", "")), [])
        around = node.parent
        for _ in range(_LABEL_DEPTH):
            if around is None:
                break
            if around.tag == "label":
                yield around
            around = around.parent

    def _name_of_field(self, node: PageNode) -> str:
        attributes = node.attributes
        for label in self._labels_of(node):
            if found := self.words_in(label):
                return found
        if found := clean_text(attributes.get("placeholder") or attributes.get("title") or ""):
            return found
        return self._text_before(node) or clean_text(attributes.get("name", ""))

    def _text_before(self, node: PageNode) -> str:
        """Return the text just before a control without a label, as in table layouts."""
        for _ in range(2):
            around = node.parent
            if around is None:
                return ""
            at = next((at for at, child in enumerate(around.children) if child is node), 0)
            for child in reversed(around.children[max(0, at - 3) : at]):
                if child.tag in ("input", "select", "button", "textarea"):
                    return ""
                found = clean_text(child.text) if child.tag == "#text" else self.words_in(child)
                if found:
                    return truncate(found, _MAX_BESIDE)
            node = around
        return ""

    def _name_inside(self, node: PageNode) -> str:
        """Return the label of an icon, a text for screen readers, or the last part of the link, id or class."""
        queue, at = [node], 0
        while at < len(queue) and at < _MAX_WORDS_NODES:
            one = queue[at]
            at += 1
            for key in ("aria-label", "alt", "title"):
                if one is not node and (found := clean_text(one.attributes.get(key, ""))):
                    return found
            if one.tag == "title" and (found := self.words_in(one, visible_only=False)):
                return found
            queue.extend(one.children)
        if found := self.words_in(node, visible_only=False):
            return found
        last = node.attributes.get("href", "").rstrip("/").rsplit("/", 1)[-1]
        names = node.attributes.get("class", "").split()
        inner = [name for one in queue[1:4] for name in one.attributes.get("class", "").split()]
        return truncate(
            clean_text(last or node.attributes.get("id", "") or next(iter(names + inner), "")), _MAX_IDENTIFIER
        )
