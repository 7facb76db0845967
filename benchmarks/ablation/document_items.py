"""Items of documents: PDF files and office files with their gold, read in this process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

from benchmarks.ablation.items import Answer, Item, digest
from benchmarks.common.corpora import corpus_folder
from benchmarks.documents import corpus as sets
from benchmarks.documents.completeness import count_letters, countable_files
from benchmarks.documents.left_out import gold_tasks, read_pdf
from benchmarks.documents.score import scores
from scraper.documents.completeness import count_written_letters
from scraper.documents.dispatcher import dispatch
from scraper.documents.model import ParseRequest
from scraper.documents.pdf import liteparse_loader

_OFFICE = ("docx", "xlsx", "pptx", "odf", "csv", "epub")
_loaded = cache(liteparse_loader.load)
"""Items of the PDF files: the same for all rules, and half of the time."""


def document_items(corpora: Path) -> Iterator[Item]:
    """Yield the PDF files and the office files with gold, and the letters of sound files."""
    folder = corpus_folder(corpora, "documents")
    for task in gold_tasks(folder):

        def read_task(task=task) -> Answer:  # type: ignore[no-untyped-def]
            with mock.patch.object(liteparse_loader, "load", _loaded):
                text = read_pdf(task.file.read_bytes(), task.file.name)
            found = {name: (sum(values), float(len(values))) for name, values in task.score(text).items()}
            return Answer(found, digest(text))

        yield Item("documents", f"{task.set_name}/{task.file.name}", task.file.stem, read_task)
    for kind in _OFFICE:
        for pair in sets.with_gold(folder / "office-docling" / kind, kind):

            def read_pair(kind: str = kind, pair: sets.Gold = pair) -> Answer:
                text = _read(pair.file)
                found = scores(pair.gold.read_text("utf-8"), text)
                measures = {name: getattr(found, name) for name in ("words", "order", "tables", "headings")}
                counts = {f"{kind}.{name}": (value, 1.0) for name, value in measures.items() if value is not None}
                return Answer(counts, digest(text))

            yield Item("documents", f"{kind}/{pair.file.name}", pair.file.stem, read_pair)
    # Odd files may end the process that reads them.
    files = sorted({*countable_files(folder)} - {*sets.hostile(folder)})
    for file, letters in count_letters(files).items():

        def read_letters(file: Path = file, letters=letters) -> Answer:  # type: ignore[no-untyped-def]
            text = _read(file)
            lost = (letters - count_written_letters(text)).total()
            return Answer({"complete.letters": (float(letters.total() - lost), float(letters.total()))}, digest(text))

        if letters:
            yield Item("documents", f"letters/{file.name}", file.stem, read_letters)


def _read(file: Path) -> str:
    with mock.patch.object(liteparse_loader, "load", _loaded):
        try:
            return dispatch(file.read_bytes(), ParseRequest(name=file.name)).markdown
        except Exception:  # a file that cannot be read has no text
            return ""
