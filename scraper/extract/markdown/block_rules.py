"""Convert lists, task lists, and the callouts and alerts of documentation generators into Markdown."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from scraper.extract.markdown import tree_converter
from scraper.extract.markdown.tree_converter import ConversionContext, ElementHandler, MarkdownRules, Tags
from scraper.html.dom.parsing import LISTS, Element, classes_of, find_by_class, pad_names, remove, text_of
from scraper.text.numerals import format_numeral
from scraper.text.terms import CAMEL_CASE
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

MAX_INDENTS = 10
"""Levels. Deeper lists and quotations stay at this depth: each level indents all its content again."""

_TASKS = re.compile(r"\btask-?list|\btasks?\b|\btodo-list", re.IGNORECASE)
_BOXES = {"true": "[x] ", "false": "[ ] "}
"""Boxes of tasks by the value of `data-checked`."""


def normalize_lists(root: Element) -> None:
    """Move lists between items into the preceding item, and write the boxes of finished and open tasks."""
    for listing in list(root.iter(*LISTS)):
        around, before = listing.getparent(), listing.getprevious()
        if around is not None and around.tag in LISTS and before is not None and before.tag == "li":
            before.tail = None
            before.append(listing)
    with_terms = {term.getparent() for term in root.iter("dt")}
    for value in list(root.iter("dd")):
        if value.getparent() not in with_terms:  # used to indent paragraphs
            value.tag = "div"
    for item in root.iter("li"):
        names, around = classes_of(item), item.getparent()
        is_task = around is not None and _TASKS.search(around.get("class") or "") is not None
        is_task = is_task and next(item.iter("input"), None) is None
        declared = ("true" if "checked" in names else "false") if is_task else ""
        box = _BOXES.get(item.get("data-checked") or declared)
        if box is None:
            continue
        place = _find_first_text(item)
        place.text = box + (place.text or "").lstrip()


def _find_first_text(place: Element) -> Element:
    while not (place.text or "").strip():
        first = next((child for child in place if text_of(child).strip()), None)
        if first is None or first.tag not in ("div", "p", "span"):
            break
        place = first
    return place


class ListRules(MarkdownRules):
    """Rules of `ul`, `ol`, `li`, `dt`, `dd`, and of checkboxes in them."""

    def convert_list(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Return a list, on lines of its own."""
        text = text.strip("\n")
        if not text:
            return ""
        return f"\n{text}\n" if "li" in parent_tags else f"\n\n{text}\n\n"

    convert_ul = convert_ol = convert_list

    def convert_li(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Return an item with its marker, its lines indented by the marker's width."""
        text = text.strip()
        if not text:
            return ""
        marker = self._choose_marker(el)
        if "\n" in text:
            indent = " " * (len(marker) if marker[0] != "-" else 2)
            text = "\n".join(indent + row if row else "" for row in text.split("\n")).lstrip()
        before, parent = el.getprevious(), el.getparent()
        text_before = before.tail if before is not None else parent.text if parent is not None else None
        opening = "\n" if text_before and text_before.strip() else ""  # text in the list itself
        return f"{opening}{marker}{text}\n"

    def _choose_marker(self, item: Element) -> str:
        parent = item.getparent()
        if parent is None or parent.tag != "ol":
            return "- "
        step = 1 if parent.get("reversed") is None else -1
        follows = self.numbers.get(parent)
        if follows is None:
            follows = _parse_integer(parent.get("start"), 1 if step > 0 else sum(1 for _ in parent.iterchildren("li")))
        number = _parse_integer(item.get("value"), follows)
        self.numbers[parent] = number + step
        style = _STYLES.get(item.get("type") or parent.get("type") or "", "decimal") if number > 0 else "decimal"
        if style == "decimal" and step > 0 and number >= 0:
            return f"{number}. "
        # Markdown has no letters, and counts only up.
        return f"- {format_numeral(number, style)}{'.' if style != 'decimal' else tree_converter.ESCAPED_POINT} "

    def convert_dt(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Return a term on a line of its own."""
        text = " ".join(text.split())
        return f"\n\n{text}\n" if text and "_inline" not in parent_tags else f" {text} "

    def _flatten(self, element: Element, context: ConversionContext) -> str | None:
        if context.indents < MAX_INDENTS:
            return None
        text = self.render_children(element, context.enter(element.tag)).strip()
        return f"\n\n{text}\n\n" if text else ""

    def _task(self, element: Element, context: ConversionContext) -> str:
        """Return `[x]` or `[ ]` for a checkbox that is disabled or has the class of a task, or "" for other inputs."""
        if element.get("type") != "checkbox" or "li" not in context.tags:
            return ""
        if element.get("disabled") is None and "task" not in (element.get("class") or ""):
            return ""
        box = "[x]" if element.get("checked") is not None else "[ ]"
        return box if (element.tail or "")[:1].isspace() else f"{box} "

    handlers: ClassVar[dict[str, ElementHandler]] = {
        "li": _flatten,
        "blockquote": _flatten,
        "dd": _flatten,
        "input": _task,
    }


_STYLES = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
"""Styles of numbers by the attribute `type`."""


def _parse_integer(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10 else otherwise


_TAGS = frozenset({"div", "aside", "blockquote", "section", "details", "article", "p"})
_NAMES = read_table(__package__, "callouts.toml")
_REMOVED_CLASSES = frozenset(_NAMES["removed_classes"].split())
_CALLOUT_CLASS = re.compile(
    r"callout|admonition|alert|custom-block|hint|notecard|starlight-aside|information-macro|"
    + "|".join(_REMOVED_CLASSES)
    + r"|[\s_-](?:notes?|tip|important|warning|caution|danger|info)[\s_-]"
)

_KIND_BY_NAME: dict[str, str] = _NAMES["kinds"] | {kind: kind for kind in _NAMES["own_kinds"].split()}
_KIND_BY_TITLE = {name: _KIND_BY_NAME[name] for name in _NAMES["titles"].split()}
_SECTION_HEADINGS = frozenset({"h1", "h2"})
"""Headings of page sections. Below a heading `Notes` are the sources of an article, no callout."""

_AMBIGUOUS_KINDS = frozenset(_NAMES["ambiguous_kinds"].split())
"""Kinds whose names are also common classes of `details` elements that are not callouts."""
_CONTAINERS = frozenset(_NAMES["containers"].split())
_COMPOUND = WordPattern(_NAMES["compound"], re.NOFLAG)
_TITLE = re.compile(r"(?:^|[-_\s])(?:title|heading)(?:$|[-_\s])")
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
    return _TITLE.search(CAMEL_CASE.sub("-", title.get("class") or "").lower()) is not None


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
                element.tail = (
                    f" {element.tail or ''}" if not element.tail or element.tail[0].isalnum() else element.tail
                )
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
            return tree_converter.format_block(self.render_children(element, context.enter(element.tag)), context.tags)
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
