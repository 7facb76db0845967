CREATE TABLE records (
    principal TEXT NOT NULL,
    log TEXT NOT NULL,
    number INTEGER NOT NULL,
    written_at REAL NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (principal, log, number)
) STRICT;
