"""The installer chooses the method for the machine, runs it once and reports every failure."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from browsers.chromium import install as installer
from browsers.chromium.install import HostPlatform, InstallReport, ensure_installed, install_chromium
from browsers.model import Tier
from tests.browsers.chromium.machines import DEBIAN_FULL, DEBIAN_LIGHT, machine, playwright_revision, program


class Computer:
    """A simulated machine on which package managers are scripts that create files at the real paths."""

    def __init__(self, folder: Path, *, is_root: bool = True, distribution: str = "debian", like: str = "") -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        # Nothing else is on the path: this machine's own package managers must stay out of reach.
        for tool in ("mkdir", "chmod", "touch", "sleep"):
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.calls = folder / "calls"
        self.calls.touch()
        self.log: list[str] = []
        (folder / "etc").mkdir()
        (folder / "etc/os-release").write_text(f'PRETTY_NAME="Made"\nID={distribution}\nID_LIKE="{like}"\n')
        playwright = program(self.bin / "playwright", self._noted("playwright", "exit 1"))
        self.host = HostPlatform(
            machine=machine(folder), is_root=is_root, path=str(self.bin), playwright=(str(playwright),)
        )

    def command(self, name: str, script: str) -> None:
        """Create a program on the path that first records its arguments."""
        program(self.bin / name, self._noted(name, script))

    def put(self, path: str, version: str = "156.0.8078.79") -> str:
        """Return script lines that install a browser."""
        target = self.folder / path
        return (
            f"mkdir -p {target.parent}; printf '#!/bin/sh\\necho Chromium {version}\\n' > {target}; chmod 755 {target}"
        )

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines()

    def _noted(self, name: str, script: str) -> str:
        # A query for the version does not count as an installation.
        return f'[ "$1" = --version ] && exit 0\necho "{name} $*" >> {self.calls}\n{script}'


BOTH_PACKAGES = "chromium chromium-headless-shell"


def debian(folder: Path, *, is_root: bool = True) -> Computer:
    """Create a Debian whose apt-get works at once."""
    computer = Computer(folder, is_root=is_root)
    computer.command("apt-get", f"{computer.put(DEBIAN_LIGHT)}; {computer.put(DEBIAN_FULL)}")
    return computer


def test_root_on_debian_gets_both_packages_in_one_call(tmp_path: Path) -> None:
    computer = debian(tmp_path)
    report = install_chromium(computer.log.append, host=computer.host)
    assert [chromium.tier for chromium in report.installs] == [Tier.LIGHT, Tier.FULL]
    assert report.missing == () and report.next_step is None
    [call] = computer.called()
    assert call.startswith("apt-get") and "--no-install-recommends " + BOTH_PACKAGES in call
    assert "noto" not in call


def test_installing_again_does_nothing(tmp_path: Path) -> None:
    computer = debian(tmp_path)
    install_chromium(computer.log.append, host=computer.host)
    before = computer.called()
    assert install_chromium(computer.log.append, host=computer.host).usable
    assert computer.called() == before


def test_fonts_are_installed_on_request_beside_existing_browsers(tmp_path: Path) -> None:
    computer = debian(tmp_path)
    install_chromium(computer.log.append, host=computer.host)
    assert not any("noto" in call for call in computer.called())
    install_chromium(computer.log.append, fonts=True, host=computer.host)
    assert "fonts-noto-cjk fonts-noto-color-emoji" in computer.called()[-1]


def test_only_missing_fonts_are_installed(tmp_path: Path) -> None:
    computer = debian(tmp_path)
    program(tmp_path / "usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
    install_chromium(computer.log.append, fonts=True, host=computer.host)
    assert computer.called()[-1].endswith("--no-install-recommends fonts-noto-color-emoji")
    program(tmp_path / "usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
    before = computer.called()
    install_chromium(computer.log.append, fonts=True, host=computer.host)
    assert computer.called() == before


def test_stale_package_lists_are_updated_once(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    fresh = tmp_path / "fresh"
    computer.command(
        "apt-get",
        f'case "$*" in *update*) touch {fresh}; exit 0;; esac\n'
        f"[ -e {fresh} ] || exit 100\n{computer.put(DEBIAN_LIGHT)}; {computer.put(DEBIAN_FULL)}",
    )
    assert install_chromium(computer.log.append, host=computer.host).missing == ()
    assert [("update" in call, "install" in call) for call in computer.called()] == [
        (False, True),
        (True, False),
        (False, True),
    ]


def test_a_release_without_the_headless_shell_gets_the_full_browser(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.command("apt-get", f'case "$*" in *headless-shell*) exit 100;; esac\n{computer.put(DEBIAN_FULL)}')
    report = install_chromium(computer.log.append, host=computer.host)
    assert [chromium.tier for chromium in report.installs] == [Tier.FULL]
    assert report.missing == (Tier.LIGHT,)
    assert computer.log[-1] == "Not installed, or does not start: Chromium for the light tier."


def test_user_without_root_gets_playwright_download_without_apt(tmp_path: Path) -> None:
    computer = debian(tmp_path, is_root=False)
    shell = "home/.cache/ms-playwright/chromium_headless_shell-1255"
    computer.command(
        "playwright",
        computer.put(f"{shell}/chrome-headless-shell-linux64/chrome-headless-shell")
        + f"; touch {tmp_path}/{shell}/INSTALLATION_COMPLETE",
    )
    report = install_chromium(computer.log.append, tiers=(Tier.LIGHT,), host=computer.host)
    assert [chromium.source for chromium in report.installs] == ["playwright"]
    assert computer.called() == [f"playwright install {BOTH_PACKAGES}"]


SHELL = "chrome-headless-shell-linux64/chrome-headless-shell"


def downloaded(computer: Computer) -> Path:
    """Return the folder in which an older Playwright has installed its light Chromium."""
    folder = computer.folder / "home/.cache/ms-playwright"
    playwright_revision(folder, "chromium_headless_shell-1200", SHELL)
    return folder


@pytest.mark.parametrize("function", [ensure_installed, install_chromium])
def test_an_older_download_is_updated(tmp_path: Path, function: Callable[..., InstallReport]) -> None:
    computer = Computer(tmp_path, is_root=False)
    program(tmp_path / DEBIAN_FULL)
    folder = downloaded(computer)
    newer = f"home/.cache/ms-playwright/chromium_headless_shell-1255/{SHELL}"
    done = folder / "chromium_headless_shell-1255/INSTALLATION_COMPLETE"
    computer.command("playwright", f"{computer.put(newer, '159.0.8154.6')}; touch {done}")
    report = function(computer.log.append, host=computer.host)
    assert report.installs[0].executable == str(tmp_path / newer)
    assert computer.called() == ["playwright install chromium-headless-shell"]


@pytest.mark.parametrize("function", [ensure_installed, install_chromium])
def test_a_download_that_cannot_be_updated_stays_in_use(tmp_path: Path, function: Callable[..., InstallReport]) -> None:
    computer = Computer(tmp_path, is_root=False)
    program(tmp_path / DEBIAN_FULL)
    folder = downloaded(computer)
    report = function(computer.log.append, host=computer.host)
    assert report.usable and report.next_step is None
    assert report.installs[0].executable == str(folder / "chromium_headless_shell-1200" / SHELL)
    assert computer.log[-1] == "Chromium was not updated. The installed version stays in use."


@pytest.mark.parametrize(
    ("distribution", "like"), [("ubuntu", "debian"), ("zorin", "ubuntu debian"), ("elementary", "ubuntu")]
)
def test_ubuntu_snap_package_is_not_requested(tmp_path: Path, distribution: str, like: str) -> None:
    computer = Computer(tmp_path, distribution=distribution, like=like)
    computer.command("apt-get", "exit 0")
    report = install_chromium(computer.log.append, host=computer.host)
    assert computer.called() == [f"playwright install {BOTH_PACKAGES}"]
    assert report.next_step is not None and "apt-get" not in report.next_step


def test_linux_mint_installs_its_package(tmp_path: Path) -> None:
    computer = Computer(tmp_path, distribution="linuxmint", like="ubuntu debian")
    computer.command("apt-get", computer.put(DEBIAN_FULL))
    assert install_chromium(computer.log.append, host=computer.host).usable
    assert computer.called()[0].startswith("apt-get")


@pytest.mark.parametrize(
    ("manager", "path"),
    [
        ("dnf", "usr/lib64/chromium-browser/chromium-browser"),
        ("pacman", "usr/lib/chromium/chromium"),
        ("zypper", "usr/lib64/chromium/chromium"),
        ("apk", "usr/lib/chromium/chromium"),
    ],
)
def test_other_distributions_use_their_package_manager(tmp_path: Path, manager: str, path: str) -> None:
    computer = Computer(tmp_path, distribution="other")
    computer.command(manager, computer.put(path))
    report = install_chromium(computer.log.append, tiers=(Tier.FULL,), host=computer.host)
    assert [chromium.tier for chromium in report.installs] == [Tier.FULL]
    assert [call.split()[0] for call in computer.called()] == [manager]


def test_failed_installation_logs_each_failure_and_names_one_command(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.command("apt-get", "exit 100")
    report = install_chromium(computer.log.append, host=computer.host)
    assert not report.usable and report.missing == (Tier.LIGHT, Tier.FULL)
    assert report.next_step == f"apt-get install -y {BOTH_PACKAGES}"
    assert "apt-get did not succeed." in computer.log
    assert "Playwright's download did not succeed." in computer.log


def test_next_step_without_root_uses_sudo(tmp_path: Path) -> None:
    computer = Computer(tmp_path, is_root=False)
    computer.command("apt-get", "exit 100")
    report = install_chromium(computer.log.append, host=computer.host)
    assert report.next_step == f"sudo apt-get install -y {BOTH_PACKAGES}"


def test_a_download_whose_libraries_are_missing_does_not_count_as_installed(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    target = tmp_path / DEBIAN_LIGHT
    computer.command(
        "apt-get", f"mkdir -p {target.parent}; printf '#!/bin/sh\\nexit 127\\n' > {target}; chmod 755 {target}"
    )
    report = install_chromium(computer.log.append, tiers=(Tier.LIGHT,), host=computer.host)
    assert not report.usable and report.missing == (Tier.LIGHT,)
    assert computer.log[-1] == "Not installed, or does not start: Chromium for the light tier."


def test_installer_that_hangs_is_stopped_and_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "DOWNLOAD_LIMIT_S", 0.2)
    computer = Computer(tmp_path, is_root=False)
    computer.command("playwright", "exec sleep 600")
    started = time.monotonic()
    report = install_chromium(computer.log.append, host=computer.host)
    assert not report.usable
    assert "  stopped after 0 s" in computer.log
    assert time.monotonic() - started < 300


def test_nothing_is_installed_if_one_browser_works(tmp_path: Path) -> None:
    computer = debian(tmp_path)
    program(tmp_path / DEBIAN_FULL)
    report = ensure_installed(computer.log.append, computer.host)
    assert report.usable and report.missing == (Tier.LIGHT,)
    assert computer.called() == [] and computer.log == []


def without_driver(computer: Computer) -> Path:
    """Make Playwright's driver fail until the file exists."""
    library = computer.folder / "libatomic"
    program(computer.bin / "playwright", f"[ -e {library} ] || exit 127")
    return library


