"""Commands `doctor`, which checks the installation, and `install-browser`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable
from typing import Any

import click

from scraper.cli.check_results import CheckLevel, Finding, bad
from scraper.cli.options import Command, with_settings
from scraper.errors import format_error
from scraper.settings import Settings, SettingsError

_NO_TEMPORARY_FOLDER = "Free some space, or set TMPDIR to a writable folder (in a container: --tmpfs /tmp)"
_COLORS = {CheckLevel.GOOD: "green", CheckLevel.POOR: "yellow", CheckLevel.BAD: "red"}


@click.command(cls=Command)
@with_settings()
def doctor(**flags: Any) -> int:
    """Check this machine, and read a page as a test.

    Prints what is installed, what is missing and how to fix it. The exit code is 0 if the server can run.
    """
    logging.basicConfig(level=logging.ERROR)
    try:
        settings = Settings.load(os.environ, flags)
    except SettingsError as error:
        _print_findings([Finding(CheckLevel.BAD, f"The settings cannot be used: {error}", "Correct or remove it")])
        return 1
    worst = asyncio.run(_run_checks(settings))
    click.echo("\nThis machine cannot serve yet." if worst else "\nThis machine can serve.")
    return worst


async def _run_checks(settings: Settings) -> int:
    """Run all checks and print their findings; return 1 if the server cannot work."""
    from scraper.cli import checks, self_test

    found: list[Finding] = []
    for findings in (
        checks.check_packages(),
        checks.check_configuration(os.environ),
        checks.check_browsers(settings.browser_settings()),
        checks.check_fonts(),
        checks.check_data_folder(settings),
        checks.check_documents(settings),
        checks.check_callers(settings),
        checks.check_port(settings),
        checks.check_proxy(settings),
    ):
        found += _print_findings(findings)
    found += _print_findings(await checks.check_names(settings))
    found += _print_findings(await checks.check_shared_state(settings))
    found += _print_findings(await checks.check_database(settings))
    if not any(finding.level is CheckLevel.BAD for finding in found):
        try:
            found += _print_findings(await self_test.read_local_page(settings))
            _print_findings(await self_test.read_web_page(settings))
        except OSError as error:  # usually: there is no folder for temporary files
            found += _print_findings(
                [bad(f"Pages cannot be read on this machine: {format_error(error)}", _NO_TEMPORARY_FOLDER)]
            )
    return int(any(finding.level is CheckLevel.BAD for finding in found))


def _print_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Print each finding when it is known, and return all."""
    printed = []
    for finding in findings:
        color = None if os.environ.get("NO_COLOR") else _COLORS[finding.level]  # https://no-color.org
        mark = f"[{finding.level.value}]"
        click.echo(f"{click.style(mark, fg=color) if color else mark} {finding.text}")
        if finding.remedy:
            click.echo(f"     {finding.remedy}")
        printed.append(finding)
    return printed


@click.command()
@click.option("--fonts/--no-fonts", default=True, help="Also install fonts for Chinese, Japanese, Korean and emoji.")
def install_browser(fonts: bool) -> int:
    """Install Chromium.

    Installs the package of the system as root, and Playwright's download otherwise. If both fail, it prints the
    command to run.
    """
    from browsers import diagnostics

    report = diagnostics.install(lambda line: click.echo(line, err=True), fonts=fonts)
    for chromium in report.found:
        click.echo(f"{chromium.tier}: {chromium.executable}")
    if report.next_step:
        click.echo(f"Still missing: {report.lacking}. Run: {report.next_step}", err=True)
    return 0 if report.usable else 1
