"""Which encoding bytes are in, when nobody says or what is said cannot be true."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from browsers.http.charset_frequencies import ALPHABETS, IDEOGRAPHS, Alphabet

SAMPLE_BYTES = 32 * 1024
WIDE_SAMPLE_BYTES = 8 * 1024
"""Text enough to tell any two encodings apart, at two milliseconds; pages that begin with a menu of languages
want more than a few kilobytes."""
WINDOW_BYTES = 1024 * 1024
"""Where the sample is looked for, from the first byte that is not ASCII."""
AROUND_BYTES = 12
"""What is taken of the ASCII around a run of other bytes: enough to see whether it stands inside a word."""

FREQUENT = 0.35
"""Share of frequent characters in Chinese, Japanese and Korean text that was read rightly: this and more."""
WIDE_ENOUGH = 0.57
"""From this score on text is Chinese, Japanese or Korean; what was misread comes to 0.25."""
LONELY = 0.5
"""Part of the bytes above ASCII that stand between ASCII ones: beyond it text is rather that of a Latin
language, in which a few pairs of bytes happen to be frequent characters."""
LONELY_WEIGHT = 16
"""Fewer such bytes than this, and nothing but a Latin language is thought of."""
BROKEN = 0.03
"""Share of undecodable characters that rules an encoding of two bytes out."""

UNLIKELY: Mapping[str, float] = MappingProxyType(
    {"cp1250": 0.05, "iso8859_2": 0.05, "cp1254": 0.05, "cp1257": 0.1}
)
"""Head start of western Europe over neighbours that share most of its letters."""

QUOTE = 0.7
ALIEN = 0.0
SYMBOL = -1.0
UNREADABLE = -2.0
"""What a character is worth that is no letter of the language, those being worth about 1."""
ALONE_COST = 2.0
"""How much a letter without neighbours speaks against scripts other than Latin: they have few words of one
letter, and misread Italian has many."""

_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x80-\xff]{1,4096}(?:[^<>\x80-\xff]{1,24}[\x80-\xff]{1,4096}){0,1000}")
_BESIDE_ASCII = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])")
_LONELY = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_ALONE = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff](?![A-Za-z\x80-\xff])")
_ASCII = bytes(range(0x80))
_QUOTES_AND_DASHES = frozenset("\u00a0«»–—“”„‘’‚…•\u00ad‹›")
"""What stands beside the letters of any language."""


@dataclass(frozen=True, slots=True)
class CharsetGuess:
    """A Python codec and how well the text reads in it: 1 is perfect, 0 and less is noise."""

    codec: str
    score: float
    weight: int
    """How many bytes above ASCII it rests on."""


@dataclass(frozen=True, slots=True)
class _Sample:
    text: bytes
    high: Mapping[int, int]
    """How often each byte above ASCII occurs."""
    beside: Mapping[int, int]
    """How often each of them stands beside an ASCII letter."""
    alone: Mapping[int, int]
    """How often each of them stands beside no letter at all."""


def guess(body: bytes) -> CharsetGuess:
    """The codec that makes the most sense of a body; cp1252 where none makes any."""
    sample = _sample(body)
    weight = sum(sample.high.values())
    scores = {codec: _wide_score(sample, codec) for codec in IDEOGRAPHS}
    best = max(scores, key=scores.__getitem__)
    lonely = len(_LONELY.findall(sample.text)) > LONELY * weight
    if lonely or scores[best] < WIDE_ENOUGH:
        wide = scores if weight >= LONELY_WEIGHT or not lonely else {}
        # The first of equals wins, and the more usual encodings stand first.
        scores = {
            codec: _narrow_score(sample, codec) - UNLIKELY.get(codec, 0.0) for codec in ALPHABETS
        } | wide
        best = max(scores, key=scores.__getitem__)
    return CharsetGuess(best, scores[best], weight)


def score(body: bytes, codec: str) -> float | None:
    """How well a body reads in this encoding; None for encodings of which nothing is known."""
    sample = _sample(body)
    if codec in IDEOGRAPHS:
        return _wide_score(sample, codec)
    return _narrow_score(sample, codec) if codec in ALPHABETS else None


def _sample(body: bytes) -> _Sample:
    text = _text_of(body)
    return _Sample(
        text,
        Counter(text.translate(None, _ASCII)),
        Counter(match[0] for match in _BESIDE_ASCII.findall(text)),
        Counter(match[0] for match in _ALONE.findall(text)),
    )


def _text_of(body: bytes) -> bytes:
    """The runs of text that are not plain ASCII, each with a little of what stands around it."""
    first = _HIGH.search(body)
    if first is None:
        return b""
    start = max(first.start() - AROUND_BYTES, 0)
    window = body[start : start + WINDOW_BYTES]
    runs: list[bytes] = []
    size = end = 0
    for run in _RUN.finditer(window):
        # What reaches into the last run's surroundings goes on with it: a cut could split a character.
        begin = end if run.start() < end else run.start() - AROUND_BYTES
        if begin != end:
            runs.append(b"\n")
        end = run.end() + AROUND_BYTES
        runs.append(window[max(begin, 0) : end])
        size += len(runs[-1])
        if size >= SAMPLE_BYTES:
            break
    return b"".join(runs)[:SAMPLE_BYTES]


def _wide_score(sample: _Sample, codec: str) -> float:
    """Share of frequent characters among all that are not ASCII."""
    counts = Counter(sample.text[:WIDE_SAMPLE_BYTES].decode(codec, "replace"))
    total = sum(count for char, count in counts.items() if char > "\x7f")
    if not total or counts["\ufffd"] > BROKEN * total:
        return 0.0
    frequent = IDEOGRAPHS[codec]
    share = sum(count for char, count in counts.items() if char in frequent) / total
    return min(share / FREQUENT, 1.0)


def _narrow_score(sample: _Sample, codec: str) -> float:
    letters = _high_half(codec)
    return max(_likeness(sample, letters, alphabet) for alphabet in ALPHABETS[codec])


@functools.cache
def _high_half(codec: str) -> str:
    return "".join(bytes((byte,)).decode(codec, "replace") for byte in range(0x80, 0x100))


def _likeness(sample: _Sample, letters: str, alphabet: Alphabet) -> float:
    """How much the bytes, read as these letters, look like text in a language."""
    total = quotes = beside = alone = 0
    value = 0.0
    for byte, count in sample.high.items():
        char = letters[byte - 0x80]
        if char in _QUOTES_AND_DASHES:
            quotes += count
            continue
        worth = _worth(char, alphabet)
        # A sign that stands by itself may mean anything; one inside a word is a letter misread.
        weight = count - sample.alone.get(byte, 0) if worth == SYMBOL else count
        total += weight
        value += worth * weight
        beside += sample.beside.get(byte, 0)
        alone += sample.alone.get(byte, 0)
    if alphabet.latin and value > 0:
        # Latin letters stand among ASCII ones, those of other scripts never do.
        value = max(value - alone, 0.0) * (beside + 1) / (total + 1)
    elif not alphabet.latin:
        value -= beside + ALONE_COST * alone
    return (value + QUOTE * quotes) / max(total + quotes, 1)


def _worth(char: str, alphabet: Alphabet) -> float:
    known = alphabet.worth.get(char)
    if known is not None:
        return known
    if char == "\ufffd" or char < "\xa0":
        return UNREADABLE
    return ALIEN if char.isalpha() else SYMBOL
