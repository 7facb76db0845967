"""Render pages with their excerpts for a question: `research`, `compare`, and `fetch`, `fetch_batch` and `read_doc`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from scraper.engines.model import SearchAnswer, SearchResult
from scraper.model import Reading
from scraper.render import page as render_page
from scraper.render.batch import RULE, failed_row
from scraper.render.document import page_at
from scraper.render.json_truncation import drop_empty
from scraper.render.untrusted_text import UNTRUSTED_NOTICE, display_url, error_object, error_sentence, mark_untrusted
from scraper.retrieval.model import Excerpt, PageExcerpts
from scraper.retrieval.text_fragments import link_to_quotation, visible_line
from scraper.text import token_estimate
from scraper.text.language import detect_language
from scraper.text.markdown_structure import TextCut
from scraper.text.sanitize import clean_line

_GAP = "[…]"
"""Mark between excerpts that are not adjacent."""
PAGE_TOKENS = 130
"""Estimated tokens of a page in addition to its excerpts: header and separators, or field names in JSON."""

_NO_EXCERPTS = "The answer has no space for this page; `fetch` reads it in full."
_PAGE_FIELDS = ("start", "returned_chars", "total_chars", "next_start", "notice")
"""Fields in answers of `fetch` that do not apply to excerpts, and the notice, which is stated once for all pages."""

_MAX_QUESTION = 500
_MAX_URL = 2_000
_MAX_TITLE = 200
_MAX_SNIPPET = 240
_MAX_HINT = 400
_JSON_TOKENS = 40
"""Tokens of the field names of a source."""


@dataclass(frozen=True, slots=True)
class ResearchReport:
    """Results of a search for a question, and excerpts of the best pages."""

    question: str
    search: SearchAnswer
    pages: tuple[PageExcerpts, ...] = ()
    """Pages that were tried, in the order of the results."""


def as_markdown(report: ResearchReport, *, region: str, now: datetime | None = None) -> str:
    """Return facts, the numbered sources, of which there is at least one, and a section for each page or error."""
    question = f"Question: {clean_line(report.question, _MAX_QUESTION)}"
    opening = "\n".join(["# Research brief", "", question, *_facts(report)])
    ranks, sections = _ranks(report.search), []
    for page in report.pages:
        heading = f"## [{ranks[page.url]}]"
        if page.same_as is None or not isinstance(page.outcome, Reading):
            sections.append(_page_section(heading, page, region, now))
        else:
            same = ranks[report.pages[page.same_as].url]
            sections.append(f"{heading}\n\nThe same text as [{same}]: not an independent source.")
    read = {page.url for page in report.pages if page.excerpts}
    # Sources of which passages follow need no snippet.
    rows = [
        _source_row(rank, replace(result, snippet="") if result.url in read else result)
        for rank, result in enumerate(report.search.results, start=1)
    ]
    return RULE.join([f"{opening}\n\n## Sources\n\n{mark_untrusted(chr(10).join(rows), region)}", *sections])


def as_json(report: ResearchReport) -> dict[str, object]:
    """Return the report as an object; `rank` connects documents with sources."""
    ranks, search = _ranks(report.search), report.search
    documents = [_document(page, report, ranks) for page in report.pages]
    known = {
        "hint": clean_line(search.hint or "", _MAX_HINT),
        "retrieved_at": search.retrieved_at and search.retrieved_at.isoformat(timespec="seconds"),
        "warnings": [clean_line(warning, _MAX_HINT) for warning in search.warnings],
    }
    return {
        "question": report.question,
        "engines": list(search.engines),
        "sources": [_source(rank, result, report) for rank, result in enumerate(search.results, start=1)],
        "documents": documents,
        "tokens_estimated": _sum_tokens(documents) if report.pages else sources_tokens(search),
        "errors": dict(search.errors),
        "pages_read": len(_pages_read(report)),
        "independent_sources": _count_independent(report),
        "cached": search.cached,
        **drop_empty(known),
        "notice": UNTRUSTED_NOTICE,
    }


def comparison_as_markdown(
    question: str, pages: Sequence[PageExcerpts], *, region: str, now: datetime | None = None
) -> str:
    """Return a section with excerpts or error for each page, in the requested order."""
    read = sum(isinstance(page.outcome, Reading) for page in pages)
    facts = [f"Question: {clean_line(question, _MAX_QUESTION)}", f"Pages: {read} of {len(pages)} read"]
    opening = "\n".join(["# Comparison", "", *facts])
    sections = []
    for number, page in enumerate(pages, start=1):
        same = "" if page.same_as is None else f"\nThe same text as page {page.same_as + 1}."
        sections.append(_page_section(f"## {number}. {display_url(page.url)}", page, region, now) + same)
    return RULE.join([opening, *sections])


def comparison_as_json(question: str, pages: Sequence[PageExcerpts]) -> dict[str, object]:
    """Return a comparison; `excerpts` has an object for each page, with `passages` or `error`."""
    excerpts = [_compared_object(page, pages) for page in pages]
    return {
        "question": question,
        "urls": [page.url for page in pages],
        "excerpts": excerpts,
        "tokens_estimated": _sum_tokens(excerpts),
        "notice": UNTRUSTED_NOTICE,
    }


def sources_tokens(answer: SearchAnswer) -> int:
    """Estimate the tokens of the list of sources."""
    rows = "\n\n".join(_source_row(rank, result) for rank, result in enumerate(answer.results, start=1))
    return token_estimate.estimate(rows) + _JSON_TOKENS * len(answer.results)


def join_excerpts(page: PageExcerpts, *, linked: bool) -> str:
    """Join the excerpts of a page, each below its page number and headings.

    With `linked`, excerpts are numbered, and the fragments that open the page at them follow. A page that is returned
    whole needs none.
    """
    if not isinstance(page.outcome, Reading):
        return ""
    markdown = page.outcome.document.markdown
    parts: list[str] = []
    links: list[str] = []
    end = 0
    for number, excerpt in enumerate(page.excerpts, start=1):
        if markdown[end : excerpt.start].strip():
            parts.append(_GAP)
        end = excerpt.end
        number_page = page_at(markdown, excerpt.start)
        fragment = _fragment(page.outcome, excerpt)
        is_numbered = linked and fragment and not number_page
        mark = f"§{number}" if is_numbered and len(page.excerpts) > 1 else ""
        if is_numbered:
            links.append(f"{mark} {fragment}".lstrip())
        label = ", ".join(filter(None, (f"p. {number_page}" if number_page else "", _heading(excerpt))))
        parts += [part for part in (f"{mark} {label}".strip(), excerpt.text) if part]
    is_whole = len(page.excerpts) == 1 and not (_GAP in parts or markdown[end:].strip())
    if is_whole:
        return page.excerpts[0].text
    if page.excerpts and markdown[end:].strip():
        parts.append(_GAP)
    return "\n\n".join([*parts, *(["\n".join(links)] if links else [])])


def _facts(report: ResearchReport) -> list[str]:
    search = report.search
    engines = ", ".join(clean_line(name, _MAX_TITLE) for name in search.engines)
    facts = [f"Engines: {engines}" + (" (cached search)" if search.cached else "")]
    read, independent = len(_pages_read(report)), _count_independent(report)
    failed = len(report.pages) - read
    counts = f", {read} page{'s' if read != 1 else ''}, {independent} independent" if report.pages else ""
    counts += f", {failed} could not be read" if failed else ""
    facts.append(f"Sources: {len(search.results)} found{counts}")
    if search.errors:
        errors = (f"{clean_line(name, 40)}: {clean_line(why, _MAX_TITLE)}" for name, why in search.errors.items())
        facts.append(f"Engine errors: {'; '.join(errors)}")
    if search.hint:
        facts.append(f"Hint: {clean_line(search.hint, _MAX_HINT)}")
    facts += [f"Warning: {clean_line(warning, _MAX_HINT)}" for warning in search.warnings]
    if report.pages:
        facts.append("Cite as [n].")
    return facts


def _source_row(rank: int, result: SearchResult) -> str:
    lines = [f"[{rank}] {clean_line(result.title, _MAX_TITLE)}", f"<{clean_line(result.url, _MAX_URL)}>"]
    facts = [result.date.date().isoformat()] if result.date else []
    facts += [clean_line(result.source, 80)] if result.source else []
    facts += [clean_line(result.snippet, _MAX_SNIPPET)] if result.snippet else []
    return "\n".join([*lines, *([" · ".join(facts)] if facts else [])])


def _source(rank: int, result: SearchResult, report: ResearchReport) -> dict[str, object]:
    was_read = {page.url: isinstance(page.outcome, Reading) for page in report.pages}
    return {
        "rank": rank,
        "title": clean_line(result.title, _MAX_TITLE),
        "url": clean_line(result.url, _MAX_URL),
        "snippet": clean_line(result.snippet, _MAX_SNIPPET),
        "engines": list(result.engines),
        "score": result.score,
        "date": result.date.date().isoformat() if result.date else None,
        "read": was_read.get(result.url, False),
        **drop_empty({"also": [clean_line(url, _MAX_URL) for url in result.also[:5]]}),
    }


def _page_section(heading: str, page: PageExcerpts, region: str, now: datetime | None) -> str:
    if not isinstance(page.outcome, Reading):
        return f"{heading}\n\nError: {clean_line(error_sentence(page.outcome), 500)}"
    piece = TextCut.whole(join_excerpts(page, linked=True))
    header = render_page.header(page.outcome, piece, now, title=heading)
    text = render_page.untrusted_page(page.outcome, piece, region) if page.excerpts else _NO_EXCERPTS
    return "\n".join([*header, text])


def _document(page: PageExcerpts, report: ResearchReport, ranks: Mapping[str, int]) -> dict[str, object]:
    rank = ranks[page.url]
    if not isinstance(page.outcome, Reading):
        return {"rank": rank, "url": clean_line(page.url, _MAX_URL), **error_object(page.outcome)}
    document = {"rank": rank, **_page_object(page, page.outcome)}
    if page.same_as is not None:
        document["same_text_as"] = ranks[report.pages[page.same_as].url]
    return document


def _compared_object(page: PageExcerpts, pages: Sequence[PageExcerpts]) -> dict[str, object]:
    if not isinstance(page.outcome, Reading):
        return {"url": clean_line(page.url, _MAX_URL), "title": None, "excerpt": "", **error_object(page.outcome)}
    fields = _page_object(page, page.outcome)
    answer = {("excerpt" if name == "content" else name): value for name, value in fields.items()}
    # In this answer, `excerpts` is the list of pages.
    answer["passages"] = answer.pop("excerpts")
    if page.same_as is not None:
        answer["same_text_as"] = pages[page.same_as].url
    return answer


def _page_object(page: PageExcerpts, reading: Reading) -> dict[str, object]:
    fields = render_page.page_object(reading, TextCut.whole(join_excerpts(page, linked=False)))
    characters = sum(excerpt.end - excerpt.start for excerpt in page.excerpts)
    return {
        **{name: value for name, value in fields.items() if name not in _PAGE_FIELDS},
        "truncated": reading.truncated or characters < len(reading.document.markdown.strip()),
        "excerpts": excerpt_rows(page, reading),
    }


def excerpt_rows(page: PageExcerpts, reading: Reading) -> list[dict[str, object]]:
    """Return position, headings, link and page number of each excerpt."""
    url, markdown = reading.url.partition("#")[0], reading.document.markdown
    return [
        {"start": part.start, "end": part.end, "heading": _heading(part)}
        | {"url": clean_line(url + _fragment(reading, part), _MAX_URL)}
        | drop_empty({"page": page_at(markdown, part.start)})
        for part in page.excerpts
    ]


def _fragment(reading: Reading, excerpt: Excerpt) -> str:
    """Return the fragment that opens the page at an excerpt: the number of its page, or a text directive."""
    if (number := page_at(reading.document.markdown, excerpt.start)) is not None:
        return f"#page={number}"
    return link_to_quotation(reading.url, excerpt.fragment)[len(reading.url.partition("#")[0]) :]


def _heading(excerpt: Excerpt) -> str:
    return clean_line(visible_line(excerpt.heading), 160)


def _sum_tokens(pages: Sequence[Mapping[str, object]]) -> int:
    counts = (page.get("tokens_estimated") for page in pages)
    return sum(count for count in counts if isinstance(count, int))


def _ranks(search: SearchAnswer) -> Mapping[str, int]:
    return {result.url: rank for rank, result in reversed(list(enumerate(search.results, start=1)))}


def _pages_read(report: ResearchReport) -> list[PageExcerpts]:
    return [page for page in report.pages if isinstance(page.outcome, Reading)]


def _count_independent(report: ResearchReport) -> int:
    return sum(page.same_as is None for page in _pages_read(report))


_NOT_FOUND = "No passage has a word of the question. This is the outline and the beginning."
"""Note in the answer if no quote of a page contains a word of the question."""
_LANGUAGE = " The language of the page is `{language}`."
_OUTLINE_SHARE = 3
"""Divisor of the budget: without a match, the outline takes at most a third."""


def fit_excerpts(pages: Sequence[PageExcerpts], tokens: int, *, linked: bool) -> tuple[PageExcerpts, ...]:
    """Return the pages with the best quotes that fit `tokens`, headings included.

    With `linked`, the links of the headings count too. A page without a match has no quotes; an equal share of the
    tokens is reserved for its outline and beginning.
    """
    shortened = [page if has_match(page) else replace(page, excerpts=()) for page in pages]
    unmatched = sum(isinstance(page.outcome, Reading) and not page.excerpts for page in shortened)
    tokens -= unmatched * (tokens // max(1, len(shortened)))
    while (excess := sum(_count_tokens(page, linked) for page in shortened) - tokens) > 0:
        several = [
            (excerpt.score, at, number)
            for at, page in enumerate(shortened)
            for number, excerpt in enumerate(page.excerpts)
            if len(page.excerpts) > 1
        ]
        if several:
            _, at, number = min(several)
            excerpts = shortened[at].excerpts
            shortened[at] = replace(shortened[at], excerpts=(*excerpts[:number], *excerpts[number + 1 :]))
            continue
        # Each page has one quote: the longest is cut, at most to an equal share.
        at = max(range(len(shortened)), key=lambda at: _count_tokens(shortened[at], linked))
        count, quoted = _count_tokens(shortened[at], linked), sum(bool(page.excerpts) for page in shortened)
        shorter = _cut_only_quote(shortened[at], max(count - excess, tokens // quoted))
        if _count_tokens(shorter, linked) >= count:
            break
        shortened[at] = shorter
    return tuple(shortened)


def has_match(page: PageExcerpts) -> bool:
    """Return True if at least one quote of the page contains a word of the question."""
    return any(excerpt.score > 0 for excerpt in page.excerpts)


def page_as_markdown(page: PageExcerpts, *, tokens: int, region: str, now: datetime, title: str | None = None) -> str:
    """Return the header of a page and its quotes in an untrusted region, or its error, below the title of a section."""
    if not isinstance(page.outcome, Reading):
        return f"{title or ''}\n\nError: {error_sentence(page.outcome)}".strip()
    piece = TextCut.whole(_build_text(page, page.outcome, tokens, linked=True))
    lines = render_page.header(page.outcome, piece, now, title=title)
    if not has_match(page):
        lines.append(_explain_no_match(page.outcome))
    return "\n".join([*lines, render_page.untrusted_page(page.outcome, piece, region)])


def page_as_json(page: PageExcerpts, *, tokens: int) -> dict[str, object]:
    """Return a page as an object: its quotes as content, and their positions in `excerpts`."""
    if not isinstance(page.outcome, Reading):
        return failed_row(page.url, page.outcome)
    reading = page.outcome
    text = _build_text(page, reading, tokens, linked=False)
    answer = render_page.page_object(reading, TextCut.whole(text))
    answer["excerpts"] = excerpt_rows(page, reading)
    answer["total_chars"] = len(reading.document.markdown)
    answer["truncated"] = True
    if not has_match(page):
        warnings = answer.get("warnings")
        answer["warnings"] = [*(warnings if isinstance(warnings, list) else []), _explain_no_match(reading)]
    return answer


def _build_text(page: PageExcerpts, reading: Reading, tokens: int, *, linked: bool) -> str:
    """Return the quotes; without a match, the outline and the beginning of the page."""
    if has_match(page):
        return join_excerpts(page, linked=linked)
    lines: list[str] = []
    left = tokens // _OUTLINE_SHARE
    for heading in reading.document.outline[:40]:
        line = f"{'  ' * (heading.level - 1)}- {clean_line(heading.text, 120)} (start={heading.start})"
        left -= token_estimate.estimate(line) + 1
        if left < 0:
            break
        lines.append(line)
    outline = "\n".join(lines)
    room = max(1, tokens - token_estimate.estimate(outline) - 2)
    end = token_estimate.fit_prefix(reading.document.markdown, 0, room)
    return "\n\n".join(filter(None, (outline, reading.document.markdown[:end].strip())))


def _explain_no_match(reading: Reading) -> str:
    """Return a sentence that no passage matches, with the language of the page if it is known."""
    document = reading.document
    # Documents declare no language.
    language = clean_line(document.language or detect_language(document.text or document.markdown) or "", 20)
    return _NOT_FOUND + (_LANGUAGE.format(language=language) if language else "")


def _count_tokens(page: PageExcerpts, linked: bool) -> int:
    return token_estimate.estimate(join_excerpts(page, linked=linked)) if page.excerpts else 0


def _cut_only_quote(page: PageExcerpts, tokens: int) -> PageExcerpts:
    """Return the page with its only quote cut to a number of tokens, within its table head and code fences."""
    (excerpt,) = page.excerpts
    markdown = page.outcome.document.markdown if isinstance(page.outcome, Reading) else ""
    before, quote, after = excerpt.text.partition(markdown[excerpt.start : excerpt.end].strip() or excerpt.text)
    start = markdown.find(quote, excerpt.start)
    room = max(1, tokens - 6 - token_estimate.estimate(before + after))
    end = token_estimate.fit_prefix(quote, 0, room)
    pause = quote.rfind(" ", end // 2, end) if end < len(quote) else -1
    quote = quote[: pause if pause > 0 else end].rstrip()
    cut = replace(excerpt, heading="", fragment="", text=before + quote + after, start=start, end=start + len(quote))
    return replace(page, excerpts=(cut,))
