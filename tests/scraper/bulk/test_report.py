"""The report of a job made by hand: as data and as text."""

from __future__ import annotations

import json
from pathlib import Path

from scraper.bulk import report
from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import OutputPosition, OutputRow, PageFailure, PageOutcome
from scraper.bulk.url_lists import ListLine

THIS_RUN = {"pages": 3.0, "seconds": 1.5, "pages_per_s": 2.0, "tried_again": 1.0}


def filled(folder: Path) -> JobDatabase:
    frontier = JobDatabase(folder)
    frontier.set_facts({"run": "20260501T000000-00000000"})
    frontier.add_lines([*(ListLine(f"http://host{n % 2}.example/{n}") for n in range(5)), ListLine("\x1b[31mred")])
    frontier.add_lines([ListLine("http://host0.example/0")])
    return frontier


def finish(frontier: JobDatabase) -> None:
    found = [page for host in frontier.list_hosts() for page in frontier.list_pending(host.number, after=0, count=9)]
    outcomes = []
    for page in sorted(found, key=lambda page: page.number):
        fault = PageFailure("bad_url", page.problem) if page.problem else None
        if page.number == 2:
            fault = PageFailure("timed_out", "It took too long.")
        row = OutputRow(page.url, method=None if fault else "http", markdown=None if fault else "x" * 10, error=fault)
        outcomes.append(PageOutcome(page, row, page.number / 10, cached=page.number == 3))
    frontier.mark_done(outcomes[:2] + outcomes[3:], OutputPosition(1, 100))


def test_a_report_counts_by_outcome_host_and_time(tmp_path: Path) -> None:
    frontier = filled(tmp_path)
    finish(frontier)
    found = report.build_report(frontier, tmp_path, THIS_RUN)
    frontier.close()
    assert (found.pages, found.written, found.read, found.failed) == (6, 5, 3, 2)
    assert not found.complete
    assert found.by_method == {"http": 3}
    assert {kind.code: kind.pages for kind in found.errors} == {"bad_url": 1, "timed_out": 1}
    assert found.errors[1].examples == (("http://host1.example/1", "It took too long."),)
    assert [(host.name, host.pages, host.failed) for host in found.largest_hosts] == [
        ("host0.example", 2, 0),
        ("host1.example", 2, 1),
    ]
    assert found.slowest[0].seconds == 0.6
    assert found.markdown_bytes == 30


def test_a_report_is_written_as_json_and_text(tmp_path: Path) -> None:
    frontier = filled(tmp_path)
    finish(frontier)
    found = report.build_report(frontier, tmp_path, THIS_RUN)
    frontier.close()
    report.write_report(found, tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["this_run"] == THIS_RUN
    text = (tmp_path / "report.txt").read_text()
    assert "5 of 6 pages written: 3 read (3 http), 2 failed" in text
    assert "not complete" in text


def test_control_characters_of_the_list_do_not_reach_the_terminal(tmp_path: Path) -> None:
    frontier = filled(tmp_path)
    finish(frontier)
    text = report.format_report(report.build_report(frontier, tmp_path, THIS_RUN))
    frontier.close()
    assert "\x1b" not in text
    assert "[31mred" in text


def test_a_report_with_a_lower_limit_than_before_is_consistent(tmp_path: Path) -> None:
    frontier = filled(tmp_path)
    finish(frontier)
    frontier.close()
    frontier = JobDatabase(tmp_path, limit=2)
    found = report.build_report(frontier, tmp_path, THIS_RUN)
    frontier.close()
    assert (found.complete, found.pages, found.written, found.read + found.failed) == (True, 5, 5, 5)
