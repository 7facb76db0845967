"""Find the roles of elements by WAI-ARIA and HTML-AAM.

Some roles are our own because they tell an agent more: `h1` to `h6`, `password`, `file`, `date`, `disclosure`.
"""

from __future__ import annotations

from browsers.acting.dom_snapshot import PageNode

_TAGS = {
    "a": "link",
    "area": "link",
    "button": "button",
    "textarea": "textbox",
    "summary": "disclosure",
    "option": "option",
    "nav": "navigation",
    "main": "main",
    "form": "form",
    "table": "table",
    "dialog": "dialog",
    "iframe": "iframe",
    "img": "img",
    "fieldset": "group",
    "video": "video",
    "audio": "audio",
    "canvas": "canvas",
    "aside": "aside",
    "header": "header",
    "footer": "footer",
    "search": "search",
    "meter": "meter",
    "progress": "progressbar",
} | {f"h{level}": f"h{level}" for level in range(1, 7)}
_INPUTS = {
    "checkbox": "checkbox",
    "radio": "radio",
    "range": "slider",
    "number": "spinbutton",
    "search": "searchbox",
    "submit": "button",
    "button": "button",
    "reset": "button",
    "image": "button",
    "file": "file",
    "color": "color",
    "date": "date",
    "time": "time",
    "datetime-local": "datetime",
    "month": "month",
    "week": "week",
    "password": "password",
}
FIELDS = frozenset(
    "textbox searchbox spinbutton slider date time combobox color month datetime week password file".split()
)
"""Roles of controls with a value."""
ACTIVE = FIELDS | frozenset(
    "link button checkbox radio listbox switch tab menuitem menuitemcheckbox menuitemradio option treeitem disclosure"
    " gridcell".split()
)
"""Roles of all controls, with and without a value."""
LANDMARKS = frozenset(
    "navigation main form dialog alertdialog search table group tablist menu listbox toolbar tree radiogroup grid aside"
    " header footer banner contentinfo region".split()
)
"""Roles whose content is indented."""
OTHER_ROLES = frozenset("iframe img canvas video progressbar meter alert status".split())
"""Other roles that get a line of their own."""
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
"""Roles of headings: `h1` to `h6`."""
INVISIBLE_TAGS = frozenset("script style noscript template head link meta title".split())
"""Tags whose content is never visible on the page."""

_KNOWN = ACTIVE | LANDMARKS | OTHER_ROLES
_EDITABLE = frozenset({"", "true", "plaintext-only"})
_SECRET_COMPLETIONS = ("cc-", "current-password", "new-password", "one-time-code")


def role_of(node: PageNode) -> str:
    """Return the role of an element, or an empty text if it has none.

    A `role` attribute counts only if outlines use its role.
    """
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
    return _is_card_number(node.value or "")


def _is_card_number(value: str) -> bool:
    """Return True for 13 to 19 digits, in groups or not, with a valid check digit (ISO/IEC 7812, Luhn)."""
    digits = value.replace(" ", "").replace("-", "")
    if not (13 <= len(digits) <= 19 and digits.isascii() and digits.isdecimal()):
        return False
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(number // 10 + number % 10 for number in doubled)) % 10 == 0
