"""Properties of a machine: its time zone from every source, and without one."""

from __future__ import annotations

from pathlib import Path

from browsers.identity.fingerprint import BrowserHost, read_timezone


def test_variable_names_the_zone_before_any_file(tmp_path: Path) -> None:
    (tmp_path / "timezone").write_text("Europe/Paris\n")
    assert read_timezone({"TZ": "Asia/Tokyo"}, tmp_path) == "Asia/Tokyo"
    assert read_timezone({"TZ": ":/usr/share/zoneinfo/Asia/Tokyo"}, tmp_path) == "Asia/Tokyo"


def test_link_of_localtime_names_the_zone(tmp_path: Path) -> None:
    for database in ("usr/share/zoneinfo", "var/db/timezone/zoneinfo", "usr/share/zoneinfo/posix"):
        etc = tmp_path / database.replace("/", "-")
        etc.mkdir()
        zone = tmp_path / database / "America" / "Lima"
        zone.parent.mkdir(parents=True)
        zone.touch()
        (etc / "localtime").symlink_to(zone)
        assert read_timezone({}, etc) == "America/Lima"


def test_debian_file_names_the_zone_where_localtime_is_a_copy(tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(b"TZif2")
    (tmp_path / "timezone").write_text("Europe/Paris\n")
    assert read_timezone({}, tmp_path) == "Europe/Paris"


def test_zone_is_unknown_where_nothing_names_it(tmp_path: Path) -> None:
    assert read_timezone({}, tmp_path) is None


def test_this_machine_has_a_system_and_a_processor() -> None:
    here = BrowserHost.here()
    assert here.system
    assert here.machine
    assert here.shared_memory_bytes >= 0
    assert "PATH" in here.environment
