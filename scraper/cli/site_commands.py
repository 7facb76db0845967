"""Commands for whole sites and for changes of pages: map, crawl and changes."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from scraper.cli.bulk_command import JOB_DEADLINE_S, make_job_spec, run_job
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import READ_MANY, command, load_settings
from scraper.cli.store_commands import with_store
from scraper.cli.tool_output import run_and_print, run_and_print_pages
from scraper.errors import InvalidUrlError
from scraper.urls import guess_urls, parse_address


@command("map", READ_MANY)
def map_site(**flags: Any) -> int:
    """List the pages of a site, or of a folder of it, from its sitemaps, feeds and links."""
    url, other = guess_urls(flags["url"])
    return run_and_print("map", {**flags, "url": url}, other_urls={url: other})


@command("crawl", READ_MANY)
def crawl(urls: tuple[str, ...], folder: Path | None, **flags: Any) -> int:
    """Read the pages of a site, or of a folder of it, into an index, without copies and traps.

    With --out, whole sites of any size are read into files.
    """
    if folder is not None:
        return _crawl_to_files(urls, folder, flags)
    for name in ("out_format", "minutes", "per_host", "gap", "render", "cluster"):
        flags.pop(name)
    flags = {name: value for name, value in flags.items() if value != ()}
    if bool(urls) == bool(flags["crawl"]):
        raise click.UsageError("Give a URL to start a crawl, or --crawl ID to continue one.")
    if len(urls) > 1:
        raise click.UsageError("Give one URL, or --out for several sites.")
    url, other = guess_urls(urls[0]) if urls else (None, "")
    crawl_id = flags["crawl"] or secrets.token_urlsafe(9)
    other_urls = {url: other} if url else {}
    try:
        return run_and_print("crawl", {**flags, "url": url}, other_urls=other_urls, resume_key=crawl_id)
    except KeyboardInterrupt:
        if _is_stored(crawl_id, flags):
            click.echo(f"Canceled. To continue the crawl:\n  search-mcp crawl --crawl={crawl_id}", err=True)
        else:
            click.echo("Canceled before the first page was read.", err=True)
        return ExitCode.INTERRUPTED


def _is_stored(crawl_id: str, flags: dict[str, Any]) -> bool:
    from scraper.site.crawl_service import log_of_crawl

    log = log_of_crawl(crawl_id)
    return bool(with_store(load_settings(flags), lambda store: store.records.read("local", log)))


def _crawl_to_files(urls: tuple[str, ...], folder: Path, flags: dict[str, Any]) -> int:
    from scraper.bulk.model import CrawlOptions

    if not urls or flags["crawl"] or flags["question"]:
        raise click.UsageError("--out needs one or more URLs, and neither --crawl nor --question.")
    settings = load_settings(flags)
    options = {"form": flags["out_format"], "concurrency": None, "max_age_h": None, "deadline": JOB_DEADLINE_S}
    spec = make_job_spec(", ".join(urls), folder, {**flags, **options}, settings)
    try:
        for url in urls:
            parse_address(url)
    except InvalidUrlError as error:
        raise click.UsageError(str(error)) from None
    crawled = CrawlOptions(urls, flags["include"], flags["exclude"])
    if flags["max_pages"] is not None:
        crawled = replace(crawled, max_pages=flags["max_pages"])
    return run_job(
        replace(spec, crawl=crawled), settings, flags["cluster"], as_json=flags["as_json"], minutes=flags["minutes"]
    )


@command("changes", READ_MANY)
def changes(**flags: Any) -> int:
    """Print the changes of pages since the last comparison, without clocks, counts and ads."""
    return run_and_print_pages("changes", flags, flags["urls"])