def test_root_gets_the_library_that_the_driver_needs(tmp_path: Path) -> None:
    computer = debian(tmp_path)
    install_chromium(computer.log.append, host=computer.host)
    library = without_driver(computer)
    computer.command("apt-get", f"touch {library}")
    report = ensure_installed(computer.log.append, computer.host)
    assert report.usable and report.driver_starts
    assert computer.called()[-1].endswith("--no-install-recommends libatomic1")


def test_next_step_without_root_names_the_library_of_the_driver(tmp_path: Path) -> None:
    computer = debian(tmp_path, is_root=False)
    program(tmp_path / DEBIAN_FULL)
    without_driver(computer)
    report = ensure_installed(computer.log.append, computer.host)
    assert not report.usable and not report.driver_starts
    assert report.next_step == "sudo apt-get install -y libatomic1"
    assert "a library that Playwright's driver needs" in computer.log[-1]


def test_only_errors_of_a_package_manager_are_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    computer = Computer(tmp_path)
    computer.command("apt-get", f"echo Unpacking; echo 'E: no lock' >&2; {computer.put(DEBIAN_FULL)}")
    assert install_chromium(computer.log.append, host=computer.host).usable
    output = capfd.readouterr()
    assert output.out == "" and "Unpacking" not in output.err and "E: no lock" in output.err


@pytest.mark.browser
def test_command_prints_found_browsers_on_stderr_only() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "browsers.chromium.install"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert "Chromium" in run.stderr
