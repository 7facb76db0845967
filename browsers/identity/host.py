"""What this machine is, as far as a browser on it shows: read once, passed in, so that the rest is pure."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ZONEINFO = "zoneinfo/"


@dataclass(frozen=True, slots=True)
class BrowserHost:
    """Facts of one machine."""

    system: str = "Linux"
    """As `platform.system()` says it: Linux, Darwin."""
    machine: str = "x86_64"
    """As `platform.machine()` says it: x86_64, aarch64, arm64."""
    os_version: str = ""
    """The version of macOS; browsers show no other system's."""
    timezone: str | None = None
    """IANA name; None where the machine does not say."""
    shared_memory_bytes: int = 0
    """Free bytes of /dev/shm; 0 where there is none, or none to write to."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls) -> BrowserHost:
        """The machine this runs on."""
        return cls(
            system=platform.system(),
            machine=platform.machine(),
            os_version=platform.mac_ver()[0],
            timezone=zone_name(os.environ, Path("/etc")),
            shared_memory_bytes=_free_bytes("/dev/shm"),
            environment=dict(os.environ),
        )


def zone_name(environment: Mapping[str, str], etc: Path) -> str | None:
    """The zone's name, from where systems keep it: TZ, the link of /etc/localtime, Debian's /etc/timezone."""
    named = environment.get("TZ", "").removeprefix(":")
    if named:
        return named.partition(ZONEINFO)[2] or named
    link = os.path.realpath(etc / "localtime")
    if ZONEINFO in link:
        return link.partition(ZONEINFO)[2].removeprefix("posix/")
    try:
        return (etc / "timezone").read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _free_bytes(folder: str) -> int:
    try:
        return shutil.disk_usage(folder).free if os.access(folder, os.W_OK) else 0
    except OSError:
        return 0
