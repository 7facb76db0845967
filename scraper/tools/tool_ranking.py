"""Rank tools and prompts for a task by BM25 and by spelling similarity.

BM25 searches names, titles, descriptions and parameter descriptions. Vectors of letter trigrams find misspelled and
inflected words. `uses.txt` adds words that users use for each tool.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from scraper.text.terms import ENGLISH_STOP_WORDS, fold_text, inverse_document_frequency, split_terms, stem

_TRIGRAM_WEIGHT = 0.5
"""Weight of spelling similarity relative to BM25; both are scaled to their best score.
Of the 35 requests in tests/scraper/tools/test_tool_ranking.py, 31 rank their tool first without it,
34 from 0.1 on, 35 from 0.5 to 1."""
_MIN_COSINE = 0.14
"""Minimum cosine of similar texts. Words of other topics ("xylophon", "screenshot", "translate") reach 0.09, misspelled
ones ("serach", "reserch qustion") 0.2 and more."""
_MIN_SHARE = 0.2
"""Minimum score of a result, relative to the best; lower scores are accidental."""

_STOP_WORDS = ENGLISH_STOP_WORDS.union(
    "get give help let like make need one please something tool tools trying use using want".split()
)
"""Words that occur in requests on any topic."""


@dataclass(frozen=True, slots=True)
class SearchableItem:
    """Searchable texts of a tool or prompt."""

    name: str
    title: str
    text: str
    uses: str = ""
    """Words that users use for the task; never displayed."""


def rank_items(query: str, items: Sequence[SearchableItem]) -> list[int]:
    """Return the indexes of the matching items, best first, in a deterministic order."""
    content = " ".join(word for word in split_terms(query) if word not in _STOP_WORDS)
    if not content:
        content = query
    word_scores = _scale(_word_scores(content, items))
    spelling_scores = _scale([_spelling_similarity(content, item) for item in items])
    name_scores = [float(_is_named(item.name, query)) for item in items]
    total = [
        words + _TRIGRAM_WEIGHT * spelling + name
        for words, spelling, name in zip(word_scores, spelling_scores, name_scores, strict=True)
    ]
    best = max(total, default=0.0)
    fitting = [at for at, score in enumerate(total) if score > best * _MIN_SHARE]
    return sorted(fitting, key=lambda at: (-total[at], at))


def read_uses(name: str) -> str:
    """Return the line of `uses.txt` for a tool or prompt, or an empty string."""
    return _read_all_uses().get(name, "")


@functools.cache
def _read_all_uses() -> Mapping[str, str]:
    lines = resources.files(__package__).joinpath("uses.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip(): uses.strip() for name, _, uses in pairs}


def _is_named(name: str, query: str) -> bool:
    """Return True if the query contains the name; a name of one word must be the whole query."""
    words = query.lower().split()
    return words == [name] or ("_" in name and name in words)


def _word_scores(content: str, items: Sequence[SearchableItem]) -> list[float]:
    """Return the BM25 score of each item by the stems of the query, without the length of the item."""
    terms = sorted(set(map(stem, split_terms(content))))
    rows = []
    for item in items:
        counts = Counter(map(stem, split_terms(f"{item.text} {item.uses}")))
        counts.update(set(map(stem, split_terms(f"{item.name} {item.title} {item.uses}"))))
        rows.append([counts[term] for term in terms])
    found = (sum(map(bool, column)) for column in zip(*rows, strict=True))
    rarity = [inverse_document_frequency(frequency, len(rows)) for frequency in found]
    return [sum(rare * count / (count + 1) for rare, count in zip(rarity, row, strict=True)) for row in rows]


def _spelling_similarity(content: str, item: SearchableItem) -> float:
    """Return the cosine of the trigrams of the query and of name, title and uses."""
    query, other = _trigrams(content), _trigrams(f"{item.name} {item.title} {item.uses}")
    shared = sum(count * other[trigram] for trigram, count in query.items() if trigram in other)
    cosine = shared / (_norm(query) * _norm(other) or 1.0)
    return cosine if cosine >= _MIN_COSINE else 0.0


def _trigrams(text: str) -> Counter[str]:
    """Count the trigrams of the words, with a space at both ends of each word."""
    found: Counter[str] = Counter()
    for word in split_terms(fold_text(text)):
        padded = f" {word} "
        found.update(padded[at : at + 3] for at in range(len(padded) - 2))
    return found


def _norm(counts: Counter[str]) -> float:
    return math.sqrt(sum(count * count for count in counts.values()))


def _scale(values: list[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best for value in values] if best > 0 else values
