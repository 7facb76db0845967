"""The command `search-mcp bulk` with real pages, kills and signals."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import signal
from asyncio.subprocess import DEVNULL
from collections import Counter
from functools import partial
from pathlib import Path

import psutil
import pytest

from scraper.bulk.model import Format
from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION, UNTRUSTED_NOTICE
from scraper.settings.files import install_command
from scraper.workers import bootstrap
from tests.growth import full_size
from tests.scraper.bulk.jobs import numbers_in, rows_in
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import LIMIT_S, Program, chromium_of, output_of, running, until
from tests.site.running import Site

SEARCH_MCP = ("-m", "scraper.cli.main", "bulk")
HOSTS = tuple(f"host{number}.example" for number in range(1, 7))
JOB_S = 150.0
"""Seconds. Longer than any job of these tests on a loaded machine."""
RESTING = ("--gap", "3600")
"""A gap of one hour for each host: the job cannot end before the test stops it."""


@pytest.fixture
def here(site: Site, tmp_path: Path) -> dict[str, str]:
    """Return environment variables that map the site's hosts and disable the cache."""
    return {
        "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable,
        "SEARCH_MCP_DATA": str(tmp_path / "data"),
        "SEARCH_MCP_CACHE_MB": "0",
        "SEARCH_MCP_LOG_LEVEL": "error",
    }


def listed(tmp_path: Path, urls: list[str]) -> str:
    source = tmp_path / "urls.txt"
    source.write_text("\n".join(urls))
    return str(source)


def articles(site: Site, count: int, first: int = 0) -> list[str]:
    return [site.url(f"/static/{first + number}", HOSTS[number % 6]) for number in range(count)]


def has_written(folder: Path, lines: int) -> bool:
    """Return True if the output has at least so many lines."""
    return written(folder) >= lines


def written(folder: Path) -> int:
    """Lines of output so far."""
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("pages-*.jsonl"))


@pytest.mark.browser
@pytest.mark.parametrize("form", [Format.PARQUET, *(full_size(form, id=form) for form in (Format.JSONL, Format.WARC))])
def test_pages_of_every_kind_are_rows(
    site: Site, here: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Format
) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("warcio")
    urls = {
        "article": site.url("/static/900"),
        "script": site.url("/spa/900", "host1.example"),
        "missing": site.url("/status/404", "host2.example"),
        "shop": site.url("/shop/every", "host3.example"),
    }
    source = listed(tmp_path, [*urls.values(), "what is this", urls["article"]])
    out = tmp_path / "out"
    told = command_output("bulk", source, "--out", str(out), "--format", form.value, env=here)
    assert told.code == 1, told.err  # two pages failed
    rows = {row["url"]: row for row in rows_in(out, form)}
    assert set(rows) == {*urls.values(), "what is this"}
    assert "volume 900" in rows[urls["article"]]["title"]
    told_by_shop = rows[urls["shop"]]["json_ld"]
    items = json.loads(told_by_shop) if isinstance(told_by_shop, str) else told_by_shop
    assert any("@type" in item for item in items)
    assert rows[urls["article"]]["method"] == "http"
    assert rows[urls["article"]]["timings"]["response_s"] > 0
    assert len(rows[urls["article"]]["hash"]) == 64
    article = rows[urls["article"]]
    assert (article["language"], article["page_type"]) == ("en", "article")
    assert article["headings"][0]["text"] in (article["markdown"] if form is not Format.WARC else article["title"])
    assert rows[urls["missing"]]["headings"] is None and rows[urls["missing"]]["page_type"] is None
    assert rows[urls["script"]]["method"] == "browser"
    assert (rows[urls["missing"]]["status"], rows[urls["missing"]]["error"]["code"]) == (404, "http_error")
    assert rows["what is this"]["error"]["code"] == "bad_url"
    report = json.loads((out / "report.json").read_text())
    assert (report["pages"], report["lines"], report["repeated"], report["complete"]) == (5, 6, 1, True)
    assert {kind["code"]: kind["pages"] for kind in report["errors"]}.keys() >= {"bad_url", "http_error"}
    assert "5 of 5 pages written" in told.out and "use `search-mcp search`" in told.out
    assert "untrusted" not in told.out
    monkeypatch.chdir(tmp_path)
    words, agent = ("bulk", source, "--out", str(out), "--format", form.value), {**here, "SEARCH_MCP_AGENT": "1"}
    opening, _, marked = command_output(*words, env=agent).out.partition("\n<<<untrusted ")
    assert opening == UNTRUSTED_EXPLANATION and "5 of 5 pages written" in marked and "\n<<<end untrusted " in marked
    assert json.loads(command_output(*words, "--json", env=agent).out)["notice"] == UNTRUSTED_NOTICE


