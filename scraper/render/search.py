"""The answer of `search`: rows that engines gave, as a numbered list or as an object, within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import SearchAnswer, SearchResult
from scraper.render.untrusted_region import EXPLANATION, seal

ANSWER_BUDGET = 6_000
"""Tokens of rows: 50 of them with long snippets; a usual answer of ten has about a thousand."""

MAX_TITLE = 200
MAX_URL = 2_000
MAX_SNIPPET = 400
_MAX_HINT = 500
_MAX_QUERY = 200
_MAX_SOURCE = 80
_MAX_ALSO = 5

REASONS: Mapping[str, str] = {
    "captcha": "asked for a captcha",
    "consent": "asked for consent",
    "rate_limited": "allows no more requests for now",
    "refused": "refuses this machine's address or country",
    "off_topic": "gave results of another query",
    "layout_changed": "changed its pages, so rows may be missing",
    "timeout": "did not answer in time",
    "unreachable": "could not be reached",
    "busy": "has other searches waiting",
    "browser_failed": "could not be asked: the browser failed",
}


def as_markdown(answer: SearchAnswer, *, region: str, now: datetime, budget: int = ANSWER_BUDGET) -> str:
    """What we know ourselves, then the rows in their region. `region`: a random id made for this answer."""
    head = [_headline(answer, now)]
    if answer.errors:
        head.append(errors_line(answer.errors))
    head += [f"Warning: {clean_line(warning, _MAX_HINT)}" for warning in answer.warnings]
    if answer.hint:
        head.append(f"Hint: {clean_line(answer.hint, _MAX_HINT)}")
    if not answer.results:
        return "\n".join(head)
    head.append(EXPLANATION.format(region=region))
    rows = _fitting([result_text(number, row) for number, row in enumerate(answer.results, 1)], budget)
    return "\n".join(head) + "\n\n" + seal("\n\n".join(rows), region)


def as_json(answer: SearchAnswer, *, budget: int = ANSWER_BUDGET) -> dict[str, object]:
    """The answer as an object; `errors`, `hint` and `warnings` only where there are any."""
    objects = [result_object(row) for row in answer.results]
    fitting = len(_fitting([_counted_text(row) for row in objects], budget))
    data: dict[str, object] = {
        "results": objects[:fitting],
        "engines": list(answer.engines),
        "cached": answer.cached,
    }
    if answer.errors:
        data["errors"] = dict(answer.errors)
    if answer.hint:
        data["hint"] = clean_line(answer.hint, _MAX_HINT)
    if answer.warnings:
        data["warnings"] = [clean_line(warning, _MAX_HINT) for warning in answer.warnings]
    if answer.retrieved_at is not None:
        data["retrieved_at"] = answer.retrieved_at.isoformat(timespec="seconds")
    return data


def errors_line(errors: Mapping[str, str]) -> str:
    """Which engines failed, and how, in words."""
    told = (f"{name} {REASONS.get(reason, 'failed')} ({reason})" for name, reason in errors.items())
    return "Errors: " + "; ".join(told) + "."


def result_text(number: int, row: SearchResult) -> str:
    """One row: title, address, snippet."""
    lines = [
        f"{number}. {clean_line(row.title, MAX_TITLE) or '(no title)'}",
        f"<{clean_line(row.url, MAX_URL)}>",
    ]
    facts = [fact for fact in (dated(row.date), clean_line(row.source or "", _MAX_SOURCE)) if fact]
    snippet = clean_line(row.snippet, MAX_SNIPPET)
    told = " · ".join([*facts, snippet] if snippet else facts)
    if told:
        lines.append(told)
    if row.also:
        lines.append("Also: " + " ".join(f"<{clean_line(url, MAX_URL)}>" for url in row.also[:_MAX_ALSO]))
    return "\n".join(lines)


def result_object(row: SearchResult) -> dict[str, object]:
    """One row for programs; `date`, `source` and `also` only where they are known."""
    data: dict[str, object] = {
        "title": clean_line(row.title, MAX_TITLE),
        "url": clean_line(row.url, MAX_URL),
        "snippet": clean_line(row.snippet, MAX_SNIPPET),
        "engines": list(row.engines),
        "score": row.score,
    }
    if row.date is not None:
        data["date"] = dated(row.date)
    if row.source:
        data["source"] = clean_line(row.source, _MAX_SOURCE)
    if row.also:
        data["also"] = [clean_line(url, MAX_URL) for url in row.also[:_MAX_ALSO]]
    return data


def dated(moment: datetime | None) -> str:
    """The date in ISO 8601; the time only where it is known."""
    if moment is None:
        return ""
    bare = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if bare else moment.isoformat(timespec="seconds")


def _headline(answer: SearchAnswer, now: datetime) -> str:
    query, names = clean_line(answer.query, _MAX_QUERY), ", ".join(answer.engines)
    if answer.results:
        count = len(answer.results)
        told = f'{count} result{"" if count == 1 else "s"} for "{query}"'
    elif set(answer.errors) >= set(answer.engines):
        told = f'No engine answered "{query}": this says nothing about what there is'
    else:
        told = f'No results for "{query}"'
    return f"{told} (engines: {names}){_age(answer, now)}"


def _age(answer: SearchAnswer, now: datetime) -> str:
    if not answer.cached or answer.retrieved_at is None:
        return ""
    minutes = max(0, int((now - answer.retrieved_at).total_seconds() // 60))
    if minutes < 120:
        return f", cached {minutes} min ago"
    return f", cached {minutes // 60} h ago" if minutes < 48 * 60 else f", cached {minutes // 1440} days ago"


def _counted_text(row: Mapping[str, object]) -> str:
    """What of a row varies in length."""
    return f"{row['title']}{row['url']}{row['snippet']}{row.get('also', '')}"


def _fitting(texts: Sequence[str], budget: int) -> list[str]:
    """As many texts as the budget of tokens allows, the first always."""
    kept: list[str] = []
    for text in texts:
        budget -= token_estimate.estimate(text) + 2
        if budget < 0 and kept:
            break
        kept.append(text)
    return kept
