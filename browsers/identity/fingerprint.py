"""Identity that a browser shows consistently to scripts, workers and in request headers.

Version, platform and architecture are true of the build and the machine. The word "Headless" is removed, and settings
and one script (`scripts/desktop.js`) give the light tier the objects of a desktop build, which no worker has. The
screen is that of a usual desktop, and a machine in UTC gets the time zone of its language. No native property is
replaced: pages can detect that by comparing it with a worker's.
"""

import functools
import json
import os
import platform
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Self

from browsers.cdp.session import Event
from browsers.model import Tier
from browsers.settings import BrowserSettings

_ENGLISH = ("en-US", "en")
"""Languages that every browser accepts last."""

DEFAULT_TIMEZONE = "America/New_York"
"""Time zone of a language or region that is not in the tables."""

_REGIONS: dict[str, dict[str, str]] = json.loads(
    files(__package__).joinpath("regions.json").read_text(encoding="utf-8")
)
REGION_TIMEZONES = _REGIONS["timezones"]
"""Time zone in which most people of a region live."""
_LANGUAGE_REGIONS = _REGIONS["languages"]
"""Region of most readers of a language, for tags without a region."""


@functools.lru_cache(maxsize=100)
def list_accepted_languages(language: str) -> tuple[str, ...]:
    """Return the values of `navigator.languages`: de-DE gives de-DE, de, en-US, en."""
    base, _, _ = language.partition("-")
    return tuple(dict.fromkeys((language, base, *_ENGLISH)))


def format_posix_locale(language: str) -> str:
    """Return the value of the variable LANG: en-US gives en_US.UTF-8."""
    base, region = _split_tag(language)
    return f"{base}_{region}.UTF-8" if region else f"{base}.UTF-8"


def find_timezone(language: str) -> str:
    """Return the time zone of the tag's region or of its language's usual region, or New York if unknown."""
    _, region = _split_tag(language)
    return REGION_TIMEZONES.get(region, DEFAULT_TIMEZONE)


def _split_tag(language: str) -> tuple[str, str]:
    """Return base language and region of a tag. The script is dropped, and a missing region is added."""
    base, *others = language.split("-")
    regions = (part.upper() for part in others if len(part) == 2)
    return base.lower(), next(regions, _LANGUAGE_REGIONS.get(base.lower(), ""))


_ZONEINFO = "zoneinfo/"


@dataclass(frozen=True, slots=True)
class BrowserHost:
    """Properties of a machine that a browser on it shows. Read once and passed as an argument."""

    system: str = "Linux"
    """Value of `platform.system()`: Linux, Darwin."""
    machine: str = "x86_64"
    """Value of `platform.machine()`: x86_64, aarch64, arm64."""
    os_version: str = ""
    """Version of macOS. Browsers show it for no other system."""
    timezone: str | None = None
    """IANA name, or None if unknown."""
    shared_memory_bytes: int = 0
    """Free bytes of /dev/shm, or 0 if it does not exist or is not writable."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls) -> Self:
        """Return the properties of this machine."""
        return cls(
            system=platform.system(),
            machine=platform.machine(),
            os_version=platform.mac_ver()[0],
            timezone=read_timezone(os.environ, Path("/etc")),
            shared_memory_bytes=_free_bytes("/dev/shm"),
            environment=dict(os.environ),
        )


def read_timezone(environment: Mapping[str, str], etc: Path) -> str | None:
    """Return the name of the time zone from TZ, the link of /etc/localtime or Debian's /etc/timezone."""
    named = environment.get("TZ", "").removeprefix(":")
    if named:
        return named.partition(_ZONEINFO)[2] or named
    link = os.path.realpath(etc / "localtime")
    if _ZONEINFO in link:
        return link.partition(_ZONEINFO)[2].removeprefix("posix/")
    try:
        return (etc / "timezone").read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _free_bytes(folder: str) -> int:
    try:
        return shutil.disk_usage(folder).free if os.access(folder, os.W_OK) else 0
    except OSError:
        return 0


SCREEN_WIDTH, SCREEN_HEIGHT, TASKBAR_HEIGHT = 1920, 1080, 40
"""Pixels of the screen and of its taskbar, on every machine."""

LIGHT_WIDTH, LIGHT_HEIGHT = 1280, 900
"""CSS pixels of the light tier's window: 7-12 % cheaper for a JavaScript page than one that fills the screen."""

PAINT_SCALE = 0.1
"""Paint scale of the light tier. The page's own sizes, observers and frames do not change: only its image is a
hundredth as large, which saves a tenth of the CPU of a JavaScript page."""


def light_viewport() -> Event:
    """Return the metrics of the light tier's window, painted small; a size of 0 would be divided by the scale."""
    size = {"width": LIGHT_WIDTH, "height": LIGHT_HEIGHT, "screenWidth": SCREEN_WIDTH, "screenHeight": SCREEN_HEIGHT}
    return {**size, "deviceScaleFactor": 0, "mobile": False, "scale": PAINT_SCALE}


NETWORK_STATE: Event = {"offline": False, "latency": 50, "downloadThroughput": 1_250_000, "uploadThroughput": 1_250_000}
"""Milliseconds and bytes per second for the light tier, whose `navigator.connection.rtt` is 0 otherwise."""

NO_NOTIFICATIONS: Event = {"permission": {"name": "notifications"}, "setting": "denied"}
"""`Browser.setPermission` for the light tier, which otherwise denies notifications and says that it would ask."""


def tall_viewport(height: int) -> Event:
    """Return a window as tall as its page, painted in full: after painting small, one in 60 stopped painting."""
    return {"width": 0, "height": height, "deviceScaleFactor": 0, "mobile": False}


