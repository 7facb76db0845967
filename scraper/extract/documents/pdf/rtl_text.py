"""Arabic and Hebrew pages: letters from the second reader, which keeps their order, places from the first.

PDFium turns right-to-left text about letter by letter, so that a ligature (lam-alef) comes out the wrong way
round and Latin words among the Arabic ones change places.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from scraper.extract.documents.pdf.layout_model import LayoutPage, LayoutRow, TextRun
from scraper.extract.documents.pdf.rows import is_right_to_left, rows_of

_CELL_GAP = 1.5
"""Of the letters' size: words of justified Arabic stand up to one of them apart."""
_LETTERS = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W_]+")


def right_to_left_pages(pages: Sequence[LayoutPage]) -> list[int]:
    """Pages most of whose letters are read from right to left."""
    return [page.number for page in pages if is_right_to_left(" ".join(run.text for run in page.runs))]


def with_letters(pages: Sequence[LayoutPage], lines: Mapping[int, Sequence[str]]) -> list[LayoutPage]:
    """The pages with the letters of other lines, where they are the same letters in another order."""
    return [_mended(page, lines[page.number]) if page.number in lines else page for page in pages]


def _mended(page: LayoutPage, lines: Sequence[str]) -> LayoutPage:
    by_letters = {_key(line): " ".join(line.split()) for line in lines if line.strip()}
    words = _words(lines)
    runs: list[TextRun] = []
    for row in rows_of(page.runs):
        whole = by_letters.get(_key("".join(run.text for run in row.runs)))
        if whole is None or not is_right_to_left(whole) or _has_cells(row):
            runs += [
                run._replace(text=_WORD.sub(lambda word: _mend(word[0], words), run.text)) for run in row.runs
            ]
            continue
        longest = max(row.runs, key=lambda run: len(run.text))
        runs.append(longest._replace(text=whole, x0=row.x0, x1=row.x1, y0=row.y0, y1=row.y1))
    return replace(page, runs=tuple(runs))


def _has_cells(row: LayoutRow) -> bool:
    """Whether its letters stand so far apart that they may be cells of a table."""
    return any(after.x0 - before.x1 > _CELL_GAP * row.size for before, after in pairwise(row.runs))


def _words(lines: Sequence[str]) -> dict[str, str]:
    """By its sorted letters each right-to-left word that is the only one of these letters."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        for word in _WORD.findall(line):
            if is_right_to_left(word):
                found[_key(word)][word] += 1
    return {key: words.most_common(1)[0][0] for key, words in found.items() if len(words) == 1}


def _mend(word: str, words: Mapping[str, str]) -> str:
    return word if word.isascii() else words.get(_key(word), word)


def _key(text: str) -> str:
    return "".join(sorted(_LETTERS.findall(text)))
