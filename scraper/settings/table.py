"""What an operator can choose, each thing once: variable, flag, kind, default, unit and a line of help.

The fields of `Settings` are the table. Variables, command line options and documentation are made from it, so
that none of them can know something that the others do not.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from scraper.settings.cache_dir import cache_folder
from scraper.settings.named_files import UnreadableFileError, text_in
from scraper.settings.network_values import (
    DatabaseUrlSetting,
    HostMapSetting,
    HostNamesSetting,
    KeyPinSetting,
    NetworksSetting,
    OriginsSetting,
    ProxySetting,
    StateUrlSetting,
    WebAddressSetting,
)
from scraper.settings.values import (
    BooleanSetting,
    ChoiceSetting,
    FolderSetting,
    IntegerSetting,
    LanguageSetting,
    ListSetting,
    NumberSetting,
    SettingType,
    StringSetting,
    TimeZoneSetting,
)

if TYPE_CHECKING:
    from browsers.settings import BrowserSettings

PREFIX = "SEARCH_MCP_"

_CORES = os.cpu_count() or 2
_MISSPELT = 0.6
"""Similarity from which a wrong name counts as a misspelling (difflib's own default)."""


class SettingsError(ValueError):
    """A value that cannot be used; the message names where it stands and what would be right."""


@dataclass(frozen=True, slots=True)
class SettingChoices:
    """What a field of `Settings` says about itself besides its type and default."""

    label: str
    """The variable without its prefix."""
    kind: SettingType
    help: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing an operator can choose."""

    name: str
    """The field of `Settings`."""
    variable: str
    flag: str
    kind: SettingType
    default: object
    help: str
    unit: str
    secret: bool
    """Never shown or logged; may stand in a file, as orchestrators hand out secrets."""

    @property
    def file_variable(self) -> str:
        """The variable that names the file in which a secret stands."""
        return self.variable + "_FILE"

    @property
    def is_switch(self) -> bool:
        """Whether the flag stands alone, without a value."""
        return isinstance(self.kind, BooleanSetting)


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's choices, read once at the start and handed down."""

    data_dir: Annotated[
        Path, SettingChoices("DATA", FolderSetting(), "Folder of kept pages, searches and indexes.")
    ] = field(default_factory=cache_folder)
    cache_ttl_h: Annotated[
        float,
        SettingChoices(
            "CACHE_HOURS",
            NumberSetting(0, 87_600),
            "How old a cached page may be when a call does not say; 0 reads every page anew.",
            "h",
        ),
    ] = 168.0
    cache_mb: Annotated[
        int,
        SettingChoices(
            "CACHE_MB",
            IntegerSetting(0, 1_000_000),
            "Size of the page cache above which the oldest pages are dropped; 0 keeps no cache.",
            "MB",
        ),
    ] = 1_000

    tool_timeout_s: Annotated[
        float,
        SettingChoices(
            "TOOL_TIMEOUT",
            NumberSetting(1, 3_600),
            "Deadline of a call; most clients give up after 60 s.",
            "s",
        ),
    ] = 55.0
    max_answer_tokens: Annotated[
        int,
        SettingChoices(
            "MAX_ANSWER_TOKENS",
            IntegerSetting(500, 25_000),
            "Size of an answer when the call does not ask for more.",
            "tokens",
        ),
    ] = 9_000
    batch_limit: Annotated[
        int, SettingChoices("BATCH_LIMIT", IntegerSetting(1, 1_000), "URLs in one fetch_batch.")
    ] = 50
    tools: Annotated[
        tuple[str, ...],
        SettingChoices("TOOLS", ListSetting(), "Tools to offer, separated by commas; all when not given."),
    ] = ()

    document_root: Annotated[
        Path | None,
        SettingChoices(
            "DOCUMENT_ROOT",
            FolderSetting(),
            "Folder beneath which read_doc may read local files; none are read when not given.",
        ),
    ] = None
    document_mb: Annotated[
        int,
        SettingChoices(
            "DOCUMENT_MB", IntegerSetting(1, 1_000), "Size of the largest document that is read.", "MB"
        ),
    ] = 50

    host: Annotated[str, SettingChoices("HOST", StringSetting(), "Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, SettingChoices("PORT", IntegerSetting(0, 65_535), "Port to listen on; 0 takes a free one.")
    ] = 8_000
    token: Annotated[
        str | None, SettingChoices("TOKEN", StringSetting(), "The token that callers must send.")
    ] = field(default=None, repr=False)
    tokens_file: Annotated[
        Path | None, SettingChoices("TOKENS_FILE", FolderSetting(), "File of name:token lines, one a caller.")
    ] = None
    allow_unauthenticated: Annotated[
        bool,
        SettingChoices(
            "ALLOW_UNAUTHENTICATED",
            BooleanSetting(),
            "Listen on an address that others reach, without asking for a token.",
        ),
    ] = False
    allowed_hosts: Annotated[
        tuple[str, ...],
        SettingChoices(
            "ALLOWED_HOSTS",
            HostNamesSetting(),
            "Host names under which the server may be called, besides loopback; name or name:port.",
        ),
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...],
        SettingChoices("ALLOWED_ORIGINS", OriginsSetting(), "Origins of web pages that may call the server."),
    ] = ()
    issuer: Annotated[
        str | None,
        SettingChoices(
            "ISSUER", WebAddressSetting(), "URL of an OAuth issuer whose tokens are taken besides our own."
        ),
    ] = None
    issuer_keys: Annotated[
        Path | None,
        SettingChoices(
            "ISSUER_KEYS", FolderSetting(), "File of the issuer's public keys, as a JSON Web Key Set."
        ),
    ] = None
    public_url: Annotated[
        str | None,
        SettingChoices(
            "PUBLIC_URL",
            WebAddressSetting(),
            "URL under which clients reach the server; the issuer's tokens must be made out to it.",
        ),
    ] = None
    drain_s: Annotated[
        float,
        SettingChoices(
            "DRAIN_SECONDS",
            NumberSetting(0, 600),
            "How long running calls may take to end when the server is told to stop.",
            "s",
        ),
    ] = 9.0
    call_limit: Annotated[
        int,
        SettingChoices(
            "CALL_LIMIT",
            IntegerSetting(1, 100_000),
            "Calls under way at once; beyond, callers are told to come back, those with the most first.",
        ),
    ] = 200
    calls_per_minute: Annotated[
        int,
        SettingChoices(
            "CALLS_PER_MINUTE", IntegerSetting(0, 1_000_000), "Calls a minute from one caller; 0 is no bound."
        ),
    ] = 0

    proxy: Annotated[
        str | None,
        SettingChoices(
            "PROXY",
            ProxySetting(),
            "Proxy for everything that leaves: http://user:password@host:port or socks5://...",
        ),
    ] = field(default=None, repr=False)
    proxy_dns: Annotated[
        str,
        SettingChoices(
            "PROXY_DNS",
            ChoiceSetting(("remote", "local")),
            "Who looks up names when there is a proxy: remote is the proxy, local is this machine.",
        ),
    ] = "remote"
    allow_nets: Annotated[
        tuple[str, ...],
        SettingChoices(
            "ALLOW_NETS",
            NetworksSetting(),
            "Networks that may be visited although they are not public, e.g. 10.1.0.0/16,198.18.0.0/15.",
        ),
    ] = ()
    test_hosts: Annotated[
        tuple[tuple[str, str, int], ...],
        SettingChoices(
            "TEST_HOSTS",
            HostMapSetting(),
            "For tests: name=address:port pairs; the name is served from there instead of the web.",
        ),
    ] = ()

    test_key_pin: Annotated[
        str | None,
        SettingChoices(
            "TEST_KEY_PIN",
            KeyPinSetting(),
            "For tests: SHA-256 of the public key that a test host's certificate holds, in base64.",
        ),
    ] = None

    language: Annotated[
        str, SettingChoices("LANGUAGE", LanguageSetting(), "Language that sites are asked for.")
    ] = "en-US"
    timezone: Annotated[
        str | None,
        SettingChoices(
            "TIMEZONE", TimeZoneSetting(), "Time zone that sites see; this machine's when not given."
        ),
    ] = None
    tier: Annotated[
        str,
        SettingChoices(
            "TIER",
            ChoiceSetting(("light", "full")),
            "Chromium that reads pages: light is quick, full is let through by more sites.",
        ),
    ] = "light"
    light_executable: Annotated[
        str | None,
        SettingChoices(
            "LIGHT_CHROMIUM", StringSetting(), "Path of chromium-headless-shell; looked for when not given."
        ),
    ] = None
    full_executable: Annotated[
        str | None,
        SettingChoices("FULL_CHROMIUM", StringSetting(), "Path of chromium; looked for when not given."),
    ] = None
    peek_slots: Annotated[
        int, SettingChoices("PEEK_SLOTS", IntegerSetting(1, 64), "Pages read at once without rendering.")
    ] = min(4 * _CORES, 16)
    render_slots: Annotated[
        int, SettingChoices("RENDER_SLOTS", IntegerSetting(1, 64), "Pages rendered at once.")
    ] = min(2 * _CORES, 8)
    queue_limit: Annotated[
        int,
        SettingChoices(
            "QUEUE_LIMIT",
            IntegerSetting(0, 10_000),
            "Pages that may wait; beyond, callers are told to come back.",
        ),
    ] = 64

    database_url: Annotated[
        str | None,
        SettingChoices(
            "DATABASE_URL",
            DatabaseUrlSetting(),
            "PostgreSQL in which servers share pages and indexes: postgresql://user:password@host/database.",
        ),
    ] = field(default=None, repr=False)
    shared_url: Annotated[
        str | None,
        SettingChoices(
            "SHARED_URL",
            StateUrlSetting(),
            "Valkey or Redis through which servers share limits and politeness: redis://user:password@host/0.",
        ),
    ] = field(default=None, repr=False)
    host_pages: Annotated[
        int,
        SettingChoices(
            "HOST_PAGES",
            IntegerSetting(0, 1_000),
            "Pages read from one host at once, by all servers together; 0 is no bound but each server's own.",
        ),
    ] = 32
    host_gap_s: Annotated[
        float,
        SettingChoices(
            "HOST_GAP", NumberSetting(0, 3_600), "Least time between two visits to one host.", "s"
        ),
    ] = 0.0
    robots: Annotated[
        str,
        SettingChoices(
            "ROBOTS",
            ChoiceSetting(("off", "warn", "obey")),
            "What robots.txt means: nothing, a warning in the answer, or no for an answer.",
        ),
    ] = "off"

    log_level: Annotated[
        str,
        SettingChoices(
            "LOG_LEVEL", ChoiceSetting(("debug", "info", "warning", "error")), "How much is logged."
        ),
    ] = "info"
    log_format: Annotated[
        str,
        SettingChoices("LOG_FORMAT", ChoiceSetting(("text", "json")), "Shape of the log lines on stderr."),
    ] = "text"
    traces: Annotated[
        bool,
        SettingChoices(
            "TRACES",
            BooleanSetting(),
            "Send OpenTelemetry spans; the usual variables OTEL_EXPORTER_OTLP_... say where to.",
        ),
    ] = False

    @classmethod
    def load(cls, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Settings:
        """The settings that variables and flags make; a flag (by field name; None: not given) goes first.

        Raises:
            SettingsError: a value cannot be used.
        """
        given = flags or {}
        values: dict[str, Any] = {}
        for setting in setting_table():
            flag, variable = given.get(setting.name), environ.get(setting.variable, "").strip()
            file = environ.get(setting.file_variable, "").strip() if setting.secret else ""
            if flag is not None:
                values[setting.name] = _understood(setting, setting.flag, flag)
            elif variable:
                values[setting.name] = _understood(setting, setting.variable, variable)
            elif file:
                values[setting.name] = _understood(setting, setting.file_variable, _content(setting, file))
        return cls(**values)

    def browser_settings(self) -> BrowserSettings:
        """The part that concerns the browsers."""
        # Imported here: the door to the web takes longer to load than the command line may take to answer.
        from browsers.settings import BrowserSettings

        return BrowserSettings(
            light_executable=self.light_executable,
            full_executable=self.full_executable,
            allow_nets=self.allow_nets,
            test_hosts=self.test_hosts,
            test_key_pin=self.test_key_pin,
            proxy=self.proxy,
            proxy_dns=self.proxy_dns,
            language=self.language,
            timezone=self.timezone,
            peek_slots=self.peek_slots,
            render_slots=self.render_slots,
            queue_limit=self.queue_limit,
        )


@functools.cache
def setting_table() -> tuple[Setting, ...]:
    """Every setting, in the order of the documentation."""
    hints = get_type_hints(Settings, include_extras=True)
    return tuple(_setting(entry, hints[entry.name].__metadata__[0]) for entry in dataclasses.fields(Settings))


def _setting(entry: dataclasses.Field[Any], choice: SettingChoices) -> Setting:
    computed = entry.default_factory is not dataclasses.MISSING
    return Setting(
        name=entry.name,
        variable=PREFIX + choice.label,
        flag="--" + choice.label.lower().replace("_", "-"),
        kind=choice.kind,
        default=entry.default_factory() if computed else entry.default,  # type: ignore[operator]
        help=choice.help,
        unit=choice.unit,
        secret=not entry.repr,
    )


def unknown_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each variable that carries our prefix and means nothing to us."""
    known = [setting.variable for setting in setting_table()]
    known += [setting.file_variable for setting in setting_table() if setting.secret]
    return tuple(
        _unknown(name, known) for name in sorted(environ) if name.startswith(PREFIX) and name not in known
    )


def _unknown(name: str, known: list[str]) -> str:
    # Compared without the prefix: it is the same everywhere and would make all names look alike.
    bare = {variable.removeprefix(PREFIX): variable for variable in known}
    close = difflib.get_close_matches(name.removeprefix(PREFIX), bare, n=1, cutoff=_MISSPELT)
    hint = f" Did you mean {bare[close[0]]}?" if close else ""
    return f"Unknown variable {name} is ignored.{hint}"


def _content(setting: Setting, file: str) -> str:
    try:
        content = text_in(Path(file)).strip()
    except UnreadableFileError as error:
        raise SettingsError(f"{setting.file_variable}={file} cannot be read: {error}") from None
    if not content:
        raise SettingsError(f"{setting.file_variable}={file} cannot be used: the file is empty.")
    return content


def _understood(setting: Setting, where: str, value: object) -> object:
    try:
        return setting.kind.read(value)
    except ValueError as error:
        # What a secret's kind has to say may quote the secret: only what would be right is told.
        shown = "(not shown)" if setting.secret else repr(value)
        unit = f" ({setting.unit})" if setting.unit else ""
        raise SettingsError(f"{where}={shown} cannot be used: {error}{unit}") from None
