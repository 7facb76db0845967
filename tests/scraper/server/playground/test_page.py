"""The page for people, in a real browser, on the product."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shlex
from collections.abc import AsyncIterator
from typing import Any, cast

import aiohttp
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Page, Route, expect

from scraper.cli.client_config import CLIENTS, ServerCommand
from scraper.tools import registry
from tests.scraper.process import SOON_S, Program, browsers_say, until
from tests.scraper.server.playground.conftest import PATIENCE_MS, TOKEN, read
from tests.site.running import Site

pytestmark = pytest.mark.browser

LIVES_LONG = "/slow-answer/25000"
"""A page whose answer is waited for longer than any test."""


@contextlib.asynccontextmanager
async def connected(url: str, headers: dict[str, str]) -> AsyncIterator[Client]:
    """Connect a client of the SDK."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def answer_of_fetch(product: Program, url: str) -> str:
    """Return the text of an answer of the tool `fetch`."""
    async with connected(product.url, {"Authorization": f"Bearer {TOKEN}"}) as client:
        text: str = cast(Any, (await client.call_tool("fetch", {"url": url})).content[0]).text
        return text


def without_marks(text: str) -> str:
    """Return a text without the random part of its marks and without what differs for a cached page."""
    return re.sub(r"untrusted \w+| *Cached:.*", "", text)


@pytest.mark.parametrize("path", ["/static/7", "/document/log.pdf", "/robots.txt"])
async def test_the_answer_of_fetch_is_shown_exactly(page: Page, site: Site, product: Program, path: str) -> None:
    url = site.url(path)
    await read(page, url)
    await expect(page.locator(".sides")).to_be_visible()
    shown = await page.locator("#markdown").text_content() or ""
    assert without_marks(shown) == without_marks(await answer_of_fetch(product, url))


async def test_an_error_of_fetch_is_shown(page: Page, site: Site, product: Program) -> None:
    await read(page, site.url("/status/404"))
    output = page.locator("form#sides output.wrong")
    await expect(output).to_have_text(await answer_of_fetch(product, site.url("/status/404")))
    await expect(page.locator(".sides")).to_be_hidden()


async def test_a_url_needs_no_scheme(page: Page, site: Site) -> None:
    await read(page, site.url("/static/7").removeprefix("http://"))
    await expect(page.locator("#markdown")).to_contain_text("Log of the harbour, volume 7")


async def test_the_same_call_is_shown_for_other_programs(page: Page, site: Site, product: Program) -> None:
    url = site.url("/static/7?a='b'")
    await page.locator("form#sides [name=render]").select_option("http")
    await read(page, url)
    message = json.loads(await page.get_by_label("Message of MCP").text_content() or "")
    assert message == {"method": "tools/call", "params": {"name": "fetch", "arguments": {"url": url, "render": "http"}}}
    command = shlex.split(await page.get_by_label("Command of search-mcp").text_content() or "")
    assert command == ["search-mcp", "fetch", url, "--render", "http"]
    program, target, *headers, _, body = shlex.split(await page.get_by_label("Command of curl").text_content() or "")
    assert (program, target) == ("curl", product.base + "/mcp")
    sent = dict(header.split(": ") for header in headers if header != "-H")
    assert sent["Authorization"] == "Bearer YOUR-TOKEN"
    sent["Authorization"] = f"Bearer {TOKEN}"
    async with aiohttp.ClientSession() as http, http.post(target, data=body, headers=sent) as answer:
        assert "Log of the harbour" in (await answer.text())


async def test_this_server_is_the_first_to_connect_to(page: Page, product: Program) -> None:
    entry = json.loads(await page.get_by_label("Configuration over HTTP").text_content() or "")
    server = entry["mcpServers"]["search-mcp"]
    assert server == {"type": "http", "url": product.base + "/mcp", "headers": {"Authorization": "Bearer YOUR-TOKEN"}}
    server["headers"]["Authorization"] = f"Bearer {TOKEN}"
    async with connected(server["url"], server["headers"]) as client:
        assert (await client.list_tools()).tools
    await expect(page.get_by_label("URL of this server")).to_have_text(product.base + "/mcp")
    order = await page.locator("#here, #clients").evaluate_all("all => all.map(one => one.id)")
    assert order == ["here", "clients"]


@pytest.mark.parametrize("width", [400, 1400])
async def test_rows_are_equal_and_lines_are_short(page: Page, site: Site, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 900})
    await read(page, site.url("/rich"))
    heights = "fields => [...new Set(fields.map(field => field.offsetHeight))]"
    assert len(await page.locator("form#sides :is(input, select, button)").evaluate_all(heights)) == 1
    measure = "texts => Math.max(...texts.map(text => text.clientWidth / parseFloat(getComputedStyle(text).fontSize)))"
    assert await page.locator("header p, section > p, #rendered p").evaluate_all(measure) <= 40  # em; 75 characters


