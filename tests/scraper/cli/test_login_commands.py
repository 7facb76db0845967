"""`search-mcp login` and `profiles`: import, list, remove, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.scraper.cli.in_process import command_output

STATE = {
    "cookies": [{"name": "sid", "value": "secret-sid", "domain": ".shop.example", "path": "/", "expires": -1}],
    "origins": [{"origin": "https://shop.example", "localStorage": [{"name": "token", "value": "secret-token"}]}],
}


@pytest.fixture
def here(tmp_path: Path) -> dict[str, str]:
    """Return the variables of a folder of the test's own."""
    (tmp_path / "state.json").write_text(json.dumps(STATE))
    return {"SEARCH_MCP_DATA": str(tmp_path / "data"), "SEARCH_MCP_LOG_LEVEL": "error"}


def test_a_storage_state_is_imported_listed_and_removed(here: dict[str, str], tmp_path: Path) -> None:
    file = str(tmp_path / "state.json")
    saved = command_output("login", "shop", "--hosts", "Shop.example, www.shop.example", "--import", file, env=here)
    assert saved.code == 0, saved.err
    assert saved.out == "Profile shop is saved for shop.example: 1 cookies, 1 entries of local storage.\n"
    assert "secret" not in saved.out + saved.err
    assert command_output("profiles", env=here).out == "shop  shop.example  saved today\n"
    (row,) = json.loads(command_output("profiles", "--json", env=here).out)
    assert row["name"] == "shop" and row["hosts"] == ["shop.example"] and row["age_days"] < 1
    assert command_output("profiles", "--caller", "eve", env=here).out == ""
    assert command_output("profiles", "--remove", "shop", env=here).out == "Profile shop is removed.\n"
    assert command_output("profiles", "--remove", "shop", env=here).code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("../shop", "--hosts", "shop.example"), "is not a profile name"),
        (("shop", "--hosts", "https://shop.example/"), "is not a host"),
        (("shop", "--hosts", ","), "1 to 20 hosts"),
        (("shop", "--hosts", "other.example"), "Nothing is saved"),
    ],
)
def test_wrong_profiles_say_what_to_do(
    here: dict[str, str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    answer = command_output("login", *arguments, "--import", str(tmp_path / "state.json"), env=here)
    assert answer.code != 0 and message in answer.err


def test_a_window_needs_a_screen(here: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not os.environ.get("DISPLAY")
    monkeypatch.setattr("sys.platform", "linux")
    answer = command_output("login", "shop", "--hosts", "shop.example", env=here)
    assert answer.code == 2 and "no screen" in answer.err and "--import" in answer.err


@pytest.mark.browser
def test_a_picture_with_an_unknown_profile_is_refused(here: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.png"
    answer = command_output("see", "shop.example", "-o", str(page), "--profile", "none", env=here)
    assert answer.code != 0 and "There is no profile 'none'" in answer.err and not page.exists()
