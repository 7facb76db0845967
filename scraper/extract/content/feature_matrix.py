"""Build the matrix of all feature columns of a page, the input of the forest and the net.

The columns of the page as a whole are computed here, and those of a block's position and of the blocks, headings and
topics around it.
"""

import re
from bisect import bisect
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS
from scraper.extract.content.hashed_features import SCORE_NAMES
from scraper.extract.content.page_statistics import Columns, FloatArray, PageStatistics
from scraper.extract.content.tree_features import compute_repetition_columns, compute_tree_columns
from scraper.text.terms import DIGITS, split_words
from scraper.words.matcher import WordPattern, Words

FeatureMatrix: TypeAlias = NDArray[np.float32]

SCORE_PREFIX = "score_"
"""Prefix of the columns of the linear model."""
_MAX_SCORE = 60.0


def compute_columns(page: PageStatistics) -> Columns:
    """Return all columns of the page by name. Later groups read values that earlier groups computed."""
    of_blocks = compute_text_columns(page) | compute_tree_columns(page) | compute_repetition_columns(page)
    of_blocks |= compute_context_columns(page)
    values = _summarize_blocks(page) | _summarize_url(page.description.url)
    rows = np.repeat(np.fromiter(values.values(), np.float64, len(values))[:, None], page.n, axis=1)
    return of_blocks | dict(zip(values, rows, strict=True))


def compute_score_columns(scores: FloatArray) -> Columns:
    """Return the scores of the linear model, clipped to -60 to 60, as columns by name.

    `scores` has the shape (scores, blocks), as `compute_scores` returns it.
    """
    names = (SCORE_PREFIX + name for name in SCORE_NAMES)
    return dict(zip(names, np.clip(scores, -_MAX_SCORE, _MAX_SCORE), strict=True))


def stack_columns(columns: Columns, names: Sequence[str], blocks: int) -> FeatureMatrix:
    """Stack the named columns as the rows of a float32 matrix with the shape (columns, blocks)."""
    values = np.empty((len(names), blocks), np.float32)
    for row, name in enumerate(names):
        values[row] = columns[name]
    return values


URL_PREFIX = "url_"
"""Columns with this prefix are -1 if the URL is unknown."""

_URL_WORDS = (
    "forum thread topic product categor collection shop doc blog news wiki service tag search question "
    "review guide viewtopic api reference course list store article"
).split()
_URL_YEAR = re.compile(r"/(?:19|20)\d\d/")
_OG_TYPES = {"": 0, "article": 1, "website": 2, "product": 3}


def _summarize_blocks(page: PageStatistics) -> dict[str, float]:
    def share(mask: NDArray[np.generic]) -> float:
        return float(page.characters[mask.astype(bool)].sum() / page.total)

    return {
        "page_blocks": float(np.log1p(page.n)),
        "page_characters": float(np.log1p(page.total)),
        "page_links": float(page.links.sum() / page.total),
        "page_paragraphs": float((page.tag == 0).sum() / (page.n + 1)),
        "page_long": float(np.log1p(page.long.sum())),
        "page_headings": float(page.heading.sum() / (page.n + 1)),
        "page_plain_share": share(page.plain),
        "page_table_share": share((page.areas >> AREAS.index("table")) & 1),
        "page_list_share": share((page.areas >> AREAS.index("list")) & 1),
        "page_pre_share": share(np.array(page.segments.preformatted)),
        "page_images": float(np.log1p(sum(page.segments.images))),
        "page_money": float(np.log1p(page.money.sum())),
        "page_times": float(np.log1p(sum(page.segments.times))),
        "page_og_type": float(_OG_TYPES.get(page.description.og_type, len(_OG_TYPES))),
    }


