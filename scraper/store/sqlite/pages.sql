-- `id` grows with time, so the newest pages come first without sorting: see ranking.
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    principal TEXT NOT NULL,
    profile TEXT NOT NULL,
    language TEXT NOT NULL,
    key TEXT NOT NULL,
    method TEXT NOT NULL,
    retrieved_at REAL NOT NULL,
    used_at REAL NOT NULL,
    allowances TEXT NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    reading BLOB NOT NULL,
    UNIQUE (principal, profile, language, key, method)
) STRICT;
CREATE INDEX pages_by_use ON pages (used_at);
CREATE INDEX pages_by_url ON pages (url);
{BY_OWNER};
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, content = '', contentless_delete = 1, tokenize = "{TOKENIZER}"
);
