"""Tables of the PostgreSQL store, created in one transaction; tables of other programs are not changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import asyncpg

from scraper.store.postgres.errors import PostgresRefusedError

SCHEMA_NAME = "search_mcp"
_VERSION = 2
"""Version of the tables; `_MIGRATIONS` updates older ones."""
_OLDEST_SERVER = 12
"""Oldest supported major version of PostgreSQL."""
_ENCODING = "UTF8"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection  # the class takes no type parameters at run time

_LOCK = 0x53_4D_43_50_00_01
"""Advisory lock held while the tables are created."""

WORDS_INDEX = (
    f"CREATE INDEX words_by_vector ON {SCHEMA_NAME}.words USING gin (vector) WITH (gin_pending_list_limit = 1024)"
)
"""New words are first in a pending list that every search reads; a megabyte of it takes 1 ms. Above 1,024 kB it is
merged into the index."""
_CREATE_RECORDS = f"""
    CREATE TABLE IF NOT EXISTS {SCHEMA_NAME}.records (
        principal text NOT NULL,
        log text NOT NULL,
        number int NOT NULL,
        written_at double precision NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (principal, log, number)
    );
"""
# `words` is separate from `pages` so that ranking reads a narrow table. Its rows are stored whole (MAIN). Only the
# vector is stored outside (EXTERNAL) if four rows would not fit into a block with it; it is read if positions count.
# Long URLs do not fit into a B-tree, so a page's place is a digest. Statistics of vectors are expensive and do not
# help the planner.
_CREATE = f"""
    CREATE SCHEMA IF NOT EXISTS {SCHEMA_NAME};
    CREATE TABLE {SCHEMA_NAME}.about (application text NOT NULL, version int NOT NULL);
    INSERT INTO {SCHEMA_NAME}.about VALUES ('search-mcp', {_VERSION});

    CREATE SEQUENCE {SCHEMA_NAME}.page_numbers AS bigint;
    CREATE TABLE {SCHEMA_NAME}.owners (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        digest bytea NOT NULL UNIQUE,
        principal text NOT NULL,
        allowances text NOT NULL
    );
    CREATE TABLE {SCHEMA_NAME}.pages (
        id bigint PRIMARY KEY,
        owner int NOT NULL,
        place bytea NOT NULL UNIQUE,
        retrieved_at double precision NOT NULL,
        used_at double precision NOT NULL,
        bytes int NOT NULL,
        profile text NOT NULL,
        language text NOT NULL,
        key text NOT NULL,
        url text NOT NULL,
        title text NOT NULL,
        reading bytea NOT NULL
    );
    ALTER TABLE {SCHEMA_NAME}.pages ALTER reading SET STORAGE EXTERNAL;
    CREATE INDEX pages_by_owner ON {SCHEMA_NAME}.pages (owner, id);
    CREATE INDEX pages_by_use ON {SCHEMA_NAME}.pages (used_at) INCLUDE (bytes);
    CREATE INDEX pages_by_url ON {SCHEMA_NAME}.pages USING hash (url);

    CREATE TABLE {SCHEMA_NAME}.words (
        id bigint PRIMARY KEY,
        length int NOT NULL,
        is_long boolean NOT NULL,
        counts bytea NOT NULL,
        vector tsvector NOT NULL
    );
    ALTER TABLE {SCHEMA_NAME}.words
        ALTER counts SET STORAGE MAIN, ALTER counts SET STATISTICS 0,
        ALTER vector SET STORAGE EXTERNAL, ALTER vector SET STATISTICS 0;
    {WORDS_INDEX};

    CREATE FUNCTION {SCHEMA_NAME}.forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN DELETE FROM {SCHEMA_NAME}.words WHERE id = OLD.id; RETURN NULL; END
    $$;
    CREATE TRIGGER words_follow AFTER DELETE OR UPDATE OF id ON {SCHEMA_NAME}.pages
        FOR EACH ROW EXECUTE FUNCTION {SCHEMA_NAME}.forget_words();

    CREATE TABLE {SCHEMA_NAME}.answers (
        place bytea PRIMARY KEY, retrieved_at double precision NOT NULL, answer text NOT NULL
    );
    CREATE INDEX answers_by_age ON {SCHEMA_NAME}.answers (retrieved_at);
    CREATE TABLE {SCHEMA_NAME}.rests (
        engine text NOT NULL, egress text NOT NULL, reason text NOT NULL,
        step int NOT NULL, faults int NOT NULL, until double precision NOT NULL,
        PRIMARY KEY (engine, egress)
    );

    CREATE TABLE {SCHEMA_NAME}.indexes (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        principal text NOT NULL,
        name text NOT NULL,
        lowercase boolean NOT NULL,
        min_length int NOT NULL,
        created_at double precision NOT NULL,
        UNIQUE (principal, name)
    );
    CREATE SEQUENCE {SCHEMA_NAME}.document_numbers AS bigint;
    CREATE TABLE {SCHEMA_NAME}.documents (
        index_id int NOT NULL REFERENCES {SCHEMA_NAME}.indexes,
        doc_id bytea NOT NULL,
        number bigint NOT NULL,
        content bytea NOT NULL,
        metadata text NOT NULL,
        PRIMARY KEY (index_id, doc_id)
    );
    CREATE INDEX documents_by_number ON {SCHEMA_NAME}.documents (index_id, number);
