"""The wheel works when it is installed as the documentation says: with pip, pipx and uvx."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scraper.process import REPOSITORY
from tests.site.running import Site

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LIMIT_S = 240
ORDINARY_USER = 10_001
SCRIPTS = Path(sys.executable).parent
VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Create a folder with spaces in its path that every user may read and write."""
    with tempfile.TemporaryDirectory(prefix="search mcp ") as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    run(SCRIPTS / "hatchling", "build", "-t", "wheel", "-d", folder, folder=REPOSITORY)
    (built,) = folder.glob("*.whl")
    return built


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "browsers", "scraper"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(wheel) as archive:
        missing = set(listed.stdout.split()) - set(archive.namelist())
    assert len(listed.stdout.split()) > 400 and not missing


def run(*command: str | Path, folder: Path, user: int | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command as a user and return its output; fail if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        env={**os.environ, "SEARCH_MCP_DATA": str(folder / f"data {user}"), **(env or {})},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_program(program: tuple[str | Path, ...], site: Site, folder: Path, user: int | None = None) -> None:
    """Check that the installed program knows its version and reads a page with Chromium."""
    env = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable, "HOME": str(folder)}
    assert run(*program, "--version", folder=folder, user=user, env=env) == f"search-mcp {VERSION}\n"
    page = run(*program, "fetch", site.url("/spa/1"), "--length", "300", folder=folder, user=user, env=env)
    assert "Note 0 from the harbour office" in page


def python_of(user: int | None) -> str:
    """Return a Python that the user may run; root's own may be in a private folder."""
    if user is None:
        return sys.executable
    for python in ("/usr/bin/python3", sys.executable):
        check = [python, "-c", "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            if subprocess.run(check, user=user, group=user, cwd="/", stderr=subprocess.DEVNULL).returncode == 0:
                return python
        except OSError:
            continue
    pytest.skip("no Python here that an ordinary user may run")


@pytest.mark.full_size
def test_pip_installs_it_for_an_ordinary_user(wheel: Path, folder: Path, site: Site) -> None:
    user = ORDINARY_USER if os.geteuid() == 0 else None
    home = {"HOME": str(folder)}
    run(python_of(user), "-m", "venv", folder / "with pip", folder=folder, user=user, env=home)
    scripts = folder / "with pip" / "bin"
    run(scripts / "pip", "install", "--quiet", wheel, folder=folder, user=user, env=home)
    check_program((scripts / "search-mcp",), site, folder, user)


@pytest.mark.full_size
def test_uvx_runs_it(wheel: Path, folder: Path, site: Site) -> None:
    check_program((SCRIPTS / "uv", "tool", "run", "--from", wheel, "search-mcp"), site, folder)


@pytest.mark.full_size
def test_pipx_installs_it(wheel: Path, folder: Path, site: Site) -> None:
    env = {
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }
    run(SCRIPTS / "pipx", "install", wheel, folder=folder, env=env)
    assert shutil.which("search-mcp", path=folder / "bin") is not None
    check_program((folder / "bin" / "search-mcp",), site, folder)
