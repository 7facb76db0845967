"""Measure what readers miss in the Markdown of a page: headings, posts, code, tables, lists and facts.

At least 240 pages of 24 kinds: a third is made from templates, the others are pages of the corpora, annotated by hand.
The figures are means of pages that have the element. `--peers` measures other readers in the same run.
README.md has the rules of annotation and of scoring.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.corpora import corpus_folder
from benchmarks.common.single_thread import restart_single_threaded
from benchmarks.faithful.gold import FOLDER, KINDS, Gold, read_gold
from benchmarks.faithful.made import made_pages
from benchmarks.faithful.score import FIGURES, Answer, score
from benchmarks.peers.launch import peer_python
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.render.page import iso_date

PEERS = {"trafilatura": "readers", "resiliparse": "readers", "html_to_markdown": "markdown", "crawl4ai": "crawl4ai"}
"""Peers and their environments."""

_OURS = "search-mcp"
_QUICK = 6
"""With `--quick`, one page in this many."""

_LIMIT_S = 1_800.0

Page = tuple[Gold, str]
"""Annotation and HTML."""


async def measure(options: Options) -> Figures:
    """Read every page with every reader.

    Raises:
        FileNotFoundError: A corpus or a peer is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("The pages are missing: give --corpora DIR.")
    return await asyncio.to_thread(_measure, options, options.corpora)


def _measure(options: Options, corpora: Path) -> Figures:
    pages = list(all_pages(corpora))[:: _QUICK if options.quick else 1]
    answers = {_OURS: [own_answer(page) for page in pages]}
    if options.peers:
        answers |= {peer: peer_answers(peer, pages) for peer in PEERS}
    scores = {
        name: [score(gold, answer) for (gold, _), answer in zip(pages, found, strict=True)]
        for name, found in answers.items()
    }
    figures: Figures = {"pages": len(pages), "pages.real": sum(not gold.made for gold, _ in pages)}
    rows = []
    for name, found in scores.items():
        owner = "" if name == _OURS else f"peers.{name}."
        whole = means(found)
        figures |= {f"{owner}{key}": value for key, value in whole.items()}
        rows.append((name, *(whole.get(key) for key in FIGURES)))
        figures |= {f"{owner}{key}": value for key, value in _parts(pages, found)}
    print_table(f"Share of the elements that are found, {len(pages)} pages", ("", *FIGURES), rows)
    _print_kinds(figures)
    return figures


def all_pages(corpora: Path) -> Iterator[Page]:
    """Yield the annotated pages of the corpora, then the synthetic ones.

    Raises:
        FileNotFoundError: A corpus is missing.
    """
    real: Counter[str] = Counter()
    for path in sorted(FOLDER.glob("*/*.json")):
        gold = read_gold(path)
        real[gold.kind] += 1
        html = corpus_folder(corpora, path.parent.name) / "html" / f"{path.stem}.html"
        yield gold, html.read_text(encoding="utf-8", errors="replace")
    yield from made_pages(real)


def means(scores: Iterable[Mapping[str, float]]) -> Figures:
    """Return the mean of each figure over the pages that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for found in scores:
        for key, value in found.items():
            values[key].append(value)
    return {key: statistics.mean(values[key]) for key in FIGURES if key in values}


def _parts(pages: Sequence[Page], scores: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """Yield the figures of each kind and of each origin."""
    groups: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for (gold, _), found in zip(pages, scores, strict=True):
        groups[f"kinds.{gold.kind}"].append(found)
        groups["made" if gold.made else "real"].append(found)
    for group, members in groups.items():
        for key, value in means(members).items():
            yield f"{group}.{key}", value


def _print_kinds(figures: Figures) -> None:
    for prefix, groups in (("", ("made", "real")), ("kinds.", KINDS)):
        rows = [(group, *(figures.get(f"{prefix}{group}.{key}") for key in FIGURES)) for group in groups]
        print_table(f"{_OURS} by {'kind' if prefix else 'origin'}", ("", *FIGURES), rows)


def own_answer(page: Page) -> Answer:
    """Return what `fetch` returns for the page: the facts of the header, and the Markdown."""
    gold, html = page
    document = reader.read(Snapshot(gold.url, gold.url, 200, media_type="text/html", html=html))
    return Answer(
        document.markdown,
        document.title or "",
        document.author or "",
        iso_date(document.published),
        [post.as_object() for post in document.discussion],
        " ".join(str(value) for name, value in document.facts if name in ("price", "currency")),
    )


def peer_answers(peer: str, pages: Sequence[Page]) -> list[Answer]:
    """Return the answers of a peer, read in its own environment.

    Raises:
        FileNotFoundError: The peer is not set up.
    """
    python = peer_python(PEERS[peer])
    if not (python.parent.parent / "set-up.json").exists():
        raise FileNotFoundError("The peers are missing: python -m benchmarks.setup_peers.")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        requests = []
        for number, (gold, html) in enumerate(pages):
            file = Path(folder) / f"{number}.html"
            file.write_text(html, encoding="utf-8", errors="replace", newline="")
            requests.append(json.dumps({"html": str(file), "url": gold.url}))
        done = subprocess.run(
            [str(python), "-m", "benchmarks.faithful.peer_readers", peer],
            cwd=REPOSITORY,
            input="\n".join(requests),
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
        )
    return [Answer(**json.loads(line)) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    restart_single_threaded("benchmarks.faithful")
    run(__doc__ or "", measure, optional_peers=True)
