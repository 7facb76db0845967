"""Define every setting once: variable, flag, type, default, unit and help text.

The fields of `Settings` are the table. Variables, command line options and documentation come from it.
"""
# ruff: noqa: RUF009 - _setting returns a field of the dataclass

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scraper.settings.files import SettingsError, UnreadableFileError, find_cache_folder, read_text_file
from scraper.values import types
from scraper.values.text import suggest
from scraper.values.types import (
    BooleanValue,
    ChoiceValue,
    CommaListValue,
    IntegerValue,
    InvalidValueError,
    NumberValue,
    PathValue,
    StringValue,
    ValueType,
)

if TYPE_CHECKING:
    from browsers.request_signing import RequestSigner
    from browsers.settings import BrowserSettings

_PREFIX = "SEARCH_MCP_"
COMMAND_VARIABLES = ("SEARCH_MCP_AGENT", "SEARCH_MCP_DAEMON")
FILE_ONLY = frozenset({"agent_flags"})
"""Settings without variable and flag, which a coding agent could set."""

_CORES = os.cpu_count() or 2


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of the operator."""

    name: str
    variable: str
    flag: str
    kind: ValueType
    default: object
    help: str
    unit: str
    secret: bool
    """True if the value is never shown or logged. It may be read from a file, because orchestrators mount secrets as
    files."""

    @property
    def key(self) -> str:
        """The name of the setting in a configuration file."""
        return self.variable.removeprefix(_PREFIX).lower()

    @property
    def file_variable(self) -> str:
        """Variable with the path of a secret's file."""
        return self.variable + "_FILE"

    @property
    def default_text(self) -> str:
        """Return the default as an operator writes it; empty for none."""
        if isinstance(self.default, tuple):
            return ",".join(self.default)
        if isinstance(self.default, float):
            return f"{self.default:g}"
        return "" if self.default is None else str(self.default)

    @property
    def is_switch(self) -> bool:
        """Return True if the flag has no value."""
        return isinstance(self.kind, BooleanValue)


