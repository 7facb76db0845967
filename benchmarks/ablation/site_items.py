"""Items of sites: crawls of made and saved sites, crawls for questions, maps and changes of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from benchmarks.ablation.items import Answer, Item, digest
from benchmarks.common.corpora import corpus_folder
from benchmarks.site.changes import rate_noise, rate_pairs
from benchmarks.site.crawling import OfflineSite, rate_crawl, rate_order
from benchmarks.site.offline_reader import OfflineReader
from benchmarks.site.saved_sites import Question, SavedSite, load_sites
from scraper.model import Document
from scraper.site.site_mapper import SiteMapper
from scraper.site.url_patterns import rank_pages
from tests.site.traps.sites import HARD_SITES, PROGRAM_SITES, TRAP_SITES

_EARLY, _TOP = 20, 5
_known: dict[bytes, Document] = {}
"""Documents of pages, which no rule of sites changes."""


def site_items(corpora: Path) -> Iterator[Item]:
    """Yield the sites, the questions and the pairs of pages."""
    sites = load_sites(corpus_folder(corpora, "site-pages"))
    for group, made in (
        ("made", [site() for site in TRAP_SITES]),
        ("hard", [site() for site in HARD_SITES]),
        ("programs", [site() for site in PROGRAM_SITES]),
        ("saved", [site for site, _ in sites.values()]),
    ):
        for one in made:

            def crawl(group: str = group, one: OfflineSite = one) -> Answer:
                rating = asyncio.run(rate_crawl(one, _known))
                values = {
                    name: float(getattr(rating, name)) for name in ("recall", "wasted", "kept_copies", "kept_junk")
                }
                return Answer({f"site.{group}.{name}": (value, 1.0) for name, value in values.items()}, digest(values))

            yield Item("site", f"{group}/{one.name}", one.name, crawl)
    for site, questions in sites.values():
        for question in questions:

            def order(site: SavedSite = site, question: Question = question) -> Answer:
                rating = asyncio.run(rate_order(site, question, _known))
                counts = {
                    "site.order.early": (rating.early, 1.0),
                    "site.order.within_10": (float(rating.first <= 10), 1.0),
                }
                return Answer(counts, digest(rating))

            yield Item("site", f"order/{question.text}", question.text, order)

        def build_map(site: SavedSite = site, questions: list[Question] = questions) -> Answer:
            found = asyncio.run(SiteMapper(OfflineReader(site.get, _known)).build(f"{site.origin}/"))
            early = []
            for question in questions:
                names = [site.find_page(page.url) for page, _ in rank_pages(found.pages, question.text)][:_EARLY]
                shares = [len(question.answers.intersection(names[:at])) for at in range(1, _EARLY + 1)]
                early.append(sum(shares) / len(question.answers) / _EARLY)
            return Answer({"site.map.early": (sum(early), float(len(early)))}, digest(early, len(found.pages)))

        yield Item("site", f"map/{site.name}", site.name, build_map)
    folder = corpus_folder(corpora, "site-revisions")

    def pairs() -> Answer:
        found = rate_pairs(folder)
        counts = {
            "site.changes.false_alarms": (found.false_alarms, found.unchanged),
            "site.changes.found": (found.found, found.changed),
            "site.changes.block_precision": (found.correct_blocks, found.predicted_blocks),
            "site.changes.block_recall": (found.found_blocks, found.gold_blocks),
        }
        return Answer(counts, digest(counts))

    def noise() -> Answer:
        found = asyncio.run(rate_noise(folder))
        counts = {
            "site.made_changes.alarms": (found["alarms_second_look"], 12),
            "site.made_changes.edits_found": (found["edits_found"], found["edits"]),
        }
        return Answer(counts, digest(counts))

    yield Item("site", "changes/pairs", "pairs", pairs)
    yield Item("site", "changes/noise", "noise", noise)
