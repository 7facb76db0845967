"""The search of the documentation site puts the page that answers a question first, and notes for engineers last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.clients.environments import DOCS
from tests.clients.required import require_environment
from tests.docs.search_ranks import ROOT, build, load_questions, ranked_pages, served

_FIRST = 41
"""Of 43 questions, those whose page must come first. November 2026: 43."""
_ENGINEERS = ("laboratory/", "decisions/", "architecture.md")


def test_pages_for_engineers_are_ranked_last() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if _is_for_engineers(page.relative_to(ROOT / "docs"))]
    assert len(pages) > 20
    assert [page.name for page in pages if "boost: 0.0001\n" not in page.read_text(encoding="utf-8")[:60]] == []


def test_each_question_names_pages_that_exist() -> None:
    questions = load_questions()
    assert len(questions) >= 43
    assert [page for one in questions for page in one["pages"] if not (ROOT / "docs" / page).is_file()] == []


@pytest.mark.browser
@pytest.mark.programs
@pytest.mark.full_size
async def test_the_right_page_comes_first(plain_browser: Browser, tmp_path: Path) -> None:
    require_environment(DOCS)
    build(tmp_path)
    questions = load_questions()
    with served(tmp_path) as address:
        ranks = await ranked_pages(plain_browser, address, [question["search"] for question in questions])
    wrong = [
        (one["search"], pages[:3]) for one, pages in zip(questions, ranks, strict=True) if pages[0] not in one["pages"]
    ]
    assert len(questions) - len(wrong) >= _FIRST, wrong
    assert [one["search"] for one, pages in zip(questions, ranks, strict=True) if not _has_topic(one, pages)] == []


def _has_topic(question: dict[str, list[str]], pages: list[str]) -> bool:
    """Return True if a page with the details is found too."""
    return any(page in question["pages"][1:] for page in pages)


def _is_for_engineers(page: Path) -> bool:
    return re.match("|".join(map(re.escape, _ENGINEERS)), page.as_posix()) is not None
