-- name: put_words
INSERT INTO words (id, length, is_long, counts, vector) VALUES ($1, $2, $3, $4, $5)

-- name: put
INSERT INTO pages
(id, owner, place, retrieved_at, used_at, bytes, profile, language, key, url, title, reading)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (place) DO UPDATE SET id = excluded.id, owner = excluded.owner,
    retrieved_at = excluded.retrieved_at, used_at = excluded.used_at, bytes = excluded.bytes,
    url = excluded.url, title = excluded.title, reading = excluded.reading

-- name: get
SELECT p.id, p.used_at, o.allowances, p.reading FROM pages p JOIN owners o ON o.id = p.owner
WHERE p.place = ANY($1) AND p.retrieved_at BETWEEN $2 AND $3 ORDER BY p.retrieved_at DESC

-- name: whole
SELECT o.principal, p.profile, p.language, p.key, o.allowances, p.reading, p.id
FROM pages p JOIN owners o ON o.id = p.owner

-- name: delete_any
DELETE FROM pages WHERE id IN (SELECT id FROM pages ORDER BY id LIMIT $1)

-- name: touch
UPDATE pages SET used_at = $1
WHERE id IN (SELECT id FROM pages WHERE id = ANY($2) ORDER BY id FOR UPDATE SKIP LOCKED)

-- name: list_recent
SELECT p.* FROM unnest($1::int[]) AS o (owner) CROSS JOIN LATERAL (
    SELECT id, url, title, octet_length(reading) AS size, retrieved_at FROM pages
    WHERE pages.owner = o.owner AND id < $2 ORDER BY id DESC LIMIT $3
) p ORDER BY id DESC LIMIT $3

-- name: delete_least_used
DELETE FROM pages WHERE id = ANY(ARRAY(SELECT id FROM pages ORDER BY used_at LIMIT $1 FOR UPDATE SKIP LOCKED))
