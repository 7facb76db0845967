-- name: own
AND EXISTS (
    SELECT 1 FROM pages WHERE principal = ? AND allowances IN (SELECT value FROM json_each(?))
    AND id = words.rowid
)

-- name: has_others
SELECT EXISTS (SELECT 1 FROM pages WHERE principal < ?1) OR EXISTS (SELECT 1 FROM pages WHERE principal > ?1)
