"""`search-mcp doctor`: what is installed, what is missing, how to mend it, and one page as proof."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable
from typing import Any

import click

from scraper.cli.check_results import CheckLevel, Finding, bad
from scraper.cli.options import Command, with_settings
from scraper.errors import plainly
from scraper.settings import Settings, SettingsError

_NO_ROOM = (
    "Free some space, or name with TMPDIR a folder that can be written to (for a container: --tmpfs /tmp)"
)
_COLOURS = {CheckLevel.GOOD: "green", CheckLevel.POOR: "yellow", CheckLevel.BAD: "red"}


@click.command(cls=Command)
@with_settings()
def doctor(**flags: Any) -> int:
    """Say whether this machine can serve.

    Tells what is installed, what is missing and how to mend it, and reads a page as proof. The exit code is
    0 when it can serve.
    """
    logging.basicConfig(level=logging.ERROR)
    try:
        settings = Settings.load(os.environ, flags)
    except SettingsError as error:
        _tell([Finding(CheckLevel.BAD, f"The settings cannot be used: {error}", "Correct or remove it")])
        return 1
    worst = asyncio.run(_examine(settings))
    click.echo("\nThis machine cannot serve yet." if worst else "\nThis machine can serve.")
    return worst


async def _examine(settings: Settings) -> int:
    """Look at everything, telling as it goes; 1 when something keeps the server from serving."""
    from scraper.cli import checks, self_test, shared_database, shared_state

    found: list[Finding] = []
    for matter in (
        checks.programs(),
        checks.configuration(os.environ),
        checks.browsers(settings.browser_settings()),
        checks.fonts(),
        checks.data_folder(settings),
        checks.documents(settings),
        checks.callers(settings),
        checks.port(settings),
        checks.proxy(settings),
    ):
        found += _tell(matter)
    found += _tell(await checks.names(settings))
    found += _tell(await shared_state.check(settings))
    found += _tell(await shared_database.check(settings))
    if not any(finding.level is CheckLevel.BAD for finding in found):
        try:
            found += _tell(await self_test.of_this_machine(settings))
            _tell(await self_test.of_the_internet(settings))
        except OSError as error:  # first of all: there is no folder for temporary files
            found += _tell([bad(f"Nothing can be read on this machine: {plainly(error)}", _NO_ROOM)])
    return int(any(finding.level is CheckLevel.BAD for finding in found))


def _tell(findings: Iterable[Finding]) -> list[Finding]:
    """Print each finding as it comes."""
    told = []
    for finding in findings:
        colour = None if os.environ.get("NO_COLOR") else _COLOURS[finding.level]  # https://no-color.org
        mark = f"[{finding.level.value}]"
        click.echo(f"{click.style(mark, fg=colour) if colour else mark} {finding.text}")
        if finding.mend:
            click.echo(f"     {finding.mend}")
        told.append(finding)
    return told
