"""The image's health check asks the server where it listens."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.scraper.process import LIMIT_S, REPOSITORY, running, serving
from tests.scraper.server.conftest import STAND_IN

DOCKERFILE = REPOSITORY / "Dockerfile"
SCRIPT = REPOSITORY / "deploy" / "healthcheck.py"


async def health_check(pid: int) -> int:
    """Run the program of the image for this process, and return its exit code."""
    process = await asyncio.create_subprocess_exec(sys.executable, str(SCRIPT), str(pid))
    async with asyncio.timeout(LIMIT_S):
        return await process.wait()


def test_the_image_runs_the_script() -> None:
    text = DOCKERFILE.read_text(encoding="utf-8")
    command = json.loads(text.partition("HEALTHCHECK")[2].partition("CMD ")[2].splitlines()[0])
    assert command[0] == "python" and f"COPY deploy/{SCRIPT.name} {command[1]}\n" in text
    assert f"!deploy/{SCRIPT.name}" in Path(DOCKERFILE.parent, ".dockerignore").read_text(encoding="utf-8")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0", "127.0.0.2"])
async def test_a_server_is_found_at_any_address_and_port(host: str) -> None:
    serve = "import sys; from tests.scraper.server.stand_in import main; assert sys.argv.pop() == 'serve'; main()"
    flags = ("http", f"--host={host}", "--allow_unauthenticated=yes")
    async with serving("-c", serve, *flags, "serve") as program:
        assert await health_check(program.process.pid) == 0
        program.process.send_signal(signal.SIGSTOP)
        assert await health_check(program.process.pid) == 1
        program.process.send_signal(signal.SIGCONT)


async def test_a_server_over_stdio_is_healthy() -> None:
    async with running(*STAND_IN, "stdio", stdin=PIPE, stdout=PIPE) as program:
        assert await health_check(program.process.pid) == 0
