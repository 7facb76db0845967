"""Find the blocks that contain footnotes, and remove their numbers and back links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile

from lxml import etree

from scraper.html.dom.parsing import remove
from scraper.html.dom.tags import LISTS
from scraper.html.dom.xpath import Element, element_selector, text_of

_INLINE = frozenset("a abbr b em i input label small span strong sub sup font u".split())
_BLOCKS = frozenset("aside dd div dt li p section td tr".split())
_CONTINUATION_TAGS = LISTS | {"p", "blockquote", "pre", "table"}
_BACK_LINK_CLASS = re.compile(r"back-?(?:link|ref)|footnote-back|to-top|footnote-return|reversefootnote", re.IGNORECASE)
_ARROWS = re.compile(r"[\s\[\]()^↩↑↵⏎⤴↺⬆↖⇑\ufe0e\ufe0f]*+(?:back|return|jump up)?[\s\]^↩↑↵⏎]*+", re.IGNORECASE)
_MARKS = "[]().:^ \u00a0\n\t"
_REMAINING_MARK = re.compile(r"\A[.:)]\s+")
"""Punctuation after a number that was a link and was removed."""
_MAX_DESCENT = 40


def find_note_block(target: Element) -> Element | None:
    """Return the block that contains the note with the anchor `target`, or None."""
    block: Element | None = target
    while block is not None and block.tag in _INLINE:
        block = block.getparent()
    if block is None or block.tag not in _BLOCKS:
        return None
    if block.tag in ("td", "tr"):
        return block if block.tag == "tr" else block.getparent()
    is_number_alone = not text_of(block).strip(_MARKS + "0123456789") and block.getnext() is not None
    around = block.getparent()
    if is_number_alone and block.tag in ("p", "div") and around is not None and around.tag in ("li", "div"):
        return around if len(list(islice(around, 4))) <= 3 else None
    return block


def build_definition(body: Element, label: str, own: str, back: set[str]) -> Element:
    """Remove a note from its place and return it as `<fndef>`.

    `label` is the new label, `own` the label in the text of the note, and `back` are the anchors of the marks.
    """
    for link in list(body.iter("a")):
        if _is_back_link(link, back):
            remove(link)
    description = body.getnext() if body.tag == "dt" else None
    if description is not None and description.tag == "dd":
        description.tag = "div"
        body.append(description)
    strip_label(body, own)
    note = etree.Element("fndef", label=label)
    note.text = body.text
    note.extend(list(body))
    remove(body)
    return note


def _is_back_link(link: Element, back: set[str]) -> bool:
    address = link.get("href") or ""
    if "#" in address and address.rpartition("#")[2] in back:
        return True
    names = f"{link.get('class') or ''} {link.get('role') or ''} {link.get('rev') or ''}"
    is_arrow = address.startswith("#") and _ARROWS.fullmatch(text_of(link)) is not None
    return is_arrow or _BACK_LINK_CLASS.search(names) is not None


def strip_label(body: Element, label: str) -> None:
    """Remove the note's own number from its beginning at any depth."""
    name = re.escape(label)
    pattern = re.compile(rf"[\[(]\^?{name}[\])]\.?\s*|{name}(?:[.:)](?!\d)|(?=\s|$))\s*")
    place = body
    for _ in range(_MAX_DESCENT):
        if (place.text or "").strip():
            text = (place.text or "").lstrip().removeprefix("^").lstrip()
            number = pattern.match(text)
            place.text = text[number.end() :] if number else _REMAINING_MARK.sub("", text)
            return
        first = next(iter(place), None)
        if first is None:
            return
        text = text_of(first).strip(_MARKS)
        if text in ("", label) and first.tag not in ("img", "math", "pre", "table", "fnref"):
            if text:
                first.tail = (first.tail or "").lstrip(".:) \u00a0\n\t")
            remove(first)
            if text:
                return
        else:
            place = first


