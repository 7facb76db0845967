"""Tools that read a page or document by URL: `fetch`, `fetch_batch` and `read_doc`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.call_context import Deadline
from scraper.errors import BlockedBySiteError, InvalidArgumentError, ScraperError
from scraper.model import FIRST_CHARACTERS, CachePolicy, DocumentRequest, PagePart, Reading, ReadRequest, Reuse
from scraper.render import batch as render_batch
from scraper.render import document as render_document
from scraper.render import page as render_page
from scraper.render import research_report
from scraper.render.page import FORMATS, LINK_STYLES
from scraper.retrieval.model import PageExcerpts
from scraper.retrieval.passage_selection import MIN_PAGE_SHARE, QUOTE_TOKENS
from scraper.search.research import add_excerpts
from scraper.settings import Settings
from scraper.text.sanitize import clean_line
from scraper.tools import model
from scraper.urls import host_of, parse_target
from scraper.values.types import BooleanValue, ChoiceValue, CommaListValue, IntegerValue, StringListValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services


_MAX_OFFSET = 2**53
"""Largest integer that JSON of every client transfers exactly. An offset beyond the text means its end."""
_MAX_PAGES = 1_000
_MAX_PAGES_CHARS = 10_000
"""Characters of a page selection. Listing every other page of the largest selection needs half of that."""

_LAST_PAGE = 100_000
URL = model.Parameter("url", StringValue(), "http(s) URL.", required=True)


_MIN_SELECTED = 120
"""Minimum tokens of the passages selected from each page; for a smaller budget, the best passage is cut."""
_QUOTE_LINK_TOKENS = 20
_QUESTION = model.Parameter("question", StringValue(2_000), "Only the passages that answer it; | separates wordings.")
_TOKENS = model.Parameter("tokens", IntegerValue(model.MIN_TOKENS, model.MAX_TOKENS), "Their budget. Default: 1000.")
_SELECTOR = StringValue(1_000)
_ALSO_QUESTION = replace(_QUESTION, about="As in `fetch`.")


class _IncludeValue(CommaListValue):
    """Comma-separated names of lists. The schema of a string is shorter than that of a list."""

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}


def fetch_tool(settings: Settings) -> model.Tool:
    """Return `fetch`, with the operator's defaults in its schema."""
    parameters = model.Parameters(
        URL,
        model.RENDER,
        model.Parameter("force_refresh", BooleanValue(), "Ignore the cache.", default=False),
        model.max_age_parameter("Maximum age of a cached page; 0: new read.", settings),
        replace(model.FORMAT, kind=ChoiceValue(FORMATS)),
        model.Parameter("start", IntegerValue(0, 100_000_000), "First character.", default=0),
        model.Parameter("length", IntegerValue(1, render_page.MAX_LENGTH), "Characters. Default: what fits."),
        model.Parameter(
            "include", _IncludeValue(ChoiceValue(tuple(render_page.LISTS))), "json: also headings, links, images."
        ),
        _QUESTION,
        _TOKENS,
        model.Parameter("links", ChoiceValue(LINK_STYLES), "Their URLs.", default="inline"),
        model.Parameter("wait_for", _SELECTOR, "Wait for this CSS selector."),
        model.Parameter("select", _SELECTOR, "Read only these elements."),
        model.Parameter("exclude", _SELECTOR, "Leave these out."),
        model.PROFILE,
    )
    return model.make_tool(
        "fetch", "Read a web page", parameters, _fetch, check=_check_fetch, result_chars=model.RESULT_CHARS
    )


def fetch_batch_tool(settings: Settings) -> model.Tool:
    """Return `fetch_batch`, with the operator's limit in its schema."""
    parameters = model.Parameters(
        model.Parameter("urls", StringListValue(settings.batch_limit), "http(s) URLs.", required=True),
        replace(model.RENDER, about="As in `fetch`."),
        model.FORMAT,
        _ALSO_QUESTION,
        _TOKENS,
    )
    return model.make_tool("fetch_batch", "Read several web pages", parameters, _fetch_batch, check=_check_question)


def read_doc_tool(settings: Settings) -> model.Tool:
    """Return `read_doc`: the text of a document as Markdown."""
    parameters = model.Parameters(
        model.Parameter("source", StringValue(), "http(s) URL, or local path.", required=True),
        model.Parameter("start", IntegerValue(-_MAX_OFFSET, _MAX_OFFSET), "First character.", default=0),
        model.Parameter("length", IntegerValue(0, _MAX_OFFSET), f"Characters, at most {render_page.MAX_LENGTH:,}."),
        model.FORMAT,
        model.Parameter("pages", StringValue(_MAX_PAGES_CHARS), 'Only these pages, e.g. "3-5,9".'),
        model.Parameter("outline", BooleanValue(), "Headings with offsets.", default=False),
        model.Parameter("password", StringValue(1_000), "Of an encrypted PDF."),
        _ALSO_QUESTION,
        _TOKENS,
    )
    return model.make_tool(
        "read_doc", "Read a document", parameters, _read_doc, check=_check_question, result_chars=model.RESULT_CHARS
    )


