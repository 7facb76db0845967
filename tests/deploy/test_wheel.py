"""The wheel works when it is installed as the documentation says: with pip, pipx and uvx."""

from __future__ import annotations

import os
import re
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


def printed_commands(page: str) -> list[str]:
    """Return the commands of a page that install the program, as printed."""
    text = (REPOSITORY / page).read_text("utf-8")
    lines = re.findall(r"`([^`\n]+)`", text) + re.findall(r"(?m)^([^`|\n]+)$", text)
    found = [re.sub(r" +# .*", "", line).strip() for line in lines]
    return sorted(
        {
            line
            for line in found
            if re.match(r"(pipx|pip|uvx|git clone) ", line) and "search-mcp" in line and "uninstall" not in line
        }
    )


COMMANDS = sorted(
    {command for page in ("README.md", "docs/install.md", "docs/quickstart.md") for command in printed_commands(page)}
)
_CLONE = "git clone"


def test_each_way_to_install_is_printed() -> None:
    starts = {command.split()[0] for command in COMMANDS}
    assert starts == {"git", "pip", "pipx", "uvx"}
    assert "pipx install search-mcp" in COMMANDS and any("git+https" in command for command in COMMANDS)


@pytest.mark.full_size
@pytest.mark.parametrize("command", [one for one in COMMANDS if not one.startswith(_CLONE)])
def test_a_printed_command_installs_it(command: str, wheel: Path, folder: Path, site: Site) -> None:
    """Run it as it stands: names come from the wheel, the repository is this one."""
    place = Path(tempfile.mkdtemp(dir=folder))
    run(sys.executable, "-m", "venv", place / "venv", folder=place)
    repository = f"file://{REPOSITORY}"
    ours = "https://github.com/search-mcp/search-mcp"
    env = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": f"{ours}.git",
        "GIT_CONFIG_KEY_1": "safe.directory",
        "GIT_CONFIG_VALUE_1": "*",
        "PIP_FIND_LINKS": str(folder).replace(" ", "%20"),
        "UV_FIND_LINKS": str(folder),
        "PIPX_HOME": str(place / "pipx"),
        "PIPX_BIN_DIR": str(place / "bin"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
        "UV_CACHE_DIR": str(place / "cache"),
        "PATH": f"{place}/venv/bin:{place}/bin:{SCRIPTS}:{os.environ['PATH']}",
    }
    if command.startswith("uvx"):
        assert VERSION in run("sh", "-c", command.replace(" stdio", " --version"), folder=place, env=env)
    else:
        run("sh", "-c", command, folder=place, env=env)
        assert VERSION in run("sh", "-c", "search-mcp --version", folder=place, env=env)


@pytest.mark.full_size
def test_the_printed_clone_serves(folder: Path) -> None:
    (command,) = (one for one in COMMANDS if one.startswith(_CLONE) and "cd " in one)
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{REPOSITORY}.insteadOf"}
    env |= {"GIT_CONFIG_VALUE_0": "https://github.com/search-mcp/search-mcp"}
    done = run("sh", "-c", f"{command} && make serve ARGS=--help", folder=folder, env=env)
    assert "Usage: search-mcp serve" in done
