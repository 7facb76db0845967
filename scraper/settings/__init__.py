"""What an operator can choose; everything else is decided here in the code."""

from scraper.settings.table import Setting, Settings, SettingsError, setting_table, unknown_variables

__all__ = ["Setting", "Settings", "SettingsError", "setting_table", "unknown_variables"]
