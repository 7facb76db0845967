"""Produce documents of random layout with six programs, and score how they are read.

Chromium, Typst, reportlab, LaTeX and LibreOffice write PDF files; the others are Word files.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import secrets
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.common.command_line import Figures, print_table
from benchmarks.documents.corpus import Gold
from benchmarks.documents.random_documents.content import PRODUCERS, random_documents
from benchmarks.documents.random_documents.latex import write_latex
from benchmarks.documents.random_documents.markup import write_html, write_typst
from benchmarks.documents.random_documents.model import Document
from benchmarks.documents.random_documents.word import write_docx
from benchmarks.documents.score import Scores, scores
from benchmarks.peers.launch import peer_python
from benchmarks.peers.runners import document_writers
from browsers.chromium import locate
from browsers.model import Tier

_WRITERS = "document_writers"
_LIMIT_S = 600
_PRINT_LIMIT_S = 60
_MEASURES = ("order", "tables", "headings")


async def measure_random_documents(
    read: Callable[[bytes, str], Awaitable[str]], *, count: int, seed: int | None = None
) -> Figures:
    """Return the mean scores, in total and by producer.

    Args:
        read: Returns the Markdown of a file, given its bytes and its name.
        count: Number of documents.
        seed: Seed of an earlier run; by default a fresh one, so that no rule is made for known documents.
    """
    seed = secrets.randbits(48) if seed is None else seed
    found: dict[str, list[Scores]] = {producer: [] for producer in PRODUCERS}
    with tempfile.TemporaryDirectory() as folder:
        for document, file in await asyncio.to_thread(produce, random_documents(seed, count), Path(folder)):
            found[document.producer].append(scores(document.gold(), await read(file.read_bytes(), file.name)))
    every = [one for ones in found.values() for one in ones]
    rows = [(name, *_means(ones)) for name, ones in (("all", every), *found.items()) if ones]
    print_table(f"Random documents: {len(every)}, seed {seed}", ("producer", *_MEASURES), rows)
    return {
        f"random.{name}{measure}": value
        for name, ones in (("", every), *((f"{producer}.", ones) for producer, ones in found.items()))
        for measure, value in zip(_MEASURES, _means(ones), strict=True)
        if value is not None
    }


def write_with_gold(count: int, folder: Path) -> list[Gold]:
    """Write fresh PDF files with their gold text beside them."""
    produced = []
    for document, file in produce(random_documents(secrets.randbits(48), count), folder):
        if file.suffix == ".pdf":
            gold = file.with_suffix(".md")
            gold.write_text(document.gold(), encoding="utf-8")
            produced.append(Gold(file, gold))
    return produced


def _means(found: Sequence[Scores]) -> list[float | None]:
    columns = ([value for one in found if (value := getattr(one, measure)) is not None] for measure in _MEASURES)
    return [statistics.mean(column) if column else None for column in columns]


def produce(documents: Iterator[Document], folder: Path) -> list[tuple[Document, Path]]:
    """Write the files of documents; leave out those whose program is not installed."""
    every = list(documents)
    files = {document.name: folder / f"{document.name}.pdf" for document in every}
    for document in every:
        if document.producer == "word":
            files[document.name] = folder / f"{document.name}.docx"
            files[document.name].write_bytes(write_docx(document))
    _write_in_environment([one for one in every if one.producer in ("typst", "reportlab")], folder)
    _print_with_chromium([one for one in every if one.producer == "chromium"], folder)
    _write_with_latex([one for one in every if one.producer == "latex"], folder)
    _convert_with_libreoffice([one for one in every if one.producer == "libreoffice"], folder)
    return [(document, files[document.name]) for document in every if files[document.name].is_file()]


def _write_in_environment(documents: Sequence[Document], folder: Path) -> None:
    python = peer_python(_WRITERS)
    if not python.exists():
        print("Documents of Typst and reportlab are left out: run `python -m benchmarks.setup_peers`.")
        return
    jobs = [
        {"name": one.name, "typst": write_typst(one), "tagged": _is_tagged(one)}
        if one.producer == "typst"
        else {"name": one.name, "document": dataclasses.asdict(one)}
        for one in documents
    ]
    command = [str(python), document_writers.__file__, str(folder)]
    subprocess.run(command, input=json.dumps(jobs), text=True, check=True, timeout=_LIMIT_S)


def _print_with_chromium(documents: Sequence[Document], folder: Path) -> None:
    chromium = locate.find_chromium(Tier.LIGHT, None) or locate.find_chromium(Tier.FULL, None)
    if chromium is None:
        print("Documents of Chromium are left out: run `search-mcp install-browser`.")
        return

    def print_page(document: Document) -> None:
        page, profile = folder / f"{document.name}.html", folder / f"{document.name}.profile"
        page.write_text(write_html(document), encoding="utf-8")
        options = ["--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--no-pdf-header-footer"]
        options += [] if _is_tagged(document) else ["--disable-pdf-tagging"]
        output = f"--print-to-pdf={folder / document.name}.pdf"
        command = [str(chromium.executable), *options, output, page.as_uri()]
        subprocess.run(command, capture_output=True, check=True, timeout=_PRINT_LIMIT_S)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(print_page, documents))


def _write_with_latex(documents: Sequence[Document], folder: Path) -> None:
    if shutil.which("pdflatex") is None:
        print("Documents of LaTeX are left out: apt install texlive-latex-recommended texlive-fonts-recommended.")
        return

    def write(document: Document) -> None:
        source = folder / f"{document.name}.tex"
        source.write_text(write_latex(document), encoding="utf-8")
        command = ["pdflatex", "-interaction=batchmode", f"-output-directory={folder}", str(source)]
        subprocess.run(command, capture_output=True, timeout=_PRINT_LIMIT_S)  # Warnings count as failures.

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, documents))


def _convert_with_libreoffice(documents: Sequence[Document], folder: Path) -> None:
    if shutil.which("soffice") is None:
        print("Documents of LibreOffice are left out: apt install libreoffice-writer-nogui.")
        return
    sources = [folder / f"{document.name}.docx" for document in documents]
    for document, source in zip(documents, sources, strict=True):
        source.write_bytes(write_docx(document))
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder), *map(str, sources)]
    subprocess.run(command, capture_output=True, check=True, timeout=_LIMIT_S)


def _is_tagged(document: Document) -> bool:
    """Return True for every fourth document: its tags tell a reader the order, headings and tables."""
    return int(document.name.split("-")[0]) // len(PRODUCERS) % 4 == 0