@pytest.mark.browser
@pytest.mark.parametrize("cluster", [None, full_size("local", id="ray")])
def test_the_fields_of_a_recipe_are_columns(
    site: Site, here: dict[str, str], tmp_path: Path, cluster: str | None
) -> None:
    kettle, article, recipe = site.url("/shop/injected"), site.url("/static/901", "host1.example"), tmp_path / "r.json"
    example = ("--example", json.dumps({"name": "Copper kettle", "price": "49.90 EUR"}), "--json", "-o", str(recipe))
    learned = command_output("extract-structured", kettle, *example, env=here)
    assert learned.code == 0, learned.err
    out = tmp_path / "out"
    command = ("bulk", listed(tmp_path, [kettle, article]), "--out", str(out), "--format", "csv", "--recipe")
    # The file and the id name the same recipe.
    if cluster is None:
        read = command_output(*command, json.loads(recipe.read_text("utf-8"))["recipe"]["id"], env=here)
    else:
        pytest.importorskip("ray")
        # A token for this test only: by default Ray writes one into the user's home.
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        child = output_of(*SEARCH_MCP[:2], *command, str(recipe), "--cluster", cluster, env={**here, **token})
        read = asyncio.run(child)
    assert read.code == 1, read.err  # the recipe does not fit the article
    rows = {row["url"]: row for row in rows_in(out, Format.CSV)}
    # A script writes the price, so the page was rendered.
    assert rows[kettle] == {"url": kettle, "name": "Copper kettle", "price": "49.90 EUR", "error": ""}
    assert rows[article]["price"] == "" and rows[article]["error"].startswith("recipe_does_not_fit: ")


