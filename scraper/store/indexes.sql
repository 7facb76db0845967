CREATE TABLE indexes (
    id INTEGER PRIMARY KEY,
    principal TEXT NOT NULL,
    name TEXT NOT NULL,
    lowercase INTEGER NOT NULL,
    min_length INTEGER NOT NULL,
    created_at REAL NOT NULL,
    UNIQUE (principal, name)
) STRICT;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    index_id INTEGER NOT NULL REFERENCES indexes (id),
    doc_id TEXT NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    UNIQUE (index_id, doc_id)
) STRICT;
CREATE INDEX documents_by_number ON documents (index_id, number);
