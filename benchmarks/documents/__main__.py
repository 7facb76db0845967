"""Compare document readers: quality, robustness against damaged files, and cost.

search-mcp reads each document in a separate sandboxed process, as `read_doc` does. The peers read in one process
without limits: their times are those of the reading alone.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.documents import corpus as sets
from benchmarks.documents.completeness import Answer, countable_files, measure_completeness
from benchmarks.documents.left_out import measure_left_out
from benchmarks.documents.printed import measure_made_files
from benchmarks.documents.random_documents.measure import measure_random_documents, write_with_gold
from benchmarks.documents.scans import measure_recognition
from benchmarks.documents.score import Scores, fact_holds, scores, table_score, xml_relations
from benchmarks.peers.launch import peer_python
from benchmarks.peers.runners import document_readers
from scraper.documents.model import ParseRequest
from scraper.errors import ScraperError
from scraper.model import FIRST_CHARACTERS
from scraper.reading.documents.ocr import Tesseract
from scraper.reading.documents.parser import DocumentParser
from scraper.text.markdown_structure import strip_markdown
from scraper.workers.single_use import ResourceLimits, SingleUseProcesses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OURS = "search-mcp"
_PEERS = {
    "pdf": ("liteparse", "markitdown", "pdfplumber"),
    "docx": ("markitdown", "pandoc"),
    "xlsx": ("markitdown",),
    "pptx": ("markitdown",),
    "odf": ("pandoc",),
    "csv": ("markitdown",),
    "epub": ("markitdown", "pandoc"),
}
_PEER_LIMIT_S = 900
_LIMIT_S = 120.0
_SLACK = 1.25
"""Allowed memory overrun. Memory is checked twenty times a second, so a process may briefly exceed its limit."""
_MUTANTS, _QUICK_MUTANTS, _QUICK_FILES = 200, 20, 60
_RANDOM, _QUICK_RANDOM = 320, 40
_OTHERS, _QUICK_OTHERS = 60, 12
"""Documents of random layout that decide about rules."""
_TIMES = 7
_GOALS = (
    Goal("crashes", at_most=0),
    Goal("over_limits", at_most=0),
    Goal("neighbour.factor", at_most=2),
    Goal("complete.wrong_empty", at_most=0),
    Goal("complete.silent_loss", at_most=0),
    Goal("complete.unread", at_most=0),
    Goal("complete.letters", at_least=0.97),
    Goal("made.order", at_least=0.997),
    Goal("made.tables", at_least=0.97),
    Goal("made.headings", at_least=0.98),
    Goal("icdar.tables", at_least=0.82),
    Goal("docling.order", at_least=0.94),
    Goal("docling.tables", at_least=0.62),
    Goal("docling.headings", at_least=0.55),
    Goal("docx.words", at_least=0.97),
    Goal("docx.tables", at_least=0.8),
    Goal("docx.headings", at_least=0.95),
    Goal("left_out.docling_order", at_least=0.92),
    Goal("left_out.docling_tables", at_least=0.55),
    Goal("left_out.docling_headings", at_least=0.65),
    Goal("left_out.icdar", at_least=0.89),
    Goal("left_out.facts", at_least=0.5),
    Goal("rtl.order", at_least=0.97),
    Goal("mail.parts", at_least=1),
    Goal("long.first_ratio", at_most=3),
    Goal("ocr.cer", at_most=0.05),
    Goal("xlsx.words", at_least=0.95),
    Goal("pptx.words", at_least=0.95),
    Goal("cpu_s_117_pages", at_most=1.5),
    Goal("three_pages_ms", at_most=150),
)

Texts = Mapping[Path, str]


async def measure(options: Options) -> Figures:
    """Measure quality, robustness and cost."""
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the corpora: --corpora DIR, with documents/ or documents.tar.xz.")
    corpus = corpus_folder(options.corpora, "documents")
    async with _parser() as parser:
        # Robustness first: the system reports the peak memory over all children, and peers are children too.
        figures = await _robustness(parser, corpus, quick=options.quick)
        figures |= await measure_completeness(
            lambda file: _answer(parser, file, file.read_bytes()), countable_files(corpus)
        )
        figures |= await _quality(parser, corpus)
        figures |= await measure_random_documents(
            lambda data, name: _text(parser, data, name), count=_QUICK_RANDOM if options.quick else _RANDOM
        )
        figures |= await measure_made_files(
            lambda data, name: _text(parser, data, name),
            lambda data, name: _text(parser, data, name, characters=FIRST_CHARACTERS),
        )
    with tempfile.TemporaryDirectory() as folder:
        count = _QUICK_OTHERS if options.quick else _OTHERS
        produced = await asyncio.to_thread(write_with_gold, count, Path(folder))
        figures |= await asyncio.to_thread(measure_left_out, corpus, produced)
    figures |= await _recognition()
    figures |= await _cost(corpus)
    print_goals(figures, _GOALS)
    return figures


@asynccontextmanager
async def _parser(*, keep_warm: bool = True) -> AsyncIterator[DocumentParser]:
    processes = SingleUseProcesses(2, keep_warm=keep_warm)
    try:
        yield DocumentParser(processes)
    finally:
        await processes.close()


async def _quality(parser: DocumentParser, corpus: Path) -> Figures:
    figures: Figures = {}
    for name, folder in (("made", "pdf-made"), ("docling", "pdf-docling")):
        figures |= await _scored(parser, name, sets.with_gold(corpus / folder), _PEERS["pdf"])
    figures |= await _tables(parser, sets.icdar(corpus / "pdf-tables-icdar2013"))
    figures |= await _facts(parser, corpus / "pdf-facts")
    for kind in ("docx", "xlsx", "pptx", "odf", "csv", "epub"):
        peers = _PEERS[kind]
        figures |= await _scored(parser, kind, sets.with_gold(corpus / "office-docling" / kind, kind), peers)
    return figures


async def _recognition() -> Figures:
    """Measure text recognition on generated scans."""
    processes = SingleUseProcesses(2)
    parser = DocumentParser(processes, Tesseract())

    async def recognize(pdf: bytes) -> str:
        return strip_markdown(await _text(parser, pdf, "scan.pdf"))

    try:
        return await measure_recognition(recognize)
    finally:
        await processes.close()


async def _scored(parser: DocumentParser, name: str, pairs: Sequence[sets.Gold], peers: Sequence[str]) -> Figures:
    figures: Figures = {}
    rows = []
    for reader, texts in (await _readers(parser, [pair.file for pair in pairs], peers)).items():
        found = [scores(pair.gold.read_text("utf-8"), texts.get(pair.file, "")) for pair in pairs]
        means = {measure: _mean(found, measure) for measure in ("words", "order", "tables", "headings")}
        rows.append((reader, *means.values()))
        prefix = name if reader == OURS else f"{reader}.{name}"
        figures |= {f"{prefix}.{measure}": value for measure, value in means.items() if value is not None}
    print_table(f"{name}: {len(pairs)} files", ("reader", "words", "order", "tables", "headings"), rows)
    return figures


def _mean(found: Sequence[Scores], measure: str) -> float | None:
    values = [value for one in found if (value := getattr(one, measure)) is not None]
    return statistics.mean(values) if values else None


async def _tables(parser: DocumentParser, pairs: Sequence[sets.Gold]) -> Figures:
    golds = {pair.file: xml_relations(pair.gold) for pair in pairs}
    golds = {file: gold for file, gold in golds.items() if gold}
    figures: Figures = {}
    for reader, texts in (await _readers(parser, list(golds), _PEERS["pdf"])).items():
        prefix = "icdar" if reader == OURS else f"{reader}.icdar"
        figures[f"{prefix}.tables"] = statistics.mean(
            table_score(gold, texts.get(file, "")) for file, gold in golds.items()
        )
    print_table(f"ICDAR 2013: tables of {len(golds)} files", ("reader", "adjacency F1"), figures.items())
    return figures


async def _facts(parser: DocumentParser, folder: Path) -> Figures:
    facts = sets.facts_in(folder)
    figures: Figures = {}
    rows = []
    kinds = sorted({fact["type"] for _, fact in facts})
    for reader, texts in (await _readers(parser, sorted({file for file, _ in facts}), _PEERS["pdf"])).items():
        held: dict[str, list[bool]] = defaultdict(list)
        for file, fact in facts:
            held[fact["type"]].append(fact_holds(fact, texts.get(file, "")))
        rows.append((reader, *(f"{sum(held[kind])} of {len(held[kind])}" for kind in kinds)))
        if reader == OURS:
            figures |= {f"facts.{kind}": sum(held[kind]) for kind in kinds}
            figures |= {f"facts.{kind}.of": len(held[kind]) for kind in kinds}
    print_table("Facts of pages", ("reader", *kinds), rows)
    return figures


async def _readers(parser: DocumentParser, files: Sequence[Path], peers: Sequence[str]) -> dict[str, Texts]:
    texts: dict[str, Texts] = {OURS: {file: await _text(parser, file.read_bytes(), file.name) for file in files}}
    for peer in peers if _has_peers() else ():
        texts[peer] = await asyncio.to_thread(_peer_texts, peer, files)
    return texts


async def _text(parser: DocumentParser, data: bytes, name: str, *, characters: int = 0) -> str:
    try:
        return (
            await parser.parse(data, ParseRequest(name=name, characters=characters), limit_s=_LIMIT_S, source=name)
        ).markdown
    except ScraperError:
        return ""


async def _answer(parser: DocumentParser, file: Path, data: bytes) -> Answer:
    try:
        parsed = await parser.parse(data, ParseRequest(name=file.name), limit_s=_LIMIT_S, source=file.name)
    except ScraperError as error:
        return Answer("", error.code)
    return Answer(parsed.markdown, "", parsed.warnings, bool(parsed.ocr_pages))


@cache
def _has_peers() -> bool:
    """Return True if the environment of the peers was set up; say so once if not."""
    if peer_python("documents").exists():
        return True
    print("Peers are left out: run `python -m benchmarks.setup_peers` to measure them.")
    return False


def _peer_texts(peer: str, files: Sequence[Path]) -> Texts:
    """Return the texts of a peer by file; files that it cannot read are missing."""
    python = peer_python("documents")
    command = [str(python), document_readers.__file__, peer, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PEER_LIMIT_S)
    answers = (json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"path"'))
    return {Path(answer["path"]): answer["text"] for answer in answers}


async def _robustness(parser: DocumentParser, corpus: Path, *, quick: bool) -> Figures:
    """Read hostile and damaged files; each must yield a text or a typed error, without slowing other readers."""
    files = sets.hostile(corpus)
    jobs = [(file.name, file.read_bytes()) for file in files]
    jobs += sets.mutants(files, _QUICK_MUTANTS if quick else _MUTANTS)
    if quick:
        jobs = jobs[: _QUICK_FILES + _QUICK_MUTANTS]
    small = next(iter(sets.with_gold(corpus / "pdf-made"))).file.read_bytes()
    alone_s = await _median_seconds(lambda: _text(parser, small, "small.pdf"), _TIMES)
    outcomes: dict[str, int] = defaultdict(int)
    crashes = over_limits = 0
    parallel_s: list[float] = []
    for number, (name, data) in enumerate(jobs):
        started = time.perf_counter()
        neighbour = (
            asyncio.create_task(_median_seconds(lambda: _text(parser, small, "small.pdf"), 1))
            if number % 10 == 0
            else None
        )
        try:
            outcome = await _outcome(parser, data, name)
        except Exception as error:  # counted as a crash
            print(f"{name}: {type(error).__name__}: {error}")
            outcome, crashes = "CRASH", crashes + 1
        outcomes[outcome] += 1
        over_limits += time.perf_counter() - started > _LIMIT_S * 1.6
        if neighbour is not None:
            parallel_s.append(await neighbour)
    heaviest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    over_limits += heaviest > ResourceLimits().memory_bytes * _SLACK
    print_table(f"Hostile and damaged files: {len(jobs)}", ("outcome", "files"), sorted(outcomes.items()))
    factor = statistics.median(parallel_s) / alone_s if parallel_s else 0.0
    return {
        "crashes": crashes, "over_limits": over_limits, "robustness.files": len(jobs),
        "robustness.heaviest_mb": heaviest / 1e6, "neighbour.factor": factor,
    }  # fmt: skip


async def _outcome(parser: DocumentParser, data: bytes, name: str) -> str:
    try:
        parsed = await parser.parse(data, ParseRequest(name=name), limit_s=_LIMIT_S, source=name)
    except ScraperError as error:
        return error.code
    return "text" if parsed.markdown else "EMPTY TEXT"


async def _median_seconds(work: Callable[[], Awaitable[object]], times: int) -> float:
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        await work()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent)


async def _cost(corpus: Path) -> Figures:
    figures: Figures = {}
    book = sets.long_pdf(corpus)
    if book is not None:
        async with _parser(keep_warm=False) as parser:
            before = _children_cpu_s()
            await _text(parser, book.read_bytes(), book.name)
            figures["cpu_s_117_pages"] = _children_cpu_s() - before
    three = next((pair.file for pair in sets.with_gold(corpus / "pdf-made") if pair.file.name.startswith("one")), None)
    if three is not None:
        async with _parser() as parser:
            spent = []
            for _ in range(_TIMES):
                started = time.perf_counter()
                await _text(parser, three.read_bytes(), three.name)
                spent.append(time.perf_counter() - started)
                await asyncio.sleep(0.5)  # the next process starts between two calls, as in practice
            figures["three_pages_ms"] = statistics.median(spent[1:]) * 1000
    print_table("Cost, including the process", ("figure", "value"), figures.items())
    return figures


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    run(__doc__ or "", measure)
