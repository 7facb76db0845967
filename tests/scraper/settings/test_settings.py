"""Variables and flags become settings, or an explanation of what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scraper.settings import FILE_ONLY, Settings, SettingsError, setting_table, unknown_variables

EXAMPLES = {
    "SEARCH_MCP_CONFIG": (os.devnull, Path(os.devnull)),
    "SEARCH_MCP_DATA": ("/srv/cache", Path("/srv/cache")),
    "SEARCH_MCP_CACHE_HOURS": ("0.5", 0.5),
    "SEARCH_MCP_CACHE_MB": ("50", 50),
    "SEARCH_MCP_TOOL_TIMEOUT": ("20", 20.0),
    "SEARCH_MCP_MAX_ANSWER_TOKENS": ("4000", 4_000),
    "SEARCH_MCP_BATCH_LIMIT": ("10", 10),
    "SEARCH_MCP_TOOLSETS": ("core, default", ("core", "default")),
    "SEARCH_MCP_TOOLS": ("fetch, fetch_batch", ("fetch", "fetch_batch")),
    "SEARCH_MCP_ACTING": ("act", "act"),
    "SEARCH_MCP_PAGE_TOOLS": ("strict", "strict"),
    "SEARCH_MCP_PROFILE_KEY": ("YWJj" * 11, "YWJj" * 11),
    "SEARCH_MCP_CONTACT": ("me@example.org", "me@example.org"),
    "SEARCH_MCP_OUTPUT_SCHEMAS": ("yes", True),
    "SEARCH_MCP_RESOURCES": ("no", False),
    "SEARCH_MCP_STRICT_CLIENTS": ("Some Client*,other", ("Some Client*", "other")),
    "SEARCH_MCP_DOCUMENT_ROOT": ("/srv/papers", Path("/srv/papers")),
    "SEARCH_MCP_DOCUMENT_MB": ("20", 20),
    "SEARCH_MCP_HOST": ("0.0.0.0", "0.0.0.0"),
    "SEARCH_MCP_PORT": ("9000", 9_000),
    "SEARCH_MCP_TOKEN": ("secret", "secret"),
    "SEARCH_MCP_TOKENS_FILE": ("/etc/tokens", Path("/etc/tokens")),
    "SEARCH_MCP_ALLOW_UNAUTHENTICATED": ("yes", True),
    "SEARCH_MCP_REST": ("yes", True),
    "SEARCH_MCP_ALLOWED_HOSTS": ("a.example,b.example:8080", ("a.example", "b.example:8080")),
    "SEARCH_MCP_ALLOWED_ORIGINS": ("https://a.example", ("https://a.example",)),
    "SEARCH_MCP_ISSUER": ("https://login.example/", "https://login.example"),
    "SEARCH_MCP_ISSUER_KEYS": ("/etc/keys.json", Path("/etc/keys.json")),
    "SEARCH_MCP_PUBLIC_URL": ("https://search.example", "https://search.example"),
    "SEARCH_MCP_DRAIN_SECONDS": ("3", 3.0),
    "SEARCH_MCP_CALL_LIMIT": ("50", 50),
    "SEARCH_MCP_CALLS_PER_MINUTE": ("120", 120),
    "SEARCH_MCP_PROXY": ("socks5://u:p@proxy.example:1080", "socks5://u:p@proxy.example:1080"),
    "SEARCH_MCP_PROXY_DNS": ("local", "local"),
    "SEARCH_MCP_ALLOW_NETS": ("10.1.2.3/16, fd12::/16", ("10.1.0.0/16", "fd12::/16")),
    "SEARCH_MCP_TEST_HOSTS": (
        "WWW.Example.com=127.0.0.1:8080,v6.example=[::1]:81",
        (("www.example.com", "127.0.0.1", 8080), ("v6.example", "::1", 81)),
    ),
    "SEARCH_MCP_TEST_KEY_PIN": (f"{'a' * 43}=", f"{'a' * 43}="),
    "SEARCH_MCP_THIRD_PARTIES": ("all", "all"),
    "SEARCH_MCP_FILTER_LISTS": ("/etc/easylist.txt, /etc/more.txt", (Path("/etc/easylist.txt"), Path("/etc/more.txt"))),
    "SEARCH_MCP_LANGUAGE": ("zh-Hans", "zh-Hans"),
    "SEARCH_MCP_TIMEZONE": ("Europe/Berlin", "Europe/Berlin"),
    "SEARCH_MCP_TIER": ("Full", "full"),
    "SEARCH_MCP_LIGHT_CHROMIUM": ("/opt/shell", "/opt/shell"),
    "SEARCH_MCP_FULL_CHROMIUM": ("/opt/chromium", "/opt/chromium"),
    "SEARCH_MCP_PEEK_SLOTS": ("3", 3),
    "SEARCH_MCP_RENDER_SLOTS": ("2", 2),
    "SEARCH_MCP_MAX_SLOTS": ("50", 50),
    "SEARCH_MCP_PAGE_MEMORY_MB": ("700", 700),
    "SEARCH_MCP_QUEUE_LIMIT": ("0", 0),
    "SEARCH_MCP_DATABASE_URL": ("postgresql://u:p@db.example/pages", "postgresql://u:p@db.example/pages"),
    "SEARCH_MCP_SHARED_URL": ("redis://u:p@state.example/1", "redis://u:p@state.example/1"),
    "SEARCH_MCP_HOST_PAGES": ("2", 2),
    "SEARCH_MCP_HOST_GAP": ("1.5", 1.5),
    "SEARCH_MCP_ROBOTS": ("Obey", "obey"),
    "SEARCH_MCP_IDENTITY": ("signed", "signed"),
    "SEARCH_MCP_SIGNATURE_AGENT": ("https://agent.example", "https://agent.example"),
    "SEARCH_MCP_SIGNATURE_FORM": ("string", "string"),
    "SEARCH_MCP_SIGNING_KEY": ("YWFh" * 10 + "YWE=", "YWFh" * 10 + "YWE="),
    "SEARCH_MCP_MARKDOWN": ("off", "off"),
    "SEARCH_MCP_WISHES": ("Obey", "obey"),
    "SEARCH_MCP_LOG_LEVEL": ("debug", "debug"),
    "SEARCH_MCP_LOG_FORMAT": ("json", "json"),
    "SEARCH_MCP_TRACES": ("yes", True),
}
BY_VARIABLE = {setting.variable: setting for setting in setting_table() if setting.name not in FILE_ONLY}


def refusal(variable: str, value: str) -> str:
    with pytest.raises(SettingsError) as caught:
        Settings.load({variable: value})
    return str(caught.value)


def test_there_is_an_example_for_every_setting() -> None:
    assert list(EXAMPLES) == list(BY_VARIABLE)


@pytest.mark.parametrize("variable", EXAMPLES)
def test_a_variable_is_understood(variable: str) -> None:
    text, value = EXAMPLES[variable]
    loaded = Settings.load({variable: text})
    assert getattr(loaded, BY_VARIABLE[variable].name) == value


@pytest.mark.parametrize("variable", EXAMPLES)
def test_a_flag_goes_before_a_variable(variable: str) -> None:
    text, value = EXAMPLES[variable]
    name = BY_VARIABLE[variable].name
    assert getattr(Settings.load({variable: "nonsense"}, {name: text}), name) == value


@pytest.mark.parametrize("variable", EXAMPLES)
def test_a_value_that_is_already_right_is_taken_from_a_flag(variable: str) -> None:
    _, value = EXAMPLES[variable]
    name = BY_VARIABLE[variable].name
    assert getattr(Settings.load({}, {name: value}), name) == value


def test_nothing_given_makes_the_defaults() -> None:
    assert Settings.load({}, {"port": None}) == Settings()
    assert all(getattr(Settings(), setting.name) == setting.default for setting in setting_table())


def test_a_blank_variable_counts_as_not_given() -> None:
    assert Settings.load({"SEARCH_MCP_PORT": " ", "SEARCH_MCP_PROXY": ""}) == Settings()


def test_every_setting_has_help_and_a_unique_name() -> None:
    table = setting_table()
    assert all(setting.help.endswith(".") and setting.kind.label for setting in table)
    assert len({setting.flag for setting in table}) == len({setting.variable for setting in table}) == len(table)


@pytest.mark.parametrize(
    ("name", "value", "what_would_be_right"),
    [
        ("PORT", "http", "give a whole number from 0 to 65535"),
        ("PORT", "65536", "give a whole number from 0 to 65535"),
        ("CACHE_HOURS", "7d", "give a number from 0 to 87600 (h)"),
        ("TOOL_TIMEOUT", "nan", "give a number from 1 to 3600 (s)"),
        ("ALLOW_UNAUTHENTICATED", "maybe", "give yes or no"),
        ("TIER", "ful", 'give one of light, full (did you mean "full"?)'),
        ("ALLOW_NETS", "10.0.0.0/8,home", "'home' is not a network; write it as 10.1.0.0/16 or fd12::/16"),
        ("LANGUAGE", "en_US", "give a language tag such as en-US, de or zh-Hans"),
        (
            "ALLOWED_HOSTS",
            "https://search.example",
            "'https://search.example' is not a host name; write search.example.org or search.example.org:8443",
        ),
        (
            "ALLOWED_ORIGINS",
            "app.example",
            "'app.example' is not an origin; write https://app.example.org, with its port where it has one",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_name_with_what_would_be_right(
    name: str, value: str, what_would_be_right: str
) -> None:
    variable = f"SEARCH_MCP_{name}"
    assert refusal(variable, value) == f"{variable}={value!r} cannot be used: {what_would_be_right}"


@pytest.mark.parametrize(
    ("variable", "right", "wrong"),
    [
        (
            "ALLOWED_HOSTS",
            "a.example, search.lan:9,192.168.1.5:8000,[::1]:8000,search_mcp.",
            ("*", "a/b", "a b", "*.a"),
        ),
        (
            "ALLOWED_ORIGINS",
            "https://a.example/,http://localhost:3000,chrome-extension://abcdefgh",
            ("*", "null", "https://a.example/path", "https://*.a.example", "https://u@a.example"),
        ),
    ],
)
def test_what_no_header_could_ever_hold_is_refused(variable: str, right: str, wrong: tuple[str, ...]) -> None:
    name = f"SEARCH_MCP_{variable}"
    given = getattr(Settings.load({name: right}), BY_VARIABLE[name].name)
    assert given == tuple(part.strip() for part in right.split(","))
    for entry in wrong:
        assert f"{entry!r} is not a" in refusal(name, f"localhost,{entry}" if variable == "ALLOWED_HOSTS" else entry)


@pytest.mark.parametrize(
    "pair",
    ["example.com", "example.com=127.0.0.1", "*.example.com=127.0.0.1:80", "10.0.0.1=127.0.0.1:80",
     "example.com=localhost:80", "example.com=127.0.0.1:0", "=127.0.0.1:80"],
)  # fmt: skip
def test_a_test_host_is_an_exact_name_with_an_address_and_a_port(pair: str) -> None:
    assert "www.example.com=127.0.0.1:8080" in refusal("SEARCH_MCP_TEST_HOSTS", pair)


@pytest.mark.parametrize(
    ("url", "usable"),
    [
        ("rediss://u:geheim@state.example/0?ssl_ca_certs=/etc/ca.pem&ssl_cert_reqs=required", True),
        ("valkeys://state.example?ssl_check_hostname=false", True),
        ("unix:///run/valkey.sock?db=1&password=geheim", True),
        ("redis://u:geheim@state.example/0?ssl_ca_certs=/etc/ca.pem", False),
        ("rediss://u:geheim@state.example/0?ssl_cert_reqs=maybe", False),
        ("redis://state.example/0?pasword=geheim", False),
        ("redis://u:geheim@state.example/0?geheim", False),
        ("unix:///run/valkey.sock?db=geheim", False),
        ("redis://u:geh/eim@state.example/0", False),
    ],
)
def test_a_shared_url_may_ask_only_for_what_its_client_knows(url: str, usable: bool) -> None:
    if usable:
        assert Settings.load({"SEARCH_MCP_SHARED_URL": url}).shared_url == url
    else:
        refused = refusal("SEARCH_MCP_SHARED_URL", url)
        assert "give redis://user:password@host:port/0" in refused and "geheim" not in refused


@pytest.mark.parametrize(
    "proxy",
    ["ftp://user:geheim@host", "http://user:geheim@", "user:geheim", "http://h:99999/x", "http://user:geheim@host"],
)
def test_a_wrong_proxy_is_refused_without_its_password(proxy: str) -> None:
    assert "geheim" not in refusal("SEARCH_MCP_PROXY", proxy)


def test_a_flag_is_named_as_a_flag() -> None:
    with pytest.raises(SettingsError, match=r"^--log-level='loud' cannot be used"):
        Settings.load({}, {"log_level": "loud"})


def test_secrets_do_not_show() -> None:
    settings = Settings.load({"SEARCH_MCP_TOKEN": "geheim", "SEARCH_MCP_PROXY": "http://u:geheim@host:1"})
    assert "geheim" not in repr(settings)
    assert {setting.name for setting in setting_table() if setting.secret} == {
        "token",
        "profile_key",
        "signing_key",
        "proxy",
        "shared_url",
        "database_url",
    }


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("from the file\n")
    environ = {"SEARCH_MCP_TOKEN_FILE": str(secret)}
    assert Settings.load(environ).token == "from the file"
    assert Settings.load({**environ, "SEARCH_MCP_TOKEN": "named"}).token == "named"
    assert Settings.load(environ, {"token": "flag"}).token == "flag"
    assert unknown_variables(environ) == ()
    assert len(unknown_variables({"SEARCH_MCP_PORT_FILE": "/etc/port"})) == 1


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff"])
def test_an_empty_secret_file_is_an_error(content: bytes | None, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    if content is not None:
        secret.write_bytes(content)
    with pytest.raises(SettingsError, match=r"SEARCH_MCP_TOKEN_FILE=.*/token cannot be"):
        Settings.load({"SEARCH_MCP_TOKEN_FILE": str(secret)})


def test_a_missing_secret_file_is_reported_with_a_next_step(tmp_path: Path) -> None:
    gone = tmp_path / "token"
    with pytest.raises(SettingsError) as caught:
        Settings.load({"SEARCH_MCP_TOKEN_FILE": str(gone)})
    assert str(caught.value) == (
        f"SEARCH_MCP_TOKEN_FILE={gone} cannot be read: the file does not exist. Correct the path, or create the file."
    )


def test_unknown_variables_are_reported_with_a_suggestion() -> None:
    environ = {"SEARCH_MCP_ALOW_NETS": "", "SEARCH_MCP_QUX": "", "SEARCH_MCP_PORT": "", "OTHER_PORT": ""}
    assert unknown_variables(environ) == (
        'Unknown variable SEARCH_MCP_ALOW_NETS is ignored (did you mean "SEARCH_MCP_ALLOW_NETS"?).',
        "Unknown variable SEARCH_MCP_QUX is ignored.",
    )


def test_the_browsers_get_what_concerns_them() -> None:
    settings = Settings.load({variable: text for variable, (text, _) in EXAMPLES.items()})
    browsers = settings.browser_settings()
    assert browsers.allow_nets == ("10.1.0.0/16", "fd12::/16")
    assert browsers.test_hosts == (("www.example.com", "127.0.0.1", 8080), ("v6.example", "::1", 81))
    assert (browsers.proxy, browsers.proxy_dns) == ("socks5://u:p@proxy.example:1080", "local")
    assert (browsers.language, browsers.timezone) == ("zh-Hans", "Europe/Berlin")
    assert (browsers.light_executable, browsers.full_executable) == ("/opt/shell", "/opt/chromium")
    assert (browsers.peek_slots, browsers.render_slots, browsers.max_slots, browsers.queue_limit) == (3, 2, 50, 0)


def test_a_variable_has_priority_over_the_configuration_file_and_a_flag_over_both(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('port = 1\nhost_pages = 2\ncache_hours = 3\ntoolsets = ["core"]\nrest = true\n', encoding="utf-8")
    loaded = Settings.load({"SEARCH_MCP_PORT": "10", "SEARCH_MCP_HOST_PAGES": "20"}, {"port": 100}, file)
    assert (loaded.port, loaded.host_pages, loaded.cache_ttl_h) == (100, 20, 3.0)
    assert loaded.toolsets == ("core",) and loaded.rest is True


def test_a_variable_and_a_flag_name_another_configuration_file(tmp_path: Path) -> None:
    files = [tmp_path / f"{port}.toml" for port in (1, 2, 3)]
    for port, file in enumerate(files, 1):
        file.write_text(f"port = {port}", encoding="utf-8")
    by_variable = {"SEARCH_MCP_CONFIG": str(files[1])}
    assert Settings.load({}, {}, files[0]).port == 1
    assert Settings.load(by_variable, {}, files[0]).port == 2
    assert Settings.load(by_variable, {"config_file": str(files[2])}, files[0]).port == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("port = ", "is not TOML: Invalid value \\(at end of document\\). Correct this line."),
        ("prot = 1", r"names 'prot', which is not a setting \(did you mean \"port\"\?\)"),
        ("port = 99999", ".*: port=99999 cannot be used: give a whole number from 0 to 65535"),
        ("[port]\nx = 1", ".*: port=.* cannot be used: give a whole number"),
        ("config = 'other.toml'", "names 'config', which is not a setting"),
        ("token = ['geheim']", r"token=\(not shown\) cannot be used"),
    ],
)
def test_a_wrong_configuration_file_is_explained(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        Settings.load({}, {}, file)


def test_a_configuration_file_that_cannot_be_read_is_explained(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: the file does not exist"):
        Settings.load({"SEARCH_MCP_CONFIG": str(tmp_path / "none.toml")})
    (tmp_path / "latin.toml").write_bytes(b"host = '\xe9'")
    with pytest.raises(SettingsError, match="it is not UTF-8 text"):
        Settings.load({}, {"config_file": tmp_path / "latin.toml"})
