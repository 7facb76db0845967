"""The tables, made in one transaction by whichever server comes first; what is not ours is left alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import asyncpg

from scraper.store.postgres.errors import PostgresRefusedError

NAME = "search_mcp"
"""Of the schema in which all tables stand."""
VERSION = 1
OLDEST_SERVER = 12
"""The oldest PostgreSQL whose language the tables are written in."""
ENCODING = "UTF8"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection  # which takes no parameters while it runs

_LOCK = 0x53_4D_43_50_00_01
"""Held while the tables are made."""

WORDS_INDEX = (
    f"CREATE INDEX words_by_vector ON {NAME}.words USING gin (vector) WITH (gin_pending_list_limit = 1024)"
)
"""New words wait in a list that every search reads through: a megabyte of it takes 1 ms."""
# `words` stands apart from `pages` so that ranking reads a narrow table: its rows are kept whole beside each
# other (MAIN), only the vector goes elsewhere (EXTERNAL) where four rows would not fit into a block with it,
# and is read where places count. Long addresses fit no B-tree, so that a page's place is a digest. Statistics
# of vectors cost much and tell the planner nothing that it needs.
_CREATE = f"""
    CREATE SCHEMA IF NOT EXISTS {NAME};
    CREATE TABLE {NAME}.about (application text NOT NULL, version int NOT NULL);
    INSERT INTO {NAME}.about VALUES ('search-mcp', {VERSION});

    CREATE SEQUENCE {NAME}.page_numbers AS bigint;
    CREATE TABLE {NAME}.owners (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        digest bytea NOT NULL UNIQUE,
        principal text NOT NULL,
        allowances text NOT NULL
    );
    CREATE TABLE {NAME}.pages (
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
    ALTER TABLE {NAME}.pages ALTER reading SET STORAGE EXTERNAL;
    CREATE INDEX pages_by_owner ON {NAME}.pages (owner, id);
    CREATE INDEX pages_by_use ON {NAME}.pages (used_at) INCLUDE (bytes);
    CREATE INDEX pages_by_url ON {NAME}.pages USING hash (url);

    CREATE TABLE {NAME}.words (
        id bigint PRIMARY KEY,
        length int NOT NULL,
        is_long boolean NOT NULL,
        counts bytea NOT NULL,
        vector tsvector NOT NULL
    );
    ALTER TABLE {NAME}.words
        ALTER counts SET STORAGE MAIN, ALTER counts SET STATISTICS 0,
        ALTER vector SET STORAGE EXTERNAL, ALTER vector SET STATISTICS 0;
    {WORDS_INDEX};

    CREATE FUNCTION {NAME}.forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN DELETE FROM {NAME}.words WHERE id = OLD.id; RETURN NULL; END
    $$;
    CREATE TRIGGER words_follow AFTER DELETE OR UPDATE OF id ON {NAME}.pages
        FOR EACH ROW EXECUTE FUNCTION {NAME}.forget_words();

    CREATE TABLE {NAME}.answers (
        place bytea PRIMARY KEY, retrieved_at double precision NOT NULL, answer text NOT NULL
    );
    CREATE INDEX answers_by_age ON {NAME}.answers (retrieved_at);
    CREATE TABLE {NAME}.rests (
        engine text NOT NULL, egress text NOT NULL, reason text NOT NULL,
        step int NOT NULL, faults int NOT NULL, until double precision NOT NULL,
        PRIMARY KEY (engine, egress)
    );

    CREATE TABLE {NAME}.indexes (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        principal text NOT NULL,
        name text NOT NULL,
        lowercase boolean NOT NULL,
        min_length int NOT NULL,
        created_at double precision NOT NULL,
        UNIQUE (principal, name)
    );
    CREATE SEQUENCE {NAME}.document_numbers AS bigint;
    CREATE TABLE {NAME}.documents (
        index_id int NOT NULL REFERENCES {NAME}.indexes,
        doc_id bytea NOT NULL,
        number bigint NOT NULL,
        content bytea NOT NULL,
        metadata text NOT NULL,
        PRIMARY KEY (index_id, doc_id)
    );
    CREATE INDEX documents_by_number ON {NAME}.documents (index_id, number);
"""

_MIGRATIONS: Mapping[int, Callable[[Connection], Awaitable[None]]] = {}
"""By the version found: the step to the next one."""


async def prepare(connection: Connection) -> None:
    """Make the tables, or bring older ones forward.

    Raises:
        Refused: they are a newer version's, another program's, or the database cannot hold them.
    """
    if connection.get_server_version().major < OLDEST_SERVER:
        raise PostgresRefusedError(
            f"is PostgreSQL {connection.get_server_version().major}; {OLDEST_SERVER} or newer is needed"
        )
    encoding = connection.get_settings().server_encoding
    if encoding != ENCODING:
        raise PostgresRefusedError(
            f"is in {encoding}, which cannot hold every page's text; {ENCODING} is needed"
        )
    if await _version(connection) == VERSION:
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        version = await _version(connection)  # another server may have been quicker
        if version is None:
            await connection.execute(_CREATE)
            return
        for step in range(version, VERSION):
            await _MIGRATIONS[step](connection)
        await connection.execute(f"UPDATE {NAME}.about SET version = $1", VERSION)


async def _version(connection: Connection) -> int | None:
    """Which version's tables there are; None for none."""
    found = await connection.fetchrow(
        "SELECT to_regclass($1) IS NOT NULL AS ours, EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r', 'p', 'v')) AS taken",
        f"{NAME}.about",
        NAME,
    )
    assert found is not None
    if not found["ours"]:
        if found["taken"]:
            raise PostgresRefusedError(f"has a schema {NAME} of another program")
        return None
    try:
        row = await connection.fetchrow(f"SELECT application, version FROM {NAME}.about")
    except (asyncpg.UndefinedColumnError, asyncpg.WrongObjectTypeError):
        row = None
    if row is None or row["application"] != "search-mcp":
        raise PostgresRefusedError(f"has a schema {NAME} of another program")
    if row["version"] > VERSION:
        raise PostgresRefusedError(
            f"was used by a newer version of search-mcp (tables of version {row['version']}, "
            f"this one knows {VERSION})"
        )
    version = int(row["version"])
    if version != VERSION and version not in _MIGRATIONS:
        raise PostgresRefusedError(
            f"has tables of version {version}, which no version of search-mcp has made"
        )
    return version
