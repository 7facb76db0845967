"""Redirect links are unwrapped if this is possible without a request."""

from __future__ import annotations

import base64
from urllib.parse import quote, urlencode

import pytest

from scraper.engines.result_page import is_opaque_redirect, unwrap_redirect

_TARGET = "https://example.com/a?b=c&d=%20e"


def _news(payload: bytes) -> str:
    """Return an old article id of Google News: a message with one field of bytes."""
    size = len(payload)
    length = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
    return base64.urlsafe_b64encode(b"\x08\x13\x22" + length + payload + b"\xd2\x01\x00").decode().rstrip("=")


@pytest.mark.parametrize(
    "wrapped",
    [
        "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc%26d%3D%2520e&rut=1",
        "https://www.bing.com/ck/a?!&&p=1&u=a1"
        + base64.urlsafe_b64encode(_TARGET.encode()).decode().rstrip("=")
        + "&ntb=1",
        "https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RO=10/RU=https%3a%2f%2fexample.com%2fa%3fb%3dc%26d%3d%2520e/RK=2/RS=x-",
        f"https://news.google.com/rss/articles/{_news(_TARGET.encode())}?oc=5",
        *(
            f"https://{page}={quote(_TARGET, safe='')}&rut=1"
            for page in (
                "www.google.com/url?sa=t&q",
                "www.google.co.uk/url?q=tides&url",
                "google.de/imgres?q=tides&imgrefurl",
                "search.brave.com/a/redirect?url",
                "www.ecosia.org/url?url",
                "www.startpage.com/url?u",
                "html.duckduckgo.com/l/?uddg",
                "yandex.com.tr/clck/jsredir?url",
            )
        ),
        _TARGET,
    ],
)
def test_the_target_comes_out_to_the_letter(wrapped: str) -> None:
    assert unwrap_redirect(wrapped) == _TARGET


def test_a_long_old_news_id_is_unwrapped() -> None:
    target = "https://example.com/" + "long-path/" * 20
    assert unwrap_redirect(f"https://news.google.com/articles/{_news(target.encode())}") == target


def test_a_wrapper_in_a_wrapper_is_unwrapped() -> None:
    inner = "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2F"
    outer = "https://duckduckgo.com/l/?" + urlencode({"uddg": inner})
    assert unwrap_redirect(outer) == "https://example.com/"


@pytest.mark.parametrize(
    "url",
    [
        f"https://news.google.com/rss/articles/{_news(b'AU_yqLM' + b'x' * 120)}?oc=5",
        "https://news.google.com/read/CBMiX0FVX3lxTE",
        "http://www.baidu.com/link?url=Tgl0-g239cremd5r4O",
        "https://www.google.com/goto?url=CAESdgFA",
    ],
)
def test_opaque_links_stay_and_are_reported_as_opaque(url: str) -> None:
    assert unwrap_redirect(url) == url
    assert is_opaque_redirect(unwrap_redirect(url))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/url?q=https%3A%2F%2Felsewhere.example%2F",
        "https://example.com/l/?uddg=https%3A%2F%2Felsewhere.example%2F",
        "https://www.bing.com/ck/a?u=a1L2ltYWdlcy9zZWFyY2g",
        "https://www.bing.com/ck/a?u=a1****",
        "https://bing.com.elsewhere.example/ck/a?u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy8",
        "https://example.com/ck/a?u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy8",
        "https://www.google.com/url?q=javascript:alert(1)",
        "https://www.google.com/search?q=https%3A%2F%2Felsewhere.example%2F",
        "https://google.com.elsewhere.example/url?q=https%3A%2F%2Felsewhere.example%2F",
        "https://[bad",
        "https://news.google.com/rss/articles/%%%",
        "",
    ],
)
def test_url_that_is_no_redirect_stays(url: str) -> None:
    assert unwrap_redirect(url) == url
    assert not is_opaque_redirect(unwrap_redirect(url)) or "news.google.com" in url
