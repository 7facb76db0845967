"""Notes that stand where they are marked: in the margin, or behind a box that is ticked to show them."""

from __future__ import annotations

import re

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.normalize.footnote_bodies import strip_label

_NOTE_CLASS = re.compile(r"(?:^|[\s_-])(?:side|margin|foot)?-?note(?:$|[\s_-])|ltx_note_outer", re.IGNORECASE)
_MARK_CLASS = re.compile(r"note|toggle|footref|marg", re.IGNORECASE)
_LABEL = re.compile(r"\d{0,3}|[a-z]|[*†‡]{1,3}")
_MAX_NOTES = 500
_LEAST = 8
_SAME = 60
"""Characters by which a note in the margin and one at the end are known to be the same."""


def settle(root: Element) -> list[tuple[Element, Element, str]]:
    """Marks with the notes directly behind them; notes that stand at the end once more are taken out here."""
    pairs: list[tuple[Element, Element, str]] = []
    whole = ""
    for note in _notes(root)[:_MAX_NOTES]:
        if not _NOTE_CLASS.search(note.get("class") or "") or not text_of(note).strip():
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


def _notes(root: Element) -> list[Element]:
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
        or not _LABEL.fullmatch(text_of(before).strip("[]() \n"))
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
    said = _letters(text_of(note))[-_SAME:]
    return len(said) >= _LEAST and whole.count(said) > 1


def _letters(text: str) -> str:
    return "".join(text.split())


def _free(note: Element) -> None:
    """Take out the copy in the margin and its checkbox; the label stays, a mark without a link."""
    box = note.getprevious()
    if box is not None and box.tag == "input":
        remove(box)
    remove(note)
