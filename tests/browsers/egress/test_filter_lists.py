"""Filter lists of the operator refuse hosts; files that are none, and rules that are too much, are clear errors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from browsers.egress import third_parties
from browsers.egress.third_parties import CHALLENGES, MAX_BYTES, FilterLists, ThirdPartyFilter
from browsers.errors import FilterListError
from browsers.model import ThirdParties
from tests.scraper.soon import soon

RULES = """[Adblock Plus 2.0]
! Title: Test
||ads.example.com^
||tracker.example^$third-party
||only.example^$domain=news.example
||pictures.example^$image
@@||good.tracker.example^
/banner/ads.js
0.0.0.0 hosts-file.example
##.advertisement
shop.example#@#.banner
"""


@pytest.fixture
def write(tmp_path: Path) -> Path:
    path = tmp_path / "list.txt"
    path.write_text(RULES)
    return path


def page_filter(path: Path, page_host: str, level: ThirdParties = ThirdParties.CONTENT_ONLY) -> ThirdPartyFilter:
    return ThirdPartyFilter(level, (page_host,), FilterLists([path]))


def test_hosts_of_the_list_are_refused(write: Path) -> None:
    page = page_filter(write, "blog.example")
    refused = ("ads.example.com", "x.ads.example.com", "ADS.example.com.", "tracker.example", "hosts-file.example")
    assert [host for host in refused if not page.refuses(host)] == []
    kept = ("example.com", "good.tracker.example", "only.example", "pictures.example", "cdn.jsdelivr.net")
    assert [host for host in kept if page.refuses(host)] == []
    assert page_filter(write, "news.example").refuses("only.example")
    assert page.refuses("www.googletagmanager.com")  # the own list still applies


def test_the_head_of_a_hosts_file_and_several_hosts_in_a_line_are_read(write: Path) -> None:
    head = (
        "127.0.0.1 localhost\n255.255.255.255 broadcasthost\n::1 ip6-loopback\nfe80::1%lo0 localhost\n0.0.0.0 0.0.0.0\n"
    )
    write.write_text(f"{head}10.0.0.7 intranet.example\n0.0.0.0 ads.example.com more.example ## both\n:: six.example\n")
    page = page_filter(write, "blog.example")
    assert all(map(page.refuses, ("ads.example.com", "more.example", "six.example")))
    assert not any(map(page.refuses, ("intranet.example", "localhost", "0.0.0.0", "both")))


def test_a_list_is_named_if_it_refuses_the_web_beside_others(tmp_path: Path, write: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("||*^\n")
    with pytest.raises(FilterListError, match=r"other\.txt refuses nearly every host"):
        FilterLists([other, write])
    with pytest.raises(FilterListError, match=r"other\.txt refuses nearly every host"):
        FilterLists([write, other])


def test_the_site_itself_is_never_refused_and_a_level_turns_the_lists_off(write: Path) -> None:
    assert not page_filter(write, "www.tracker.example").refuses("tracker.example")
    assert not page_filter(write, "blog.example", ThirdParties.ALL).refuses("ads.example.com")
    assert page_filter(write, "blog.example", ThirdParties.NO_TRACKERS).refuses("ads.example.com")


def test_challenges_are_never_refused(write: Path) -> None:
    write.write_text("".join(f"||{host}^\n" for host in CHALLENGES) + "||ads.example.com^\n")
    page = page_filter(write, "shop.example")
    assert [host for host in CHALLENGES if page.refuses(host) or page.refuses(f"js.{host}")] == []
    assert page.refuses("ads.example.com")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!doctype html>\n<p>Not found</p>\n", "is not a filter list: 2 of its 2 lines are not rules"),
        (b"This is a text.\nIt has two lines.\n", "is not a filter list: 2 of its 2 lines"),
        (b'{"rules": [\n"a b"]}', "is not a filter list"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not text in UTF-8"),
        (b"", "has no rules for requests"),
        (b"! only a comment\n##.banner\n", "has no rules for requests"),
        (b"||*^\n", "refuses nearly every host, for example en.wikipedia.org"),
        (b"||ads.example.com^\n" * 20 + b"http\n", "refuses nearly every host"),
        (b"alpha\nbeta\ngamma\n", "is not a filter list: 3 of its 3 lines"),
        (b"a,b,c\n1,2,3\n" * 5, "is not a filter list: 10 of its 10 lines"),
        (b"QUJDREVGRw==\n" * 9, "is not a filter list: 9 of its 9 lines"),
        (b"address=/ads.example.com/0.0.0.0\n" * 3, "is not a filter list: 3 of its 3 lines"),
    ],
    ids=(
        "page",
        "prose",
        "json",
        "picture",
        "empty",
        "no rules",
        "all hosts",
        "all urls",
        "words",
        "csv",
        "base64",
        "dnsmasq",
    ),
)
def test_an_unusable_file_is_an_error_that_says_why(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)
    with pytest.raises(FilterListError, match=r"list\.txt") as caught:
        FilterLists([path])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("limit", "rule", "message"),
    [
        ("MAX_RULES", "||a{:x}.b^\n", "has too many rules: all lists together may have 3,000"),
        ("MAX_WILDCARD_RULES", "a*.b*{:x}\n", "has too many wildcard rules: all lists together may have 3,000"),
        ("MAX_BYTES", "||ads.example.com^\n", "is too large: all lists together may have 0 MB"),
    ],
)
def test_a_file_beyond_a_limit_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, rule: str, message: str
) -> None:
    monkeypatch.setattr(third_parties, limit, 3_000)
    path = tmp_path / "list.txt"
    path.write_text("".join(map(rule.format, range(3_000))))
    if limit != "MAX_BYTES":
        FilterLists([path])
    path.write_text("".join(map(rule.format, range(3_001))))
    with pytest.raises(FilterListError, match=r"list\.txt") as caught:
        FilterLists([path])
    assert message in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FilterListError, match=r"missing\.txt cannot be read: No such file or directory"):
        FilterLists([tmp_path / "missing.txt"])


def test_a_missing_engine_is_an_error_with_its_command(write: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adblock", None)
    with pytest.raises(FilterListError, match=r"pip install 'search-mcp\[filters\]'"):
        FilterLists([write])


def test_the_size_of_all_lists_together_is_limited(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for path in paths:
        path.write_text("||ads.example.com^\n! " + "x" * (MAX_BYTES // 2) + "\n")
    with pytest.raises(FilterListError, match=r"1\.txt is too large"):
        FilterLists(paths)


def test_regular_expressions_are_not_used(write: Path) -> None:
    bombs = ["/.*/", "/(((((a{1000}){1000}){1000}){1000}){1000})/", "/(x+x+)+y/$script", "@@/.*/$third-party"]
    write.write_text("\n".join((*bombs, *(f"/({'a?' * 50}){{999}}{number}/" for number in range(500)), RULES)))
    page = page_filter(write, "blog.example")
    assert page.refuses("ads.example.com") and not page.refuses("a" * 60 + ".example")


def test_many_wildcards_take_little_time(write: Path) -> None:
    write.write_text("||ad*.exam*.com^\n" + "".join(f"{'*a' * 5_000}b{number}\n" for number in range(200)))
    with soon():
        lists = FilterLists([write])
        assert not any(lists.refuses(f"{'a' * 60}.{'a' * number}.example", "blog.example") for number in range(1, 60))
    assert lists.refuses("ads.example.com", "blog.example")
