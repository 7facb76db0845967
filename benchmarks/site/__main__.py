"""Measure maps and crawls of whole sites, without a network.

The corpus `site-pages` has four saved sites and 36 questions with their answers. Twenty-nine made sites have traps for
crawlers. Peers: the order of a map by the published formula of a service (cosine of the counts of the question's words
in the URL), and, with `--peers`, a breadth-first crawl with Scrapy's link extractor.
"""

from __future__ import annotations

import math
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.bulk.jobs import Bench, RunMode
from benchmarks.bulk.ray_nodes import ray_nodes
from benchmarks.bulk.site import bulk_site
from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.common.cpu import open_account
from benchmarks.site.changes import rate_noise, rate_pairs
from benchmarks.site.crawl_cost import measure_cost
from benchmarks.site.crawling import rate_crawl, rate_order, summarize_crawls, summarize_orders
from benchmarks.site.offline_reader import OfflineReader
from benchmarks.site.resuming import rate_resuming
from benchmarks.site.saved_sites import Question, SavedSite, load_sites
from benchmarks.site.scrapy_peer import open_scrapy, rate_scrapy
from scraper.model import Document
from scraper.site.model import SiteMap
from scraper.site.site_mapper import SiteMapper
from scraper.site.url_patterns import rank_pages
from tests.site.traps.sites import HARD_SITES, PROGRAM_SITES, TRAP_SITES

Sites = dict[str, tuple[SavedSite, list[Question]]]

_EARLY = 20
"""Pages over which "early" is a mean."""
_TOP, _LIST = 5, 30
_KILLS, _KILLS_QUICK = 20, 3
_HOSTS, _HOSTS_QUICK = 50, 4
"""Sites of a hundred pages in the large crawls."""
_STATIC, _STATIC_QUICK = 3_031, 600
"""Pages of the crawl whose cost is measured."""
_GOALS = (
    Goal("made.recall", at_least=0.99),
    Goal("made.least_recall", at_least=0.95),
    Goal("made.wasted", at_most=640),
    Goal("made.kept_copies", at_most=0),
    Goal("made.kept_junk", at_most=30),
    Goal("saved.recall", at_least=0.98),
    Goal("saved.wasted", at_most=45),
    Goal("lists.recall", at_least=0.8),
    Goal("order.first_median", at_most=7),
    Goal("order.within_10", at_least=27),
    Goal("order.early", at_least=0.73),
    Goal("map.early", at_least=0.7),
    Goal("map.top_5", at_least=26),
    Goal("changes.false_alarms", at_most=5),
    Goal("changes.found", at_least=97),
    Goal("changes.block_precision", at_least=0.9),
    Goal("changes.block_recall", at_least=0.97),
    Goal("made_changes.alarms_second_look", at_most=2),
    Goal("made_changes.edits_found", at_least=76),
    Goal("cpu.decide_ms", at_most=6),
    Goal("cpu.compare_ms", at_most=12),
    Goal("resume.lost", at_most=0),
    Goal("resume.twice", at_most=0),
    Goal("crawl.cpu_ratio.scrapy", at_most=2.2),
    Goal("crawl.memory_ratio.scrapy", at_most=4.0),
    Goal("large.lost", at_most=0),
    Goal("large.violations", at_most=0),
    Goal("large_ray.lost", at_most=0),
    Goal("large_ray.violations", at_most=0),
)


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
    sites = load_sites(corpus_folder(options.corpora, "site-pages"))
    known: dict[bytes, Document] = {}
    figures = await measure_maps(sites, known)
    figures |= await measure_crawls(sites, known)
    figures |= await measure_changes(corpus_folder(options.corpora, "site-revisions"))
    figures |= await measure_resuming(_KILLS_QUICK if options.quick else _KILLS)
    figures |= await measure_large_crawls(_HOSTS_QUICK if options.quick else _HOSTS)
    if options.peers:
        figures |= await measure_scrapy(sites)
        figures |= await measure_cost(_STATIC_QUICK if options.quick else _STATIC)
    print_goals(figures, _GOALS)
    return figures


async def measure_scrapy(sites: Sites) -> Figures:
    """Crawl the made and the saved sites with the peer."""
    figures: Figures = {}
    async with open_scrapy() as peer:
        for name, made in (
            ("made", [site() for site in TRAP_SITES]),
            ("hard", [site() for site in HARD_SITES]),
            ("programs", [site() for site in PROGRAM_SITES]),
            ("saved", [site for site, _ in sites.values()]),
        ):
            ratings = [await rate_scrapy(site, peer) for site in made]
            summary = summarize_crawls(ratings)
            figures |= {f"{name}.scrapy_{key}": summary[key] for key in ("recall", "least_recall", "wasted")}
            print_table(
                f"Scrapy, {name} sites",
                ("site", "recall", "wasted"),
                [(one.name, round(one.recall, 3), one.wasted) for one in ratings],
            )
    return figures


