"""`search-mcp extract-structured`: the tool's own answer, for a person or a pipe."""

from __future__ import annotations

from typing import Any

import click

from scraper.cli.fetch import FORMAT, print_answer
from scraper.cli.options import SERVER_ONLY, Command, with_settings


@click.command(cls=Command)
@click.argument("url")
@click.option("--format", type=FORMAT, help="What to print.  [markdown]")
@with_settings(without=SERVER_ONLY)
def extract_structured(url: str, **given: Any) -> int:
    """Print what a page says of itself for machines: JSON-LD, microdata, OpenGraph, RDFa, product facts."""
    return print_answer("extract_structured", {"url": url}, given, ("format",))
