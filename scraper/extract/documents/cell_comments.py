"""What people noted at the cells of a workbook."""

from __future__ import annotations

from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.workbook_parts import related, sheet_parts
from scraper.extract.dom.xpath import text_of
from scraper.extract.text.sanitize import clean_line

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_MOST = 500
_LONGEST = 2_000


def comments_of(parts: Parts) -> dict[str, list[str]]:
    """The comments by the name of their sheet, as one list each."""
    found: dict[str, list[str]] = {}
    for name, part in sheet_parts(parts):
        lines = [said for place in related(parts, part, "comments") for said in _comments(parts, place)]
        if lines:
            found[name] = ["\n".join(["Comments:", "", *lines[:_MOST]])]
    return found


def _comments(parts: Parts, part: str) -> list[str]:
    root = parts.xml_if_there(part)
    if root is None:
        return []
    authors = [text_of(author) for author in root.iter(_S + "author")]
    lines = []
    for comment in root.iter(_S + "comment"):
        text = comment.find(_S + "text")
        number = str(comment.get("authorId", ""))
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        by = "" if author.startswith("tc=") else f" ({clean_line(author, 100)})" if author else ""
        said = "" if text is None else clean_line(_bare(text_of(text)), _LONGEST)
        if said:
            lines.append(f"- {comment.get('ref', '')}{by}: {said}")
    return lines


def _bare(text: str) -> str:
    """A comment of a thread without what Excel says to its older editions."""
    return text.partition("Comment:\n")[2] if text.startswith("[Threaded comment]") else text
