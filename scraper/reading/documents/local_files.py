"""Read local files below the operator's root folder, with a size limit.

On Linux 5.6 or newer, openat2(2) ensures that the path is below the root. Elsewhere the path is opened folder by folder
without following any link, which is stricter. A hard link below the root cannot be distinguished from a file.
"""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scraper import errors

_OPENAT2 = 437
"""System call number, the same on every processor."""
_BENEATH, _NO_MAGIC_LINKS = 0x08, 0x02
_TRIES = 10
"""Attempts. openat2 returns EAGAIN if a folder is moved during the call."""
_NO_OPENAT2 = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL})
_OUTSIDE = frozenset({errno.EXDEV, errno.ELOOP})
_MAX_PATH_BYTES = 4_096
_CHUNK_BYTES = 1 << 20
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""Non-blocking: a pipe without a writer would block the server."""
_KERNEL_FILE_SYSTEMS = frozenset(
    {0x9FA0, 0x62656572, 0x64626720, 0x74726163, 0x1CD1, 0x27E0EB, 0x63677270, 0x73636673, 0xCAFE4A11}
)
"""Rejected file systems (statfs(2)): proc, sysfs, debugfs, tracefs, devpts, cgroup, cgroup2, securityfs, bpf."""

_DISABLED = "Pass an http(s) URL, or ask the operator to set SEARCH_MCP_DOCUMENT_ROOT to a folder."


@dataclass(frozen=True, slots=True)
class LocalFile:
    """Content and identity of a file."""

    data: bytes
    name: str
    """Requested path, cut to 200 characters."""
    changed: bool
    identity: tuple[int, ...]


class LocalFiles:
    """Read files below a root folder."""

    def __init__(self, root: Path | None, limit_bytes: int, *, uses_openat2: bool = True) -> None:
        """Read files of up to `limit_bytes` below `root`. If `root` is None, all reads are refused."""
        self._root = root
        self._limit_bytes = limit_bytes
        self._open = _open_beneath if uses_openat2 and sys.platform == "linux" else _open_by_folder

    def contains(self, source: str) -> bool:
        """Return True if `source` is the path of a readable file below the root."""
        try:
            self.identify(source)
        except errors.ScraperError:
            return False
        return True

    def identify(self, source: str) -> tuple[int, ...]:
        """Return device, inode, size and modification time of a file; raise the same errors as `read`."""
        with self._opened(source) as handle:
            return _identity(os.fstat(handle))

    def read(self, source: str) -> LocalFile:
        """Return the content of a file. The call blocks, so run it in a thread.

        Raises:
            LocalReadsDisabledError: The operator set no root.
            OutsideRootError: The path leads out of the root, or is not a regular file.
            LocalFileNotFoundError: The file does not exist.
            ContentTooLargeError: The file is larger than the limit.
            PolicyError: The server's user may not read it, or the root is unusable.
            InvalidArgumentError: The path is too long, or cannot be the name of a file.
        """
        with self._opened(source) as handle:
            before = os.fstat(handle)
            if before.st_size > self._limit_bytes:
                raise self._too_large_error(source)
            data = bytearray()
            while chunk := os.read(handle, _CHUNK_BYTES):
                data += chunk
                if len(data) > self._limit_bytes:
                    raise self._too_large_error(source)
            after = os.fstat(handle)
        changed = _identity(before) != _identity(after) or len(data) != after.st_size
        return LocalFile(bytes(data), _printable(source), changed, _identity(after))

    @contextmanager
    def _opened(self, source: str) -> Iterator[int]:
        if self._root is None:
            raise errors.LocalReadsDisabledError(
                "local file reads are disabled on this server.", target=source, next_step=_DISABLED
            )
        path = _relative_path(source, self._root)
        root = _open_root(self._root)
        try:
            handle = self._open(root, path)
        except OSError as error:
            raise _access_error(error, source) from None
        finally:
            os.close(root)
        try:
            mode, shown = os.fstat(handle).st_mode, _printable(source)
            if not stat.S_ISREG(mode):
                kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
                raise errors.OutsideRootError(f"{shown} is {kind}.", target=shown, next_step="Give the path of a file.")
            if _file_system_type(handle) in _KERNEL_FILE_SYSTEMS:
                raise _outside_error(source)
            yield handle
        finally:
            os.close(handle)

    def _too_large_error(self, source: str) -> errors.ContentTooLargeError:
        return errors.ContentTooLargeError(
            f"The file is larger than the {self._limit_bytes // 1_000_000} MB that are read.",
            target=_printable(source),
            next_step="The operator can raise SEARCH_MCP_DOCUMENT_MB.",
        )


def _relative_path(source: str, root_path: Path) -> bytes:
    try:
        path, root = os.fsencode(source), os.fsencode(root_path)
    except UnicodeEncodeError:
        raise errors.InvalidArgumentError("The path cannot be the name of a file.") from None
    if b"\0" in path:
        raise errors.InvalidArgumentError("A path cannot contain a null character.", target=_printable(source))
    if len(path) >= _MAX_PATH_BYTES:
        raise errors.InvalidArgumentError(f"The path is longer than {_MAX_PATH_BYTES:,} bytes.")
    if path.startswith(b"/"):
        if path != root and not path.startswith(root.rstrip(b"/") + b"/"):
            raise _outside_error(source)
        path = path[len(root) :].lstrip(b"/")
    return path or b"."


def _open_root(root: Path) -> int:
    try:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        problems = {errno.ELOOP: "is a link or no folder", errno.ENOTDIR: "is a link or no folder"}
        problem = (problems | {errno.ENOENT: "does not exist"}).get(error.errno or 0, "cannot be opened")
        raise errors.PolicyError(
            f"The folder of SEARCH_MCP_DOCUMENT_ROOT {problem}.",
            next_step="The operator must set it to a real folder that the server's user may read. "
            "http(s) URLs can be read meanwhile.",
        ) from None


def _open_beneath(root: int, path: bytes) -> int:
    """Open with openat2, or folder by folder if the kernel has no openat2."""
    how = struct.pack("QQQ", _FLAGS, 0, _BENEATH | _NO_MAGIC_LINKS)
    libc = ctypes.CDLL(None, use_errno=True)
    for _ in range(_TRIES):
        handle = int(libc.syscall(_OPENAT2, root, path, how, ctypes.c_size_t(len(how))))
        if handle >= 0:
            return handle
        code = ctypes.get_errno()
        if code != errno.EAGAIN:
            break
    if code in _NO_OPENAT2:
        return _open_by_folder(root, path)
    raise OSError(code, os.strerror(code))


def _open_by_folder(root: int, path: bytes) -> int:
    """Open folder by folder without following links or `..`."""
    parts = [part for part in path.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    folder = os.dup(root)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1] if parts else b".", _FLAGS | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _access_error(error: OSError, source: str) -> errors.ScraperError:
    if error.errno in _OUTSIDE:
        return _outside_error(source)
    if error.errno in (errno.EACCES, errno.EPERM):
        return errors.PolicyError(
            f"The server's user may not read {_printable(source)}.",
            target=_printable(source),
            next_step="The operator must allow it, or give another path.",
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL):
        return errors.LocalFileNotFoundError(
            f"There is no file {_printable(source)} in the folder of local files.",
            target=_printable(source),
            next_step="Check the path; it is taken relative to that folder.",
        )
    return errors.OutsideRootError(
        f"{_printable(source)} cannot be read as a file.", target=_printable(source), next_step="Give another path."
    )


def _outside_error(source: str) -> errors.OutsideRootError:
    return errors.OutsideRootError(
        f"{_printable(source)} lies outside of the folder that the operator allows.",
        target=_printable(source),
        next_step="Give a path inside it, without links that lead out.",
    )


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _file_system_type(handle: int) -> int:
    if sys.platform != "linux":
        return 0
    buffer = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None, use_errno=True).fstatfs(handle, buffer) != 0:
        return 0
    return int(struct.unpack_from("l", buffer)[0]) & 0xFFFFFFFF


def _printable(source: str) -> str:
    return source[:200].encode("utf-8", "replace").decode("utf-8", "replace")
