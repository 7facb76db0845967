"""Notes set apart from the text: admonitions, alerts and callouts of documentation generators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, element_selector, find_by_class, text_of
from scraper.extract.markdown.base_rules import Rules, format_block
from scraper.extract.markdown.list_rules import MAX_INDENTS
from scraper.extract.markdown.tree_converter import ConversionContext, Handler

_TAGS = frozenset({"div", "aside", "blockquote", "section", "details", "article", "p"})

_DROPPED = frozenset(
    "sr-only visually-hidden screen-reader-text screen-reader-only mw-editsection copy-button copybtn "
    "clipboard-copy zeroclipboard-container".split()
)
_CLASSES_OF_NOTE = re.compile(
    r"callout|admonition|alert|custom-block|hint|notecard|starlight-aside|information-macro|"
    + "|".join(_DROPPED)
    + r"|(?:^|[\s_-])(?:notes?|tip|important|warning|caution|danger|info)(?:$|[\s_-])",
    re.IGNORECASE,
)

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
_TITLED = {
    name: _KINDS[name] for name in "note info tip important warning caution danger hint attention".split()
} | {"notes": "note"}
_LONGEST_KIND = max(map(len, _TITLED))
_OF_SECTIONS = frozenset({"h1", "h2"})
"""Headings of parts of a page: below one that says `Notes` stand an article's sources."""

_OF_FOLDS = frozenset({"primary", "secondary", "error", "summary", "question"})
"""Of these, names that a part that folds may have for other reasons."""
_CONTAINERS = frozenset(
    "admonition admonitionblock alert callout custom-block hint markdown-alert notecard starlight-aside "
    "theme-admonition confluence-information-macro".split()
)
_COMPOUND = re.compile(
    r"(?:markdown-alert|alert|callout|admonition|theme-admonition|hint|custom-block|starlight-aside"
    r"|confluence-information-macro)(?:--?|_)([a-z]+)"
)
_TITLE = re.compile(r"(?:^|[-_\s])(?:title|heading)(?:$|[-_\s])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LISTED = element_selector(".//div[contains(concat(' ', @class, ' '), ' colist ')]/table")
"""Explanations of the numbers in a block of code, as AsciiDoc has them."""
_FRAMED = element_selector(
    ".//td[@class='content'][ancestor::table[1]/parent::div[contains(@class, 'admonitionblock')]]"
)
_MAX_TITLE = 200
_MAX_TITLE_DEPTH = 3
_TYPE = re.compile(r"[a-z][a-z0-9-]{0,30}")


def normalize_callouts(root: Element, names: str) -> None:
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


def _kind_of(element: Element, classes: Sequence[str]) -> str:
    """What kind of note an element is; empty for anything else."""
    noted = (element.get("data-callout") or element.get("data-callout-type") or "").lower()
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


def _kind_by_title(element: Element) -> str:
    """What kind of note an element is whose first words, in an element of their own, are a kind's name."""
    place = element
    for _ in range(_MAX_TITLE_DEPTH):
        if (place.text or "").strip():
            return ""
        inner = next((child for child in place if text_of(child).strip()), None)
        if inner is None:
            return ""
        kind = _kind_said(inner)
        if kind and inner.tag in _OF_SECTIONS:
            return ""
        if kind:
            return kind if _is_apart(inner) and text_of(element).strip() != text_of(inner).strip() else ""
        place = inner
    return ""


def _kind_said(title: Element) -> str:
    """The kind that a title names, if it says nothing else."""
    words = text_of(title).strip(" \t\n:!.\u00a0").lower()
    return _TITLED.get(words, "") if len(words) <= _LONGEST_KIND else ""


def _is_apart(title: Element) -> bool:
    """Whether a title is a block of its own, or called one: a bold word may begin a sentence."""
    classes = _CAMEL.sub("-", title.get("class") or "").lower()
    return title.tag not in ("b", "strong", "em", "i", "a", "span") or _TITLE.search(classes) is not None


def _kind_of_fold(classes: Sequence[str]) -> str:
    """What kind of note a part that folds is, by a class that is the name of one; empty for none."""
    return next((_KINDS[name] for name in classes if name in _KINDS and name not in _OF_FOLDS), "")


class CalloutRules(Rules):
    """What a note becomes: a quotation that names its kind and title."""

    def mark(self, root: Element, names: str) -> None:
        """Note which elements are notes, and take out what is for other eyes.

        `names` are the tree's classes.
        """
        if not _CLASSES_OF_NOTE.search(names):
            return
        for element, classes in find_by_class(root, _CLASSES_OF_NOTE):
            if not _DROPPED.isdisjoint(classes):
                remove(element)
            elif element.tag in _TAGS:
                kind = _kind_of(element, classes)
                if not kind and self.marked.keys().isdisjoint(element.iterancestors()):
                    kind = _kind_by_title(element)
                self._mark(element, kind)

    def _mark(self, element: Element, kind: str) -> None:
        if kind:
            self.marked.setdefault(element, lambda rules, note, context: rules.callout(note, kind, context))

    def _fold(self, element: Element, context: ConversionContext) -> str | None:
        kind = _kind_of_fold((element.get("class") or "").split())
        return self.callout(element, kind, context) if kind else None

    def callout(self, element: Element, kind: str, context: ConversionContext) -> str | None:
        """The note as GitHub and Obsidian write it."""
        if "_inline" in context.tags:
            return None
        if context.indents >= MAX_INDENTS:
            return format_block(self.inside(element, context.enter(element.tag)), context.tags)
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

    handlers: ClassVar[dict[str, Handler]] = {"details": _fold}


def _title_of(element: Element) -> Element | None:
    """The title of a note: its first words, in an element that is called so."""
    place = element
    for _ in range(_MAX_TITLE_DEPTH):
        if (place.text or "").strip() and place is not element:
            return None
        inner = next((child for child in place if text_of(child).strip()), None)
        if inner is None:
            return None
        has_title_class = _TITLE.search(_CAMEL.sub("-", inner.get("class") or "").lower())
        if has_title_class or inner.tag == "summary" or (_kind_said(inner) and _is_apart(inner)):
            return inner if len(text_of(inner)) <= _MAX_TITLE else None
        place = inner
    return None
