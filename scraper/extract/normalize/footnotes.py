"""Normalize footnotes of any markup: `<fnref label>` marks, and `<fndef label>` notes at the end of the tree.

Links back to the marks, and the numbers at the start of the notes, are removed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice, takewhile
from urllib.parse import unquote

from lxml import etree

from scraper.html.dom.parsing import HEADINGS, LISTS, Element, collect_names, element_selector, remove, text_of

_MAX_NOTES = 2_000
"""Links of a page that are examined as footnote marks."""
_MAX_NOTE = 5_000
"""Characters. A longer target is a part of the page to which a link leads."""

_LABEL = re.compile(r"\d{1,3}|[a-zA-Z]|[ivx]{1,4}|[*†‡§¶]{1,3}")
_NOTE_REFERENCE_CLASS = re.compile(r"footnote-?_?ref|noteref|reference\b|(?:^|\s)fn(?:\s|$)", re.IGNORECASE)
_NOTE_ANCHOR = re.compile(r"^_?(?:fn|ftn|footnote|cite_note|note|endnote|sdfootnote)", re.IGNORECASE)
_NOTE_WORDS = ("ref", "note", "fn", "cite", "bib")
_NUMBER_AT_END = re.compile(r"(?<!\d)(\d+)$")
_BACK_ANCHOR = re.compile(r"_?(?:ftn|fn|footnote)?[-_]?ref[-_:.]?(\d+)$", re.IGNORECASE)
_MARK_ANCHOR = re.compile(r"(.*(?:note|fn|ftn))[-_]?ref(.*)", re.IGNORECASE)
_HEADINGS = element_selector(".//h1 | .//h2 | .//h3 | .//h4")
_HAS_FOLLOWING_TEXT = etree.XPath("boolean(following::text()[normalize-space()])")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark in the text, the anchor of its target, and its label."""

    element: Element
    name: str
    label: str


def extract_footnotes(root: Element, class_names: str | None = None) -> list[Element]:
    """Normalize the marks, remove the notes from the tree and return them."""
    class_names = (collect_names(root).classes if class_names is None else class_names).lower()
    pairs = _pair_sidenotes(root) if "note" in class_names else []
    pairs += _find_linked_notes(root)
    has_note_classes = "footnote" in class_names or "footdef" in class_names
    pairs += find_numbered_notes(root, {body for _, body, _ in pairs}, has_note_classes=has_note_classes)
    return _write_notes(root, pairs) if pairs else []


def attach_footnotes(root: Element, notes: Sequence[Element]) -> None:
    """Append the notes whose marks are still in the tree."""
    labels_in_use = {mark.get("label") for mark in root.iter("fnref")}
    for note in notes:
        if note.get("label") in labels_in_use:
            labels_in_use |= {mark.get("label") for mark in note.iter("fnref")}
    root.extend([note for note in notes if note.get("label") in labels_in_use])


def _find_linked_notes(root: Element) -> list[tuple[Element, Element, str]]:
    # Iteration by tag takes a quarter of the time of an XPath expression.
    links = (a for a in root.iterdescendants("a") if "#" in (a.get("href") or "") or "ref" in (a.get("id") or ""))
    marks = [mark for mark in map(_parse_mark, islice(links, _MAX_NOTES)) if mark is not None]
    if not marks:
        return []
    places = {element: at for at, element in enumerate(root.iter())}
    targets = _find_targets(root, marks)
    marks = [mark for mark in marks if mark.name in targets]
    # A link back to its mark is not a mark: splitting the text at marks would break it.
    marks = [mark for mark in marks if places.get(targets[mark.name], 0) > places.get(mark.element, 0)]
    bodies = _find_bodies(dict.fromkeys(targets[mark.name] for mark in marks))
    return [
        (_expand_mark(mark.element), body, mark.label)
        for mark in marks
        if (body := bodies.get(targets[mark.name])) is not None and _is_note(body, mark.element)
    ]


def _find_bodies(targets: Iterable[Element]) -> dict[Element, Element]:
    """Return the text of the note at each target."""
    in_block: defaultdict[Element, list[Element]] = defaultdict(list)
    for target in targets:
        if (block := find_note_block(target)) is not None:
            in_block[block].append(target)
    return {target: body for block, found in in_block.items() for target, body in _split_notes(block, found)}


def _is_note(body: Element, mark: Element) -> bool:
    return body not in mark.iterancestors() and len(text_of(body)) <= _MAX_NOTE and not _HEADINGS(body)


def _parse_mark(link: Element) -> _Mark | None:
    """Return the mark if a link has a short label and is formatted or named as a mark."""
    raw = " ".join(text_of(link).split())
    label = raw.strip("[]()^ ")
    if not _LABEL.fullmatch(label):
        return None
    name = unquote((link.get("href") or "").partition("#")[2])
    if not name:
        anchor = _MARK_ANCHOR.fullmatch(link.get("id") or "")
        return _Mark(link, anchor.group(1) + anchor.group(2), label) if anchor else None
    around = link.getparent()
    is_raised = (around is not None and around.tag == "sup") or link.find("sup") is not None
    is_anchor = raw.startswith("(") and bool(link.get("id") or link.get("name"))  # its note may lead back
    is_bracketed = is_anchor or (raw.startswith("[") and any(word in name.lower() for word in _NOTE_WORDS))
    names = f"{link.get('class')} {link.get('role')} {around.get('class') if around is not None else ''}"
    is_mark = is_raised or is_bracketed or _NOTE_ANCHOR.search(name) or _NOTE_REFERENCE_CLASS.search(names)
    return _Mark(link, name, label) if is_mark else None


