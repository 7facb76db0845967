"""Split the Markdown of a page into blocks without noise, and align the blocks of two versions.

Noise changes by itself: clocks, ages, counts of views and likes, ids of requests.
"""

from __future__ import annotations

import bisect
import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scraper.text.date_parsing import AGE, AGE_WORDS, DATE_FORMS
from scraper.words.matcher import WordPattern, Words

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?(?:\s*(?:utc|gmt|ces?t|es?t|ps?t|edt|pdt|z))?"
_COUNT = r"\d[\d.,\u00a0]{0,30}+(?:[km]|bn)?\+?"
"""A number. Possessive and bounded: eight thousand digits took 45 s."""
_ANY_DATE = "|".join(form.template for form, _ in DATE_FORMS)
"""A date in one of forty languages."""
_NOISE_PARTS = WordPattern(
    "|".join(
        (
            r"\bjust now\b",
            rf"\b(?:yesterday|today) at {_CLOCK}",
            r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{16,}\b",
        )
    )
)
"""Parts of a sentence that are noise anywhere: ages, the year of a copyright, random ids."""
_NOISE_LINE = WordPattern(
    "|".join(
        (
            rf"{_COUNT}\s*{{noise.counted}}\b|\b(?:{{noise.counted}}|{{noise.counted_label}})\s*[:(]\s*{_COUNT}\)?",
            rf"{{noise.counted_unspaced}}\s*[:：(（]?\s*{_COUNT}[)）]?",
            rf"{_COUNT}\s*{{noise.counter}}?\s*{{noise.counted_unspaced}}",
            r"{noise.updated}(?:\s+{noise.before_time})?\s*[:：]?\s*"
            rf"(?:(?:{_ANY_DATE})(?:[ ,]+(?:{{dates.at}} )?{_CLOCK})?|{_CLOCK}|\W*$)",
            r"{noise.duration}\s*:?\s*\d[\d.,]*\s*(?:milliseconds?|ms|seconds?|sec|s)?\b",
            r"\b{noise.id}\b\s*[:#]?\s*(?=[\w.-]*\d)[\w.-]{6,}",
        )
    )
)
"""Noise if a line has nothing else: in a sentence, such a count may be a rule, a price or a result."""
_NOISE_WORDS = Words(
    *(f"noise.{name}" for name in "counted counted_label counted_unspaced updated duration id recent".split()),
    *AGE_WORDS.names,
)
_NOISE_SIGN = re.compile(r"©|\(c\)|[0-9a-f]{16}|[0-9a-f]{8}-")
"""A word or a sign without which no text is noise. They are for text in lower case."""
_LONE_CLOCK = re.compile(r"\W*(\d{1,2}):(\d{2})(?::\d{2})?\W*(?:[ap]\.?m\.?)?\W*", re.IGNORECASE)
_HALF_DAY_MIN = 12 * 60
_CLOCK_TOLERANCE_MIN = 3.0
"""Minutes by which a clock on a page may be late, because servers cache pages."""


def remove_noise(text: str) -> str:
    """Return a text without ages, copyright years and random ids; an empty one if it is only noise."""
    lower = text.lower()
    if not _NOISE_WORDS.may_be_in(lower) and not _NOISE_SIGN.search(lower):
        return text
    text = _NOISE_PARTS.sub(" ", text)
    text = AGE.sub(" ", text) if AGE.search(text) else text
    rest = _NOISE_LINE.sub(" ", text)
    return text if any(character.isalnum() for character in rest) else ""


def is_clock(old: str, new: str, elapsed_s: float) -> bool:
    """Return True if two lines are only a time of the day, and it went on as long as the time between them."""
    one, two = _LONE_CLOCK.fullmatch(old), _LONE_CLOCK.fullmatch(new)
    if one is None or two is None:
        return False
    went_min = 60 * (int(two[1]) - int(one[1])) + int(two[2]) - int(one[2])
    late_min = (went_min - elapsed_s / 60) % _HALF_DAY_MIN
    return min(late_min, _HALF_DAY_MIN - late_min) <= _CLOCK_TOLERANCE_MIN


