"""Group runs into rows and convert rows to text: spaces, hyphens, text direction, list marks."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TypeVar

from scraper.documents.pdf.layout_model import LayoutRow, TextRun
from scraper.text.terms import LETTERS

T = TypeVar("T")

_BULLETS = (
    "\u2022\u25cf\u25cb\u25aa\u25ab\u25a0\u25a1\u25e6\u2023\u2043"
    "\u2219\u27a2\u2794\u2713\u2714\uf0b7\uf0a7\uf0d8\uf076\uf02d\u00b7"
)
_BULLET = re.compile(rf"\s*(?:[{_BULLETS}]+\s*|[*\u2013\u2014-]\s+)(?=\S)")
NUMBER = re.compile(r"\s*(\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])\s+(?=\S)")
_LABEL = re.compile(
    rf"\s*(?:[{_BULLETS}*\u2013\u2014-]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivxIVX]{{1,5}})[.)]?|\[\d{{1,3}}\])\s*"
)


def is_label(text: str) -> bool:
    """Return True if a text is only the mark of a list item."""
    return _LABEL.fullmatch(text) is not None


def split_mark(text: str) -> tuple[str | None, str]:
    """Return the mark of a list item and the text after it; an empty mark is a bullet, None means no item."""
    bullet = _BULLET.match(text)
    if bullet:
        return "", text[bullet.end() :]
    number = NUMBER.match(text)
    return (number[1], text[number.end() :]) if number else (None, text)


_SAME_ROW = 0.45
"""Ratio to the line height. Runs whose centers are closer are on one line."""
SPACE = 0.12
"""Multiple of the font size. A wider gap between runs is a space: spaces are .2 to .33 of it, kerning is less."""
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WITHOUT_SPACE = re.compile(f"[{_IDEOGRAPHS}\u3000-\u303f\uff00-\uffef]")
_HARD_HYPHENS = ("-", "\u2010")
_HYPHENS = (*_HARD_HYPHENS, "\u00ad")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def group_adjacent(items: Iterable[T], is_same_group: Callable[[list[T], T], bool]) -> list[list[T]]:
    """Split items into groups; an item joins the group before it if `is_same_group(group, item)`."""
    groups: list[list[T]] = []
    for item in items:
        if groups and is_same_group(groups[-1], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def group_rows(runs: Iterable[TextRun]) -> list[LayoutRow]:
    """Group runs into rows from top to bottom, each from left to right."""
    groups: list[list[TextRun]] = []
    first_middle = first_height = 0.0
    for middle, _, _, run in sorted((run.middle, run.x0, order, run) for order, run in enumerate(runs)):
        height = run.y1 - run.y0
        if groups and middle - first_middle < _SAME_ROW * max(4.0, min(first_height, height)):
            groups[-1].append(run)
        else:
            groups.append([run])
            first_middle, first_height = middle, height
    return [LayoutRow(tuple(sorted(group, key=lambda run: run.x0) if len(group) > 1 else group)) for group in groups]


def text_of_row(row: LayoutRow) -> str:
    """Return the text of a row, with spaces at gaps."""
    return text_of_runs(row.runs)


def text_of_runs(runs: Sequence[TextRun]) -> str:
    """Return the text of runs of one line; mostly right-to-left text is joined from the right."""
    if len(runs) == 1:
        return " ".join(runs[0].text.split())
    from_right = is_right_to_left("".join(run.text for run in runs))
    pieces: list[str] = []
    edge = 0.0
    for run in _order_right_to_left(runs) if from_right else runs:
        gap = max(edge - run.x1, run.x0 - edge) if from_right else run.x0 - edge
        if pieces and gap > SPACE * run.size and not pieces[-1].endswith(" "):
            pieces.append(" ")
        pieces.append(run.text)
        edge = run.x0 if from_right else run.x1
    return " ".join("".join(pieces).split())


def is_right_to_left(text: str) -> bool:
    """Return True if most letters are of a right-to-left script such as Arabic or Hebrew."""
    if text.isascii() or not _RIGHT_TO_LEFT.search(text):
        return False
    return len(_RIGHT_TO_LEFT.findall(text)) * 2 > sum(map(len, LETTERS.findall(text)))


def _order_right_to_left(runs: Sequence[TextRun]) -> Iterator[TextRun]:
    """Yield runs from right to left; a Latin word and the words and numbers after it keep their direction.

    Rules W7 and N1 of Unicode Standard Annex 9: numbers beside each other without a Latin word go from right to left.
    """

    def is_latin(run: TextRun) -> bool:
        return not _RIGHT_TO_LEFT.search(run.text) and any(map(str.isalnum, run.text))

    for is_left_to_right, group in groupby(sorted(runs, key=lambda run: -run.x1), key=is_latin):
        stretch = list(group)
        parts = group_adjacent(reversed(stretch), lambda part, _: LETTERS.search(part[0].text) is not None)
        yield from chain.from_iterable(reversed(parts)) if is_left_to_right else stretch


def join_lines(lines: Iterable[str], vocabulary: frozenset[str] = frozenset()) -> str:
    """Join the lines of a paragraph; remove hyphens at line ends within words.

    `vocabulary` contains the words of the document, in lower case. A word that it contains only with a hyphen keeps it.
    """
    text = ""
    for line in lines:
        if not text:
            text = line
        elif text.endswith(_HYPHENS) and len(text) > 1 and text[-2].isalpha() and line[:1].islower():
            text = _join_word(text, line, vocabulary)
        elif text.endswith(_HARD_HYPHENS) and text[-2:-1].isalnum() and (line[:1].isupper() or line[:1].isdigit()):
            text += line  # Words with a capital or a digit are never divided before it.
        elif _WITHOUT_SPACE.match(text[-1]) and _WITHOUT_SPACE.match(line):
            text += line
        else:
            text = f"{text} {line}" if line else text
    return text


def join_cell_lines(lines: Iterable[str]) -> str:
    """Join the lines of a cell; list items in it get lines of their own, without bullets."""
    items: list[list[str]] = [[]]
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet and line.lstrip()[0] in "\u2022\u25cf\u25aa\u25a0\uf0b7\uf0a7":
            items.append([line[bullet.end() :]])
        elif items[-1] and completes_number(items[-1][-1], line):
            items[-1][-1] += line
        elif not is_label(line) or line.strip("\u2022\uf0b7\u25cf\u25aa "):
            items[-1].append(line)
    return "\n".join(filter(None, map(join_lines, items)))


_NUMBER_PART = re.compile(r"\d{1,3}|%")
_WHOLE_NUMBER = re.compile(r"\d{1,3}(?:(?:,\d{3}){2,}|(?:\.\d{3}){2,})|\d{1,2}([./-])\d{1,2}\1\d{4}|\d+(?:[.,]\d+)?%")


def completes_number(above: str, below: str) -> bool:
    """Return True if a line is the end of the number or date above it, for which a cell was too narrow."""
    if not _NUMBER_PART.fullmatch(below):
        return False
    start = above.rpartition(" ")[2].lstrip("($\u20ac\u00a3+-\u2013\u2212")
    return _WHOLE_NUMBER.fullmatch(start + below) is not None and not _WHOLE_NUMBER.fullmatch(start)


_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]++[-\u2010\u00ad]$")


def _join_word(text: str, line: str, vocabulary: frozenset[str]) -> str:
    first, second = _LAST_WORD.search(text), LETTERS.match(line)
    if first and second:
        head, tail = unicodedata.normalize("NFC", first[0][:-1]).lower(), second[0].lower()
        if f"{head}-{tail}" in vocabulary and head + tail not in vocabulary:
            return text[:-1] + "-" + line
    return text[:-1] + line
