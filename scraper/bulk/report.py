"""Progress of a running job, and its final report as JSON and text."""

import json
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scraper.bulk.job_database import JobCounts, JobDatabase
from scraper.bulk.model import PageOutcome
from scraper.values.text import format_clock, read_statements, truncate

_WINDOW_S = 60.0
"""Seconds over which the rate is averaged, because sites and parts of a list differ."""


class ProgressStats:
    """Counts of this run."""

    def __init__(self) -> None:
        """Start with empty counts."""
        self.total = 0
        self.done_before = 0
        """Pages written by earlier runs."""
        self.delivered = 0
        """Pages read by this run, written or queued for writing."""
        self.outcomes: Counter[str] = Counter()
        self.retried = 0
        self.minimum_s: Callable[[], float] = lambda: 0.0
        """Seconds that the host with the most pages needs because of its gap; more machines cannot shorten it."""
        self.has_network: Callable[[], bool] = lambda: True
        """False while pages wait because this machine has no network."""
        self._recent: deque[tuple[float, int]] = deque()

    @property
    def written_now(self) -> int:
        """Pages written by this run."""
        return self.outcomes.total()

    @property
    def remaining(self) -> int:
        """Pages that are not yet read."""
        return self.total - self.done_before - self.delivered

    def start(self, counts: JobCounts, now: float) -> None:
        """Set the counts at the start of the run."""
        self.total, self.done_before = counts.pages, counts.done
        self._recent.append((now, 0))

    def count_written(self, outcomes: Sequence[PageOutcome], now: float) -> None:
        """Count written pages."""
        self.outcomes.update(outcome.code for outcome in outcomes)
        self._recent.append((now, self.written_now))
        while len(self._recent) > 2 and self._recent[1][0] < now - _WINDOW_S:
            self._recent.popleft()

    def pages_per_s(self, now: float) -> float:
        """Return the pages written per second in the last `_WINDOW_S` seconds."""
        if not self._recent:
            return 0.0
        since, before = self._recent[0]
        return (self.written_now - before) / max(now - since, 0.001)

    def remaining_s(self, now: float) -> float | None:
        """Return the estimated seconds until the end, or None if the rate is not yet known."""
        remaining = self.total - self.done_before - self.written_now
        pages_per_s = self.pages_per_s(now)
        if not remaining:
            return 0.0
        return max(remaining / pages_per_s, self.minimum_s()) if pages_per_s > 0 else None

    def format_line(self, now: float) -> str:
        """Return the progress as one line."""
        done = self.done_before + self.written_now
        failed = self.written_now - self.outcomes["ok"]
        remaining_s = self.remaining_s(now)
        parts = [f"{done:,} of {self.total:,} pages", f"{self.pages_per_s(now):.1f} a second", f"{failed:,} failed"]
        common = [(code, count) for code, count in self.outcomes.most_common(4) if code != "ok"]
        if common:
            parts[-1] += f" ({', '.join(f'{code} {count:,}' for code, count in common)})"
        if remaining_s is not None:
            parts.append(f"{format_clock(remaining_s)} left")
        if not self.has_network():
            parts.append("waiting for the network")
        return ", ".join(parts)


_EXAMPLES_LIMIT = 3
_HOSTS_LIMIT = 20
_SLOWEST_LIMIT = 10
_JSON_NAME, _TEXT_NAME = "report.json", "report.txt"

