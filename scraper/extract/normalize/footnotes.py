"""Footnotes, in whatever way a page ties notes to their marks, become marks and notes of one form.

A mark becomes `<fnref label>`, a note `<fndef label>` at the end of the tree, without the links that lead
back and without its own number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from lxml import etree

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, collect_class_names, element_selector, text_of
from scraper.extract.normalize.footnote_bodies import (
    build_definition,
    find_note_block,
    find_numbered_notes,
    split_notes,
    strip_label,
)

MAX_NOTES = 2_000
MAX_NOTE = 5_000
"""Characters; what is longer is a part of the page that a link leads to."""

_LABEL = re.compile(r"\d{1,3}|[a-zA-Z]|[ivx]{1,4}|[*†‡§¶]{1,3}")
_CALLED_NOTE = re.compile(r"footnote-?_?ref|noteref|reference\b|(?:^|\s)fn(?:\s|$)", re.IGNORECASE)
_NOTE_NAME = re.compile(r"^_?(?:fn|ftn|footnote|cite_note|note|endnote|sdfootnote)", re.IGNORECASE)
_NOTE_WORD = re.compile(r"ref|note|fn|cite|bib", re.IGNORECASE)
_NUMBER_AT_END = re.compile(r"(?<!\d)(\d+)$")
_BACK_NAME = re.compile(r"_?(?:ftn|fn|footnote)?[-_]?ref[-_:.]?(\d+)$", re.IGNORECASE)
_MARK_NAME = re.compile(r"(.*(?:note|fn|ftn))[-_]?ref(.*)", re.IGNORECASE)
_HEADINGS = element_selector(".//h1 | .//h2 | .//h3 | .//h4")
_TEXT_BEHIND = etree.XPath("boolean(following::text()[normalize-space()])")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark in the text, the name it leads to, and how it is labelled."""

    element: Element
    name: str
    label: str


def normalize_footnotes(root: Element, names: str | None = None) -> None:
    """Bring all footnotes of a tree into the one form; again does no harm.

    `names` are the tree's classes, where they are known.
    """
    attach_footnotes(root, extract_footnotes(root, names))


def extract_footnotes(root: Element, names: str | None = None) -> list[Element]:
    """Bring the marks into the one form and take the notes out of the tree."""
    names = (collect_class_names(root) if names is None else names).lower()
    pairs = _pair_sidenotes(root) if "note" in names else []
    pairs += _linked(root)
    called = "footnote" in names or "footdef" in names
    pairs += find_numbered_notes(root, {body for _, body, _ in pairs}, called=called)
    return _written(root, pairs) if pairs else []


def attach_footnotes(root: Element, notes: Sequence[Element]) -> None:
    """Put the notes at the end of a tree whose marks are still in it."""
    wanted = {mark.get("label") for mark in root.iter("fnref")}
    for note in notes:
        wanted |= {mark.get("label") for mark in note.iter("fnref")} if note.get("label") in wanted else set()
    root.extend([note for note in notes if note.get("label") in wanted])


def remove_footnote_marks(root: Element) -> None:
    """Leave no mark in a tree whose notes are left out."""
    for mark in list(root.iter("fnref")):
        remove(mark)


def _linked(root: Element) -> list[tuple[Element, Element, str]]:
    links = islice(_links(root), MAX_NOTES)
    marks = [mark for mark in map(_mark_of, links) if mark is not None]
    if not marks:
        return []
    places = {element: at for at, element in enumerate(root.iter())}
    targets = _targets(root, marks)
    marks = [mark for mark in marks if mark.name in targets]
    # A link that leads back to its mark is none: to cut the text at marks would tear it.
    marks = [mark for mark in marks if places.get(targets[mark.name], 0) > places.get(mark.element, 0)]
    bodies: dict[Element, Element] = {}
    for block, led_to in _by_block(targets[mark.name] for mark in marks):
        bodies.update(split_notes(block, led_to))
    pairs = []
    for mark in marks:
        target = targets.get(mark.name)
        body = bodies.get(target) if target is not None else None
        if body is not None and target is not None and _fits(mark.element, target, body, places):
            pairs.append((_whole_mark(mark.element), body, mark.label))
    return pairs


