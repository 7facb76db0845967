CREATE TABLE IF NOT EXISTS {SCHEMA_NAME}.records (
    principal text NOT NULL,
    log text NOT NULL,
    number int NOT NULL,
    written_at double precision NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (principal, log, number)
);
