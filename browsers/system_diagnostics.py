"""Find the installed browsers and fonts of this machine, and check its settings, for setup and diagnosis.

Only `install_chromium` changes the machine. The other functions start no program except browsers with `--version` and
fontconfig.
"""

import shutil
import subprocess

from browsers.chromium import locate
from browsers.chromium.install import InstallReport, install_chromium
from browsers.chromium.locate import ALLOW_SOCKETS, are_sockets_forbidden
from browsers.egress.dns_resolver import is_fake_dns_suspected
from browsers.egress.proxy_server import parse_proxy
from browsers.model import Tier
from browsers.settings import BrowserSettings

__all__ = [
    "ALLOW_SOCKETS",
    "FAKE_DNS_NETWORK",
    "InstallReport",
    "are_sockets_forbidden",
    "find_fonts",
    "find_installed_browsers",
    "find_unusable_paths",
    "install_chromium",
    "is_fake_dns_suspected",
    "parse_proxy_address",
]

FAKE_DNS_NETWORK = "198.18.0.0/15"
"""Network from which some tunnels answer every name (see `is_fake_dns_suspected`)."""

_FONT_LIMIT_S = 20.0
"""Seconds. fontconfig builds its cache at the first query, which takes seconds on a slow disk."""
_FONTS = {"Chinese": "zh", "Japanese": "ja", "Korean": "ko", "emoji": "und-zsye"}


def find_installed_browsers(settings: BrowserSettings) -> tuple[locate.ChromiumInstall, ...]:
    """Return the Chromium of each tier that is installed and starts far enough to print its version."""
    return locate.find_working(_list_paths(settings))


def find_unusable_paths(settings: BrowserSettings, *, start: bool = False) -> dict[Tier, str]:
    """Return configured paths without an executable by tier; with `start`, also programs that print no version."""
    paths = {tier: path for tier, path in _list_paths(settings).items() if path is not None}
    located = (locate.find_chromium(tier, path) for tier, path in paths.items())
    usable = {one.tier for one in (locate.find_working(paths) if start else located) if one is not None}
    return {tier: path for tier, path in paths.items() if tier not in usable}


def parse_proxy_address(url: str) -> tuple[str, int]:
    """Return host and port of a proxy URL. Raises ValueError, without the password, if it is invalid."""
    proxy = parse_proxy(url)
    return proxy.host, proxy.port


def find_fonts() -> dict[str, bool] | None:
    """Return True or False by script beyond Latin if it has a font; None if the system cannot list its fonts."""
    lister = shutil.which("fc-list")
    if lister is None:
        return None
    try:
        return {script: _has_font(lister, language) for script, language in _FONTS.items()}
    except (OSError, subprocess.SubprocessError):
        return None


def _list_paths(settings: BrowserSettings) -> dict[Tier, str | None]:
    return {Tier.LIGHT: settings.light_executable, Tier.FULL: settings.full_executable}


def _has_font(lister: str, language: str) -> bool:
    command, nothing = [lister, f":lang={language}", "family"], subprocess.DEVNULL
    listing = subprocess.run(command, stdin=nothing, capture_output=True, timeout=_FONT_LIMIT_S, check=True)
    return bool(listing.stdout.strip())
