"""Render the answer of `fetch`: one page as Markdown with a short header, or as JSON."""

from __future__ import annotations

from datetime import datetime, timedelta

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import Document, Reading
from scraper.render.answer_text import EXPLANATION, KEEP_WHOLE, NOTICE, TextCut, cut, seal
from scraper.urls import MAX_URL_CHARS

BODY_BUDGET = 7_500
"""Tokens of page text in an answer of default size. With its header, the answer has fewer than 9,000 tokens: always by
the estimate, and on 95 of 100 pages by the encodings it was measured against."""

MAX_CHARACTERS = 32_000
"""Characters of page text in such an answer. Some clients cut by characters, the first at 36,000."""

MAX_LENGTH = 100_000
"""Characters of page text that a call may request."""

MAX_FACT = 300
MAX_URL = 500
"""Characters of a URL in the header, because some have thousands. JSON has the whole URL."""
_USUAL_URL = 200
"""Characters of a URL that the budget of an answer includes."""
_MAX_WARNING = 300


def as_markdown(
    reading: Reading,
    *,
    region: str,
    start: int = 0,
    length: int | None = None,
    now: datetime | None = None,
    budget: int = BODY_BUDGET,
) -> str:
    """Return a header, the page in an untrusted region, and how to continue.

    Args:
        reading: The page.
        region: Random id of the region, generated for this answer.
        start: First character to return.
        length: Characters to return; None for as many as fit the budget.
        now: Current time, for the age of a cached page.
        budget: Maximum tokens of page text.

    Raises:
        InvalidArgumentError: The length is negative.
    """
    piece = piece_of(reading.document, start, length, budget)
    lines = [*header(reading, piece, now), EXPLANATION.format(region=region)]
    parts = ["\n".join(lines), sealed_page(reading.document, piece, region)]
    if piece.next_start is not None:
        left = piece.total - piece.end
        parts.append(f"Cut here: {left:,} characters are left. To go on, call fetch again with start={piece.end}.")
    return "\n\n".join(parts)


def as_json(
    reading: Reading, *, start: int = 0, length: int | None = None, budget: int = BODY_BUDGET
) -> dict[str, object]:
    """Return the answer as an object, with `next_start` only if text is left.

    Raises:
        InvalidArgumentError: The length is negative.
    """
    excess = token_estimate.estimate(reading.url[_USUAL_URL:MAX_URL_CHARS])
    return page_object(reading, piece_of(reading.document, start, length, max(1, budget - excess)))


def page_object(reading: Reading, piece: TextCut) -> dict[str, object]:
    """Return a piece of a page with the facts of the page."""
    document = reading.document
    content = piece.shown
    answer: dict[str, object] = {
        "url": clean_line(reading.url, MAX_URL_CHARS),
        "title": _fact(document.title),
        "content": content,
        "method": reading.method,
        "truncated": piece.next_start is not None or reading.truncated,
        "tokens_estimated": token_estimate.estimate(content),
        "author": _fact(document.author),
        "published_date": published(document),
        "sitename": _fact(document.site_name),
        "start": piece.start,
        "returned_chars": len(piece.text),
        "total_chars": piece.total,
    }
    if piece.next_start is not None:
        answer["next_start"] = piece.next_start
    answer["cached"] = reading.cached
    answer["retrieved_at"] = reading.retrieved_at.isoformat(timespec="seconds")
    if reading.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_WARNING) for warning in reading.warnings]
    answer["notice"] = NOTICE
    return answer


def piece_of(document: Document, start: int, length: int | None, budget: int = BODY_BUDGET) -> TextCut:
    """Return the requested piece; without a length, as much as the budget of tokens allows."""
    if length is not None:
        return cut(document.markdown, start, min(length, MAX_LENGTH), keep_whole=KEEP_WHOLE)
    start = max(0, min(start, len(document.markdown)))
    affordable = token_estimate.fit_prefix(document.markdown, start, budget)
    return cut(document.markdown, start, min(affordable, characters_for(budget)), keep_whole=0)


def characters_for(budget: int) -> int:
    """Return the maximum characters that belong to a budget of tokens."""
    return max(MAX_CHARACTERS, MAX_CHARACTERS * budget // BODY_BUDGET)


def header(
    reading: Reading, piece: TextCut, now: datetime | None, *, url_chars: int = MAX_URL, fact_chars: int = MAX_FACT
) -> list[str]:
    """Return the header lines; of the site's own words they hold only the URL it redirected to."""
    lines = [f"URL: {clean_line(reading.url, url_chars)}"]
    if reading.requested_url.partition("#")[0] != reading.url.partition("#")[0]:
        lines.append(f"Requested: {clean_line(reading.requested_url, url_chars)}")
    lines.append(f"Method: {reading.method}")
    lines.append(f"Tokens: about {token_estimate.estimate(piece.shown):,}")
    if piece.start or piece.next_start is not None:
        more = f"; next: start={piece.end}" if piece.next_start is not None else ""
        lines.append(f"Characters: chars {piece.start}-{piece.end} of {piece.total}{more}")
    if reading.cached:
        lines.append(f"Cached: {read_ago(reading.retrieved_at, now)}")
    removed = _describe_removed(reading.document)
    if removed:
        lines.append(f"Left out: {removed}")
    if reading.truncated:
        lines.append("Truncated: the site sent more, or more slowly, than the limits allow.")
    lines += [f"Warning: {clean_line(warning, min(fact_chars, _MAX_WARNING))}" for warning in reading.warnings]
    return lines


def sealed_page(document: Document, piece: TextCut, region: str, *, fact_chars: int = MAX_FACT) -> str:
    """Return the page's facts and text, which are the site's own words, in an untrusted region."""
    facts = {
        "Title": _fact(document.title, fact_chars),
        "Author": _fact(document.author, fact_chars),
        "Published": published(document),
        "Site": _fact(document.site_name, fact_chars),
    }
    fact_lines = "\n".join(f"{name}: {fact}" for name, fact in facts.items() if fact)
    body = piece.shown or ("(the end of the page)" if piece.start else "(no text)")
    return seal(f"{fact_lines}\n\n{body}" if fact_lines else body, region)


def published(document: Document) -> str | None:
    """Return the date of publication in ISO 8601, or None if it is unknown."""
    return iso_date(document.published) or None


def iso_date(moment: datetime | None) -> str:
    """Return a date in ISO 8601, with its time only if the time is known; "" for None."""
    if moment is None:
        return ""
    is_date_only = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if is_date_only else moment.isoformat(timespec="seconds")


def _fact(text: str | None, chars: int = MAX_FACT) -> str | None:
    return clean_line(text, chars) or None if text else None


def _describe_removed(document: Document) -> str:
    counts = ((document.hidden_removed, "hidden element"), (document.controls_removed, "invisible character"))
    return ", ".join(f"{count:,} {noun}{'s' if count > 1 else ''}" for count, noun in counts if count)


def read_ago(retrieved_at: datetime, now: datetime | None) -> str:
    """Return when a cached text was read, and its age if `now` is given."""
    moment = retrieved_at.isoformat(timespec="seconds")
    return f"read {_describe_age(now - retrieved_at)} ago ({moment})" if now else f"read at {moment}"


def _describe_age(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {noun}{'s' if count > 1 else ''}"
    return "0 seconds"