def _setting(
    kind: ValueType, help_text: str, default: object = None, *, label: str = "", unit: str = "", secret: bool = False
) -> Any:
    """Define a field of `Settings`; `label` is the variable without prefix if it is not the name of the field."""
    metadata = {"label": label, "kind": kind, "help": help_text, "unit": unit}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the operator, read once at the start."""

    config_file: Path | None = _setting(
        PathValue(),
        "TOML file with settings; by default config.toml in the user's configuration folder.",
        label="CONFIG",
    )
    data_dir: Path = _setting(
        PathValue(), "Folder for cached pages, cached searches and indexes.", find_cache_folder, label="DATA"
    )
    cache_ttl_h: float = _setting(
        NumberValue(0, 87_600),
        "Maximum age of a cached page if the call gives none; 0 reads every page again.",
        168.0,
        unit="h",
        label="CACHE_HOURS",
    )
    cache_mb: int = _setting(
        IntegerValue(0, 1_000_000),
        "Maximum size of the page cache; the oldest pages are evicted first; 0 disables the cache.",
        1_000,
        unit="MB",
    )

    tool_timeout_s: float = _setting(
        NumberValue(1, 3_600),
        "Deadline of a call; most clients give up after 60 s.",
        55.0,
        unit="s",
        label="TOOL_TIMEOUT",
    )
    max_answer_tokens: int = _setting(
        IntegerValue(500, 25_000), "Size of an answer if the call does not request more.", 9_000, unit="tokens"
    )
    batch_limit: int = _setting(IntegerValue(1, 1_000), "Maximum URLs in one fetch_batch.", 50)
    toolsets: tuple[str, ...] = _setting(
        CommaListValue(ChoiceValue(("default", "all", "core", "reading", "research", "browsing", "acting")), "set,..."),
        "Sets of tools to list; find_tools finds the others. Only all, browsing and acting offer browse.",
        ("default",),
    )
    tools: tuple[str, ...] = _setting(CommaListValue(), "Tools to offer instead of toolsets, separated by commas.", ())

    acting: str = _setting(
        ChoiceValue(("read", "act")),
        "What browse may do: read sends no forms and no passwords; act does what its steps say.",
        "read",
    )

    page_tools: str = _setting(
        ChoiceValue(("on", "strict", "off")),
        "Tools that pages offer in browse (WebMCP): strict lets one that says it only reads send nothing in read mode.",
        "on",
    )

    agent_flags: bool = _setting(
        BooleanValue(),
        "Let coding agents use all flags and files; only in config.toml in the user's configuration folder.",
        False,
    )

    profile_key: str | None = _setting(
        StringValue(),
        "Key that encrypts login profiles: 32 random bytes in base64; without it, one is created in the data folder.",
        secret=True,
    )
    contact: str | None = _setting(
        StringValue(), "Mail address that sources such as Crossref may use to reach you; sent to them."
    )
    output_schemas: bool = _setting(
        BooleanValue(),
        "Declare output schemas and repeat answers as structured content, for programs that validate; many clients then"
        " show a model no text.",
        False,
    )

    resources: bool = _setting(
        BooleanValue(), "Offer cached pages and indexed documents as resources of the protocol.", True
    )
    strict_clients: tuple[str, ...] = _setting(
        CommaListValue(StringValue(), "name,..."),
        "Clients that refuse the extension `search` of the protocol, by the start of a name: * stands for any text.",
        ("Java SDK MCP*", "Spring AI MCP*", "spring-ai-mcp*", "Java-http-client/*", "Java/*", "ReactorNetty/*"),
    )

    document_root: Path | None = _setting(
        PathValue(), "Folder whose files read_doc may read; by default it reads no local files."
    )
    document_mb: int = _setting(IntegerValue(1, 1_000), "Maximum size of a document.", 50, unit="MB")

    host: str = _setting(StringValue(), "Address to listen on.", "127.0.0.1")
    port: int = _setting(IntegerValue(0, 65_535), "Port to listen on; 0 chooses a free one.", 8_000)
    token: str | None = _setting(StringValue(), "Token that callers must send.", secret=True)
    tokens_file: Path | None = _setting(PathValue(), "File with one line name:token for each caller.")
    allow_unauthenticated: bool = _setting(
        BooleanValue(), "Listen without a token on an address that other machines reach.", False
    )
    rest: bool = _setting(
        BooleanValue(), "Serve the tools over plain HTTP too: /v1/TOOL, /r/URL and /v1/openapi.json.", False
    )
    allowed_hosts: tuple[str, ...] = _setting(
        CommaListValue(types.HOST_HEADER, "name,..."),
        "Accepted values of the Host header besides loopback; name or name:port.",
        (),
    )
    allowed_origins: tuple[str, ...] = _setting(
        CommaListValue(types.ORIGIN, "origin,..."), "Origins of web pages that may call the server.", ()
    )
    issuer: str | None = _setting(
        types.WEB_ADDRESS, "URL of an OAuth issuer whose tokens are accepted besides our own."
    )
    issuer_keys: Path | None = _setting(PathValue(), "File of the issuer's public keys, as a JSON Web Key Set.")
    public_url: str | None = _setting(
        types.WEB_ADDRESS,
        "URL at which clients reach the server; the audience of the issuer's tokens must be this URL.",
    )
    drain_s: float = _setting(
        NumberValue(0, 600),
        "Time for running calls to finish when the server stops.",
        9.0,
        unit="s",
        label="DRAIN_SECONDS",
    )
    call_limit: int = _setting(
        IntegerValue(1, 100_000),
        "Maximum running calls; beyond it, callers with the most calls are rejected first.",
        200,
    )
    calls_per_minute: int = _setting(
        IntegerValue(0, 1_000_000), "Maximum calls per minute and caller; 0 means no limit.", 0
    )

    proxy: str | None = _setting(
        types.PROXY_URL, "Proxy for all outgoing traffic: http://user:password@host:port or socks5://...", secret=True
    )
    proxy_dns: str = _setting(
        ChoiceValue(("remote", "local")),
        "Where names are resolved if there is a proxy: remote is the proxy, local is this machine.",
        "remote",
    )
    allow_nets: tuple[str, ...] = _setting(
        CommaListValue(types.NETWORK, "address/bits,..."),
        "Private networks that may be visited, e.g. 10.1.0.0/16,198.18.0.0/15.",
        (),
    )
    test_hosts: tuple[tuple[str, str, int], ...] = _setting(
        CommaListValue(types.HOST_MAPPING, "name=address:port,..."),
        "For tests: name=address:port pairs; the name is served from this address instead of the web.",
        (),
    )
    test_key_pin: str | None = _setting(
        types.KEY_PIN, "For tests: SHA-256 of the public key in a test host's certificate, in base64."
    )

    third_parties: str = _setting(
        ChoiceValue(("content_only", "all")),
        "Third parties that pages load: all, or none for ads, analytics, social widgets, marketing, chat, consent.",
        "content_only",
    )
    filter_lists: tuple[Path, ...] = _setting(
        CommaListValue(PathValue(), "path,..."),
        "Files with filter rules like EasyList's; rendered pages do not load hosts that they block.",
        (),
    )
    language: str = _setting(types.LANGUAGE, "Language to request from sites.", "en-US")
    timezone: str | None = _setting(types.TIME_ZONE, "Time zone that sites see; this machine's by default.")
    tier: str = _setting(
        ChoiceValue(("light", "full")),
        "Chromium that reads pages: light is fast, full is blocked by fewer sites.",
        "light",
    )
    light_executable: str | None = _setting(
        StringValue(), "Path of chromium-headless-shell; found automatically by default.", label="LIGHT_CHROMIUM"
    )
    full_executable: str | None = _setting(
        StringValue(), "Path of chromium; found automatically by default.", label="FULL_CHROMIUM"
    )
    peek_slots: int = _setting(IntegerValue(1, 64), "Pages read at once without rendering.", min(4 * _CORES, 16))
    render_slots: int = _setting(IntegerValue(1, 64), "Pages rendered at once.", min(2 * _CORES, 8))
    max_slots: int = _setting(
        IntegerValue(1, 256),
        "Pages read, and pages rendered, at once while CPU and memory are free; the two above apply otherwise.",
        min(24 * _CORES, 96),
    )
    page_memory_mb: int = _setting(
        IntegerValue(200, 16_000),
        "Memory in MB that a rendered page may use; beyond it, the page is returned as the server sent it.",
        600,
    )
    queue_limit: int = _setting(IntegerValue(0, 10_000), "Maximum waiting pages; beyond it, calls are rejected.", 64)

    database_url: str | None = _setting(
        types.DATABASE_URL,
        "PostgreSQL in which servers share pages and indexes: postgresql://user:password@host/database.",
        secret=True,
    )
    shared_url: str | None = _setting(
        types.STATE_URL,
        "Valkey or Redis in which servers share rate limits and host limits: redis://user:password@host/0.",
        secret=True,
    )
    host_pages: int = _setting(
        IntegerValue(0, 1_000), "Pages read at once from one host by all servers together; 0 means no shared limit.", 32
    )
    host_gap_s: float = _setting(
        NumberValue(0, 3_600), "Minimum time between two visits to one host.", 0.0, unit="s", label="HOST_GAP"
    )
    robots: str = _setting(
        ChoiceValue(("off", "warn", "obey")),
        "Treatment of robots.txt: ignore it, add a warning to the answer, or do not read forbidden pages.",
        "off",
    )
    identity: str = _setting(
        ChoiceValue(("stealth", "signed")),
        "Visit as a usual browser, or sign requests for documents (Web Bot Auth) and obey robots.txt.",
        "stealth",
    )
    signature_agent: str | None = _setting(
        types.ORIGIN, "With identity=signed: https URL of the site that publishes the keys, without a path."
    )
    signature_form: str = _setting(
        ChoiceValue(("dictionary", "string")), "Form of Signature-Agent; string is that of older drafts.", "dictionary"
    )
    signing_key: str | None = _setting(
        StringValue(),
        "Key that signs, 32 random bytes in base64; a second one, after a comma, is only published.",
        secret=True,
    )

    markdown: str = _setting(
        ChoiceValue(("alternates", "off")),
        "Markdown that a site names for a page (Link, <link>): read it instead of rendering a page with little text.",
        "alternates",
    )
    wishes: str = _setting(
        ChoiceValue(("report", "off", "obey")),
        "Wishes of publishers about AI: name them in answers, ignore them, or do not read pages that AI may not use.",
        "report",
    )

    log_level: str = _setting(
        ChoiceValue(("debug", "info", "warning", "error")), "Lowest level that is logged.", "info"
    )
    log_format: str = _setting(ChoiceValue(("text", "json")), "Format of the log lines on stderr.", "text")
    traces: bool = _setting(
        BooleanValue(), "Send OpenTelemetry spans; the variables OTEL_EXPORTER_OTLP_... define the destination.", False
    )

    @classmethod
    def load(
        cls, environ: Mapping[str, str], flags: Mapping[str, object] | None = None, default_config: Path | None = None
    ) -> Settings:
        """Return the settings of flags, variables and a configuration file, in this order, or raise SettingsError."""
        flags = flags or {}
        config_setting = setting_table()[0]
        config_file = _from_call(config_setting, environ, flags) or default_config
        values: dict[str, Any] = _read_config(config_file) if isinstance(config_file, Path) else {}
        for setting in setting_table():
            if (value := _from_call(setting, environ, flags)) is not None:
                values[setting.name] = value
        return cls(**values)

    def browser_settings(self) -> BrowserSettings:
        """Return the settings of the browsers: those with a name that both have, and the memory of a page."""
        # Imported late, because `browsers` takes longer to load than the command line may take to answer.
        from browsers.settings import BrowserSettings

        names = {entry.name for entry in dataclasses.fields(BrowserSettings)}
        shared: dict[str, Any] = {name: getattr(self, name) for name in names.intersection(self.__slots__)}
        return BrowserSettings(**shared, page_memory_bytes=self.page_memory_mb * 1_000_000, signer=self.signer())

    def signer(self) -> RequestSigner | None:
        """Return the identity that signs requests, or None; raise SettingsError if it cannot be used."""
        from scraper.settings.signing import load_signer

        if self.identity != "signed":
            return None
        is_dictionary = self.signature_form == "dictionary"
        return load_signer(self.signature_agent, self.signing_key, self.data_dir, is_dictionary=is_dictionary)


@functools.cache
def setting_table() -> tuple[Setting, ...]:
    """Return all settings in the order of the documentation."""
    settings = []
    for entry in dataclasses.fields(Settings):
        label, kind, about, unit = (entry.metadata[name] for name in ("label", "kind", "help", "unit"))
        variable, flag = _PREFIX + (label or entry.name.upper()), (label or entry.name).lower().replace("_", "-")
        default = entry.default if entry.default_factory is dataclasses.MISSING else entry.default_factory()
        settings.append(Setting(entry.name, variable, f"--{flag}", kind, default, about, unit, not entry.repr))
    return tuple(settings)


def unknown_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each variable with our prefix that is not a setting."""
    known = [setting.variable for setting in setting_table() if setting.name not in FILE_ONLY] + [*COMMAND_VARIABLES]
    known += [setting.file_variable for setting in setting_table() if setting.secret]
    # Compared without the prefix, which would make all names similar.
    labels = [variable.removeprefix(_PREFIX) for variable in known]
    return tuple(
        f"Unknown variable {name} is ignored{suggest(name.removeprefix(_PREFIX), labels, prefix=_PREFIX)}."
        for name in sorted(environ)
        if name.startswith(_PREFIX) and name not in known
    )


