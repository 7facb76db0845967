"""The right binary is found on every kind of machine, and its version is read once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from browsers.chromium import locate
from browsers.chromium.locate import UNKNOWN_VERSION, ChromiumInstall, find_chromium, read_product, read_version
from browsers.model import Tier
from tests.browsers.chromium.machines import DEBIAN_FULL, DEBIAN_LIGHT, machine, playwright_revision, program

LINUX_SHELL = "chrome-headless-shell-linux64/chrome-headless-shell"
CHROME_APP = "Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def test_nothing_is_found_on_an_empty_machine(tmp_path: Path) -> None:
    assert [find_chromium(tier, None, machine(tmp_path)) for tier in Tier] == [None, None]


@pytest.mark.parametrize(
    ("tier", "path"),
    [
        (Tier.LIGHT, DEBIAN_LIGHT),
        (Tier.LIGHT, "usr/lib64/chromium-browser/headless_shell"),
        (Tier.FULL, DEBIAN_FULL),
        (Tier.FULL, "usr/lib64/chromium-browser/chromium-browser"),
        (Tier.FULL, "usr/lib64/chromium/chromium"),
        (Tier.FULL, "opt/google/chrome/chrome"),
    ],
)
def test_distribution_package_is_found(tmp_path: Path, tier: Tier, path: str) -> None:
    binary = program(tmp_path / path)
    assert find_chromium(tier, None, machine(tmp_path)) == ChromiumInstall(str(binary), tier, "system")
    other = Tier.FULL if tier is Tier.LIGHT else Tier.LIGHT
    assert find_chromium(other, None, machine(tmp_path)) is None


@pytest.mark.parametrize("wrapper", ["chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"])
def test_wrapper_script_in_usr_bin_is_ignored(tmp_path: Path, wrapper: str) -> None:
    program(tmp_path / "usr/bin" / wrapper)
    assert [find_chromium(tier, None, machine(tmp_path)) for tier in Tier] == [None, None]


def test_file_without_execute_permission_is_ignored(tmp_path: Path) -> None:
    program(tmp_path / DEBIAN_FULL).chmod(0o644)
    assert find_chromium(Tier.FULL, None, machine(tmp_path)) is None


@pytest.mark.parametrize("below", ["", "home"])
def test_chrome_on_a_mac_is_the_full_tier(tmp_path: Path, below: str) -> None:
    binary = program(tmp_path / below / CHROME_APP)
    mac = machine(tmp_path, platform="darwin")
    assert find_chromium(Tier.FULL, None, mac) == ChromiumInstall(str(binary), Tier.FULL, "system")
    assert find_chromium(Tier.LIGHT, None, mac) is None


def test_only_a_configured_path_is_checked(tmp_path: Path) -> None:
    program(tmp_path / DEBIAN_LIGHT)
    mine = program(tmp_path / "opt/mine/shell")
    made = machine(tmp_path)
    assert find_chromium(Tier.LIGHT, str(mine), made) == ChromiumInstall(str(mine), Tier.LIGHT, "setting")
    assert find_chromium(Tier.LIGHT, str(tmp_path / "opt/mine/misspelt"), made) is None


@pytest.mark.parametrize(
    ("platform", "cache", "tier", "folder", "binary"),
    [
        ("linux", "home/.cache", Tier.LIGHT, "chromium_headless_shell-1255", LINUX_SHELL),
        ("linux", "home/.cache", Tier.LIGHT, "chromium_headless_shell-1155", "chrome-linux/headless_shell"),
        ("linux", "home/.cache", Tier.FULL, "chromium-1255", "chrome-linux64/chrome"),
        ("linux", "home/.cache", Tier.FULL, "chromium-1155", "chrome-linux/chrome"),
        (
            "darwin",
            "home/Library/Caches",
            Tier.FULL,
            "chromium-1255",
            "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
        ),
        (
            "darwin",
            "home/Library/Caches",
            Tier.LIGHT,
            "chromium_headless_shell-1255",
            "chrome-headless-shell-mac-arm64/chrome-headless-shell",
        ),
    ],
)
def test_playwright_download_is_found(
    tmp_path: Path, platform: str, cache: str, tier: Tier, folder: str, binary: str
) -> None:
    path = playwright_revision(tmp_path / cache / "ms-playwright", folder, binary)
    assert find_chromium(tier, None, machine(tmp_path, platform=platform)) == ChromiumInstall(
        str(path), tier, "playwright"
    )


def test_newest_revision_is_chosen_by_number(tmp_path: Path) -> None:
    folder = tmp_path / "home/.cache/ms-playwright"
    playwright_revision(folder, "chromium_headless_shell-999", LINUX_SHELL)
    newest = playwright_revision(folder, "chromium_headless_shell-1255", LINUX_SHELL)
    found = find_chromium(Tier.LIGHT, None, machine(tmp_path))
    assert found is not None and found.executable == str(newest)


def test_incomplete_download_is_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "home/.cache/ms-playwright"
    playwright_revision(folder, "chromium_headless_shell-1255", LINUX_SHELL, complete=False)
    assert find_chromium(Tier.LIGHT, None, machine(tmp_path)) is None
    older = playwright_revision(folder, "chromium_headless_shell-1200", LINUX_SHELL)
    found = find_chromium(Tier.LIGHT, None, machine(tmp_path))
    assert found is not None and found.executable == str(older)


def test_system_package_takes_precedence_over_playwright_download(tmp_path: Path) -> None:
    playwright_revision(tmp_path / "home/.cache/ms-playwright", "chromium-1255", "chrome-linux64/chrome")
    program(tmp_path / DEBIAN_FULL)
    found = find_chromium(Tier.FULL, None, machine(tmp_path))
    assert found is not None and found.source == "system"


@pytest.mark.parametrize("variable", ["PLAYWRIGHT_BROWSERS_PATH", "XDG_CACHE_HOME"])
def test_playwright_folder_is_configurable(tmp_path: Path, variable: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    folder = elsewhere / "ms-playwright" if variable == "XDG_CACHE_HOME" else elsewhere
    path = playwright_revision(folder, "chromium-1255", "chrome-linux64/chrome")
    found = find_chromium(Tier.FULL, None, machine(tmp_path, **{variable: str(elsewhere)}))
    assert found is not None and found.executable == str(path)


def test_browsers_inside_the_playwright_package_are_found(tmp_path: Path) -> None:
    folder = machine(tmp_path, PLAYWRIGHT_BROWSERS_PATH="0").playwright
    assert folder is not None and folder.name == ".local-browsers"
    assert (folder.parent / "browsers.json").is_file()


def test_version_is_queried_once_for_each_file(tmp_path: Path) -> None:
    queries = tmp_path / "queries"
    binary = program(tmp_path / DEBIAN_LIGHT, f"echo x >> {queries}; echo Chromium 156.0.8078.79 built on Debian")
    made = machine(tmp_path)
    chromium = ChromiumInstall(str(binary), Tier.LIGHT, "system")
    assert [read_version(chromium, made) for _ in range(3)] == ["156.0.8078.79"] * 3
    assert queries.read_text() == "x\n"


def test_version_of_an_updated_browser_is_queried_again(tmp_path: Path) -> None:
    made = machine(tmp_path)
    binary = program(tmp_path / DEBIAN_LIGHT)
    chromium = ChromiumInstall(str(binary), Tier.LIGHT, "system")
    assert read_version(chromium, made) == "156.0.8078.79"
    program(binary, "echo Chromium 157.0.9000.12 and more")
    assert read_version(chromium, made) == "157.0.9000.12"
    notes = made.cache / "search-mcp" / "chromium-products.json"
    assert "156.0.8078.79" not in notes.read_text()


def test_two_browsers_have_separate_cached_versions(tmp_path: Path) -> None:
    made = machine(tmp_path)
    light = ChromiumInstall(str(program(tmp_path / DEBIAN_LIGHT)), Tier.LIGHT, "system")
    full = ChromiumInstall(
        str(program(tmp_path / DEBIAN_FULL, "echo Google Chrome 157.0.9000.12")), Tier.FULL, "system"
    )
    assert [read_version(light, made), read_version(full, made)] == ["156.0.8078.79", "157.0.9000.12"]
    notes = (made.cache / "search-mcp" / "chromium-products.json").read_text()
    assert "156.0.8078.79" in notes and "157.0.9000.12" in notes


def test_product_name_is_that_of_the_browser(tmp_path: Path) -> None:
    made = machine(tmp_path)
    binary = program(tmp_path / DEBIAN_FULL, "echo Google Chrome 157.0.9000.12 unknown channel")
    chrome = ChromiumInstall(str(binary), Tier.FULL, "setting")
    assert [read_product(chrome, made) for _ in range(2)] == ["Google Chrome 157.0.9000.12"] * 2


@pytest.mark.parametrize(
    "script", ["exit 127", "echo no number here", "kill -9 $$", "head -c 400000 /dev/zero | tr '\\0' 7; echo .1.2.3"]
)
def test_browser_without_version_output_has_an_unknown_version(tmp_path: Path, script: str) -> None:
    made = machine(tmp_path)
    broken = ChromiumInstall(str(program(tmp_path / DEBIAN_LIGHT, script)), Tier.LIGHT, "system")
    assert read_version(broken, made) == UNKNOWN_VERSION
    assert not (made.cache / "search-mcp").exists()


def test_missing_browser_has_an_unknown_version(tmp_path: Path) -> None:
    gone = ChromiumInstall(str(tmp_path / "gone"), Tier.LIGHT, "system")
    assert read_version(gone, machine(tmp_path)) == UNKNOWN_VERSION


def test_version_query_of_a_hanging_browser_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "VERSION_LIMIT_S", 0.2)
    stuck = ChromiumInstall(str(program(tmp_path / DEBIAN_LIGHT, "exec sleep 600")), Tier.LIGHT, "system")
    started = time.monotonic()
    assert read_version(stuck, machine(tmp_path)) == UNKNOWN_VERSION
    assert time.monotonic() - started < 300


@pytest.mark.parametrize("spoiled", ["", "[]", '{"a": 1', '{"a": 1}', "\x00"])
def test_invalid_version_cache_is_replaced(tmp_path: Path, spoiled: str) -> None:
    made = machine(tmp_path)
    notes = made.cache / "search-mcp" / "chromium-products.json"
    notes.parent.mkdir(parents=True)
    notes.write_text(spoiled)
    chromium = ChromiumInstall(str(program(tmp_path / DEBIAN_LIGHT)), Tier.LIGHT, "system")
    assert read_version(chromium, made) == "156.0.8078.79"
    assert "156.0.8078.79" in notes.read_text()


def test_version_is_queried_again_if_the_cache_is_not_writable(tmp_path: Path) -> None:
    made = machine(tmp_path)
    made.cache.write_text("a file where the folder should be")
    chromium = ChromiumInstall(str(program(tmp_path / DEBIAN_LIGHT)), Tier.LIGHT, "system")
    assert [read_version(chromium, made) for _ in range(2)] == ["156.0.8078.79"] * 2


@pytest.mark.browser
@pytest.mark.parametrize("tier", list(Tier))
def test_installed_browser_has_a_version(tier: Tier, tmp_path: Path) -> None:
    found = find_chromium(tier, None)
    if found is None:
        pytest.skip(f"this machine has no Chromium of the {tier} tier")
    assert os.access(found.executable, os.X_OK)
    assert read_version(found, machine(tmp_path)).count(".") == 3
