"""Compare two versions of a page block by block, and separate changes from noise.

Noise changes without anybody editing the page: ages, clocks, visitor counts, request ids. A changed number alone is no
noise, because people watch prices, versions and dates. Differences between two readings of one state are noise too.
"""

from __future__ import annotations

import bisect
import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scraper.extract.text.change_noise import is_boilerplate, is_lone_value, remove_noise
from scraper.extract.text.terms import split_terms
from scraper.site_model import BlockChange

_FENCE = re.compile(r"(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6} ")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)]) ")
_ITEM_MARK = re.compile(r"\A(?:[-*+]|\d{1,3}[.)]) ")
"""Mark of a list item: a number changes if an item above is added, and a theme may number a list."""
_TABLE_RULE = re.compile(r"\|[\s:|-]+\|?")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)")
_URL = re.compile(r"<?https?://[^\s>)\]]+>?")
_CALLOUT = re.compile(r"\[!\w+\]\s*")
_MARKS = re.compile(r"[*_`~#>|\\\[\]]+")
_SPACE_BEFORE_SIGN = re.compile(r" (?=[.,;:!?)])")

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
_MAX_SEGMENT = 400
"""Blocks of a segment without common unique blocks. A longer segment is replaced as a whole."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, table row, heading or block of code."""

    text: str
    key: str
    """Text as it is compared: without formatting, link targets and noise."""
    heading: str
    """Heading above the block, or the text of the heading itself."""
    kind: str
    """`text`, `heading`, `row` or `code`."""


@dataclass(frozen=True, slots=True)
class PageComparison:
    """Changes between two versions of a page."""

    changes: tuple[BlockChange, ...] = ()
    noise: int = 0
    """Differences that are noise."""

    @property
    def is_changed(self) -> bool:
        """Return True if content of the page changed, not only its order."""
        return any(change.kind != "moved" for change in self.changes)

    @property
    def has_replacement(self) -> bool:
        """Return True if short blocks were both added and removed, as when an advertisement is replaced."""
        kinds = {change.kind for change in self.changes if 0 < len(change.old or change.new) <= _REPLACED_CHARS}
        return {"added", "removed"} <= kinds


def compare_pages(old: str, new: str, again: Sequence[str] = ()) -> PageComparison:
    """Return the changes from one Markdown text to another.

    Args:
        old: Earlier version.
        new: Later version.
        again: Further readings of the later version; differences between the readings are noise.
    """
    keys: dict[str, str] = {}
    before, after = split_blocks(old, keys), split_blocks(new, keys)
    instability = _Instability(after, [split_blocks(one, keys) for one in again]) if again else None
    gone: list[Block] = []
    come: list[Block] = []
    noise = 0
    for a1, a2, b1, b2 in _find_differences([one.key for one in before], [one.key for one in after]):
        if instability is not None and instability.explains(before[a1:a2], after[b1:b2], b1):
            noise += a2 - a1 + b2 - b1
        else:
            gone += before[a1:a2]
            come += after[b1:b2]
    moved = Counter(one.key for one in gone) & Counter(one.key for one in come)
    changes = [BlockChange("moved", one.heading, one.text, one.text) for one in _split_off(come, moved)[1]]
    gone, come = _split_off(gone, moved)[0], _split_off(come, moved)[0]
    pairs = _pair_blocks(gone, come)
    paired_old, paired_new = {id(one) for one, _ in pairs}, {id(one) for _, one in pairs}
    edits = {id(new_block): old_block for old_block, new_block in pairs}
    for block in gone:
        if id(block) not in paired_old:
            if _is_noise(block, instability):
                noise += 1
            else:
                changes.append(BlockChange("removed", block.heading, old=block.text))
    for block in come:
        if id(block) in paired_new:
            earlier = edits[id(block)]
            both_lone = block.kind != "row" and is_lone_value(earlier.text) and is_lone_value(block.text)
            if both_lone or (instability is not None and instability.covers(block)):
                noise += 1
                continue
            only_numbers = _NUMBERS.sub("0", earlier.key) == _NUMBERS.sub("0", block.key)
            changes.append(BlockChange("edited", block.heading, earlier.text, block.text, only_numbers))
        elif _is_noise(block, instability):
            noise += 1
        else:
            changes.append(BlockChange("added", block.heading, new=block.text))
    return PageComparison(tuple(changes), noise)


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
            key = keys[text] = _clean_code(text) if kind == "code" else _clean_text(text)
        if kind == "heading":
            heading = text.lstrip("# ")
        if any(character.isalnum() for character in key):
            blocks.append(Block(text, key, heading, kind))
    return blocks


