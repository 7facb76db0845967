"""Commands `doctor` (check the installation) and `install-browser`."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import os
from collections.abc import Callable, Iterable
from typing import Any

import click

from scraper.cli.doctor_results import CheckLevel, Finding, bad_finding
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import Command, command
from scraper.errors import format_error
from scraper.settings import Settings, SettingsError
from scraper.settings.files import find_config_file

_NO_TEMPORARY_FOLDER = "Free some space, or set TMPDIR to a writable folder (in a container: --tmpfs /tmp)"
_COLORS = {CheckLevel.GOOD: "green", CheckLevel.POOR: "yellow", CheckLevel.BAD: "red"}


@command("doctor", None)
def doctor(as_json: bool, live: bool, **flags: Any) -> int:
    """Check this machine, and read a page as a test.

    It prints what is installed, what is missing and how to fix it. The exit code is 0 if the server can run; with
    --live, if every engine and source answered. Attach the output of `doctor --live --json` to a report about an
    engine.
    """
    logging.basicConfig(level=logging.ERROR)
    show = list if as_json else _print_findings
    try:
        settings = Settings.load(os.environ, flags, find_config_file())
    except SettingsError as error:
        finding = Finding(CheckLevel.BAD, f"The settings cannot be used: {error}", "Correct or remove it")
        show([finding])
        if as_json:
            click.echo(_as_json([finding]))
        return ExitCode.INVALID
    if live:
        return _ask_engines(settings, as_json=as_json)
    found = asyncio.run(_run_checks(settings, show))
    worst = int(any(finding.level is CheckLevel.BAD for finding in found))
    if as_json:
        click.echo(_as_json(found))
        return worst
    click.echo("\nThis machine cannot serve yet." if worst else "\nThis machine can serve.")
    return worst


def _ask_engines(settings: Settings, *, as_json: bool) -> int:
    from scraper.cli.doctor_checks import EngineCheckResult, query_all_engines
    from scraper.cli.setting_options import version

    def show(result: EngineCheckResult) -> None:
        reason = f" ({result.reason})" if result.reason else ""
        rows = f"{result.rows} rows, " if result.rows else ""
        click.echo(f"{result.name:<16} {result.state}{reason}, {rows}{result.seconds} s", err=as_json)

    results = asyncio.run(query_all_engines(settings, show))
    answered = sum(result.state == "answered" for result in results)
    if as_json:
        rows = [dataclasses.asdict(result) for result in results]
        click.echo(json.dumps({"version": version(), "answered": answered, "engines": rows}, ensure_ascii=False))
    else:
        click.echo(f"\n{answered} of {len(results)} answered.")
    return ExitCode.SUCCESS if answered == len(results) else ExitCode.INCOMPLETE


async def _run_checks(settings: Settings, show: Callable[[Iterable[Finding]], list[Finding]]) -> list[Finding]:
    """Run all checks, pass their findings to `show` and return them."""
    from scraper.cli import doctor_checks

    found: list[Finding] = []
    for findings in (
        doctor_checks.check_packages(),
        doctor_checks.check_configuration(os.environ),
        doctor_checks.check_browsers(settings.browser_settings()),
        doctor_checks.check_fonts(),
        doctor_checks.check_skills(),
        doctor_checks.check_data_folder(settings),
        doctor_checks.check_documents(settings),
        doctor_checks.check_callers(settings),
        doctor_checks.check_port(settings),
        doctor_checks.check_proxy(settings),
    ):
        found += show(findings)
    found += show(await doctor_checks.check_names(settings))
    found += show(await doctor_checks.check_shared_state(settings))
    found += show(await doctor_checks.check_database(settings))
    if not any(finding.level is CheckLevel.BAD for finding in found):
        try:
            found += show(await doctor_checks.read_local_page(settings))
            found += show(await doctor_checks.read_web_page(settings))
        except OSError as error:  # usually: there is no folder for temporary files
            found += show(
                [bad_finding(f"Pages cannot be read on this machine: {format_error(error)}", _NO_TEMPORARY_FOLDER)]
            )
    return found


def _as_json(findings: list[Finding]) -> str:
    rows = [{"level": one.level.name.lower(), "text": one.text, "remedy": one.remedy} for one in findings]
    return json.dumps({"usable": not any(row["level"] == "bad" for row in rows), "findings": rows}, ensure_ascii=False)


def _print_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Print each finding as soon as it is known, and return all."""
    printed = []
    for finding in findings:
        color = None if os.environ.get("NO_COLOR") else _COLORS[finding.level]  # https://no-color.org
        mark = f"[{finding.level.value}]"
        click.echo(f"{click.style(mark, fg=color) if color else mark} {finding.text}")
        if finding.remedy:
            click.echo(f"     {finding.remedy}")
        printed.append(finding)
    return printed


@click.command(cls=Command, examples=["install-browser", "install-browser --no-fonts"])
@click.option("--fonts/--no-fonts", default=True, help="Also install fonts for Chinese, Japanese, Korean and emoji.")
@click.option("--json", "as_json", is_flag=True, help="Print what is installed as JSON.")
def install_browser(fonts: bool, as_json: bool) -> int:
    """Install Chromium.

    As root on Linux, it installs the package of the system; otherwise, Playwright's download. If both fail, it prints
    the command to run.
    """
    from browsers import system_diagnostics

    report = system_diagnostics.install_chromium(lambda line: click.echo(line, err=True), fonts=fonts)
    if as_json:
        click.echo(json.dumps({str(chromium.tier): str(chromium.executable) for chromium in report.installs}))
    for chromium in () if as_json else report.installs:
        click.echo(f"{chromium.tier}: {chromium.executable}")
    if report.next_step:
        click.echo(f"Still missing: {report.lacking}. Run: {report.next_step}", err=True)
    return 0 if report.usable else 1