"""


async def _add_records(connection: Connection) -> None:
    await connection.execute(_CREATE_RECORDS)


_MIGRATIONS: Mapping[int, Callable[[Connection], Awaitable[None]]] = {1: _add_records}
"""Function that migrates each version to the next one."""


async def prepare_schema(connection: Connection) -> None:
    """Create the tables, or migrate older ones; raise PostgresRefusedError if the database is unsuitable."""
    if connection.get_server_version().major < _OLDEST_SERVER:
        raise PostgresRefusedError(
            f"is PostgreSQL {connection.get_server_version().major}; {_OLDEST_SERVER} or newer is needed"
        )
    encoding = connection.get_settings().server_encoding
    if encoding != _ENCODING:
        raise PostgresRefusedError(f"is in {encoding}, which cannot hold every page's text; {_ENCODING} is needed")
    if await _read_version(connection) == _VERSION:
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        version = await _read_version(connection)  # another server may have created them first
        if version is None:
            await connection.execute(_CREATE + _CREATE_RECORDS)
            return
        for step in range(version, _VERSION):
            await _MIGRATIONS[step](connection)
        await connection.execute(f"UPDATE {SCHEMA_NAME}.about SET version = $1", _VERSION)


async def _read_version(connection: Connection) -> int | None:
    found = await connection.fetchrow(
        "SELECT to_regclass($1) IS NOT NULL AS ours, EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r', 'p', 'v')) AS taken",
        f"{SCHEMA_NAME}.about",
        SCHEMA_NAME,
    )
    assert found is not None
    if not found["ours"]:
        if found["taken"]:
            raise PostgresRefusedError(f"has a schema {SCHEMA_NAME} of another program")
        return None
    try:
        row = await connection.fetchrow(f"SELECT application, version FROM {SCHEMA_NAME}.about")
    except (asyncpg.UndefinedColumnError, asyncpg.WrongObjectTypeError):
        row = None
    if row is None or row["application"] != "search-mcp":
        raise PostgresRefusedError(f"has a schema {SCHEMA_NAME} of another program")
    if row["version"] > _VERSION:
        raise PostgresRefusedError(
            f"was used by a newer version of search-mcp (tables of version {row['version']}, this one knows {_VERSION})"
        )
    version = int(row["version"])
    if version != _VERSION and version not in _MIGRATIONS:
        raise PostgresRefusedError(f"has tables of version {version}, which no version of search-mcp has made")
    return version