def _summarize_url(url: str) -> dict[str, float]:
    lowered = url.lower()
    path = "/" + lowered.partition("://")[2].partition("/")[2]
    facts = {
        "depth": path.count("/"),
        "length": len(path),
        "dashes": path.count("-"),
        "numbers": len(DIGITS.findall(path)),
        "year": _URL_YEAR.search(path) is not None,
        "query": "?" in path,
        "root": len(path) < 2,
    } | {f"word_{word}": word in lowered for word in _URL_WORDS}
    return {URL_PREFIX + name: float(value) if url else -1.0 for name, value in facts.items()}


_MAX_INDEX = 500
_FAR = 99
_NEAR_TITLE = (-200, 400)
_PLAIN_WORDS = 20
_PLAIN_LINKS = 0.35
_STEPS, _SHORT_STEPS = (1, 2, 3, -1, -2, -3), (1, 2, -1, -2)
"""Distances to neighbors; negative ones are after the block. `neural_net.NEIGHBOR_STEPS` has the opposite sign."""
_RADII = (4, 10, 25)


def compute_context_columns(page: PageStatistics) -> Columns:
    """Return the columns of position, headings, plain text, neighbors and topics for each block."""
    position: Columns = {
        "place": page.index / (page.n + 1),
        "text_before": page.character_sums[:-1] / page.total,
        "index": np.minimum(page.index, _MAX_INDEX),
        "index_from_end": np.minimum(page.n - page.index, _MAX_INDEX),
    }
    return position | _headings(page) | _plain(page) | _neighbors(page) | compute_topic_columns(page)


def _headings(page: PageStatistics) -> Columns:
    index = page.index
    last = np.maximum.accumulate(np.where(page.heading, index, -1))
    titles = np.flatnonzero(page.tag == 1)
    closest = int(page.title_cover.argmax())
    title = int(titles[page.title_cover[titles].argmax()]) if len(titles) else closest
    return {
        "since_heading": np.where(last >= 0, index - last, _FAR),
        "heading_level": np.where(last >= 0, page.tag[last], 0),
        "from_title": np.clip(index - title, *_NEAR_TITLE),
        "from_closest": np.clip(index - closest, *_NEAR_TITLE),
        "page_titles": np.full(page.n, len(titles)),
    }


def _plain(page: PageStatistics) -> Columns:
    plain = (page.lengths >= _PLAIN_WORDS) & (page.link_share < _PLAIN_LINKS)
    page.plain = plain
    index, n = page.index, page.n
    before = np.maximum.accumulate(np.where(plain, index, -10 * _FAR))
    after = np.minimum.accumulate(np.where(plain, index, n + 10 * _FAR)[::-1])[::-1]
    long = page.long_sums
    return {
        "since_plain": np.minimum(index - before, _FAR),
        "until_plain": np.minimum(after - index, _FAR),
        "long_before": long[:-1] / (long[-1] + 1),
    }


def _neighbors(page: PageStatistics) -> Columns:
    words = np.log1p(page.lengths)
    columns: Columns = {}
    for name, values, steps, fill in (
        ("words", words, _STEPS, 0),
        ("link_share", page.link_share, _STEPS, 1),
        ("tag", page.tag, _SHORT_STEPS, -1),
        ("sentences", page.sentences, _SHORT_STEPS, -1),
    ):
        reach = max(steps)
        # The model is trained with these values cut to whole numbers.
        padded = np.pad(values.astype(np.int64), reach, constant_values=fill)
        for step in steps:
            columns[f"{name}{step:+}"] = padded[reach - step : reach - step + page.n]
    same = np.concatenate(([False], page.above[1:] == page.above[:-1], [False]))
    depth = page.depth[page.owner]
    change = np.concatenate(([0], np.abs(np.diff(depth)), [0]))
    columns |= {
        "same_parent_before": same[:-1],
        "same_parent_after": same[1:],
        "depth_step_before": change[:-1],
        "depth_step_after": change[1:],
    }
    characters, links, long = page.character_sums, page.link_sums, page.long_sums
    for radius in _RADII:
        start, end = np.maximum(page.index - radius, 0), np.minimum(page.index + radius + 1, page.n)
        around = characters[end] - characters[start]
        columns[f"window{radius}_characters"] = np.log1p(around)
        columns[f"window{radius}_links"] = (links[end] - links[start]) / (around + 1)
        columns[f"window{radius}_long"] = long[end] - long[start]
    return columns