def _from_call(setting: Setting, environ: Mapping[str, str], flags: Mapping[str, object]) -> object:
    """Return the parsed value of a flag, variable or secret file; None if there is none."""
    if setting.name in FILE_ONLY:
        return None
    flag = flags.get(setting.name)
    variable = environ.get(setting.variable, "").strip()
    file = environ.get(setting.file_variable, "").strip() if setting.secret else ""
    if flag is not None:
        return _parse(setting, setting.flag, flag)
    if variable or not file:
        return _parse(setting, setting.variable, variable) if variable else None
    try:
        content = read_text_file(Path(file)).strip()
    except UnreadableFileError as error:
        raise SettingsError(f"{setting.file_variable}={file} cannot be read: {error}") from None
    if not content:
        raise SettingsError(f"{setting.file_variable}={file} cannot be used: the file is empty.")
    return _parse(setting, setting.file_variable, content)


def _read_config(file: Path) -> dict[str, Any]:
    """Return the values of a configuration file by field name, or raise SettingsError."""
    import tomllib  # Loaded only where there is a file: it takes a tenth of the start.

    try:
        table = tomllib.loads(read_text_file(file))
    except UnreadableFileError as error:
        raise SettingsError(f"The configuration file {file} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The configuration file {file} is not TOML: {error}. Correct this line.") from None
    settings = {setting.key: setting for setting in setting_table()[1:]}
    for key in table:
        if key not in settings:
            hint = suggest(key, settings)
            raise SettingsError(f"The configuration file {file} names {key!r}, which is not a setting{hint}.")
    return {settings[key].name: _parse(settings[key], f"{file}: {key}", value) for key, value in table.items()}


def _parse(setting: Setting, source: str, value: object) -> object:
    try:
        return setting.kind.parse(value.strip() if isinstance(value, str) else value)
    except InvalidValueError as error:
        # The advice never repeats a secret.
        shown = "(not shown)" if setting.secret else repr(value)
        unit = f" ({setting.unit})" if setting.unit else ""
        raise SettingsError(f"{source}={shown} cannot be used: {error.advice}{unit}") from None
