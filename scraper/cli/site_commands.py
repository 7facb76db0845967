"""Commands for whole sites and for changes of pages: map, crawl and changes."""

from __future__ import annotations

from typing import Any

import click

from scraper.cli.answers import print_answer, print_pages, with_output
from scraper.cli.options import READ_MANY, Command, with_settings
from scraper.urls import guess_urls


@click.command(
    "map",
    cls=Command,
    examples=["map example.com", 'map docs.example.com --question "rate limits"', "map example.com/blog/ --json"],
)
@click.argument("url")
@click.option("--question", help="List the pages first whose URL or title has these words.")
@click.option("--max-pages", type=int, help="Number of pages to list.  [50]")
@click.option("--start", type=int, help="First page to list.  [0]")
@with_output()
@with_settings(READ_MANY)
def map_site(**flags: Any) -> int:
    """List the pages of a site, or of a folder of it, from its sitemaps, feeds and links."""
    url, *others = guess_urls(flags["url"])
    return print_answer("map", {**flags, "url": url}, other_urls={url: others[0]} if others else {})


@click.command(
    cls=Command,
    examples=[
        "crawl docs.example.com --max-pages 100",
        'crawl docs.example.com --question "rate limits"',
        "crawl example.com --include '/blog/*' --exclude '*/tag/*'",
        "crawl --crawl s3cretId123",
    ],
)
@click.argument("url", required=False)
@click.option("--crawl", metavar="ID", help="Continue this crawl.")
@click.option("--question", help="Read the pages first that have these words, and print their passages.")
@click.option("--max-pages", type=int, help="Number of pages to read now.  [30]")
@click.option("--include", multiple=True, metavar="PATTERN", help="Read only paths like /docs/*.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Read no paths like these.")
@with_output()
@with_settings(READ_MANY)
def crawl(**flags: Any) -> int:
    """Read the pages of a site, or of a folder of it, into an index, without copies and traps."""
    flags = {name: value for name, value in flags.items() if value != ()}
    if flags.get("url") is None:
        return print_answer("crawl", flags)
    url, *others = guess_urls(flags["url"])
    return print_answer("crawl", {**flags, "url": url}, other_urls={url: others[0]} if others else {})


@click.command(cls=Command, examples=["changes example.com/pricing", "changes example.com --since 2026-05-31 --json"])
@click.argument("urls", nargs=-1, required=True)
@click.option("--since", metavar="DATE", help="Compare with the version of this date.  [the last version]")
@with_output()
@with_settings(READ_MANY)
def changes(**flags: Any) -> int:
    """Print what changed on pages since they were compared before, without clocks, counts and ads."""
    return print_pages("changes", flags, flags["urls"])
