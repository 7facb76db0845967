"""Count the letters of documents without the product's readers: PDFium's text, and the XML of office files.

Reads paths from standard input. Each file gets a forked process with limits: some corpus files would take 11 GB.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

from pypdf import PdfReader

from scraper.documents.completeness import count_letters
from scraper.documents.pdf import liteparse_loader, pdfium_text

SUFFIXES = (".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".odp")
_MAX_PAGES = 1_000
_MEMORY_BYTES, _CPU_S, _WALL_S = 2 << 30, 20, 60
_TEXT_PARTS = {
    ".docx": ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml", "word/comments.xml", "word/charts/chart"),
    ".pptx": ("ppt/slides/slide", "ppt/notesSlides/", "ppt/comments/", "ppt/charts/chart"),
    ".xlsx": (
        "xl/sharedStrings.xml", "xl/worksheets/sheet", "xl/drawings/drawing", "xl/comments", "xl/charts/chart",
    ),
    ".odt": ("content.xml",),
    ".odp": ("content.xml",),
}  # fmt: skip
_TEXT_TAGS = ("t", "text")
_HIDDEN_TAGS = (
    "Fallback",
    "delText",
    "instrText",
    "phoneticPr",
    "rPh",
    "tracked-changes",
    "fld",
    "index-title-template",
)
"""Second copies of a text, deleted text, and page numbers."""
_HINT = "[Threaded comment]"
"""Start of Excel's hint to older editions, before the text of a comment."""
_MAX_PART_BYTES = 50_000_000


def _letters_of_pdf(data: bytes) -> Counter[str]:
    liteparse_loader.warm_up()
    texts, _ = pdfium_text.read_document(data, range(1, _MAX_PAGES + 1), None)
    counted = count_letters("\n".join(text.text for text in texts.values()))
    has_letters = counted or any(text.hidden_text for text in texts.values())  # Hidden ones must stay out.
    return counted if has_letters else _count_by_pypdf(data)


def _count_by_pypdf(data: bytes) -> Counter[str]:
    """Count letters by the second reader, for a file in which PDFium finds none."""
    try:
        pages = PdfReader(BytesIO(data)).pages
        return count_letters("\n".join(page.extract_text() for page in islice(pages, _MAX_PAGES)))
    except Exception:  # Damaged files raise anything.
        return Counter()


def _letters_of_office(file: Path) -> Counter[str]:
    letters: Counter[str] = Counter()
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            is_text = entry.filename.startswith(_TEXT_PARTS[file.suffix.lower()]) and entry.filename.endswith(".xml")
            if is_text and entry.file_size < _MAX_PART_BYTES:
                root = ElementTree.fromstring(archive.read(entry))
                letters += count_letters(" ".join(_texts(root, every=entry.filename == "content.xml")))
    return letters


def _texts(element: ElementTree.Element, *, every: bool) -> Iterator[str]:
    name = element.tag.rpartition("}")[2]
    if name in _HIDDEN_TAGS:
        return
    if (every or name in _TEXT_TAGS) and element.text:
        yield element.text.partition("Comment:\n")[2] if element.text.startswith(_HINT) else element.text
    for child in element:
        yield from _texts(child, every=every)
        if every and child.tail:
            yield child.tail


def _count_in_child(path: str, output: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(_WALL_S)
    file = Path(path)
    letters = _letters_of_pdf(file.read_bytes()) if file.suffix.lower() == ".pdf" else _letters_of_office(file)
    os.write(output, (json.dumps({"path": path, "letters": letters}) + "\n").encode())


def main() -> None:
    """Print one JSON line for each file that can be counted."""
    for path in sys.stdin.read().splitlines():
        process = os.fork()
        if not process:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
                _count_in_child(path, sys.stdout.fileno())
            finally:
                os._exit(0)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main()