async def measure_resuming(kills: int) -> Figures:
    """Kill a crawl that writes files at random moments."""
    rating = await rate_resuming(kills)
    print_table(
        f"A crawl killed {rating.kills} times",
        ("pages lost", "rows written twice", "pages requested again"),
        [(rating.lost, rating.twice, rating.again)],
    )
    return {"resume.lost": rating.lost, "resume.twice": rating.twice, "resume.requested_again": rating.again}


async def measure_large_crawls(hosts: int) -> Figures:
    """Crawl sites of a hundred pages each with real processes, on one machine and on a Ray cluster."""
    figures: Figures = {}
    rows = []
    async with AsyncExitStack() as stack:
        bench = Bench(
            await stack.enter_async_context(bulk_site()),
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))),
        )
        nodes = await stack.enter_async_context(ray_nodes(stack.enter_context(open_account())))
        local, cluster = (
            RunMode("one machine", (), lambda _: []),
            RunMode("Ray", ("--cluster", nodes.address), lambda _: []),
        )
        for key, mode in (("large", local), ("large_ray", cluster)):
            result = await bench.crawl(mode.name, mode, hosts)
            rows.append((result.title, result.pages, result.lost, result.doubled, result.exceeded, result.seconds))
            figures |= {
                f"{key}.lost": result.lost,
                f"{key}.twice": result.doubled,
                f"{key}.failed": result.failed,
                f"{key}.violations": result.exceeded,
                f"{key}.pages_per_s": round(result.pages / result.seconds, 2),
            }
    print_table(f"Crawls of {hosts} sites", ("run", "pages", "lost", "twice", "violations", "seconds"), rows)
    return figures


async def measure_changes(folder: Path) -> Figures:
    """Compare pages with their earlier versions."""
    pairs, noise = rate_pairs(folder), await rate_noise(folder)
    print_table(
        "Changes of saved pages",
        ("comparison", f"false alarms of {pairs.unchanged}", f"found of {pairs.changed}"),
        [
            ("search-mcp", pairs.false_alarms, pairs.found),
            ("sorted characters of the Markdown", pairs.sorted_alarms, pairs.sorted_found),
        ],
    )
    return {
        "changes.false_alarms": pairs.false_alarms,
        "changes.found": pairs.found,
        "changes.block_precision": round(pairs.correct_blocks / pairs.predicted_blocks, 3),
        "changes.block_recall": round(pairs.found_blocks / pairs.gold_blocks, 3),
        "made_changes.alarms": noise["alarms"],
        "made_changes.alarms_second_look": noise["alarms_second_look"],
        "made_changes.edits_found": noise["edits_found"],
        "cpu.compare_ms": round(1_000 * pairs.seconds / (pairs.changed + pairs.unchanged), 2),
    }


async def measure_crawls(sites: Sites, known: dict[bytes, Document]) -> Figures:
    """Crawl the made and the saved sites."""
    traps = [await rate_crawl(site(), known) for site in TRAP_SITES]
    hard = [await rate_crawl(site(), known) for site in HARD_SITES]
    programs = [await rate_crawl(site(), known) for site in PROGRAM_SITES]
    saved = [await rate_crawl(site, known) for site, _ in sites.values()]
    print_table(
        "Crawls within a budget of visits",
        ("site", "recall", "wasted", "copies", "junk", "CPU ms a visit"),
        [
            (one.name, round(one.recall, 3), one.wasted, one.kept_copies, one.kept_junk, round(one.decide_ms, 1))
            for one in (*traps, *hard, *programs, *saved)
        ],
    )
    orders = [await rate_order(site, question, known) for site, questions in sites.values() for question in questions]
    order = summarize_orders(orders)
    print_table(f"Crawls for {len(orders)} questions", tuple(order), [tuple(order.values())])
    figures: Figures = {}
    for name, ratings in (("made", traps), ("hard", hard), ("programs", programs), ("saved", saved)):
        figures |= {f"{name}.{key}": value for key, value in summarize_crawls(ratings).items()}
    figures |= {f"order.{key}": value for key, value in order.items()}
    figures["lists.recall"] = round(next(one.recall for one in traps if one.name == "sitemap_lies"), 3)
    figures["cpu.decide_ms"] = round(statistics.fmean(one.decide_ms for one in (*traps, *saved)), 2)
    return figures


async def measure_maps(sites: Sites, known: dict[bytes, Document]) -> Figures:
    """Map every site and rank its pages for every question."""
    ours, formula, requests, seconds = [], [], [], []
    for site, questions in sites.values():
        reader = OfflineReader(site.get, known)
        found = await SiteMapper(reader).build(f"{site.origin}/")
        requests.append(len(reader.visits))
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
    run(__doc__ or "", measure, optional_peers=True)
