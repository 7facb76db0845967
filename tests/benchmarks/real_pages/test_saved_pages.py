"""Saved pages are served under their original host names and URLs, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import aiohttp
import pytest

from benchmarks.real_pages.saved_pages import hosts_of, select_pages, serve_pages


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    index = {
        "1": {"url": "https://news.example/story?id=7#top", "type": "article"},
        "2": {"url": "https://shop.example", "type": "product"},
        "3": {"url": "", "type": "article"},
        "4": {"url": "https://news.example/story?id=7", "type": "article"},
    }
    (tmp_path / "html").mkdir()
    for name in index:
        (tmp_path / "html" / f"{name}.html").write_text(f"<p>Page {name}</p>")
    (tmp_path / "index.json").write_text(json.dumps(index))
    return tmp_path


def test_the_selection_of_pages_is_deterministic_and_has_no_repeats(corpus: Path) -> None:
    pages = select_pages(corpus, 10)
    assert sorted(page.url for page in pages) == ["https://news.example/story?id=7", "https://shop.example"]
    assert select_pages(corpus, 10) == pages
    assert select_pages(corpus, 1) == pages[:1]


def test_hosts_that_a_page_loads_from_are_found_and_those_it_links_to_are_not(corpus: Path) -> None:
    html = (
        '<link rel="stylesheet" href="https://styles.example/a.css"><img src="//pictures.example/a.png">'
        "<img srcset='https://wide.example/b.png 2x'><script>load('https://scripts.example/c.js')</script>"
        '<div style="background: url(https://back.example/d.png)"></div><a href="https://away.example/">x</a>'
    )
    pages = select_pages(corpus, 10)
    for page in pages:
        page.file.write_text(html)
    found = hosts_of(pages)
    assert found == {
        "news.example",
        "shop.example",
        "styles.example",
        "pictures.example",
        "wide.example",
        "scripts.example",
        "back.example",
    }


async def test_a_page_is_served_only_at_its_own_url(corpus: Path) -> None:
    pages = select_pages(corpus, 10)
    async with serve_pages(pages) as port, aiohttp.ClientSession() as session:

        async def ask(host: str, path: str) -> tuple[int, str]:
            address = f"https://127.0.0.1:{port}{path}"
            async with session.get(address, headers={"Host": host}, ssl=False) as answer:
                return answer.status, await answer.text()

        assert await ask("shop.example", "/") == (200, "<p>Page 2</p>")
        status, text = await ask("news.example", "/story?id=7")
        assert (status, text) in {(200, "<p>Page 1</p>"), (200, "<p>Page 4</p>")}
        assert (await ask("news.example", "/story"))[0] == 404
        assert (await ask("shop.example", "/story?id=7"))[0] == 404
