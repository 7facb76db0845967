"""Compare the main text of pages from search-mcp and other readers, and their CPU per page.

`wcxb` (pages of seven types) is scored by the mean F1 over words. `pages-lang` (languages other than English) is
scored by F1 over words, or over characters in languages without spaces, and by phrases found and kept out. News
are articles of two other archives whose gold is the expected body of a parser test; they are scored by F1 over
runs of four words. All readers run as our workers do: in one thread, with rare garbage collection that ignores
objects created before the first page.
Our figures come from models that were not trained on the page's domain (see `unseen_models`).
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.single_thread import restart_single_threaded
from benchmarks.reader.page_scores import foreign_counts, is_news, news_counts
from benchmarks.reader.peers import PEERS, peer_answers
from benchmarks.reader.unseen_models import UnseenModels
from benchmarks.training.pages import Sample, samples
from benchmarks.training.table import snapshot_of, word_f1
from scraper.extract import reader
from scraper.extract.content.extraction import extract_content
from scraper.html.page import page_tree
from scraper.workers.child import COLLECT_AFTER

_QUICK = 8
"""With `--quick`, every eighth page is read."""

_GOALS = (
    Goal("wcxb.f1", at_least=0.876),
    Goal("lang.f1", at_least=0.96),
    Goal("lang.phrases", at_least=0.92),
    Goal("lang.kept_out", at_least=0.90),
    Goal("news.f1", at_least=0.955),
    Goal("wcxb.cpu_ms.mean", at_most=25),
    Goal("wcxb.cpu_ms.p95", at_most=55),
    Goal("wcxb.whole_cpu_ms.mean", at_most=40),
    Goal("wcxb.whole_cpu_ms.p95", at_most=100),
)


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    ms: float


@dataclass(frozen=True, slots=True)
class _Sets:
    pages: Sequence[Sample]
    foreign: Sequence[Sample]
    news: Sequence[Sample]


async def measure(options: Options) -> Figures:
    """Read every page with every reader."""
    if options.corpora is None:
        raise FileNotFoundError("The pages are missing: use --corpora DIR.")
    step = _QUICK if options.quick else 1
    pages = list(itertools.islice(samples(options.corpora, "wcxb"), 0, None, step))
    foreign = list(itertools.islice(samples(options.corpora, "pages-lang"), 0, None, step))
    news = list(itertools.islice(_news(options.corpora), 0, None, step))
    figures: Figures = {"wcxb.pages": len(pages)}
    figures |= _ours(_Sets(pages, foreign, news), UnseenModels())
    figures |= await asyncio.to_thread(_peers, _Sets(pages, foreign, news))
    print_goals(figures, _GOALS)
    return figures


def _news(corpora: Path) -> Iterator[Sample]:
    for source in ("extra-pages", "pages-lang"):
        yield from filter(is_news, samples(corpora, source))


def _ours(sets: _Sets, models: UnseenModels) -> Figures:
    pages = sets.pages

    def read(sample: Sample) -> _Answer:
        snapshot = snapshot_of(sample)
        started = time.process_time()
        text = extract_content(page_tree.build_page_tree(snapshot), models.of_domain(sample.domain)).text
        return _Answer(text, (time.process_time() - started) * 1e3)

    def read_whole(sample: Sample) -> _Answer:
        snapshot = snapshot_of(sample)
        started = time.process_time()
        document = reader.read(snapshot, models.of_domain(sample.domain))
        return _Answer(document.text, (time.process_time() - started) * 1e3)

    read(pages[0])
    read_whole(pages[0])
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    figures = _score("ours", sets, *([read(page) for page in some] for some in (pages, sets.foreign, sets.news)))
    wholes = [read_whole(page) for page in pages]
    whole = _cpu([answer.ms for answer in wholes])
    figures |= {f"wcxb.whole_cpu_ms.{key}": value for key, value in whole.items()}
    scores = [word_f1(answer.text, page.gold) for answer, page in zip(wholes, pages, strict=True)]
    return figures | {"wcxb.document_f1": statistics.mean(scores)}


def _peers(sets: _Sets) -> Figures:
    figures: Figures = {}
    for peer in PEERS:
        answers = peer_answers(peer, [*sets.pages, *sets.foreign, *sets.news])
        if answers is None:
            print(f"{peer}: not set up (python -m benchmarks.setup_peers)")
            continue
        peer_results = [_Answer(text, ms) for text, ms in answers]
        ends = itertools.accumulate(map(len, (sets.pages, sets.foreign, sets.news)), initial=0)
        found = _score(peer, sets, *(peer_results[start:end] for start, end in itertools.pairwise(ends)))
        figures |= {f"peers.{peer}.{key}": value for key, value in found.items()}
    return figures


def _score(
    name: str,
    sets: _Sets,
    answers: Sequence[_Answer],
    foreign_answers: Sequence[_Answer],
    news_answers: Sequence[_Answer],
) -> Figures:
    by_type: dict[str, list[float]] = defaultdict(list)
    for sample, answer in zip(sets.pages, answers, strict=True):
        score = word_f1(answer.text, sample.gold)
        by_type[sample.page_type].append(score)
        by_type[""].append(score)
    figures = {f"wcxb.f1.{kind}".rstrip("."): statistics.mean(scores) for kind, scores in sorted(by_type.items())}
    figures |= {f"wcxb.cpu_ms.{key}": value for key, value in _cpu([answer.ms for answer in answers]).items()}
    figures |= _foreign_scores(sets.foreign, foreign_answers)
    figures |= _news_scores(sets.news, news_answers)
    print_table(name, ("figure", "value"), [(key, round(value, 4)) for key, value in figures.items()])
    return figures


def _foreign_scores(foreign: Sequence[Sample], answers: Sequence[_Answer]) -> Figures:
    return _ratios(foreign_counts(sample, answer.text) for sample, answer in zip(foreign, answers, strict=True))


def _news_scores(news: Sequence[Sample], answers: Sequence[_Answer]) -> Figures:
    """Score like the Article Extraction Benchmark: runs of four words, F1 of the mean precision and recall."""
    found = _ratios(news_counts(sample, answer.text) for sample, answer in zip(news, answers, strict=True))
    p, r = found["news.precision"], found["news.recall"]
    return {"news.f1": 2 * p * r / max(p + r, 1e-9)} | found


def _ratios(counts: Iterable[Mapping[str, tuple[float, float]]]) -> Figures:
    """Return the ratio of the summed numerators and denominators of each figure."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one in counts:
        for name, (above, below) in one.items():
            sums[name][0] += above
            sums[name][1] += below
    return {name: above / max(below, 1) for name, (above, below) in sums.items()}


def _cpu(ms: Sequence[float]) -> Mapping[str, float]:
    ordered = sorted(ms)
    return {"mean": statistics.mean(ordered), "p95": ordered[int(0.95 * len(ordered))]}


if __name__ == "__main__":
    restart_single_threaded("benchmarks.reader")
    run(__doc__ or "", measure)
