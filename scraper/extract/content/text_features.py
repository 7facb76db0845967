"""Compute the feature columns of the texts of blocks: characters, words and punctuation."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import Columns, PageStatistics
from scraper.text.terms import split_words
from scraper.words.matcher import Words

_PROBE = 200
"""Characters at the start of a block in which character classes are counted."""
_COMMON_PROBE, _TITLE_PROBE = 60, 40
"""Words at the start of a block that are compared with the common words and with the title."""
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
_COMMON_WORDS = Words("language.common")
"""Articles, pronouns, prepositions and auxiliaries: frequent in running text and rare in menus."""


def compute_text_columns(page: PageStatistics) -> Columns:
    """Return the columns of each block's own text."""
    segments, texts = page.segments, page.texts
    sentences = np.array(
        [
            text.count(". ") + text.count("? ") + text.count("! ") + text.count("\u3002")
            + (text[-1] in _SENTENCE_ENDS)
            for text in texts
        ],
        np.float64,
    )  # fmt: skip
    commas = np.array([text.count(",") + text.count("\u3001") + text.count("\uff0c") for text in texts], float)
    page.sentences, page.commas = sentences, commas
    columns: Columns = {
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
    return columns | _word_columns(page)


def _character_columns(texts: list[str]) -> Columns:
    probes = [text[:_PROBE] for text in texts]
    lengths = np.array([len(probe) for probe in probes])
    codes = np.frombuffer("".join(probes).encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _classify_characters()[np.minimum(codes, _PLANE - 1)]
    starts = np.cumsum(lengths) - lengths

    sums = np.add.reduceat(_COUNTERS.take(kinds), starts)
    digits, upper, separators, money = (
        (sums >> np.uint64(place * _COUNTER_BITS) & np.uint64((1 << _COUNTER_BITS) - 1)).astype(np.int64)
        for place in range(len(_KINDS))
    )
    return {"digit_share": digits / lengths, "upper_share": upper / lengths, "separators": separators, "money": money}


@cache
def _classify_characters() -> NDArray[np.uint8]:
    """Return the character classes of the basic plane, one byte per character."""
    kinds = np.zeros(_PLANE, np.uint8)
    characters = np.arange(_PLANE - 1, dtype=np.uint32).view("U1")
    kinds[:-1] = _DIGIT * np.strings.isdigit(characters) + _UPPER * np.strings.isupper(characters)
    for kind, signs in ((_SEPARATOR, _SEPARATORS), (_CURRENCY, _MONEY)):
        kinds[[ord(sign) for sign in signs]] |= kind
    return kinds


def _word_columns(page: PageStatistics) -> Columns:
    """Return the columns of word properties; each property is looked up once for each distinct word."""
    n, block, ids, counts = page.n, page.word_block, page.word_ids, page.counts
    title = set(split_words(f"{page.description.title} {page.description.og_title}", by_character=True))
    description = set(split_words(page.description.description, by_character=True))
    common, in_title, in_description = (
        np.fromiter(map(words.__contains__, page.vocabulary), np.float64, len(page.vocabulary))
        for words in (_COMMON_WORDS.all, title, description)
    )
    near, starts = page.word_at < _COMMON_PROBE, page.word_at < _TITLE_PROBE
    bits = len(page.vocabulary).bit_length()
    pairs = np.sort((block << bits) + ids)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    rows, distinct = pairs >> bits, pairs & ((1 << bits) - 1)
    each = np.bincount(rows, minlength=n)
    covered = np.bincount(block[starts], in_title[ids[starts]], n)
    page.title_cover = np.minimum(covered / (len(title) + 0.5), 2.0)
    return {
        "common_share": np.bincount(block[near], common[ids[near]], n) / (np.minimum(counts, _COMMON_PROBE) + 1.0),
        "distinct_share": each / (counts + 1.0),
        "title_share": np.bincount(rows, in_title[distinct], n) / (each + 0.5),
        "title_cover": page.title_cover,
        "description_share": np.bincount(rows, in_description[distinct], n) / (each + 0.5),
    }
