"""Languages and their time zones."""

from __future__ import annotations

import zoneinfo

import pytest

from browsers.identity.fingerprint import (
    DEFAULT_TIMEZONE,
    REGION_TIMEZONES,
    find_timezone,
    format_posix_locale,
    list_accepted_languages,
)


def test_english_follows_every_other_language() -> None:
    assert list_accepted_languages("en-US") == ("en-US", "en")
    assert list_accepted_languages("en-GB") == ("en-GB", "en", "en-US")
    assert list_accepted_languages("de-DE") == ("de-DE", "de", "en-US", "en")
    assert list_accepted_languages("ja") == ("ja", "en-US", "en")


def test_posix_locale_always_names_its_encoding() -> None:
    assert format_posix_locale("en-US") == "en_US.UTF-8"
    assert format_posix_locale("zh-Hant-TW") == "zh_TW.UTF-8"
    assert format_posix_locale("ja") == "ja_JP.UTF-8"
    assert format_posix_locale("eo") == "eo.UTF-8"


@pytest.mark.parametrize(
    ("language", "zone"),
    [
        ("en-US", "America/New_York"),
        ("en-GB", "Europe/London"),
        ("de", "Europe/Berlin"),
        ("pt-PT", "Europe/Lisbon"),
        ("pt", "America/Sao_Paulo"),
        ("zh-Hant-TW", "Asia/Taipei"),
        ("eo", DEFAULT_TIMEZONE),
    ],
)
def test_time_zone_follows_the_region_of_the_language(language: str, zone: str) -> None:
    assert find_timezone(language) == zone


def test_every_time_zone_exists() -> None:
    known = zoneinfo.available_timezones()
    if not known:
        pytest.skip("no time zone database on this machine")
    assert set(REGION_TIMEZONES.values()) <= known
