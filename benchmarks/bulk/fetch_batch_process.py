"""Run `fetch_batch` over a list of URLs in a separate process, as the baseline of bulk reading."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path

from scraper.bulk.model import Format, JobRate, JobSpec
from scraper.bulk.run import make_job_settings
from scraper.services import Services
from scraper.settings import Settings

_DEADLINE_S = 3_600.0


async def _main(source: Path, urls: list[str], per_host: int) -> int:
    logging.basicConfig(level=logging.ERROR)
    job = JobSpec(str(source), source.parent, Format.JSONL, JobRate(per_host=per_host))
    async with Services.open(make_job_settings(job, Settings.load(os.environ))) as app:
        outcomes = await app.fetcher.fetch_batch(urls, deadline_s=_DEADLINE_S)
    return sum(isinstance(outcome, Exception) for outcome in outcomes)


if __name__ == "__main__":
    _source = Path(sys.argv[1])
    sys.exit(min(100, asyncio.run(_main(_source, _source.read_text().split(), int(sys.argv[2])))))
