"""The body of a footnote: the block that holds it, without its number and the links that lead back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, element_selector, text_of

_INLINE = frozenset("a abbr b em i input label small span strong sub sup font u".split())
_BLOCKS = frozenset("aside dd div dt li p section td tr".split())
_HEADINGS = frozenset({"h3", "h4", "h5", "h6"})
_OF_NOTES = frozenset("p div pre ul ol dl blockquote table figure".split())
_BACK = re.compile(r"back-?(?:link|ref)|footnote-back|to-top|footnote-return|reversefootnote", re.IGNORECASE)
_ARROWS = re.compile(
    r"[\s\[\]()^↩↑↵⏎⤴↺⬆↖⇑\ufe0e\ufe0f]*+(?:back|return|jump up)?[\s\]^↩↑↵⏎]*+", re.IGNORECASE
)
_TRAILING = re.compile(r"(?<![\s,])[\s,]*+[↩↑↵⏎^]\ufe0e?[\s\d]*$")
_MARKS = "[]().:^ \u00a0\n\t"
_OWN_MARK = re.compile(r"\A[.:)]\s+")
"""What stood behind a number that was a link, and went with it."""
_MAX_STEPS = 40


def find_note_block(target: Element) -> Element | None:
    """The block in which a note stands whose name is at `target`."""
    block: Element | None = target
    while block is not None and block.tag in _INLINE:
        block = block.getparent()
    if block is not None and block.tag in _HEADINGS:
        return _behind_heading(block)
    if block is None or block.tag not in _BLOCKS:
        return None
    if block.tag in ("td", "tr"):
        return block if block.tag == "tr" else block.getparent()
    holds_name_alone = not text_of(block).strip(_MARKS + "0123456789") and block.getnext() is not None
    around = block.getparent()
    if holds_name_alone and block.tag in ("p", "div") and around is not None and around.tag in ("li", "div"):
        return around if len(list(islice(around, 4))) <= 3 else None
    return block


def _behind_heading(heading: Element) -> Element | None:
    """The blocks behind a heading that is a note's number, as Texinfo writes it; it goes with them."""
    if not text_of(heading).strip(_MARKS).isdecimal():
        return None
    body = etree.Element("div")
    heading.addprevious(body)
    while (block := body.getnext()) is not None and (block is heading or block.tag in _OF_NOTES):
        body.append(block)
    heading.tag = "p"
    return body


def split_notes(block: Element, targets: list[Element]) -> dict[Element, Element]:
    """The body of each target; where several notes share a block, it is cut before each of them."""
    if len(targets) == 1:
        return {targets[0]: block}
    starts: dict[Element, Element] = {}
    for target in targets:
        top = target
        while (around := top.getparent()) is not None and around is not block:
            top = around
        if top.getparent() is block:
            starts[top] = target
    if len(starts) != len(targets):
        return {}
    bodies: dict[Element, Element] = {}
    body: Element | None = None
    for child in list(block):
        if child in starts:
            body = etree.Element("p")
            bodies[starts[child]] = body
        if body is not None:
            body.append(child)
    block.extend(bodies.values())
    return bodies


def build_definition(body: Element, label: str, own: str, back: set[str]) -> Element:
    """A note taken out of its place, as `<fndef>`."""
    for link in list(body.iter("a")):
        if _leads_back(link, back):
            remove(link)
    if body.tag == "dt":
        _take_description(body)
    strip_label(body, own)
    _strip_end(body)
    note = etree.Element("fndef", label=label)
    note.text = body.text
    note.extend(list(body))
    remove(body)
    return note


def _take_description(term: Element) -> None:
    after = term.getnext()
    if after is not None and after.tag == "dd":
        after.tag = "div"
        term.append(after)


def _leads_back(link: Element, back: set[str]) -> bool:
    address = link.get("href") or ""
    if "#" in address and address.rpartition("#")[2] in back:
        return True
    words = f"{link.get('class') or ''} {link.get('role') or ''} {link.get('rev') or ''}"
    if _BACK.search(words):
        return True
    return "#" in address[:1] and _ARROWS.fullmatch(text_of(link)) is not None


def strip_label(body: Element, label: str) -> None:
    """Take the note's own number off its beginning, however deep it stands."""
    name = re.escape(label)
    pattern = re.compile(rf"[\[(]\^?{name}[\])]\.?\s*|{name}(?:[.:)](?!\d)|(?=\s|$))\s*")
    place = body
    for _ in range(_MAX_STEPS):
        if (place.text or "").strip():
            place.text = _without(pattern, place.text or "")
            return
        first = next(iter(place), None)
        if first is None:
            return
        said = text_of(first).strip(_MARKS)
        if said in ("", label) and first.tag not in ("img", "math", "pre", "table", "fnref"):
            tail = (first.tail or "").lstrip(".:) \u00a0\n\t") if said else first.tail
            first.tail = tail
            remove(first)
            if said:
                return
        else:
            place = first


def _without(pattern: re.Pattern[str], text: str) -> str:
    stripped = text.lstrip().removeprefix("^").lstrip()
    match = pattern.match(stripped)
    return stripped[match.end() :] if match else _OWN_MARK.sub("", stripped)


def _strip_end(body: Element) -> None:
    """Arrows that are no links."""
    last: Element = body
    while len(last) and not (last[-1].tail or "").strip():
        if last[-1].tag == "br" or not text_of(last[-1]).strip():
            remove(last[-1])
            continue
        last = last[-1]
    if len(last):
        last[-1].tail = _TRAILING.sub("", last[-1].tail or "")
    elif last.text:
        last.text = _TRAILING.sub("", last.text)


_LABEL = re.compile(r"\d{1,3}|[*†‡]")
_NUMBERED_ID = re.compile(r"(?:user-content-)?_?(?:fn|footnote|note|ftn)[-_:.]?(\d{1,3})", re.IGNORECASE)
_CALLED_NOTES = element_selector(".//*[contains(@class, 'footnote') or contains(@class, 'footdef')]")
_CONTINUES = frozenset({"p", "ul", "ol", "blockquote", "pre", "table"})
_MAX_MARKS = 2_000
_LAST_RULES = 5
"""Notes stand behind one of the last rules of a page."""


def find_numbered_notes(
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
