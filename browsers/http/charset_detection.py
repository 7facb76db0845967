"""Detect the encoding of bytes that declare none, or a wrong one, from the letters they decode to.

Text decoded with a wrong encoding still consists of letters, but of rare ones. For Chinese, Japanese and Korean, one to
three hundred frequent characters are used: they make up two fifths to four fifths of any text, and a twentieth of text
decoded with a wrong encoding. UTF-8 and UTF-16 are excluded before (see `charset`).
"""

import functools
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

_UPPER_CASE = 0.5
"""Score of a capital relative to its lower-case letter: a wrong encoding often swaps the cases."""
_RAREST = 0.15
"""Score of the rarest letter of a language relative to the most frequent."""
_DECAY = 3.5
"""Frequencies of letters fall by a factor of e this many times over the alphabet. Accurate enough for any language."""


class _Alphabet(NamedTuple):
    """Scores of the non-ASCII letters of one language."""

    worth: Mapping[str, float]
    """Score by letter. Text in the language averages about 1."""
    latin: bool
    """True if the letters stand among ASCII letters."""


@functools.cache
def _alphabet(letters: str) -> _Alphabet:
    last = max(len(letters) - 1, 1)
    ranks = [1 - (1 - _RAREST) * rank / last for rank in range(len(letters))]
    frequencies = [math.exp(-_DECAY * rank / len(letters)) for rank in range(len(letters))]
    usual = sum(r * f for r, f in zip(ranks, frequencies, strict=True)) / sum(frequencies)
    small = {letter: rank / usual for letter, rank in zip(letters, ranks, strict=True)}
    capital = {letter.upper(): _UPPER_CASE * worth for letter, worth in small.items()}
    return _Alphabet(capital | small, unicodedata.name(letters[0]).startswith("LATIN"))


_TABLES = json.loads(files(__package__).joinpath("letters.json").read_text(encoding="utf-8"))
"""Letters of each language that are not ASCII, the most frequent first; languages by one-byte encoding; and frequent
characters by two-byte encoding. More common encodings come first and win ties."""
_KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FD))))
_WIDE_MARKS = "、。，！？：；（）「」『』《》〈〉【】·…—－　～・"
_FREQUENT_CHARACTERS: Mapping[str, frozenset[str]] = {
    codec: frozenset(letters + _WIDE_MARKS + _KANA * (codec in {"cp932", "euc_jp"}))
    for codec, letters in _TABLES["frequent"].items()
}
_ALPHABETS: Mapping[str, tuple[_Alphabet, ...]] = {
    codec: tuple(_alphabet(_TABLES["letters"][language]) for language in languages)
    for codec, languages in _TABLES["languages"].items()
}

_SAMPLE_BYTES = 32 * 1024
_WIDE_SAMPLE_BYTES = 8 * 1024
"""Bytes that suffice to distinguish any two encodings, in two milliseconds. Pages that begin with a language menu need
more than a few kilobytes."""
_WINDOW_BYTES = 1024 * 1024
"""Bytes, from the first non-ASCII byte, in which the sample is collected."""
_AROUND_BYTES = 12
"""Maximum of ASCII bytes that the sample keeps before and after other bytes. They show the words around them."""

_FREQUENT = 0.35
"""Minimum share of frequent characters in correctly decoded Chinese, Japanese and Korean text."""
_WIDE_ENOUGH = 0.57
"""Minimum score of Chinese, Japanese and Korean text. Wrongly decoded text scores 0.25."""
_MAX_ISOLATED_SHARE = 0.5
"""Maximum share of non-ASCII bytes that stand between ASCII bytes. Text with more is probably in a Latin language in
which a few byte pairs happen to be frequent characters."""
_MIN_ISOLATED_WEIGHT = 16
"""Non-ASCII bytes. With fewer, and a greater share of them isolated, two-byte encodings are not considered."""
_MAX_UNDECODABLE_SHARE = 0.03
"""Share of undecodable characters that excludes a two-byte encoding."""

_UNLIKELY: Mapping[str, float] = {"cp1250": 0.05, "iso8859_2": 0.05, "cp1254": 0.05, "cp1257": 0.1}
"""Score deduction in favor of Western European encodings that share most letters with these."""

_QUOTE = 0.7
"""Score of a quotation mark or dash; a letter of the language scores about 1."""
_OTHER_LETTER = 0.0
"""Score of a letter that the language does not use."""
_SYMBOL = -1.0
"""Score of a symbol inside a word."""
_UNREADABLE = -2.0
"""Score of a control character or an undecodable byte."""
_ALONE_COST = 2.0
"""Deduction for a letter without neighbors in scripts other than Latin: they have few words of one letter, and wrongly
decoded Italian has many."""

_FEW_LETTERS = 8
"""Letters. Weight of what is assumed of a text before its letters are counted."""
_FEW_COST = 0.45
"""Deduction for scripts other than Latin in the shortest texts: three umlauts are also three letters of Greek."""

_RUN = re.compile(rb"[\x80-\xff]{1,4096}(?:[^<>\x80-\xff]{1,24}[\x80-\xff]{1,4096}){0,1000}")
_BESIDE_ASCII = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])")
_ISOLATED_BYTE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_ALONE = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff](?![A-Za-z\x80-\xff])")
ASCII = bytes(range(0x80))
_QUOTES_AND_DASHES = frozenset("\u00a0«»–—“”„‘’‚…•\u00ad‹›")
"""Characters that occur beside the letters of any language."""


@dataclass(frozen=True, slots=True)
class CharsetGuess:
    """A Python codec and the score of the text decoded with it: 1 is perfect, 0 and less is noise."""

    codec: str
    score: float
    weight: int
    """Number of bytes above ASCII in the sample."""


