"""`search-mcp install-browser`."""

from __future__ import annotations

import click


@click.command()
@click.option("--fonts/--no-fonts", default=True, help="Also fonts for Chinese, Japanese, Korean and emoji.")
def install_browser(fonts: bool) -> int:
    """Install Chromium.

    The system's package as root, Playwright's download otherwise; where neither works, it prints the command
    to run.
    """
    from browsers import diagnostics

    report = diagnostics.install(lambda line: click.echo(line, err=True), fonts=fonts)
    for chromium in report.found:
        click.echo(f"{chromium.tier}: {chromium.executable}")
    if report.next_step:
        click.echo(f"Still missing: {report.lacking}. Run: {report.next_step}", err=True)
    return 0 if report.usable else 1
