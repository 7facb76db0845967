"""The count of modules that a fetch passes through."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from types import ModuleType

import pytest

from devtools import fetch_path
from devtools.fetch_path import measure_paths
from devtools.module_recorder import ModuleRecorder, record_call
from tests.site.running import Site

CODE = "def run():\n    return 1\n"
FILES = ("ours/one", "ours/two/__init__", "theirs/three")


@pytest.fixture
def code(tmp_path: Path) -> dict[str, ModuleType]:
    """Three modules below a root folder; one of them is outside the counted packages."""
    return {name: loaded(tmp_path / f"{name}.py") for name in ("ours/one", "ours/two/__init__", "theirs/three")}


def loaded(file: Path) -> ModuleType:
    """Write a module and import it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_functions_of_the_packages_that_run_in_the_block_count(
    tmp_path: Path, code: dict[str, ModuleType]
) -> None:
    recorder = ModuleRecorder(tmp_path, ("ours",))
    code["ours/one"].run()
    with recorder.recording():
        code["ours/two/__init__"].run()
        code["theirs/three"].run()
    code["ours/one"].run()
    assert recorder.on_this_thread == {"ours.two"}


def test_modules_on_another_thread_are_listed_but_not_counted(tmp_path: Path, code: dict[str, ModuleType]) -> None:
    recorder = ModuleRecorder(tmp_path, ("ours",))
    recorder.watch_new_threads()
    try:
        with recorder.recording():
            code["ours/one"].run()
            thread = threading.Thread(target=lambda: (code["ours/one"].run(), code["ours/two/__init__"].run()))
            thread.start()
            thread.join()
    finally:
        recorder.close()
    assert recorder.on_this_thread == {"ours.one"}
    assert recorder.on_other_threads == {"ours.two"}


def test_a_recorded_call_returns_its_result_and_its_modules(tmp_path: Path, code: dict[str, ModuleType]) -> None:
    assert record_call(tmp_path, ("ours",), code["ours/one"].run) == (1, frozenset({"ours.one"}))


@pytest.mark.browser
async def test_a_rendered_page_passes_through_more_modules_than_a_plain_one(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"WARM_CALLS": 1, "MEASURED_CALLS": 1, "PAUSE_S": 0.0}.items():
        monkeypatch.setattr(fetch_path, name, value)
    paths = await measure_paths(site, tmp_path)
    plain, rendered = paths["plain"].counted, paths["rendered"].counted
    assert "scraper.tools.reading_tools" in plain & rendered
    assert 10 < len(plain) < len(rendered)
    for path in paths.values():
        assert "scraper.extract.reader" in path.only_in_worker
        assert path.in_worker & path.counted and not path.only_in_worker & path.counted
