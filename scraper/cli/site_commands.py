"""Commands for whole sites and for changes of pages: map, crawl and changes."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from scraper.cli.bulk_command import FORMATS, JOB_DEADLINE_S, RENDERS, make_job_spec, run_job
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import READ_MANY, Command, load_settings, with_settings
from scraper.cli.store_commands import with_store
from scraper.cli.tool_output import run_and_print, run_and_print_pages, with_output_options
from scraper.errors import InvalidUrlError
from scraper.urls import guess_urls, parse_address


@click.command(
    "map",
    cls=Command,
    examples=["map example.com", 'map docs.example.com --question "rate limits"', "map example.com/blog/ --json"],
)
@click.argument("url")
@click.option("--question", help="List the pages first whose URL or title has these words.")
@click.option("--max-pages", type=int, help="Number of pages to list.  [50]")
@click.option("--start", type=int, help="First page to list.  [0]")
@with_output_options()
@with_settings(READ_MANY)
def map_site(**flags: Any) -> int:
    """List the pages of a site, or of a folder of it, from its sitemaps, feeds and links."""
    url, other = guess_urls(flags["url"])
    return run_and_print("map", {**flags, "url": url}, other_urls={url: other})


@click.command(
    cls=Command,
    examples=[
        "crawl docs.example.com --max-pages 100",
        'crawl docs.example.com --question "rate limits"',
        "crawl example.com --include '/blog/*' --exclude '*/tag/*'",
        "crawl --crawl s3cretId123",
        "crawl docs.example.com --out docs --max-pages 5000",
    ],
)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--crawl", metavar="ID", help="Continue this crawl.")
@click.option("--question", help="Read the pages first that have these words, and print their passages.")
@click.option(
    "--max-pages", type=click.IntRange(1), help="Number of pages to read now.  [30; with --out in all, 100000]"
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Read only paths like /docs/*.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Read no paths like these.")
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write all pages to files in this folder, as bulk does; the same command continues.",
)
@click.option("--out-format", type=FORMATS, default="parquet", help="Format of these files.  [parquet]")
@click.option("--minutes", type=click.FloatRange(0.01), help="With --out: stop after this time.")
@click.option("--per-host", type=click.IntRange(1, 64), default=2, help="With --out: pages of a host at once.  [2]")
@click.option("--gap", type=click.FloatRange(0, 3_600), help="With --out: seconds between requests to a host.")
@click.option("--render", type=RENDERS, default="auto", help="With --out: auto renders only what needs it.  [auto]")
@click.option("--cluster", metavar="ADDRESS", help="With --out: read on a Ray cluster, as bulk does.")
@with_output_options()
@with_settings(READ_MANY)
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


@click.command(cls=Command, examples=["changes example.com/pricing", "changes example.com --since 2026-05-31 --json"])
@click.argument("urls", nargs=-1, required=True)
@click.option("--since", metavar="DATE", help="Compare with the version of this date.  [the last version]")
@with_output_options()
@with_settings(READ_MANY)
def changes(**flags: Any) -> int:
    """Print the changes of pages since the last comparison, without clocks, counts and ads."""
    return run_and_print_pages("changes", flags, flags["urls"])
