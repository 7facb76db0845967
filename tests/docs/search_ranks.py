"""Rank the pages of the documentation for the questions of users, by the search of the built site.

    python -m tests.docs.search_ranks [--python PYTHON] [--questions FILE]

PYTHON is the interpreter of an environment with mkdocs-material; by default that of `make clients`. FILE is JSON: a
list of objects with `question` and `search`, the words that a user types; without it, `search_questions.toml` is used.
The search runs in Chromium, with the worker, the index and the settings that visitors of the site load.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import http.server
import json
import subprocess
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from browsers import Tier
from browsers.chromium.locate import find_chromium
from tests.clients.environments import DOCS

ROOT = Path(__file__).parents[2]
QUESTIONS = Path(__file__).parent / "search_questions.toml"
_BUILD_S = 300
_SHOWN = 3
"""Pages that are printed for a question."""

_SEARCH = """async (queries) => {
    const config = JSON.parse(document.getElementById("__config").textContent)
    const base = new URL(config.base + "/", location)
    const index = await (await fetch(new URL("search/search_index.json", base))).json()
    const worker = new Worker(new URL(config.search, base))
    const messages = []
    let wake = () => {}
    worker.onmessage = event => { messages.push(event.data); wake() }
    const answer = async type => {
        for (;;) {
            const message = messages.shift()
            if (message?.type === type) return message.data
            if (!message) await new Promise(resolve => { wake = resolve })
        }
    }
    worker.postMessage({type: 0, data: {...index, options: {suggest: true}}})
    await answer(1)
    const found = []
    for (const query of queries) {
        worker.postMessage({type: 2, data: query})
        found.push((await answer(3)).items.map(sections => sections.map(section => section.location)))
    }
    return found
}"""
"""Types of messages of the worker of Material: 0 set up, 1 ready, 2 query, 3 result."""


class _Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback while the block runs."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def build(folder: Path, python: Path = DOCS.python) -> None:
    """Build the site into a folder."""
    command = [str(python), "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=_BUILD_S)


def load_questions() -> list[dict[str, Any]]:
    """Return the questions with `search`, the words that users type, and `pages`, the right ones."""
    return list(tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"])


async def ranked_pages(browser: Browser, address: str, queries: Sequence[str]) -> list[list[str]]:
    """Return for each query the pages of the site in the order of its search."""
    page = await browser.new_page()
    try:
        await page.goto(address)
        found = await page.evaluate(_SEARCH, list(queries))
    finally:
        await page.close()
    return [[_page_of(sections[0]) for sections in pages] for pages in found]


def _page_of(location: str) -> str:
    """Return the source file of a location such as `tools/fetch/#examples`."""
    path = location.partition("#")[0].strip("/")
    if not path:
        return "index.md"
    return f"{path}.md" if (ROOT / "docs" / f"{path}.md").is_file() else f"{path}/README.md"


async def _print_ranks(python: Path, questions: Sequence[dict[str, Any]]) -> None:
    found = find_chromium(Tier.LIGHT, None) or find_chromium(Tier.FULL, None)
    assert found is not None, "no Chromium on this machine: run `make setup`"
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), python)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=found.executable, args=["--no-sandbox"])
            with served(Path(folder)) as address:
                ranks = await ranked_pages(browser, address, [question["search"] for question in questions])
            await browser.close()
    first = 0
    for question, pages in zip(questions, ranks, strict=True):
        right = question.get("pages", ())
        rank = next((place for place, page in enumerate(pages, 1) if page in right), 0)
        first += rank == 1
        print(f"{rank or '-'} | {question['search']} | {', '.join(pages[:_SHOWN])}")
    print(f"first: {first} of {len(questions)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", type=Path, default=DOCS.python)
    parser.add_argument("--questions", type=Path)
    options = parser.parse_args()
    asked = json.loads(options.questions.read_text(encoding="utf-8")) if options.questions else load_questions()
    asyncio.run(_print_ranks(options.python, asked))
