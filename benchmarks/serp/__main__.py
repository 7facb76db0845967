"""Compare parsers of saved result pages: rows, block pages and decoys, by engine and with the parsers of peers.

Three tests: the whole parser (selectors, block pages, shape); the shape parser alone, with weights chosen without
the tested engine; and the parser after every class of every page is renamed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.serp.pages import WITH_ROWS, SerpPage, load, rename_classes
from benchmarks.serp.peers import PEERS, parse_with_peer
from benchmarks.serp.score import ReadPage, ReadRow, Score, mean, score, share
from benchmarks.serp.shape import scores_by_left_out_engine
from scraper.engines import response_parser
from scraper.engines.model import EngineOutcome, EngineResponse
from scraper.engines.registry import ENGINES
from scraper.search.engine_query import are_decoys

_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_COLUMNS = (
    "reader",
    "pages",
    "recall",
    "precision",
    "order",
    "titles",
    "exact",
    "snippets",
    "ads",
    "walls",
    "false walls",
    "none",
    "invented",
)
_GOALS = (
    Goal("recall", at_least=0.99),
    Goal("precision", at_least=0.99),
    Goal("order", at_least=0.99),
    Goal("titles", at_least=0.99),
    Goal("exact", at_least=0.99),
    Goal("snippets", at_least=0.95),
    Goal("ads", at_most=0),
    Goal("walls", at_least=1),
    Goal("false_walls", at_most=0),
    Goal("invented", at_most=0),
    Goal("shells_as_none", at_most=0),
    Goal("generic.recall", at_least=0.97),
    Goal("generic.precision", at_least=0.97),
    Goal("drift.recall", at_least=0.95),
    Goal("drift.alarms", at_least=1),
    Goal("decoys_missed", at_most=0),
    Goal("decoys_wrong", at_most=0),
    Goal("ms_worst", at_most=150),
)


async def measure(options: Options) -> Figures:
    """Run all tests on every page of the corpus.

    Raises:
        FileNotFoundError: the corpus or a peer is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the saved pages: --corpora DIR.")
    pages = load(corpus_folder(options.corpora, "serp"))
    figures, ours = _test_parser(pages)
    figures |= _test_shape_parser(pages)
    figures |= _test_renamed_classes(pages)
    figures |= _test_decoys(pages)
    figures |= _compare_with_peers(pages, ours)
    print_goals(figures, _GOALS)
    return figures


def _test_parser(pages: Sequence[SerpPage]) -> tuple[Figures, Mapping[str, Score]]:
    spent: dict[str, float] = {}
    scores: dict[str, Score] = {}
    for page in pages:
        start = time.thread_time()
        response = _parse(page)
        spent[page.name] = (time.thread_time() - start) * 1000
        scores[page.name] = score(page, read_response(response))
    by_engine = _by_engine(scores.values())
    own = [one for one in scores.values() if one.page.engine in ENGINES]
    rows = [_row(engine, listed) for engine, listed in by_engine.items()]
    print_table("All pages", _COLUMNS, [*rows, _row("our seven engines", own), _row("all", scores.values())])
    figures = _figures(own)
    # Block pages, empty results and shells are detected in the same way for engines without own rules.
    everything = _figures(scores.values())
    common = ("walls", "walls_missed", "false_walls", "none", "invented", "shells_as_none", "ads")
    figures |= {key: everything[key] for key in common}
    figures |= {"recall_all": everything["recall"], "precision_all": everything["precision"]}
    figures |= {"ms": mean(spent.values()), "ms_worst": max(spent.values())}
    for engine, listed in by_engine.items():
        figures |= {f"{engine}.{key}": value for key, value in _figures(listed).items()}
    return figures, scores


def _test_shape_parser(pages: Sequence[SerpPage]) -> Figures:
    by_engine = scores_by_left_out_engine(pages)
    everything = [one for listed in by_engine.values() for one in listed]
    rows = [_row(engine, listed) for engine, listed in by_engine.items()]
    print_table("Shape parser alone, with weights of the other engines", _COLUMNS, [*rows, _row("all", everything)])
    return {
        "generic.recall": mean(one.recall for one in everything),
        "generic.precision": mean(one.precision for one in everything),
        "generic.titles": share(sum(one.titles for one in everything), sum(one.hits for one in everything)),
        "generic.engines.recall": mean(mean(one.recall for one in listed) for listed in by_engine.values()),
        "generic.engines.precision": mean(mean(one.precision for one in listed) for listed in by_engine.values()),
    }


def _test_renamed_classes(pages: Sequence[SerpPage]) -> Figures:
    """Measure pages with renamed classes; feeds have no classes."""
    renamed = [rename_classes(page) for page in pages if page.engine in ENGINES and page.file.suffix != ".xml"]
    scores = [score(page, read_response(_parse(page))) for page in renamed]
    by_engine = _by_engine(scores)
    print_table(
        "All classes renamed",
        (*_COLUMNS, "alarms"),
        [(*_row(engine, listed), mean(_alarms(listed))) for engine, listed in by_engine.items()],
    )
    figures = {f"drift.{key}": value for key, value in _figures(scores).items()}
    raised = [any(_alarms(listed)) for listed in by_engine.values() if _alarms(listed)]
    return figures | {"drift.alarms": mean(float(one) for one in raised)}


