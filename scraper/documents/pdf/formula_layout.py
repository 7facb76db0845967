"""Write formulas of PDF pages as LaTeX: powers, indexes, fractions and limits, by the positions of their runs.

PDFium's reader does this for the fonts of TeX only. These rules cover the fonts of web pages, Word and publishers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scraper.documents.pdf.layout_model import RulingLine, TextRun
from scraper.html.math.symbols import FUNCTIONS, SYMBOLS
from scraper.html.math.tex_delimiters import join_tex
from scraper.text.terms import LETTERS

_SMALL = 0.86
"""Ratio to the font size of the base: maximum size of powers and indexes."""
_RISE, _FALL = 0.2, 0.0
"""Multiples of the base's font size: minimum height of a power's foot above that of the base; maximum for an index."""
_NEAR, _APART = 0.35, 1.0
"""Multiples of the font size: maximum gap before a power or index, and between the parts of one formula."""
_SAME_FOOT = 0.45
_OPERATORS = frozenset("∫∬∭∮∑∏∐⋃⋂⨁⨂⋁⋀")
_MAX_BAR, _BAR_EXCESS = 400.0, 4.0
"""Points: maximum length of the bar of a fraction, and by how much it exceeds the wider part."""
_BAR_DISTANCE = 1.3
"""Multiple of the font size: maximum distance between a bar and the middle of the text above or below it."""
_MAX_RUNS, _MAX_BARS = 400, 300
"""On one page; a page with more bars is a drawing."""
_WORDS = re.compile(r"[A-Za-z]+|[^\sA-Za-z]")


@dataclass(slots=True, eq=False)
class _Part:
    """A part of a formula: its box without powers and indexes, its LaTeX, and the runs in it."""

    box: TextRun
    tex: str
    runs: tuple[TextRun, ...]
    over: "list[_Part]" = field(default_factory=list)
    under: "list[_Part]" = field(default_factory=list)

    @property
    def has_structure(self) -> bool:
        """Return True if its LaTeX differs from a sequence of symbols."""
        return bool(self.over or self.under) or len(self.runs) > 1

    def written(self) -> str:
        under, over = _join(self.under), _join(self.over)
        return self.tex + (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")

    def all_runs(self) -> Iterator[TextRun]:
        yield from self.runs
        for part in (*self.over, *self.under):
            yield from part.all_runs()


def write_formulas(runs: Sequence[TextRun], across: Sequence[RulingLine]) -> tuple[TextRun, ...]:
    """Return the runs of a page, each formula as one run in LaTeX."""
    formulas = [run for run in runs if run.is_math]
    replacements: dict[TextRun, TextRun | None] = {}
    if 1 < len(formulas) <= _MAX_RUNS and 2 * _count_letters(formulas) < _count_letters(runs):
        for row in _build_rows(formulas, across):
            inside = [run for part in row for run in part.all_runs()]
            words = {word for run in inside for word in LETTERS.findall(run.text) if len(word) > 3} - FUNCTIONS
            if not words and any(part.has_structure for part in row):
                box = row[0].box
                x0, x1 = min(run.x0 for run in inside), max(run.x1 for run in inside)
                replacements |= dict.fromkeys(inside)
                replacements[inside[0]] = box._replace(text=f"${_join(row)}$", x0=x0, x1=x1, words=())
    if not replacements:
        return tuple(runs)
    return tuple(written for run in runs if (written := replacements.get(run, run)) is not None)


def _count_letters(runs: Iterable[TextRun]) -> int:
    return sum(len(run.text) for run in runs)


def _build_rows(runs: Sequence[TextRun], across: Sequence[RulingLine]) -> list[list[_Part]]:
    """Return the formulas: fractions first, then powers and indexes, then the parts that follow each other."""
    parts = [_Part(run, _symbols(run.text), (run,)) for run in sorted(runs, key=lambda run: run.x0)]
    left, right = min(run.x0 for run in runs) - 2, max(run.x1 for run in runs) + 2
    bars = [bar for bar in across if bar.end - bar.start <= _MAX_BAR and left <= bar.start and bar.end <= right]
    for bar in sorted(bars, key=lambda bar: bar.end - bar.start) if len(bars) <= _MAX_BARS else ():
        parts = _build_fraction(parts, bar)
    rows: list[list[_Part]] = []
    for part in _attach_scripts(parts):
        row = next((row for row in rows if _follows(row, part)), None)
        if row is None:
            rows.append([part])
        else:
            row.append(part)
    return rows


def _build_fraction(parts: list[_Part], bar: RulingLine) -> list[_Part]:
    inside = [part for part in parts if _is_at_bar(part.box, bar)]
    sides = [part for part in inside if part.box.middle < bar.at], [part for part in inside if part.box.middle > bar.at]
    if not all(sides):
        return parts
    widths = (max(part.box.x1 for part in side) - min(part.box.x0 for part in side) for side in sides)
    if bar.end - bar.start > max(widths) + _BAR_EXCESS:
        return parts
    size = max(part.box.size for part in inside)
    box = inside[0].box._replace(
        text="", x0=bar.start, x1=bar.end, y0=bar.at - 0.6 * size, y1=bar.at + 0.5 * size, size=size
    )
    runs = tuple(run for part in inside for run in part.all_runs())
    tex = "\\frac" + "".join(f"{{{_join(_attach_scripts(side))}}}" for side in sides)
    return sorted(
        [*(part for part in parts if part not in inside), _Part(box, tex, runs)], key=lambda part: part.box.x0
    )


def _is_at_bar(box: TextRun, bar: RulingLine) -> bool:
    is_inside = box.x0 >= bar.start - 2 and box.x1 <= bar.end + 2
    return is_inside and abs(box.middle - bar.at) <= _BAR_DISTANCE * box.size


def _attach_scripts(parts: list[_Part]) -> list[_Part]:
    """Return the parts, ordered from left to right, without those that are powers, indexes or limits of others."""
    remaining = list(parts)
    for part in sorted(parts, key=lambda part: (part.box.size, part.box.x0)):
        for base in sorted(remaining, key=lambda base: abs(part.box.x0 - base.box.x1)):
            scripts = _scripts_for(part, base)
            if scripts is not None:
                scripts.append(part)
                remaining.remove(part)
                break
    return remaining


def _scripts_for(part: _Part, base: _Part) -> list[_Part] | None:
    """Return the list of the powers or of the indexes of a base to which a part belongs."""
    script, box = part.box, base.box
    if script.size > _SMALL * box.size:
        return None
    if box.text in _OPERATORS:
        scripts = base.over if script.middle < box.middle else base.under
        is_beside = box.x0 - box.size < (script.x0 + script.x1) / 2 < box.x1 + box.size
        return scripts if is_beside and box.y0 - box.size < script.middle < box.y1 + box.size else None
    rise = (_foot(box) - _foot(script)) / box.size
    if not (_RISE <= rise < 1 or -0.6 < rise <= _FALL):
        return None
    scripts = base.over if rise >= _RISE else base.under
    right = max([box.x1, *(one.box.x1 for one in scripts)])
    return scripts if -_NEAR * box.size < script.x0 - right < _NEAR * box.size else None


def _foot(run: TextRun) -> float:
    """Return the lower edge; of an operator, that of a letter of its line."""
    return run.middle + run.size / 2 if run.text in _OPERATORS else run.y1


def _follows(row: list[_Part], part: _Part) -> bool:
    size, right = part.box.size, max(run.x1 for run in row[-1].all_runs())
    return (
        abs(_foot(part.box) - _foot(row[-1].box)) <= _SAME_FOOT * size and -size < part.box.x0 - right <= _APART * size
    )


def _join(parts: Iterable[_Part]) -> str:
    return join_tex([part.written() for part in parts])


def _symbols(text: str) -> str:
    pieces: list[str] = []
    for word in _WORDS.findall(text):
        pieces += [f"\\{word}"] if word in FUNCTIONS else [SYMBOLS.get(character, character) for character in word]
    return join_tex(pieces)
