"""Measure how early the map of a site shows the pages that answer a question.

The corpus `site-pages` has four saved sites and 36 questions with their answers. The order by the published formula of
a service's map (cosine of the counts of the question's words in the URL) stands beside ours.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.site.saved_sites import Question, SavedSite, load_sites
from scraper.model import SiteMap
from scraper.site.mapper import SiteMapper
from scraper.site.ranking import rank_pages

_EARLY = 20
"""Pages over which "early" is a mean."""
_TOP, _LIST = 5, 30


@dataclass(frozen=True, slots=True)
class Ranking:
    """Place of the first answer, from 1, and the mean share of answers seen over the first pages."""

    first: float
    early: float


async def measure(options: Options) -> Figures:
    """Map every site and rank its pages for every question.

    Raises:
        FileNotFoundError: The corpus is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("The sites are missing: give --corpora DIR.")
    ours, formula, requests, seconds = [], [], [], []
    for site, questions in load_sites(corpus_folder(options.corpora, "site-pages")).values():
        found = await SiteMapper(site).build(f"{site.origin}/")
        requests.append(site.requests)
        for question in questions:
            began = time.process_time()
            order = [page.url for page, _ in rank_pages(found.pages, question.text)]
            seconds.append(time.process_time() - began)
            ours.append(score(site, question, order))
            formula.append(score(site, question, rank_by_formula(found, question.text)))
    rows = {"search-mcp": summarize(ours), "cosine of URL words": summarize(formula)}
    print_table(
        "Pages of a map in the order of a question",
        ("order", "questions", f"first among {_TOP}", f"first among {_LIST}", "early"),
        [(name, len(ours), row["top_5"], row["top_30"], row["early"]) for name, row in rows.items()],
    )
    own = rows["search-mcp"]
    return {
        "map.early": own["early"],
        "map.top_5": own["top_5"],
        "map.top_30": own["top_30"],
        "map.formula_early": rows["cosine of URL words"]["early"],
        "map.formula_top_5": rows["cosine of URL words"]["top_5"],
        "map.requests": max(requests),
        "cpu.rank_ms": round(1_000 * sum(seconds) / len(seconds), 2),
    }


def score(site: SavedSite, question: Question, order: Sequence[str]) -> Ranking:
    """Return how early the order shows the pages that answer the question."""
    pages = [site.find_page(url) for url in order]
    first = next((at for at, page in enumerate(pages, 1) if page in question.answers), math.inf)
    seen = [len(question.answers.intersection(pages[:at])) / len(question.answers) for at in range(1, _EARLY + 1)]
    return Ranking(first, sum(seen) / _EARLY)


def summarize(rankings: Sequence[Ranking]) -> dict[str, float]:
    """Return the figures of one order."""
    return {
        "top_5": sum(one.first <= _TOP for one in rankings),
        "top_30": sum(one.first <= _LIST for one in rankings),
        "early": round(sum(one.early for one in rankings) / len(rankings), 3),
    }


def rank_by_formula(found: SiteMap, question: str) -> list[str]:
    """Return the URLs by the cosine of the counts of the question's words in URL and question."""
    words = [word for word in re.split(r"\W+", question.lower()) if word]

    def vector(text: str) -> list[float]:
        return [text.lower().count(word) / len(text) for word in words]

    asked = vector(question)

    def cosine(url: str) -> float:
        counts = vector(urlsplit(url).geturl())
        size = math.hypot(*counts) * math.hypot(*asked)
        return sum(one * other for one, other in zip(counts, asked, strict=True)) / size if size else 0.0

    return sorted((page.url for page in found.pages), key=lambda url: -cosine(url))


if __name__ == "__main__":
    run(__doc__ or "", measure)
