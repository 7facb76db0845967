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
