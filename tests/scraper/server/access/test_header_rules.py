"""Who may talk to the server: its rules."""

from __future__ import annotations

import hmac
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scraper.server.access import AccessKey, AccessRules, ServerStartError, is_loopback, make_access_rules, read_keys
from scraper.settings import Settings
from tests.scraper.process import running
from tests.scraper.server.conftest import STAND_IN


def rules(host: str = "127.0.0.1", **given: object) -> AccessRules:
    """Rules as the server makes them, with nothing set but what is given."""
    keys: Any = given.pop("keys", ())
    return make_access_rules(replace(Settings(), host=host, **given), keys=keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST"])
def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    assert rules(host).keys == ()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "10.0.0.1"])
def test_an_open_address_without_a_token_is_refused_and_both_ways_out_are_named(host: str) -> None:
    with pytest.raises(ServerStartError) as refusal:
        rules(host)
    assert "SEARCH_MCP_TOKEN" in str(refusal.value)
    assert "--allow-unauthenticated" in str(refusal.value)


def test_a_public_address_requires_a_token_or_the_flag() -> None:
    assert rules("0.0.0.0", keys=(AccessKey("a", "t"),)).keys
    assert rules("0.0.0.0", allow_unauthenticated=True).keys == ()


@pytest.mark.parametrize(
    "header",
    ["127.0.0.1:8000", "localhost", "LocalHost:1", "localhost.:80", "[::1]:8000", "[::1]", "search.lan", "b.lan:9"],
)
def test_our_names_are_known(header: str) -> None:
    assert rules(allowed_hosts=("search.lan", "b.lan:9")).knows_host(header)


@pytest.mark.parametrize("header", ["10.244.0.5:8105", "[2001:db8::1]:8000", "192.168.1.5"])
def test_an_address_is_known_if_other_machines_reach_the_server(header: str) -> None:
    open_rules = rules("0.0.0.0", allow_unauthenticated=True)
    assert open_rules.knows_host(header) and not rules().knows_host(header)
    # A page at another address is another site.
    assert not open_rules.knows_origin("http://203.0.113.9", header)
    assert open_rules.knows_origin(f"http://{header}", header)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8000",
        "b.lan:10",
        "b.lan",
        "evil.example@localhost",
        "localhost:80@evil.example",
        "localhost:80x",
        "[::1",
        "[::1]evil",
        "::1",
        "0.0.0.0:8000",
    ],
)
def test_other_names_are_not(header: str) -> None:
    assert not rules("0.0.0.0", allowed_hosts=("search.lan", "b.lan:9"), allow_unauthenticated=True).knows_host(header)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "localhost:8000"),
        ("http://localhost:8000", "localhost:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("https://127.0.0.1", "127.0.0.1"),
        ("https://app.example", "localhost:8000"),
        ("http://localhost:3000", "localhost:8000"),
        ("https://search.lan:9", "search.lan"),
    ],
)
def test_our_origins_are_known(origin: str | None, host: str) -> None:
    known = rules(allowed_origins=("https://app.example/", "http://localhost:3000"), allowed_hosts=("search.lan",))
    assert known.knows_origin(origin, host)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://app.example",
        "file://",
        "localhost",
        "http://[localhost]",
        "http://[zz",
        "http://localhost:3000",
        "http://localhost",
        "http://127.0.0.1:8000",
        "http://[::1]:8000",
    ],
)
def test_other_origins_are_not(origin: str) -> None:
    assert not rules(allowed_origins=("https://app.example",)).knows_origin(origin, "localhost:8000")


def test_a_token_names_its_principal() -> None:
    guarded = rules(keys=(AccessKey("ann", "one"), AccessKey("ben", "two")))
    assert guarded.principal("Bearer one") == "ann"
    assert guarded.principal("bearer  two") == "ben"


@pytest.mark.parametrize("header", ["", "one", "Basic one", "Bearer", "Bearer ", "Bearer o", "Bearer ones", "Bearer ö"])
def test_other_credentials_have_no_principal(header: str) -> None:
    assert rules(keys=(AccessKey("ann", "one"),)).principal(header) is None


def test_the_time_of_a_rejection_reveals_nothing_about_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def compare(given: bytes, right: bytes) -> bool:
        compared.append(right)
        return given == right

    monkeypatch.setattr(hmac, "compare_digest", compare)
    guarded = rules(keys=(AccessKey("ann", "one"), AccessKey("ben", "two")))
    assert guarded.principal("Bearer one") == "ann"
    assert guarded.principal("Bearer wrong") is None
    assert compared == [b"one", b"two"] * 2


def test_tokens_come_from_a_file_of_names(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# who may call\nann: one\n\nben:two:with-colon\n")
    assert read_keys("zero", file) == (
        AccessKey("default", "zero"),
        AccessKey("ann", "one"),
        AccessKey("ben", "two:with-colon"),
    )


def test_a_file_of_another_system_is_read_alike(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(b"\xef\xbb\xbfann:one\r\n\r\n  ben\t:\ttwo  \r\n")
    assert read_keys(None, file) == (AccessKey("ann", "one"), AccessKey("ben", "two"))


def test_a_caller_may_have_an_old_and_a_new_token(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("ann:old\nann:new\n")
    guarded = rules(keys=read_keys(None, file))
    assert [guarded.principal(f"Bearer {token}") for token in ("old", "new")] == ["ann", "ann"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("ann", "line 1: write name:token"),
        ("ann:", "line 1: write name:token"),
        ("# x\n:one", "line 2: write name:token"),
        ("", "has no name:token line"),
        ("# nobody\n", "has no name:token line"),
        ("ann:one two", "visible ASCII characters"),
        ("ann:t\u00f6ken", "visible ASCII characters"),
        ("ann:to\u200bken", "visible ASCII characters"),
        ("a\u200bnn:one", "invisible characters"),
        ("ann:one\nben:one", "ann and ben have the same token"),
    ],
)
def test_an_ambiguous_tokens_file_is_rejected(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ServerStartError, match=why):
        read_keys(None, file)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(b"\xff\xfe\x00")
    for path in (file, tmp_path / "gone", tmp_path):
        with pytest.raises(ServerStartError, match=r"^SEARCH_MCP_TOKENS_FILE=/.* cannot be read: [^\[]*\.$"):
            read_keys(None, path)


def test_a_single_token_is_one_that_can_be_sent() -> None:
    with pytest.raises(ServerStartError, match="SEARCH_MCP_TOKEN: a token must consist of visible ASCII"):
        read_keys("two words", None)


def test_a_token_is_never_shown() -> None:
    assert "secret" not in repr(AccessKey("ann", "secret"))


async def test_an_open_bind_without_a_token_does_not_start() -> None:
    async with running(*STAND_IN, "http", "--host=0.0.0.0") as program:
        assert await program.ended() == 1
        assert len(program.said) == 1
        assert program.said[0].startswith("Refusing to listen on 0.0.0.0 without a token")
