"""Tests for sites that answer every URL with one page, for which `changes` keeps the versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from scraper import errors
from scraper.cli.exit_codes import ExitCode, code_of_error
from scraper.services import Services
from tests.scraper.site.test_hostile_servers import opened
from tests.site.traps.made_site import MadeSite, Response, build_page, redirect
from tests.site.traps.serving import serving

pytestmark = pytest.mark.browser

NOTICE = build_page("Back soon", "<p>We are improving our shop for you. Please come back in a few minutes.</p>")


class Shop(MadeSite):
    """Pages of a shop, which answers in the way that a test sets."""

    name = "shop"
    answer: Response | None = None
    """Answer to every URL."""
    lost: Response | None = None
    """Answer to a removed page and to missing URLs."""

    def build(self) -> None:
        """Add the pages."""
        pages = self.add_pages("/page/{}", 4)
        self.home(self.list_pages(pages))
        self.route(r"(/page/\d)", lambda query, name: self.show(name))

    def get(self, url: str) -> Response:
        """Answer a request in the way that the test sets."""
        if self.answer is not None:
            return self.answer
        is_lost = "/page/0" in url or "does-not-exist" in url
        return self.lost if self.lost is not None and is_lost else super().get(url)


async def statuses(app: Services, urls: list[str]) -> list[str]:
    outcomes = await app.change_tracker.compare(urls, deadline_s=120)
    return [one.code if isinstance(one, errors.ScraperError) else one.status for one in outcomes]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (NOTICE, "maintenance"),
        (build_page("Back soon", "<a href='/page/2'>Try our shop again</a> <p>We will be back.</p>"), "maintenance"),
        (Response(503, NOTICE.body), "http_error"),
    ],
    ids=["no links", "links", "status 503"],
)
async def test_one_page_for_every_url_keeps_the_versions(tmp_path: Path, answer: Response, code: str) -> None:
    with serving(Shop) as (made, served):
        urls = [f"{served.url}page/0", f"{served.url}page/1", served.url]
        async with opened(tmp_path, served) as app:
            assert await statuses(app, urls) == ["first"] * 3
            made.answer = answer
            assert await statuses(app, urls) == [code] * 3
            made.answer = None
            assert await statuses(app, urls) == ["same"] * 3


@pytest.mark.parametrize("lost", [NOTICE, redirect("/")], ids=["page for missing URLs", "redirect to the start page"])
async def test_a_page_is_gone_if_other_pages_of_the_site_remain(tmp_path: Path, lost: Response) -> None:
    with serving(Shop) as (made, served):
        urls = [f"{served.url}page/0", f"{served.url}page/1"]
        async with opened(tmp_path, served) as app:
            await statuses(app, urls)
            made.lost = lost
            assert await statuses(app, urls) == ["gone", "same"]


def test_the_error_says_what_to_do() -> None:
    error = errors.MaintenancePageError("x")
    assert error.retryable and code_of_error(error) == ExitCode.INCOMPLETE
