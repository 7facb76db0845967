"""Compare the letters of a document with those of its Markdown, and find missing lines."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from scraper.html.math.symbols import FUNCTIONS

_MAX_LOST_SHARE = 0.03
"""Ratio of letters. A page that loses more is completed from another reader, or reported."""
WHOLE_LINES, PARTS_OF_LINES = 0.6, 0.08
"""Ratio of a line's letters that the page lacks: most of them, or a few, as in formulas."""
_MAX_LINES = 2_000
_MAX_LISTED_PAGES = 20
_FORMULA = re.compile(r"\$[^$\n]{1,2000}\$")
_COMMAND = re.compile(rf"\\(?!(?:{'|'.join(FUNCTIONS)})\b)[a-zA-Z]+")
_SYMBOL = re.compile(r"\\[a-zA-Z]+|\\[{}|]|['|]")
_CODES = {
    "'": "0", "|": "j", r"\|": "k", r"\{": "f", r"\}": "g", r"\langle": "h", r"\rangle": "i", r"\infty": "1",
    r"\in": "2", r"\not": "6", r"\neq": "6", r"\mapsto": "7", r"\forall": "8", r"\exists": "9", r"\lfloor": "b",
    r"\rfloor": "c", r"\lceil": "d", r"\rceil": "e", r"\setminus": "n", r"\sqrt": "p", r"\nabla": "r", r"\int": "s",
}  # fmt: skip
"""Letters that PDFium reads for symbols of TeX's fonts, which declare no Unicode."""
_NOT_TEXT = re.compile(r"<br>|<!--.*?-->")


def count_letters(text: str) -> Counter[str]:
    """Count letters and digits, without distinction of case and presentation form."""
    counts = Counter(_fold(text))
    return Counter({character: count for character, count in counts.items() if character.isalnum()})


def count_written_letters(markdown: str) -> Counter[str]:
    """Count the letters of Markdown without those of LaTeX commands, `<br>` and comments."""
    return count_letters(_remove_markup(markdown))


def find_lost_letters(expected: Counter[str], markdown: str, elsewhere: Counter[str] | None = None) -> Counter[str]:
    """Return the expected letters that are neither in this Markdown nor in `elsewhere`.

    If the Markdown contains a formula, only ASCII letters count: Greek letters are written as LaTeX names there.
    Symbols that PDFium reads as letters are not lost either.
    """
    lost = expected - count_written_letters(markdown)
    if lost and elsewhere:
        lost -= elsewhere
    if lost and (formulas := " ".join(_FORMULA.findall(markdown))):
        symbols = Counter(_CODES[name] for name in _SYMBOL.findall(formulas) if name in _CODES)
        return Counter({letter: count for letter, count in lost.items() if letter.isascii()}) - symbols
    return lost


def is_incomplete(lost: Counter[str], expected: Counter[str]) -> bool:
    """Return True if enough letters are lost that they must be added or reported."""
    return lost.total() > _MAX_LOST_SHARE * expected.total()


def find_missing_lines(lines: Sequence[str], markdown: str, lost: Counter[str], min_share: float) -> list[str]:
    """Return the lines that the Markdown lacks, in their order; longer lines are looked up first.

    A line that is not found in one piece counts as missing if `min_share` of its letters are lost. Other lines are only
    reordered.
    """
    remaining, left = _squash(markdown), Counter(lost)
    missing: set[int] = set()
    folded = [_squash(line) for line in lines[:_MAX_LINES]]
    for index in sorted(range(len(folded)), key=lambda index: -len(folded[index])):
        line = folded[index]
        if not line:
            continue
        if line in remaining:
            remaining = remaining.replace(line, " ", 1)
            continue
        letters = Counter(line)
        if (letters & left).total() >= min_share * len(line):
            missing.add(index)
            left -= letters
    return [" ".join(lines[index].split()) for index in sorted(missing)]


def add_missing_lines(markdown: str, lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Add missing lines at the end of a document's Markdown; return it with a warning about further missing lines.

    Nothing is added if the Markdown contains nearly all letters of the lines.
    """
    expected = count_letters("\n".join(lines))
    lost = find_lost_letters(expected, markdown)
    for share in (WHOLE_LINES, PARTS_OF_LINES):
        if not is_incomplete(lost, expected):
            return markdown, ()
        missing = find_missing_lines(lines, markdown, lost, share)
        markdown = "\n\n".join(filter(None, (markdown, *missing)))
        lost = find_lost_letters(expected, markdown)
    if not is_incomplete(lost, expected):
        return markdown, ()
    return markdown, (f"Some text is missing ({100 * lost.total() / expected.total():.1f} % of the letters).",)


def format_loss_warning(what: str, lost: Mapping[int, Counter[str]], total: int) -> str:
    """Return a warning that begins with `what` and names the share of lost letters and the pages.

    `total` is the number of letters in the document.
    """
    pages = sorted(lost)
    listed = ", ".join(map(str, pages[:_MAX_LISTED_PAGES])) + (", ..." if len(pages) > _MAX_LISTED_PAGES else "")
    share = 100 * total_letters(lost.values()) / max(1, total)
    return f"{what} ({max(0.1, share):.1f} % of the letters), on pages: {listed}."


def total_letters(counts: Iterable[Counter[str]]) -> int:
    """Return the number of letters in all counts."""
    return sum(count.total() for count in counts)


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _remove_markup(markdown: str) -> str:
    formulas_as_letters = _FORMULA.sub(lambda match: _COMMAND.sub(" ", match[0]), markdown)
    return _NOT_TEXT.sub(" ", formulas_as_letters)


def _squash(text: str) -> str:
    return "".join(filter(str.isalnum, _fold(_remove_markup(text))))
