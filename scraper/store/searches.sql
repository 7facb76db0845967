CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    principal TEXT NOT NULL,
    profile TEXT NOT NULL,
    language TEXT NOT NULL,
    key TEXT NOT NULL,
    retrieved_at REAL NOT NULL,
    answer TEXT NOT NULL,
    UNIQUE (principal, profile, language, key)
) STRICT;
CREATE INDEX answers_by_age ON answers (retrieved_at);
CREATE TABLE rests (
    engine TEXT NOT NULL,
    egress TEXT NOT NULL,
    reason TEXT NOT NULL,
    step INTEGER NOT NULL,
    faults INTEGER NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (engine, egress)
) STRICT;
