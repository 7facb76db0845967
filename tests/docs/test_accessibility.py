"""The documentation site conforms to WCAG 2.2 AA in both color schemes, on narrow and wide windows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.clients.axe import SCHEMES, WIDTHS, violations
from tests.clients.environments import AXE, DOCS
from tests.clients.required import require_environment
from tests.docs.search_ranks import ROOT, build, served

pytestmark = [pytest.mark.browser, pytest.mark.programs, pytest.mark.full_size]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site and serve it."""
    require_environment(AXE)
    require_environment(DOCS)
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    with served(folder) as base:
        yield base


def path_of(page: Path) -> str:
    """Return the path of a page on the site."""
    folder = page.parent if page.stem in {"index", "README"} else page.with_suffix("")
    return "" if folder == Path() else f"{folder.as_posix()}/"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", (WIDTHS[0], WIDTHS[-1]))
async def test_every_page_is_accessible(address: str, plain_browser: Browser, scheme: Any, width: int) -> None:
    paths = [path_of(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert len(paths) > 30
    found = []
    context = await plain_browser.new_context(
        color_scheme=scheme, reduced_motion="reduce", viewport={"width": width, "height": 900}
    )
    try:
        page = await context.new_page()
        for path in sorted(paths):
            response = await page.goto(f"{address}/{path}")
            assert response is not None and response.ok, path
            # Colors in transition have another contrast.
            await page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
            found += [(path, violation) for violation in await violations(page)]
    finally:
        await context.close()
    assert found == []