def _check_fetch(arguments: Any) -> None:
    parse_target(arguments["url"])
    if arguments["wait_for"] and arguments["render"] == "http":
        raise InvalidArgumentError('wait_for needs scripts: leave out render="http".', target="wait_for")
    if arguments["profile"] and (
        part := next((name for name in ("wait_for", "select", "exclude") if arguments[name]), None)
    ):
        raise InvalidArgumentError(f"profile and {part} exclude each other: leave one of them out.", target=part)
    _check_question(arguments)


def _check_question(arguments: Any) -> None:
    parse_page_ranges(arguments.get("pages"))
    if arguments["question"] is None:
        return
    if not arguments["question"].replace("|", " ").strip():
        raise InvalidArgumentError("question must have words.", target="question")
    for name in ("start", "length", "outline"):
        if arguments.get(name):
            raise InvalidArgumentError(f"question and {name} exclude each other: leave one of them out.", target=name)


async def _select_quotes(
    services: Services,
    outcomes: Sequence[tuple[str, Reading | ScraperError]],
    arguments: dict[str, Any],
    call: model.ToolCall,
) -> tuple[tuple[PageExcerpts, ...], int]:
    tokens = arguments["tokens"] or 1_000
    pages = await add_excerpts(
        services.workers,
        outcomes,
        arguments["question"],
        max(tokens, _MIN_SELECTED * len(outcomes)),
        Deadline.within(call.deadline_s),
        least_share=MIN_PAGE_SHARE,
        skips_duplicates=False,
        link_tokens=QUOTE_TOKENS if arguments["format"] == "json" else _QUOTE_LINK_TOKENS,
    )
    return research_report.fit_excerpts(pages, tokens, linked=arguments["format"] != "json"), tokens