_FENCE = re.compile(r"(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6} ")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)]) ")
_TABLE_RULE = re.compile(r"\|[\s:|-]+\|?")
_REPLACEMENTS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # The number of a list item changes if an item above is added, and a theme may number a list.
        (r"\A(?:[-*+]|\d{1,3}[.)]) ", "- "),
        (r"!\[([^\]]*)\]\([^)]*\)", r"\1"),
        (r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)", "]"),
        (r"\[!\w+\]\s*", " "),
        (r"<?https?://[^\s>)\]]+>?", " "),
    )
)
"""Marks of items, images, targets of links, callouts and URLs, and what replaces them."""
_NO_MARKS = str.maketrans(dict.fromkeys("*_`~#>|\\[]", " "))
_SPACE_BEFORE_SIGN = re.compile(r" (?=[.,;:!?)])")
_MAX_SEGMENT = 400
"""Blocks of a segment without common unique blocks. A longer segment is replaced as a whole."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, table row, heading or line of code."""

    text: str
    key: str
    """Text as it is compared: without formatting, link targets and noise; code without indentation and last comma."""
    heading: str
    """Heading above the block, or the text of the heading itself."""
    kind: str
    """`text`, `heading`, `row` or `code`."""


def split_blocks(markdown: str, keys: dict[str, str] | None = None) -> list[Block]:
    """Return the blocks of a Markdown text that have words.

    `keys` keeps the keys of texts, so that versions with equal blocks are cleaned once.
    """
    keys = {} if keys is None else keys
    blocks = []
    heading = ""
    for text, kind in _iter_blocks(markdown):
        key = keys.get(text)
        if key is None:
            key = keys[text] = text.strip(" \t,") if kind == "code" else _clean_text(text)
        if kind == "heading":
            heading = text.lstrip("# ")
        if any(character.isalnum() for character in key):
            blocks.append(Block(text, key, heading, kind))
    return blocks


def shares_blocks(old: str, new: str) -> bool:
    """Return True if two Markdown texts have a block in common."""
    keys: dict[str, str] = {}
    return not {one.key for one in split_blocks(old, keys)}.isdisjoint(one.key for one in split_blocks(new, keys))


def _iter_blocks(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the text and the kind of each block."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        text = line.strip().lstrip("> ")
        if fence:
            fence = "" if text.startswith(fence) else fence
            yield line.lstrip("> ") if fence else "", "code"
            continue
        opening = _FENCE.match(text)
        is_row, is_heading = text.startswith("|"), _HEADING.match(text)
        if lines and (opening or not text or is_row or is_heading or _ITEM.match(text)):
            yield " ".join(lines), "text"
            lines = []
        if opening:
            fence = opening.group(1)
        elif is_heading:
            yield text, "heading"
        elif is_row:
            if not _TABLE_RULE.fullmatch(text):
                yield text, "row"
        elif text:
            lines.append(text)
    if lines:
        yield " ".join(lines), "text"


def _clean_text(text: str) -> str:
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    text = " ".join(remove_noise(text).translate(_NO_MARKS).split()).casefold()
    return _SPACE_BEFORE_SIGN.sub("", text)


def find_differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges (old from, to, new from, to) that differ.

    Unique common blocks in order divide the texts (patience diff, Cohen 2003), so the cost stays near linear.
    """
    a, b = 0, 0
    for i, j in (*_find_anchors(old, new), (len(old), len(new))):
        yield from _compare_segment(old, new, (a, i), (b, j))
        a, b = i + 1, j + 1


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest ascending run of pairs of places of blocks that occur once in each text."""
    counts_old, counts_new = Counter(old), Counter(new)
    places = {key: at for at, key in enumerate(new) if counts_new[key] == 1}
    pairs = [(at, places[key]) for at, key in enumerate(old) if counts_old[key] == 1 and key in places]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        at = bisect.bisect_left(tails, place)
        before.append(ends[at - 1] if at else -1)
        tails[at:] = [place, *tails[at + 1 :]] if at < len(tails) else [place]
        ends[at:] = [number, *ends[at + 1 :]] if at < len(ends) else [number]
    run = []
    number = ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _compare_segment(
    old: Sequence[str], new: Sequence[str], old_range: tuple[int, int], new_range: tuple[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    (a1, a2), (b1, b2) = old_range, new_range
    if max(a2 - a1, b2 - b1) > _MAX_SEGMENT:
        yield a1, a2, b1, b2
        return
    matcher = difflib.SequenceMatcher(None, old[a1:a2], new[b1:b2], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield a1 + i1, a1 + i2, b1 + j1, b1 + j2
