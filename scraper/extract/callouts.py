"""Notes set apart from the text: admonitions, alerts and callouts of documentation generators."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scraper.extract.lists import MAX_INDENTS
from scraper.extract.rules import Rules, block
from scraper.extract.walk import Context
from scraper.extract.xpath import Element, elements, text_of

__all__ = ["CALLOUT_TAGS", "CalloutRules", "kind_of", "kind_of_fold", "settle"]

CALLOUT_TAGS = frozenset({"div", "aside", "blockquote", "section", "details", "article", "p"})

_KINDS = {
    "primary": "info",
    "secondary": "info",
    "error": "danger",
    "attention": "warning",
    "hint": "tip",
    "seealso": "note",
    **{
        name: name
        for name in "note info tip important warning caution danger success example question abstract quote "
        "bug failure todo summary".split()
    },
}
_OF_FOLDS = frozenset({"primary", "secondary", "error", "summary", "question"})
"""Of these, names that a part that folds may have for other reasons."""
_CONTAINERS = frozenset(
    "admonition admonitionblock alert callout custom-block hint markdown-alert notecard starlight-aside "
    "theme-admonition confluence-information-macro".split()
)
_COMPOUND = re.compile(
    r"(?:markdown-alert|alert|callout|admonition|theme-admonition|hint|custom-block|starlight-aside"
    r"|confluence-information-macro)--?([a-z]+)"
)
_TITLE = re.compile(r"(?:^|[-_\s])(?:title|heading)(?:$|[-_\s])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LISTED = elements(".//div[contains(concat(' ', @class, ' '), ' colist ')]/table")
"""Explanations of the numbers in a block of code, as AsciiDoc has them."""
_FRAMED = elements(
    ".//td[@class='content'][ancestor::table[1]/parent::div[contains(@class, 'admonitionblock')]]"
)
_MAX_TITLE = 200
_MAX_TITLE_DEPTH = 3
_TYPE = re.compile(r"[a-z][a-z0-9-]{0,30}")


def settle(root: Element, names: str) -> None:
    """Take the table out of the notes that are set in one, an icon in its first cell; make lists lists.

    `names` are the tree's classes.
    """
    if "admonitionblock" not in names and "colist" not in names:
        return
    for cell in _FRAMED(root):
        note = next(cell.iterancestors("div"), None)
        if note is not None and "admonitionblock" in (note.get("class") or ""):
            cell.tag = "div"
            note[:] = [cell]
    for table in _LISTED(root):
        rows = [row for row in table.iter("tr") if len(row) > 1]
        for row in rows:
            row.tag = "li"
            row.remove(row[0])
            row[0].tag = "div"
        table.tag = "ol"
        table[:] = rows


def kind_of(element: Element, classes: Sequence[str]) -> str:
    """What kind of note an element is; empty for anything else."""
    noted = (element.get("data-callout") or "").lower()
    if _TYPE.fullmatch(noted):
        return noted
    names = [name.lower() for name in classes]
    if _CONTAINERS.isdisjoint(names):
        return ""
    for name in names:
        compound = _COMPOUND.fullmatch(name)
        kind = _KINDS.get(compound.group(1) if compound else name)
        if kind and name not in _CONTAINERS:
            return kind
    return "note" if "admonition" in names else "tip" if "hint" in names and len(names) == 1 else ""


def kind_of_fold(classes: Sequence[str]) -> str:
    """What kind of note a part that folds is, by a class that is the name of one; empty for none."""
    return next((_KINDS[name] for name in classes if name in _KINDS and name not in _OF_FOLDS), "")


class CalloutRules(Rules):
    """What a note becomes: a quotation that names its kind and title."""

    def callout(self, element: Element, kind: str, context: Context) -> str | None:
        """The note as GitHub and Obsidian write it."""
        if "_inline" in context.tags:
            return None
        if context.indents >= MAX_INDENTS:
            return block(self.inside(element, context.enter(element.tag)), context.tags)
        title_of = _title_of(element)
        title = ""
        if title_of is not None:
            title = " ".join(self.inside(title_of, context.enter("h6")).split())
            self.said.append(None)
            self.marked[title_of] = lambda *_: ""
        body = self.inside(element, context.enter("blockquote")).strip()
        if not body and not title:
            return ""
        fold = element.get("data-callout-fold") or ""
        head = f"[!{kind}]{fold if fold in '+-' else ''} {title or kind.capitalize()}"
        rows = "\n".join(f"> {row}" if row else ">" for row in f"{head}\n{body}".rstrip().split("\n"))
        return f"\n\n{rows}\n\n"


def _title_of(element: Element) -> Element | None:
    """The title of a note: its first words, in an element that is called so."""
    place = element
    for _ in range(_MAX_TITLE_DEPTH):
        if (place.text or "").strip() and place is not element:
            return None
        inner = next((child for child in place if text_of(child).strip()), None)
        if inner is None:
            return None
        named = _TITLE.search(_CAMEL.sub("-", inner.get("class") or "").lower())
        if named or inner.tag == "summary":
            return inner if len(text_of(inner)) <= _MAX_TITLE else None
        place = inner
    return None
