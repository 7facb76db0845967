-- name: prune
DELETE FROM answers WHERE retrieved_at < (
    SELECT retrieved_at FROM answers ORDER BY retrieved_at DESC LIMIT 1 OFFSET $1
)

-- name: get_cooldown
SELECT reason, step, faults, until FROM rests WHERE engine = $1 AND egress = $2

-- name: set_cooldown
INSERT INTO rests (engine, egress, reason, step, faults, until) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (engine, egress) DO UPDATE
SET reason = excluded.reason, step = excluded.step, faults = excluded.faults, until = excluded.until

-- name: delete_cooldown
DELETE FROM rests WHERE engine = $1 AND egress = $2

-- name: get_answer
SELECT answer FROM answers
WHERE principal = ? AND profile = ? AND language = ? AND key = ? AND retrieved_at BETWEEN ? AND ?

-- name: put_answer
INSERT INTO answers (principal, profile, language, key, retrieved_at, answer) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (principal, profile, language, key) DO UPDATE
SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
