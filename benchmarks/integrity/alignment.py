"""Find each unit of a page in an output, or the parts of it that are there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import Match, SequenceMatcher
from itertools import pairwise

from benchmarks.integrity.output import Output
from benchmarks.integrity.visible import Unit

MIN_ANCHOR = 14
"""Letters and digits. A shorter text may stand anywhere by chance, so it is only searched between its neighbors."""

_MAX_PLACES = 40
"""Places of one text; more only cost time."""
_MIN_RUN = 6
"""Letters and digits of a part of a unit."""
_MIN_COVERED = 0.3
"""Share of the needed letters below which the words that were found are there by chance."""
_MAX_ROOM = 4_000
"""Letters and digits between two neighbors. In more, a short text may be another one."""
_SMALL_ROOM = 400
"""Letters and digits. In less, a short text that is not found is absent, even if it stands elsewhere."""
_APART = 12
"""Tokens between two runs, beyond those of the unit, after which they belong to different texts."""
_BESIDE = 6
"""Tokens before and behind a part in which letters with other word borders are searched."""


@dataclass(slots=True)
class Gap:
    """Tokens of a unit that its place in the output lacks; `last` is behind them."""

    first: int
    last: int
    is_inner: bool
    """True if tokens before and behind are there."""
    put: str = ""
    """Other words that stand in the place of an inner gap."""


@dataclass(slots=True)
class Found:
    """What of a unit is in the output."""

    unit: Unit
    status: str = "absent"
    """`whole`, `partial`, `absent`, or `unknown` for a short text whose place is not clear."""
    start: int = -1
    end: int = -1
    """Place in the squashed output."""
    in_order: bool = True
    gaps: list[Gap] = field(default_factory=list)
    covered: float = 0.0
    """Share of the needed letters that are there."""
    tokens: tuple[int, int] = (-1, -1)
    """First and last token of a part in the output."""
    is_repeat: bool = False
    """True if the text is there, but fewer times than on the page."""

    @property
    def is_present(self) -> bool:
        """True if at least half of it is there."""
        return self.status == "whole" or (self.status == "partial" and self.covered >= 0.5)

    @property
    def is_anchor(self) -> bool:
        """True if its place tells where its neighbors are."""
        return self.status == "whole" and self.in_order and len(self.unit.squashed) >= MIN_ANCHOR

    def put(self, start: int, length: int) -> None:
        """Note that all of it stands at a place."""
        self.status, self.covered, self.start, self.end = "whole", 1.0, start, start + length


def align(units: Sequence[Unit], output: Output) -> list[Found]:
    """Return for each unit what of it is in the output."""
    found = [Found(unit) for unit in units]
    _place_long_units(found, output.squashed)
    _place_short_units(found, output.squashed)
    for one in found:
        if one.status == "absent" and not one.is_repeat and len(one.unit.squashed) >= 2 * _MIN_RUN:
            _find_part(one, found, output)
    return found


def _places(text: str, stream: str) -> list[int]:
    places: list[int] = []
    at = stream.find(text)
    while at >= 0 and len(places) < _MAX_PLACES:
        places.append(at)
        at = stream.find(text, at + 1)
    return places


def _place_long_units(found: Sequence[Found], stream: str) -> None:
    """Place as many letters as possible in the order of the page; the other units get the places that are left."""
    candidates: dict[int, tuple[list[int], int]] = {}
    for number, one in enumerate(found):
        for text in dict.fromkeys((one.unit.squashed, one.unit.needed_squashed)):
            if len(text) >= MIN_ANCHOR and (places := _places(text, stream)):
                candidates[number] = places, len(text)
                break
    ordered = _heaviest_sequence(candidates)
    used = set(ordered.values())
    for number, (places, length) in candidates.items():
        one = found[number]
        place = ordered.get(number)
        if place is None:
            one.in_order = False
            place = next((place for place in places if place not in used), None)
        if place is None:
            one.is_repeat = True
        else:
            used.add(place)
            one.put(place, length)


def _heaviest_sequence(candidates: dict[int, tuple[list[int], int]]) -> dict[int, int]:
    """Choose at most one place for each unit, in order and without overlaps, so that the most letters have one."""
    # Sequences by their end: each is heavier than all that end before it.
    ends, weights, chains = [0], [0], [-1]
    links: list[tuple[int, int, int]] = []
    for number, (places, length) in candidates.items():
        reached = [(place, bisect_right(ends, place) - 1) for place in places]
        for place, weight, before in [(place, weights[at] + length, chains[at]) for place, at in reached]:
            at = bisect_right(ends, place + length)
            if weights[at - 1] >= weight:
                continue
            behind = at
            while behind < len(ends) and weights[behind] <= weight:
                behind += 1
            at -= ends[at - 1] == place + length
            ends[at:behind], weights[at:behind], chains[at:behind] = [place + length], [weight], [len(links)]
            links.append((number, place, before))
    chosen, at = {}, chains[-1]
    while at >= 0:
        number, place, at = links[at]
        chosen[number] = place
    return chosen


def _place_short_units(found: Sequence[Found], stream: str) -> None:
    """Search each short unit between the long ones around it."""
    limits, limit = [0] * len(found), len(stream)
    for number in range(len(found) - 1, -1, -1):
        limits[number] = limit
        if found[number].is_anchor:
            limit = found[number].start
    cursor = 0
    for one, limit in zip(found, limits, strict=True):
        text = one.unit.needed_squashed or one.unit.squashed
        if one.status == "whole":
            cursor = one.end if one.in_order else cursor
        elif text and len(text) < MIN_ANCHOR:
            place, room = stream.find(text, cursor, limit), limit - cursor
            if place >= 0 and room < _MAX_ROOM:
                one.put(place, len(text))
                cursor = one.end
            elif room >= _MAX_ROOM or (text in stream and (place >= 0 or room >= _SMALL_ROOM)):
                one.status = "unknown"


def _find_part(one: Found, found: Sequence[Found], output: Output) -> None:
    """Find the parts of a unit between its neighbors, or around its longest run of words."""
    for low, high in _windows(one.unit, found, output):
        _compare(one, output, max(0, low), min(len(output.tokens), high))
        if one.covered >= _MIN_COVERED:
            return
    if one.unit.kind != "pre":  # numbers of lines may hide that code is there
        one.status, one.covered, one.gaps = "absent", 0.0, []


def _windows(unit: Unit, found: Sequence[Found], output: Output) -> Iterator[tuple[int, int]]:
    """Yield ranges of tokens of the output in which a unit may be."""
    length = len(unit.tokens)
    start = next((f.end for f in reversed(found[: unit.number]) if f.status == "whole" and f.in_order), 0)
    behind = (f.start for f in found[unit.number + 1 :] if f.status == "whole" and f.in_order and f.start >= start)
    low, high = (bisect_left(output.starts, place) for place in (start, next(behind, len(output.squashed))))
    if low < high <= low + 3 * length + 60:
        yield low - length, high + length
    seed = _longest_run(unit.tokens, output)
    if seed is not None:
        yield seed - 30, seed + length + 60


def _longest_run(tokens: Sequence[str], output: Output) -> int | None:
    """Return the token of the output at which a unit would begin, by its longest run of words that is there."""
    best, seed = 2 * MIN_ANCHOR - 1, None
    offset = 0
    while offset < len(tokens):
        text, place, length = "", -1, 0
        for token in tokens[offset : offset + 60]:
            at = (
                place
                if place >= 0 and output.squashed.startswith(text + token, place)
                else output.squashed.find(text + token)
            )
            if at < 0:
                break
            text, place, length = text + token, at, length + 1
        if len(text) > best:
            best, seed = len(text), bisect_right(output.starts, place) - 1 - offset
        offset += max(1, length)
    return seed


def _compare(one: Found, output: Output, low: int, high: int) -> None:
    """Note which tokens of a unit are among those of the output from `low` to `high`."""
    own, theirs = one.unit.tokens, output.tokens[low:high]
    runs = _runs(own, theirs)
    if not runs:
        return
    one.gaps = []
    covered = [any(run.a <= at < run.a + run.size for run in runs) for at in range(len(own))]
    for gap, place in _gaps(own, theirs, runs):
        missing = "".join(own[gap.first : gap.last])
        around = "".join(own[max(0, gap.first - 1) : gap.first]), "".join(own[gap.last : gap.last + 1])
        if missing in place or missing.join(around) in place.join(around):
            # The same letters with other word borders are the same text.
            covered[gap.first : gap.last] = [True] * (gap.last - gap.first)
        elif any(one.unit.needed[gap.first : gap.last]):
            one.gaps.append(gap)
    needed = [(len(token), there) for token, need, there in zip(own, one.unit.needed, covered, strict=True) if need]
    one.covered = sum(length for length, there in needed if there) / max(1, sum(length for length, _ in needed))
    first, last = low + runs[0].b, low + runs[-1].b + runs[-1].size - 1
    one.tokens = first, last
    one.start, one.end = output.starts[first], output.starts[last] + len(output.tokens[last])
    one.status = "partial" if one.gaps else "whole"


def _runs(own: Sequence[str], theirs: Sequence[str]) -> list[Match]:
    """Return the common runs of two texts around the longest one, without those that are far from the others."""
    blocks = SequenceMatcher(None, own, theirs, autojunk=False).get_matching_blocks()
    runs = [run for run in blocks if sum(map(len, own[run.a : run.a + run.size])) >= _MIN_RUN]
    if not runs:
        return []
    apart = [
        number
        for number, (one, other) in enumerate(pairwise(runs), 1)
        if (other.b - one.b - one.size) - (other.a - one.a - one.size) > _APART
    ]
    longest = max(range(len(runs)), key=lambda number: runs[number].size)
    first = max((number for number in apart if number <= longest), default=0)
    behind = min((number for number in apart if number > longest), default=len(runs))
    return runs[first:behind]


def _gaps(own: Sequence[str], theirs: Sequence[str], runs: Sequence[Match]) -> Iterator[tuple[Gap, str]]:
    """Yield the gaps between, before and behind runs, each with the letters in its place in the output."""
    start = Match(0, max(0, runs[0].b - runs[0].a - _BESIDE), 0)
    rest = len(own) - runs[-1].a - runs[-1].size
    end = Match(len(own), min(len(theirs), runs[-1].b + runs[-1].size + rest + _BESIDE), 0)
    for one, other in pairwise((start, *runs, end)):
        gap = Gap(one.a + one.size, other.a, is_inner=one is not start and other is not end)
        place = theirs[one.b + one.size : other.b]
        if gap.first < gap.last:
            if gap.is_inner:
                gap.put = " ".join(token for token in place if token not in own[gap.first : gap.last])
            yield gap, "".join(place)
