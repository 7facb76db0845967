"""Install Chromium and the libraries of Playwright's driver.

As root on Linux the system's packages are tried first. Otherwise, or if they fail, Playwright's download is used.

    python -m browsers.chromium.install            when none is there yet
    python -m browsers.chromium.install --all      both tiers, and fonts for scripts beyond Latin
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from browsers.chromium import locate
from browsers.chromium.locate import ChromiumInstall, InstallRoots
from browsers.model import Tier

_UBUNTU_WITH_A_CHROMIUM = "linuxmint"
"""ID of a distribution derived from Ubuntu, but with a Chromium package of its own."""


@dataclass(frozen=True, slots=True)
class HostPlatform:
    """Properties of the machine that decide how Chromium is installed. Tests create one for a folder."""

    machine: InstallRoots = field(default_factory=InstallRoots)
    is_root: bool = field(default_factory=lambda: hasattr(os, "geteuid") and os.geteuid() == 0)
    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    playwright: tuple[str, ...] = (sys.executable, "-m", "playwright")

    def has(self, program: str) -> bool:
        """Return True if a program is on the path."""
        return shutil.which(program, path=self.path) is not None

    @property
    def apt_brings_chromium(self) -> bool:
        """True if apt-get installs a browser. Ubuntu's package and most derived ones install a snap instead."""
        names = self._read_distributions()
        return self.has("apt-get") and ("ubuntu" not in names or _UBUNTU_WITH_A_CHROMIUM in names)

    def _read_distributions(self) -> list[str]:
        try:
            lines = (self.machine.root / "etc" / "os-release").read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        fields = dict(line.split("=", 1) for line in lines if "=" in line)
        return " ".join(fields.get(name, "").strip("\"'") for name in ("ID", "ID_LIKE")).split()


Log = Callable[[str], None]

_PACKAGES_LIMIT_S = 1800.0
"""Seconds. 250 MB over a slow line. A package manager is stopped only if it probably hangs."""
DOWNLOAD_LIMIT_S = 900.0
_DRIVER_LIMIT_S = 60.0
"""Seconds. Playwright's driver prints its version in half a second, but a cold disk has to read 120 MB."""

_STDERR = 2
"""File descriptor for the output of installers: stdout belongs to the caller."""

# Debian packages, and a file of each. Text extraction works without them, but pages look different.
_FONTS: Mapping[str, str] = {
    "fonts-noto-cjk": "usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "fonts-noto-color-emoji": "usr/share/fonts/truetype/noto/NotoColorEmoji.ttf",
}
# Another apt may be running, as on a newly started machine: wait for its lock.
_APT = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300")
_APT_INSTALL = (*_APT, "install", "-y", "--no-install-recommends")

_DOWNLOADS: Mapping[Tier, str] = {Tier.FULL: "chromium", Tier.LIGHT: "chromium-headless-shell"}
"""Playwright's names of the browsers."""

# Playwright includes a Node that needs a library that a minimal Debian and its slim images lack (node 24).
_DRIVER_LIBRARY: Mapping[str, str] = {"apt-get": "libatomic1", "dnf": "libatomic", "zypper": "libatomic1"}
_APT_BOTH = (*_APT_INSTALL, "chromium", "chromium-headless-shell", "fonts-liberation")
# First with the existing package lists, then with updated ones, then without the shell, which older releases lack.
_APT_ATTEMPTS = ((_APT_BOTH,), ((*_APT, "update"), _APT_BOTH), ((*_APT_INSTALL, "chromium", "fonts-liberation"),))


