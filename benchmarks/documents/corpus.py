"""The corpus of documents: files with their gold, and hostile files without gold."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SMALL_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Gold:
    """A file and its gold text."""

    file: Path
    gold: Path


def with_gold(folder: Path, kind: str = "pdf") -> list[Gold]:
    """Return the files with a `NAME.KIND.md` beside them, or in `gold/` beside `pdf/`."""
    found = []
    for gold in sorted(folder.rglob("*.md")):
        candidates = (gold.with_suffix(""), gold.parent.parent / kind / gold.stem, gold.with_suffix(f".{kind}"))
        folder_of_kind = gold.parent.parent / kind / f"{gold.stem}.{kind}"
        file = next((candidate for candidate in (*candidates, folder_of_kind) if candidate.is_file()), None)
        if file is not None:
            found.append(Gold(file, gold))
    return found


def icdar(folder: Path) -> list[Gold]:
    """Return the files of the ICDAR 2013 table competition."""
    pairs = (
        Gold(gold.with_name(gold.name.replace("-str.xml", ".pdf")), gold) for gold in sorted(folder.rglob("*-str.xml"))
    )
    return [pair for pair in pairs if pair.file.is_file()]


def facts_in(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return single facts, each with its file."""
    tests = folder / "tests.jsonl"
    lines = tests.read_text("utf-8").splitlines() if tests.is_file() else []
    found = []
    for fact in (json.loads(line) for line in lines if line.strip()):
        names = (fact["pdf"], Path(fact["pdf"]).name, fact["pdf"].replace("/", "__"))
        file = next((folder / name for name in names if (folder / name).is_file()), None)
        if file is not None:
            found.append((file, fact))
    return found


def long_pdf(corpus: Path) -> Path | None:
    """Return the path of the book of 117 pages."""
    return next(iter(sorted((corpus / "pdf-long").glob("*.pdf"))), None)


def hostile(corpus: Path) -> list[Path]:
    """Return hostile files, and unusual real ones."""
    folders = ("hostile", "pdf-odd-pdfjs", "office-mammoth", "office-markitdown", "office-kreuzberg")
    return sorted(
        file for folder in folders for file in (corpus / folder).rglob("*") if file.is_file() and file.suffix != ".md"
    )


def mutants(files: list[Path], count: int, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield damaged copies of files: bits flipped, parts deleted, duplicated or zeroed, numbers changed."""
    source = random.Random(seed)
    small = [file for file in files if file.stat().st_size < _SMALL_BYTES]
    for number in range(count if small else 0):
        file = source.choice(small)
        yield f"{number}-{file.name}", _damage(bytearray(file.read_bytes()), source)


def _damage(data: bytearray, source: random.Random) -> bytes:
    at = source.randrange(max(1, len(data)))
    damage = source.choice(("bits", "bits", "lost", "doubled", "zeroed", "number"))
    if damage == "bits":
        for _ in range(source.choice((1, 8, 64))):
            data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    elif damage == "lost":
        del data[at : at + source.randint(1, max(2, len(data) // 3))]
    elif damage == "doubled":
        data[at:at] = data[at : at + source.randint(1, 5_000)]
    elif damage == "zeroed":
        end = min(len(data), at + source.randint(1, 500))
        data[at:end] = bytes(end - at)
    else:
        numbers = list(re.finditer(rb"\d+", data))
        for match in reversed(source.sample(numbers, min(5, len(numbers)))):
            data[match.start() : match.end()] = source.choice((b"0", b"-1", b"65536", b"2147483647", b"9" * 11))
    return bytes(data)
