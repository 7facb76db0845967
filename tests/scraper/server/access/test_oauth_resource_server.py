"""Tokens of an OAuth issuer: which are taken, for whom, and how a client learns where to get one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from scraper.server.access import OAuthResourceServer, ServerStartError, make_access_rules, make_resource_server
from scraper.settings import Settings
from tests.scraper.process import Program, serving
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.wire import HEADERS, initialize, modern_call, tool_result

ISSUER = "https://login.example"
HERE = "https://search.example"
KEY, OTHER_KEY = (rsa.generate_private_key(public_exponent=65_537, key_size=2_048) for _ in range(2))


def key_set(*keys: tuple[str, rsa.RSAPrivateKey]) -> str:
    """Return a JSON Web Key Set of the public keys."""
    entries = [
        {**jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": name, "alg": "RS256"}
        for name, key in keys
    ]
    return json.dumps({"keys": entries})


def token(key: Any = KEY, algorithm: str = "RS256", kid: str | None = "first", **claims: object) -> str:
    """Return a valid token with changed claims; None removes a claim."""
    usual = {"iss": ISSUER, "aud": HERE + "/mcp", "sub": "ann", "exp": time.time() + 600}
    output = {name: value for name, value in {**usual, **claims}.items() if value is not None}
    return jwt.encode(output, key, algorithm=algorithm, headers={"kid": kid} if kid else None)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Write the keys of the issuer to a file."""
    file = tmp_path / "keys.json"
    file.write_text(key_set(("first", KEY)))
    return file


def test_a_token_names_its_subject(keys: Path) -> None:
    issuer = OAuthResourceServer(ISSUER, HERE, keys)
    assert issuer.principal(token()) == "oauth:ann"
    assert issuer.principal(token(aud=[HERE, "https://another.example"], iss=ISSUER + "/")) == "oauth:ann"


@pytest.mark.parametrize(
    "made",
    [
        lambda: token(exp=time.time() - 60),
        lambda: token(exp=None),
        lambda: token(nbf=time.time() + 600),
        lambda: token(iss="https://evil.example"),
        lambda: token(aud="https://another.example"),
        lambda: token(aud=HERE + ".evil.example"),
        lambda: token(aud=None),
        lambda: token(sub=None),
        lambda: token(sub=""),
        lambda: token(sub="a" * 256),
        lambda: token(OTHER_KEY),
        lambda: token(kid="unknown"),
        lambda: token(ec.generate_private_key(ec.SECP256R1()), "ES256"),
        lambda: token("a secret that is long enough for every algorithm", "HS256"),
        lambda: token(None, "none"),
        lambda: token()[:-4] + "AAAA",
        lambda: "a.b.c",
        lambda: "one",
        lambda: "",
        lambda: "a" * 4_000 + ".b." + "c" * 5_000,
    ],
)
def test_other_credentials_have_no_principal(keys: Path, made: Callable[[], str]) -> None:
    assert OAuthResourceServer(ISSUER, HERE, keys).principal(made()) is None


def test_a_token_without_key_id_is_compared_with_each_key(keys: Path) -> None:
    keys.write_text(key_set(("first", KEY), ("second", OTHER_KEY)))
    issuer = OAuthResourceServer(ISSUER, HERE, keys)
    assert issuer.principal(token(KEY, kid=None)) == issuer.principal(token(OTHER_KEY, kid=None)) == "oauth:ann"
    assert issuer.principal(token(rsa.generate_private_key(public_exponent=65_537, key_size=2_048), kid=None)) is None


def test_a_key_without_id_is_compared_with_each_token(keys: Path) -> None:
    found = json.loads(key_set(("first", KEY), ("second", OTHER_KEY)))
    del found["keys"][1]["kid"]
    keys.write_text(json.dumps(found))
    issuer = OAuthResourceServer(ISSUER, HERE, keys)
    assert issuer.principal(token(OTHER_KEY, kid="x")) == "oauth:ann" and issuer.principal(token(kid="x")) is None


def test_the_host_of_the_public_url_may_have_capitals(keys: Path) -> None:
    flags = {"issuer": ISSUER, "issuer_keys": str(keys), "public_url": "https://Search.Example/Tools/mcp"}
    issuer = make_resource_server(Settings.load({}, flags))
    assert issuer is not None and issuer.principal(token(aud=HERE + "/Tools/mcp/")) == "oauth:ann"


