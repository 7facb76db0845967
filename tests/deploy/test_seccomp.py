"""Under the profile in deploy/, an ordinary user without capabilities has Chromium's own sandbox."""

from __future__ import annotations

import ctypes.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsers.chromium import locate
from browsers.model import Tier
from tests.deploy.files import DEPLOY
from tests.deploy.test_compose import search

PROFILE = DEPLOY / "chromium-seccomp.json"
CONFINED = Path(__file__).with_name("confined.py")
LIMIT_S = 180
PAGE = "data:text/html,<script>document.write(6*7)</script>"
SANDBOX = {"chroot", "clone", "clone3", "setns", "unshare"}
"""System calls that the sandbox needs: namespaces and an empty root."""
MOUNTS = {"mount", "umount2", "pivot_root", "fsopen", "fsmount", "move_mount", "open_tree"}

pytestmark = [pytest.mark.browser, pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")]


@pytest.mark.parametrize("tier", list(Tier))
def test_chromium_starts_with_its_sandbox(tier: Tier, public_folder: Path) -> None:
    done = confined(tier, PROFILE, public_folder)
    assert "<body>42</body>" in done.stdout, done.stderr[-2000:]


def test_chromium_does_not_start_without_the_namespaces(public_folder: Path) -> None:
    rules = json.loads(PROFILE.read_text())
    for rule in rules["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in SANDBOX - {"clone", "clone3"}]
    narrow = public_folder / "narrow.json"
    narrow.write_text(json.dumps(rules))
    done = confined(Tier.LIGHT, narrow, public_folder)
    assert "<body>42</body>" not in done.stdout


def confined(tier: Tier, profile: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Chromium as the image's user under a seccomp profile and read a page."""
    found = locate.find_chromium(tier, None)
    if found is None:
        pytest.skip(f"no {tier} Chromium")
    if ctypes.util.find_library("seccomp") is None:
        pytest.skip("libseccomp is not installed")
    own = folder / profile.name
    if own != profile:
        shutil.copy(profile, own)
    script = shutil.copy(CONFINED, folder)
    command = [
        sys.executable, script, str(own), found.executable, "--headless", "--disable-gpu",
        "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile-{tier}", "--dump-dom", PAGE,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, cwd="/")


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Create a folder that another user can access."""
    with tempfile.TemporaryDirectory(prefix="confined-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_mounting_is_forbidden() -> None:
    rules = json.loads(PROFILE.read_text())
    allowed = {name for rule in rules["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    assert allowed >= SANDBOX
    assert not allowed & MOUNTS
    assert rules["defaultAction"] == "SCMP_ACT_ERRNO"
    assert f"seccomp=./{PROFILE.name}" in search()["security_opt"]
