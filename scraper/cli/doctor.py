"""Commands `doctor` (check the installation) and `install-browser`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from scraper.cli import tool_output
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import command
from scraper.errors import ScraperError, format_error
from scraper.settings import Settings, SettingsError
from scraper.settings.files import find_config_file, version

if TYPE_CHECKING:
    from scraper.cli.doctor_checks import Finding

_NO_TEMPORARY_FOLDER = "Free some space, or set TMPDIR to a writable folder (in a container: --tmpfs /tmp)"
_QUERY = "tidal power"
_QUERIES = {"package": "requests", "code": "requests"}
"""Query by category: package indexes find names rather than topics."""
_COLORS = {"ok": "green", "!!": "yellow", "no": "red"}
_STATES: dict[str | None, str] = {
    None: "answered",
    "layout_changed": "changed its format",
    **dict.fromkeys(("captcha", "consent", "rate_limited", "refused", "off_topic"), "blocked the request"),
}


@command("doctor", None)
def doctor(as_json: bool, live: bool, url: str | None, **flags: Any) -> int:
    """Check this machine, and read a page as a test.

    It prints what is installed, what is missing and how to fix it. The exit code is 0 if the server can run; with
    --live, if every engine and source answered; with --url, if clients can use that server. Attach the output of
    `doctor --live --json` to a report about an engine.
    """
    # Imported late, so that help is printed without loading the browsers.
    from scraper.cli.doctor_checks import CheckLevel, bad_finding

    logging.basicConfig(level=logging.ERROR)
    code = None
    try:
        settings = Settings.load(os.environ, flags, find_config_file())
        if live:
            return tool_output.run_coroutine(_query_engines(settings, as_json=as_json))
        if url is not None:
            from scraper.cli.doctor_url import check_server

            found = _show(check_server(url, settings.token), is_quiet=as_json)
        else:
            found = tool_output.run_coroutine(_run_checks(settings, is_quiet=as_json))
    except SettingsError as error:
        code = ExitCode.INVALID
        found = [bad_finding(f"The settings cannot be used: {error}", "Correct or remove it")]
        _show(found, is_quiet=as_json)
    is_usable = not any(finding.level is CheckLevel.BAD for finding in found)
    if as_json:
        rows = [{"level": one.level.name.lower(), "text": one.text, "remedy": one.remedy} for one in found]
        click.echo(json.dumps({"usable": is_usable, "findings": rows}, ensure_ascii=False))
    elif code is None:
        who = "This machine" if url is None else "The server"
        click.echo(f"\n{who} can serve." if is_usable else f"\n{who} cannot serve yet.")
    return int(not is_usable) if code is None else code


async def _query_engines(settings: Settings, *, as_json: bool) -> int:
    """Query all engines and sources, print the state of each as soon as it is known, and return the exit code."""
    from scraper.engines.registry import ENGINES
    from scraper.engines.sources import SOURCES
    from scraper.model import REFRESH
    from scraper.search.argument_validation import SearchRequest
    from scraper.services import Services

    async def query(name: str) -> dict[str, Any]:
        engine = SOURCES.get(name) or ENGINES[name]
        category, count, reason = engine.category or "", 0, None
        words = _QUERIES.get(category, _QUERY)
        async with slots:
            began = time.monotonic()
            try:
                request = SearchRequest(words, [name], max_results=5, cache=REFRESH, deadline_s=30.0)
                answer = await services.searcher.search(request)
                count, reason = len(answer.results), answer.errors.get(name)
            except ScraperError as error:
                reason = error.code
        state = _STATES.get(reason, "did not answer") if reason or count else "found nothing"
        seconds = round(time.monotonic() - began, 1)
        shown, found = f" ({reason})" if reason else "", f"{count} rows, " if count else ""
        click.echo(f"{name:<16} {state}{shown}, {found}{seconds} s", err=as_json)
        row = {"name": name, "kind": str(engine.kind), "category": category, "state": state, "reason": reason or ""}
        return {**row, "rows": count, "seconds": seconds}

    async with Services.open(settings) as services:
        slots = asyncio.Semaphore(4)
        rows = await asyncio.gather(*(query(name) for name in (*ENGINES, *SOURCES)))
    answered = sum(row["state"] == "answered" for row in rows)
    if as_json:
        click.echo(json.dumps({"version": version(), "answered": answered, "engines": rows}, ensure_ascii=False))
    else:
        click.echo(f"\n{answered} of {len(rows)} answered.")
    return ExitCode.SUCCESS if answered == len(rows) else ExitCode.INCOMPLETE


async def _run_checks(settings: Settings, *, is_quiet: bool) -> list[Finding]:
    from scraper.cli import doctor_checks as checks

    found: list[Finding] = []
    of_settings = (checks.check_data_folder, checks.check_documents, checks.check_callers, checks.check_port)
    lists = [checks.check_packages(), checks.check_configuration(os.environ)]
    lists += [
        checks.check_signing(settings),
        checks.check_browsers(settings.browser_settings()),
        checks.check_fonts(),
        checks.check_skills(),
    ]
    for findings in (*lists, *(check(settings) for check in of_settings), checks.check_proxy(settings)):
        found += _show(findings, is_quiet=is_quiet)
    for check in (checks.check_names, checks.check_shared_state, checks.check_database):
        found += _show(await check(settings), is_quiet=is_quiet)
    if not any(finding.level is checks.CheckLevel.BAD for finding in found):
        try:
            found += _show(await checks.read_local_page(settings), is_quiet=is_quiet)
            found += _show(await checks.read_web_page(settings), is_quiet=is_quiet)
            found += _show(await checks.check_key_directory(settings), is_quiet=is_quiet)
        except OSError as error:  # usually: there is no folder for temporary files
            text = f"Pages cannot be read on this machine: {format_error(error)}"
            found += _show([checks.bad_finding(text, _NO_TEMPORARY_FOLDER)], is_quiet=is_quiet)
    return found


def _show(findings: Iterable[Finding], *, is_quiet: bool = False) -> list[Finding]:
    """Print each finding as soon as it is known, and return all."""
    found = []
    for finding in findings:
        found.append(finding)
        if not is_quiet:
            mark, color = f"[{finding.level.value}]", _COLORS[finding.level.value]
            # https://no-color.org
            click.echo(f"{mark if os.environ.get('NO_COLOR') else click.style(mark, fg=color)} {finding.text}")
            if finding.remedy:
                click.echo(f"     {finding.remedy}")
    return found


@command("install-browser")
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
