"""Setup on all kinds of machines: each missing program is reported with the command that installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "devtools" / "environment.sh"
TOOLS = ("sh", "id", "mkdir", "cp", "rm", "cat", "make", "touch", "grep")
"""Programs that every system has."""

PYTHON = """#!/bin/sh
echo "$*" >> "$NOTES"
case "$*" in
    *version_info*) exit {too_old};;
    *ensurepip,*) exit {no_venv};;
    *SOABI*) exit {glibc};;
    *platform.machine*) exit {other_mac};;
    *--progress-bar*)
        [ ! -e pip.out ] || cat pip.out
        [ ! -e pip.err ] || {{ cat pip.err >&2; exit 1; }};;
    *samefile*) [ ! -e .venv/elsewhere ]; exit;;
    "-m venv"*)
        rm -f .venv/elsewhere .venv/.runtime .venv/.chromium
        mkdir -p .venv/bin && cp "$0" .venv/bin/python;;
esac
"""


class Machine:
    """A simulated machine: programs, and a home with a space and a non-ASCII letter in its name."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "an ü home"
        self.programs = folder / "bin"
        self.notes = folder / "notes"
        for made in (self.home, self.programs):
            made.mkdir()
        for name in TOOLS:
            found = shutil.which(name)
            assert found is not None
            (self.programs / name).symlink_to(found)

    def has(self, name: str, text: str = "#!/bin/sh\n") -> None:
        """Add a program."""
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def has_python(self, *, too_old: int = 0, no_venv: int = 0, glibc: int = 1, other_mac: int = 1) -> None:
        """Add a Python; each number is an exit code."""
        answers = {"too_old": too_old, "no_venv": no_venv, "glibc": glibc, "other_mac": other_mac}
        self.has("python3", PYTHON.format(**answers))

    def has_checkout(self) -> None:
        """Add the files that the Makefile uses."""
        for name in ("Makefile", "devtools/environment.sh", "pyproject.toml"):
            (self.home / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.home / name)
        (self.home / "requirements").mkdir()
        for name in ("build", "runtime"):
            (self.home / f"requirements/{name}.txt").touch()

    def moved(self) -> None:
        """Simulate that the folder of the environment was moved."""
        (self.home / ".venv/.runtime").touch()
        (self.home / ".venv/elsewhere").touch()

    def set_up(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run the script in the home, or another command; clear earlier records."""
        self.notes.write_text("")
        return subprocess.run(
            command or ["sh", SCRIPT, "one.txt", "two.txt"],
            cwd=self.home,
            env={"PATH": str(self.programs), "NOTES": str(self.notes)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Create an empty machine."""
    return Machine(tmp_path)


def as_root(command: str) -> str:
    """Return the command as this user must type it: with sudo, except for root."""
    return command if os.geteuid() == 0 else f"sudo {command}"


def test_everything_is_installed_with_available_programs(machine: Machine) -> None:
    machine.has_python()
    done = machine.set_up()
    assert (done.returncode, done.stderr) == (0, "")
    told = machine.notes.read_text().splitlines()
    assert "-m venv --clear .venv" in told
    assert any(line.endswith("--require-hashes -r one.txt -r two.txt") for line in told)
    assert any(line.endswith("--no-deps --no-build-isolation -e .") for line in told)


def test_the_download_shows_its_progress(machine: Machine) -> None:
    machine.has_python()
    (machine.home / "one.txt").write_text("".join(f"part{n}==1 \\\n    --hash=sha256:0\n" for n in range(12)))
    lines = [f"Collecting part{n}==1 (from -r one.txt (line 1))\n  Downloading part{n}.whl\n" for n in range(12)]
    (machine.home / "pip.out").write_text("".join(lines) + "Installing collected packages: part0, part1\n")
    done = machine.set_up()
    assert (done.returncode, done.stderr) == (0, "")
    shown = [line for line in done.stdout.splitlines() if "packages" in line]
    assert shown == ["  10 of 12 packages: part9", "  12 of 12 packages: all downloaded, installing"]


def test_a_failed_download_shows_the_messages_of_pip(machine: Machine) -> None:
    machine.has_python()
    (machine.home / "pip.err").write_text("ERROR: no such package\n")
    done = machine.set_up()
    assert (done.returncode, done.stderr) == (1, "ERROR: no such package\n")
    assert "--no-deps" not in machine.notes.read_text()


def test_an_existing_environment_is_not_recreated(machine: Machine) -> None:
    machine.has_python()
    machine.set_up()
    assert machine.set_up().returncode == 0
    assert "-m venv" not in machine.notes.read_text()


def test_an_environment_of_another_folder_or_python_is_recreated(machine: Machine) -> None:
    machine.has_python()
    machine.set_up()
    machine.moved()
    done = machine.set_up()
    assert done.returncode == 0 and "was created in another folder, or for another Python" in done.stdout
    assert "-m venv --clear .venv" in machine.notes.read_text()


def test_a_linked_environment_is_not_cleared(machine: Machine) -> None:
    machine.has_python()
    machine.set_up()
    machine.moved()
    (machine.home / ".venv").rename(machine.home / "mine")
    (machine.home / ".venv").symlink_to("mine")
    assert machine.set_up().returncode == 0
    assert "-m venv" not in machine.notes.read_text()


def test_make_detects_an_environment_of_another_folder_despite_fresh_stamps(machine: Machine) -> None:
    machine.has_python()
    machine.has_checkout()
    made = "-m venv --clear .venv"
    assert machine.set_up("make", "setup").returncode == 0 and made in machine.notes.read_text()
    assert machine.set_up("make", "setup").returncode == 0 and "install" not in machine.notes.read_text()
    machine.moved()
    again = machine.set_up("make", "setup")
    assert (again.returncode, again.stderr) == (0, "")
    told = machine.notes.read_text()
    assert made in told and "-m browsers.chromium.install" in told


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("brew", "brew install python@3.13"),
        ("apt-get", as_root("apt-get install -y python3 python3-venv")),
        ("dnf", as_root("dnf install -y python3.12")),
        ("pacman", as_root("pacman -S --noconfirm python")),
    ],
)
def test_without_python_the_install_command_is_printed(machine: Machine, manager: str, command: str) -> None:
    machine.has(manager)
    done = machine.set_up()
    assert done.returncode == 1
    assert done.stderr == (f"search-mcp: Python 3.11 or newer is needed and was not found. Run: {command}\n")


