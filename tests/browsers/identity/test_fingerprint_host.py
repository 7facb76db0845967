"""Properties of a machine: its time zone from every source, and without one."""

from __future__ import annotations

from pathlib import Path

from browsers.identity.fingerprint import BrowserHost, read_timezone


def test_tz_variable_takes_precedence_over_files(tmp_path: Path) -> None:
    (tmp_path / "timezone").write_text("Europe/Paris\n")
    assert read_timezone({"TZ": "Asia/Tokyo"}, tmp_path) == "Asia/Tokyo"
    assert read_timezone({"TZ": ":/usr/share/zoneinfo/Asia/Tokyo"}, tmp_path) == "Asia/Tokyo"


def test_localtime_link_gives_the_time_zone(tmp_path: Path) -> None:
    for database in ("usr/share/zoneinfo", "var/db/timezone/zoneinfo", "usr/share/zoneinfo/posix"):
        etc = tmp_path / database.replace("/", "-")
        etc.mkdir()
        zone = tmp_path / database / "America" / "Lima"
        zone.parent.mkdir(parents=True)
        zone.touch()
        (etc / "localtime").symlink_to(zone)
        assert read_timezone({}, etc) == "America/Lima"


def test_etc_timezone_is_used_if_localtime_is_a_copy(tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(b"TZif2")
    (tmp_path / "timezone").write_text("Europe/Paris\n")
    assert read_timezone({}, tmp_path) == "Europe/Paris"


def test_time_zone_is_unknown_without_a_source(tmp_path: Path) -> None:
    assert read_timezone({}, tmp_path) is None


def test_this_machine_has_a_system_and_a_processor() -> None:
    here = BrowserHost.here()
    assert here.system
    assert here.machine
    assert here.shared_memory_bytes >= 0
    assert "PATH" in here.environment
