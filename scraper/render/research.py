"""The answer of `research`: the sources first, numbered, then what those that were read say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import Reading, ReadPage, ResearchReport, SearchAnswer, SearchResult
from scraper.render import errors
from scraper.render.excerpts import failure, page_object, section
from scraper.render.untrusted_region import EXPLANATION, seal

RULE = "\n\n---\n\n"

_MAX_QUESTION = 500
_MAX_URL = 2_000
_MAX_ALSO = 5
_MAX_TITLE = 200
_MAX_SNIPPET = 240
_MAX_HINT = 400
_MAX_ERROR = 500
_JSON_TOKENS = 40
"""What a source's names take beside its text."""


def as_markdown(brief: ResearchReport, *, region: str, now: datetime | None = None) -> str:
    """Facts, the numbered sources, then a section for each page that was read or failed."""
    opening = "\n".join(
        [
            "# Research brief",
            "",
            f"Question: {clean_line(brief.question, _MAX_QUESTION)}",
            *_facts(brief),
            EXPLANATION.format(region=region),
        ]
    )
    ranks = _ranks(brief.search)
    sections = [_section(page, brief, ranks, region, now) for page in brief.pages]
    return RULE.join([f"{opening}\n\n{_sources(brief.search, region)}", *sections])


def as_json(brief: ResearchReport) -> dict[str, object]:
    """The brief for programs; `rank` joins documents and sources."""
    ranks = _ranks(brief.search)
    documents = [_document(page, brief, ranks) for page in brief.pages]
    sources = [_source(rank, result, brief) for rank, result in enumerate(brief.search.results, start=1)]
    answer: dict[str, object] = {
        "question": brief.question,
        "engines": list(brief.search.engines),
        "sources": sources,
        "documents": documents,
        "tokens_estimated": _estimated(documents) if brief.pages else sources_tokens(brief.search),
        "errors": dict(brief.search.errors),
        "pages_read": len(_read(brief)),
        "independent_sources": _independent(brief),
        "cached": brief.search.cached,
    }
    if brief.search.hint:
        answer["hint"] = clean_line(brief.search.hint, _MAX_HINT)
    if brief.search.retrieved_at is not None:
        answer["retrieved_at"] = brief.search.retrieved_at.isoformat(timespec="seconds")
    if brief.search.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_HINT) for warning in brief.search.warnings]
    return answer


def sources_tokens(answer: SearchAnswer) -> int:
    """What the list of sources takes of an answer."""
    listed = "\n\n".join(_listed(rank, result) for rank, result in enumerate(answer.results, start=1))
    return token_estimate.estimate(listed) + _JSON_TOKENS * len(answer.results)


def _facts(brief: ResearchReport) -> list[str]:
    search = brief.search
    asked = ", ".join(clean_line(name, _MAX_TITLE) for name in search.engines)
    facts = [f"Engines: {asked}" + (" (kept search)" if search.cached else "")]
    facts.append(f"Sources: {_counted(brief)}")
    if search.errors:
        told = "; ".join(
            f"{clean_line(name, 40)}: {clean_line(why, _MAX_TITLE)}" for name, why in search.errors.items()
        )
        facts.append(f"Engine errors: {told}")
    if search.hint:
        facts.append(f"Hint: {clean_line(search.hint, _MAX_HINT)}")
    facts += [f"Warning: {clean_line(warning, _MAX_HINT)}" for warning in search.warnings]
    if brief.pages:
        facts.append("Cite as [n].")
    return facts


def _counted(brief: ResearchReport) -> str:
    found = f"{len(brief.search.results)} found"
    if not brief.pages:
        return found
    read, independent = len(_read(brief)), _independent(brief)
    failed = len(brief.pages) - read
    pages = f"{read} page{'s' if read != 1 else ''}, {independent} independent"
    return f"{found}, {pages}" + (f", {failed} could not be read" if failed else "")


def _sources(search: SearchAnswer, region: str) -> str:
    if not search.results:
        return "## Sources\n\n(none)"
    rows = [_listed(rank, result) for rank, result in enumerate(search.results, start=1)]
    return f"## Sources\n\n{seal(chr(10).join(rows), region)}"


def _listed(rank: int, result: SearchResult) -> str:
    lines = [f"[{rank}] {clean_line(result.title, _MAX_TITLE)}", f"<{clean_line(result.url, _MAX_URL)}>"]
    told = [result.date.date().isoformat()] if result.date else []
    told += [clean_line(result.source, 80)] if result.source else []
    told += [clean_line(result.snippet, _MAX_SNIPPET)] if result.snippet else []
    return "\n".join([*lines, *([" · ".join(told)] if told else [])])


def _section(
    page: ReadPage, brief: ResearchReport, ranks: Mapping[str, int], region: str, now: datetime | None
) -> str:
    heading = f"## [{ranks[page.url]}]"
    if not isinstance(page.outcome, Reading):
        return f"{heading}\n\nError: {clean_line(errors.sentence(page.outcome), _MAX_ERROR)}"
    if page.same_as is not None:
        same = ranks[brief.pages[page.same_as].url]
        return f"{heading}\n\nThe same text as [{same}]: not an independent source."
    return f"{heading}\n\n{section(page, page.outcome, region, now)}"


def _source(rank: int, result: SearchResult, brief: ResearchReport) -> dict[str, object]:
    tried = {page.url: isinstance(page.outcome, Reading) for page in brief.pages}
    source: dict[str, object] = {
        "rank": rank,
        "title": clean_line(result.title, _MAX_TITLE),
        "url": clean_line(result.url, _MAX_URL),
        "snippet": clean_line(result.snippet, _MAX_SNIPPET),
        "engines": list(result.engines),
        "score": result.score,
        "date": result.date.date().isoformat() if result.date else None,
        "read": tried.get(result.url, False),
    }
    if result.also:
        source["also"] = [clean_line(url, _MAX_URL) for url in result.also[:_MAX_ALSO]]
    return source


def _document(page: ReadPage, brief: ResearchReport, ranks: Mapping[str, int]) -> dict[str, object]:
    rank = ranks[page.url]
    if not isinstance(page.outcome, Reading):
        return {"rank": rank, "url": clean_line(page.url, _MAX_URL), **failure(page)}
    document = {"rank": rank, **page_object(page, page.outcome)}
    if page.same_as is not None:
        document["same_text_as"] = ranks[brief.pages[page.same_as].url]
    return document


def _estimated(documents: list[dict[str, object]]) -> int:
    counts = (document.get("tokens_estimated") for document in documents)
    return sum(count for count in counts if isinstance(count, int))


def _ranks(search: SearchAnswer) -> Mapping[str, int]:
    """The number of each source; the first of those that share a URL."""
    return {result.url: rank for rank, result in reversed(list(enumerate(search.results, start=1)))}


def _read(brief: ResearchReport) -> list[ReadPage]:
    return [page for page in brief.pages if isinstance(page.outcome, Reading)]


def _independent(brief: ResearchReport) -> int:
    return sum(page.same_as is None for page in _read(brief))
