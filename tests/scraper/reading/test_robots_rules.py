"""The rule of a robots.txt that forbids a page."""

from __future__ import annotations

import itertools

import pytest
from protego import Protego

from scraper.reading.robots import RobotsRules
from scraper.wishes import USER_AGENT_NAME
from tests.growth import Hostile, hostile_inputs
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
    assert RobotsRules(f"User-agent: *\n{lines}").find_disallow_rule(HOST + path) == rule


@pytest.mark.parametrize("piece", ["\n", " ", " \n", "dis", "disallow", "Disallow:\n", "Disallow: /*a\n"])
def test_a_hostile_file_is_parsed_quickly(piece: str) -> None:
    text = "User-agent: *\nDisallow: /\n" + piece * (200_000 // len(piece))
    with soon():
        assert RobotsRules(text).find_disallow_rule(f"{HOST}/a") is not None


def test_many_agents_above_many_rules_are_parsed_quickly() -> None:
    names = "".join(f"useragent: bot{number}\n" for number in range(3_000))
    rules = "".join(f"Disallow: /a{number}\n" for number in range(3_000))
    ours = "User-agent: *\n" + rules + names + rules.replace("/a", "/b") + "User-agent: x\nDisallow: /c"
    with soon():
        found = RobotsRules(ours)
        assert found.find_disallow_rule(f"{HOST}/a2999") == "/a2999"
        assert found.find_disallow_rule(f"{HOST}/b2999") is None and found.find_disallow_rule(f"{HOST}/c") is None
        all_alike = RobotsRules(names + "User-agent: search-mcp\n" + rules)
        assert all_alike.find_disallow_rule(f"{HOST}/a2999") == "/a2999"


@hostile_inputs({"rules": (20_000, lambda n: "".join(f"Disallow: /a/%7E{number}\n" for number in range(n)))})
def test_the_rule_is_found_quickly_for_many_pages(hostile: Hostile[str]) -> None:
    def find(lines: str) -> list[str | None]:
        rules = RobotsRules(f"User-agent: *\n{lines}")
        return [rules.find_disallow_rule(f"{HOST}/a/~{number}/x") for number in range(60)]

    assert None not in hostile.run(find, limit_s=4)


AGENTS = (
    "User-agent: *",
    "User-agent: Search-MCP # us",
    "useragent:search-mcp*",
    "user agent\tsearch-mcp-two",
    "User-Agent x",
    "User-agent: **",
    "User-agent:",
    "User-agent search-mcp: mcp",
    "User-agent search-mcp:mcp",
    "User  agent: search-mcp",
    "User  agent search-mcp",
    "User-agent: mcp",
    "Sitemap: http://example.org/user-agent",
    "Novel: user-agent search",
)


def test_agents_are_parsed_as_by_protego() -> None:
    for one, two, three in itertools.product(AGENTS, repeat=3):
        text = "\n".join((one, "Disallow: /1", two, three, "Disallow: /2", "Crawl-delay: 3", "User-agent: x"))
        alone, found = Protego.parse(text), RobotsRules(text)
        for path in ("/1", "/2"):
            allowed = alone.can_fetch(HOST + path, USER_AGENT_NAME)
            assert (found.find_disallow_rule(HOST + path) is None) == allowed, text
        assert found.gap_s == alone.crawl_delay(USER_AGENT_NAME), text


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    rules = RobotsRules("\ufeffUser-agent: *\r\nDisallow: /private\r\nCrawl-delay: 2\r\n")
    assert not rules.allows("https://site.example/private/a") and rules.gap_s == 2


@pytest.mark.parametrize(
    ("agent", "is_ours"),
    [("Search-MCP/1.0", True), ("search-mcp", True), ("s", False), ("search", False), ("search-mcp-two", False)],
)
def test_a_group_is_ours_by_its_product_token(agent: str, is_ours: bool) -> None:
    rules = RobotsRules(f"User-agent: {agent}\nDisallow: /\n\nUser-agent: *\nAllow: /")
    assert rules.allows(f"{HOST}/1") is not is_ours
