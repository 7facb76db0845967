"""The identity of a browser: Chromium's own published values, and those of the machine."""

from __future__ import annotations

import dataclasses

import pytest

from browsers import BrowserSettings, Tier
from browsers.identity.fingerprint import BrowserHost, BrowserIdentity

LINUX = BrowserHost(timezone="Europe/Paris")
SETTINGS = BrowserSettings()


def identity(
    product: str = "Chromium 156.0.8078.79", *, settings: BrowserSettings = SETTINGS, host: BrowserHost = LINUX
) -> BrowserIdentity:
    return BrowserIdentity.of(product, Tier.LIGHT, settings, host)


def brands(product: str) -> list[tuple[str, str]]:
    return [(brand.name, brand.version.partition(".")[0]) for brand in identity(product).brands]


@pytest.mark.parametrize(
    ("product", "expected"),
    [
        # Measured: the untouched build of Debian.
        ("Chromium 156.0.8078.79", [("Not:A-Brand", "8"), ("Chromium", "156")]),
        # Chromium's own unit tests (user_agent_utils_unittest.cc).
        ("Google Chrome 84.0.0.0", [("Not;A=Brand", "8"), ("Chromium", "84"), ("Google Chrome", "84")]),
        ("Chromium 86.0.0.0", [("Not?A_Brand", "24"), ("Chromium", "86")]),
        # Seen in the wild: order and version change with the major version.
        ("Google Chrome 151.0.1.2", [("Not=A?Brand", "99"), ("Google Chrome", "151"), ("Chromium", "151")]),
        ("Chromium 155.0.1.2", [("Chromium", "155"), ("Not(A:Brand", "24")]),
    ],
)
def test_brands_are_in_the_order_of_the_major_version(product: str, expected: list[tuple[str, str]]) -> None:
    assert brands(product) == expected


@pytest.mark.parametrize(
    "product", ["HeadlessChrome/156.0.8078.79", "Google Chrome for Testing 156.0.8078.79", "156.0.8078.79"]
)
def test_no_brand_reveals_automation(product: str) -> None:
    observed = identity(product)
    assert {brand.name for brand in observed.brands} == {"Not:A-Brand", "Chromium"}
    assert "Headless" not in str(observed.override())


def test_user_agent_has_only_the_major_version() -> None:
    assert identity().user_agent == (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
    )


def test_override_has_the_full_version_and_true_hints() -> None:
    metadata = identity().override()["userAgentMetadata"]
    assert metadata == {
        "brands": [{"brand": "Not:A-Brand", "version": "8"}, {"brand": "Chromium", "version": "156"}],
        "fullVersionList": [
            {"brand": "Not:A-Brand", "version": "8.0.0.0"},
            {"brand": "Chromium", "version": "156.0.8078.79"},
        ],
        "fullVersion": "156.0.8078.79",
        "platform": "Linux",
        "platformVersion": "",
        "architecture": "x86",
        "bitness": "64",
        "model": "",
        "mobile": False,
        "wow64": False,
        "formFactors": ["Desktop"],
    }


def test_override_has_the_language_of_the_visit_without_weights() -> None:
    observed = identity()
    assert observed.override()["acceptLanguage"] == "en-US,en"
    assert observed.override("de-DE")["acceptLanguage"] == "de-DE,de,en-US,en"


def test_locale_is_overridden_except_for_the_language_of_the_build() -> None:
    assert identity().locale_override() is None
    assert identity().locale_override("de-DE") == {"locale": "de-DE"}
    german = identity(settings=BrowserSettings(language="de-DE"))
    assert german.locale_override() == {"locale": "de-DE"}
    assert german.locale_override("en-US") is None


def test_arm_is_visible_only_in_the_hints() -> None:
    observed = identity(host=dataclasses.replace(LINUX, machine="aarch64"))
    assert observed.user_agent == identity().user_agent
    assert observed.override()["platform"] == "Linux x86_64"
    metadata = observed.override()["userAgentMetadata"]
    assert (metadata["architecture"], metadata["bitness"]) == ("arm", "64")


def test_macos_version_has_three_numbers() -> None:
    observed = identity(host=BrowserHost(system="Darwin", machine="arm64", os_version="15.2", timezone="Asia/Tokyo"))
    assert "Macintosh; Intel Mac OS X 10_15_7" in observed.user_agent
    assert observed.override()["platform"] == "MacIntel"
    metadata = observed.override()["userAgentMetadata"]
    assert metadata["platform"] == "macOS"
    assert metadata["platformVersion"] == "15.2.0"
    assert metadata["architecture"] == "arm"


@pytest.mark.parametrize("zone", [None, "UTC", "Etc/UTC", "Etc/Universal", "GMT"])
def test_utc_is_replaced_by_the_time_zone_of_the_language(zone: str | None) -> None:
    host = dataclasses.replace(LINUX, timezone=zone)
    assert identity(host=host).timezone == "America/New_York"
    german = BrowserSettings(language="de-DE")
    assert identity(settings=german, host=host).timezone == "Europe/Berlin"


def test_configured_time_zone_takes_precedence_over_the_machine() -> None:
    assert identity().timezone == "Europe/Paris"
    assert identity(settings=BrowserSettings(timezone="UTC")).timezone == "UTC"


def test_product_without_a_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="No version number in 'Chromium'"):
        identity("Chromium")
