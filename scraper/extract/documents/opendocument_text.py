"""The text of one paragraph of OpenDocument: its spaces, breaks, links and footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scraper.extract.xpath import Element

__all__ = ["DRAW", "OFFICE", "PRESENTATION", "TABLE", "TEXT", "inline"]

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, OFFICE = f"{{{_URN}text:1.0}}", f"{{{_URN}office:1.0}}"
TABLE, DRAW = f"{{{_URN}table:1.0}}", f"{{{_URN}drawing:1.0}}"
PRESENTATION = f"{{{_URN}presentation:1.0}}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_SPACES = 200
_DEPTH = 60
_LEFT_OUT = frozenset(
    {DRAW + name for name in ("frame", "custom-shape", "text-box", "g", "line", "rect", "ellipse", "path")}
    | {OFFICE + "annotation", TEXT + "hidden-text", TEXT + "hidden-paragraph"}
)


def inline(element: Element, notes: list[str]) -> str:
    """A paragraph as one text; its footnotes go to `notes`."""
    text = re.sub(r"[ \t]+", " ", "".join(_pieces(element, notes, 0)))
    return re.sub(r" ?\n ?", "\n", text).strip()


def _pieces(element: Element, notes: list[str], depth: int) -> Iterator[str]:
    yield " ".join((element.text or "").split("\n"))
    for child in element:
        if isinstance(child.tag, str) and depth < _DEPTH:
            yield from _piece(child, notes, depth)
        yield " ".join((child.tail or "").split("\n"))


def _piece(child: Element, notes: list[str], depth: int) -> Iterator[str]:
    if child.tag in _LEFT_OUT:
        return
    if child.tag == TEXT + "s":
        count = str(child.get(TEXT + "c", "1"))
        yield " " * min(_SPACES, int(count) if count.isdigit() else 1)
    elif child.tag == TEXT + "tab":
        yield " "
    elif child.tag == TEXT + "line-break":
        yield "  \n"
    elif child.tag == TEXT + "note":
        yield _note(child, notes, depth)
    elif child.tag == TEXT + "a":
        label = "".join(_pieces(child, notes, depth + 1)).strip()
        url = str(child.get(_LINK, ""))
        yield f"[{label}]({url})" if label and re.match(r"https?://[^\s()]+$", url) else label
    else:
        yield from _pieces(child, notes, depth + 1)


def _note(note: Element, notes: list[str], depth: int) -> str:
    citation = note.find(TEXT + "note-citation")
    body = note.find(TEXT + "note-body")
    mark = "" if citation is None else (citation.text or "").strip()
    mark = mark or str(len(notes) + 1)
    if body is not None:
        said = " ".join("".join(_pieces(paragraph, notes, depth + 1)) for paragraph in body)
        notes.append(f"[^{mark}]: {' '.join(said.split())}")
    return f"[^{mark}]"
