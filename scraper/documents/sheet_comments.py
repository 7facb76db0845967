"""Read the comments of spreadsheets: notes of cells, and threads of comments with their replies."""

from __future__ import annotations

from collections.abc import Iterator

from scraper.documents.ooxml_parts import find_related_parts, iter_sheet_parts
from scraper.documents.safe_zip import ZipParts
from scraper.html.dom.xpath import text_of
from scraper.text.sanitize import clean_line

_MAX_COMMENTS = 500
_MAX_COMMENT_CHARS = 2_000
_MAX_NAME_CHARS = 100

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_THREADED = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
"""Namespace of comments with replies, since Excel 2019 ([MS-XLSX], 2.6.204)."""
_WORKBOOK = "xl/workbook.xml"
_COPY_AUTHOR = "tc="
"""Beginning of the author of the copy of a thread that older editions of Excel show as a note."""


def read_sheet_comments(parts: ZipParts) -> dict[str, list[str]]:
    """Return the comments by sheet name, each as one list in Markdown."""
    names = _read_person_names(parts)
    found: dict[str, list[str]] = {}
    for name, part in iter_sheet_parts(parts):
        thread_parts = find_related_parts(parts, part, "threadedComment")
        threads = [line for thread_part in thread_parts for line in _format_threads(parts, thread_part, names)]
        note_parts = find_related_parts(parts, part, "comments")
        notes = [line for note in note_parts for line in _format_notes(parts, note, skip_copies=bool(threads))]
        if lines := [*notes, *threads]:
            found[name] = ["\n".join(["Comments:", "", *lines[:_MAX_COMMENTS]])]
    return found


def _read_person_names(parts: ZipParts) -> dict[str, str]:
    """Return the names of the authors of threads by id."""
    roots = (parts.xml_or_none(part) for part in find_related_parts(parts, _WORKBOOK, "person"))
    people = (person for root in roots if root is not None for person in root.iter(_THREADED + "person"))
    return {str(person.get("id")): str(person.get("displayName", "")) for person in people}


def _format_threads(parts: ZipParts, part: str, names: dict[str, str]) -> Iterator[str]:
    """Yield each thread as a list item, and its replies as items of a nested list."""
    root = parts.xml_or_none(part)
    comments = [] if root is None else list(root.iter(_THREADED + "threadedComment"))
    threads: dict[str, list[str]] = {str(one.get("id")): [] for one in comments if one.get("parentId") is None}
    for comment in comments:
        author = clean_line(names.get(str(comment.get("personId")), ""), _MAX_NAME_CHARS)
        resolved = "resolved" if comment.get("done") in ("1", "true") else ""
        facts = ", ".join(filter(None, (author, clean_line(str(comment.get("dT", ""))[:10], 10), resolved)))
        text = clean_line(comment.findtext(_THREADED + "text", ""), _MAX_COMMENT_CHARS)
        thread = threads.get(str(comment.get("parentId")))
        if thread is not None and text:
            thread.append(f"  - {facts or 'Reply'}: {text}")
        elif thread is None:
            cell = clean_line(str(comment.get("ref", "")), _MAX_NAME_CHARS)
            line = f"- {cell} ({facts}): {text}" if facts else f"- {cell}: {text}"
            threads.setdefault(str(comment.get("id")), []).insert(0, line)
    for thread in threads.values():
        yield from thread


def _format_notes(parts: ZipParts, part: str, *, skip_copies: bool) -> Iterator[str]:
    """Yield each note of a cell as a list item; copies of threads only where the threads cannot be read."""
    root = parts.xml_or_none(part)
    if root is None:
        return
    authors = [text_of(author) for author in root.iter(_S + "author")]
    for comment in root.iter(_S + "comment"):
        number = str(comment.get("authorId", ""))
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        if is_copy := author.startswith(_COPY_AUTHOR):
            author = ""
        if is_copy and skip_copies:
            continue
        element = comment.find(_S + "text")
        text = "" if element is None else text_of(element)
        if text.startswith("[Threaded comment]"):  # Excel's hint for older editions.
            text = text.partition("Comment:\n")[2]
        text = clean_line(text, _MAX_COMMENT_CHARS)
        name = f" ({clean_line(author, _MAX_NAME_CHARS)})" if author else ""
        if text:
            yield f"- {comment.get('ref', '')}{name}: {text}"
