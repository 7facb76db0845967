"""Command `demo-engines`: serve test copies of the search engines on this machine.

Their pages belong to the tests, which are not part of the installed package. So the command needs a checkout and its
development packages.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from typing import TYPE_CHECKING

import click

from scraper.cli.setting_options import Command
from scraper.server.lifecycle import stop_signals

if TYPE_CHECKING:
    from tests.site.engine_server import EngineSite

_RAW = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_TERMINATE_TIMEOUT_S = 10.0


@click.command(
    cls=Command, context_settings=_RAW, examples=["demo-engines", 'demo-engines search "browser automation"']
)
@click.option("--port", type=int, default=0, help="Port on loopback; 0 chooses a free one.  [0]")
@click.option(
    "--mood",
    "moods",
    multiple=True,
    metavar="<engine=mood>",
    help="Behavior of an engine: rows, none, wall, altcha, anubis, consent, limited, hang, decoys, "
    "suspicious, redrawn, broken, code. May be repeated.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def demo_engines(port: int, moods: tuple[str, ...], command: tuple[str, ...]) -> int:
    """Serve all search engines under their own names on this machine.

    With a COMMAND of search-mcp, it runs this command against them and ends: demo-engines search "tides". Without one,
    it prints the variables to set and runs until interrupted.

    Needs a checkout of the sources, because the pages belong to the tests.
    """
    engine_moods = dict(_parse_mood(mood) for mood in moods)
    try:
        from tests.site.engine_server import ENGINE_NAMES, MOODS
    except ImportError as error:
        raise click.ClickException(
            f"The engines belong to the tests, which the installed package does not contain "
            f"({error}). Run this in a checkout of the sources, after `make .venv/.dev` there."
        ) from None
    for name, mood in engine_moods.items():
        if name not in ENGINE_NAMES:
            raise click.UsageError(f"There is no engine {name!r}; there are {', '.join(ENGINE_NAMES)}.")
        if mood not in MOODS:
            raise click.UsageError(f"There is no behavior {mood!r}; there are {', '.join(MOODS)}.")
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(_serve(port, engine_moods, command))
    return 0


async def _serve(port: int, moods: dict[str, str], command: tuple[str, ...]) -> int:
    from tests.site.engine_server import running_engines

    async with running_engines(port) as site:
        site.moods |= moods
        # Answers of these engines must not enter the real cache.
        with tempfile.TemporaryDirectory(prefix="search-mcp-demo-") as folder:
            variables = _variables(site, folder)
            if command:
                return await _run(command, variables)
            for name, value in variables.items():
                click.echo(f"export {name}={value}")
            sys.stdout.flush()
            with stop_signals() as stops:
                click.echo("The engines are served; Ctrl-C ends them.", err=True)
                await stops.requested.wait()
            return 0


def _variables(site: EngineSite, folder: str) -> dict[str, str]:
    hosts = ",".join(f"{name}={address}:{port}" for name, address, port in site.test_hosts)
    return {"SEARCH_MCP_TEST_HOSTS": hosts, "SEARCH_MCP_TEST_KEY_PIN": site.key_pin, "SEARCH_MCP_DATA": folder}


async def _run(command: tuple[str, ...], variables: dict[str, str]) -> int:
    # The warnings about mapped names are expected here.
    environment = {"SEARCH_MCP_LOG_LEVEL": "error"} | dict(os.environ) | variables
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "scraper.cli.main", *command, env=environment)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TERMINATE_TIMEOUT_S):
                    await process.wait()


def _parse_mood(text: str) -> tuple[str, str]:
    engine, equals, mood = text.partition("=")
    if not equals:
        raise click.UsageError(f"--mood is written engine=mood, such as mojeek=altcha, not {text!r}.")
    return engine, mood
