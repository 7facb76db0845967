"""Command `see`: save a picture of a page."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scraper.cli import tool_runner
from scraper.cli.exit_codes import code_of_answer
from scraper.cli.files import write_file
from scraper.cli.message_rewriting import rewrite_message
from scraper.cli.setting_options import READ, Command, load_settings, with_settings
from scraper.settings import Settings, SettingsError, setting_table
from scraper.urls import guess_urls

if TYPE_CHECKING:
    from scraper.tools.model import Tool

_IMAGE_TYPES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}
_FILES = {".pdf": "pdf", ".mhtml": "mhtml", ".mht": "mhtml"}


@click.command(
    cls=Command,
    examples=[
        "see example.com -o page.png",
        "see example.com -o page.webp --what full",
        'see example.com -o chart.png --target "#chart"',
        "see example.com -o page.pdf",
        "see shop.example/orders -o orders.png --profile shop",
    ],
)
@click.argument("url")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    required=True,
    help="File to write; its suffix gives the format: .png, .jpg, .webp, .pdf or .mhtml.",
)
@click.option(
    "--what", type=click.Choice(["window", "full"]), help="Part of the page: the first window, or full.  [window]"
)
@click.option("--target", help="Show only the element with this text or CSS selector.")
@click.option("--profile", help="Login to use: the name of a profile that `login` saved.")
@click.option("--json", "as_json", is_flag=True, help="Print the file, its type, its size and the facts as JSON.")
@with_settings(READ | {"profile_key"})
def see(output: Path, as_json: bool, **flags: Any) -> int:
    """Save a picture of a page as a browser window shows it, with its images."""
    suffix = output.suffix.lower()
    if suffix not in (_IMAGE_TYPES | _FILES):
        raise click.UsageError(f"{output} must end with {', '.join(_IMAGE_TYPES | _FILES)}.")
    if not output.absolute().parent.is_dir():
        raise click.UsageError(f"The folder of {output} does not exist.")
    url, other = guess_urls(flags["url"])
    settings = load_settings(flags)
    ignored = {setting.name for setting in setting_table()}
    arguments = {name: value for name, value in flags.items() if value is not None and name not in ignored}
    arguments |= {"url": url} | ({"what": _FILES[suffix]} if suffix in _FILES else {})
    make = functools.partial(_make_tool, image_type=_IMAGE_TYPES.get(suffix, "png"))
    try:
        answer = tool_runner.run_tool("see", arguments, settings, other_urls={url: other}, make=make)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    if answer.is_error:
        click.echo(rewrite_message(answer.text), err=True)
        return code_of_answer(answer)
    (picture,) = answer.media
    write_file(output, picture.data)
    if as_json:
        facts = {
            "file": str(output),
            "media_type": picture.media_type,
            "bytes": len(picture.data),
            "result": rewrite_message(answer.text),
        }
        click.echo(json.dumps(facts, ensure_ascii=False))
    for line in answer.text.splitlines():
        if line.startswith("Warning: ") and not as_json:
            click.echo(rewrite_message(line), err=True)
    return code_of_answer(answer)


def _make_tool(settings: Settings, *, image_type: str) -> Tool:
    # Imported late, so that help is printed without loading the tools.
    from scraper.tools.browser_tools import see_tool

    return see_tool(settings, image_type=image_type, is_single=True)