_TOPICS = {name: WordPattern(rf"\b{{headings.{name}}}\b") for name in ("comments", "others", "reviews", "actions")}
_TOPIC_WORDS = Words(*(f"headings.{name}" for name in _TOPICS))
_ANY = "|".join(pattern.template for pattern in _TOPICS.values())
_ANY_CASE, _LOWER_CASE = WordPattern(_ANY), WordPattern(_ANY, re.NOFLAG)
"""Matches any topic. One line in ten matches. Searching lines together in lower case takes a third of the time."""

_MAX_WORDS = 9
_MAX_CHARACTERS = 80
_MAX_TOPIC_DISTANCE = 300


def compute_topic_columns(page: PageStatistics) -> Columns:
    """Return for each topic in `_TOPICS` the distance in blocks to the last line that mentions it, such as "comments".

    That line may be the block itself, with the distance 0; the maximum is 300. The columns `under_` contain True if no
    heading stands between that line and the block.
    """
    lines = [
        (number, text)
        for number, (text, words) in enumerate(zip(page.texts, page.words, strict=True))
        if len(text) <= _MAX_CHARACTERS
        and len(words) <= _MAX_WORDS
        and not (text.isascii() and _TOPIC_WORDS.keys.isdisjoint(words))
    ]
    # No expression matches across a line end.
    joined = "\n".join(text for _, text in lines)
    starts = list(accumulate((len(text) + 1 for _, text in lines), initial=0))
    lowered = joined.lower()
    found = _LOWER_CASE.finditer(lowered) if len(lowered) == len(joined) else _ANY_CASE.finditer(joined)
    matches = [lines[place] for place in dict.fromkeys(bisect(starts, match.start()) - 1 for match in found)]
    last_heading = np.maximum.accumulate(np.where(page.heading, page.index, -1))
    columns: Columns = {}
    for topic, expression in _TOPICS.items():
        places = np.full(page.n, -_MAX_TOPIC_DISTANCE)
        hits = [number for number, text in matches if expression.search(text)]
        places[hits] = hits
        last = np.maximum.accumulate(places)
        columns[f"since_{topic}"] = np.minimum(page.index - last, _MAX_TOPIC_DISTANCE)
        columns[f"under_{topic}"] = (last >= 0) & (last_heading <= last)
    return columns


_PROBE = 200
_COMMON_PROBE, _TITLE_PROBE = 60, 40
_ENDS = ".!?\u3002\uff01\uff1f\u0964\u061f\u06d4"
_HALF_ENDS = ":;,\u3001\uff0c\uff1a"
_END_VALUES = dict.fromkeys(_ENDS, 1.0) | dict.fromkeys(_HALF_ENDS, 0.5)
_SENTENCE_ENDS = frozenset(_ENDS + "\"\u201d'\u2019\u300d):")
_SEPARATORS = "|\u203a\u00bb\u00a9\u2022\u00b7/>"
_MONEY = "$\u00a3\u20ac\u00a5%\u20b9\u20bd\u20a9"
_DIGIT, _UPPER, _SEPARATOR, _CURRENCY = 1, 2, 4, 8
_KINDS = (_DIGIT, _UPPER, _SEPARATOR, _CURRENCY)
_PLANE = 0x10000
_COUNTER_BITS = 16
_COUNTERS = np.zeros(1 << len(_KINDS), np.uint64)
for _place, _kind in enumerate(_KINDS):
    _COUNTERS[(np.arange(len(_COUNTERS)) & _kind) > 0] += np.uint64(1 << _place * _COUNTER_BITS)
"""For each set of character classes, a 1 in the counter of each class. Four sums are one, as none exceeds `_PROBE`."""
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
