"""The keys that sign requests are published without a token, and only by servers that sign."""

from __future__ import annotations

import json
from pathlib import Path

from starlette.requests import Request

from browsers.request_signing import DIRECTORY_PATH, DIRECTORY_TYPE
from scraper.server.access import make_access_rules, make_resource_server
from scraper.server.application import key_directory
from scraper.settings import Settings
from scraper.settings.signing import rotate_key


async def test_the_directory_has_the_current_keys_with_proofs(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, identity="signed", signature_agent="https://agent.example", token="t" * 32)
    (route,) = key_directory(settings)
    assert route.path in make_access_rules(settings, make_resource_server(settings)).open_paths
    for count in (1, 2):
        answer = await route.endpoint(Request({"type": "http"}))
        signer = settings.signer()
        assert signer is not None
        assert [key["kid"] for key in json.loads(answer.body)["keys"]] == [key.key_id for key in signer.keys]
        assert answer.headers["content-type"] == DIRECTORY_TYPE
        assert answer.headers["signature"].count("binding") == count
        rotate_key(tmp_path)


def test_other_servers_have_no_directory(tmp_path: Path) -> None:
    assert DIRECTORY_PATH not in [route.path for route in key_directory(Settings(data_dir=tmp_path))]


def test_a_key_does_not_show(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, identity="signed", signature_agent="https://agent.example")
    signer = settings.browser_settings().signer
    assert signer is not None
    assert repr(signer.keys[0].seed) not in repr(settings.browser_settings())