def _links(root: Element) -> Iterator[Element]:
    """Those that may be marks. By their tag they are found in a quarter of an XPath expression's time."""
    for link in root.iterdescendants("a"):
        if "#" in (link.get("href") or "") or "ref" in (link.get("id") or ""):
            yield link


def _mark_of(link: Element) -> _Mark | None:
    """A link with a short label that is set or named as a mark is."""
    raw = " ".join(text_of(link).split())
    label = raw.strip("[]()^ ")
    if not _LABEL.fullmatch(label):
        return None
    name = unquote((link.get("href") or "").partition("#")[2])
    if not name:
        named = _MARK_NAME.fullmatch(link.get("id") or "")
        return _Mark(link, named.group(1) + named.group(2), label) if named else None
    around = link.getparent()
    raised = (around is not None and around.tag == "sup") or next(link.iterchildren("sup"), None) is not None
    bracketed = raw.startswith("[") and _NOTE_WORD.search(name) is not None
    words = f"{link.get('class')} {link.get('role')} {around.get('class') if around is not None else ''}"
    is_mark = raised or bracketed or _NOTE_NAME.search(name) or _CALLED_NOTE.search(words)
    return _Mark(link, name, label) if is_mark else None


def _targets(root: Element, marks: list[_Mark]) -> dict[str, Element]:
    """The element of each name; where a page names none, the link that leads back from the note."""
    wanted = {mark.name for mark in marks}
    own = {mark.element: mark.name for mark in marks}
    found: dict[str, Element] = {}
    back: dict[str, Element] = {}
    for element in root.iter():
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name in wanted and name is not None and (own.get(element) != name or element.get("name") == name):
            found.setdefault(name, element)
        if element.tag == "a":
            number = _BACK_NAME.search((element.get("href") or "").rpartition("#")[2])
            if number:
                back.setdefault(number.group(1), element)
    for mark in marks:
        number = _NUMBER_AT_END.search(mark.name)
        if mark.name not in found and number and back.get(number.group(1), mark.element) is not mark.element:
            found[mark.name] = back[number.group(1)]
    return found


def _by_block(targets: Iterable[Element]) -> Iterator[tuple[Element, list[Element]]]:
    """Each block that holds notes, with the places in it that are led to."""
    blocks: dict[Element, list[Element]] = {}
    for target in dict.fromkeys(targets):
        block = find_note_block(target)
        if block is not None:
            blocks.setdefault(block, []).append(target)
    yield from blocks.items()


def _fits(mark: Element, target: Element, body: Element, places: dict[Element, int]) -> bool:
    """Whether a body is a note of its own, behind its mark."""
    if body in mark.iterancestors() or places.get(target, 0) < places.get(mark, 0):
        return False
    return len(text_of(body)) <= MAX_NOTE and not _HEADINGS(body)


def _whole_mark(link: Element) -> Element:
    """The mark with the `sup` around it, where that holds nothing else."""
    around = link.getparent()
    if around is None or around.tag != "sup":
        return link
    alone = len(around) == 1 and not (around.text or "").strip("[]( ") and not (link.tail or "").strip("]) ")
    return around if alone else link


def _written(root: Element, pairs: list[tuple[Element, Element, str]]) -> list[Element]:
    labels: dict[Element, str] = {}
    given: set[str] = set()
    used = {label for _, _, label in pairs if label.isdigit()}
    names: dict[Element, set[str]] = {}
    for mark, body, label in pairs:
        names.setdefault(body, set()).update(_names_around(mark))
        if body not in labels:
            labels[body] = _unused(label, given, used)
            given.add(labels[body])
    own = {body: label for _, body, label in reversed(pairs)}
    for mark, body, _ in pairs:
        tail = mark.tail
        mark.clear()
        mark.tag = "fnref"
        mark.set("label", labels[body])
        mark.tail = tail
    back = set().union(*names.values())
    notes = [build_definition(body, labels[body], own[body], back) for body in labels]
    _drop_last_rule(root)
    return notes


