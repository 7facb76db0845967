-- name: insert
INSERT OR IGNORE INTO pages (host, key, url, problem) VALUES (?, ?, ?, ?)

-- name: mark_done
UPDATE pages SET outcome = ?, status = ?, method = ?, cached = ?, seconds = ?, bytes = ?, message = ?
WHERE id = ? AND outcome IS NULL

-- name: waiting
SELECT pages.id, coalesce(pages.url, pages.key), hosts.name, coalesce(pages.problem, '')
FROM pages JOIN hosts ON hosts.id = pages.host
WHERE pages.outcome IS NULL AND pages.host = ? AND pages.id > ? AND pages.id <= ?
ORDER BY pages.id LIMIT ?

-- name: hosts
SELECT host, name, count(*) AS waiting FROM pages JOIN hosts ON hosts.id = pages.host
WHERE outcome IS NULL AND pages.id <= ? GROUP BY host ORDER BY waiting DESC, host
