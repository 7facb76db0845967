"""Login profiles: encrypted for one caller, name and list of hosts."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browsers.login_state import LoginState, LoginStateError
from scraper.store.login_profiles import KEY_FILE, LoginProfiles, ProfileKeyError, ProfileNotReadableError
from scraper.store.record_logs import RecordLogs
from scraper.store.sqlite.record_logs import open_record_logs

HOSTS = ("shop.example",)
STATE = LoginState(
    ({"name": "sid", "value": "secret-sid", "domain": "shop.example", "path": "/", "httpOnly": True},),
    {"https://shop.example": {"token": "secret-token"}},
)


@pytest.fixture
async def records(tmp_path: Path) -> AsyncIterator[RecordLogs]:
    logs = open_record_logs(tmp_path)
    yield logs
    await logs.close()


async def test_a_profile_is_read_back_by_its_caller_only(records: RecordLogs, tmp_path: Path) -> None:
    profiles = LoginProfiles(records, tmp_path, None)
    await profiles.save("ann", "shop", HOSTS, LoginState())
    await profiles.save("ann", "shop", HOSTS, STATE)
    # Another process with the same key.
    again = LoginProfiles(records, tmp_path, None)
    found = await again.load("ann", "shop")
    assert found is not None and found.state == STATE and found.info.hosts == HOSTS
    assert await again.load("eve", "shop") is None and await again.load("ann", "other") is None
    assert [info.name for info in await again.list_all("ann")] == ["shop"] and await again.list_all("eve") == []
    assert await again.remove("ann", "shop") and not await again.remove("ann", "shop")
    assert await again.load("ann", "shop") is None


async def test_nothing_of_it_is_in_plain_text(records: RecordLogs, tmp_path: Path) -> None:
    profiles = LoginProfiles(records, tmp_path, None)
    await profiles.save("ann", "shop", HOSTS, STATE)
    found = await profiles.load("ann", "shop")
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"secret" not in stored and b"c2VjcmV0" not in stored
    assert "secret" not in repr(found)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["caller", "name", "hosts", "time", "key"])
async def test_a_copied_or_changed_row_cannot_be_decrypted(records: RecordLogs, tmp_path: Path, change: str) -> None:
    await LoginProfiles(records, tmp_path, None).save("ann", "shop", HOSTS, STATE)
    (row,) = await records.read("ann", "login/shop")
    raw = json.loads(row.data)
    if change == "hosts":
        raw["hosts"] = ["evil.example"]
    if change == "time":
        raw["saved_at"] += 1
    caller, name = "eve" if change == "caller" else "ann", "copy" if change == "name" else "shop"
    await records.append(caller, f"login/{name}", row.number + 1, json.dumps(raw).encode())
    key = base64.b64encode(os.urandom(32)).decode() if change == "key" else None
    with pytest.raises(ProfileNotReadableError):
        await LoginProfiles(records, tmp_path, key).load(caller, name)


async def test_a_wrong_key_is_reported_without_it(records: RecordLogs, tmp_path: Path) -> None:
    with pytest.raises(ProfileKeyError, match="SEARCH_MCP_PROFILE_KEY is not a key") as caught:
        await LoginProfiles(records, tmp_path, "c2hvcnQ=").save("ann", "shop", HOSTS, STATE)
    assert "c2hvcnQ" not in str(caught.value)


def test_only_cookies_and_storage_of_the_hosts_are_taken() -> None:
    domains = ("shop.example", ".cdn.shop.example", ".example", "login.example", "notshop.example")
    raw = {
        "cookies": [
            {"name": str(number), "value": "v", "domain": one, "path": "/"} for number, one in enumerate(domains)
        ],
        "origins": [
            {"origin": f"https://{host}", "localStorage": [{"name": "n", "value": "v"}]}
            for host in ("www.shop.example", "login.example")
        ],
    }
    state = LoginState.parse(json.dumps(raw), HOSTS)
    # The cookie of the domain above is narrowed to the host.
    assert [cookie["domain"] for cookie in state.cookies] == ["shop.example", ".cdn.shop.example", ".shop.example"]
    assert list(state.storage) == ["https://www.shop.example"]
    assert LoginState.parse(state.dump(), HOSTS) == state


@pytest.mark.parametrize("text", ["", "[]", '{"cookies": [{}]}', '{"origins": [{"origin": 1}]}', "x" * 1_000_001])
def test_other_files_are_no_storage_state(text: str) -> None:
    with pytest.raises(LoginStateError):
        LoginState.parse(text, HOSTS)
