"""Notes that no link leads to, tied to their marks by the number alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from scraper.extract.dom.xpath import Element, elements, text_of

_LABEL = re.compile(r"\d{1,3}|[*†‡]")
_NUMBERED_ID = re.compile(r"(?:user-content-)?_?(?:fn|footnote|note|ftn)[-_:.]?(\d{1,3})", re.IGNORECASE)
_CALLED_NOTES = elements(".//*[contains(@class, 'footnote') or contains(@class, 'footdef')]")
_CONTINUES = frozenset({"p", "ul", "ol", "blockquote", "pre", "table"})
_MAX_MARKS = 2_000
_LAST_RULES = 5
"""Notes stand behind one of the last rules of a page."""


def numbered(
    root: Element, taken: set[Element], *, called: bool = True
) -> Iterator[tuple[Element, Element, str]]:
    """Each mark that is a bare number, with the note that begins with it or stands at its place in a list.

    `called`: whether anything has a class of footnotes.
    """
    marks = [(mark, text_of(mark).strip("[] \n")) for mark in islice(_marks(root), _MAX_MARKS)]
    marks = [(mark, label) for mark, label in marks if _LABEL.fullmatch(label)]
    if not marks:
        return
    notes = {
        label: note
        for label, note in _notes(root, {label for _, label in marks}, called)
        if note not in taken
    }
    bodies = set(notes.values())
    for mark, label in marks:
        note = notes.get(label)
        if note is not None and bodies.isdisjoint(mark.iterancestors()):
            yield mark, note, label


def _marks(root: Element) -> Iterator[Element]:
    for mark in root.iterdescendants("sup", "label"):
        if mark.tag == "sup" or mark.get("for") is not None:
            yield mark


def _notes(root: Element, labels: set[str], called: bool) -> Iterator[tuple[str, Element]]:
    if called:
        yield from _called_so(root, labels)
    yield from _behind_rules(root, labels)
    for row in root.iter("ol"):
        yield from _in_list(row)


def _called_so(root: Element, labels: set[str]) -> Iterator[tuple[str, Element]]:
    """Blocks of the class that begin with a raised number."""
    for block in _CALLED_NOTES(root):
        label = _leading_number(block, ("sup",))
        if label in labels and block.tag in ("p", "div", "li", "aside", "span", "dd"):
            yield label, block


def _leading_number(block: Element, tags: tuple[str, ...]) -> str:
    if len(block) == 0 or (block.text or "").strip() or block[0].tag not in tags:
        return ""
    return text_of(block[0]).strip(" .\n[]")


def _in_list(row: Element) -> Iterator[tuple[str, Element]]:
    """Items that are named as notes, or a list alone in an aside."""
    around = row.getparent()
    alone = around is not None and around.tag == "aside" and _is_only_child(row)
    start = row.get("start") or "1"
    first = int(start) if start.isdigit() and len(start) < 4 else 1
    for place, item in enumerate(row.iterchildren("li")):
        named = _NUMBERED_ID.fullmatch(item.get("id") or "")
        if named or alone:
            yield (named.group(1) if named else str(first + place)), item


def _behind_rules(root: Element, labels: set[str]) -> Iterator[tuple[str, Element]]:
    """Paragraphs behind a rule that begin with a number, each with what belongs to it."""
    for rule in list(root.iter("hr"))[-_LAST_RULES:]:
        after = list(rule.itersiblings())
        heads = [
            (at, _leading_number(one, ("sup", "strong", "b")))
            for at, one in enumerate(after)
            if one.tag == "p"
        ]
        heads = [(at, label) for at, label in heads if label in labels]
        if heads and heads[0][0] == 0:
            ends = [at for at, _ in heads[1:]] + [len(after)]
            for (at, label), end in zip(heads, ends, strict=True):
                yield label, _gathered(after[at:end])


def _gathered(blocks: list[Element]) -> Element:
    """A paragraph and the blocks that go on with it, as one."""
    first = blocks[0]
    if len(blocks) == 1 or blocks[1].tag not in _CONTINUES:
        return first
    body = etree.Element("div")
    first.addprevious(body)
    for block in blocks:
        if block.tag not in _CONTINUES:
            break
        body.append(block)
    return body


def _is_only_child(element: Element) -> bool:
    return element.getprevious() is None and element.getnext() is None
