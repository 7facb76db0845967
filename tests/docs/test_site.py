"""The documentation's site lists every page; `make docs-site` checks the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
MOST_WORDS = 50_000
"""Words of all pages and the README, as `wc -w` counts them. November 2026: 49,670."""
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
            target = Path(os.path.normpath(page.parent / link))
            assert target in PAGES or (ROOT / "docs/assets" / target.name).is_file(), f"{page}: {link}"


def test_the_pages_stay_short() -> None:
    files = [ROOT / "README.md", *(ROOT / "docs" / page for page in PAGES)]
    assert sum(len(file.read_text(encoding="utf-8").split()) for file in files) <= MOST_WORDS