@dataclass(frozen=True, slots=True)
class InstallReport:
    """Result of an installation, and the next step for the user."""

    installs: tuple[ChromiumInstall, ...]
    missing: tuple[Tier, ...]
    next_step: str | None
    """Command to run next, or None if nothing is missing."""
    driver_starts: bool = True
    """True if Playwright's driver, which launches the browsers, runs here."""

    @property
    def usable(self) -> bool:
        """True if pages can be visited. One Chromium is enough, because it serves both tiers."""
        return bool(self.installs) and self.driver_starts

    @property
    def lacking(self) -> str:
        """Missing parts as text, or empty."""
        names = [f"Chromium for the {tier} tier" for tier in self.missing]
        if not self.driver_starts:
            names.append("a library that Playwright's driver needs")
        return ", ".join(names)


@dataclass(frozen=True, slots=True)
class _Installer:
    """One method of installation: attempts in order. All commands of an attempt must succeed."""

    name: str
    attempts: tuple[tuple[tuple[str, ...], ...], ...]
    limit_s: float


def ensure_installed(log: Log, host: HostPlatform | None = None) -> InstallReport:
    """Install Chromium if no tier of it works, after updating an existing download; report on `log`."""
    host = host or HostPlatform()
    report = _update_and_inspect(host, tuple(Tier), log)
    return report if report.usable else install_chromium(log, host=host)


def install_chromium(
    log: Log, *, tiers: tuple[Tier, ...] = tuple(Tier), fonts: bool = False, host: HostPlatform | None = None
) -> InstallReport:
    """Install the missing tiers by each method in order. The report says what is missing and the next step."""
    host = host or HostPlatform()
    report = _update_and_inspect(host, tiers, log)
    for installer in _list_installers(host):
        if not report.missing:
            break
        log(f"Installing Chromium with {installer.name} ...")
        if not _run_attempts(installer, host, log):
            log(f"{installer.name} did not succeed.")
        report = _inspect(host, tiers)
    if not report.driver_starts:
        _install_for_driver(host, log)
        report = _inspect(host, tiers)
    if fonts:
        lacking = [package for package, file in _FONTS.items() if not (host.machine.root / file).exists()]
        if lacking and host.is_root and host.has("apt-get"):
            log("Installing fonts with apt-get ...")
            installer = _Installer("apt-get", (((*_APT_INSTALL, *lacking),),), _PACKAGES_LIMIT_S)
            if not _run_attempts(installer, host, log):
                log("Some fonts could not be installed; pages in those scripts are still read.")
    if report.lacking:
        log(f"Not installed, or does not start: {report.lacking}.")
    return report


def _inspect(host: HostPlatform, tiers: tuple[Tier, ...]) -> InstallReport:
    found = locate.find_working(dict.fromkeys(tiers), host.machine)
    missing = tuple(tier for tier in tiers if tier not in {one.tier for one in found})
    if not _driver_starts(host):
        return InstallReport(found, missing, _next_step_for_driver(host), driver_starts=False)
    return InstallReport(found, missing, _next_step(host) if missing else None)


def _update_and_inspect(host: HostPlatform, tiers: tuple[Tier, ...], log: Log) -> InstallReport:
    """Update Playwright's download, since no other step does (a second if up to date), and return the result."""
    report = _inspect(host, tiers)
    names = [_DOWNLOADS[chromium.tier] for chromium in report.installs if chromium.source == "playwright"]
    if not names or not report.driver_starts:
        return report
    installer = _Installer("Playwright", (((*host.playwright, "install", *names),),), DOWNLOAD_LIMIT_S)
    if not _run_attempts(installer, host, log):
        log("Chromium was not updated. The installed version stays in use.")
    return _inspect(host, tiers)


def _driver_starts(host: HostPlatform) -> bool:
    try:
        command = (*host.playwright, "--version")
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_DRIVER_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def _list_installers(host: HostPlatform) -> Iterator[_Installer]:
    if host.is_root and host.machine.platform.startswith("linux"):
        if host.apt_brings_chromium:
            yield _Installer("apt-get", _APT_ATTEMPTS, _PACKAGES_LIMIT_S)
        for program, command in _PACKAGE_MANAGERS.items():
            if host.has(program):
                yield _Installer(program, ((command,),), _PACKAGES_LIMIT_S)
    download = (*host.playwright, "install", *_DOWNLOADS.values())
    yield _Installer("Playwright's download", ((download,),), DOWNLOAD_LIMIT_S)


