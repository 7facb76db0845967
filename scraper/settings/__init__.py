"""Settings of the operator: environment variables and command line flags."""

from scraper.settings.table import Setting, Settings, SettingsError, setting_table, unknown_variables

__all__ = ["Setting", "Settings", "SettingsError", "setting_table", "unknown_variables"]