@dataclass(frozen=True, slots=True)
class _Sample:
    text: bytes
    high: Mapping[int, int]
    """Count of each byte above ASCII."""
    beside: Mapping[int, int]
    """Number of times that each of them stands beside an ASCII letter."""
    alone: Mapping[int, int]
    """Number of times that each of them stands beside no letter."""


def detect_charset(body: bytes) -> CharsetGuess:
    """Return the codec with the best score for a body, or cp1252 if no score is positive.

    Two-byte encodings are tried first. If none reaches `_WIDE_ENOUGH`, or most non-ASCII bytes stand alone, one-byte
    encodings are compared too, by their letters.
    """
    sample = _sample(body)
    weight = sum(sample.high.values())
    scores = {codec: _wide_score(sample, codec) for codec in _FREQUENT_CHARACTERS}
    best = max(scores, key=scores.__getitem__)
    is_isolated = len(_ISOLATED_BYTE.findall(sample.text)) > _MAX_ISOLATED_SHARE * weight
    if is_isolated or scores[best] < _WIDE_ENOUGH:
        wide = scores if weight >= _MIN_ISOLATED_WEIGHT or not is_isolated else {}
        # The first of equal scores wins, and more common encodings come first.
        scores = {codec: _narrow_score(sample, codec) - _UNLIKELY.get(codec, 0.0) for codec in _ALPHABETS} | wide
        best = max(scores, key=scores.__getitem__)
        if scores[best] <= 0:
            best = "cp1252"
    return CharsetGuess(best, scores[best], weight)


def score_charset(body: bytes, codec: str) -> float | None:
    """Return the score of a body in an encoding, or None for encodings without data."""
    sample = _sample(body)
    if codec in _FREQUENT_CHARACTERS:
        return _wide_score(sample, codec)
    return _narrow_score(sample, codec) if codec in _ALPHABETS else None


def _sample(body: bytes) -> _Sample:
    # The non-ASCII parts of the text, each with a few bytes around it.
    start = max(len(body) - len(body.lstrip(ASCII)) - _AROUND_BYTES, 0)
    window = body[start : start + _WINDOW_BYTES]
    runs: list[bytes] = []
    size = end = 0
    for run in _RUN.finditer(window):
        # A run that overlaps the surroundings of the last one continues it: a cut could split a character.
        begin = end if run.start() < end else run.start() - _AROUND_BYTES
        if begin != end:
            runs.append(b"\n")
        end = run.end() + _AROUND_BYTES
        runs.append(window[max(begin, 0) : end])
        size += len(runs[-1])
        if size >= _SAMPLE_BYTES:
            break
    text = b"".join(runs)[:_SAMPLE_BYTES]
    return _Sample(
        text,
        Counter(text.translate(None, ASCII)),
        Counter(match[0] for match in _BESIDE_ASCII.findall(text)),
        Counter(match[0] for match in _ALONE.findall(text)),
    )


def _wide_score(sample: _Sample, codec: str) -> float:
    """Return the share of frequent characters, relative to `_FREQUENT` and at most 1; 0 if too much is undecodable."""
    counts = Counter(sample.text[:_WIDE_SAMPLE_BYTES].decode(codec, "replace"))
    total = sum(count for char, count in counts.items() if char > "\x7f")
    if not total or counts["\ufffd"] > _MAX_UNDECODABLE_SHARE * total:
        return 0.0
    frequent = _FREQUENT_CHARACTERS[codec]
    share = sum(count for char, count in counts.items() if char in frequent) / total
    return min(share / _FREQUENT, 1.0)


def _narrow_score(sample: _Sample, codec: str) -> float:
    letters = _high_half(codec)
    return max(_likeness(sample, letters, alphabet) for alphabet in _ALPHABETS[codec])


@functools.cache
def _high_half(codec: str) -> str:
    return "".join(bytes((byte,)).decode(codec, "replace") for byte in range(0x80, 0x100))


def _likeness(sample: _Sample, letters: str, alphabet: _Alphabet) -> float:
    total = quotes = beside = alone = 0
    value = known = 0.0
    for byte, count in sample.high.items():
        char = letters[byte - 0x80]
        if char in _QUOTES_AND_DASHES:
            quotes += count
            continue
        worth = _worth(char, alphabet)
        # A symbol that stands alone may mean anything. One inside a word is a wrongly decoded letter.
        weight = count - sample.alone.get(byte, 0) if worth == _SYMBOL else count
        total += weight
        value += worth * weight
        known += (worth if worth <= 0 else _UPPER_CASE if char.isupper() else 1.0) * weight
        beside += sample.beside.get(byte, 0)
        alone += sample.alone.get(byte, 0)
    doubt = _FEW_LETTERS / (total + _FEW_LETTERS)
    if alphabet.latin and value > 0:
        # The frequencies of letters in a short text say little: it counts more that the language has them.
        value += (known - value) * doubt
        # Latin letters stand among ASCII letters. Those of other scripts never do.
        value = max(value - alone, 0.0) * (beside + _FEW_LETTERS) / (total + _FEW_LETTERS)
    elif not alphabet.latin:
        value -= beside + _ALONE_COST * alone + _FEW_COST * doubt * total
    return (value + _QUOTE * quotes) / max(total + quotes, 1)


def _worth(char: str, alphabet: _Alphabet) -> float:
    known = alphabet.worth.get(char)
    if known is not None:
        return known
    if char == "\ufffd" or char < "\xa0":
        return _UNREADABLE
    return _OTHER_LETTER if char.isalpha() else _SYMBOL