def _find_targets(root: Element, marks: list[_Mark]) -> dict[str, Element]:
    """Return the element of each anchor; if the page has none, the link that leads back from the note."""
    labels_in_use = {mark.name for mark in marks}
    own = {mark.element: mark.name for mark in marks}
    found: dict[str, Element] = {}
    back: dict[str, Element] = {}
    for element in root.iter():
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name in labels_in_use and name is not None and (own.get(element) != name or element.get("name") == name):
            found.setdefault(name, element)
        if element.tag == "a":
            number = _BACK_ANCHOR.search((element.get("href") or "").rpartition("#")[2])
            if number:
                back.setdefault(number.group(1), element)
    for mark in marks:
        number = _NUMBER_AT_END.search(mark.name)
        if mark.name not in found and number and back.get(number.group(1), mark.element) is not mark.element:
            found[mark.name] = back[number.group(1)]
    return found


def _expand_mark(link: Element) -> Element:
    """Return the `sup` around the mark if it contains nothing else, else the mark."""
    around = link.getparent()
    if around is None or around.tag != "sup":
        return link
    alone = len(around) == 1 and not (around.text or "").strip("[]( ") and not (link.tail or "").strip("]) ")
    return around if alone else link


def _write_notes(root: Element, pairs: list[tuple[Element, Element, str]]) -> list[Element]:
    labels: dict[Element, str] = {}
    taken: set[str] = set()
    used = {label for _, _, label in pairs if label.isdigit()}
    free = (number for number in map(str, count(1)) if number not in used and number not in taken)
    anchor_names: dict[Element, set[str]] = {}
    """By the body of a note: the anchors by which it may link back to its marks."""
    for mark, body, label in pairs:
        names = [name for inner in mark.iter() for name in (inner.get("id"), inner.get("name"))]
        names += [around.get("id") for around in islice(mark.iterancestors(), 2)]
        anchor_names.setdefault(body, set()).update(filter(None, names))
        if body not in labels:
            is_usable = label and label.isascii() and label.isalnum() and label not in taken
            labels[body] = label if is_usable else next(free)
            taken.add(labels[body])
    own = {body: label for _, body, label in reversed(pairs)}
    for mark, body, _ in pairs:
        tail = mark.tail
        mark.clear()
        mark.tag = "fnref"
        mark.set("label", labels[body])
        mark.tail = tail
    back = set().union(*anchor_names.values())
    notes = [build_definition(body, labels[body], own[body], back) for body in labels]
    rules = list(root.iter("hr"))
    if rules and not _HAS_FOLLOWING_TEXT(rules[-1]):
        remove(rules[-1])  # it separated the notes from the text
    return notes


_SIDENOTE_CLASS = re.compile(r"(?:^|[\s_-])(?:side|margin|foot)?-?note(?:$|[\s_-])|ltx_note_outer", re.IGNORECASE)
_MARK_CLASS = re.compile(r"note|toggle|footref|marg", re.IGNORECASE)
_SIDENOTE_LABEL = re.compile(r"\d{0,3}|[a-z]|[*†‡]{1,3}")
_MAX_SIDENOTES = 500
_MIN_COMPARED_LETTERS = 8
_COMPARED_LETTERS = 60
"""Letters at the end of a sidenote that are compared with the page's text to find a second copy."""


def _pair_sidenotes(root: Element) -> list[tuple[Element, Element, str]]:
    """Return mark and note of notes beside their marks; notes that the end of the page repeats are removed."""
    pairs: list[tuple[Element, Element, str]] = []
    page_letters = ""
    # A span is a sidenote only by its class.
    candidates = list(root.iterdescendants("span", "small", "aside"))
    notes = [note for note in candidates if note.tag != "span" or "note" in (note.get("class") or "").lower()]
    for note in notes[:_MAX_SIDENOTES]:
        if not _SIDENOTE_CLASS.search(note.get("class") or "") or not text_of(note).strip():
            continue
        mark = _mark_before(note)
        mark = _insert_mark(note) if mark is None else mark
        if mark is None:
            continue
        around = note.getparent()
        if around is not None and "footnotemark" in (around.get("class") or ""):
            remove(note)  # a LaTeXML note without words beside a mark that is set again
            continue
        label = text_of(mark).strip("[]() \n") or str(len(pairs) + 1)
        strip_label(note, label)
        page_letters = page_letters or "".join(text_of(root).split())
        letters = "".join(text_of(note).split())[-_COMPARED_LETTERS:]
        if len(letters) >= _MIN_COMPARED_LETTERS and page_letters.count(letters) > 1:
            remove(note)  # the label stays as a mark without a link
            continue
        pairs.append((mark, note, label))
    return pairs


