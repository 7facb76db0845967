"""A PostgreSQL server from the system's packages, on loopback, in its own folder, with many databases."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg

from tests.ports import free_port

USER, PASSWORD = "keeper", "not-to-be-told"
START_LIMIT_S = 60.0
_LIKELY = ("/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/17/bin", "/usr/lib/postgresql/16/bin")


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join((*_LIKELY, os.environ.get("PATH", ""))))


def missing() -> str | None:
    """Return the reason why no server can be started here, or None."""
    if not (_program("initdb") and _program("pg_ctl")):
        return "no PostgreSQL on this machine: apt-get install postgresql"
    if os.geteuid() == 0 and not _has_account():
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


def _has_account() -> bool:
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres") is not None
    return False


class PostgresServer:
    """One server that can be started, stopped, killed and restarted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._names = itertools.count(1)
        self._lent: list[str] = []
        self._free: list[str] = []

    def url(self, database: str = "postgres", *, password: str = PASSWORD, port: int | None = None) -> str:
        """Return the URL of a database, with the password."""
        return f"postgresql://{USER}:{password}@127.0.0.1:{port or self.port}/{database}"

    @property
    def pid(self) -> int:
        """Process id of the postmaster; the other processes are its children."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def make(self, settings: str = "") -> None:
        """Create the files of the server; `settings` are lines of its configuration."""
        data = self.folder / "data"
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            for path in (self.folder, secret):
                os.chown(path, account.pw_uid, account.pw_gid)
        self._run(
            "initdb",
            "-D",
            str(data),
            "-U",
            USER,
            "--pwfile",
            str(secret),
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"port={self.port}\nlisten_addresses='127.0.0.1'\n")
            file.write(f"unix_socket_directories=''\n{settings}\n")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._run(
            "pg_ctl",
            "-D",
            str(self.folder / "data"),
            "-l",
            str(self.folder / "log"),
            "-w",
            "-t",
            str(int(START_LIMIT_S)),
            "start",
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: `fast` as an operator would, `immediate` as a crash."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", mode, "stop")

    def signal(self, name: str) -> None:
        """Send a signal to the server and all its processes."""
        pid = self.pid
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
        subprocess.run(["kill", f"-{name}", str(pid), *children.stdout.split()], check=False)

    async def database(self) -> str:
        """Return the URL of an empty database; reuse a released one if possible."""
        if self._free:
            name = self._free.pop()
            await self.say("DROP SCHEMA IF EXISTS search_mcp CASCADE", self.url(name))
        else:
            name = f"test_{next(self._names)}"
            await self.say(f"CREATE DATABASE {name}")
        self._lent.append(name)
        return self.url(name)

    def keep(self) -> None:
        """Keep the databases in use when the test ends."""
        self._lent.clear()

    def give_back(self) -> None:
        """Release the databases in use for other tests."""
        self._free += self._lent
        self._lent.clear()

    async def say(self, statement: str, url: str | None = None) -> list[asyncpg.Record]:
        """Execute a statement as the owner of the server."""
        async with asyncio.timeout(START_LIMIT_S):
            connection = await asyncpg.connect(url or self.url())
            try:
                return await connection.fetch(statement)
            finally:
                await connection.close()

    def _run(self, program: str, *arguments: str) -> None:
        path = _program(program)
        assert path is not None
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        subprocess.run(
            [path, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd="/",
            env=environment | {"LC_ALL": "C"},
            timeout=START_LIMIT_S + 30,
            user="postgres" if getpass.getuser() == "root" or os.geteuid() == 0 else None,
            group="postgres" if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
        )


@contextlib.contextmanager
def running_postgres(settings: str = "fsync=off") -> Iterator[PostgresServer]:
    """Run a server until the block ends."""
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = PostgresServer(Path(folder))
        server.make(settings)
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop("immediate")
