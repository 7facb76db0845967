"""Local files: only files below the configured folder can be read, by either method of opening."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scraper import errors
from scraper.reading.documents.local_files import LocalFiles

LIMIT = 10_000
Files = Callable[..., LocalFiles]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_text("inside")
    (folder / "inner" / "b.txt").write_text("deeper")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil" / "c.txt").write_text("outside")
    (tmp_path / "secret.txt").write_text("outside")
    return folder


@pytest.fixture(params=[True, False], ids=["openat2", "folder by folder"])
def uses_openat2(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def files(root: Path, uses_openat2: bool) -> LocalFiles:
    return LocalFiles(root, LIMIT, uses_openat2=uses_openat2)


@pytest.mark.parametrize("source", ["a.txt", "./a.txt", "inner//b.txt", "inner/./b.txt"])
def test_relative_paths_are_taken_from_the_root(files: LocalFiles, source: str) -> None:
    assert files.read(source).data in (b"inside", b"deeper")


def test_an_absolute_path_inside_of_the_root_is_read(files: LocalFiles, root: Path) -> None:
    assert files.read(str(root / "inner" / "b.txt")).data == b"deeper"


def test_without_a_root_local_reads_are_disabled() -> None:
    with pytest.raises(errors.LocalReadsDisabledError, match="local file reads are disabled") as raised:
        LocalFiles(None, LIMIT).read("a.txt")
    assert "SEARCH_MCP_DOCUMENT_ROOT" in raised.value.next_step
    assert "http(s) URL" in raised.value.next_step


@pytest.mark.parametrize(
    "source",
    ["../secret.txt", "inner/../../secret.txt", "..", "/etc/passwd", "/proc/self/environ",
     "../root-evil/c.txt",
     "inner/../../root-evil/c.txt"],
)  # fmt: skip
def test_paths_out_of_the_root_are_refused_even_if_nothing_exists_there(files: LocalFiles, source: str) -> None:
    with pytest.raises(errors.OutsideRootError) as raised:
        files.read(source)
    assert "outside of the folder" in str(raised.value)


def test_a_sibling_with_the_same_prefix_is_outside(files: LocalFiles, root: Path) -> None:
    with pytest.raises(errors.OutsideRootError):
        files.read(f"{root}-evil/c.txt")


def test_links_out_of_the_root_are_refused(files: LocalFiles, root: Path) -> None:
    (root / "out.txt").symlink_to(root.parent / "secret.txt")
    (root / "up").symlink_to(root.parent)
    (root / "loop").symlink_to(root / "loop")
    (root / "environ").symlink_to("/proc/self/environ")
    (root / "descriptor").symlink_to("/proc/self/fd/0")
    for source in ("out.txt", "up/secret.txt", "loop", "environ", "descriptor"):
        with pytest.raises((errors.OutsideRootError, errors.LocalFileNotFoundError)):
            files.read(source)


def test_links_inside_the_root_work_with_openat2(root: Path) -> None:
    (root / "link.txt").symlink_to("inner/b.txt")
    assert LocalFiles(root, LIMIT).read("link.txt").data == b"deeper"
    with pytest.raises(errors.OutsideRootError):
        LocalFiles(root, LIMIT, uses_openat2=False).read("link.txt")


def test_folders_devices_pipes_and_sockets_are_refused(files: LocalFiles, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        for source in (".", "inner", "pipe", "socket", ""):
            with pytest.raises((errors.OutsideRootError, errors.LocalFileNotFoundError)):
                files.read(source)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_refused(files: LocalFiles, root: Path) -> None:
    try:
        os.mknod(root / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this system lets nobody make devices")
    with pytest.raises((errors.OutsideRootError, errors.PolicyError)):
        files.read("zero")


def test_files_of_the_kernel_are_refused_even_below_the_root(uses_openat2: bool) -> None:
    files = LocalFiles(Path("/proc"), LIMIT, uses_openat2=uses_openat2)
    with pytest.raises(errors.OutsideRootError):
        files.read(f"{os.getpid()}/environ")


def test_a_missing_file_is_reported(files: LocalFiles) -> None:
    with pytest.raises(errors.LocalFileNotFoundError, match="no file nothing"):
        files.read("nothing.pdf")
    with pytest.raises(errors.LocalFileNotFoundError):
        files.read("a.txt/b")


def test_long_and_invalid_names_are_refused(files: LocalFiles) -> None:
    for source in ("a" * 4_096, "a" * 300, "a/" * 3_000):
        with pytest.raises((errors.BadRequestError, errors.OutsideRootError)) as raised:
            files.read(source)
        assert len(str(raised.value)) < 400
    with pytest.raises(errors.InvalidArgumentError):
        files.read("a\0b")
    with pytest.raises(errors.InvalidArgumentError):
        files.read("a\ud800b")


def test_a_name_that_is_not_utf_8_can_be_read_and_printed(files: LocalFiles, root: Path) -> None:
    (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.txt"))).write_text("old name")
    file = files.read("caf\udce9.txt")
    assert file.data == b"old name"
    assert file.name.encode("utf-8").startswith(b"caf")


def test_large_files_are_refused_before_and_while_they_are_read(files: LocalFiles, root: Path) -> None:
    (root / "large").write_bytes(b"a" * (LIMIT + 1))
    with pytest.raises(errors.ContentTooLargeError, match="larger than"):
        files.read("large")
    with (root / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(errors.ContentTooLargeError) as raised:
        files.read("sparse")
    assert "SEARCH_MCP_DOCUMENT_MB" in raised.value.next_step


def test_a_growing_file_is_limited_or_reported(root: Path, uses_openat2: bool) -> None:
    growing, stop = root / "growing", threading.Event()
    growing.write_bytes(b"a" * 1_000_000)
    opened = LocalFiles(root, 50_000_000, uses_openat2=uses_openat2)

    def grow() -> None:
        with growing.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"b" * 100_000)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                if opened.read("growing").changed:
                    break
            except errors.ContentTooLargeError:
                break
        else:
            pytest.fail("it was never noticed that the file grew")
    finally:
        stop.set()
        writer.join()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_has_advice_for_the_operator(files: LocalFiles, root: Path) -> None:
    (root / "a.txt").chmod(0)
    with pytest.raises(errors.PolicyError, match="may not read"):
        files.read("a.txt")


def test_a_denied_file_has_advice_for_the_operator(files: LocalFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(root: int, path: bytes) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "_open", denied)
    with pytest.raises(errors.PolicyError) as raised:
        files.read("a.txt")
    assert "The operator must allow it" in raised.value.sentence()


def test_an_unusable_root_has_advice_for_the_operator(root: Path, uses_openat2: bool) -> None:
    (root.parent / "link").symlink_to(root)
    for bad in (root.parent / "missing", root.parent / "link", root / "a.txt"):
        with pytest.raises(errors.PolicyError) as raised:
            LocalFiles(bad, LIMIT, uses_openat2=uses_openat2).read("a.txt")
        assert "The operator must set it to a real folder" in raised.value.next_step


def test_the_identity_of_a_file_changes_with_its_content(files: LocalFiles, root: Path) -> None:
    first = files.identify("a.txt")
    assert files.identify("a.txt") == first == files.read("a.txt").identity
    (root / "a.txt").write_text("something else")
    assert files.identify("a.txt") != first