_INLINE_NOTE = re.compile(r"(?:^|\s)(?:inline-?)?foot-?note(?:-(?:text|content|body))?(?:\s|$)", re.IGNORECASE)
_LABEL_AT_END = re.compile(r"\s*[\[(]?(\d{1,3}|[*†‡])[\])]?\s*\Z")
_MIN_WORDS = 3


def _insert_mark(note: Element) -> Element | None:
    """Insert and return a mark for a note that is a `span` in its sentence, perhaps after its number in the text."""
    around, before = note.getparent(), note.getprevious()
    is_note = note.tag == "span" and _INLINE_NOTE.search(note.get("class") or "") is not None
    if not is_note or around is None or len(text_of(note).split()) < _MIN_WORDS:
        return None
    text = (around.text if before is None else before.tail) or ""
    is_labeled = around.tag == "sup" or _MARK_CLASS.search(around.get("class") or "") is not None
    label = _LABEL_AT_END.search(text) if is_labeled else None
    if label is None and not text.strip() and (before is None or before.tag == "br"):
        return None  # a paragraph of its own
    mark = etree.Element("sup")
    mark.text = label.group(1) if label else ""
    note.addprevious(mark)
    if label is not None:
        text = text[: label.start()]
        if before is None:
            around.text = text
        else:
            before.tail = text
    return mark


def _mark_before(note: Element) -> Element | None:
    """Return the label or raised number directly before a note, perhaps with a checkbox between them."""
    before = note.getprevious()
    if before is not None and before.tag == "input" and not (before.tail or "").strip():
        before = before.getprevious()
    if before is None or (before.tail or "").strip() or not _SIDENOTE_LABEL.fullmatch(text_of(before).strip("[]() \n")):
        return None
    if before.tag == "label":
        return before if _MARK_CLASS.search(before.get("class") or "note") else None
    return before if before.tag == "sup" else None


_INLINE = frozenset("a abbr b em i input label small span strong sub sup font u".split())
_BLOCKS = frozenset("aside dd div dt li p section td tr".split())
_CONTINUATION_TAGS = LISTS | {"p", "blockquote", "pre", "table"}
_BACK_LINK_CLASS = re.compile(r"back-?(?:link|ref)|footnote-back|to-top|footnote-return|reversefootnote", re.IGNORECASE)
_ARROWS = re.compile(r"[\s\[\]()^↩↑↵⏎⤴↺⬆↖⇑\ufe0e\ufe0f]*+(?:back|return|jump up)?[\s\]^↩↑↵⏎]*+", re.IGNORECASE)
_MARKS = "[]().:^ \u00a0\n\t"
_MAX_DESCENT = 40


def find_note_block(target: Element) -> Element | None:
    """Return the block that contains the note with the anchor `target`, or None."""
    block: Element | None = target
    while block is not None and block.tag in _INLINE:
        block = block.getparent()
    if block is not None and block.tag in HEADINGS and not text_of(block).strip(_MARKS + "0123456789"):
        note = etree.Element("div")  # a number as the heading of its note
        block.addprevious(note)
        note.extend([block, *takewhile(lambda one: one.tag in _CONTINUATION_TAGS, block.itersiblings())])
        return note
    if block is None or block.tag not in _BLOCKS:
        return None
    if block.tag in ("td", "tr"):
        return block if block.tag == "tr" else block.getparent()
    is_number_alone = not text_of(block).strip(_MARKS + "0123456789") and block.getnext() is not None
    around = block.getparent()
    if is_number_alone and block.tag in ("p", "div") and around is not None and around.tag in ("li", "div"):
        return around if len(list(islice(around, 4))) <= 3 else None
    return block


def _split_notes(block: Element, targets: list[Element]) -> Iterator[tuple[Element, Element]]:
    """Yield each target with its body: the block, or of several targets in different children, a part of the block."""
    if len(targets) == 1:
        yield targets[0], block
        return
    starts: dict[Element, Element] = {}
    for target in targets:
        starts[next((one for one in (target, *target.iterancestors()) if one.getparent() is block), block)] = target
    if len(starts) != len(targets) or block in starts:
        return
    body: Element | None = None
    for child in list(block):
        if child in starts:
            body = etree.SubElement(block, "p")
            yield starts[child], body
        if body is not None:
            body.append(child)


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
            is_marked = text[:1] in (".", ":", ")") and text[1:2].isspace()  # behind a number that was a link
            place.text = text[number.end() :] if number else text[1:].lstrip() if is_marked else text
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
    marks = [
        (mark, label) for mark, label in marks if label in ("*", "†", "‡") or (label.isdecimal() and len(label) < 4)
    ]
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
                note, *others = after[at:end]
                if others and others[0].tag in _CONTINUATION_TAGS:
                    note = etree.Element("div")
                    after[at].addprevious(note)
                    note.extend(takewhile(lambda block: block.tag in _CONTINUATION_TAGS, after[at:end]))
                yield label, note
