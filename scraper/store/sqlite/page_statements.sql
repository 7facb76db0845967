-- name: put
INSERT INTO pages
(principal, profile, language, key, method, retrieved_at, used_at, allowances, url, title, reading)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: delete
DELETE FROM pages WHERE principal = ? AND profile = ? AND language = ? AND key = ? AND method = ? RETURNING id

-- name: put_words
INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)

-- name: get
SELECT id, used_at, allowances, reading FROM pages
WHERE principal = ? AND profile = ? AND language = ? AND key = ?
  AND method IN (SELECT value FROM json_each(?)) AND retrieved_at BETWEEN ? AND ?
ORDER BY retrieved_at DESC

-- name: list_recent
SELECT id, url, title, length(reading), retrieved_at FROM pages
WHERE principal = ? AND allowances IN (SELECT value FROM json_each(?)) AND id < ? ORDER BY id DESC LIMIT ?

-- name: list_entries
SELECT id, principal, profile, language, key, allowances, reading FROM pages
WHERE id > ? ORDER BY id LIMIT ?
