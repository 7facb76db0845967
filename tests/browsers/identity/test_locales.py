"""Languages and the zones that go with them."""

from __future__ import annotations

import zoneinfo

import pytest

from browsers.identity.locales import DEFAULT_ZONE, ZONE_OF_REGION, accepted_languages, posix_locale, zone_of


def test_english_follows_every_other_language() -> None:
    assert accepted_languages("en-US") == ("en-US", "en")
    assert accepted_languages("en-GB") == ("en-GB", "en", "en-US")
    assert accepted_languages("de-DE") == ("de-DE", "de", "en-US", "en")
    assert accepted_languages("ja") == ("ja", "en-US", "en")


def test_posix_locale_always_names_its_encoding() -> None:
    assert posix_locale("en-US") == "en_US.UTF-8"
    assert posix_locale("zh-Hant-TW") == "zh_TW.UTF-8"
    assert posix_locale("ja") == "ja_JP.UTF-8"
    assert posix_locale("eo") == "eo.UTF-8"


@pytest.mark.parametrize(
    ("language", "zone"),
    [
        ("en-US", "America/New_York"),
        ("en-GB", "Europe/London"),
        ("de", "Europe/Berlin"),
        ("pt-PT", "Europe/Lisbon"),
        ("pt", "America/Sao_Paulo"),
        ("zh-Hant-TW", "Asia/Taipei"),
        ("eo", DEFAULT_ZONE),
    ],
)
def test_zone_goes_with_the_region_of_the_language(language: str, zone: str) -> None:
    assert zone_of(language) == zone


def test_every_zone_exists() -> None:
    known = zoneinfo.available_timezones()
    if not known:
        pytest.skip("no time zone database on this machine")
    assert set(ZONE_OF_REGION.values()) <= known