def _names_around(mark: Element) -> Iterator[str]:
    """Names by which a note may lead back to its mark."""
    yield from (name for name in (mark.get("id"), mark.get("name")) if name)
    for inner in mark.iterdescendants():
        yield from (name for name in (inner.get("id"), inner.get("name")) if name)
    around = mark.getparent()
    for _ in range(2):
        if around is not None:
            if around.get("id"):
                yield around.get("id") or ""
            around = around.getparent()


def _unused(label: str, given: set[str], numbers: set[str]) -> str:
    """The note's own label, or the next number where it has none or another note has it."""
    if label and label.isascii() and label.isalnum() and label not in given:
        return label
    number = 1
    while str(number) in given or str(number) in numbers:
        number += 1
    return str(number)


def _drop_last_rule(root: Element) -> None:
    """The line that parted the notes from the text parts nothing any more."""
    rules = list(root.iter("hr"))
    if rules and not _TEXT_BEHIND(rules[-1]):
        remove(rules[-1])


_SIDENOTE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:side|margin|foot)?-?note(?:$|[\s_-])|ltx_note_outer", re.IGNORECASE
)
_MARK_CLASS = re.compile(r"note|toggle|footref|marg", re.IGNORECASE)
_SIDENOTE_LABEL = re.compile(r"\d{0,3}|[a-z]|[*†‡]{1,3}")
_MAX_SIDENOTES = 500
_MIN_COMPARED_LETTERS = 8
_COMPARED_LETTERS = 60
"""Characters by which a note in the margin and one at the end are known to be the same."""


def _pair_sidenotes(root: Element) -> list[tuple[Element, Element, str]]:
    """Marks with the notes directly behind them; notes that stand at the end once more are taken out here."""
    pairs: list[tuple[Element, Element, str]] = []
    whole = ""
    for note in _find_sidenotes(root)[:_MAX_SIDENOTES]:
        if not _SIDENOTE_CLASS.search(note.get("class") or "") or not text_of(note).strip():
            continue
        mark = _mark_before(note)
        if mark is None:
            continue
        if _repeats_a_mark(note):
            remove(note)
            continue
        label = text_of(mark).strip("[]() \n")
        strip_label(note, label or str(len(pairs) + 1))
        whole = whole or _letters(text_of(root))
        if _stands_again(whole, note):
            _free(note)
            continue
        pairs.append((mark, note, label or str(len(pairs) + 1)))
    return pairs


def _find_sidenotes(root: Element) -> list[Element]:
    """What may be one."""
    found = []
    for element in root.iterdescendants("span", "small", "aside"):
        name = element.get("class") or ""
        if element.tag != "span" or "note" in name or "Note" in name:
            found.append(element)
    return found


def _mark_before(note: Element) -> Element | None:
    """A label or raised number directly before a note, a checkbox between them perhaps."""
    before = note.getprevious()
    if before is not None and before.tag == "input" and not (before.tail or "").strip():
        before = before.getprevious()
    if (
        before is None
        or (before.tail or "").strip()
        or not _SIDENOTE_LABEL.fullmatch(text_of(before).strip("[]() \n"))
    ):
        return None
    if before.tag == "label":
        return before if _MARK_CLASS.search(before.get("class") or "note") else None
    return before if before.tag == "sup" else None


def _repeats_a_mark(note: Element) -> bool:
    """LaTeXML writes a note of no words beside a mark that is set once more."""
    around = note.getparent()
    return around is not None and "footnotemark" in (around.get("class") or "")


def _stands_again(whole: str, note: Element) -> bool:
    said = _letters(text_of(note))[-_COMPARED_LETTERS:]
    return len(said) >= _MIN_COMPARED_LETTERS and whole.count(said) > 1


def _letters(text: str) -> str:
    return "".join(text.split())


def _free(note: Element) -> None:
    """Take out the copy in the margin and its checkbox; the label stays, a mark without a link."""
    box = note.getprevious()
    if box is not None and box.tag == "input":
        remove(box)
    remove(note)