_LABEL = re.compile(r"\d{1,3}|[*†‡]")
_NUMBERED_ID = re.compile(r"(?:user-content-)?_?(?:fn|footnote|note|ftn)[-_:.]?(\d{1,3})", re.IGNORECASE)
_NOTE_CLASSES = element_selector(".//*[contains(@class, 'footnote') or contains(@class, 'footdef')]")
_MAX_MARKS = 2_000
_LAST_RULES = 5
"""Horizontal rules at the end of a page after one of which notes are searched."""


def find_numbered_notes(
    root: Element, taken: set[Element], *, has_note_classes: bool = True
) -> Iterator[tuple[Element, Element, str]]:
    """Yield each mark that is a bare number with the note of that number and its label.

    No link is needed. A note begins with its number or has its place in a list. Pass `has_note_classes` if any class
    suggests footnotes.
    """
    candidates = (mark for mark in root.iterdescendants("sup", "label") if mark.tag == "sup" or "for" in mark.attrib)
    marks = [(mark, text_of(mark).strip("[] \n")) for mark in islice(candidates, _MAX_MARKS)]
    marks = [(mark, label) for mark, label in marks if _LABEL.fullmatch(label)]
    if not marks:
        return
    found = _find_notes(root, {label for _, label in marks}, has_note_classes)
    notes = {label: note for label, note in found if note not in taken}
    bodies = set(notes.values())
    for mark, label in marks:
        note = notes.get(label)
        if note is not None and bodies.isdisjoint(mark.iterancestors()):
            yield mark, note, label


def _find_notes(root: Element, labels: set[str], has_note_classes: bool) -> Iterator[tuple[str, Element]]:
    if has_note_classes:
        for block in _NOTE_CLASSES(root):
            label = _leading_number(block, ("sup",))
            if label in labels and block.tag in ("p", "div", "li", "aside", "span", "dd"):
                yield label, block
    yield from _find_after_rules(root, labels)
    for listing in root.iter("ol"):
        yield from _find_in_list(listing)


def _leading_number(block: Element, tags: tuple[str, ...]) -> str:
    if len(block) == 0 or (block.text or "").strip() or block[0].tag not in tags:
        return ""
    return text_of(block[0]).strip(" .\n[]")


def _find_in_list(listing: Element) -> Iterator[tuple[str, Element]]:
    """Yield the items whose ids are those of notes, or all items of a list alone in an aside."""
    around = listing.getparent()
    is_alone = around is not None and around.tag == "aside" and len(around) == 1
    start = listing.get("start") or "1"
    first = int(start) if start.isdigit() and len(start) < 4 else 1
    for number, item in enumerate(listing.iterchildren("li"), first):
        note_id = _NUMBERED_ID.fullmatch(item.get("id") or "")
        if note_id or is_alone:
            yield (note_id.group(1) if note_id else str(number)), item


def _find_after_rules(root: Element, labels: set[str]) -> Iterator[tuple[str, Element]]:
    """Yield paragraphs after a rule that begin with a number, each with its continuation."""
    for rule in list(root.iter("hr"))[-_LAST_RULES:]:
        after = list(rule.itersiblings())
        heads = [(at, _leading_number(one, ("sup", "strong", "b"))) for at, one in enumerate(after) if one.tag == "p"]
        heads = [(at, label) for at, label in heads if label in labels]
        if heads and heads[0][0] == 0:
            ends = [at for at, _ in heads[1:]] + [len(after)]
            for (at, label), end in zip(heads, ends, strict=True):
                yield label, _collect_note(after[at:end])


def _collect_note(blocks: list[Element]) -> Element:
    """Return a paragraph and the blocks that continue it as one element."""
    first = blocks[0]
    if len(blocks) == 1 or blocks[1].tag not in _CONTINUATION_TAGS:
        return first
    body = etree.Element("div")
    first.addprevious(body)
    body.extend(takewhile(lambda block: block.tag in _CONTINUATION_TAGS, blocks))
    return body
