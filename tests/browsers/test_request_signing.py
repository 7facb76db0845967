"""Signed requests equal the vectors of the draft, and reach the site in visits, redirects and sessions."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from browsers import Browsers, BrowserSettings
from browsers.model import Mode, Request
from browsers.request_signing import RequestSigner, SigningKey
from tests.browsers.acting.scripts import run_steps
from tests.site.running import Site

AGENT = "https://agent.example"
SIGNER = RequestSigner(AGENT, (SigningKey(bytes(range(32))), SigningKey(bytes(32))))
AUTHORITY = '("@authority" "signature-agent";key="sig1")'
FULL = '("@authority" "@method" "@path" "signature-agent";key="sig1")'
TARGET = '("@authority" "@target-uri" "signature-agent";key="sig1")'


@pytest.mark.parametrize(
    ("url", "method", "covers", "items", "signature"),
    [
        ("https://shop.example/", "GET", (), AUTHORITY, "WPM/TqeQbcKsO+DxGLatQc5HkIjSwqvmd3l7YZY/vLyTZT4J2m8JlRajMly6"
         "iJ/1Nfl8OJrTc7v8Axe0Ib+DBg=="),
        ("https://shop.example:8443/a/b?x=1", "GET", ("@method", "@path"), FULL, "qEVgGASX9/IPY0sD03uux3Ha0f66iVS7Ep7Y"
         "lyKeiq/pv6rxiNQwSiO0qfz5HcPOhYy2at6g8cwa+EjXcYL+Bw=="),
        ("https://SHOP.example/%C3%BC?y=1%202", "POST", ("@method", "@path"), FULL, "nHP/l8f9413N/iCUCtjwMk+S1iQ/6ldc"
         "v/OIeJ7bUm+bUUnzzGt3r42weXkuu23B3Ay6EeCGy+DgTtEnV6xKCQ=="),
        ("https://shop.example:443/a#frag", "GET", ("@target-uri",), TARGET, "uxyaaQXlujBq2cmsXdSMRoBb7jGFSrcDCQdiJ6lh"
         "SDzWK3fXddTQApZy4VLjItS2qZaYHTQu6toEJjYHfkV8Bg=="),
    ],
)  # fmt: skip
def test_signatures_equal_known_ones(
    url: str, method: str, covers: tuple[str, ...], items: str, signature: str
) -> None:
    assert SIGNER.headers(url, method, covers=covers, now=1795900000) == {
        "Signature-Agent": f'sig1="{AGENT}"',
        "Signature-Input": f"sig1={items};created=1795900000;expires=1795900060"
        ';keyid="1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y";alg="ed25519";tag="web-bot-auth"',
        "Signature": f"sig1=:{signature}:",
    }


def test_the_key_id_is_that_of_the_draft() -> None:
    seed = base64.urlsafe_b64decode("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU=")
    assert SigningKey(seed).key_id == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"


def test_the_directory_proves_possession_of_each_key() -> None:
    body, headers = SIGNER.directory("agent.example", now=1795900000)
    keys = json.loads(body)["keys"]
    assert [key["kid"] for key in keys] == [key.key_id for key in SIGNER.keys]
    inputs, signatures = headers["Signature-Input"].split(", binding"), headers["Signature"].split(", binding")
    for key, params, signature in zip(keys, inputs, signatures, strict=True):
        params, signature = params.partition("=")[2], signature.partition("=")[2].strip(":")
        base = f'"@authority";req: agent.example\n"content-digest": {headers["Content-Digest"]}\n'
        public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))
        public.verify(base64.b64decode(signature), f'{base}"@signature-params": {params}'.encode())


def verify(headers: dict[str, str], authority: str, path: str) -> bool:
    """Raise InvalidSignature unless a GET request is signed by the first key; return True."""
    params = headers["Signature-Input"].removeprefix("sig1=")
    agent = headers["Signature-Agent"].removeprefix("sig1=")
    name = '"signature-agent";key="sig1"' if "key=" in params else '"signature-agent"'
    base = f'"@authority": {authority}\n"@method": GET\n"@path": {path}\n{name}: {agent}\n"@signature-params": {params}'
    signature = base64.b64decode(headers["Signature"].removeprefix("sig1=").strip(":"))
    public = json.loads(SIGNER.directory("x")[0])["keys"][0]["x"]
    Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(public + "=")).verify(signature, base.encode())
    return True


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=[True, False], ids=["dictionary", "string"])
async def signing(request: pytest.FixtureRequest, browser_settings: BrowserSettings) -> AsyncIterator[Browsers]:
    """Return browsers of the light tier that sign."""
    signer = replace(SIGNER, is_dictionary=request.param)
    async with Browsers(replace(browser_settings, signer=signer, full_executable="/nowhere")) as running:
        yield running


@pytest.mark.browser
async def test_documents_and_their_redirects_are_signed(signing: Browsers, site: Site) -> None:
    peeked = await signing.visit(Request(site.url("/echo-headers?q=1"), mode=Mode.PEEK))
    rendered = await signing.visit(Request(site.url("/echo-headers"), mode=Mode.RENDER))
    for snapshot in (peeked, rendered):
        headers = json.loads(snapshot.html[snapshot.html.index("{") : snapshot.html.rindex("}") + 1])
        assert verify(headers, "site.example", "/echo-headers")
        assert headers["User-Agent"].endswith(f"Safari/537.36 search-mcp (+{AGENT})")
    opened = await run_steps(signing, [f"open {site.url('/echo-headers')}", "read", "close"])
    assert opened.outcomes[1].page is not None
    assert "web-bot-auth" in (opened.outcomes[1].page.html or "")