@pytest.mark.parametrize("end", ["", "/", "/mcp", "/mcp/", "/openai/mcp"])
@pytest.mark.parametrize("path", ["", "/tools/search"])
def test_the_public_url_may_be_that_of_an_endpoint(keys: Path, path: str, end: str) -> None:
    settings = Settings.load({}, {"issuer": ISSUER, "issuer_keys": str(keys), "public_url": HERE + path + end})
    issuer = make_resource_server(settings)
    assert issuer is not None and issuer.metadata("/mcp")["resource"] == f"{HERE}{path}/mcp"
    assert issuer.principal(token(aud=HERE + path)) == issuer.principal(token(aud=f"{HERE}{path}/mcp")) == "oauth:ann"
    served = {route.path for route in issuer.routes(["/mcp"])}
    assert f"/.well-known/oauth-protected-resource{path}/mcp" in served
    rules = make_access_rules(settings, issuer)
    assert rules.prefix == path and rules.knows_host("search.example") and not rules.knows_host("10.0.0.1")
    assert not rules.knows_origin("http://search.evil", "search.example")


def test_keys_are_read_again_when_their_file_changes(keys: Path) -> None:
    issuer = OAuthResourceServer(ISSUER, HERE, keys)
    assert issuer.principal(token(OTHER_KEY, kid="second")) is None
    keys.write_text(key_set(("second", OTHER_KEY)))
    os.utime(keys, (1, 1))
    assert issuer.principal(token(OTHER_KEY, kid="second")) == "oauth:ann"
    assert issuer.principal(token()) is None
    keys.write_text("half writ")
    os.utime(keys, (2, 2))
    assert issuer.principal(token(OTHER_KEY, kid="second")) == "oauth:ann"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": []}', '{"keys": [{"kty": "odd"}]}'])
def test_a_file_without_keys_is_refused_at_the_start(tmp_path: Path, content: str) -> None:
    (tmp_path / "keys").write_text(content)
    with pytest.raises(ServerStartError, match=r"^SEARCH_MCP_ISSUER_KEYS="):
        OAuthResourceServer(ISSUER, HERE, tmp_path / "keys")


def test_an_issuer_without_keys_or_address_is_refused_at_the_start(keys: Path) -> None:
    assert make_resource_server(Settings()) is None
    for settings in (Settings(issuer=ISSUER, issuer_keys=keys), Settings(issuer=ISSUER, public_url=HERE)):
        with pytest.raises(ServerStartError, match="needs SEARCH_MCP_ISSUER_KEYS"):
            make_resource_server(settings)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """Start a server that accepts tokens of an issuer and its own token."""
    keys = tmp_path_factory.mktemp("issuer") / "keys.json"
    keys.write_text(key_set(("first", KEY)))
    flags = (f"--issuer={ISSUER}", f"--issuer_keys={keys}", f"--public_url={HERE}", "--token=own")
    async with serving(*STAND_IN, "http", *flags) as program:
        yield program


async def test_a_refusal_leads_to_the_issuer(guarded: Program, http: aiohttp.ClientSession) -> None:
    async with http.post(guarded.url, headers=HEADERS, json=initialize()) as answer:
        assert answer.status == 401
        challenge = answer.headers["WWW-Authenticate"]
    assert challenge == (
        f'Bearer realm="search-mcp", resource_metadata="{HERE}/.well-known/oauth-protected-resource/mcp"'
    )
    async with http.get(guarded.base + "/%0d%0aset-cookie:%20a=b") as answer:
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == challenge
        assert "Set-Cookie" not in answer.headers
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        async with http.get(guarded.base + path) as answer:
            assert answer.status == 200
            output = await answer.json()
        assert output["resource"] == HERE + "/mcp"
        assert output["authorization_servers"] == [ISSUER]


@pytest.mark.parametrize(("given", "name"), [(token, "oauth:ann"), (lambda: "own", "default")])
async def test_both_kinds_of_token_are_taken(
    guarded: Program, http: aiohttp.ClientSession, given: Callable[[], str], name: str
) -> None:
    headers, message = modern_call("echo", {})
    headers["Authorization"] = f"Bearer {given()}"
    async with http.post(guarded.url, headers=headers, json=message) as answer:
        assert f'"principal": "{name}"' in await tool_result(answer)