_VERSION = re.compile(r"(\d+)(?:\.\d+)*")

_GREASE_CHARACTERS = (" ", "(", ":", "-", ".", "/", ")", ";", "=", "?", "_")
_GREASE_VERSIONS = ("8", "99", "24")
_ORDERS_OF_THREE = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""GREASE tables of Chromium's components/embedder_support/user_agent_utils.cc."""

_FORMATS_OF_THE_BUILD = "en-US"
"""Locale of dates and numbers in builds without language packs."""

UTC = frozenset({"UTC", "UCT", "GMT", "Universal", "Zulu", "Greenwich", "GMT0", "GMT+0", "GMT-0"})


class Brand(NamedTuple):
    """An entry of the brand list that replaces the user agent string."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class BrowserIdentity:
    """Identity that one browser shows to every site: user agent, languages, time zone and screen."""

    tier: Tier
    host: BrowserHost
    """Machine that it describes."""
    version: str
    """Full version of the build: 156.0.8078.79."""
    brands: tuple[Brand, ...]
    user_agent: str
    language: str
    timezone: str

    @classmethod
    def of(cls, product: str, tier: Tier, settings: BrowserSettings, host: BrowserHost | None = None) -> Self:
        """Return the identity of a browser build on a machine, by default this one.

        `product` is what `--version` prints or `Browser.getVersion` answers ("Chromium 156.0.8078.79",
        "HeadlessChrome/156.0.8078.79"). Raises ValueError if `product` contains no version number.
        """
        found = _VERSION.search(product)
        if found is None:
            raise ValueError(f"No version number in {product!r}.")
        major = int(found[1])
        host = host or BrowserHost.here()
        # Chromium freezes it since its user agent reduction: ARM machines state it too.
        system = "Macintosh; Intel Mac OS X 10_15_7" if host.system == "Darwin" else "X11; Linux x86_64"
        return cls(
            tier=tier,
            host=host,
            version=found[0],
            brands=_brands(major, found[0], product),
            user_agent=(
                f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
                + (f" search-mcp (+{settings.signer.agent})" if settings.signer is not None else "")
            ),
            language=settings.language,
            timezone=_timezone(settings, host),
        )

    def accept_language(self, language: str | None = None) -> str:
        """Return the Accept-Language value without q-values: Chromium adds them itself."""
        return ",".join(list_accepted_languages(language or self.language))

    def override(self, language: str | None = None) -> dict[str, Any]:
        """Return parameters of `Emulation.setUserAgentOverride` for each tab before it navigates.

        The switch `--user-agent` reaches every worker but removes the detailed client hints, and the light tier sends
        no correct Accept-Language by itself. This override corrects both.
        """
        is_mac, machine = self.host.system == "Darwin", self.host.machine
        numbers = (number or "0" for number in [*self.host.os_version.split("."), "0", "0"][:3])
        return {
            "userAgent": self.user_agent,
            "acceptLanguage": self.accept_language(language),
            # Frozen as the user agent.
            "platform": "MacIntel" if is_mac else "Linux x86_64",
            "userAgentMetadata": {
                "brands": [{"brand": name, "version": version.partition(".")[0]} for name, version in self.brands],
                "fullVersionList": [{"brand": name, "version": version} for name, version in self.brands],
                "fullVersion": self.version,
                "platform": "macOS" if is_mac else "Linux",
                "platformVersion": ".".join(numbers) if is_mac else "",
                "architecture": "arm" if machine.startswith(("arm", "aarch")) else "x86",
                "bitness": "64" if "64" in machine else "32",
                "model": "",
                "mobile": False,
                "wow64": False,
                "formFactors": ["Desktop"],
            },
        }

    def locale_override(self, language: str | None = None) -> dict[str, Any] | None:
        """Return parameters of `Emulation.setLocaleOverride`, or None if the formats are already correct.

        Builds without language packs, as distributions and Playwright ship them, format everything as en-US regardless
        of `--lang`. Unlike the languages, this override reaches workers of every kind.
        """
        language = language or self.language
        return None if language == _FORMATS_OF_THE_BUILD else {"locale": language}


def _brands(major: int, version: str, product: str) -> tuple[Brand, ...]:
    """Return the brand list in Chromium's order, seeded by the version.

    Source: GenerateBrandVersionList and ShuffleBrandList in components/embedder_support/user_agent_utils.cc; checked
    against Chromium 156.
    """
    # The made-up brand varies the list (Chromium's GetGreasedUserAgentBrandVersion).
    first, second = (_GREASE_CHARACTERS[(major + step) % len(_GREASE_CHARACTERS)] for step in (0, 1))
    listed = [
        Brand(f"Not{first}A{second}Brand", f"{_GREASE_VERSIONS[major % len(_GREASE_VERSIONS)]}.0.0.0"),
        Brand("Chromium", version),
    ]
    # Chrome for Testing shows the brand of Chromium.
    if product.startswith("Google Chrome") and "for Testing" not in product:
        listed.append(Brand("Google Chrome", version))
    order = _ORDERS_OF_THREE[major % 6] if len(listed) == 3 else (major % 2, (major + 1) % 2)
    return tuple(brand for _, brand in sorted(zip(order, listed, strict=True), key=lambda pair: pair[0]))


def _timezone(settings: BrowserSettings, host: BrowserHost) -> str:
    """Return the configured time zone, else the machine's, or that of the language if the machine's is UTC."""
    if settings.timezone:
        return settings.timezone
    named = (host.timezone or "UTC").removeprefix("Etc/")
    return find_timezone(settings.language) if named in UTC else host.timezone or ""
