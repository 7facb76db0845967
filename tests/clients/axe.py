"""Check a page for accessibility with axe-core."""

from __future__ import annotations

from typing import Any, Literal

from playwright.async_api import Page

from tests.clients.environments import AXE

WIDTHS = (360, 768, 1_440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""WCAG 2.2, levels A and AA."""


async def violations(page: Page) -> list[str]:
    """Return the violated rules of the page, each with its elements."""
    source = AXE.node_folder / "node_modules" / "axe-core" / "axe.min.js"
    await page.evaluate(source.read_text(encoding="utf-8") + "; undefined")
    result: dict[str, Any] = await page.evaluate(
        "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", _RULES
    )
    assert len(result["passes"]) >= 10, "axe checked almost nothing"
    return [
        f"{rule['id']}: {rule['help']}: {[node['html'][:150] for node in rule['nodes'][:5]]}"
        for rule in result["violations"]
    ]
