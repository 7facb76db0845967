"""Settings of the operator: environment variables and command line flags."""

from scraper.settings.files import SettingsError
from scraper.settings.table import FILE_ONLY, Setting, Settings, setting_table, unknown_variables

__all__ = ["FILE_ONLY", "Setting", "Settings", "SettingsError", "setting_table", "unknown_variables"]
