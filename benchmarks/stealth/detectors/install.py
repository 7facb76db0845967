"""Install the detectors from npm into a folder outside the repo."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from benchmarks.common.corpora import cache_folder
from benchmarks.stealth.detectors.catalogue import PACKAGES

_LIMIT_S = 300


def install_detectors() -> Path | None:
    """Return the folder of packages; print the reason and return None if npm cannot install them."""
    folder = cache_folder() / "detectors"
    record = folder / "installed.json"
    if record.exists() and json.loads(record.read_text(encoding="utf-8")) == list(PACKAGES):
        return folder / "node_modules"
    npm = shutil.which("npm")
    if npm is None:
        print("npm is missing: its detectors are left out.")
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    # Install scripts are disabled: the pages only load files of the packages.
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", *PACKAGES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode:
        print(f"npm cannot install the detectors, so they are left out: {done.stderr.strip()[-300:]}")
        return None
    record.write_text(json.dumps(PACKAGES), encoding="utf-8")
    return folder / "node_modules"
