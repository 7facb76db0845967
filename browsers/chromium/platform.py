"""The machine on which a Chromium is installed: what the choice of a way depends on."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field

from browsers.chromium.locate import InstallRoots

_UBUNTU_WITH_A_CHROMIUM = "linuxmint"
"""Made from Ubuntu too, but with a package of its own."""


@dataclass(frozen=True, slots=True)
class HostPlatform:
    """What the choice of a way depends on; tests make one of a folder."""

    machine: InstallRoots = field(default_factory=InstallRoots)
    is_root: bool = field(default_factory=lambda: hasattr(os, "geteuid") and os.geteuid() == 0)
    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    playwright: tuple[str, ...] = (sys.executable, "-m", "playwright")

    def has(self, program: str) -> bool:
        """Whether a program is on the path."""
        return shutil.which(program, path=self.path) is not None

    @property
    def apt_brings_chromium(self) -> bool:
        """Whether there is an apt-get whose package is a browser; Ubuntu's installs a snap, which cannot be
        driven, and so does that of most that are made from it."""
        names = self._distributions()
        return self.has("apt-get") and ("ubuntu" not in names or _UBUNTU_WITH_A_CHROMIUM in names)

    def _distributions(self) -> list[str]:
        """ID of /etc/os-release, such as debian, and those it is like; empty where there is none."""
        try:
            lines = (self.machine.root / "etc" / "os-release").read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        fields = dict(line.split("=", 1) for line in lines if "=" in line)
        return " ".join(fields.get(name, "").strip("\"'") for name in ("ID", "ID_LIKE")).split()