async def _fetch(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    start, length, budget = arguments["start"], arguments["length"], model.body_budget(services.settings, call)
    reading = await _read(services, arguments, call)
    if arguments["question"] is not None:
        return await _answer_question(services, arguments["url"], reading, arguments, call)
    if arguments["format"] == "json":
        include, links = arguments["include"] or (), arguments["links"]
        return model.json_answer(
            render_page.as_json(reading, start=start, length=length, budget=budget, include=include, links=links)
        )
    text = render_page.as_markdown(
        reading,
        region=model.new_region(),
        start=start,
        length=length,
        now=datetime.now(UTC),
        budget=budget,
        links=arguments["links"],
        form=arguments["format"],
    )
    return model.ToolAnswer(text, reading=reading)


async def _read(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> Reading:
    if arguments["profile"] is not None:
        return await services.browsing.read_with_profile(
            arguments["url"], arguments["profile"], principal=call.principal, deadline_s=call.deadline_s
        )
    request = ReadRequest(
        arguments["url"],
        render=arguments["render"],
        cache=CachePolicy(
            max_age_s=0 if arguments["force_refresh"] else model.max_age_s(arguments),
            reuse=Reuse.IN_MEMORY if arguments["start"] > 0 else Reuse.STORED,
        ),
        part=PagePart(arguments["wait_for"], arguments["select"], arguments["exclude"]),
        principal=call.principal,
        deadline_s=call.deadline_s,
        is_beginning=arguments["question"] is None,
    )
    try:
        reading = await services.fetcher.fetch(request, progress=call.progress)
        end = arguments["start"] + (arguments["length"] or 0)
        if reading.document.is_part and end >= len(reading.document.markdown):
            return await services.fetcher.fetch(replace(request, is_beginning=False), progress=call.progress)
        return reading
    except BlockedBySiteError as error:
        host = host_of(arguments["url"])
        if error.reason != "login" or not (names := await services.browsing.profile_names(call.principal, host)):
            raise
        step = f"A login for this host exists: pass profile={' or '.join(names)}."
        raise BlockedBySiteError(str(error), reason="login", target=error.target, next_step=step) from None


async def _answer_question(
    services: Services, url: str, reading: Reading, arguments: dict[str, Any], call: model.ToolCall
) -> model.ToolAnswer:
    (page,), tokens = await _select_quotes(services, [(url, reading)], arguments, call)
    is_empty = not research_report.has_match(page)
    if arguments["format"] == "json":
        answer = research_report.page_as_json(page, tokens=tokens)
        if "source" in arguments:
            answer |= {"source": url, "format": reading.document.format}
        return model.json_answer(answer, is_empty=is_empty)
    text = research_report.page_as_markdown(page, tokens=tokens, region=model.new_region(), now=datetime.now(UTC))
    return model.ToolAnswer(text, reading=reading, is_empty=is_empty)


async def _fetch_batch(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    urls, render, budget = arguments["urls"], arguments["render"], model.body_budget(services.settings, call)
    outcomes = await services.fetcher.fetch_batch(urls, render=render, **call.options)
    items = [render_batch.BatchItem(url, outcome) for url, outcome in zip(urls, outcomes, strict=True)]
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, ScraperError))
    is_empty = len(failures) == len(items)
    if arguments["question"] is not None:
        pages, tokens = await _select_quotes(services, list(zip(urls, outcomes, strict=True)), arguments, call)
        share = max(1, tokens // len(pages))
        if arguments["format"] == "json":
            rows = [research_report.page_as_json(page, tokens=share) for page in pages]
            rows = [row if "error" in row else {**row, "error": None} for row in rows]
            return model.json_answer(rows, failures=failures, is_empty=is_empty)
        region, now, sections = model.new_region(), datetime.now(UTC), []
        for number, page in enumerate(pages, start=1):
            title = f"## {number}. {clean_line(page.url, 200)}"
            sections.append(research_report.page_as_markdown(page, tokens=share, region=region, now=now, title=title))
        return model.ToolAnswer(render_batch.RULE.join(sections), failures=failures, is_empty=is_empty)
    if arguments["format"] == "json":
        return model.json_answer(render_batch.as_json(items, budget=budget), failures=failures, is_empty=is_empty)
    text = render_batch.as_markdown(
        items, region=model.new_region(), render=render, now=datetime.now(UTC), budget=budget
    )
    return model.ToolAnswer(text, failures=failures, is_empty=is_empty)


async def _read_doc(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    pages = parse_page_ranges(arguments["pages"])
    request = DocumentRequest(arguments["source"], arguments["password"], pages, call.principal)
    needs_all = pages or arguments["outline"] or arguments["question"] is not None or arguments["start"] < 0
    start = None if needs_all or (arguments["length"] or 0) > FIRST_CHARACTERS else arguments["start"]
    reading = await services.documents.read(request, start=start, deadline_s=call.deadline_s, progress=call.progress)
    if arguments["question"] is not None:
        selected = render_document.select_pages(reading, pages)
        return await _answer_question(services, arguments["source"], selected, arguments, call)
    part = render_document.DocumentPart(arguments["start"], arguments["length"], pages, arguments["outline"])
    budget = model.body_budget(services.settings, call)
    if arguments["format"] == "json":
        return model.json_answer(render_document.as_json(reading, part, budget=budget))
    text = render_document.as_markdown(reading, part, region=model.new_region(), now=datetime.now(UTC), budget=budget)
    return model.ToolAnswer(text, reading=render_document.select_pages(reading, pages))


def parse_page_ranges(text: str | None) -> tuple[int, ...]:
    """Return the pages of `3`, `3-5` or `1,4-6,10-` in ascending order, () for None; raise InvalidArgumentError."""
    if text is None:
        return ()
    pages: set[int] = set()
    for part in filter(None, (piece.strip() for piece in text.replace(";", ",").split(","))):
        start, dash, end = part, "", ""
        for separator in ("-", "–", "..", ":", "to"):
            if separator in part:
                start, dash, end = (piece.strip() for piece in part.partition(separator))
                break
        first = int(start) if _is_page(start) else 0
        # An open range ends at the limit of the selection.
        last = min(_LAST_PAGE, first + max(_MAX_PAGES - len(pages), 1) - 1) if dash else first
        if end:
            last = int(end) if _is_page(end) else 0
        if not 1 <= first <= last <= _LAST_PAGE:
            raise InvalidArgumentError(
                f'pages must be numbers and ranges from 1 on, such as "3-5,9", not "{text[:60]}".', target="pages"
            )
        if len(pages) + last - first + 1 > _MAX_PAGES:
            raise InvalidArgumentError(f"pages must name at most {_MAX_PAGES:,} pages.", target="pages")
        pages.update(range(first, last + 1))
    if not pages:
        raise InvalidArgumentError('pages must name pages, such as "3-5,9".', target="pages")
    return tuple(sorted(pages))


def _is_page(text: str) -> bool:
    return text.isdecimal() and len(text) <= len(str(_LAST_PAGE))
