"""Read what calamine leaves out of workbooks: errors, leading zeros and links of cells, notes, threads of comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from scraper.documents.office_xml import THREADED, S, find_related_parts, find_relations, iter_sheet_parts
from scraper.documents.safe_zip import ZipParts
from scraper.html.dom.xpath import text_of
from scraper.text.sanitize import clean_line

_STYLES = "xl/styles.xml"
_ERROR = re.compile(rb"(<(?:\w+:)?c\b[^<>]*?\bt=[\"'])e([\"'])")
"""Type of a cell with an error such as #DIV/0!, which calamine leaves out."""
_NUMBER = re.compile(
    rb"(<(?:\w+:)?c\b[^<>]*?\bs=\"(\d{1,5})\"[^<>/]*)(>\s*"
    rb"(?:<(?:\w+:)?f\b[^<>]*(?:/>|>[^<>]*</(?:\w+:)?f>)\s*)?<(?:\w+:)?v>)(\d{1,15})</"
)
"""Cell with a style and a whole number: its tag, its style, the text before the number, and the number."""
_TYPE = re.compile(rb"\st=")
_ZEROS = re.compile(r"0{2,15}")
"""Number format of postal codes and other numbers that keep their leading zeros."""


def read_padded_styles(parts: ZipParts) -> dict[int, int]:
    """Return the number of digits of cell styles that fill numbers with zeros, by index of the style."""
    root = parts.xml_or_none(_STYLES) if _STYLES in parts else None
    if root is None:
        return {}
    codes = {one.get("numFmtId"): str(one.get("formatCode")) for one in root.iter(S + "numFmt")}
    styles = enumerate(codes.get(style.get("numFmtId"), "") for style in root.iterfind(f"{S}cellXfs/{S}xf"))
    return {index: len(code) for index, code in styles if _ZEROS.fullmatch(code)}


def write_as_text(xml: bytes, padded_styles: Mapping[int, int]) -> bytes:
    """Return a sheet in which errors are text, and numbers with leading zeros too."""

    def pad(match: re.Match[bytes]) -> bytes:
        tag, style, before, digits = match.groups()
        width = padded_styles.get(int(style))
        if width is None or _TYPE.search(tag):
            return match[0]
        return tag + b' t="str"' + before + digits.zfill(width) + b"</"

    xml = _ERROR.sub(rb"\1str\2", xml)
    return _NUMBER.sub(pad, xml) if padded_styles else xml


_LINK = re.compile(rb"<(?:\w+:)?hyperlink\b[^<>]*>")
_LINKED_CELL = re.compile(rb"\bref=\"([A-Z]{1,3})(\d{1,7})[:\"]")
_LINK_ID = re.compile(rb"\b\w+:id=\"([^\"]{1,100})\"")
_MAX_LINKS = 20_000
_MAX_LINKED_BYTES = 20_000_000
"""Bytes. Links of larger sheets, of which only the first rows are shown, are left out."""


def read_sheet_links(parts: ZipParts) -> dict[str, dict[tuple[int, int], str]]:
    """Return the addresses of links by sheet name, and by row and column from 0."""
    return {name: links for name, part in iter_sheet_parts(parts) if (links := _read_links(parts, part))}


def _read_links(parts: ZipParts, part: str) -> dict[tuple[int, int], str]:
    targets = find_relations(parts, part, "hyperlink", external=True)
    if not targets or part not in parts or parts.size_of(part) > _MAX_LINKED_BYTES:
        return {}
    found: dict[tuple[int, int], str] = {}
    for tag in _LINK.findall(parts.read(part))[:_MAX_LINKS]:
        cell, identifier = _LINKED_CELL.search(tag), _LINK_ID.search(tag)
        url = targets.get(identifier[1].decode("utf-8", "replace"), "") if identifier else ""
        if cell and url:
            found[int(cell[2]) - 1, column_number(cell[1]) - 1] = url
    return found


def column_number(name: bytes) -> int:
    """Return the number of a column, from 1 for A."""
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number


_MAX_COMMENTS = 500
_MAX_COMMENT_CHARS = 2_000
_MAX_NAME_CHARS = 100

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
    roots = (parts.xml_or_none(part) for part in find_related_parts(parts, "xl/workbook.xml", "person"))
    people = (person for root in roots if root is not None for person in root.iter(THREADED + "person"))
    return {str(person.get("id")): str(person.get("displayName", "")) for person in people}


def _format_threads(parts: ZipParts, part: str, names: dict[str, str]) -> Iterator[str]:
    """Yield each thread as a list item, and its replies as items of a nested list."""
    root = parts.xml_or_none(part)
    comments = [] if root is None else list(root.iter(THREADED + "threadedComment"))
    threads: dict[str, list[str]] = {str(one.get("id")): [] for one in comments if one.get("parentId") is None}
    for comment in comments:
        author = clean_line(names.get(str(comment.get("personId")), ""), _MAX_NAME_CHARS)
        resolved = "resolved" if comment.get("done") in ("1", "true") else ""
        facts = ", ".join(filter(None, (author, clean_line(str(comment.get("dT", ""))[:10], 10), resolved)))
        text = clean_line(comment.findtext(THREADED + "text", ""), _MAX_COMMENT_CHARS)
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
    authors = [text_of(author) for author in root.iter(S + "author")]
    for comment in root.iter(S + "comment"):
        number = str(comment.get("authorId", ""))
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        if is_copy := author.startswith(_COPY_AUTHOR):
            author = ""
        if is_copy and skip_copies:
            continue
        element = comment.find(S + "text")
        text = "" if element is None else text_of(element)
        if text.startswith("[Threaded comment]"):  # Excel's hint for older editions.
            text = text.partition("Comment:\n")[2]
        text = clean_line(text, _MAX_COMMENT_CHARS)
        name = f" ({clean_line(author, _MAX_NAME_CHARS)})" if author else ""
        if text:
            yield f"- {comment.get('ref', '')}{name}: {text}"