def mark_words(old: str, new: str) -> str:
    """Return the new text with removed words as `[-old-]` and added words as `{+new+}`."""
    one, two = re.findall(r"\S+\s*", old), re.findall(r"\S+\s*", new)
    parts = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append("".join(two[b1:b2]))
            continue
        removed, added = "".join(one[a1:a2]).strip(), "".join(two[b1:b2]).strip()
        parts.append(" ".join(filter(None, (removed and f"[-{removed}-]", added and f"{{+{added}+}}"))) + " ")
    return "".join(parts).strip()


def _iter_blocks(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the text and the kind of each block."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        text = line.strip().lstrip("> ")
        if fence:
            lines.append(line)
            if text.startswith(fence):
                yield "\n".join(lines), "code"
                lines, fence = [], ""
            continue
        opening = _FENCE.match(text)
        is_row, is_heading = text.startswith("|"), _HEADING.match(text)
        if lines and (opening or not text or is_row or is_heading or _ITEM.match(text)):
            yield " ".join(lines), "text"
            lines = []
        if opening:
            fence, lines = opening.group(1), [line]
        elif is_heading:
            yield text, "heading"
        elif is_row:
            if not _TABLE_RULE.fullmatch(text):
                yield text, "row"
        elif text:
            lines.append(text)
    if lines:
        yield ("\n" if fence else " ").join(lines), "code" if fence else "text"


def _clean_text(text: str) -> str:
    text = _ITEM_MARK.sub("- ", text)
    text = _URL.sub(" ", _CALLOUT.sub(" ", _LINK_TARGET.sub("]", _IMAGE.sub(r"\1", text))))
    text = " ".join(_MARKS.sub(" ", remove_noise(text)).split()).casefold()
    return _SPACE_BEFORE_SIGN.sub("", text)


def _clean_code(text: str) -> str:
    """Return code without its fences, language and indentation, which themes change and authors do not."""
    lines = (line.lstrip("> ").strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not _FENCE.match(line))


def _find_differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
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
    """Return removed and added blocks of one kind that share most words, the most similar first."""
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
    return pairs


def _is_noise(block: Block, instability: _Instability | None) -> bool:
    if block.kind != "row" and is_lone_value(block.text):
        return True
    if block.kind == "text" and is_boilerplate(block.key):
        return True
    return instability is not None and instability.covers(block)


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
            for a1, a2, _, _ in _find_differences(first, other):
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
        span = next((one for one in self._spans if one.start <= end and start < one.stop), range(0))
        is_there = not self._places.isdisjoint(range(start, end + 1))
        if is_there and len(gone) <= len(come) + 2 and all(map(self.covers, come)):
            return True
        stable = [block for block in come if not self.covers(block)]
        is_like = all(any(_has_form(block, self.after[at]) for at in self._unstable) for block in (*gone, *stable))
        is_edit = any(
            self._nearest(new) < _similarity(_count_words(old), new) for old, new in _pair_blocks(gone, stable)
        )
        return bool(span) and is_like and len(gone) <= len(span) and not is_edit

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
    """Return the share of common words of a text and a block, from 0 to 1."""
    own = _count_words(block)
    total = words.total() + own.total()
    return 2 * (words & own).total() / total if total else 1.0


def _has_form(block: Block, other: Block) -> bool:
    sizes = sorted((len(block.text), len(other.text)))
    return block.kind == other.kind and sizes[1] <= _SAME_FORM * sizes[0]