_PACKAGE_MANAGERS: Mapping[str, tuple[str, ...]] = {
    "dnf": ("dnf", "install", "-y", "chromium", "chromium-headless"),
    "apk": ("apk", "add", "chromium"),
    "pacman": ("pacman", "-S", "--noconfirm", "--needed", "chromium"),
    "zypper": ("zypper", "--non-interactive", "install", "chromium"),
}


def _install_for_driver(host: HostPlatform, log: Log) -> None:
    program = next((program for program in _DRIVER_LIBRARY if host.has(program)), None)
    if host.is_root and program is not None:
        log(f"Installing what Playwright's driver needs with {program} ...")
        install_command = _APT_INSTALL if program == "apt-get" else (program, "install", "-y")
        command = (*install_command, _DRIVER_LIBRARY[program])
        fresh = ((*_APT, "update"), command) if program == "apt-get" else (command,)
        _run_attempts(_Installer(program, ((command,), fresh), _PACKAGES_LIMIT_S), host, log)


def _run_attempts(installer: _Installer, host: HostPlatform, log: Log) -> bool:
    limit_s = installer.limit_s
    return any(all(_run(command, host, limit_s, log) for command in attempt) for attempt in installer.attempts)


def _run(command: Sequence[str], host: HostPlatform, limit_s: float, log: Log) -> bool:
    environ = {**os.environ, "PATH": host.path, "DEBIAN_FRONTEND": "noninteractive"}
    log("  " + " ".join(command))
    try:
        # Even with a quiet apt-get, dpkg prints three lines for each of 160 packages. Errors are always on stderr.
        stdout = subprocess.DEVNULL if command[0] == "apt-get" else _STDERR
        process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=stdout)
    except OSError as error:
        log(f"  {command[0]} does not start: {error.strerror}")
        return False
    try:
        return process.wait(limit_s) == 0
    except subprocess.TimeoutExpired:
        log(f"  stopped after {limit_s:.0f} s")
        return False
    finally:
        # Terminate before killing: a killed package manager leaves its database locked.
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _next_step(host: HostPlatform) -> str:
    sudo = "" if host.is_root else "sudo "
    if host.machine.platform == "darwin":
        return "brew install --cask google-chrome"
    if host.apt_brings_chromium:
        return f"{sudo}apt-get install -y chromium chromium-headless-shell"
    for program, command in _PACKAGE_MANAGERS.items():
        if host.has(program):
            return sudo + " ".join(command)
    return f"{sudo}{' '.join(host.playwright)} install --with-deps {' '.join(_DOWNLOADS.values())}"


def _next_step_for_driver(host: HostPlatform) -> str:
    sudo = "" if host.is_root else "sudo "
    for program, library in _DRIVER_LIBRARY.items():
        if host.has(program):
            return f"{sudo}{program} install -y {library}"
    # Its output names what is missing.
    return f"{' '.join(host.playwright)} --version"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the installer. Return 0 if a Chromium and the driver start, else 1 after printing the command to run."""
    parser = argparse.ArgumentParser(prog="python -m browsers.chromium.install", description=__doc__)
    parser.add_argument("--all", action="store_true", help="both tiers, and fonts for every script")
    options = parser.parse_args(arguments)
    print_error = partial(print, file=sys.stderr, flush=True)
    report = install_chromium(print_error, fonts=True) if options.all else ensure_installed(print_error)
    for chromium in report.installs:
        print_error(f"Chromium {chromium.version} ({chromium.tier}): {chromium.executable}")
    if not report.usable:
        print_error(f"Not everything could be installed. Run: {report.next_step}")
    return 0 if report.usable else 1


if __name__ == "__main__":
    sys.exit(main())
