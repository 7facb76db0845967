"""Find the roles of elements by WAI-ARIA and HTML-AAM, and their names by a shortened form of accname 1.2.

Some roles are our own because they tell an agent more: `h1` to `h6`, `password`, `file`, `date`, `disclosure`. Elements
without a name by the rules get one from text nearby, or from their link, id or class.
"""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from itertools import islice

from browsers.acting.dom_snapshot import PageNode, iter_subtree
from browsers.text_quoting import clean_text, truncate

_TABLE = tomllib.loads(files(__package__).joinpath("roles.toml").read_text(encoding="utf-8"))
_TAGS: dict[str, str] = _TABLE["tags"]
_INPUTS: dict[str, str] = _TABLE["inputs"]
FIELDS, LANDMARKS, OTHER_ROLES, INVISIBLE_TAGS = (
    frozenset(_TABLE[name]) for name in ("fields", "landmarks", "other_roles", "invisible_tags")
)
ACTIVE = FIELDS | frozenset(_TABLE["active"])
"""Roles of all controls, with and without a value."""
ALIKE = tuple(map(frozenset, _TABLE["alike"]))
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))

_KNOWN = ACTIVE | LANDMARKS | OTHER_ROLES
_EDITABLE = frozenset({"", "true", "plaintext-only"})
_SECRET_COMPLETIONS = ("cc-", "current-password", "new-password", "one-time-code")


def role_of(node: PageNode) -> str:
    """Return the role of an element, declared if outlines use that role, or an empty text."""
    attributes = node.attributes
    if roles := attributes.get("role", "").split():
        if roles[0] == "heading":
            level = attributes.get("aria-level", "2")
            return f"h{level}" if level in "123456" and len(level) == 1 else "h2"
        # Other roles say nothing that an outline shows, and a page may write any word there.
        if roles[0] in _KNOWN:
            return roles[0]
    tag = node.tag
    if tag == "input":
        kind = attributes.get("type", "text").lower()
        if "list" in attributes and kind not in _INPUTS:
            return "combobox"
        return _INPUTS.get(kind, "textbox")
    if tag == "select":
        is_list = "multiple" in attributes or attributes.get("size", "1") not in ("", "0", "1")
        return "listbox" if is_list else "combobox"
    if tag in ("a", "area"):
        return "link" if "href" in attributes else ""
    if attributes and attributes.get("contenteditable") in _EDITABLE:
        return "textbox"
    return _TAGS.get(tag, "")


def is_secret(node: PageNode) -> bool:
    """Return True for fields whose value must not be shown: passwords, payment cards and one-time codes.

    They are recognized by their type, their `autocomplete`, dots that are painted instead of the text, and the check
    digit of a card number.
    """
    attributes = node.attributes
    if attributes.get("type", "").lower() == "password":
        return True
    completion = attributes.get("autocomplete", "").lower().split()
    if completion and completion[-1].startswith(_SECRET_COMPLETIONS):
        return True
    if node.style is not None and node.style.text_security not in ("none", ""):
        return True
    return is_card_number(node.value or "")


def is_card_number(value: str) -> bool:
    """Return True for 13 to 19 digits, in groups or not, with a valid check digit (ISO/IEC 7812, Luhn)."""
    digits = value.replace(" ", "").replace("-", "")
    if not (13 <= len(digits) <= 19 and digits.isascii() and digits.isdecimal()):
        return False
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(number // 10 + number % 10 for number in doubled)) % 10 == 0


_MAX_WORDS_CHARS = 400
"""Characters after which no more text is read for one name."""
_MAX_WORDS_NODES = 400
"""Nodes read for one name. Names are short, and elements may be nested a thousand times."""
_MAX_BESIDE = 40
_MAX_IDENTIFIER = 30
_LABEL_DEPTH = 4
"""Ancestors of a field that are searched for its label."""
_INLINE = frozenset("span b i em strong a label font sup sub mark small u s code abbr time #other".split())
_UNREAD = frozenset({"select", "iframe", "textarea", "datalist"})
_CHOICES = frozenset({"checkbox", "radio", "switch"})
_BUTTON_TYPES = frozenset({"submit", "button", "reset", "image"})


class AccessibleNameComputer:
    """Compute the names of the elements of one page."""

    def __init__(self, nodes: list[PageNode]) -> None:
        """Index the nodes by id and by label. Their visibility must be set."""
        self.by_id: dict[tuple[str, str], PageNode] = {}
        self.labels: dict[tuple[str, str], list[PageNode]] = {}
        self.stand_ins: dict[PageNode, PageNode] = {}
        """The hidden field of each control that a page draws in its place."""
        for node in nodes:
            if identifier := node.attributes.get("id"):
                self.by_id.setdefault((node.prefix, identifier), node)
            if node.tag == "label" and (target := node.attributes.get("for")):
                self.labels.setdefault((node.prefix, target), []).append(node)

    def name_of(self, node: PageNode, role: str) -> str:
        """Return the accessible name of an element with this role, or an empty text."""
        if label := self.label_for(node):
            words = "" if role in FIELDS else self.words_in(node)
            return label if words in label else f"{label}: {words}"
        attributes = node.attributes
        if by := attributes.get("aria-labelledby"):
            named = (self.by_id.get((node.prefix, identifier)) for identifier in by.split()[:5])
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

    def label_for(self, node: PageNode) -> str:
        """Return the label of a button, or of the hidden field in place of which a page draws this element."""
        field = self.stand_ins.get(node) or (node if node.tag == "button" else None)
        key = node.prefix, field.attributes.get("id", "") if field is not None else ""
        return next(filter(None, map(self._words_of_label, self.labels.get(key, ()))), "")

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
        """Return text and alternative texts in a node, up to `_MAX_WORDS_CHARS` or `_MAX_WORDS_NODES`."""
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
        yield from self.labels.get((node.prefix, node.attributes.get("id", "")), [])
        yield from (one for one in islice(node.ancestors(), _LABEL_DEPTH) if one.tag == "label")

    def _name_of_field(self, node: PageNode) -> str:
        attributes = node.attributes
        label = next(filter(None, map(self._words_of_label, self._labels_of(node))), "")
        found = label or clean_text(attributes.get("placeholder") or attributes.get("title") or "")
        if not found and node.role in _CHOICES:
            found = self._text_beside(node, is_after=True)
        return found or self._text_beside(node) or clean_text(attributes.get("name", ""))

    def _words_of_label(self, label: PageNode) -> str:
        """Return the words of a label; if it shows a picture or a sign only, its text for screen readers or title."""
        shown = self.words_in(label)
        if any(map(str.isalnum, shown)):
            return shown
        return self.words_in(label, visible_only=False) or clean_text(label.attributes.get("title", ""))

    def _text_beside(self, node: PageNode, *, is_after: bool = False) -> str:
        """Return the text just before or after a control without a label, if it is not that of another control."""
        for around in islice(node.ancestors(), 2):
            at = next((at for at, child in enumerate(around.children) if child is node), 0)
            for child in around.children[at + 1 : at + 4] if is_after else around.children[max(0, at - 3) : at][::-1]:
                if child.tag in ("input", "select", "button", "textarea"):
                    if child.is_visible:
                        return ""
                    # A widget stands for it.
                    continue
                inside = islice(iter_subtree(child), _MAX_BESIDE)
                if any("for" in one.attributes or one.role in _CHOICES for one in inside):
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
