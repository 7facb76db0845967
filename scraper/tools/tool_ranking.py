"""Ranks what this server offers by what somebody says they want to do: words first, then their looks.

BM25 over names, titles, descriptions and argument texts finds what is said in our words; vectors of letter
triples find the misspelt and the inflected; uses in the words of people find what neither would.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from scraper.extract.text.terms import fold_text, split_terms
from scraper.retrieval.bm25 import ChunkTerms, Question, score_chunks

_TRIPLES = 0.35
"""Weight of the likeness of letters beside BM25, both scaled to their best: it settles what words leave open.
Of the 29 requests in tests/scraper/tools/test_tool_ranking.py 26 lead to their tool first without it,
28 from 0.1 on, 29 from 0.35 to 1."""
_ALIKE = 0.14
"""Cosine below which two texts share no more letters than any two: words of other things ("xylophon",
"screenshot", "translate") reach 0.09, misspelt ones ("serach", "reserch qustion") 0.2 and more."""
_LEAST_SHARE = 0.2
"""What scores less than this part of the best is chance."""

_EVERYWHERE = frozenset(
    "a about all an and any are as at be by can could do does for from get give has have help how i if in "
    "into is it its let like make me my need of on one or our please should some something that the them "
    "there they this to tool tools trying us use using want was we what when where which who will with would "
    "you your".split()
)
"""Words of every request, whatever it is about."""


@dataclass(frozen=True, slots=True)
class SearchableItem:
    """One thing on offer, by what can be found of it."""

    name: str
    title: str
    text: str
    uses: str = ""
    """What people say who want it; never shown."""


def ranked(query: str, offers: Sequence[SearchableItem]) -> list[int]:
    """The places of those offers that fit, best first; the same for the same query always."""
    wanted = " ".join(word for word in split_terms(query) if word not in _EVERYWHERE)
    if not wanted:
        wanted = query
    by_words = _scaled(_word_scores(wanted, offers))
    by_looks = _scaled([_likeness(wanted, offer) for offer in offers])
    called = [float(_is_called(offer.name, query)) for offer in offers]
    total = [
        words + _TRIPLES * looks + name for words, looks, name in zip(by_words, by_looks, called, strict=True)
    ]
    best = max(total, default=0.0)
    kept = [at for at, score in enumerate(total) if score > best * _LEAST_SHARE]
    return sorted(kept, key=lambda at: (-total[at], at))


def uses_of(name: str) -> str:
    """What people say who want the tool or prompt of this name."""
    return _uses().get(name, "")


@functools.cache
def _uses() -> Mapping[str, str]:
    lines = resources.files(__package__).joinpath("uses.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip(): uses.strip() for name, _, uses in pairs}


def _is_called(name: str, query: str) -> bool:
    """Whether the query names it; a name of one word is a word like others unless it stands alone."""
    words = query.lower().split()
    return words == [name] or ("_" in name and name in words)


def _word_scores(wanted: str, offers: Sequence[SearchableItem]) -> list[float]:
    question = Question.of(wanted)
    pages = [
        [ChunkTerms.of(question, f"{offer.text} {offer.uses}", (offer.name, offer.title, offer.uses))]
        for offer in offers
    ]
    return [page[0] for page in score_chunks(question, pages)]


def _likeness(wanted: str, offer: SearchableItem) -> float:
    """How alike the letters are: cosine of triples, against what is short and telling."""
    one, other = _triples(wanted), _triples(f"{offer.name} {offer.title} {offer.uses}")
    shared = sum(count * other[triple] for triple, count in one.items() if triple in other)
    cosine = shared / (_length(one) * _length(other) or 1.0)
    return cosine if cosine >= _ALIKE else 0.0


def _triples(text: str) -> Counter[str]:
    """Triples of letters within words, their edges marked."""
    found: Counter[str] = Counter()
    for word in split_terms(fold_text(text)):
        marked = f" {word} "
        found.update(marked[at : at + 3] for at in range(len(marked) - 2))
    return found


def _length(counts: Counter[str]) -> float:
    return math.sqrt(sum(count * count for count in counts.values()))


def _scaled(values: list[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best for value in values] if best > 0 else values
