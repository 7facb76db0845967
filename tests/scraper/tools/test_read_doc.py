"""`read_doc` as clients call it, over the real door and the real readers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from scraper.errors import InvalidArgumentError
from scraper.services import Services
from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.model import ToolAnswer, ToolCall
from scraper.tools.reading_tools import parse_page_ranges
from tests.growth import thorough
from tests.site.languages import LANGUAGES
from tests.site.running import Site

pytestmark = pytest.mark.browser

TOOL = next(tool for tool in registry.tools() if tool.name == "read_doc")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    folder: Path = tmp_path_factory.mktemp("read-doc")
    (folder / "root").mkdir()
    (folder / "root" / "a.md").write_text("# Local\n\nWords.")
    settings = Settings(data_dir=folder / "data", test_hosts=site.test_hosts, document_root=folder / "root")
    async with Services.open(settings) as opened:
        yield opened


async def ask(app: Services, **arguments: Any) -> ToolAnswer:
    return await TOOL.run(app, arguments, ToolCall())


async def data(app: Services, **arguments: Any) -> dict[str, Any]:
    answer = await ask(app, format="json", **arguments)
    assert not answer.is_error, answer.text
    assert isinstance(answer.structured, dict)
    assert json.loads(answer.text) == answer.structured
    return answer.structured


@pytest.mark.parametrize(
    ("path", "kind", "mark"),
    [
        ("/document/log.pdf", "pdf", "MARK-pdf-9"),
        thorough("/download-pdf", "pdf", "MARK-pdf-0"),
        ("/document/pdf-as-html", "pdf", "MARK-pdf-0"),
        ("/document/table.csv", "csv", "| MARK-csv-0 | 80 |"),
        thorough("/document/data.json", "json", '"mark": "MARK-json-0"'),
        thorough("/document/feed.xml", "feed", "MARK-rss-4"),
        thorough("/document/notes.txt", "text", "MARK-text-0"),
        thorough("/document/readme.md", "markdown", "# Log"),
        ("/document/picture.png", "image", "Image: PNG"),
    ],
)
async def test_documents_of_the_web_are_read_by_their_bytes(
    app: Services, site: Site, path: str, kind: str, mark: str
) -> None:
    answer = await data(app, source=site.url(path))
    assert answer["format"] == kind
    assert mark in answer["content"]


async def test_paging_to_the_end_gives_the_whole_document_and_its_end_signal(app: Services, site: Site) -> None:
    url = site.url("/document/log.pdf")
    whole = (await data(app, source=url))["content"]
    text, start = "", 0
    while True:
        piece = await data(app, source=url, start=start, length=100)
        text += piece["content"]
        start = piece["start"] + piece["returned_chars"]
        if not piece["truncated"]:
            break
    assert text == whole
    end = await data(app, source=url, start=start + 50)
    assert (end["returned_chars"], end["start"], end["truncated"]) == (0, len(whole), False)


async def test_a_negative_length_is_rejected_and_a_negative_start_is_zero(app: Services, site: Site) -> None:
    url = site.url("/document/notes.txt")
    rejected = await ask(app, source=url, length=-1)
    assert rejected.is_error
    assert "length must be" in rejected.text
    assert (await data(app, source=url, start=-9))["start"] == 0


async def test_a_start_beyond_any_text_is_its_end_however_large(app: Services, site: Site) -> None:
    end = await data(app, source=site.url("/document/notes.txt"), start=10**12, length=10**12)
    assert (end["returned_chars"], end["truncated"]) == (0, False)
    assert end["start"] == end["total_chars"]


async def test_local_files_are_read_beneath_the_root_alone(app: Services) -> None:
    local = (await ask(app, source="a.md")).text
    assert "# Local" in local
    for source in ("../secret", "/etc/passwd", "file:///etc/passwd"):
        refused = await ask(app, source=source)
        assert refused.is_error, source


async def test_a_page_is_read_as_a_page(app: Services, site: Site) -> None:
    answer = await ask(app, source=site.url("/static/1"))
    assert "Format: html Tokens: " in answer.text
    assert "`fetch` is the tool" in answer.text


@pytest.mark.parametrize("label", ["gbk", "big5", "shift_jis"])
@pytest.mark.parametrize("way", ["header", "meta", "none"])
async def test_a_page_in_an_old_encoding_reads_alike_in_both_tools(
    app: Services, site: Site, label: str, way: str
) -> None:
    url = site.url(f"/charset/{label}/{way}")
    fetch = next(tool for tool in registry.tools() if tool.name == "fetch")
    page = (await fetch.run(app, {"url": url, "format": "json"}, ToolCall())).structured
    assert isinstance(page, dict)
    (language,) = (one for one in LANGUAGES.values() if label in dict(one.encodings))
    assert language.text[:40] in page["content"]
    assert (await data(app, source=url))["content"] == page["content"]


async def test_random_bytes_are_an_error(app: Services, site: Site) -> None:
    answer = await ask(app, source=site.url("/document/bytes.bin"))
    assert answer.is_error
    assert "not read" in answer.text


async def test_fetch_reads_a_pdf_and_names_the_tool_for_it(app: Services, site: Site) -> None:
    fetch = next(tool for tool in registry.tools() if tool.name == "fetch")
    answer = await fetch.run(app, {"url": site.url("/download-pdf"), "force_refresh": True}, ToolCall())
    assert not answer.is_error
    assert "`read_doc` is the tool" in answer.text
    assert "MARK-pdf-9" in answer.text


async def test_fetch_reads_the_pages_of_a_long_pdf_that_the_part_needs(app: Services, site: Site) -> None:
    fetch = next(tool for tool in registry.tools() if tool.name == "fetch")
    url = site.url("/document/long.pdf")
    beginning = await fetch.run(app, {"url": url}, ToolCall())
    assert "MARK-page-36" in beginning.text and "MARK-page-37" not in beginning.text
    assert "Pages 37 to 40 of 40 are not read yet: read them by `pages` of `read_doc`, such as 37-40." in beginning.text
    end = await fetch.run(app, {"url": url, "length": 20_000}, ToolCall())
    assert "MARK-page-40" in end.text and "not read yet" not in end.text


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        (None, ()),
        ("3", (3,)),
        ("3-5,9", (3, 4, 5, 9)),
        (" 2 , 1;1–2 ", (1, 2)),
        ("4..6", (4, 5, 6)),
        ("2 to 3", (2, 3)),
        ("1, 7-", (1, *range(7, 1_006))),
        ("99999-", (99_999, 100_000)),
    ],
)
def test_numbers_and_ranges_are_understood(text: str | None, pages: tuple[int, ...]) -> None:
    assert parse_page_ranges(text) == pages


@pytest.mark.parametrize("text", ["", "0", "5-3", "a", "0-", "-2", "1--2", "1-99999999", "1-2000", ","])
def test_an_invalid_page_selection_is_an_error(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="pages must"):
        parse_page_ranges(text)
