"""Compare the Markdown of search-mcp and other converters, and their CPU per page, in one run.

There are three sets: content elements of documentation pages, whose Markdown source is known; whole short
difficult pages (code of many highlighters, footnotes, formulas, tables); and hand-marked main parts of other
pages. search-mcp is measured as the converter alone. Whole pages also pass the step that finds the content, with
a model that has not seen the page if `benchmarks.train_reader` has stored one. There, `hard.converter.*` is the
converter alone. Milliseconds are CPU, parsing included; the converters take the pages in turn.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lxml import etree
from markdownify import markdownify as stock_markdownify

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.single_thread import restart_single_threaded
from benchmarks.markdown.pages import SETS, MarkdownPage, pages
from benchmarks.markdown.score import score, summary
from benchmarks.markdown.stock import StockConverter
from benchmarks.peers.launch import peer_python
from benchmarks.reader.unseen_models import UnseenModels
from benchmarks.training.pages import samples
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.extract.markdown import converter
from scraper.html.dom import parsing
from scraper.html.page import page_tree

Answers = list[tuple[str, float]]
"""Markdown and milliseconds of each page."""

_OURS, _READER = "search-mcp", "search-mcp reader"
_PEERS = ("markdownify", "html_to_markdown", "html2text", "trafilatura", "markitdown")
_QUICK = 24
_LIMIT_S = 1_800.0
_PERCENTILE = 0.95
_TITLES = {
    "documentation": "Content elements of documentation pages",
    "fixtures": "Difficult pages, whole",
    "main": "Hand-marked main parts of difficult pages",
}
_COLUMNS = {
    "documentation": ("headings", "code", "code_lang", "tables", "cells", "list_items", "links", "relative_links"),
    "fixtures": ("edit", "code_text", "code_edit", "code_lang", "cells", "teds", "math", "footnote_pages"),
    "main": ("edit", "text", "code_edit", "cells", "teds", "math"),
}
_PREFIX = {"documentation": "", "fixtures": "hard.", "main": "main."}
_GOALS = (
    Goal("headings", at_least=0.99),
    Goal("code", at_least=0.99),
    Goal("tables", at_least=0.985),
    Goal("list_items", at_least=0.995),
    Goal("links", at_least=0.98),
    Goal("relative_links", at_most=0),
    Goal("hard.edit", at_least=0.85),
    Goal("hard.code_text", at_least=0.88),
    Goal("hard.code_lang", at_least=0.95),
    Goal("hard.cells", at_least=0.90),
    Goal("hard.teds", at_least=0.95),
    Goal("hard.math", at_least=0.85),
    Goal("hard.footnote_pages", at_least=24),
    Goal("main.edit", at_least=0.85),
    Goal("main.code_edit", at_least=0.55),
    Goal("main.cells", at_least=0.72),
    Goal("main.teds", at_least=0.90),
    Goal("main.math", at_least=0.80),
    Goal("cpu_ratio.html_to_markdown", at_most=3),
    Goal("cpu_ratio.markdownify", at_most=0.25),
    Goal("stock_differs", at_most=0),
)


async def measure(options: Options) -> Figures:
    """Convert the pages of the three sets with every converter."""
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the corpora: --corpora DIR.")
    return await asyncio.to_thread(_measure, options.corpora, _QUICK if options.quick else None)


def _measure(corpora: Path, limit: int | None) -> Figures:
    figures: Figures = {}
    for kind in SETS:
        selected = list(pages(corpora, kind))[:limit]
        answers = _all_answers(kind, selected, corpora)
        figures |= _figures(kind, selected, answers)
        if kind == "documentation":
            figures |= _ratios(answers)
            figures["stock_differs"] = sum(map(_stock_differs, selected))
    print_goals(figures, _GOALS)
    return figures


def _all_answers(kind: str, selected: Sequence[MarkdownPage], corpora: Path) -> dict[str, Answers]:
    """Convert each page with all converters in turn, so that all have the same load on the machine."""
    ours: dict[str, Callable[[MarkdownPage], str]] = {_OURS: _convert}
    if kind == "fixtures":
        ours[_READER] = _reader(corpora)
    answers: dict[str, Answers] = {name: [] for name in (*ours, *_PEERS)}
    python = peer_python("markdown")
    if not (python.parent.parent / "set-up.json").exists():
        raise FileNotFoundError("The peers are not installed: python -m benchmarks.setup_peers.")
    for convert in ours.values():
        convert(selected[0])
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder, _peers(python) as peers:
        file = Path(folder) / "page.html"
        for page in selected:
            for name, convert in ours.items():
                started = time.process_time()
                text = convert(page)
                answers[name].append((text, (time.process_time() - started) * 1e3))
            file.write_text(page.html, encoding="utf-8", errors="replace", newline="")
            for name, (text, ms) in _convert_with_peers(peers, file, page.url).items():
                answers[name].append((text, ms))
    return answers


def _peers(python: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(python), "-m", "benchmarks.peers.runners.markdown_converters", *_PEERS],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _convert_with_peers(peers: subprocess.Popen[str], file: Path, url: str) -> Mapping[str, tuple[str, float]]:
    assert peers.stdin is not None and peers.stdout is not None
    peers.stdin.write(json.dumps({"html": str(file), "url": url}) + "\n")
    peers.stdin.flush()
    line = peers.stdout.readline()
    if not line:
        raise RuntimeError("The peers' process ended.")
    answers: dict[str, tuple[str, float]] = json.loads(line)
    return answers


def _convert(page: MarkdownPage) -> str:
    """Convert HTML to Markdown with the converter alone."""
    root = parsing.parse_html(page.html).root
    if root is None:
        return ""
    body = root.find("body")
    base = page_tree.find_base_url(root, page.url)
    return converter.convert(root if body is None else body, base).markdown


def _reader(corpora: Path) -> Callable[[MarkdownPage], str]:
    """Return a function that converts a page like `fetch`: without hidden text, main content only."""
    models = UnseenModels()
    # Most of the pages are among the training pages, under another prefix.
    domains = {sample.id.partition("-")[2]: sample.domain for sample in samples(corpora, "extra-pages")}

    def read(page: MarkdownPage) -> str:
        domain = domains.get(page.id.partition("-")[2])
        model = None if domain is None else models.of_domain(domain)
        snapshot = Snapshot(page.url, page.url, 200, media_type="text/html", html=page.html)
        return reader.read(snapshot, model).markdown

    return read


def _figures(kind: str, selected: Sequence[MarkdownPage], answers: Mapping[str, Answers]) -> Figures:
    figures: Figures = {}
    rows = []
    for name, results in answers.items():
        found = summary(score(page.gold, text) for page, (text, _) in zip(selected, results, strict=True))
        times = sorted(ms for _, ms in results)
        found["ms"] = statistics.median(times)
        found["ms_p95"] = times[int(len(times) * _PERCENTILE)]
        rows.append((name, *(found.get(key) for key in (*_COLUMNS[kind], "ms", "ms_p95"))))
        owner = f"{name}."
        if name in (_OURS, _READER):
            owner = "converter." if name == _OURS and _READER in answers else ""
        figures |= {f"{_PREFIX[kind]}{owner}{key}": value for key, value in found.items()}
    print_table(f"{_TITLES[kind]}: {len(selected)}", ("", *_COLUMNS[kind], "ms", "p95"), rows)
    return figures


def _ratios(answers: Mapping[str, Answers]) -> Figures:
    """Return the ratio of our median CPU to that of two peers."""
    ours = statistics.median(ms for _, ms in answers[_OURS])
    return {
        f"cpu_ratio.{name}": ours / statistics.median(ms for _, ms in answers[name])
        for name in ("html_to_markdown", "markdownify")
    }


def _stock_differs(page: MarkdownPage) -> bool:
    """Return True if markdownify's rules give a different result with our tree traversal."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(page.html.encode("utf-8", "replace"), parser)
    return StockConverter().render_tree(root) != stock_markdownify(page.html, bs4_options="lxml")


if __name__ == "__main__":
    restart_single_threaded("benchmarks.markdown")
    run(__doc__ or "", measure)
