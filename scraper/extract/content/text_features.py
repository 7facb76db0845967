"""Compute feature columns from the text of each block."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import Floats, PageStatistics
from scraper.extract.content.words import COMMON_WORDS, split_words

_PROBE = 200
"""Characters at the start of a block in which character classes are counted."""
_COMMON_PROBE = 60
_TITLE_PROBE = 40
_ENDS = ".!?\u3002\uff01\uff1f\u0964\u061f\u06d4"
_HALF_ENDS = ":;,\u3001\uff0c\uff1a"
_END_VALUES = dict.fromkeys(_ENDS, 1.0) | dict.fromkeys(_HALF_ENDS, 0.5)
_SENTENCE_ENDS = frozenset(_ENDS + "\"\u201d'\u2019\u300d):")
"""Sentence ends, and the quotation marks and brackets that may follow them."""
_SEPARATORS = "|\u203a\u00bb\u00a9\u2022\u00b7/>"
_MONEY = "$\u00a3\u20ac\u00a5%\u20b9\u20bd\u20a9"
_DIGIT, _UPPER, _SEPARATOR, _CURRENCY = 1, 2, 4, 8
_KINDS = (_DIGIT, _UPPER, _SEPARATOR, _CURRENCY)
_PLANE = 0x10000
_COUNTER_BITS = 16
_COUNTERS = np.zeros(1 << len(_KINDS), np.uint64)
for _place, _kind in enumerate(_KINDS):
    _COUNTERS[(np.arange(len(_COUNTERS)) & _kind) > 0] += np.uint64(1 << _place * _COUNTER_BITS)
"""For each set of character classes, a 1 in the counter of each class. Four sums are computed as one, as none exceeds
`_PROBE`."""


def compute_text_columns(page: PageStatistics) -> dict[str, NDArray[np.generic]]:
    """Return the columns of each block's own text."""
    segments, texts, counts = page.segments, page.texts, page.counts
    sentences = _sentences(texts)
    commas = np.array([text.count(",") + text.count("\u3001") + text.count("\uff0c") for text in texts], float)
    page.sentences, page.commas = sentences, commas
    columns: dict[str, NDArray[np.generic]] = {
        "characters": np.log1p(page.characters),
        "words": np.log1p(page.lengths),
        "word_length": page.characters / (page.lengths + 1),
        "link_share": page.link_share,
        "links": np.array(segments.links),
        "strong_share": page.strong / page.characters,
        "commas": commas,
        "sentences": sentences,
        "sentence_share": sentences / (page.lengths + 1),
        "end": np.array([_END_VALUES.get(text[-1], 0.0) for text in texts]),
        "first": np.array([2 if text[0].isupper() else int(text[0].islower()) for text in texts]),
        "lines": np.array([text.count("\n") for text in texts]),
        "images": np.array(segments.images),
        "times": np.array(segments.times),
        "preformatted": np.array(segments.preformatted),
        "folded": np.array(segments.collapsed),
        "tag": page.tag,
    }
    columns |= _character_columns(texts)
    page.money = np.asarray(columns["money"], np.int64)
    return columns | _word_columns(page, counts)


def _sentences(texts: list[str]) -> Floats:
    return np.array(
        [
            text.count(". ") + text.count("? ") + text.count("! ") + text.count("\u3002")
            + (text[-1] in _SENTENCE_ENDS)
            for text in texts
        ],
        np.float64,
    )  # fmt: skip


def _character_columns(texts: list[str]) -> dict[str, NDArray[np.generic]]:
    probes = [text[:_PROBE] for text in texts]
    lengths = np.array([len(probe) for probe in probes])
    codes = np.frombuffer("".join(probes).encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _kinds_of_characters()[np.minimum(codes, _PLANE - 1)]
    starts = np.cumsum(lengths) - lengths

    sums = np.add.reduceat(_COUNTERS.take(kinds), starts)
    digits, upper, separators, money = (
        (sums >> np.uint64(place * _COUNTER_BITS) & np.uint64((1 << _COUNTER_BITS) - 1)).astype(np.int64)
        for place in range(len(_KINDS))
    )
    return {"digit_share": digits / lengths, "upper_share": upper / lengths, "separators": separators, "money": money}


@cache
def _kinds_of_characters() -> NDArray[np.uint8]:
    """Return the character classes of the basic plane, one byte per character."""
    kinds = np.zeros(_PLANE, np.uint8)
    every = np.arange(_PLANE - 1, dtype=np.uint32).view("U1")
    kinds[:-1] = _DIGIT * np.strings.isdigit(every) + _UPPER * np.strings.isupper(every)
    for kind, characters in ((_SEPARATOR, _SEPARATORS), (_CURRENCY, _MONEY)):
        for character in characters:
            kinds[ord(character)] |= kind
    return kinds


def _word_columns(page: PageStatistics, counts: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
    """Return the columns of word properties; each property is looked up once for each distinct word."""
    n, block, ids = page.n, page.word_block, page.word_ids
    title = set(split_words(f"{page.description.title} {page.description.og_title}"))
    description = set(split_words(page.description.description))
    common, in_title, in_description = (
        np.fromiter(map(known.__contains__, page.vocabulary), np.float64, len(page.vocabulary))
        for known in (COMMON_WORDS, title, description)
    )
    near = page.word_at < _COMMON_PROBE
    bits = len(page.vocabulary).bit_length()
    pairs = np.sort((block << bits) + ids)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    rows, distinct = pairs >> bits, pairs & ((1 << bits) - 1)
    each = np.bincount(rows, minlength=n)
    starts = page.word_at < _TITLE_PROBE
    covered = np.bincount(block[starts], in_title[ids[starts]], n)
    title_cover = np.minimum(covered / (len(title) + 0.5), 2.0)
    page.title_cover = title_cover
    return {
        "common_share": np.bincount(block[near], common[ids[near]], n) / (np.minimum(counts, _COMMON_PROBE) + 1.0),
        "distinct_share": each / (counts + 1.0),
        "title_share": np.bincount(rows, in_title[distinct], n) / (each + 0.5),
        "title_cover": title_cover,
        "description_share": np.bincount(rows, in_description[distinct], n) / (each + 0.5),
    }
