"""How the text of a variable or flag becomes a value; a refusal says what would be right."""

from __future__ import annotations

import difflib
import math
import re
import zoneinfo
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scraper.settings.cache_dir import with_home

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


class SettingType(Protocol):
    """One way to read a value."""

    @property
    def label(self) -> str:
        """The kind in one or two words, for help texts."""

    def read(self, value: object) -> object:
        """The value meant by a text, or by what a program passed.

        Raises:
            ValueError: it cannot be meant; the message says what can.
        """


@dataclass(frozen=True, slots=True)
class StringSetting:
    """Any text but a blank one."""

    label: str = "text"

    def read(self, value: object) -> str:
        """The text without surrounding space."""
        text = str(value).strip()
        if not text:
            raise ValueError("it is blank")
        return text


@dataclass(frozen=True, slots=True)
class FolderSetting:
    """A path; `~` is the user's home."""

    label: str = "path"

    def read(self, value: object) -> Path:
        """The path, absolute."""
        return with_home(StringSetting().read(value))


@dataclass(frozen=True, slots=True)
class NumberSetting:
    """A number within bounds."""

    low: float
    high: float
    label: str = "number"

    def read(self, value: object) -> float:
        """The number."""
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not self.low <= number <= self.high:
            raise ValueError(f"give a number from {self.low:g} to {self.high:g}")
        return number


@dataclass(frozen=True, slots=True)
class IntegerSetting:
    """A whole number within bounds."""

    low: int
    high: int
    label: str = "whole number"

    def read(self, value: object) -> int:
        """The number."""
        text = str(value).strip()
        if not re.fullmatch(r"-?[0-9]{1,18}", text) or not self.low <= int(text) <= self.high:
            raise ValueError(f"give a whole number from {self.low} to {self.high}")
        return int(text)


@dataclass(frozen=True, slots=True)
class BooleanSetting:
    """Yes or no."""

    label: str = "yes or no"

    def read(self, value: object) -> bool:
        """The decision."""
        word = str(value).strip().lower()
        if word in {"1", "true", "yes", "on"}:
            return True
        if word in {"0", "false", "no", "off"}:
            return False
        raise ValueError("give yes or no")


@dataclass(frozen=True, slots=True)
class ChoiceSetting:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def label(self) -> str:
        """The words."""
        return " | ".join(self.words)

    def read(self, value: object) -> str:
        """The word."""
        word = str(value).strip().lower()
        if word in self.words:
            return word
        close = difflib.get_close_matches(word, self.words, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"give one of {', '.join(self.words)}{hint}")


@dataclass(frozen=True, slots=True)
class ListSetting:
    """A list, separated by commas."""

    label: str = "a,b,c"

    def read(self, value: object) -> tuple[str, ...]:
        """The words in their order."""
        return tuple(entries_of(value))


@dataclass(frozen=True, slots=True)
class LanguageSetting:
    """A language tag."""

    label: str = "language tag"

    def read(self, value: object) -> str:
        """The tag as given."""
        tag = StringSetting().read(value)
        if not _LANGUAGE.fullmatch(tag):
            raise ValueError("give a language tag such as en-US, de or zh-Hans")
        return tag


@dataclass(frozen=True, slots=True)
class TimeZoneSetting:
    """A time zone of the IANA list."""

    label: str = "time zone"

    def read(self, value: object) -> str:
        """The zone's name."""
        name = StringSetting().read(value)
        known = zoneinfo.available_timezones()
        # A machine without the zone files knows no zone at all; the browser has its own list.
        if known and name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"give a time zone such as Europe/Berlin or UTC{hint}")
        return name


def entries_of(value: object) -> list[str]:
    """The entries of a list, or of a text that separates them by commas."""
    entries: Iterable[object] = value if isinstance(value, (list, tuple)) else str(value).split(",")
    return [part for entry in entries if (part := str(entry).strip())]
