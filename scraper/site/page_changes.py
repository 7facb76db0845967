"""Compare two versions of a page block by block, and separate changes from noise.

Noise changes without anybody editing the page: ages, clocks, counts of views and likes, ids of requests. A changed
number alone is no noise, because people watch prices, versions and dates. Differences between two readings of one state
are noise too.
"""

import bisect
import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from scraper.site.model import BlockChange
from scraper.text.date_parsing import AGE, AGE_WORDS, DATE_FORMS, read_age
from scraper.text.terms import split_terms
from scraper.words.matcher import WordPattern, Words

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?(?:\s*(?:utc|gmt|ces?t|es?t|ps?t|edt|pdt|z))?"
_COUNT = r"\d[\d.,\u00a0\u202f]{0,30}+(?: \d{3}){0,4}+(?:[km]|bn)?\+?"
"""A number. Possessive and bounded: eight thousand digits took 45 s."""
_ANY_DATE = "|".join(form.template for form, _ in DATE_FORMS)
"""A date in one of forty languages."""
_NOISE_PARTS = WordPattern(
    rf"\bjust now\b|\b(?:yesterday|today)(?= at {_CLOCK})|"
    r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}"
)
"""Parts of a sentence that are noise anywhere: the day before a time, and the year of a copyright."""
_NOISE_LINE = WordPattern(
    "|".join(
        (
            rf"{_COUNT}\s*{{noise.counted}}\b|\b(?:{{noise.counted}}|{{noise.counted_label}})\s*[:(]\s*{_COUNT}\)?",
            rf"{{noise.counted_unspaced}}\s*[:：(（]?\s*{_COUNT}[)）]?",
            rf"{_COUNT}\s*{{noise.counter}}?\s*{{noise.counted_unspaced}}",
            r"{noise.updated}(?:\s+{noise.before_time})?\s*[:：]?\s*"
            rf"(?:(?:{_ANY_DATE})(?:[ ,]+(?:{{dates.at}} )?{_CLOCK}(?:\s?{{noise.clock}}\b)?)?|{_CLOCK}|\W*$)",
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
"""Words without one of which, or a copyright sign, no text is noise."""
_LONE_CLOCK = re.compile(r"\W*(\d{1,2}):(\d{2})(?::\d{2})?\W*(?:[ap]\.?m\.?)?\W*", re.IGNORECASE)
_HALF_DAY_MIN = 12 * 60
_CLOCK_TOLERANCE_MIN = 3.0
"""Minutes by which a clock on a page may be late, because servers cache pages."""


def remove_noise(text: str) -> str:
    """Return a text without recent ages and copyright years; an empty one if it is only noise."""
    lower = text.lower()
    if not _NOISE_WORDS.may_be_in(lower) and "©" not in lower and "(c)" not in lower:
        return text
    text = _NOISE_PARTS.sub(" ", text)
    text = AGE.sub(lambda age: age[0] if age["month"] or age["year"] else " ", text) if AGE.search(text) else text
    return text if _has_content(_NOISE_LINE.sub(" ", text)) else ""


def _has_content(text: str) -> bool:
    """Return True if a text has letters, digits or symbols such as a check mark."""
    return any(character.isalnum() or unicodedata.category(character) == "So" for character in text)


def is_clock(old: str, new: str, elapsed_s: float) -> bool:
    """Return True if two lines differ only in a time of the day or in ages, by the time between the versions."""
    one, two = _LONE_CLOCK.fullmatch(old), _LONE_CLOCK.fullmatch(new)
    if one is None or two is None:
        ages = zip(map(read_age, AGE.finditer(old)), map(read_age, AGE.finditer(new)), strict=False)
        longest = timedelta(seconds=elapsed_s)
        is_older = all(timedelta() <= age - first <= longest + unit for (first, _), (age, unit) in ages)
        return is_older and AGE.sub("", old) == AGE.sub("", new)
    went_min = 60 * (int(two[1]) - int(one[1])) + int(two[2]) - int(one[2])
    late_min = (went_min - elapsed_s / 60) % _HALF_DAY_MIN
    return min(late_min, _HALF_DAY_MIN - late_min) <= _CLOCK_TOLERANCE_MIN


_ITEM = re.compile(r"(?:[-*+]|(\d+)[.)]) ")
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_MARKS = re.compile(
    r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\[!\w+\]|(?<=\s)<(?=https?://)|(?<=\S)>(?=\s|$)"
)
"""Targets of links, callouts and brackets of URLs."""
_FORMATTING = re.compile(r"\\([!-/:-@\[-`{-~])|^#{1,6} |[*_`|\[\]]|~~")
"""Marks of Markdown, and a sign of the text behind a backslash: `5 \\* 3`."""
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
    heading, number = "", 0
    for text, kind in _iter_blocks(markdown):
        plain, item = text, _ITEM.match(text)
        # The number of a list item changes if an item above is added, and a theme may number a list. Others are text:
        # "4. maj".
        if item and kind != "code" and (item[1] or "1") in ("1", str(number + 1)):
            number = int(item[1] or number)
            plain = f"- {text[item.end() :]}"
        key = keys.get(plain)
        if key is None:
            key = keys[plain] = plain.strip(" \t,") if kind == "code" else _clean_text(plain)
        if kind == "heading":
            heading, number = text.lstrip("# "), 0
        if _has_content(key):
            blocks.append(Block(text, key, heading, kind))
    return blocks


def shares_blocks(old: str, new: str) -> bool:
    """Return True if two Markdown texts have a block in common."""
    keys: dict[str, str] = {}
    return not {one.key for one in split_blocks(old, keys)}.isdisjoint(one.key for one in split_blocks(new, keys))


def _iter_blocks(markdown: str) -> Iterator[tuple[str, str]]:
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        text = line.strip().lstrip("> ")
        if fence:
            fence = "" if text.startswith(fence) else fence
            yield line.lstrip("> ") if fence else "", "code"
            continue
        is_fence, is_row = text.startswith(("```", "~~~")), text.startswith("|")
        is_heading = text.startswith(("# ", "## ", "### ", "#### ", "##### ", "###### "))
        if lines and (is_fence or not text or is_row or is_heading or _ITEM.match(text)):
            yield " ".join(lines), "text"
            lines = []
        if is_fence:
            fence = text[: len(text) - len(text.lstrip(text[0]))]
        elif is_heading:
            yield text, "heading"
        elif is_row:
            if text.strip("|-: \t"):
                yield text, "row"
        elif text:
            lines.append(text)
    if lines:
        yield " ".join(lines), "text"


def _clean_text(text: str) -> str:
    text = remove_noise(_MARKS.sub(" ", _IMAGE.sub(r"\1", text)))
    text = " ".join(_FORMATTING.sub(lambda mark: mark[1] or " ", text).split())
    for sign in ".,;:!?)":
        text = text.replace(f" {sign}", sign)
    return text


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
    runs: list[Any] = []
    for pair in pairs:
        at = bisect.bisect_left(tails, pair[1])
        runs[at : at + 1] = [(pair, runs[at - 1] if at else None)]
        tails[at : at + 1] = [pair[1]]
    found: list[tuple[int, int]] = []
    run = runs[-1] if runs else None
    while run is not None:
        pair, run = run
        found.append(pair)
    return found[::-1]


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


_WORDS = re.compile(r"\S+\s*")
_NUMBERS = re.compile(r"\d[\d.,]*")

_PAIR_SIMILARITY = 0.5
"""Minimum share of common words of a removed and an added block that count as one edited block."""
_UNSTABLE_SIMILARITY = 0.7
"""Minimum share of common words of a block and one that differs between two readings of one state."""
_NEAR = 3
"""Blocks between two that differ between readings, which may be parts of one list of teasers."""
_MIN_UNSTABLE = 2
"""Blocks that differ between readings, from which they are such a list, of which some may stay by chance."""
_SAME_FORM = 2.0
"""Largest ratio of the lengths of blocks of one form."""
_MAX_WORD_BLOCKS = 50
"""Blocks with one word. With more, the word is not used to find pairs."""
_MAX_CANDIDATES = 20
_REPLACED_CHARS = 200
"""Characters of a short block in `has_replacement`."""


@dataclass(frozen=True, slots=True)
class PageComparison:
    """Changes between two versions of a page."""

    changes: tuple[BlockChange, ...] = ()
    noise: int = 0

    @property
    def is_changed(self) -> bool:
        """Return True if content of the page changed, not only its order."""
        return any(change.kind != "moved" for change in self.changes)

    @property
    def has_replacement(self) -> bool:
        """Return True if short blocks were both added and removed, as when an advertisement is replaced."""
        kinds = {change.kind for change in self.changes if 0 < len(change.old or change.new) <= _REPLACED_CHARS}
        return {"added", "removed"} <= kinds


def compare_pages(old: str, new: str, again: Sequence[str] = (), *, elapsed_s: float = 0.0) -> PageComparison:
    """Return the changes from one Markdown text to another, `elapsed_s` seconds later.

    `again` has further readings of the later version; differences between the readings are noise.
    """
    keys: dict[str, str] = {}
    before, after = split_blocks(old, keys), split_blocks(new, keys)
    instability = _Instability(after, [split_blocks(one, keys) for one in again])
    gone: list[Block] = []
    come: list[Block] = []
    noise = 0
    for a1, a2, b1, b2 in find_differences([one.key for one in before], [one.key for one in after]):
        removed, added = before[a1:a2], after[b1:b2]
        if instability.explains(removed, added, b1):
            noise += len(removed) + len(added)
            removed, added = [one for one in removed if not instability.has_form(one)], []
        gone += removed
        come += added
    moved = Counter(one.key for one in gone) & Counter(one.key for one in come)
    changes = [BlockChange("moved", one.heading, one.text, one.text) for one in _split_off(come, moved)[1]]
    gone, come = _split_off(gone, moved)[0], _split_off(come, moved)[0]
    edits = {id(new_block): removed for removed, new_block in _pair_blocks(gone, come)}
    paired_old = set(map(id, edits.values()))
    found: list[BlockChange | None] = [
        None if instability.covers(one) else BlockChange("removed", one.heading, old=one.text)
        for one in gone
        if id(one) not in paired_old
    ]
    found += [_edit(edits.get(id(block)), block, instability, elapsed_s) for block in come]
    changes += [change for change in found if change is not None]
    return PageComparison(tuple(changes), noise + found.count(None))


def _edit(old: Block | None, new: Block, instability: "_Instability", elapsed_s: float) -> BlockChange | None:
    """Return the change to a block from an old one, if there is one; or None if it is noise."""
    if instability.covers(new) or (old and is_clock(old.text, new.text, elapsed_s)):
        return None
    if old is None:
        return BlockChange("added", new.heading, new=new.text)
    return BlockChange("edited", new.heading, old.text, new.text, _form(old) == _form(new))


def _form(block: Block) -> str:
    return _NUMBERS.sub("0", block.key)


def mark_words(old: str, new: str) -> str:
    """Return the new text with removed words as `[-old-]` and added words as `{+new+}`."""
    one, two = _WORDS.findall(old), _WORDS.findall(new)
    parts = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append("".join(two[b1:b2]))
            continue
        removed, added = "".join(one[a1:a2]).strip(), "".join(two[b1:b2]).strip()
        parts.append(" ".join(filter(None, (removed and f"[-{removed}-]", added and f"{{+{added}+}}"))) + " ")
    return "".join(parts).strip()


def _split_off(blocks: Sequence[Block], counts: Counter[str]) -> tuple[list[Block], list[Block]]:
    """Return the blocks whose keys are not in `counts`, and those whose keys are, each as often as counted."""
    left = Counter(counts)
    rest: list[Block] = []
    found: list[Block] = []
    for block in blocks:
        is_found = left[block.key] > 0
        left[block.key] -= is_found
        (found if is_found else rest).append(block)
    return rest, found


def _pair_blocks(gone: Sequence[Block], come: Sequence[Block]) -> list[tuple[Block, Block]]:
    """Return removed and added blocks of one kind that share most words or differ only in numbers."""
    words = [Counter(split_terms(block.key)) for block in come]
    sizes = [sum(counts.values()) for counts in words]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, counts in enumerate(words):
        for word in counts:
            places[word].append(at)
    offers = []
    for i, block in enumerate(gone):
        own = Counter(split_terms(block.key))
        size = sum(own.values())
        shared = Counter(at for word in own if len(places[word]) <= _MAX_WORD_BLOCKS for at in places[word])
        for j, _ in shared.most_common(_MAX_CANDIDATES):
            similarity = 2 * sum((own & words[j]).values()) / (size + sizes[j])
            if come[j].kind == block.kind and similarity >= _PAIR_SIMILARITY:
                offers.append((similarity - 0.001 * abs(i - j), i, j))
    used_old: set[int] = set()
    used_new: set[int] = set()
    pairs = []
    for _, i, j in sorted(offers, reverse=True):
        if i not in used_old and j not in used_new:
            used_old.add(i)
            used_new.add(j)
            pairs.append((gone[i], come[j]))
    forms: defaultdict[tuple[str, str], list[Block]] = defaultdict(list)
    for i, block in enumerate(gone):
        if i not in used_old:
            forms[block.kind, _form(block)].append(block)
    for j, block in enumerate(come):
        if j not in used_new and (same := forms.get((block.kind, _form(block)))):
            pairs.append((same.pop(0), block))
    return pairs


@dataclass(slots=True)
class _Instability:
    """Blocks that differ between several readings of one state, and their places."""

    after: Sequence[Block]
    again: Sequence[Sequence[Block]]
    _places: set[int] = field(default_factory=set)
    _unstable: set[int] = field(default_factory=set)
    """Blocks of `after` that are not in each reading."""
    _spans: tuple[range, ...] = ()
    _texts: list[Counter[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        first = [one.key for one in self.after]
        for blocks in self.again:
            other = [one.key for one in blocks]
            for a1, a2, _, _ in find_differences(first, other):
                self._places.update(range(a1, a2 + 1))
                self._unstable.update(range(a1, a2))
            one, two = Counter(first), Counter(other)
            self._texts += [Counter(split_terms(key)) for key in (*(one - two), *(two - one))]
        self._spans = tuple(self._find_spans())

    def covers(self, block: Block) -> bool:
        """Return True if the block is similar to one that is in only one of the readings."""
        return self._nearest(block) >= _UNSTABLE_SIMILARITY

    def explains(self, gone: Sequence[Block], come: Sequence[Block], start: int) -> bool:
        """Return True if a difference at a place in the later version is one that the readings fill differently.

        In a list of rotating teasers, some may be equal in all readings by chance. They are recognized by their form.
        """
        end = start + len(come)
        stable = [block for block in come if not self.covers(block)]
        like = [block for block in gone if self.has_form(block)]
        is_there = not self._places.isdisjoint(range(start, end + 1))
        if is_there and len(like) <= len(come) + 2 and not stable:
            return True
        span = next((one for one in self._spans if one.start <= end and start < one.stop), range(0))
        is_like = bool(span) and len(like) == len(gone) <= len(span) and all(map(self.has_form, stable))
        pairs = _pair_blocks(gone, stable) if is_like else []
        return is_like and not any(self._nearest(new) < _similarity(_count_words(old), new) for old, new in pairs)

    def has_form(self, block: Block) -> bool:
        """Return True if the block is of the kind and about the length of one that differs between the readings."""
        others = (self.after[at] for at in self._unstable)
        ratios = (len(block.text) / len(other.text) for other in others if other.kind == block.kind)
        return any(1 / _SAME_FORM <= ratio <= _SAME_FORM for ratio in ratios)

    def _nearest(self, block: Block) -> float:
        """Return the similarity of a block and the most similar one that is in only one of the readings."""
        return max((_similarity(text, block) for text in self._texts), default=0.0)

    def _find_spans(self) -> Iterator[range]:
        """Yield the places of lists of which several blocks differ between the readings, and some places around."""
        unstable = sorted(self._unstable)
        first = 0
        for at in range(1, len(unstable) + 1):
            if at == len(unstable) or unstable[at] - unstable[at - 1] > _NEAR + 1:
                if at - first >= _MIN_UNSTABLE:
                    yield range(max(0, unstable[first] - _NEAR), unstable[at - 1] + _NEAR + 2)
                first = at


def _count_words(block: Block) -> Counter[str]:
    return Counter(split_terms(block.key))


def _similarity(words: Counter[str], block: Block) -> float:
    own = _count_words(block)
    total = words.total() + own.total()
    return 2 * (words & own).total() / total if total else 1.0