@pytest.mark.thorough
async def test_a_picture_of_the_page_is_shown_beside_its_text(page: Page, site: Site) -> None:
    await read(page, site.url("/rich"))
    image = page.locator("#sight img")
    await expect(image).to_be_visible()
    assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    assert "Picture of" in (await image.get_attribute("alt") or "")


@pytest.mark.thorough
async def test_a_page_without_a_picture_says_why(page: Page, site: Site) -> None:
    await page.locator("#tools form[data-tool=see]").wait_for(state="attached")
    await read(page, site.url("/robots.txt"))
    await expect(page.locator("#sight output.wrong")).to_contain_text("not a page")


@pytest.mark.thorough
async def test_the_tool_for_pictures_shows_them(page: Page, site: Site) -> None:
    await page.locator("details", has=page.locator("form[data-tool=see]")).locator("summary").click()
    form = page.locator("form[data-tool=see]")
    await form.locator("[name=url]").fill(site.url("/static/7"))
    await form.locator("button").first.click()
    await expect(page.get_by_label("Answer of see", exact=True).locator("img")).to_be_visible()


@pytest.mark.thorough
async def test_the_markdown_is_shown_as_a_page(page: Page, site: Site) -> None:
    await read(page, site.url("/rich"))
    shown = page.locator("#rendered")
    await expect(shown.locator("strong").first).to_have_text("strong words")
    await expect(shown.locator("pre")).to_contain_text('return "wait"')
    await expect(shown.locator("table td").first).to_have_text("Aurora | North")
    await expect(shown.locator("ol")).to_have_attribute("start", "3")
    await expect(shown.get_by_role("link", name="a link with a query")).to_have_attribute(
        "href", site.url("/static/1?from=rich#part")
    )
    await expect(shown.locator("h4, h5").first).to_be_visible()


@pytest.mark.thorough
async def test_a_long_answer_has_a_bounded_height(page: Page, site: Site) -> None:
    await read(page, site.url("/long/100"))
    for name in ("rendered", "markdown"):
        height = await page.locator(f"#{name}").evaluate("element => [element.clientHeight, element.scrollHeight]")
        assert height[0] <= 500 < height[1]


