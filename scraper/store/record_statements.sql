-- name: prune
-- Delete old logs; the parameters are the bytes to keep and the oldest time, in seconds of the epoch.
--
-- A principal's own logs that are as new or newer decide, so that one with many bytes deletes no log of another.
DELETE FROM records WHERE (principal, log) IN (
    SELECT principal, log FROM (
        SELECT principal, log, written_at, sum(bytes) OVER (ORDER BY newer_bytes, principal, log) AS total FROM (
            SELECT principal, log, written_at, bytes,
                sum(bytes) OVER (PARTITION BY principal ORDER BY written_at DESC, log) AS newer_bytes
            FROM (
                SELECT principal, log, max(written_at) AS written_at, sum(length(data)) AS bytes
                FROM records GROUP BY principal, log
            ) AS logs
        ) AS shares
    ) AS totals
    WHERE total > $1 OR written_at < $2
)

-- name: append
-- Write a record and return its time; of an existing record, return the time at which that was written.
INSERT INTO records (principal, log, number, written_at, data) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (principal, log, number) DO UPDATE SET number = excluded.number RETURNING written_at

-- name: read
SELECT number, written_at, data FROM records WHERE principal = $1 AND log = $2 ORDER BY number

-- name: delete
DELETE FROM records
WHERE principal = $1 AND log = $2 AND (CAST($3 AS integer) IS NULL OR number < CAST($3 AS integer))

-- name: list
SELECT DISTINCT log FROM records WHERE principal = $1 AND substr(log, 1, length(CAST($2 AS text))) = $2
