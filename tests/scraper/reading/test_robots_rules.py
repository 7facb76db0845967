"""Which rule of a robots.txt speaks against a page."""

from __future__ import annotations

import pytest

from scraper.reading.robots_rules import rules_of
from tests.scraper.soon import soon

HOST = "https://example.org"


@pytest.mark.parametrize(
    ("lines", "path", "rule"),
    [
        ("Disallow: /private", "/private/a", "/private"),
        ("Disallow: /\n Disallow : /private # keep out", "/private/a", "/private"),
        ("disallow:/a*/b$", "/a1/b", "/a*/b$"),
        ("Disallow:\nDisallow: /", "/a", "/"),
        ("Disallow: /private", "/public", None),
        ("Disallow:\n/private", "/private", None),
    ],
)
def test_the_rule_that_forbids_is_named(lines: str, path: str, rule: str | None) -> None:
    assert rules_of(f"User-agent: *\n{lines}").forbidding(HOST + path) == rule


@pytest.mark.parametrize("piece", ["\n", " ", " \n", "dis", "disallow", "Disallow:\n", "Disallow: /*a\n"])
def test_a_hostile_file_is_looked_through_soon(piece: str) -> None:
    text = "User-agent: *\nDisallow: /\n" + piece * (200_000 // len(piece))
    with soon():
        assert rules_of(text).forbidding(f"{HOST}/a") is not None