def _alarms(scores: Iterable[Score]) -> list[bool]:
    return [one.read.changed for one in scores if one.page.kind in WITH_ROWS]


def _test_decoys(pages: Sequence[SerpPage]) -> Figures:
    missed: list[str] = []
    wrong: list[str] = []
    for page in pages:
        if page.kind not in WITH_ROWS or page.engine not in ENGINES:
            continue
        detected = are_decoys(page.query, _parse(page).results)
        if detected != (page.kind == "decoy"):
            (missed if page.kind == "decoy" else wrong).append(page.name)
    print_table("Decoys", ("", ""), [("missed", " ".join(missed) or "none"), ("wrong", " ".join(wrong) or "none")])
    return {"decoys_missed": len(missed), "decoys_wrong": len(wrong)}


def _compare_with_peers(pages: Sequence[SerpPage], ours: Mapping[str, Score]) -> Figures:
    figures: Figures = {}
    for peer, variants in PEERS.items():
        asked = [page for page in pages if f"{page.engine} {page.variant}" in variants or page.variant == "mobile"]
        asked = [page for page in asked if any(variant.startswith(page.engine) for variant in variants)]
        scores = [score(page, read) for page, read in zip(asked, parse_with_peer(peer, asked), strict=True)]
        same = [ours[page.name] for page in asked]
        engines = [_row(f"{peer} {engine}", listed) for engine, listed in _by_engine(scores).items()]
        title = f"{peer}, on the page variants that it requests"
        print_table(title, _COLUMNS, [*engines, _row(peer, scores), _row("search-mcp on the same", same)])
        figures |= {f"{peer}.{key}": value for key, value in _figures(scores).items()}
        figures |= {f"{peer}.ours.{key}": value for key, value in _figures(same).items()}
    return figures


def _parse(page: SerpPage) -> EngineResponse:
    engine = ENGINES.get(page.engine)
    return engine.parse(page.snapshot(), _NOW) if engine else response_parser.parse_response(page.snapshot(), _NOW)


def read_response(response: EngineResponse) -> ReadPage:
    """Return what the product read, in the words of the gold file."""
    rows = tuple(ReadRow(row.title, row.url, row.snippet) for row in response.results)
    # The gold file and the peers call such a page a wall.
    status = "wall" if response.outcome is EngineOutcome.BLOCKED else response.outcome.value
    return ReadPage(status, rows, response.layout_changed)


def _by_engine(scores: Iterable[Score]) -> Mapping[str, list[Score]]:
    found: defaultdict[str, list[Score]] = defaultdict(list)
    for one in scores:
        found[one.page.engine].append(one)
    return dict(sorted(found.items()))


def _figures(scores: Iterable[Score]) -> Figures:
    listed = list(scores)
    rows = [one for one in listed if one.page.kind in WITH_ROWS]
    walls = [one for one in listed if one.page.kind == "wall"]
    none = [one for one in listed if one.page.kind == "none"]
    hits = sum(one.hits for one in rows)
    return {
        "pages": len(listed),
        "recall": mean(one.recall for one in rows),
        "precision": mean(one.precision for one in rows),
        "order": mean(one.order for one in rows),
        "titles": share(sum(one.titles for one in rows), hits),
        "exact": share(sum(one.exact for one in rows), sum(one.exact_of for one in rows)),
        "snippets": share(sum(one.snippets for one in rows), hits),
        "ads": sum(one.ads for one in rows),
        "walls": mean(float(one.read.status == "wall") for one in walls),
        "walls_missed": sum(one.read.status != "wall" for one in walls),
        "false_walls": sum(one.read.status == "wall" for one in (*rows, *none)),
        "none": mean(float(one.read.status == "none" and not one.read.rows) for one in none),
        "invented": sum(bool(one.read.rows) for one in (*none, *walls)),
        "shells_as_none": sum(one.read.status == "none" for one in listed if one.page.kind in {"shell", "consent"}),
    }


def _row(name: str, scores: Iterable[Score]) -> tuple[object, ...]:
    listed = list(scores)
    found = _figures(listed)
    kinds = {one.page.kind for one in listed}
    of_rows = ("recall", "precision", "order", "titles", "exact", "snippets", "ads")
    return (
        name,
        int(found["pages"]),
        *(found[column] if kinds & WITH_ROWS else None for column in of_rows),
        found["walls"] if "wall" in kinds else None,
        int(found["false_walls"]),
        found["none"] if "none" in kinds else None,
        int(found["invented"]),
    )


if __name__ == "__main__":
    run(__doc__ or "", measure)
