"""Check the policy itself: hosts that must never be refused, and pages that need or defend their third parties."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchmarks.common.command_line import Figures
from browsers import Browsers
from browsers.egress.third_parties import ThirdPartyFilter
from browsers.model import ThirdParties
from browsers.settings import BrowserSettings
from scraper.model import ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.sqlite.pages import SqlitePageStore
from scraper.workers import WorkerPool
from tests.site.hosts import CONTENT_HOSTS, NEVER_REFUSED, TRACKERS
from tests.site.prose import marks_found
from tests.site.running import running_site
from tests.site.third_parties import CASES

_KEPT = ("cdn", "hosting", "video", "content", "other")
"""Categories of the data that are never refused."""


def measure_refusals(entities_file: Path) -> Figures:
    """Return the share of the hosts that must never be refused and are not."""
    entities = json.loads(entities_file.read_text(encoding="utf-8"))
    domains = [domain for entity in entities if entity["category"] in _KEPT for domain in entity["domains"]]
    hosts = [*NEVER_REFUSED, *CONTENT_HOSTS, *(domain.removeprefix("*.") for domain in domains)]
    page = ThirdPartyFilter(ThirdParties.CONTENT_ONLY, ("127.0.2.1",))
    refused = [host for host in hosts if page.refuses(host)]
    for host in refused:
        print(f"wrongly refused: {host}")
    return {"never_refused": 1 - len(refused) / len(hosts)}


async def count_complete_cases() -> int:
    """Return how many of the twelve difficult pages of the test site keep their whole text."""
    complete = 0
    with running_site() as site, tempfile.TemporaryDirectory(prefix="benchmark-pages-") as folder:
        cases = [(f"/{page}", f"host{1 + n}.example", *case) for n, (page, case) in enumerate(CASES.items())]
        cases.append(("/ad-host", TRACKERS[0], "subject", 24))
        pages = SqlitePageStore(Path(folder), limit_bytes=50_000_000)
        async with Browsers(BrowserSettings(test_hosts=site.test_hosts)) as browsers, WorkerPool() as workers:
            fetcher = Fetcher(browsers, workers, pages, Settings(test_hosts=site.test_hosts))
            for path, host, name, marks in cases:
                reading = await fetcher.fetch(ReadRequest(site.url(path, host), render="browser"))
                found = marks_found(name, reading.document.markdown)
                complete += found == marks
                if found != marks:
                    print(f"{path}: {found} of {marks}")
            await fetcher.close()
        await pages.close()
    return complete
