"""The progress line of a job is correct after failures, a pause, and an earlier run."""

from __future__ import annotations

from scraper.bulk.job_database import JobCounts
from scraper.bulk.model import JobPage, OutputRow, PageFailure, PageOutcome
from scraper.bulk.report import ProgressStats


def outcomes(count: int, code: str = "") -> list[PageOutcome]:
    fault = PageFailure(code, "It failed.") if code else None
    page = JobPage(1, "http://a.example/", "a.example")
    return [PageOutcome(page, OutputRow(page.url, error=fault), 0.1)] * count


def tally_of(pages: int, done: int = 0) -> ProgressStats:
    stats = ProgressStats()
    stats.start(JobCounts(pages=pages, done=done), 0.0)
    return stats


def test_no_time_is_estimated_before_the_first_row() -> None:
    assert tally_of(10).format_line(5.0) == "0 of 10 pages, 0.0 a second, 0 failed"


def test_failures_count_as_done_and_are_listed_by_code() -> None:
    stats = tally_of(1_000)
    stats.count_written(outcomes(80), 5.0)
    stats.count_written([*outcomes(15, "unreachable"), *outcomes(5, "http_error")], 10.0)
    expected = "100 of 1,000 pages, 10.0 a second, 20 failed (unreachable 15, http_error 5), 1:30 left"
    assert stats.format_line(10.0) == expected


def test_pages_of_an_earlier_run_count_as_done_but_not_for_the_rate() -> None:
    stats = tally_of(1_000, done=900)
    stats.count_written(outcomes(10), 10.0)
    assert stats.format_line(10.0) == "910 of 1,000 pages, 1.0 a second, 0 failed, 1:30 left"


def test_the_rate_is_that_of_the_last_minute() -> None:
    stats = tally_of(100_000)
    for second in range(1, 200):
        stats.count_written(outcomes(100 if second <= 100 else 1), float(second))
    assert 0.9 < stats.pages_per_s(199.0) < 1.2


def test_the_estimate_grows_while_nothing_is_written() -> None:
    stats = tally_of(200)
    stats.count_written(outcomes(100), 10.0)
    assert (stats.remaining_s(10.0), stats.remaining_s(100.0)) == (10.0, 100.0)


def test_the_estimate_is_at_least_that_of_the_largest_host() -> None:
    stats = tally_of(200)
    stats.minimum_s = lambda: 3_723.0
    stats.count_written(outcomes(100), 10.0)
    assert stats.format_line(10.0).endswith("1:02:03 left")


def test_no_time_is_left_at_the_end() -> None:
    stats = tally_of(100, done=99)
    stats.minimum_s = lambda: 60.0
    stats.count_written(outcomes(1), 10.0)
    assert stats.format_line(1_000.0).endswith("0:00 left")
