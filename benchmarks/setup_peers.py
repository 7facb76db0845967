"""`python -m benchmarks.setup_peers`: install pinned versions of the peers in environments outside the repo.

The packages come from the package index (mcp-server-fetch's Readability from npm). They use this machine's
Chromium, see `benchmarks.peers.launch`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.launch import browsers_folder, peer_folder, peer_python
from browsers.chromium import locate
from browsers.model import Tier

_PLAYWRIGHT = "playwright==1.65.2"
_INSTALL_LIMIT_S = 900
_MISSING = re.compile(r"Executable doesn't exist at (.+)")
_LAUNCH = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    playwright.chromium.launch().close()
"""


@dataclass(frozen=True, slots=True)
class _Environment:
    name: str
    packages: tuple[str, ...]
    launches: bool = True
    """True if the peer starts a browser."""
    node_packages: tuple[str, ...] = ()
    node_folder: str = ""
    """Folder of the node packages in site-packages."""
    optional: bool = False
    """True if the packages cannot be installed everywhere."""


_ENVIRONMENTS = (
    _Environment("plain", (_PLAYWRIGHT, "httpx==0.28.1", "trafilatura==2.3.1", "lxml_html_clean==0.4.6")),
    _Environment(
        "readers",
        (
            "trafilatura==2.3.1",
            "lxml_html_clean==0.4.6",
            "readability-lxml==0.9",
            "resiliparse==2.0.1",
            "markdownify==1.2.3",
            "html-to-markdown==3.21.0",
        ),
        launches=False,
    ),
    _Environment(
        "markdown",
        (
            "markdownify==1.2.3",
            "html-to-markdown==3.21.0",
            "html2text==2025.4.15",
            "trafilatura==2.3.1",
            "lxml_html_clean==0.4.6",
            "markitdown==0.1.8",
        ),
        launches=False,
    ),
    # Distributed as source only: the build needs Rust and its package registry.
    _Environment("rs_trafilatura", ("rs-trafilatura==0.1.1",), launches=False, optional=True),
    _Environment("free_search_mcp", ("free-search-mcp==0.16.0", _PLAYWRIGHT)),
    _Environment(
        "knowing",
        ("bm25s==0.3.16", "rank-bm25==0.2.2", "crawl4ai==0.9.5", "scrapling==0.5", "lxml_html_clean==0.4.6"),
        launches=False,
    ),
    _Environment("indexes", ("tantivy==0.27.0", "whoosh-reloaded==2.7.5"), launches=False),
    _Environment("scrapy", ("scrapy==2.19.0",), launches=False),
    _Environment("ddgs", ("ddgs==9.16.1",), launches=False),
    _Environment("crawl4ai", ("crawl4ai==0.9.5", _PLAYWRIGHT)),
    _Environment(
        "documents",
        (
            "liteparse==2.18.0",
            "markitdown[docx,outlook,pdf,pptx,xls,xlsx]==0.1.8",
            "pdfplumber==0.11.10",
            "pypandoc_binary==1.15",
        ),
        launches=False,
    ),
    # Programs that write test documents.
    _Environment("document_writers", ("typst==0.15.2", "reportlab==5.1.0"), launches=False),
    _Environment(
        "mcp_server_fetch",
        ("mcp-server-fetch==2026.10.24", "readabilipy==0.3.0"),
        launches=False,
        node_packages=("@mozilla/readability@0.6.0", "jsdom@29.1.1", "minimist@1.2.8"),
        node_folder="readabilipy/javascript",
    ),
    _Environment(
        "playwright_mcp",
        (_PLAYWRIGHT,),
        launches=False,
        node_packages=("@playwright/mcp@0.0.83",),
        node_folder="playwright",
    ),
)


def main() -> int:
    """Create missing environments and print the result."""
    argparse.ArgumentParser(prog="setup_peers.py", description=__doc__).parse_args()
    for environment in _ENVIRONMENTS:
        if _is_done(environment):
            print(f"{environment.name}: already installed")
            continue
        print(f"{environment.name}: {', '.join(environment.packages)}", flush=True)
        try:
            _set_up(environment)
        except SystemExit:
            if not environment.optional:
                raise
            print(f"{environment.name}: cannot be installed here")
            continue
        print(f"{environment.name}: ready in {peer_folder(environment.name)}", flush=True)
    return 0


def _set_up(environment: _Environment) -> None:
    folder = peer_folder(environment.name)
    shutil.rmtree(folder, ignore_errors=True)
    python = peer_python(environment.name)
    _install_packages(environment, folder, python)
    if environment.node_packages:
        _install_node_packages(environment, folder)
    if environment.launches:
        _link_browser(environment.name, python)
    _record(environment).write_text(json.dumps(environment.packages), encoding="utf-8")


def _install_packages(environment: _Environment, folder: Path, python: Path) -> None:
    uv = shutil.which("uv", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    venv.create(folder, with_pip=uv is None)
    if uv is None:
        tool = [str(python), "-m", "pip", "install"]
        # Older versions of pip fail if two packages require the same extra in different spellings.
        _run([*tool, "--quiet", "--upgrade", "pip"])
    else:
        tool = [uv, "pip", "install", "--python", str(python)]
    _run([*tool, "--quiet", *environment.packages])


def _install_node_packages(environment: _Environment, folder: Path) -> None:
    if shutil.which("npm") is None:
        print(f"{environment.name}: npm is missing, so its coarser reader in Python is used")
        return
    (target,) = folder.glob(f"lib/python*/site-packages/{environment.node_folder}")
    _run(["npm", "install", "--no-audit", "--no-fund", "--silent", *environment.node_packages], target)


def _link_browser(name: str, python: Path) -> None:
    """Create a link to this machine's Chromium at the path that this Playwright expects."""
    chromium = locate.find_chromium(Tier.LIGHT, None) or locate.find_chromium(Tier.FULL, None)
    if chromium is None:
        raise SystemExit("There is no Chromium on this machine: run `search-mcp install-browser`.")
    folder = browsers_folder(name)
    environment = {"PLAYWRIGHT_BROWSERS_PATH": str(folder)}
    # Only Playwright knows its paths; its error for a missing browser contains them.
    missing = _MISSING.search(_run([str(python), "-c", _LAUNCH], environment=environment, fails=True))
    if missing is None:
        raise SystemExit(f"The Playwright of {name} did not name the path of its browser.")
    expected = Path(missing[1].strip())
    expected.parent.mkdir(parents=True)
    expected.symlink_to(chromium.executable)
    _run([str(python), "-c", _LAUNCH], environment=environment)


def _run(
    command: Sequence[str],
    folder: Path | None = None,
    *,
    environment: dict[str, str] | None = None,
    fails: bool = False,
) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=_INSTALL_LIMIT_S,
    )
    output = done.stdout + done.stderr
    if done.returncode != 0 and not fails:
        raise SystemExit(f"{' '.join(command)}\n{output[-3000:]}")
    return output


def _record(environment: _Environment) -> Path:
    return peer_folder(environment.name) / "set-up.json"


def _is_done(environment: _Environment) -> bool:
    record = _record(environment)
    return record.exists() and json.loads(record.read_text(encoding="utf-8")) == list(environment.packages)


if __name__ == "__main__":
    sys.exit(main())
