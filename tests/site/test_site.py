"""The site itself works, so that the tests that use it prove something."""

from __future__ import annotations

import gzip
import http.client
import os
import socket
import ssl
import subprocess
import sys
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2 as httpx
import pytest

from tests.site.hidden import CARRIERS
from tests.site.prose import marks_found, paragraph
from tests.site.running import Site, running_site

# Pages whose marker words are in the HTML as served; the others need a browser.
SERVED_WHOLE = ("/static/1", "/rich", "/plain", "/slow-body", "/hydrate", "/slow-css", "/hidden-parts")


PATIENCE_S = 60.0
"""Seconds. Far longer than any step takes, however busy the machine is."""
_AT_ONCE = 16
"""Pages that are requested at once: many wait before they answer."""


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=site.direct(""), headers={"Host": "site.example"}, timeout=PATIENCE_S, trust_env=False
    ) as client:
        yield client


@contextmanager
def raw_request(site: Site, path: str) -> Iterator[socket.socket]:
    """Open a connection that requested `path` and reads nothing."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE_S) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: site.example\r\n\r\n".encode())
        yield connection


@pytest.mark.parametrize("path", SERVED_WHOLE)
def test_plain_pages_contain_all_their_marker_words(site: Site, client: httpx.Client, path: str) -> None:
    wanted = site.manifest()[path]
    assert marks_found(str(wanted["name"]), client.get(path).text) == wanted["marks"]


def test_script_pages_contain_no_marker_words(site: Site, client: httpx.Client) -> None:
    for path in ("/spa/1", "/slow-xhr", "/poll", "/socket", "/scroll", "/challenge", "/meta-refresh"):
        name = str(site.manifest()[path]["name"])
        assert marks_found(name, client.get(path).text) == 0, path


def test_marker_words_of_two_digits_are_not_counted_as_one() -> None:
    assert marks_found("x", "MARK-x-1 MARK-x-12 MARK-x-1 MARK-xy-3") == 2


def test_every_listed_page_answers(client: httpx.Client) -> None:
    endless = ("/never", "/stalls", "/drip", "/endless", "/api/hang", "/api/events", "/api/socket", "/big", "/bomb")
    streams = ("/acting/ticks", "/acting/told", "/acting/no-answer")
    broken = ("/reset", "/empty-reply", "/short", "/cut-chunks", "/long-gzip", "/bad-", "/garbage")
    broken_addresses = ("/redirect-data", "/redirect-javascript")
    text = client.get("/").text
    paths = [part.split('"')[0].replace("&amp;", "&") for part in text.split('<li><a href="')[1:]]
    assert len(paths) > 150
    skipped = endless + streams + broken + broken_addresses
    paths = [path for path in paths if not path.startswith(skipped)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        statuses = pool.map(lambda path: client.get(path).status_code, paths)
        for path, status in zip(paths, statuses, strict=True):
            assert status < 500 or path.startswith(("/wall/", "/status/")), path
            assert status != 404 or path in {"/favicon.ico", "/status/404"}, path


def test_requests_are_counted_by_path_query_and_host(site: Site, client: httpx.Client) -> None:
    own = uuid.uuid4()
    client.get(f"/plain?{own}=1")
    client.get(f"/plain?{own}=1", headers={"Host": "other.example"})
    client.get(f"/plain?{own}=2")
    assert site.hits(f"/plain?{own}=1") == 2
    assert site.hits(f"/plain?{own}=1", host="other.example") == 1
    assert site.hits("/plain") >= 3
    assert site.hits(f"/plain?{own}=3") == 0


def test_a_handler_ends_when_its_client_disconnects(site: Site) -> None:
    with raw_request(site, "/never?gone=1"):
        wait_until(lambda: site.open("/never?gone=1") == 1)
    wait_until(lambda: site.open("/never?gone=1") == 0)


def test_clients_that_disconnect_early_do_no_harm(site: Site, client: httpx.Client) -> None:
    for path in ("/big", "/endless", "/drip", "/bomb", "/slow-body", "/api/events?name=x", "/stalls"):
        with raw_request(site, path) as connection:
            assert connection.recv(100)
    assert client.get("/plain").status_code == 200


def test_the_bomb_is_a_gibibyte_in_a_megabyte(client: httpx.Client) -> None:
    wire = plain = 0
    unpack = zlib.decompressobj(wbits=31)
    with client.stream("GET", "/bomb") as response:
        for chunk in response.iter_raw():
            wire += len(chunk)
            while chunk:
                plain += len(unpack.decompress(chunk, 1 << 20))
                chunk = unpack.unconsumed_tail
    assert plain == 1 << 30
    assert wire < 1_200_000
    assert unpack.eof, "the checksum at the end must be right, or a browser would call it broken"


def test_a_small_bomb_is_valid_gzip(client: httpx.Client) -> None:
    with client.stream("GET", "/bomb?mb=3") as response:
        packed = b"".join(response.iter_raw())
    assert len(gzip.decompress(packed)) == 3 << 20


def test_the_big_page_has_its_size(client: httpx.Client) -> None:
    with client.stream("GET", "/big?declared=1") as response:
        size = sum(len(chunk) for chunk in response.iter_raw())
    assert int(response.headers["content-length"]) == size
    assert 49_000_000 < size <= 50_000_000
    with client.stream("GET", "/big?mb=1") as response:
        assert "content-length" not in response.headers


def test_resets_and_empty_replies_are_sent(site: Site) -> None:
    with raw_request(site, "/reset") as connection, pytest.raises(ConnectionResetError):
        connection.recv(100)
    with raw_request(site, "/empty-reply") as connection:
        assert connection.recv(100) == b""


def test_a_short_body_ends_before_its_declared_length(client: httpx.Client) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|without sending complete"):
        client.get("/short")


def test_a_drip_sends_a_byte_a_second(site: Site) -> None:
    started = time.monotonic()
    with raw_request(site, "/drip") as connection:
        heard = b""
        while heard.count(b"\r\n1\r\n") < 3:
            heard += connection.recv(4096)
    # Each chunk is of one byte; the third cannot come before its time, however late it is read here.
    assert time.monotonic() - started > 1.5


@pytest.mark.parametrize("status", [200, 204, 304, 404, 410, 500, 503])
def test_any_status_can_be_requested(client: httpx.Client, status: int) -> None:
    response = client.get(f"/status/{status}")
    assert response.status_code == status
    assert bool(response.content) == (status not in {204, 304})


def test_redirects_are_finite_or_endless_as_described(client: httpx.Client) -> None:
    assert len(client.get("/redirects/4", follow_redirects=True).history) == 4
    with pytest.raises(httpx.TooManyRedirects):
        client.get("/redirect-loop", follow_redirects=True)
    assert client.get("/redirect-file").headers["location"] == "file:///etc/passwd"
    assert client.get("/redirect-host").headers["location"].startswith("http://other.example/")


def test_frames_use_another_site_than_the_requested_host(site: Site, client: httpx.Client) -> None:
    assert 'src="http://other.example/frame?' in client.get("/frames").text
    by_address = client.get("/frames", headers={"Host": f"127.0.0.1:{site.port}"}).text
    assert f'src="http://localhost:{site.port}/frame?' in by_address


def test_a_challenge_accepts_its_cookie(client: httpx.Client) -> None:
    assert "Checking your browser" in client.get("/challenge").text
    assert "MARK-challenge-9" in client.get("/challenge", headers={"Cookie": "passed=1"}).text


def test_validators_are_respected(client: httpx.Client) -> None:
    address = f"/etag/{uuid.uuid4()}"
    first = client.get(address)
    assert "SERVED-1" in first.text
    again = client.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_memory_pages_report_the_received_cookie(client: httpx.Client) -> None:
    address = f"/memory/{uuid.uuid4()}"
    assert "CLEAN-cookie-header" in client.get(address).text
    with_cookie = client.get(address, headers={"Cookie": "header=1", "If-None-Match": '"m1"'}).text
    assert "FOUND-cookie-header" in with_cookie
    assert "FOUND-validator" in with_cookie
    assert "VISIT-2" in with_cookie


def test_headers_are_returned_in_their_order(client: httpx.Client) -> None:
    headers = client.get("/headers", headers={"X-One": "1", "X-Two": "2"}).json()["headers"]
    names = [name.lower() for name, _ in headers]
    assert names.index("x-one") < names.index("x-two")


def test_charset_pages_contain_their_phrase_in_their_encoding(client: httpx.Client) -> None:
    phrases = client.get("/charset/manifest.json").json()
    assert phrases["/charset/gbk/none"].encode("gbk") in client.get("/charset/gbk/none").content
    wrong = client.get("/charset/windows-1251/wrong")
    assert wrong.headers["content-type"] == "text/html; charset=utf-8"
    assert phrases["/charset/windows-1251/wrong"].encode("cp1251") in wrong.content
    assert b'<meta charset="big5">' in client.get("/charset/big5/meta").content
    assert client.get("/bom/utf-16le").content.startswith(b"\xff\xfe")


def test_nine_of_forty_three_hidden_text_samples_are_visible(client: httpx.Client) -> None:
    rows = client.get("/hidden/manifest.json").json()
    core = [row for row in rows if row["page"] == "/hidden"]
    assert len(core) == len(CARRIERS) == 43
    assert sum(row["seen"] for row in core) == 9
    text = client.get("/hidden").text
    assert all(text.count(row["marker"]) == 1 for row in core)


def test_tls_hosts_are_served_under_a_certificate_of_their_names(site: Site) -> None:
    context = ssl.create_default_context(cadata=ssl.get_server_certificate(("127.0.0.1", site.tls_port)))
    with (
        socket.create_connection(("127.0.0.1", site.tls_port), timeout=PATIENCE_S) as connection,
        context.wrap_socket(connection, server_hostname="secure.example") as tls,
    ):
        tls.sendall(b"GET /plain HTTP/1.0\r\nHost: secure.example\r\n\r\n")
        assert tls.recv(15) == b"HTTP/1.0 200 OK"


def test_a_page_shows_the_paragraphs_of_its_service(client: httpx.Client) -> None:
    answer = client.get("/api/article?name=n&from=2&to=4").json()
    assert answer == {"paragraphs": [paragraph("n", 2), paragraph("n", 3)]}


def test_the_site_ends_with_its_block() -> None:
    with running_site() as mine:
        assert http_get(mine) == 200
    with pytest.raises(ProcessLookupError):
        os.kill(mine.pid, 0)


def test_the_site_ends_when_its_parent_is_killed() -> None:
    code = (
        "import sys, time\nfrom tests.site.running import running_site\n"
        "with running_site() as site:\n    print(site.pid, flush=True)\n    time.sleep(600)"
    )
    with subprocess.Popen((sys.executable, "-c", code), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    wait_until(lambda: gone(pid))


def gone(pid: int) -> bool:
    """Return True if a process has ended, reaped or not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def http_get(site: Site) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/plain")
        return connection.getresponse().status
    finally:
        connection.close()


def wait_until(condition: Callable[[], bool], limit_s: float = PATIENCE_S) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)
