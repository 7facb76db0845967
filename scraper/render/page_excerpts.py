"""Render the quotes of a page that answer a question, for `fetch`, `fetch_batch` and `read_doc`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from scraper.model import Reading
from scraper.render import page as render_page
from scraper.render.batch import failed_row
from scraper.render.research_report import excerpt_rows, join_excerpts
from scraper.render.untrusted_text import error_sentence
from scraper.retrieval.model import PageExcerpts
from scraper.text import token_estimate
from scraper.text.language import detect_language
from scraper.text.markdown_structure import TextCut
from scraper.text.sanitize import clean_line

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
    """Return the page with its only quote cut to a number of tokens, without heading and link.

    A table head and code fences that were added to the quote stay around it.
    """
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
