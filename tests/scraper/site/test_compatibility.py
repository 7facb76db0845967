"""A crawl and versions of a page that an earlier version of the program stored are continued.

Revision 6e797f1d wrote `indexes.sqlite` in `version_1`, and the crawl and the versions in `records.sqlite` of the tests
of `store`. Of 51 pages, 12 are read.
"""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scraper.services import Services
from scraper.settings import Settings
from tests.scraper.site.test_page_change_tracker import Journal, compare
from tests.scraper.store.test_compatibility import unpack_records
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import serving

pytestmark = pytest.mark.browser

BETWEEN = datetime.fromtimestamp(1_795_859_573.9, UTC)
"""Time between both versions of the page."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    unpack_records(tmp_path)
    packed = Path(__file__).parent / "version_1/indexes.sqlite.gz"
    (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path


async def test_a_crawl_of_an_earlier_version_is_continued(folder: Path) -> None:
    with serving(Robots) as (made, served):
        async with Services.open(Settings(data_dir=folder, test_hosts=served.test_hosts)) as app:
            before = await app.indexes.list_documents("trap-example", principal="anna", limit=200)
            report = await app.crawls.resume("YYEw0CMftfhm", pages=100, principal="anna")
            assert report.is_done and report.index == "trap-example"
            after = await app.indexes.list_documents(report.index, principal="anna", limit=200)
        assert len(before) == 12 and set(before) < set(after)
        assert {url.removeprefix("http://trap.example") for url in after} == {"/", *made.pages}
        assert report.kept == len(after)
        assert not served.requests.keys() & {url.removeprefix("http://trap.example") for url in before}


async def test_versions_of_a_page_of_an_earlier_version_are_compared(folder: Path) -> None:
    with serving(Journal) as (made, served):
        made.price = "20 EUR"
        async with Services.open(Settings(data_dir=folder, test_hosts=served.test_hosts)) as app:
            for since, price in ((None, "15 EUR"), (BETWEEN, "12 EUR")):
                change = await compare(app, served.url, principal="anna", since=since)
                (edit,) = change.changes
                assert change.status == "changed" and price in edit.old and "20 EUR" in edit.new
