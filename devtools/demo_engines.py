"""Serve test copies of the search engines on this machine, or run a command of search-mcp against them.

python -m devtools.demo_engines search "browser automation"
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile

import click

from scraper.server.lifecycle import stop_signals
from tests.site.engine_server import ENGINE_NAMES, MOODS, EngineSite, running_engines

_RAW = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_TERMINATE_TIMEOUT_S = 10.0


@click.command(context_settings=_RAW)
@click.option("--port", type=int, default=0, help="Port on loopback; 0 chooses a free one.  [0]")
@click.option(
    "--mood",
    "moods",
    multiple=True,
    metavar="<engine=mood>",
    help=f"Behavior of an engine: {', '.join(MOODS)}. May be repeated.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def main(context: click.Context, port: int, moods: tuple[str, ...], command: tuple[str, ...]) -> None:
    """Serve all search engines under their own names on this machine.

    With a COMMAND of search-mcp, such as `search "tides"`, run it against them and end. Without one, print the
    variables to set and serve until interrupted.
    """
    engine_moods = dict(_parse_mood(mood) for mood in moods)
    for name, mood in engine_moods.items():
        if name not in ENGINE_NAMES:
            raise click.UsageError(f"There is no engine {name!r}; there are {', '.join(ENGINE_NAMES)}.")
        if mood not in MOODS:
            raise click.UsageError(f"There is no behavior {mood!r}; there are {', '.join(MOODS)}.")
    with contextlib.suppress(KeyboardInterrupt):
        context.exit(asyncio.run(_serve(port, engine_moods, command)))


async def _serve(port: int, moods: dict[str, str], command: tuple[str, ...]) -> int:
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


if __name__ == "__main__":
    main()
