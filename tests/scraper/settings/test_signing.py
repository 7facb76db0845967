"""Keys that sign requests: created once, rotated so that verifiers know a key before it signs, and refused."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest

from scraper.settings import Settings, SettingsError
from scraper.settings.signing import KEY_FILE, rotate_key
from tests.scraper.cli.in_process import command_output

AGENT = "https://agent.example"
ONE, TWO = (base64.b64encode(bytes([number] * 32)).decode() for number in (1, 2))


def key_ids(folder: Path, **options: str) -> list[str]:
    signer = Settings(data_dir=folder, identity="signed", signature_agent=AGENT, **options).signer()  # type: ignore[arg-type]
    assert signer is not None
    return [key.key_id for key in signer.keys]


def test_a_stealthy_server_has_no_key(tmp_path: Path) -> None:
    assert Settings(data_dir=tmp_path).signer() is None
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_created_once_for_its_owner_only(tmp_path: Path) -> None:
    assert key_ids(tmp_path) == key_ids(tmp_path)
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o077 == 0


def test_a_new_key_is_published_first_signs_later_and_replaces_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = key_ids(tmp_path)
    rotate_key(tmp_path)
    both = key_ids(tmp_path)
    assert both[0] == old
    now = time.time()
    for days, expected in ((0.1, [both[1], old]), (8, [both[1]])):
        monkeypatch.setattr("time.time", lambda days=days: now + days * 86_400)
        assert key_ids(tmp_path) == expected


def test_keys_of_the_settings_are_used_as_they_are(tmp_path: Path) -> None:
    assert key_ids(tmp_path, signing_key=f"{ONE},{TWO}") == [
        *key_ids(tmp_path, signing_key=ONE),
        *key_ids(tmp_path, signing_key=TWO),
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signature_agent": None}, "SEARCH_MCP_SIGNATURE_AGENT must be the https URL"),
        ({"signature_agent": "http://agent.example"}, "SEARCH_MCP_SIGNATURE_AGENT must be the https URL"),
        ({"signing_key": "abc"}, "SEARCH_MCP_SIGNING_KEY is not a key"),
        ({}, "cannot be used"),
    ],
)
def test_what_cannot_sign_is_an_error_that_names_it(tmp_path: Path, options: dict[str, str], message: str) -> None:
    (tmp_path / KEY_FILE).write_text("no key\n")
    values = {"signature_agent": AGENT, **options}
    with pytest.raises(SettingsError, match=message):
        Settings(data_dir=tmp_path, identity="signed", **values).signer()  # type: ignore[arg-type]


def test_the_command_prints_the_public_keys(tmp_path: Path) -> None:
    env = {"SEARCH_MCP_DATA": str(tmp_path), "SEARCH_MCP_SIGNATURE_AGENT": AGENT}
    printed = json.loads(command_output("identity", "--rotate", env=env).out)
    assert [key["kid"] for key in printed["keys"]] == key_ids(tmp_path)
    assert len(printed["keys"]) == 2