@pytest.mark.thorough
async def test_an_answer_is_copied(page: Page, site: Site, product: Program) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=product.base)
    await read(page, site.url("/static/7"))
    await page.get_by_role("button", name="Copy answer").click()
    await expect(page.get_by_role("button", name="Copied answer")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == await page.locator("#markdown").text_content()


@pytest.mark.thorough
async def test_an_answer_is_selected_where_there_is_no_clipboard(page: Page, site: Site) -> None:
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    await read(page, site.url("/static/7"))
    await page.get_by_role("button", name="Copy answer").click()
    await expect(page.get_by_role("button", name="Selected answer")).to_be_visible()
    selected = await page.evaluate("getSelection().toString()")
    assert "Log of the harbour, volume 7" in selected


@pytest.mark.thorough
async def test_facets_filter_the_results_of_a_search(page: Page) -> None:
    form = page.locator("#search form")
    await form.locator("[name=query]").fill("tides")
    await form.locator("button").click()
    rows = page.locator("#results li")
    await expect(rows.first).to_be_visible()
    count = await rows.count()
    label = page.locator("#facets label", has_text="googlenews")
    number = int((await label.text_content() or "").partition("(")[2].rstrip(")"))
    assert 0 < number < count
    await label.locator("input").check()
    await expect(rows).to_have_count(number)
    for text in await rows.all_text_contents():
        assert "googlenews" in text
    site_facet = page.locator("#facets fieldset", has_text="Site").locator("label").first
    host, _, at_host = (await site_facet.text_content() or "").partition(" (")
    await label.locator("input").uncheck()
    await site_facet.locator("input").check()
    await expect(rows).to_have_count(int(at_host.rstrip(")")))
    await expect(rows.first).to_contain_text(host)
    await rows.first.get_by_role("button").click()
    await expect(page.locator("#rendered")).to_contain_text("tides")


@pytest.mark.thorough
async def test_calls_are_remembered_without_passwords_and_repeated(page: Page, site: Site) -> None:
    await read(page, site.url("/static/7"))
    form = page.locator("form[data-tool=read_doc]")
    await form.evaluate("form => form.closest('details').open = true")
    await form.locator("[name=source]").fill(site.url("/files/report.pdf"))
    await form.locator("[name=password]").fill("a-secret-word")
    await form.locator("button").click()
    await expect(page.locator("#history button")).to_have_count(2)
    assert "a-secret-word" not in await page.evaluate("JSON.stringify(localStorage)")
    await page.reload()
    await page.locator("#history button", has_text="/static/7").click()
    await expect(page.locator("#rendered")).to_contain_text("volume 7")
    await page.get_by_role("button", name="Delete the history").click()
    await expect(page.locator("#history button")).to_have_count(0)
    assert await page.evaluate("localStorage.getItem('search-mcp-history')") == "[]"


async def test_client_configurations_are_shown(page: Page) -> None:
    clients = page.locator("#clients details")
    await expect(clients).to_have_count(len(CLIENTS))
    await page.get_by_text("Codex", exact=True).click()
    shown = await page.get_by_label("Configuration of Codex").text_content()
    assert shown == CLIENTS["codex"].snippet(ServerCommand("search-mcp"))


FOREIGN_IMAGE = "img:not(#sight img[src^='data:image/'])"
"""Every image but the picture of the page."""


async def test_page_text_is_never_inserted_as_markup(page: Page, site: Site) -> None:
    for name in ("/rich", "/hidden", "/alerts", "/plain"):
        await read(page, site.url(name))
        assert await page.locator(f".sides {FOREIGN_IMAGE}, .sides script, .sides iframe").count() == 0
        assert await page.locator(".sides a:not([href^=http]), .sides a:not([rel~=noopener])").count() == 0
    hostile = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    form = page.locator("form[data-tool=cache_search]")
    await form.evaluate("form => form.closest('details').open = true")
    await form.locator("[name=query]").fill(hostile)
    await form.locator("button").click()
    await expect(page.get_by_label("Answer of cache_search", exact=True)).to_contain_text("onerror")
    assert await page.locator(f"main {FOREIGN_IMAGE}, main script").count() == 0
    assert await page.title() == "search-mcp"


async def test_an_unreadable_url_shows_an_error(page: Page) -> None:
    await read(page, "http://127.0.0.1:9/")
    output = page.locator("form#sides output")
    await expect(output).to_have_class("wrong")
    await expect(output).to_contain_text("127.0.0.1")
    await expect(page.locator(".sides")).to_be_hidden()


async def test_there_is_a_form_for_every_tool_and_it_calls_it(page: Page, site: Site) -> None:
    await expect(page.locator("form[data-tool]")).to_have_count(len(registry.tools()))
    form = page.locator("form[data-tool=fetch]")
    await form.evaluate("form => form.closest('details').open = true")
    await form.locator("[name=url]").fill(site.url("/static/8"))
    await form.locator("[name=render]").select_option("http")
    await form.locator("[name=length]").fill("300")
    await form.locator("button").click()
    await expect(page.get_by_label("Answer of fetch", exact=True)).to_contain_text("<<<untrusted", timeout=PATIENCE_MS)
    await expect(page.locator("#fact-cache")).to_have_text(re.compile(r"^[1-9]"))


async def test_every_field_has_a_name_and_a_description(page: Page) -> None:
    await expect(page.locator("form[data-tool]")).to_have_count(len(registry.tools()))
    unnamed = "fields => fields.filter(field => !field.labels.length).map(field => field.name)"
    assert await page.locator("input, select").evaluate_all(unnamed) == []
    form = page.locator("form[data-tool=fetch]")
    await form.evaluate("form => form.closest('details').open = true")
    await expect(form.get_by_label("url (required)")).to_be_visible()
    await expect(form.get_by_text("http(s) URL.", exact=True)).to_be_visible()
    assert await form.locator("[name=render] option").all_text_contents() == [
        "auto (default)", "auto", "http", "browser",
    ]  # fmt: skip


@pytest.mark.thorough
async def test_an_invalid_json_list_shows_the_field_name(page: Page) -> None:
    form = page.locator("form[data-tool=search]")
    await form.evaluate("form => form.closest('details').open = true")
    await form.locator("[name=query]").fill("tides")
    await form.locator("[name=engines]").fill("[bing")
    await form.locator("button").click()
    await expect(form.locator("output")).to_have_text("engines is not JSON.")


@pytest.mark.thorough
async def test_it_can_be_used_without_a_mouse(page: Page, site: Site) -> None:
    for _ in range(2):  # past the link to the documentation
        await page.keyboard.press("Tab")
    await page.keyboard.type(site.url("/static/7"))
    for key in ("Tab", "Tab", "Enter"):  # past the choice, on the button
        await page.keyboard.press(key)
    await expect(page.locator(".sides")).to_be_visible(timeout=PATIENCE_MS)
    await expect(page.locator("form#sides button")).to_be_focused()
    for place in ("#agent + .copy", "#markdown", "#rendered", "#sight .answer"):
        await page.keyboard.press("Tab")
        await expect(page.locator(place)).to_be_focused()


@pytest.mark.thorough
async def test_nothing_is_wider_than_a_narrow_window(page: Page, site: Site) -> None:
    await page.set_viewport_size({"width": 320, "height": 640})
    await expect(page.locator("form[data-tool]")).to_have_count(len(registry.tools()))
    await page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    await read(page, site.url("/static/7"))
    await read(page, "http://127.0.0.1:9/" + "long" * 200)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320


async def test_an_unresponsive_server_is_shown(page: Page) -> None:
    await expect(page.locator("#fact-state")).to_have_text("ready")
    await page.context.set_offline(True)
    await read(page, "http://site.example/")
    await expect(page.locator("form#sides output")).to_contain_text("The server does not respond.")
    await expect(page.locator("#fact-state")).to_have_text("not responding")


@pytest.mark.thorough
async def test_a_page_opened_early_shows_when_the_server_is_ready(page: Page) -> None:
    has_seen = asyncio.Event()

    async def early(route: Route) -> None:
        starting = {"version": "1", "calls": 0, "draining": False}
        await (route.continue_() if has_seen.is_set() else route.fulfill(json=starting))

    await page.route("**/status", early)
    await page.reload()
    await expect(page.locator("#fact-state")).to_have_text("starting")
    has_seen.set()
    await expect(page.locator("#fact-state")).to_have_text("ready", timeout=PATIENCE_MS)


async def test_pool_and_cache_are_seen_at_a_glance(page: Page) -> None:
    status = page.locator("#status")
    await expect(status).to_contain_text("ready")
    await expect(status).to_contain_text("browsers,")
    await expect(status).to_contain_text("pages,")


async def test_the_page_asks_for_the_token_as_everything_does(product: Program) -> None:
    async with aiohttp.ClientSession() as http:
        for path in ("/", "/people.js", "/people.css", "/status"):
            async with http.get(product.base + path) as answer:
                assert answer.status == 401
                assert ("Basic" in answer.headers["WWW-Authenticate"]) is (path == "/")
            wrong = {"Authorization": aiohttp.encode_basic_auth(TOKEN, "wrong")}
            async with http.get(product.base + path, headers=wrong) as answer:
                assert answer.status == 401


async def test_the_policy_forbids_all_that_is_not_our_own(product: Program) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
        for path in ("/", "/people.js", "/people.css", "/status"):
            async with http.get(product.base + path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert policy.startswith("default-src 'none'; script-src 'self';")
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                text = await answer.text()
        async with http.get(product.base + "/") as answer:
            text = await answer.text()
            assert "<script>" not in text
            assert " on" + "click" not in text
            assert "style=" not in text


@pytest.mark.parametrize("render", ["http", "browser"])
async def test_closing_the_page_releases_the_tab(product: Program, site: Site, render: str) -> None:
    await until(lambda: not site.open(LIVES_LONG))
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
        asked = {"url": site.url(LIVES_LONG), "render": render}
        posting = asyncio.create_task(http.post(product.base + "/try", json=asked))
        await until(lambda: site.open(LIVES_LONG))
        posting.cancel()
        await browsers_say(product.base, "active", 0, limit_s=SOON_S)
        await until(lambda: not site.open(LIVES_LONG))


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"{}", "application/json", 400),
        (b"no json", "application/json", 400),
        (b"[" * 10_000, "application/json", 400),
        (b'{"url": "http://x.example/", "render": "odd"}', "application/json", 400),
        (b'{"url": "http://x.example/", "render": ["auto"]}', "application/json", 400),
        (b'{"url": "' + b"x" * 20_000 + b'"}', "application/json", 400),
        (b'{"url": "http://site.example/plain"}', "text/plain", 400),
    ],
)
async def test_an_invalid_request_is_rejected(product: Program, body: bytes, media_type: str, status: int) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": media_type}
    async with aiohttp.ClientSession(headers=headers) as http, http.post(product.base + "/try", data=body) as answer:
        assert answer.status == status
        assert (await answer.json())["error"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://169.254.169.254/"])
async def test_a_forbidden_url_is_refused(product: Program, url: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    address, data = product.base + "/try", {"url": url}
    async with aiohttp.ClientSession(headers=headers) as http, http.post(address, json=data) as answer:
        assert (await answer.json())["wrong"]
