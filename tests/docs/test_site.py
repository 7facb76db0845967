"""The documentation's site lists every page; `make docs-site` checks the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PAGES = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]


def listed(nav: list[Any]) -> Iterator[str]:
    """Yield the files of a navigation tree."""
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from listed(value) if isinstance(value, list) else [value]


def test_the_navigation_lists_every_page_once() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(listed(config["nav"])) == sorted(map(str, PAGES))


def test_links_between_pages_name_a_page_of_the_site() -> None:
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for link in re.findall(r"\]\((?![a-z]+:|#)([^)\s#]+)", text):
            assert Path(os.path.normpath(page.parent / link)) in PAGES, f"{page}: {link}"