@pytest.mark.browser
def test_the_rows_of_lists_are_lines(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    shop, other, recipe = site.url("/shop/late-list"), site.url("/shop/none"), tmp_path / "r.json"
    example = ("--records", "--example", json.dumps({"name": "Steel kettle", "cost": "$41.50"}))
    learned = command_output("extract-structured", shop, *example, "--json", env=here)
    assert learned.code == 0, learned.err
    recipe.write_text(learned.out, "utf-8")
    for form in (Format.CSV, Format.JSONL):
        out = tmp_path / form
        command = ("bulk", listed(tmp_path, [shop, other]), "--out", str(out), "--format", form.value)
        read = command_output(*command, "--recipe", str(recipe), env=here)
        assert read.code == 1, read.err  # the other page has no list
    lines = rows_in(tmp_path / "csv", Format.CSV)
    assert [(row["name"], row["cost"]) for row in lines if row["url"] == shop] == [
        ("Copper kettle", "$40.50"), ("Steel kettle", "$41.50"), ("Glass kettle", "$42.50"),
        ("Travel kettle", "$43.50"),
    ]  # fmt: skip
    assert [row["error"].partition(":")[0] for row in lines if row["url"] == other] == ["no_records"]
    rows = {row["url"]: row for row in rows_in(tmp_path / "jsonl", Format.JSONL)}
    assert rows[shop]["records"][1] == {"name": "Steel kettle", "cost": "$41.50"}
    assert rows[shop]["next_page"] == site.url("/shop/late-list?page=2") and rows[shop]["fields"] is None
    assert rows[other]["records"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--format", "csv"), "--format csv needs --recipe"),
        (("--recipe", "no-such-file.json"), "cannot be read: No such file"),
        (("--recipe", "0123456789ab"), "There is no stored recipe 0123456789ab"),
        (("--recipe", '{"recipe": {"id": "0123456789ab"}}'), "There is no stored recipe 0123456789ab"),
        (("--recipe", '{"version": 0}'), "not of version 2"),
        (("--recipe", '{"version": 2, "host": "a", "records": {"name": 1}}'), "has no place"),
        (("--recipe", '{"version": 1'), "must be a recipe as JSON"),
        (("--recipe", '{"recipe": []}'), "must be one that"),
    ],
)
def test_a_job_without_a_usable_recipe_is_refused_before_it_starts(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    here = {"SEARCH_MCP_DATA_DIR": str(tmp_path / "data")}
    refused = command_output("bulk", "urls.txt", "--out", str(tmp_path / "out"), *options, env=here)
    assert refused.code == 2 and words in " ".join(refused.err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.browser
async def test_a_killed_job_resumes_and_writes_every_page_once(
    site: Site, here: dict[str, str], tmp_path: Path
) -> None:
    urls = articles(site, 36, 1_000)
    out = tmp_path / "out"
    command = (*SEARCH_MCP, listed(tmp_path, urls), "--out", str(out), "--format", "jsonl")
    # Six pages of each host, two seconds apart: killed while it is at work, and long before its end.
    async with running(*command, "--gap", "2", env=here) as program:
        await until(lambda: written(out) > len(HOSTS), limit_s=JOB_S)
        program.process.kill()
        await program.process.wait()
    before = written(out)
    assert len(HOSTS) < before < 36
    async with asyncio.timeout(JOB_S):
        async with running(*command, env=here) as program:
            assert await program.process.wait() == 0, "".join(program.said)
            await program.until("of 36 pages are written")
    assert numbers_in(out, Format.JSONL) == Counter(urls)
    again = await output_of(*command, env=here)
    assert again.code == 0 and "36 of 36 pages written" in again.out
    assert numbers_in(out, Format.JSONL) == Counter(urls)


@pytest.mark.full_size
@pytest.mark.browser
async def test_killed_browsers_and_workers_cost_no_page(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    urls = articles(site, 40, 2_000)
    out = tmp_path / "out"
    command = (*SEARCH_MCP, listed(tmp_path, urls), "--out", str(out), "--format", "jsonl", "--gap", "0.3")
    async with running(*command, env=here) as program:
        for done in (6, 16):
            await until(partial(has_written, out, done), limit_s=JOB_S)
            killed = kill_workers(program)
            assert any("chrom" in name for name in killed) and any("python" in name for name in killed), killed
        async with asyncio.timeout(JOB_S):
            assert await program.process.wait() == 0, "".join(program.said)
    assert numbers_in(out, Format.JSONL) == Counter(urls)
    assert [row["url"] for row in rows_in(out, Format.JSONL) if row["error"]] == []


def kill_workers(program: Program) -> list[str]:
    """Kill all browsers and all worker processes; return the names of their programs."""
    killed = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(program.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                name = process.name().lower()
                if "chrom" in name or bootstrap.__file__ in process.cmdline():
                    process.kill()
                    killed.append(name)
    return killed


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("number", [signal.SIGTERM, full_size(signal.SIGINT, id="SIGINT")])
async def test_a_signal_stops_the_job_and_prints_the_command_to_resume(
    site: Site, here: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    urls = articles(site, 60, 3_000)
    out = tmp_path / "out"
    command = (*SEARCH_MCP, listed(tmp_path, urls), "--out", str(out), "--format", "jsonl", *RESTING)
    async with running(*command, env=here, stdout=DEVNULL) as program:
        await until(lambda: written(out) == len(HOSTS), limit_s=JOB_S)
        browsers = chromium_of(psutil.Process(program.process.pid))
        program.process.send_signal(number)
        assert await program.ended() == 130
        said = "".join(program.said)
    assert "Stopping" in said and "pages are left. The same command continues the job:" in said
    assert str(out) in said
    psutil.wait_procs(browsers, timeout=LIMIT_S)
    assert not any(browser.is_running() for browser in browsers)
    done = numbers_in(out, Format.JSONL)
    assert len(done) == len(HOSTS) and set(done.values()) == {1}
    report = json.loads((out / "report.json").read_text())
    assert (report["complete"], report["written"]) == (False, len(done))


@pytest.mark.full_size
@pytest.mark.browser
async def test_a_second_signal_ends_the_job_at_once_without_loss(
    site: Site, here: dict[str, str], tmp_path: Path
) -> None:
    # Endless pages delay the stop after the first signal.
    urls = [*articles(site, 12, 4_000), *(site.url("/never", host) for host in HOSTS)]
    out = tmp_path / "out"
    command = (*SEARCH_MCP, listed(tmp_path, urls), "--out", str(out), "--format", "jsonl")
    async with running(*command, env=here, stdout=DEVNULL) as program:
        await until(lambda: written(out) >= 5, limit_s=JOB_S)
        # Two signals of the same kind at once could be merged.
        program.process.send_signal(signal.SIGINT)
        program.process.send_signal(signal.SIGTERM)
        assert await program.ended() == 130
        said = "".join(program.said)
    assert "Stopping" in said and "Canceled. The same command continues the job:" in said
    assert "Traceback" not in said
    assert set(numbers_in(out, Format.JSONL).values()) == {1}


@pytest.mark.full_size
def test_the_folder_of_another_job_is_refused(here: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = listed(tmp_path, ["no url"])
    command_output("bulk", source, "--out", str(out), "--format", "jsonl", env=here)
    told = command_output("bulk", source, "--out", str(out), "--format", "warc", env=here)
    assert told.code == 1
    assert told.err.startswith(f"Error: {out} contains another job: it was started with --format jsonl, not warc.")


async def test_without_ray_the_message_names_the_package(here: dict[str, str], tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "ray"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('no ray', name='ray')\n")
    told = await output_of(
        *SEARCH_MCP,
        listed(tmp_path, ["no url"]),
        "--out",
        str(tmp_path / "out"),
        "--format",
        "jsonl",
        "--cluster",
        "local",
        env={**here, "PYTHONPATH": str(hidden.parent)},
    )
    assert told.code == 1
    assert told.err == f"Error: --cluster needs ray: {install_command('bulk')}\n"


@pytest.mark.browser
def test_addresses_without_a_scheme_are_read_with_https_then_http(
    site: Site, here: dict[str, str], tmp_path: Path
) -> None:
    urls = ["site.example/plain", "site.example/guide/tides#top", "host1.example/plain", "https://site.example/plain"]
    command = (listed(tmp_path, urls), "--out", str(tmp_path / "out"), "--format", "jsonl")
    output = command_output("bulk", *command, env=here)
    rows = rows_in(tmp_path / "out", Format.JSONL)
    assert output.code == 0, output.out
    assert {row["url"]: row["status"] for row in rows} == {
        "http://site.example/plain": 200,
        "http://site.example/guide/tides#top": 200,
        "http://host1.example/plain": 200,
    }
    assert command_output("bulk", *command, env=here).code == 0


@pytest.mark.browser
def test_a_crawl_into_files_tries_https_then_http(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    options = ("--out", str(tmp_path / "out"), "--out-format", "jsonl", "--max-pages", "3")
    output = command_output("crawl", "site.example/guide/tides", *options, env=here)
    assert output.code == 0, output.out + output.err
    rows = rows_in(tmp_path / "out", Format.JSONL)
    assert rows and all(row["url"].startswith("http://site.example/") and not row["error"] for row in rows)
