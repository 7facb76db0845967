"""Convert admonitions, alerts and callouts of documentation generators into Markdown callouts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from scraper.extract.markdown.list_rules import MAX_INDENTS
from scraper.extract.markdown.tree_converter import ConversionContext, ElementHandler, MarkdownRules, format_block
from scraper.html.dom.parsing import remove
from scraper.html.dom.xpath import Element, find_by_class, pad_names, text_of

_TAGS = frozenset({"div", "aside", "blockquote", "section", "details", "article", "p"})
_REMOVED_CLASSES = frozenset(
    "sr-only visually-hidden screen-reader-text screen-reader-only mw-editsection copy-button copybtn "
    "clipboard-copy zeroclipboard-container".split()
)
_CALLOUT_CLASS = re.compile(
    r"callout|admonition|alert|custom-block|hint|notecard|starlight-aside|information-macro|"
    + "|".join(_REMOVED_CLASSES)
    + r"|[\s_-](?:notes?|tip|important|warning|caution|danger|info)[\s_-]"
)

_KIND_BY_NAME = {
    "primary": "info",
    "secondary": "info",
    "error": "danger",
    "attention": "warning",
    "hint": "tip",
    "seealso": "note",
} | {
    name: name
    for name in "note info tip important warning caution danger success example question abstract quote bug failure "
    "todo summary".split()
}
_KIND_BY_TITLE = {
    name: _KIND_BY_NAME[name] for name in "note info tip important warning caution danger hint attention".split()
} | {"notes": "note"}
_SECTION_HEADINGS = frozenset({"h1", "h2"})
"""Headings of page sections. Below a heading `Notes` are the sources of an article, no callout."""

_AMBIGUOUS_KINDS = frozenset({"primary", "secondary", "error", "summary", "question"})
"""Kinds whose names are also common classes of `details` elements that are not callouts."""
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
_MAX_TITLE = 200
_MAX_TITLE_DEPTH = 3
_TYPE = re.compile(r"[a-z][a-z0-9-]{0,30}")


def _detect_kind(element: Element, classes: Sequence[str]) -> str:
    declared = (element.get("data-callout") or element.get("data-callout-type") or "").lower()
    if _TYPE.fullmatch(declared):
        return declared
    lowered = [name.lower() for name in classes]
    if _CONTAINERS.isdisjoint(lowered):
        return ""
    for name in lowered:
        compound = _COMPOUND.fullmatch(name)
        kind = _KIND_BY_NAME.get(compound.group(1) if compound else name)
        if kind and name not in _CONTAINERS:
            return kind
    return "note" if "admonition" in lowered else "tip" if "hint" in lowered and len(lowered) == 1 else ""


def _detect_kind_by_title(element: Element) -> str:
    """Return the kind of an element whose first words, in an element of their own, name a kind; else ""."""
    if (element.text or "").strip():
        return ""
    for title in _iterate_first_elements(element):
        kind = _kind_in_title(title)
        if kind:
            is_callout = title.tag not in _SECTION_HEADINGS and _is_title_element(title)
            return kind if is_callout and text_of(element).strip() != text_of(title).strip() else ""
    return ""


def _iterate_first_elements(element: Element) -> Iterator[Element]:
    """Yield the first child with text, its first child with text and so on, until text precedes the child."""
    for _ in range(_MAX_TITLE_DEPTH):
        first = next((child for child in element if text_of(child).strip()), None)
        if first is None:
            return
        yield first
        if (first.text or "").strip():
            return
        element = first


def _kind_in_title(title: Element) -> str:
    return _KIND_BY_TITLE.get(text_of(title).strip(" \t\n:!.\u00a0").lower(), "")


def _has_title_class(title: Element) -> bool:
    return _TITLE.search(_CAMEL.sub("-", title.get("class") or "").lower()) is not None


def _is_title_element(title: Element) -> bool:
    """Return True if a title is a block or has a title class: a bold word may begin a sentence."""
    return title.tag not in ("b", "strong", "em", "i", "a", "span") or _has_title_class(title)


class CalloutRules(MarkdownRules):
    """Rule for callouts: a quotation with the kind and the title."""

    def mark(self, root: Element, class_names: str) -> None:
        """Register the callouts of a tree with these class names; remove copy buttons and texts for screen readers."""
        if not _CALLOUT_CLASS.search(pad_names(class_names)):
            return
        for element, classes in find_by_class(root, _CALLOUT_CLASS):
            if not _REMOVED_CLASSES.isdisjoint(classes):
                remove(element)
            elif element.tag in _TAGS or "-" in element.tag:
                kind = _detect_kind(element, classes)
                if not kind and self.element_handlers.keys().isdisjoint(element.iterancestors()):
                    kind = _detect_kind_by_title(element)
                if kind:
                    self.element_handlers.setdefault(element, partial(CalloutRules.format_callout, kind=kind))

    def _details(self, element: Element, context: ConversionContext) -> str | None:
        names = (name for name in (element.get("class") or "").split() if name not in _AMBIGUOUS_KINDS)
        kind = next((_KIND_BY_NAME[name] for name in names if name in _KIND_BY_NAME), "")
        return self.format_callout(element, context, kind) if kind else None

    def format_callout(self, element: Element, context: ConversionContext, kind: str) -> str | None:
        """Return the callout in the syntax of GitHub and Obsidian, or None in inline context.

        Below `MAX_INDENTS` levels, return its content as a block without the callout.
        """
        if "_inline" in context.tags:
            return None
        if context.indents >= MAX_INDENTS:
            return format_block(self.render_children(element, context.enter(element.tag)), context.tags)
        title_element = _find_title(element)
        title = ""
        if title_element is not None:
            title = " ".join(self.render_children(title_element, context.enter("h6")).split())
            self.plain_pieces.append(None)
            self.element_handlers[title_element] = lambda *_: ""
        body = self.render_children(element, context.enter("blockquote")).strip()
        if not body and not title:
            return ""
        fold = element.get("data-callout-fold") or ""
        head = f"[!{kind}]{fold if fold in '+-' else ''} {title or kind.capitalize()}"
        rows = "\n".join(f"> {row}" if row else ">" for row in f"{head}\n{body}".rstrip().split("\n"))
        return f"\n\n{rows}\n\n"

    handlers: ClassVar[dict[str, ElementHandler]] = {"details": _details}


def _find_title(element: Element) -> Element | None:
    for first in _iterate_first_elements(element):
        is_title = _has_title_class(first) or first.tag == "summary"
        if is_title or (_kind_in_title(first) and _is_title_element(first)):
            return first if len(text_of(first)) <= _MAX_TITLE else None
    return None
