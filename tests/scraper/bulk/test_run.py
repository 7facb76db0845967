"""Settings of the processes that read pages for a job."""

from __future__ import annotations

from pathlib import Path

from scraper.bulk.model import JobRate
from scraper.bulk.run import make_job_settings
from scraper.settings import Settings
from tests.scraper.bulk.jobs import order_of


def test_the_settings_of_the_process_have_the_rate_of_the_job(tmp_path: Path) -> None:
    server = Settings(host_pages=32, host_gap_s=0.5, peek_slots=8, render_slots=4, queue_limit=20)
    reads = make_job_settings(order_of(tmp_path, [], rate=JobRate(per_host=3, gap_s=7.0)), server)
    assert (reads.host_pages, reads.host_gap_s) == (3, 7.0)
    assert (reads.peek_slots, reads.render_slots, reads.queue_limit) == (8, 4, 20)
    wide = make_job_settings(order_of(tmp_path, [], rate=JobRate(concurrency=40)), server)
    assert (wide.peek_slots, wide.render_slots, wide.max_slots, wide.queue_limit) == (40, 4, 40, 40)
    narrow = make_job_settings(order_of(tmp_path, [], rate=JobRate(concurrency=2)), server)
    assert (narrow.peek_slots, narrow.render_slots, narrow.max_slots, narrow.queue_limit) == (2, 2, 2, 20)