def test_for_an_old_system_python_an_alternative_is_printed(machine: Machine) -> None:
    machine.has("apt-get")
    machine.has_python(too_old=1)
    assert "Run: curl -LsSf https://astral.sh/uv/install.sh | sh\n" in machine.set_up().stderr


def test_the_missing_package_of_venv_is_requested(machine: Machine) -> None:
    machine.has("apt-get")
    machine.has_python(no_venv=1)
    done = machine.set_up()
    assert done.returncode == 1
    assert done.stderr.endswith(f"Run: {as_root('apt-get install -y python3 python3-venv')}\n")


def test_a_system_unknown_to_playwright_is_reported_at_once(machine: Machine) -> None:
    machine.has_python(glibc=0)
    done = machine.set_up()
    assert done.returncode == 1
    assert "musl" in done.stderr and "container" in done.stderr
    assert "pip" not in machine.notes.read_text().replace("ensurepip", "")


def test_a_mac_without_packages_is_reported_at_once(machine: Machine) -> None:
    machine.has_python(other_mac=0)
    done = machine.set_up()
    assert done.returncode == 1
    assert done.stderr == (
        "search-mcp: some dependencies have no packages for Macs with an Intel processor. Use the container image.\n"
    )
    assert "-m pip" not in machine.notes.read_text()
