"""Commands that read whole sites: map."""

from __future__ import annotations

from typing import Any

import click

from scraper.cli.answers import print_answer, with_output
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
