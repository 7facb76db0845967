"""Write docs/configuration.md: the settings in groups, with their allowed values.

python -m devtools.settings_table
"""

from __future__ import annotations

from pathlib import Path

from scraper.settings import FILE_ONLY, Setting, setting_table

PAGE = Path(__file__).resolve().parents[1] / "docs/configuration.md"
BEGIN = "<!-- settings: made by `make docs` -->\n"
END = "<!-- end of settings -->\n"

GROUPS = {
    "Cache and answers": (
        "config_file data_dir cache_ttl_h cache_mb tool_timeout_s max_answer_tokens batch_limit toolsets tools acting "
        "page_tools agent_flags profile_key output_schemas resources strict_clients"
    ),
    "Documents": "document_root document_mb",
    "Address and access": (
        "host port token tokens_file allow_unauthenticated rest allowed_hosts allowed_origins issuer issuer_keys "
        "public_url"
    ),
    "Load": "call_limit calls_per_minute queue_limit peek_slots render_slots max_slots page_memory_mb drain_s",
    "Network": "proxy proxy_dns allow_nets third_parties filter_lists",
    "Browser": "language timezone tier light_executable full_executable",
    "Politeness": (
        "host_pages host_gap_s robots identity signature_agent signature_form signing_key markdown wishes contact"
    ),
    "Several servers": "database_url shared_url",
    "Logs": "log_level log_format traces",
    "Tests": "test_hosts test_key_pin",
}
"""Names of the settings by the title of their group."""

# Replaces defaults that depend on the machine.
_ANYWHERE = {
    "data_dir": "the user's cache folder",
    "peek_slots": "4 a core, at most 16",
    "render_slots": "2 a core, at most 8",
    "max_slots": "24 a core, at most 96",
}


def table() -> str:
    """Return the settings as one Markdown table for each group; settings without a group are in the last one."""
    settings = {setting.name: setting for setting in setting_table()}
    groups = {title: names.split() for title, names in GROUPS.items()}
    grouped = {name for names in groups.values() for name in names}
    if rest := [name for name in settings if name not in grouped]:
        groups["Others"] = rest
    return "\n".join(
        f"## {title}\n\n| variable, flag | default | values | meaning |\n|---|---|---|---|\n"
        + "".join(_row(settings[name]) for name in names)
        for title, names in groups.items()
    )


def with_table(page: str) -> str:
    """Return the page with the current table.

    Raises:
        ValueError: The page has no marks for the table.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has no {BEGIN.strip()} ... {END.strip()}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(setting: Setting) -> str:
    help_text = setting.help.replace("|", r"\|")
    is_file_only = setting.name in FILE_ONLY
    names = f"`{setting.key}` in the file" if is_file_only else f"`{setting.variable}`, `{setting.flag}`"
    return f"| {names} | {_default(setting)} | {_values(setting)} | {help_text} |\n"


def _values(setting: Setting) -> str:
    schema = setting.kind.schema()
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if "minimum" in schema:
        return f"{schema['minimum']:,.15g} to {schema['maximum']:,.15g} {setting.unit}".strip()
    return setting.kind.label


def _default(setting: Setting) -> str:
    if setting.name in _ANYWHERE:
        return _ANYWHERE[setting.name]
    if setting.is_switch:
        return "off"
    return f"{setting.default_text} {setting.unit}".strip() if setting.default_text else ""


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
