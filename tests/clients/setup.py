"""`python -m tests.clients.setup [NAME ...]`: create the missing environments of the clients."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys

from tests.clients.environments import ENVIRONMENTS, Environment

_LIMIT_S = 900


class SetUpError(Exception):
    """A package cannot be installed; the message is the output of the installer."""


def main() -> None:
    """Create the missing environments and report the result."""
    wanted = sys.argv[1:] or [environment.name for environment in ENVIRONMENTS]
    for environment in ENVIRONMENTS:
        if environment.name in wanted:
            there = environment.is_set_up()
            print(f"{environment.name}: {'there already' if there else 'being set up'}", flush=True)
            try:
                set_up(environment)
            except SetUpError as error:
                sys.exit(str(error))


def set_up(environment: Environment) -> None:
    """Create one environment unless it exists; wait for another process that creates it.

    Raises:
        SetUpError: it cannot be created here.
    """
    environment.folder.parent.mkdir(parents=True, exist_ok=True)
    with environment.folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not environment.is_set_up():
            _create(environment)


def _create(environment: Environment) -> None:
    shutil.rmtree(environment.folder, ignore_errors=True)
    environment.folder.mkdir()
    _run([sys.executable, "-m", "venv", str(environment.folder)], environment)
    _run([str(environment.python), "-m", "pip", "install", "--quiet", *environment.packages], environment)
    if environment.node_packages:
        environment.node_folder.mkdir()
        npm = str(environment.folder / "bin" / "npm")
        _run([npm, "install", "--no-audit", "--no-fund", "--silent", *environment.node_packages], environment)
    environment.record.write_text(json.dumps(environment.contents()), encoding="utf-8")


def _run(command: list[str], environment: Environment) -> None:
    path = os.pathsep.join((str(environment.folder / "bin"), os.environ["PATH"]))
    folder = environment.node_folder if environment.node_folder.exists() else environment.folder
    try:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetUpError(f"{environment.name}: {error}") from None
    if done.returncode:
        raise SetUpError(f"{environment.name}: {' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")


if __name__ == "__main__":
    main()
