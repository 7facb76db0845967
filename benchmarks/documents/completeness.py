"""Count the letters of every document independently, and compare them with those of the answers."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures, print_table
from benchmarks.documents import letters
from scraper.documents.completeness import count_written_letters

_EMPTY_CODES = ("empty", "ocr_needed")
_REFUSALS = ("encrypted", "too_large")
_MAX_LOST_SHARE = 0.1
_SHARE = re.compile(r"\((\d+\.\d) % of the letters\)")
_LIMITS = ("Only the first", "Repeated headers and footers", "Pages that could not be read")
_PAGE_LETTERS = 40
"""Letters, twice those of a page that counts as a picture."""
_AT_ONCE = 2
_LIMIT_S = 1_800


@dataclass(frozen=True, slots=True)
class Answer:
    """Markdown of a file, or the code of its error."""

    markdown: str
    code: str
    warnings: tuple[str, ...] = ()
    has_ocr_pages: bool = False
    """The answer names pages that need OCR."""


async def measure_completeness(read: Callable[[Path], Awaitable[Answer]], files: list[Path]) -> Figures:
    """Count wrong empty answers and losses without a report, over all PDF and office files."""
    expected = await asyncio.to_thread(count_letters, files)
    semaphore = asyncio.Semaphore(_AT_ONCE)

    async def answer(file: Path) -> Answer:
        async with semaphore:
            return await read(file)

    counted = [file for file in files if expected.get(file)]
    answers = dict(zip(counted, await asyncio.gather(*map(answer, counted)), strict=True))
    empty, silent, unread = [], [], []
    total = found = 0
    for file, given in answers.items():
        if given.code and given.code not in _EMPTY_CODES:
            unread += [f"{file.name} ({given.code})"] if given.code not in _REFUSALS else []
            continue  # A typed error says that the file cannot be read.
        if not given.markdown:
            empty.append(file.name)
            continue
        lost = expected[file] - count_written_letters(given.markdown)
        total, found = total + expected[file].total(), found + expected[file].total() - lost.total()
        if lost.total() > _MAX_LOST_SHARE * expected[file].total() and not _reports_loss(given, expected[file], lost):
            silent.append(file.name)
    rows = [
        ("wrong and empty", len(empty), ", ".join(empty[:20])),
        ("silent loss", len(silent), ", ".join(silent[:20])),
        ("unread", len(unread), ", ".join(unread[:20])),
    ]
    print_table(f"Completeness of {len(counted)} files", ("fault", "files", "names"), rows)
    return {
        "complete.wrong_empty": len(empty), "complete.silent_loss": len(silent),
        "complete.letters": found / total if total else 0.0, "complete.files": len(counted),
        "complete.unread": len(unread),
    }  # fmt: skip


def _reports_loss(answer: Answer, expected: Counter[str], lost: Counter[str]) -> bool:
    """Return True if the warnings state at least half of the lost letters, or pages of pictures hold nearly all.

    Warnings about repeated margins, limits of rows and pages state no share: they count as they are.
    """
    if answer.has_ocr_pages and lost.total() < _PAGE_LETTERS:
        return True
    stated = sum(float(share) for warning in answer.warnings for share in _SHARE.findall(warning)) / 100
    limited = any(warning.startswith(_LIMITS) for warning in answer.warnings)
    return limited or stated >= lost.total() / expected.total() / 2


def countable_files(corpus: Path) -> list[Path]:
    """Return the files whose letters can be counted independently."""
    return sorted(file for file in corpus.rglob("*") if file.suffix.lower() in letters.SUFFIXES and file.is_file())


def count_letters(files: list[Path]) -> dict[Path, Counter[str]]:
    """Return the letters of each file, counted in a limited process each."""
    command = [sys.executable, "-m", "benchmarks.documents.letters"]
    done = subprocess.run(
        command, input="\n".join(map(str, files)), capture_output=True, text=True, timeout=_LIMIT_S, check=True
    )
    answers = map(json.loads, done.stdout.splitlines())
    return {Path(answer["path"]): Counter(answer["letters"]) for answer in answers}
