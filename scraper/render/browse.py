"""Render the answers of `browse`: the result of each step, with all page content marked as untrusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scraper.errors import ScraperError
from scraper.model import Reading
from scraper.render.page import as_markdown
from scraper.render.untrusted_text import error_sentence, mark_untrusted
from scraper.text.sanitize import clean

_MAX_SESSION_S = 120


@dataclass(frozen=True, slots=True)
class StepReport:
    """Result of one step for rendering. Notices, content and error contain text of the page."""

    step: str
    """Step as the caller wrote it."""
    notices: tuple[str, ...] = ()
    content: str = ""
    heading: str = ""
    """First line of `content` if it is a whole outline."""
    error: str = ""
    reading: Reading | ScraperError | None = None


def steps_as_markdown(
    reports: Sequence[StepReport], *, session: str, is_new: bool, region: str, now: datetime, budget: int
) -> str:
    """Return the answer of a call of `browse` as Markdown.

    Args:
        reports: Results of its steps, up to the first failed one.
        session: ID for the next call; empty if the session has ended.
        is_new: True if the caller does not know the ID yet.
        region: Random ID of the untrusted regions.
        now: Time of the answer.
        budget: Tokens of the page of a `read` step.
    """
    parts: list[str] = []
    if session and is_new:
        parts.append(f"Session {session}: pass it to go on; it ends {_MAX_SESSION_S} s after the last call.")
    elif not session:
        parts.append("The session has ended.")
    last_whole = max((number for number, report in enumerate(reports) if report.heading), default=-1)
    lines: list[str] = []
    for number, report in enumerate(reports):
        is_last = number + 1 == len(reports)
        is_opened = report.step.startswith("open ")
        lines += _write_step(number + 1, report, is_last_page=is_last or (number == last_whole and not is_opened))
        if report.reading is None:
            continue
        parts += _mark_lines(lines, region)
        lines = []
        if isinstance(report.reading, ScraperError):
            parts.append(error_sentence(report.reading))
        else:
            parts.append(as_markdown(report.reading, region=region, now=now, budget=budget))
    parts += _mark_lines(lines, region)
    return "\n".join(parts)


def _write_step(number: int, report: StepReport, *, is_last_page: bool) -> list[str]:
    """Return the lines of one step. Without `is_last_page`, only the heading of a whole outline is written."""
    content = report.content if is_last_page or not report.heading else report.heading
    first = f"step {number}"
    if report.error:
        first = f'step {number} ("{report.step}") failed: {report.error}'
    if not content and not report.notices:
        return [first if report.error else f"{first}: done"]
    lines = [f"{first}: {'; '.join(report.notices)}".rstrip()]
    if content == "nothing changed":
        return [f"{lines[0]} {content}"]
    return [*lines, content] if content else lines


def _mark_lines(lines: list[str], region: str) -> list[str]:
    if not lines:
        return []
    text = "\n".join(clean(line)[0] for line in "\n".join(lines).split("\n"))
    return [mark_untrusted(text, region)]
