"""Define every setting once: variable, flag, type, default, unit and help text.

The fields of `Settings` are the table, `settings.toml` has their texts. Variables, command line options and
documentation come from both.
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
from scraper.values.text import read_table, suggest
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
    """The value is never shown or logged. It may be read from a file, because orchestrators mount secrets as files."""

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


def _setting(kind: ValueType, default: object = None, *, secret: bool = False) -> Any:
    """Define a field of `Settings`."""
    if callable(default):
        return dataclasses.field(default_factory=default, metadata={"kind": kind})
    return dataclasses.field(default=default, metadata={"kind": kind}, repr=not secret)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the operator, read once at the start."""

    config_file: Path | None = _setting(PathValue())
    data_dir: Path = _setting(PathValue(), find_cache_folder)
    cache_ttl_h: float = _setting(NumberValue(0, 87_600), 168.0)
    cache_mb: int = _setting(IntegerValue(0, 1_000_000), 1_000)

    tool_timeout_s: float = _setting(NumberValue(1, 3_600), 55.0)
    max_answer_tokens: int = _setting(IntegerValue(500, 25_000), 9_000)
    batch_limit: int = _setting(IntegerValue(1, 1_000), 50)
    toolsets: tuple[str, ...] = _setting(
        CommaListValue(ChoiceValue(("default", "all", "core", "reading", "research", "browsing", "acting")), "set,..."),
        ("default",),
    )
    tools: tuple[str, ...] = _setting(CommaListValue(), ())

    acting: str = _setting(ChoiceValue(("read", "act")), "read")

    page_tools: str = _setting(ChoiceValue(("on", "strict", "off")), "on")

    agent_flags: bool = _setting(BooleanValue(), False)

    profile_key: str | None = _setting(StringValue(), secret=True)
    contact: str | None = _setting(StringValue())
    output_schemas: bool = _setting(BooleanValue(), False)

    resources: bool = _setting(BooleanValue(), True)
    strict_clients: tuple[str, ...] = _setting(
        CommaListValue(StringValue(), "name,..."),
        ("Java SDK MCP*", "Spring AI MCP*", "spring-ai-mcp*", "Java-http-client/*", "Java/*", "ReactorNetty/*"),
    )

    document_root: Path | None = _setting(PathValue())
    document_mb: int = _setting(IntegerValue(1, 1_000), 50)

    host: str = _setting(StringValue(), "127.0.0.1")
    port: int = _setting(IntegerValue(0, 65_535), 8_000)
    token: str | None = _setting(StringValue(), secret=True)
    tokens_file: Path | None = _setting(PathValue())
    allow_unauthenticated: bool = _setting(BooleanValue(), False)
    rest: bool = _setting(BooleanValue(), False)
    allowed_hosts: tuple[str, ...] = _setting(CommaListValue(types.HOST_HEADER, "name,..."), ())
    allowed_origins: tuple[str, ...] = _setting(CommaListValue(types.ORIGIN, "origin,..."), ())
    issuer: str | None = _setting(types.WEB_ADDRESS)
    issuer_keys: Path | None = _setting(PathValue())
    public_url: str | None = _setting(types.WEB_ADDRESS)
    drain_s: float = _setting(NumberValue(0, 600), 9.0)
    call_limit: int = _setting(IntegerValue(1, 100_000), 200)
    calls_per_minute: int = _setting(IntegerValue(0, 1_000_000), 0)

    proxy: str | None = _setting(types.PROXY_URL, secret=True)
    proxy_dns: str = _setting(ChoiceValue(("remote", "local")), "remote")
    allow_nets: tuple[str, ...] = _setting(CommaListValue(types.NETWORK, "address/bits,..."), ())
    test_hosts: tuple[tuple[str, str, int], ...] = _setting(
        CommaListValue(types.HOST_MAPPING, "name=address:port,..."), ()
    )
    test_key_pin: str | None = _setting(types.KEY_PIN)

    third_parties: str = _setting(ChoiceValue(("content_only", "all")), "content_only")
    filter_lists: tuple[Path, ...] = _setting(CommaListValue(PathValue(), "path,..."), ())
    language: str = _setting(types.LANGUAGE, "en-US")
    timezone: str | None = _setting(types.TIME_ZONE)
    tier: str = _setting(ChoiceValue(("light", "full")), "light")
    light_executable: str | None = _setting(StringValue())
    full_executable: str | None = _setting(StringValue())
    peek_slots: int = _setting(IntegerValue(1, 64), min(4 * _CORES, 16))
    render_slots: int = _setting(IntegerValue(1, 64), min(2 * _CORES, 8))
    max_slots: int = _setting(IntegerValue(1, 256), min(24 * _CORES, 96))
    page_memory_mb: int = _setting(IntegerValue(200, 16_000), 600)
    queue_limit: int = _setting(IntegerValue(0, 10_000), 64)

    database_url: str | None = _setting(types.DATABASE_URL, secret=True)
    shared_url: str | None = _setting(types.STATE_URL, secret=True)
    host_pages: int = _setting(IntegerValue(0, 1_000), 32)
    host_gap_s: float = _setting(NumberValue(0, 3_600), 0.0)
    robots: str = _setting(ChoiceValue(("off", "warn", "obey")), "off")
    identity: str = _setting(ChoiceValue(("stealth", "signed")), "stealth")
    signature_agent: str | None = _setting(types.ORIGIN)
    signature_form: str = _setting(ChoiceValue(("dictionary", "string")), "dictionary")
    signing_key: str | None = _setting(StringValue(), secret=True)

    markdown: str = _setting(ChoiceValue(("alternates", "off", "ask")), "alternates")
    wishes: str = _setting(ChoiceValue(("report", "off", "obey")), "report")

    log_level: str = _setting(ChoiceValue(("debug", "info", "warning", "error")), "info")
    log_format: str = _setting(ChoiceValue(("text", "json")), "text")
    traces: bool = _setting(BooleanValue(), False)

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
    texts = read_table(__package__, "settings.toml")
    for entry in dataclasses.fields(Settings):
        text, kind = texts[entry.name], entry.metadata["kind"]
        label, about, unit = text.get("label", ""), text["help"], text.get("unit", "")
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
