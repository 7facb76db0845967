"""Who the browser says it is: one person, told alike by scripts, workers and request headers.

Everything claimed is true of the build and the machine, but for the word "Headless". Nothing is injected into
pages: a patched property is found by comparing it with a worker's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from browsers.identity.host import BrowserHost
from browsers.identity.locales import accepted_languages, zone_of
from browsers.model import Tier
from browsers.settings import BrowserSettings

VERSION = re.compile(r"(\d+)(?:\.\d+)*")

GREASE_CHARACTERS = (" ", "(", ":", "-", ".", "/", ")", ";", "=", "?", "_")
GREASE_VERSIONS = ("8", "99", "24")
ORDERS_OF_THREE = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""GREASE tables of Chromium's components/embedder_support/user_agent_utils.cc."""

FORMATS_OF_THE_BUILD = "en-US"

UTC = frozenset({"UTC", "UCT", "GMT", "Universal", "Zulu", "Greenwich", "GMT0", "GMT+0", "GMT-0"})

USER_AGENT_SYSTEM = {"Darwin": "Macintosh; Intel Mac OS X 10_15_7"}
NAVIGATOR_PLATFORM = {"Darwin": "MacIntel"}
CLIENT_HINT_PLATFORM = {"Darwin": "macOS"}
"""Chromium freezes the first two since its user agent reduction: ARM machines state them too."""


@dataclass(frozen=True, slots=True)
class Brand:
    """One entry of the brand list that replaces the user agent string."""

    name: str
    version: str

    def as_dict(self, *, full: bool) -> dict[str, str]:
        """As the protocol wants it: the major version, or the full one."""
        version = self.version if full else self.version.partition(".")[0]
        return {"brand": self.name, "version": version}


@dataclass(frozen=True, slots=True)
class Identity:
    """What one browser tells every site."""

    tier: Tier
    host: BrowserHost
    """The machine it is true of."""
    version: str
    """Of the build, in full: 156.0.8078.79."""
    brands: tuple[Brand, ...]
    user_agent: str
    platform: str
    """`navigator.platform`."""
    hint_platform: str
    """`navigator.userAgentData.platform`, Sec-CH-UA-Platform."""
    platform_version: str
    architecture: str
    bitness: str
    language: str
    timezone: str

    @classmethod
    def of(
        cls, product: str, tier: Tier, settings: BrowserSettings, host: BrowserHost | None = None
    ) -> Identity:
        """The identity of a build on a machine: on this one, unless another is given.

        `product` is what `--version` prints or `Browser.getVersion` answers ("Chromium 156.0.8078.79",
        "HeadlessChrome/156.0.8078.79").

        Raises:
            ValueError: there is no version number in `product`.
        """
        found = VERSION.search(product)
        if found is None:
            raise ValueError(f"No version number in {product!r}.")
        major = int(found[1])
        host = host or BrowserHost.here()
        system = USER_AGENT_SYSTEM.get(host.system, "X11; Linux x86_64")
        return cls(
            tier=tier,
            host=host,
            version=found[0],
            brands=_brands(major, found[0], _brand_name(product)),
            user_agent=(
                f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko)"
                f" Chrome/{major}.0.0.0 Safari/537.36"
            ),
            platform=NAVIGATOR_PLATFORM.get(host.system, "Linux x86_64"),
            hint_platform=CLIENT_HINT_PLATFORM.get(host.system, "Linux"),
            platform_version=_platform_version(host),
            architecture="arm" if host.machine.startswith(("arm", "aarch")) else "x86",
            bitness="64" if "64" in host.machine else "32",
            language=settings.language,
            timezone=_timezone(settings, host),
        )

    def accept_language(self, language: str | None = None) -> str:
        """Without q-values: Chromium adds them itself."""
        return ",".join(accepted_languages(language or self.language))

    def override(self, language: str | None = None) -> dict[str, Any]:
        """Parameters of `Emulation.setUserAgentOverride`, to be sent to each tab before it navigates.

        The switch `--user-agent` reaches every worker but blanks the detailed client hints, and the light
        tier sends no proper Accept-Language of its own: this puts both right.
        """
        return {
            "userAgent": self.user_agent,
            "acceptLanguage": self.accept_language(language),
            "platform": self.platform,
            "userAgentMetadata": self._metadata(),
        }

    def locale_override(self, language: str | None = None) -> dict[str, Any] | None:
        """Parameters of `Emulation.setLocaleOverride`; None where dates and numbers are right without.

        Builds without language packs, as distributions and Playwright ship them, format everything as en-US
        whatever `--lang` says. The override reaches workers of every kind, unlike that of the languages.
        """
        language = language or self.language
        return None if language == FORMATS_OF_THE_BUILD else {"locale": language}

    def _metadata(self) -> dict[str, Any]:
        return {
            "brands": [brand.as_dict(full=False) for brand in self.brands],
            "fullVersionList": [brand.as_dict(full=True) for brand in self.brands],
            "fullVersion": self.version,
            "platform": self.hint_platform,
            "platformVersion": self.platform_version,
            "architecture": self.architecture,
            "bitness": self.bitness,
            "model": "",
            "mobile": False,
            "wow64": False,
            "formFactors": ["Desktop"],
        }


def _brand_name(product: str) -> str | None:
    """The brand beside Chromium: that of a branded Google Chrome, none for every other build.

    Chrome for Testing claims to be plain Chromium, which it is.
    """
    branded = product.startswith("Google Chrome") and "for Testing" not in product
    return "Google Chrome" if branded else None


def _brands(major: int, version: str, name: str | None) -> tuple[Brand, ...]:
    """The brand list in Chromium's order (GenerateBrandVersionList, ShuffleBrandList), seeded by the version.

    Source: components/embedder_support/user_agent_utils.cc; checked against Chromium 156.
    """
    listed = [_grease(major), Brand("Chromium", version)]
    if name is not None:
        listed.append(Brand(name, version))
    order = ORDERS_OF_THREE[major % 6] if len(listed) == 3 else (major % 2, (major + 1) % 2)
    return tuple(brand for _, brand in sorted(zip(order, listed, strict=True), key=lambda placed: placed[0]))


def _grease(major: int) -> Brand:
    """The made-up brand that keeps servers from relying on the list (GetGreasedUserAgentBrandVersion)."""
    first, second = (GREASE_CHARACTERS[(major + step) % len(GREASE_CHARACTERS)] for step in (0, 1))
    return Brand(f"Not{first}A{second}Brand", f"{GREASE_VERSIONS[major % len(GREASE_VERSIONS)]}.0.0.0")


def _platform_version(host: BrowserHost) -> str:
    """Chromium tells the version of macOS as three numbers, and leaves it empty on Linux."""
    if host.system != "Darwin":
        return ""
    numbers = [*host.os_version.split("."), "0", "0", "0"]
    return ".".join(number or "0" for number in numbers[:3])


def _timezone(settings: BrowserSettings, host: BrowserHost) -> str:
    """The operator's, else the machine's, else one that goes with the language: UTC is what servers have."""
    if settings.timezone:
        return settings.timezone
    named = (host.timezone or "UTC").removeprefix("Etc/")
    return zone_of(settings.language) if named in UTC else host.timezone or ""
