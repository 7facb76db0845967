"""Writes the table of settings into docs/operations.md, from the one place where they are defined.

python -m devtools.settings_table
"""

from __future__ import annotations

from pathlib import Path

from scraper.settings import Setting, setting_table

PAGE = Path(__file__).resolve().parents[1] / "docs/operations.md"
BEGIN = "<!-- settings: made by `make docs` -->\n"
END = "<!-- end of settings -->\n"

# Defaults that depend on the machine, which the table's reader has another one of.
_ANYWHERE = {
    "data_dir": "the user's cache folder",
    "peek_slots": "4 a core, at most 16",
    "render_slots": "2 a core, at most 8",
}


def table() -> str:
    """Return the settings as a Markdown table."""
    head = "| variable, flag | default | what it does |\n|---|---|---|\n"
    return head + "".join(_row(setting) for setting in setting_table())


def with_table(page: str) -> str:
    """Return the page with the current table.

    Raises:
        ValueError: the marks between which it stands are not there.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has no {BEGIN.strip()} ... {END.strip()}")
    return before + BEGIN + table() + END + after


def _row(setting: Setting) -> str:
    help_text = setting.help.replace("|", r"\|")
    return f"| `{setting.variable}`, `{setting.flag}` | {_default(setting)} | {help_text} |\n"


def _default(setting: Setting) -> str:
    if setting.name in _ANYWHERE:
        return _ANYWHERE[setting.name]
    if setting.is_switch:
        return "off"
    if setting.default is None or setting.default == ():
        return ""
    value = f"{setting.default:g}" if isinstance(setting.default, float) else str(setting.default)
    return f"{value} {setting.unit}".strip()


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
