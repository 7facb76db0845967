CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    key TEXT NOT NULL UNIQUE,
    url TEXT,
    problem TEXT,
    outcome TEXT,
    status INTEGER,
    method TEXT,
    cached INTEGER,
    seconds REAL,
    bytes INTEGER,
    message TEXT
) STRICT;
CREATE INDEX waiting ON pages (host, id) WHERE outcome IS NULL;