_SQL = read_statements(__package__, "report.sql")


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Pages that failed with the same error code."""

    code: str
    pages: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HostReport:
    """Results of one host."""

    name: str
    pages: int
    failed: int
    mean_s: float
    bytes: int


@dataclass(frozen=True, slots=True)
class SlowPage:
    """A slow page."""

    url: str
    seconds: float
    outcome: str


@dataclass(frozen=True, slots=True)
class JobReport:
    """Results of a job so far."""

    run: str
    complete: bool
    lines: int
    pages: int
    """Distinct pages."""
    repeated: int
    written: int
    """Pages in the output: those that were read and those that failed."""
    read: int
    failed: int
    by_method: dict[str, int]
    """Pages that were read, by `http`, `browser`, `document` and `cache`."""
    errors: tuple[ErrorSummary, ...]
    hosts: int
    largest_hosts: tuple[HostReport, ...]
    slowest: tuple[SlowPage, ...]
    markdown_bytes: int
    output_bytes: int
    spent_s: float
    """Seconds of all runs, except runs that were killed."""
    this_run: dict[str, float]
    """`pages`, `seconds`, `pages_per_s`, `tried_again`."""
    waiting: int = 0
    """URLs that a crawl has found and not read."""
    left_out: tuple[tuple[str, int, str], ...] = ()
    """Reason, number and an example of the URLs that a crawl does not read."""


def build_report(database: JobDatabase, folder: Path, this_run: dict[str, float]) -> JobReport:
    """Return the report of a job, which may be incomplete; `this_run` has the figures of `Report.this_run`."""
    counts = database.counts()
    outcomes: dict[str, int] = dict(database.select(_SQL["by_outcome"]))
    written, read = sum(outcomes.values()), outcomes.pop("ok", 0)
    return JobReport(
        run=str(database.get_fact("run")),
        complete=counts.done >= counts.pages,
        lines=counts.lines,
        # An earlier run may have had a higher limit.
        pages=max(counts.pages, written),
        repeated=counts.repeated,
        written=written,
        read=read,
        failed=written - read,
        by_method=dict(database.select(_SQL["by_method"])),
        errors=tuple(
            ErrorSummary(code, number, tuple(database.select(_SQL["examples"], (code, _EXAMPLES_LIMIT))))
            for code, number in outcomes.items()
        ),
        hosts=int(database.select("SELECT count(*) FROM hosts WHERE name <> ''")[0][0]),
        largest_hosts=tuple(
            HostReport(name, pages, failed, round(mean_s, 3), size or 0)
            for name, pages, failed, mean_s, size in database.select(_SQL["by_host"], (_HOSTS_LIMIT,))
        ),
        slowest=tuple(
            SlowPage(url, round(s, 3), code) for url, s, code in database.select(_SQL["slowest"], (_SLOWEST_LIMIT,))
        ),
        markdown_bytes=int(database.select("SELECT coalesce(sum(bytes), 0) FROM pages")[0][0]),
        output_bytes=sum(path.stat().st_size for path in folder.glob("pages-*")),
        spent_s=round(database.get_fact("spent_s") or 0.0, 1),
        this_run=this_run,
        waiting=int(database.get_fact("waiting") or 0),
        left_out=tuple((reason, count, example) for reason, count, example in database.get_fact("left_out") or ()),
    )


def write_report(report: JobReport, folder: Path) -> None:
    """Write the report to the output folder.

    Raises:
        OSError: It cannot be written.
    """
    data = json.dumps(asdict(report), ensure_ascii=False, indent=2)
    (folder / _JSON_NAME).write_text(data + "\n", encoding="utf-8", errors="replace")
    (folder / _TEXT_NAME).write_text(format_report(report), encoding="utf-8", errors="replace")


def format_report(report: JobReport) -> str:
    """Return the report as text."""
    methods = ", ".join(f"{count:,} {method}" for method, count in report.by_method.items())
    run = report.this_run
    head = [
        f"Job {report.run}: {'complete' if report.complete else 'not complete'}",
        f"{report.written:,} of {report.pages:,} pages written: {report.read:,} read"
        f"{f' ({methods})' if methods else ''}, {report.failed:,} failed",
        f"{report.lines:,} lines in the list, {report.repeated:,} of them repeated; {report.hosts:,} hosts",
        f"{report.markdown_bytes / 1e6:,.1f} MB of text, {report.output_bytes / 1e6:,.1f} MB of output",
        f"This run: {run['pages']:,.0f} pages in {run['seconds']:,.1f} s, {run['pages_per_s']:.1f} a second, "
        f"{run['tried_again']:,.0f} tried again",
    ]
    left_out = ["Left out"]
    left_out += [f"  {count:>9,}  {reason}: {_shorten(example)}" for reason, count, example in report.left_out]
    if report.waiting:
        left_out.append(f"  {report.waiting:>9,}  found, not worth a visit or beyond the limit")
    failed = ["What failed"]
    for kind in report.errors:
        failed.append(f"  {kind.pages:>9,}  {kind.code}")
        failed += [f"             {_shorten(url)}: {_shorten(message)}" for url, message in kind.examples]
    hosts = ["Largest hosts: pages, failed, mean time, text"]
    hosts += [
        f"  {host.pages:>9,}  {host.failed:>7,} failed  {host.mean_s:>7.2f} s  {host.bytes / 1e6:>9,.1f} MB"
        f"  {host.name}"
        for host in report.largest_hosts
    ]
    slow = ["Slowest pages"]
    slow += [f"  {page.seconds:>7.2f} s  {page.outcome:<14} {_shorten(page.url)}" for page in report.slowest]
    return "\n\n".join("\n".join(part) for part in (head, left_out, failed, hosts, slow) if len(part) > 1) + "\n"


def _shorten(text: str, most: int = 160) -> str:
    # Lists and sites are untrusted: control characters must not reach a terminal.
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(text.split()))
    return truncate(plain, most)
