"""`search-mcp read-doc`: one document's text, for a person or a pipe."""

from __future__ import annotations

from typing import Any

import click

from scraper.cli.fetch import FORMAT, print_answer
from scraper.cli.options import SERVER_ONLY, Command, with_settings


@click.command(cls=Command)
@click.argument("source")
@click.option("--format", type=FORMAT, help="What to print.  [markdown]")
@click.option("--start", type=int, help="Begin at this character of the text.  [0]")
@click.option("--length", type=int, help="Print so many characters of it.")
@click.option("--pages", help='Only these pages, e.g. "3-5,9".')
@click.option("--outline", is_flag=True, default=None, help="Print its headings and where they stand.")
@click.option("--password", help="Password of a locked PDF.")
@with_settings(without=SERVER_ONLY)
def read_doc(source: str, **given: Any) -> int:
    """Read one document (PDF, Word, Excel, ...) and print it as Markdown.

    SOURCE is a URL, or a path beneath the folder that --document-root names.
    """
    names = ("format", "start", "length", "pages", "outline", "password")
    return print_answer("read_doc", {"source": source}, given, names)
