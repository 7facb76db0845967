"""Render the answers of `changes`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from scraper.errors import ScraperError
from scraper.render.json_answers import ChangedBlock, ChangedPage, ChangesAnswer
from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION, UNTRUSTED_NOTICE, error_sentence, mark_untrusted
from scraper.site.model import BlockChange, PageChange
from scraper.site.page_changes import mark_words
from scraper.text import token_estimate
from scraper.text.sanitize import clean_line
from scraper.values.text import truncate

Outcome = PageChange | ScraperError
"""Changes of a page, or the reason why it was not read."""

_MAX_URL = 300
_MAX_TITLE = 160
_MAX_HEADING = 160
_MAX_BLOCK = 2_000
"""Characters of one block."""
_PAGE_TOKENS = 60
_STATUS = {
    "first": "first reading, nothing to compare with",
    "same": "same",
    "changed": "changed",
    "gone": "gone",
    "moved": "same text at another URL",
    "reader_changed": "not comparable: another version of search-mcp read it before",
}


def as_markdown(urls: Sequence[str], outcomes: Sequence[Outcome], *, region: str, budget: int) -> str:
    """Return a section for each page: its status, then the changed lines below each heading.

    Lines begin with `-` (removed), `+` (added), `~` (edited) or `= moved:`. In a `~` line, `[-old-]` marks removed
    words and `{+new+}` added words.
    """
    share = budget // max(1, len(urls)) - _PAGE_TOKENS
    head = [f"{_count(outcomes)}", UNTRUSTED_EXPLANATION.format(region=region)]
    sections = [as_text(url, outcome, share) for url, outcome in zip(urls, outcomes, strict=True)]
    return "\n".join(head) + "\n\n" + mark_untrusted("\n\n".join(sections), region)


def as_json(urls: Sequence[str], outcomes: Sequence[Outcome], *, budget: int) -> ChangesAnswer:
    """Return a row for each page, with its changes within an equal share of the budget."""
    share = budget // max(1, len(urls)) - _PAGE_TOKENS
    rows = [as_row(url, outcome, share) for url, outcome in zip(urls, outcomes, strict=True)]
    return {"pages": rows, "notice": UNTRUSTED_NOTICE}


def as_row(url: str, outcome: Outcome, budget: int) -> ChangedPage:
    """Return one page as an object, with at least one change and no more than fit `budget` tokens."""
    shown = clean_line(url, _MAX_URL)
    if isinstance(outcome, ScraperError):
        return {
            "url": shown,
            "status": "failed",
            "error": error_sentence(outcome),
            "error_code": outcome.code,
            "retryable": outcome.retryable,
        }
    row: ChangedPage = {"url": shown, "status": outcome.status, "now": _moment(outcome.now)}
    if outcome.title:
        row["title"] = clean_line(outcome.title, _MAX_TITLE)
    if outcome.before is not None:
        row["before"] = _moment(outcome.before)
    if outcome.new_url:
        row["new_url"] = clean_line(outcome.new_url, _MAX_URL)
    if outcome.changes:
        row["changes"] = [_block(change) for change in _take_affordable(outcome.changes, budget)]
    if outcome.noise:
        row["noise"] = outcome.noise
    return row


def _count(outcomes: Sequence[Outcome]) -> str:
    states = [outcome.status if isinstance(outcome, PageChange) else "failed" for outcome in outcomes]
    return "Pages: " + ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) + "."


def as_text(url: str, outcome: Outcome, budget: int) -> str:
    """Return the section of one page, as Markdown or for a terminal."""
    title = f"## {clean_line(url, _MAX_URL)}"
    if isinstance(outcome, ScraperError):
        return f"{title}\nError: {error_sentence(outcome)}"
    times = (
        f"{_moment(outcome.before)} to {_moment(outcome.now)}" if outcome.before is not None else _moment(outcome.now)
    )
    lines = [title, f"{_STATUS[outcome.status]} ({times})" + (f": {outcome.new_url}" if outcome.new_url else "")]
    heading = ""
    changes = _take_affordable(outcome.changes, budget)
    for change in changes:
        if change.heading != heading:
            heading = change.heading
            lines.append(f"\n### {clean_line(heading, _MAX_HEADING)}")
        lines.append(_line(change))
    if left := len(outcome.changes) - len(changes):
        lines.append(f"{left} more changes are left out.")
    return "\n".join(lines)


def _line(change: BlockChange) -> str:
    if change.kind == "edited":
        return "~ " + truncate(mark_words(change.old, change.new), _MAX_BLOCK)
    if change.kind == "moved":
        return "= moved: " + truncate(change.new, _MAX_BLOCK)
    return ("+ " if change.kind == "added" else "- ") + truncate(change.new or change.old, _MAX_BLOCK)


def _block(change: BlockChange) -> ChangedBlock:
    row: ChangedBlock = {"kind": change.kind}
    if change.heading:
        row["heading"] = clean_line(change.heading, _MAX_HEADING)
    if change.old:
        row["old"] = truncate(change.old, _MAX_BLOCK)
    if change.new and change.kind != "moved":
        row["new"] = truncate(change.new, _MAX_BLOCK)
    if change.only_numbers:
        row["only_numbers"] = True
    return row


def _take_affordable(changes: Sequence[BlockChange], left: int) -> list[BlockChange]:
    """Return the first changes that fit a number of tokens; at least one."""
    selected: list[BlockChange] = []
    for change in changes:
        left -= token_estimate.estimate(_line(change)) + 2
        if left < 0 and selected:
            break
        selected.append(change)
    return selected


def _moment(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds or 0.0, UTC).isoformat(timespec="seconds")
